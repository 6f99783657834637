"""Protobuf's types in Python: what fields hold and refuse."""

from __future__ import annotations

import sys
import types
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError
from support import pb, protojson


class Level(pb.OpenEnum):
    """An open enum with an alias."""

    LOW = 0
    HIGH = 1
    TOP = 1


@pb.proto_names({"mro_": "mro"})
class Closed(pb.ClosedEnum):
    """A closed enum with a member that Python must call otherwise."""

    mro_ = 1


class Thing(pb.Message):
    """A message with one field of each kind."""

    flag: pb.Bool = False
    text: pb.String = ""
    data: pb.Bytes = b""
    small: pb.Int32 = 0
    big: pb.UInt64 = 0
    real: pb.Double = 0.0
    level: Level = Level.LOW
    closed: Closed = Closed.mro_
    at: pb.Timestamp | None = None
    span: pb.Duration | None = None
    value: pb.Value | None = None
    items: list[pb.Int32] = Field(default_factory=list)
    a: pb.String | None = None
    b: pb.Int32 | None = None
    one = pb.OneOf("a", "b")


class Early(pb.Message):
    """A message with a renamed field of a type that is defined later."""

    import_: Annotated[Late | None, pb.Name("import")] = None


class Late(pb.Message):
    """What the field holds."""


def test_names_of_fields_whose_type_is_defined_later() -> None:
    """Are those of the proto, as for others."""
    assert pb.names_of(Early) == {"import_": ("import", "import")}


@pytest.mark.parametrize(
    "fields",
    [
        {"flag": 1},
        {"text": b"x"},
        {"data": "x"},
        {"small": True},
        {"small": 2**31},
        {"small": "1"},
        {"small": 1.0},
        {"big": -1},
        {"big": 2**64},
        {"real": "1"},
        {"level": "MIDDLE"},
        {"level": 2**31},
        {"level": True},
        {"closed": 2},
        {"closed": "mro_"},
        {"at": "2024-01-01T00:00:00Z"},
        {"at": datetime(2024, 1, 1)},
        {"at": {"nanos": -1}},
        {"span": {"seconds": 1, "nanos": -1}},
        {"items": [1, None]},
        {"a": "x", "b": 1},
        {"nope": 1},
    ],
)
def test_wrong_values_are_refused(fields: dict[str, Any]) -> None:
    """Fields are strict, and errors do not show what they were given."""
    with pytest.raises(ValidationError) as error:
        Thing(**fields)
    assert "input_value" not in str(error.value)


def test_messages_are_immutable() -> None:
    """State is updated by what nodes return, not in place."""
    with pytest.raises(ValidationError):
        Thing().text = "x"  # type: ignore[misc]


def test_open_enum_keeps_unknown_numbers() -> None:
    """Values that were declared later pass through."""
    level = Thing.model_validate({"level": 7}).level
    assert isinstance(level, Level)
    assert (level, pb.proto_name(level)) == (7, None)
    assert Level(7) == Level(7)


def test_enum_names() -> None:
    """Aliases are read, the first name is printed, proto names are kept."""
    assert Level.parse("TOP") is Level.HIGH
    assert pb.proto_name(Level.TOP) == "HIGH"
    assert Closed.parse("mro") is Closed.mro_
    assert pb.proto_name(Closed.mro_) == "mro"


def test_one_of_names_the_field_that_is_set() -> None:
    """The oneof of a message is the name of its set member."""
    assert Thing().one is None
    assert Thing(b=0).one == "b"
    assert Thing.one.members == ("a", "b")


def test_timestamp_converts_to_and_from_datetime() -> None:
    """Aware datetimes of any zone become seconds and nanoseconds in UTC."""
    moment = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    stamp = pb.Timestamp.from_datetime(moment)
    assert (stamp.seconds, stamp.nanos) == (-1, 999_999_000)
    assert stamp.to_datetime() == moment
    east = datetime(2024, 5, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert Thing.model_validate({"at": east}).at == pb.Timestamp.parse(
        "2024-05-01T00:00:00Z"
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("1970-01-01T00:00:00.000000001Z", "1970-01-01T00:00:00.000000001Z"),
        ("1970-01-01T00:00:00.01Z", "1970-01-01T00:00:00.010Z"),
        ("1970-01-01T01:00:00.1+01:00", "1970-01-01T00:00:00.100Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_timestamp_reads_and_prints_rfc_3339(text: str, printed: str) -> None:
    """With 0, 3, 6 or 9 digits, always in UTC."""
    assert str(pb.Timestamp.parse(text)) == printed


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-01",
        "1970-01-01 00:00:00Z",
        "1970-01-01t00:00:00z",
        "1970-01-01T00:00:00",
        "1970-02-30T00:00:00Z",
        "1970-01-01T00:00:00.0000000001Z",
        "0001-01-01T00:00:00+00:01",
        "1970-01-01T00:00:00+24:00",
    ],
)
def test_timestamp_refuses_other_forms(text: str) -> None:
    """What RFC 3339 or the range of years does not allow."""
    with pytest.raises(ValueError):
        pb.Timestamp.parse(text)


@pytest.mark.parametrize("text", ["0s", "-0.500s", "1.000000001s", "315576000000s"])
def test_duration_reads_and_prints_seconds(text: str) -> None:
    """The sign counts for both parts."""
    assert str(pb.Duration.parse(text)) == text


def test_duration_converts_to_and_from_timedelta() -> None:
    """A negative span has negative parts."""
    span = timedelta(seconds=-1, microseconds=-500_000)
    duration = pb.Duration.from_timedelta(span)
    assert (duration.seconds, duration.nanos) == (-1, -500_000_000)
    assert duration.to_timedelta() == span


def test_value_null_differs_from_unset() -> None:
    """A field of type Value can hold JSON's null."""
    assert Thing().value is None
    assert Thing(value=pb.Value()).value == pb.Value(value=None)
    assert Thing.model_validate({"value": 1}).value == pb.Value(value=1)


def test_timestamps_and_durations_are_ordered() -> None:
    """They compare by seconds, then by nanoseconds."""
    assert pb.Timestamp(seconds=1) < pb.Timestamp(seconds=1, nanos=1)
    assert pb.Duration(seconds=-1) <= pb.Duration()


class Ring(pb.Message):
    """A message whose type is held by a type that it holds."""

    next_: Annotated[Bead | None, pb.Name("next")] = None


class Bead(pb.Message):
    """The other message."""

    class_: Annotated[Ring | None, pb.Name("class", "Klass")] = None


def test_names_in_a_circle_of_types() -> None:
    """Pydantic does not know them yet when it makes the class."""
    assert pb.names_of(Ring) == {"next_": ("next", "next")}
    assert pb.names_of(Bead) == {"class_": ("class", "Klass")}
    ring = protojson.from_json(Ring, {"next": {"Klass": {"next": {}}}})
    assert protojson.to_json(ring) == {"next": {"Klass": {"next": {}}}}


def test_long_circles_of_types() -> None:
    """Pydantic nests as deep as the circle is long."""
    size = 150
    source = "from __future__ import annotations\nfrom support import pb\n"
    for i in range(size):
        source += f"class M{i}(pb.Message):\n    m: M{(i + 1) % size} | None = None\n"
    module = types.ModuleType("long_circle")
    sys.modules["long_circle"] = module
    exec(source, module.__dict__)
    nested = {"m": {"m": {"m": {}}}}
    assert protojson.to_json(protojson.from_json(module.M7, nested)) == nested
    assert TypeAdapter(module.M9).validate_python(nested).m.m.m == module.M12()
