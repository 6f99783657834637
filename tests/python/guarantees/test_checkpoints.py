"""What checkpoints hold, and how threads go on."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import GENERATED, HERE, Bytes
from guarantees_generated.state.generated import (
    PUBLIC_OUTPUT_KEYS,
    STATE,
    GuaranteesStateModel,
    KindsModel,
    Mood,
)
from guarantees_generated.support import pb
from guarantees_generated.support.agent import Agent
from guarantees_generated.support.errors import InputError, ThreadIdError
from guarantees_generated.support.graphs import AgentGraph
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.types import Command, Send, interrupt

SECRET = "untracked-51c2"


def build(graph: AgentGraph, saver: Any) -> Agent[Any, Any]:
    """Compile a graph for a test."""
    return Agent(
        STATE, graph.build(checkpointer=saver, recursion_limit=20, where="test")
    )


def test_untracked_fields_are_in_no_stored_byte(
    saver: InMemorySaver, stored: Bytes
) -> None:
    """With and without reducer, across supersteps, `Send` packets and interrupts."""
    seen: list[GuaranteesStateModel] = []

    def write(state: GuaranteesStateModel) -> dict[str, Any]:
        return {
            "scratch": SECRET,
            "scratch_last": SECRET,
            "scratch_list": [SECRET],
            "scratch_map": {SECRET: SECRET},
            "scratch_bytes": SECRET.encode(),
            "scratch_messages": [HumanMessage(SECRET)],
            "owner": "tracked",
        }

    def spread(state: GuaranteesStateModel) -> list[Send]:
        # The whole state in a packet: its untracked fields must not travel with it.
        return [Send("work", state), Send("work", state)]

    def work(state: GuaranteesStateModel) -> dict[str, Any]:
        return {
            "notes": [state.owner],
            "scratch_list": [SECRET],
            "scratch_last": SECRET,
        }

    def look(state: GuaranteesStateModel) -> Command[Any]:
        seen.append(state)
        return Command(goto=Send("wait", state))

    def wait(state: GuaranteesStateModel) -> dict[str, Any]:
        return {"status": interrupt("go on?")}

    graph = AgentGraph(STATE)
    graph.add_node("write", write)
    graph.add_node("work", work)
    graph.add_node("look", look, destinations=("wait",))
    graph.add_node("wait", wait)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", spread, ["work"])
    graph.add_edge("work", "look")
    graph.add_edge("wait", END)
    agent = build(graph, saver)

    first = agent.invoke({"query": "q"}, thread_id="t")
    assert [i.value for i in first.interrupts] == ["go on?"]
    (state,) = seen
    assert state.scratch == state.scratch_last == SECRET
    assert state.scratch_list == [SECRET] * 3
    assert state.scratch_map == {SECRET: SECRET}
    assert state.scratch_bytes == SECRET.encode()
    assert state.scratch_messages[0].text == SECRET
    assert state.notes == ["tracked", "tracked"]

    assert agent.invoke(Command(resume="yes"), thread_id="t").value.status == "yes"
    assert b"tracked" in stored.all()
    assert SECRET.encode() not in stored.all()


def kinds(**more: Any) -> KindsModel:
    """Return a message with a value in every field."""
    leaf = KindsModel(a_string="leaf", feeling=Mood.MOOD_CALM)
    return KindsModel(
        a_double=0.1,
        a_float=-1.5,
        an_int32=-(2**31),
        an_int64=-(2**63),
        a_uint32=2**32 - 1,
        a_uint64=2**64 - 1,
        a_sint32=-1,
        a_sint64=2**63 - 1,
        a_fixed32=1,
        a_fixed64=2**64 - 1,
        a_sfixed32=-1,
        a_sfixed64=-1,
        a_bool=True,
        a_string="\u00e9\U0001f600",
        mood=Mood(7),
        maybe=0,
        child=leaf,
        children=[leaf, KindsModel(nested=leaf)],
        moods={-1: Mood.MOOD_BUSY},
        named={"": leaf},
        at=pb.Timestamp(seconds=-1, nanos=999_999_999),
        span=pb.Duration(seconds=-1, nanos=-1),
        mask=pb.FieldMask(paths=["a.b"]),
        object={"null": None, "list": [1.5, {"deep": True}]},
        value=pb.Value(value=None),
        list_=[None, "a"],
        wrapped=0,
        **({"text": "t"} | more),
    )


def test_every_kind_of_field_survives_strict_serde(saver: InMemorySaver) -> None:
    """What a later run reads is what an earlier run wrote, type for type."""
    value = kinds()
    written = {
        "kinds": value,
        "kinds_list": [value, kinds(text=None, nested=value)],
        "kinds_map": {"a": value},
        "mood": Mood.MOOD_BUSY,
        "at": pb.Timestamp(seconds=5, nanos=1),
        "value": pb.Value(value={"a": None}),
        "messages": [HumanMessage("hello", id="1"), AIMessage("hi", id="2")],
        "number": 0,
    }
    states: list[GuaranteesStateModel] = []

    def node(state: GuaranteesStateModel) -> dict[str, Any]:
        states.append(state)
        return {} if state.notes else {**written, "notes": ["done"]}

    graph = AgentGraph(STATE)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    agent = build(graph, saver)
    agent.invoke({"query": "q"}, thread_id="t")
    agent.invoke({"query": "again"}, thread_id="t")
    state = states[-1]
    for name, expected in written.items():
        actual = getattr(state, name)
        assert actual == expected, name
        assert type(actual) is type(expected), name
    assert state.kinds is not None
    assert type(state.kinds.mood) is Mood
    assert isinstance(state.kinds.children[1].nested, KindsModel)

    # And in the raw channel values, where nothing coerces them again.
    raw = agent.graph.get_state({"configurable": {"thread_id": "t"}}).values
    assert isinstance(raw["kinds"], KindsModel)
    assert raw["kinds"] == value
    assert isinstance(raw["kinds_list"][1].nested, KindsModel)
    assert isinstance(raw["at"], pb.Timestamp)


def test_special_floats_survive(saver: InMemorySaver) -> None:
    """NaN and the infinities are values like others."""
    seen: list[GuaranteesStateModel] = []

    def node(state: GuaranteesStateModel) -> dict[str, Any]:
        seen.append(state)
        return {
            "kinds_list": [
                KindsModel(a_double=x) for x in (math.nan, math.inf, -math.inf)
            ]
        }

    graph = AgentGraph(STATE)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    agent = build(graph, saver)
    agent.invoke({"query": "q"}, thread_id="t")
    agent.invoke({"query": "q"}, thread_id="t")
    nan, inf, minus = (k.a_double for k in seen[-1].kinds_list)
    assert math.isnan(nan)
    assert (inf, minus) == (math.inf, -math.inf)


def simple(saver: Any) -> Agent[Any, Any]:
    """Return an agent of two nodes that count their visits."""

    def one(state: GuaranteesStateModel) -> dict[str, Any]:
        return {"notes": [f"one {state.query}"], "owner": "private", "scratch": SECRET}

    def two(state: GuaranteesStateModel) -> dict[str, Any]:
        return {"notes": [f"two {len(state.notes)}"], "counts": {"notes": 1}}

    graph = AgentGraph(STATE)
    graph.add_node("one", one)
    graph.add_node("two", two)
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    graph.add_edge("two", END)
    return build(graph, saver)


def test_output_is_exactly_the_public_fields(saver: InMemorySaver) -> None:
    """For invoke and for every mode of stream."""
    agent = simple(saver)
    assert PUBLIC_OUTPUT_KEYS == ("notes", "counts", "status")
    result = agent.invoke({"query": "q"}, thread_id="1").value
    assert set(type(result).model_fields) == set(PUBLIC_OUTPUT_KEYS)
    updates = list(agent.stream({"query": "q"}, thread_id="2"))
    assert updates == [
        {"one": {"notes": ["one q"]}},
        {"two": {"notes": ["two 1"], "counts": {"notes": 1}}},
    ]
    for values in agent.stream({"query": "q"}, mode="values", thread_id="3"):
        assert set(values) <= set(PUBLIC_OUTPUT_KEYS)


def test_output_of_a_run_that_wrote_nothing_public(saver: InMemorySaver) -> None:
    """Is the empty output, not None."""
    graph = AgentGraph(STATE)
    graph.add_node("node", lambda state: {"owner": "me"})
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    result = build(graph, saver).invoke({"query": "q"}, thread_id="t")
    assert result.value == STATE.output_schema()


async def _collect(agent: Agent[Any, Any]) -> tuple[Any, list[Any]]:
    result = await agent.ainvoke({"query": "q"}, thread_id="4")
    parts = [p async for p in agent.astream({"query": "q"}, thread_id="5")]
    return result.value, parts


def test_async_is_the_same(saver: InMemorySaver) -> None:
    """The asynchronous calls check and filter as the others do."""
    import asyncio

    agent = simple(saver)
    value, parts = asyncio.run(_collect(agent))
    assert value == agent.invoke({"query": "q"}, thread_id="1").value
    assert parts == list(agent.stream({"query": "q"}, thread_id="2"))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"query": "q", "owner": "me"}, "`owner`: unknown field"),
        ({"query": 3}, "`query`: want a string"),
        ({"scratch": SECRET}, "`scratch`: unknown field"),
        ("q", "want a GuaranteesStateInput or a mapping"),
    ],
)
def test_input_is_exactly_the_public_fields(
    saver: InMemorySaver, stored: Bytes, value: Any, problem: str
) -> None:
    """Nothing of a refused input is stored."""
    with pytest.raises(InputError, match="agent `guarantees`") as error:
        simple(saver).invoke(value, thread_id="t")
    assert problem in str(error.value)
    assert stored.all() == b""


@pytest.mark.parametrize("thread_id", [None, ""])
def test_thread_id_is_required(saver: InMemorySaver, thread_id: str | None) -> None:
    """With persistence, a run without a thread is refused at the boundary."""
    with pytest.raises(ThreadIdError, match="`thread_id` is required"):
        simple(saver).invoke({"query": "q"}, thread_id=thread_id)


def test_without_persistence_no_thread_is_needed() -> None:
    """Without a checkpointer there is nothing to key, and nothing to replay."""
    agent = simple(None)
    assert agent.invoke({"query": "q"}).value.notes == ["one q", "two 1"]
    with pytest.raises(ThreadIdError, match="no checkpoint to replay"):
        agent.invoke({"query": "q"}, checkpoint_id="1")


def test_replay_from_a_checkpoint(saver: InMemorySaver) -> None:
    """A run from an earlier checkpoint goes on from the state of then."""
    agent = simple(saver)
    agent.invoke({"query": "q"}, thread_id="t")
    before_two = next(
        s
        for s in agent.graph.get_state_history({"configurable": {"thread_id": "t"}})
        if s.next == ("two",)
    )
    agent.invoke({"query": "more"}, thread_id="t")
    replayed = agent.invoke(
        None,
        thread_id="t",
        checkpoint_id=before_two.config["configurable"]["checkpoint_id"],
    )
    assert replayed.value.notes == ["one q", "two 1"]


RESTART = """
import os
from guarantees_generated.graph.generated import build_agent
from guarantees_generated.runtime_contract.generated import load_runtime
runtime = load_runtime()
with runtime.checkpointer() as checkpointer:
    agent = build_agent(runtime=runtime, checkpointer=checkpointer)
    result = agent.invoke({"query": os.environ["QUERY"]}, thread_id="t")
    print(result.value.notes)
"""


def test_a_thread_survives_a_restart_on_sqlite(tmp_path: Path) -> None:
    """Two processes, one database: the second goes on where the first ended."""
    database = tmp_path / "threads.db"
    dsn = tmp_path / "dsn"
    dsn.write_text(f"sqlite:///{database}\n")
    lines = []
    for query in ("first", "second"):
        run = subprocess.run(
            [sys.executable, "-c", RESTART],
            env={
                "PYTHONPATH": f"{GENERATED}:{HERE}",
                "AGENT_ID": "guarantees",
                "PERSISTENCE_ENABLED": "true",
                "PERSISTENCE_DSN": str(dsn),
                "QUERY": query,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        lines.append(run.stdout.strip())
    assert lines == ["['first']", "['first', 'second']"]
    with sqlite3.connect(database) as connection:
        rows = connection.execute("select checkpoint from checkpoints").fetchall()
    assert rows
    assert not any(SECRET.encode() in row[0] for row in rows)
