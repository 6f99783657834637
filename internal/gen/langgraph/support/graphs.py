"""A StateGraph that keeps the contract, and the checks of its shape."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableLambda,
    RunnableSequence,
)
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Checkpointer, RetryPolicy, Send
from pydantic import BaseModel
from typing_extensions import Self

from .errors import GraphError
from .state import StateContract
from .stored import reading

NO_RETRY = RetryPolicy(max_attempts=1)
"""The retry policy of nodes: tool calls are retried, where they may be, nodes not."""


class AgentGraph(StateGraph[Any, Any, Any, Any]):
    """A StateGraph whose nodes and routers keep the contract.

    Every update is checked before it is written, a `Send` reaches its node as the
    model that the node asks for, and a router can go only where it says.
    """

    def __init__(self, contract: StateContract[Any, Any]) -> None:
        """Start an empty graph over the state of an agent."""
        super().__init__(
            contract.schema,
            input_schema=contract.input_schema,
            output_schema=contract.output_schema,
        )
        self.contract = contract
        self.set_node_defaults(retry_policy=NO_RETRY)

    def add_node(self, *args: Any, **kwargs: Any) -> Self:
        """Add a node as `StateGraph.add_node` does, and check its updates."""
        known = set(self.nodes)
        super().add_node(*args, **kwargs)
        for name in self.nodes.keys() - known:
            spec: Any = self.nodes[name]
            spec.runnable = _checked_node(
                self.contract, name, spec.runnable, spec.input_schema
            )
        return self

    def add_edge(self, start_key: str | list[str], end_key: str) -> Self:
        """Add an edge as `StateGraph.add_edge` does.

        Nodes that an edge of several starts names may be added later: unknown ones
        are reported with all other problems when the graph is built.
        """
        if isinstance(start_key, list) and END not in start_key and end_key != START:
            self.waiting_edges.add((tuple(start_key), end_key))
            return self
        return super().add_edge(start_key, end_key)

    def add_conditional_edges(
        self, source: str, path: Any, path_map: Any = None
    ) -> Self:
        """Add a router as `StateGraph.add_conditional_edges` does, and check it."""
        known = set(self.branches[source])
        super().add_conditional_edges(source, path, path_map)
        for name in self.branches[source].keys() - known:
            branch = self.branches[source][name]
            self.branches[source][name] = branch._replace(
                path=_CheckedRouter(self.contract, source, name, branch)
            )
        return self

    @property
    def wires_start(self) -> bool:
        """Whether an edge or a router leaves START."""
        return bool(self.branches.get(START)) or any(
            start == START for start, _ in self._all_edges
        )

    def problems(self, where: str) -> list[str]:
        """Find what keeps the graph from running, one sentence a problem.

        Args:
            where: The file that wires the graph, for the messages.
        """
        return list(_problems(self, where))

    def build(
        self, *, checkpointer: Checkpointer, recursion_limit: int, where: str
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Check the shape of the graph and compile it.

        Args:
            checkpointer: What stores the state of threads, if anything does.
            recursion_limit: The most supersteps of one run.
            where: The file that wires the graph, for the messages.

        Raises:
            GraphError: If the graph cannot run; it lists everything that is wrong.
        """
        if problems := self.problems(where):
            raise GraphError(
                f"the graph of agent `{self.contract.agent_id}` is not complete:",
                problems,
            )
        if isinstance(checkpointer, BaseCheckpointSaver):
            checkpointer = reading(
                checkpointer.with_allowlist(self._checkpoint_types()),
                self.contract.schema,
                {name: spec.input_schema for name, spec in self.nodes.items()},
            )
        compiled = self.compile(checkpointer, name=self.contract.agent_id)
        # with_config returns a copy that has lost the output schema (langgraph 1.2).
        compiled.config = {"recursion_limit": recursion_limit}
        return compiled

    def _checkpoint_types(self) -> set[tuple[str, ...]]:
        """Return the contract's types and those that nodes receive from a Send."""
        inputs = {spec.input_schema for spec in self.nodes.values()}
        return {
            *self.contract.checkpoint_types,
            *((t.__module__, t.__name__) for t in inputs if isinstance(t, type)),
        }


class _CheckedNode(Runnable[Any, Any]):
    """A function node whose input is a model and whose update is checked."""

    def __init__(
        self,
        contract: StateContract[Any, Any],
        name: str,
        node: Runnable[Any, Any],
        schema: Any,
    ) -> None:
        self.name = name
        self._contract = contract
        self._node = node
        self._schema = (
            schema
            if isinstance(schema, type) and issubclass(schema, BaseModel)
            else None
        )

    def _model(self, value: Any) -> Any:
        # The packet of a Send arrives as it was sent.
        if self._schema is not None and isinstance(value, dict):
            return self._schema(**value)
        return value

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        update = self._node.invoke(self._model(input), config, **kwargs)
        return self._contract.check(self.name or "", update)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        update = await self._node.ainvoke(self._model(input), config, **kwargs)
        return self._contract.check(self.name or "", update)


