"""What other versions of a contract have stored."""

from __future__ import annotations

import sys
import types
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START
from langgraph.types import Overwrite
from pydantic import Field, ValidationError
from support import pb, stored
from support.graphs import AgentGraph
from support.reducers import append_list
from support.state import StateContract

PACKAGE = "stored_package"


class Hue(pb.OpenEnum):
    """An open enum."""

    NONE = 0
    RED = 1


class Level(pb.ClosedEnum):
    """A closed enum."""

    LOW = 1


class Leaf(pb.Message):
    """A message whose Python names are not those of the proto."""

    user_name: pb.String = ""
    class_: Annotated[pb.String, pb.Name("class")] = ""
    plain: Annotated[pb.String, pb.Name("plain", "other")] = ""
    hue: Hue = Hue.NONE
    level: Level | None = None
    count: pb.UInt32 = 0


@pytest.mark.parametrize(
    ("annotation", "value", "read"),
    [
        (Leaf, {"user_name": "a"}, Leaf(user_name="a")),
        (Leaf, {"userName": "a"}, Leaf(user_name="a")),
        (Leaf, {"user_name_": "a"}, Leaf(user_name="a")),
        (Leaf, {"class": "a"}, Leaf(class_="a")),
        (Leaf, {"class_": "a"}, Leaf(class_="a")),
        (Leaf, {"other": "a"}, Leaf(plain="a")),
        (Leaf, {"gone": "a", "hue": 7}, Leaf(hue=Hue(7))),
        (Leaf, {"level": 7, "count": -1}, Leaf(count=2**32 - 1)),
        (Leaf, Leaf(), Leaf()),
        (Leaf, None, stored.UNSET),
        (Leaf | None, None, None),
        (Level, 7, stored.UNSET),
        (Level | None, 7, None),
        (list[Level], [1, 7], [Level.LOW]),
        (dict[pb.String, Level], {"a": 1, "b": 7}, {"a": Level.LOW}),
        (dict[pb.Int32, pb.String], {2**32 - 1: "a"}, {-1: "a"}),
        (pb.Int64, 2**64 - 1, -1),
        (pb.UInt64, -1, 2**64 - 1),
        (pb.Int32, True, True),
        (pb.String, None, stored.UNSET),
        (list[pb.String], None, stored.UNSET),
        (pb.Struct, {"a": None}, {"a": None}),
        (pb.ListValue, [None], [None]),
        (pb.Value, {"value": None}, pb.Value(value=None)),
        (pb.Timestamp, {"seconds": 1, "nanos": 2}, pb.Timestamp(seconds=1, nanos=2)),
    ],
)
def test_reads_as_protobuf_does(annotation: Any, value: Any, read: Any) -> None:
    """Unknown fields are skipped, others found by any of their names."""
    actual = stored.read(annotation, value)
    assert actual == read
    assert type(actual) is type(read)


def test_what_has_no_reading_is_refused() -> None:
    """Nothing is guessed: not by a message, nor by the serializer's way to make it."""
    with pytest.raises(ValidationError):
        stored.read(Leaf, {"user_name": 3})
    with pytest.raises(ValidationError):
        Leaf.model_construct(user_name=3)
    assert Leaf.model_construct(gone=3) == Leaf()


def module(**names: Any) -> None:
    """Make classes stand in the module of the package."""
    made = types.ModuleType(PACKAGE)
    made.__dict__.update(globals())
    sys.modules[PACKAGE] = made
    for name, cls in names.items():
        cls.__module__, cls.__name__, cls.__qualname__ = PACKAGE, name, name
        setattr(made, name, cls)


def run(state: type[pb.Message], saver: Any, update: dict[str, Any]) -> Any:
    """Run one node over a thread, and return what it saw."""
    kept = (Leaf, Hue, NewLeaf, NewHue)
    contract = StateContract(
        agent_id="a",
        schema=state,
        update_schema=state,
        input_schema=state,
        output_schema=state,
        types=[c for c in kept if c.__module__ == PACKAGE],
    )
    seen: list[Any] = []

    def node(state: Any) -> dict[str, Any]:
        seen.append(state)
        return update

    graph = AgentGraph(contract)
    graph.add_node("node", node, input_schema=state)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    compiled = graph.build(checkpointer=saver, recursion_limit=5, where="test")
    compiled.invoke({"go": "on"}, {"configurable": {"thread_id": "t"}})
    (state_seen,) = seen
    return state_seen


class OldState(pb.Message):
    """A state under the names of an earlier version."""

    go: pb.String = ""
    userName: pb.String = ""  # noqa: N815
    leaves: Annotated[list[Leaf], append_list] = Field(default_factory=list)
    hue: Hue = Hue.NONE


class NewLeaf(pb.Message):
    """The message under another class name."""

    user_name: pb.String = ""


class NewHue(pb.OpenEnum):
    """The enum under another class name."""

    NONE = 0
    RED = 1


class NewState(pb.Message):
    """The state of today."""

    go: pb.String = ""
    user_name: pb.String = ""
    leaves: Annotated[list[NewLeaf], append_list] = Field(default_factory=list)
    hue: NewHue = NewHue.NONE


def test_names_of_classes_and_fields_may_change() -> None:
    """Also where a saver stores each field under its name, and only its changes."""
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    module(State=OldState, Leaf=Leaf, Hue=Hue)
    wrote = {"userName": "u", "leaves": [Leaf(user_name="l")], "hue": Hue.RED}
    run(OldState, saver, wrote)
    module(State=NewState, NewLeaf=NewLeaf, NewHue=NewHue)
    expected = NewState(
        go="on", user_name="u", leaves=[NewLeaf(user_name="l")], hue=NewHue.RED
    )
    assert run(NewState, saver, {}) == expected
    assert run(NewState, saver, {"hue": NewHue(7)}) == expected
    seen = run(NewState, saver, {"leaves": [NewLeaf(user_name="m")]})
    assert seen.user_name == "u"
    assert seen.hue == NewHue(7)
    module(State=OldState, Leaf=Leaf, Hue=Hue)
    old = run(OldState, saver, {})
    assert old.userName == "u"
    assert old.leaves == [Leaf(user_name="l"), Leaf(user_name="m")]
    assert type(old.hue) is Hue


def test_pending_writes_are_read_too() -> None:
    """A superstep that was cut off goes on with what its nodes had written."""
    saver = stored.reading(InMemorySaver(), NewState, {})
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    empty: Any = {
        "v": 4,
        "id": "1",
        "ts": "",
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
    }
    config = saver.put(config, empty, {}, {})
    writes = [
        ("leaves", [{"userName": "a", "gone": 1}]),
        ("leaves", Overwrite([{"user_name": "b"}])),
        ("userName", "u"),
        ("branch:to:node", None),
    ]
    saver.put_writes(config, writes, "task")
    found = saver.get_tuple(config)
    assert found is not None
    assert found.pending_writes == [
        ("task", "leaves", [NewLeaf(user_name="a")]),
        ("task", "leaves", Overwrite([NewLeaf(user_name="b")])),
        ("task", "user_name", "u"),
        ("task", "branch:to:node", None),
    ]
