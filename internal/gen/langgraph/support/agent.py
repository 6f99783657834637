"""The boundary of an agent: public input in, public output out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Generic, Literal, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, GraphOutput

from . import pb
from .errors import ThreadIdError
from .state import StateContract

InputT = TypeVar("InputT", bound=pb.Message)
OutputT = TypeVar("OutputT", bound=pb.Message)

StreamMode = Literal["updates", "values", "custom"]


def run_config(
    *, persistent: bool, thread_id: str | None, checkpoint_id: str | None = None
) -> RunnableConfig:
    """Make the configuration of one run.

    Args:
        persistent: Whether the graph has a checkpointer.
        thread_id: The thread that the run continues; required if `persistent`.
        checkpoint_id: The checkpoint of the thread from which to replay.

    Raises:
        ThreadIdError: If the ids do not fit `persistent`.
    """
    if not persistent:
        if checkpoint_id:
            raise ThreadIdError("persistence is off: there is no checkpoint to replay")
        return {"configurable": {"thread_id": thread_id} if thread_id else {}}
    if not thread_id or not isinstance(thread_id, str):
        raise ThreadIdError(
            "persistence is on: `thread_id` is required and must not be empty"
        )
    configurable = {"thread_id": thread_id}
    if checkpoint_id:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable}


class Agent(Generic[InputT, OutputT]):
    """Runs a compiled graph as its contract says.

    What goes in is checked against the public input, what comes out is the public
    output and nothing else, streamed or not.

    Attributes:
        graph: The compiled graph.
    """

    def __init__(
        self,
        contract: StateContract[InputT, OutputT],
        graph: CompiledStateGraph[Any, Any, Any, Any],
    ) -> None:
        """Wrap a graph that `build_graph` returned."""
        self.graph = graph
        self._contract = contract

    def _config(
        self, thread_id: str | None, checkpoint_id: str | None
    ) -> RunnableConfig:
        return run_config(
            persistent=self.graph.checkpointer not in (None, False),
            thread_id=thread_id,
            checkpoint_id=checkpoint_id,
        )

    def _input(self, value: InputT | Mapping[str, Any] | Command[Any] | None) -> Any:
        if value is None or isinstance(value, Command):
            return value
        return self._contract.parse_input(value)

    def _output(self, result: GraphOutput[OutputT]) -> GraphOutput[OutputT]:
        # LangGraph gives None for a run that wrote no public field.
        if result.value is None:
            return GraphOutput(self._contract.output_schema(), result.interrupts)
        return result

    def invoke(
        self,
        value: InputT | Mapping[str, Any] | Command[Any] | None,
        *,
        thread_id: str | None = None,
        checkpoint_id: str | None = None,
    ) -> GraphOutput[OutputT]:
        """Run the agent to its end, or to an interrupt.

        Args:
            value: The public input; None to go on from where the thread stands;
                `Command(resume=...)` to answer an interrupt.
            thread_id: The thread; required with persistence.
            checkpoint_id: The checkpoint from which to replay.

        Returns:
            The public output in `value`, and the pending interrupts.

        Raises:
            InputError: If the input is not public input.
            ThreadIdError: If `thread_id` is missing.
            UpdateError: If a node breaks the contract.
        """
        return self._output(
            self.graph.invoke(
                self._input(value), self._config(thread_id, checkpoint_id), version="v2"
            )
        )

    async def ainvoke(
        self,
        value: InputT | Mapping[str, Any] | Command[Any] | None,
        *,
        thread_id: str | None = None,
        checkpoint_id: str | None = None,
    ) -> GraphOutput[OutputT]:
        """Run the agent as `invoke` does, asynchronously."""
        return self._output(
            await self.graph.ainvoke(
                self._input(value), self._config(thread_id, checkpoint_id), version="v2"
            )
        )

    def stream(
        self,
        value: InputT | Mapping[str, Any] | Command[Any] | None,
        *,
        mode: StreamMode = "updates",
        thread_id: str | None = None,
        checkpoint_id: str | None = None,
    ) -> Iterator[Any]:
        """Run the agent and yield its progress.

        Args:
            value: As for `invoke`.
            mode: `updates` yields what each node wrote to public output fields,
                `values` the public output after each superstep, `custom` what nodes
                sent to their stream writer.
            thread_id: As for `invoke`.
            checkpoint_id: As for `invoke`.
        """
        yield from self.graph.stream(
            self._input(value),
            self._config(thread_id, checkpoint_id),
            stream_mode=mode,
            output_keys=self._contract.output_keys,
        )

    async def astream(
        self,
        value: InputT | Mapping[str, Any] | Command[Any] | None,
        *,
        mode: StreamMode = "updates",
        thread_id: str | None = None,
        checkpoint_id: str | None = None,
    ) -> AsyncIterator[Any]:
        """Run the agent as `stream` does, asynchronously."""
        async for part in self.graph.astream(
            self._input(value),
            self._config(thread_id, checkpoint_id),
            stream_mode=mode,
            output_keys=self._contract.output_keys,
        ):
            yield part