def _checked_node(
    contract: StateContract[Any, Any], name: str, node: Runnable[Any, Any], schema: Any
) -> Runnable[Any, Any]:
    function = getattr(node, "func", None) or getattr(node, "afunc", None)
    if inspect.isfunction(function) and not any(
        isinstance(value, Pregel)
        for value in inspect.getclosurevars(function).nonlocals.values()
    ):
        return _CheckedNode(contract, name, node, schema)
    # LangGraph finds the subgraphs in a sequence, but not those in a class of ours.
    check = RunnableLambda(lambda update: contract.check(name, update), name="check")
    return RunnableSequence(node, check, name=name)


class _CheckedRouter(Runnable[Any, Any]):
    """A router that can go only where its edge says."""

    def __init__(
        self, contract: StateContract[Any, Any], source: str, name: str, branch: Any
    ) -> None:
        self.name = name
        self._contract = contract
        self._source = source
        self._path = branch.path
        self._ends = branch.ends

    def _checked(self, result: Any) -> Any:
        targets = result if isinstance(result, (list, tuple)) else [result]
        if self._ends is not None:
            sent = set(self._ends.values())
            for target in targets:
                known = sent if isinstance(target, Send) else self._ends
                key = target.node if isinstance(target, Send) else target
                if key not in known:
                    raise GraphError(
                        f"agent `{self._contract.agent_id}`: router `{self.name}` after "
                        f"`{self._source}` went where its edge does not lead:",
                        [f"to `{key}`; the edge leads to {_names(known)}"],
                    )
        return self._contract.without_untracked(targets)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        return self._checked(self._path.invoke(input, config, **kwargs))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        return self._checked(await self._path.ainvoke(input, config, **kwargs))


def node_factories(nodes_impl: ModuleType) -> dict[str, Callable[..., Any]]:
    """Find the node factories of a module, by node name.

    A factory is a public function, defined in the module itself, that takes the
    keyword-only arguments `runtime` and `tools`.
    """
    return {
        name: function
        for name, function in vars(nodes_impl).items()
        if not name.startswith("_")
        and inspect.isfunction(function)
        and function.__module__ == nodes_impl.__name__
        and _takes_runtime_and_tools(function)
    }


def _takes_runtime_and_tools(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    return {"runtime", "tools"} <= {
        name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY
    }


def _names(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in sorted(map(str, names)))


def _problems(graph: AgentGraph, where: str) -> Iterator[str]:
    nodes = set(graph.nodes)
    successors: dict[str, set[str]] = {name: set() for name in [START, *nodes]}

    def connect(start: str, end: str, what: str) -> Iterator[str]:
        for name in (start, end):
            if name not in nodes and name not in (START, END):
                yield (
                    f"{where}: {what} names node `{name}`, which does not exist; "
                    f"there is {_names(nodes)}"
                )
                return
        successors[start].add(end)

    for start, end in sorted(graph.edges):
        yield from connect(start, end, f"the edge `{start}` -> `{end}`")
    for starts, end in sorted(graph.waiting_edges):
        for start in starts:
            yield from connect(start, end, f"the edge {_names(starts)} -> `{end}`")
    for start, branches in sorted(graph.branches.items()):
        for name, branch in sorted(branches.items()):
            what = f"router `{name}` after `{start}`"
            if branch.ends is None:
                yield (
                    f"{where}: {what} does not say where it may go; give "
                    "add_conditional_edges a path_map, or the router the return type "
                    "Literal[...]"
                )
                successors.setdefault(start, set()).update([*nodes, END])
                continue
            for end in sorted(set(branch.ends.values())):
                yield from connect(start, end, what)
    for name, spec in sorted(graph.nodes.items()):
        for end in sorted(spec.ends or ()):
            yield from connect(name, end, f"the Command of node `{name}`")

    reached = _closure([START], successors)
    for name in sorted(nodes - reached):
        if not graph.nodes[name].is_error_handler:
            yield f"{where}: no edge leads from START to node `{name}`"
    predecessors: dict[str, set[str]] = {}
    for start, ends in successors.items():
        for end in ends:
            predecessors.setdefault(end, set()).add(start)
    finishing = _closure([END], predecessors)
    for name in sorted(nodes & reached):
        if not successors[name]:
            yield f"{where}: node `{name}` is a dead end; wire it on, or to END"
        elif name not in finishing:
            yield f"{where}: no edge leads from node `{name}` to END"


def _closure(start: list[str], edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(start)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += edges.get(name, ())
    return seen
