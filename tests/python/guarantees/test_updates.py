"""What nodes may write: updates are checked before anything is checkpointed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Bytes
from guarantees_generated.state.generated import STATE, GuaranteesStateModel, Mood
from guarantees_generated.support.agent import Agent
from guarantees_generated.support.errors import UpdateError
from guarantees_generated.support.graphs import AgentGraph
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START
from langgraph.types import Command, Overwrite

Node = Callable[[GuaranteesStateModel], Any]


def chain(saver: InMemorySaver, *nodes: Node) -> Agent[Any, Any]:
    """Run nodes one after the other."""
    graph = AgentGraph(STATE)
    names = [f"node_{i}" for i, _ in enumerate(nodes)]
    for name, node in zip(names, nodes, strict=True):
        graph.add_node(name, node)
    for start, end in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(start, end)
    return Agent(
        STATE, graph.build(checkpointer=saver, recursion_limit=20, where="test")
    )


def returns(update: Any) -> Node:
    """Make a node that returns an update."""

    def node(state: GuaranteesStateModel) -> Any:
        return update

    return node


@pytest.mark.parametrize(
    ("update", "field", "problem"),
    [
        ({"notess": ["a"]}, "notess", "no such field; it has query, notes"),
        ({"notes": "a"}, "notes", "want an array"),
        ({"notes": [1]}, "notes", "`[0]`: want a string"),
        ({"counts": {"a": 2**31}}, "counts", "less than 2147483648"),
        ({"counts": {"a": True}}, "counts", "valid integer"),
        ({"status": None}, "status", "want a string"),
        ({"status": 5}, "status", "want a string"),
        ({"mood": "MOOD_ANGRY"}, "mood", "not a value of enum Mood"),
        ({"mood": 1.5}, "mood", "number of enum Mood"),
        ({"kinds": {"nope": 1}}, "kinds", "`nope`: unknown field"),
        ({"kinds": {"text": "a", "feeling": 1}}, "kinds", "oneof `choice`"),
        ({"messages": [3]}, "messages", "want messages"),
        ({"text": "a", "number": 1}, "text", "same oneof"),
        ({"notes": Overwrite([1])}, "notes", "want a string"),
        (Command(update={"notes": [1]}), "notes", "want a string"),
        ([{"notes": ["fine"]}, {"status": 1}], "status", "want a string"),
    ],
)
def test_bad_update_is_refused_and_nothing_of_it_is_stored(
    saver: InMemorySaver, stored: Bytes, update: Any, field: str, problem: str
) -> None:
    """The error names agent, node and field; the saver never sees the value."""
    canary = "canary-7f3a"
    good = {"owner": canary}
    bad = [good, update]
    agent = chain(saver, returns({"notes": ["kept"]}), returns(bad))
    with pytest.raises(UpdateError) as error:
        agent.invoke({"query": "q"}, thread_id="t")
    assert (error.value.agent_id, error.value.node, error.value.field) == (
        "guarantees",
        "node_1",
        field,
    )
    assert problem in str(error.value)
    assert b"kept" in stored.all()
    assert canary.encode() not in stored.all()
    values = agent.graph.get_state({"configurable": {"thread_id": "t"}}).values
    assert values["notes"] == ["kept"]


@pytest.mark.parametrize("update", ["text", 3, GuaranteesStateModel(query="q")])
def test_update_that_is_no_dict_is_refused(saver: InMemorySaver, update: Any) -> None:
    """A state model would write every field, so it is no update."""
    with pytest.raises(UpdateError, match="node `node_0`: returned a"):
        chain(saver, returns(update)).invoke({"query": "q"}, thread_id="t")


def test_error_text_has_no_value(saver: InMemorySaver, stored: Bytes) -> None:
    """LangGraph stores the text of errors, so values must not be in it."""
    agent = chain(saver, returns({"notes": [{"secret": "canary-7f3a"}]}))
    with pytest.raises(UpdateError) as error:
        agent.invoke({"query": "q"}, thread_id="t")
    assert "canary" not in str(error.value)
    assert b"canary" not in stored.all()


def test_values_are_coerced_once(saver: InMemorySaver) -> None:
    """Mappings become models and names become enum members on writing."""
    seen: list[Any] = []

    def look(state: GuaranteesStateModel) -> None:
        seen.extend([state.kinds, state.mood, state.messages[0].text])

    agent = chain(
        saver,
        returns(
            {
                "kinds": {"a_string": "s", "child": {"an_int32": 4}},
                "mood": "MOOD_BUSY",
                "messages": [("user", "hello")],
            }
        ),
        look,
    )
    agent.invoke({"query": "q"}, thread_id="t")
    kinds, mood, text = seen
    assert kinds.child.an_int32 == 4
    assert mood is Mood.MOOD_BUSY
    assert text == "hello"


def test_setting_a_member_of_a_oneof_clears_the_other(saver: InMemorySaver) -> None:
    """The state keeps what protobuf promises of a oneof."""
    seen: list[tuple[str | None, str | None, int | None]] = []

    def look(state: GuaranteesStateModel) -> dict[str, Any]:
        seen.append((state.answer, state.text, state.number))
        return {"number": 3}

    agent = chain(saver, returns({"text": "a"}), look, look)
    agent.invoke({"query": "q"}, thread_id="t")
    assert seen == [("text", "a", None), ("number", None, 3)]


def test_overwrite_resets_a_reducer(saver: InMemorySaver) -> None:
    """LangGraph's Overwrite passes the check."""
    agent = chain(
        saver, returns({"notes": ["a"]}), returns({"notes": Overwrite(["b"])})
    )
    assert agent.invoke({"query": "q"}, thread_id="t").value.notes == ["b"]


