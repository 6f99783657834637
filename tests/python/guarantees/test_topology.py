"""Graphs that cannot run are refused when they are built, with every problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from guarantees_generated.state.generated import STATE, GuaranteesStateModel
from guarantees_generated.support.errors import GraphError
from guarantees_generated.support.graphs import AgentGraph
from langgraph.graph import END, START
from langgraph.types import Command, Send


def noop(state: GuaranteesStateModel) -> None:
    """Change nothing."""


def either(state: GuaranteesStateModel) -> Literal["a", "b"]:
    """Go to a."""
    return "a"


def anywhere(state: GuaranteesStateModel) -> str:
    """Go to a, without saying so in the type."""
    return "a"


def with_nodes(*names: str) -> AgentGraph:
    """Return a graph with nodes and no edges."""
    graph = AgentGraph(STATE)
    for name in names:
        graph.add_node(name, noop)
    return graph


def unreachable(g: AgentGraph) -> None:
    """Wire a only."""
    g.add_edge(START, "a")
    g.add_edge("a", END)
    g.add_edge("b", END)


def dead_end(g: AgentGraph) -> None:
    """End in b, which leads nowhere."""
    g.add_edge(START, "a")
    g.add_edge("a", "b")


def endless(g: AgentGraph) -> None:
    """Loop for ever."""
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("b", "a")


def unknown(g: AgentGraph) -> None:
    """Lead to nodes that do not exist, in three ways."""
    g.add_edge(START, "a")
    g.add_edge("a", "zz")
    g.add_conditional_edges("a", either, ["b", "yy"])
    g.add_edge(["a", "xx"], END)
    g.add_edge("b", END)


def vague(g: AgentGraph) -> None:
    """Route without saying where."""
    g.add_edge(START, "a")
    g.add_conditional_edges("a", anywhere)
    g.add_edge("b", END)


@pytest.mark.parametrize(
    ("wire", "problems"),
    [
        (unreachable, ["policy.py: no edge leads from START to node `b`"]),
        (
            dead_end,
            [
                "policy.py: no edge leads from node `a` to END",
                "policy.py: node `b` is a dead end; wire it on, or to END",
            ],
        ),
        (
            endless,
            [
                "policy.py: no edge leads from node `a` to END",
                "policy.py: no edge leads from node `b` to END",
            ],
        ),
        (
            unknown,
            [
                "policy.py: the edge `a` -> `zz` names node `zz`, which does not exist; "
                "there is `a`, `b`",
                "policy.py: the edge `a`, `xx` -> `__end__` names node `xx`, which does "
                "not exist; there is `a`, `b`",
                "policy.py: router `either` after `a` names node `yy`, which does not "
                "exist; there is `a`, `b`",
            ],
        ),
        (
            vague,
            [
                "policy.py: router `anywhere` after `a` does not say where it may go; "
                "give add_conditional_edges a path_map, or the router the return type "
                "Literal[...]"
            ],
        ),
    ],
)
def test_incomplete_graph_is_refused(
    wire: Callable[[AgentGraph], None], problems: list[str]
) -> None:
    """All problems are listed, each with the file to mend."""
    graph = with_nodes("a", "b")
    wire(graph)
    with pytest.raises(GraphError) as error:
        graph.build(checkpointer=None, recursion_limit=5, where="policy.py")
    assert list(error.value.problems) == problems


def test_router_is_held_to_its_targets() -> None:
    """A target that the edge does not name is an error that says so."""
    graph = with_nodes("a", "b")
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", lambda state: "b", ["a", END])
    graph.add_edge("b", END)
    graph.add_edge("a", "b")
    compiled = graph.build(checkpointer=None, recursion_limit=5, where="policy.py")
    with pytest.raises(GraphError, match="to `b`; the edge leads to `__end__`, `a`"):
        compiled.invoke({"query": "q"})


def test_send_is_held_to_the_targets_of_its_router() -> None:
    """So is a Send, which LangGraph does not check at all."""
    graph = with_nodes("a", "b")
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", lambda state: [Send("a", {})], ["b"])
    graph.add_edge("b", END)
    compiled = graph.build(checkpointer=None, recursion_limit=5, where="policy.py")
    with pytest.raises(GraphError, match="to `a`; the edge leads to `b`"):
        compiled.invoke({"query": "q"})


def test_commands_declare_their_destinations() -> None:
    """The return type of a node that returns a Command counts as edges."""

    def jump(state: GuaranteesStateModel) -> Command[Literal["b"]]:
        return Command(goto="b", update={"notes": ["jumped"]})

    graph = with_nodes("b")
    graph.add_node("jump", jump)
    graph.add_edge(START, "jump")
    graph.add_edge("b", END)
    compiled = graph.build(checkpointer=None, recursion_limit=5, where="policy.py")
    assert compiled.invoke({"query": "q"})["notes"] == ["jumped"]


def test_recursion_limit_is_explicit() -> None:
    """A loop that does not end stops at the limit of the contract."""
    from langgraph.errors import GraphRecursionError

    def again(state: GuaranteesStateModel) -> Literal["a", "__end__"]:
        return "a"

    graph = with_nodes("a")
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", again)
    compiled = graph.build(checkpointer=None, recursion_limit=5, where="policy.py")
    with pytest.raises(GraphRecursionError, match="limit of 5"):
        compiled.invoke({"query": "q"})


def test_subgraph_as_a_node_is_checked_too() -> None:
    """A compiled graph as a node returns a state; only known keys come through."""
    inner: Any = with_nodes("inner")
    inner.add_edge(START, "inner")
    inner.add_edge("inner", END)
    graph = AgentGraph(STATE)
    graph.add_node(
        "outer", inner.build(checkpointer=None, recursion_limit=5, where="policy.py")
    )
    graph.add_edge(START, "outer")
    graph.add_edge("outer", END)
    compiled = graph.build(checkpointer=None, recursion_limit=5, where="policy.py")
    compiled.invoke({"query": "q"})
    assert [name for name, _ in compiled.get_subgraphs()] == ["outer"]