def fan_out(saver: InMemorySaver, *nodes: Node) -> Agent[Any, Any]:
    """Run nodes in one superstep."""
    graph = AgentGraph(STATE)
    for i, node in enumerate(nodes):
        graph.add_node(f"node_{i}", node)
        graph.add_edge(START, f"node_{i}")
        graph.add_edge(f"node_{i}", END)
    return Agent(
        STATE, graph.build(checkpointer=saver, recursion_limit=20, where="test")
    )


def test_parallel_writers_merge_the_same_way_every_time() -> None:
    """Four writers, 200 runs, one result: the reducers in task order."""
    import random
    import time

    def writer(i: int) -> Node:
        def node(state: GuaranteesStateModel) -> dict[str, Any]:
            time.sleep(random.random() / 1000)
            return {
                "notes": [f"a{i}", f"b{i}"],
                "counts": {"shared": i, f"own{i}": i},
                "status": f"status {i}",
            }

        return node

    results = []
    for _ in range(200):
        agent = fan_out(InMemorySaver(), *(writer(i) for i in range(4)))
        results.append(agent.invoke({"query": "q"}, thread_id="t").value)
    assert results[0].notes == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]
    assert results[0].counts == {
        "shared": 3,
        "own0": 0,
        "own1": 1,
        "own2": 2,
        "own3": 3,
    }
    assert results[0].status == "status 3"
    assert all(result == results[0] for result in results)


def test_two_writers_of_a_field_without_reducer_are_refused(
    saver: InMemorySaver,
) -> None:
    """An unset REPLACE has one writer a superstep."""
    agent = fan_out(saver, returns({"owner": "a"}), returns({"owner": "b"}))
    with pytest.raises(InvalidUpdateError, match="owner"):
        agent.invoke({"query": "q"}, thread_id="t")


def test_two_writers_of_a_oneof_are_refused(saver: InMemorySaver) -> None:
    """Members of a oneof are one value, so two writers of it collide."""
    agent = fan_out(saver, returns({"text": "a"}), returns({"number": 1}))
    with pytest.raises(InvalidUpdateError):
        agent.invoke({"query": "q"}, thread_id="t")
