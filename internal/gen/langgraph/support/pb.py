"""Protobuf's types as Pydantic types.

Generated models are built from these: `pb.Message` is the base of every message,
`pb.Int32` and its kin are Python's own types with protobuf's ranges, and the
well-known types keep what Python's lack (a `pb.Timestamp` has nanoseconds).

Models check Python values strictly and do not know JSON: `protojson` reads and
prints that.
"""

from __future__ import annotations

import enum
import re
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, total_ordering
from typing import Annotated, TypeVar, overload

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    Strict,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import Self

__all__ = [
    "Any",
    "Behavior",
    "Bool",
    "Bytes",
    "ClosedEnum",
    "Double",
    "Duration",
    "Empty",
    "Enum",
    "FieldMask",
    "Float",
    "Int32",
    "Int64",
    "ListValue",
    "Message",
    "Name",
    "NullValue",
    "OUTPUT_ONLY",
    "OneOf",
    "OpenEnum",
    "REQUIRED",
    "Scalar",
    "String",
    "Struct",
    "Timestamp",
    "UInt32",
    "UInt64",
    "Value",
    "WELL_KNOWN_TYPES",
    "proto_names",
]

EnumT = TypeVar("EnumT", bound="Enum")
MessageT = TypeVar("MessageT", bound="Message")

_MESSAGES: dict[str, type[Message]] = {}


def message_class(full_name: str) -> type[Message] | None:
    """Return the class of a message, by its full name in the proto."""
    return _MESSAGES.get(full_name)


@dataclass(frozen=True, slots=True)
class Scalar:
    """Marks a Python type as the scalar type of that name in protobuf."""

    kind: str


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a field in the proto, where Python's differs.

    Attributes:
        proto: The name in the proto.
        json: The name in ProtoJSON, where it is not the lowerCamel form of `proto`.
    """

    proto: str
    json: str | None = None


class Behavior(enum.Enum):
    """What google.api.field_behavior says of a field, which requests must keep."""

    REQUIRED = "REQUIRED"
    OUTPUT_ONLY = "OUTPUT_ONLY"


REQUIRED = Behavior.REQUIRED
"""Marks a field that a request must set."""

OUTPUT_ONLY = Behavior.OUTPUT_ONLY
"""Marks a field that the service sets, and no request."""


_MAX_TEXT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Utf8:
    """Refuses text that is not Unicode: lone surrogates."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Limit the length, for which Pydantic's core has to read the text."""
        return core_schema.str_schema(strict=True, max_length=_MAX_TEXT)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Leave the length out, unless it is that of a rule."""
        shown = handler(schema)
        if shown.get("maxLength") == _MAX_TEXT:
            del shown["maxLength"]
        return shown


Bool = Annotated[bool, Strict(), Scalar("bool")]
String = Annotated[str, _Utf8(), Scalar("string")]
Bytes = Annotated[
    bytes,
    Strict(),
    WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
    Scalar("bytes"),
]
Double = Annotated[float, Strict(), Scalar("double")]
Float = Annotated[float, Strict(), Scalar("float")]
Int32 = Annotated[int, Strict(), Field(ge=-(2**31), lt=2**31), Scalar("int32")]
Int64 = Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63), Scalar("int64")]
UInt32 = Annotated[int, Strict(), Field(ge=0, lt=2**32), Scalar("uint32")]
UInt64 = Annotated[int, Strict(), Field(ge=0, lt=2**64), Scalar("uint64")]


class OneOf:
    """A oneof: fields of which at most one is set.

    Read from a message, it is the name of the field that is set, or None.

    Attributes:
        members: The names of the fields.
        required: Whether one of them must be set.
    """

    def __init__(self, *members: str, required: bool = False) -> None:
        """Group the fields of these names."""
        self.members = members
        self.required = required

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name of the oneof."""
        self.name = name

    @overload
    def __get__(self, message: None, owner: type) -> Self: ...
    @overload
    def __get__(self, message: object, owner: type) -> str | None: ...

    def __get__(self, message: object | None, owner: type) -> Self | str | None:
        """Return the name of the field that is set."""
        if message is None:
            return self
        return next((m for m in self.members if getattr(message, m) is not None), None)


@cache
def one_ofs(cls: type) -> list[OneOf]:
    """Return the oneofs of a message class, those of its bases included."""
    groups = {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, OneOf)
    }
    return list(groups.values())


def check_one_ofs(message: MessageT) -> MessageT:
    """Return the message if no oneof of it has two fields set.

    Raises:
        ValueError: If one has.
    """
    for group in one_ofs(type(message)):
        members = [m for m in group.members if getattr(message, m) is not None]
        if len(members) > 1:
            raise ValueError(
                f"oneof `{group.name}` has more than one field set: "
                + ", ".join(members)
            )
    return message


class MessageRule(typing.Protocol):
    """A rule for a whole message, of module `rules`."""

    def check(self, message: typing.Any) -> typing.Iterator[typing.Any]:
        """Say what is wrong with a message of which every field is right."""
        ...


def has_rules(cls: type[Message]) -> bool:
    """Tell whether a message has rules that are about several of its fields."""
    return bool(cls.__rules__) or any(group.required for group in one_ofs(cls))


@classmethod  # type: ignore[misc]
def _check_rules(
    cls: type[Message],
    value: typing.Any,
    validate: Callable[[typing.Any], Message],
) -> Message:
    from . import rules

    return rules.check_message(cls, value, validate)


def lower_camel(name: str) -> str:
    """Return the default ProtoJSON name of a field."""
    return re.sub(r"_+([^_]?)", lambda m: m[1].upper(), name)


def names_of(cls: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """Return the proto name and the ProtoJSON name of every field."""
    # Not those of Pydantic: in types that hold each other, it lacks the metadata.
    hints = typing.get_type_hints(cls, include_extras=True)
    names = {}
    for field in cls.model_fields:
        markers = getattr(hints[field], "__metadata__", ())
        name = next((m for m in markers if isinstance(m, Name)), Name(field))
        names[field] = (name.proto, name.json or lower_camel(name.proto))
    return names


_DEEP = 50_000


class Message(BaseModel):
    """Base of every generated model.

    Messages are immutable, refuse unknown fields and, being part of logs and of
    checkpoints, keep values out of their error messages.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        ignored_types=(OneOf,),
        # Names that would hide Pydantic's have a `_`, which these do not look at.
        protected_namespaces=(),
    )
    # Not annotated: LangGraph makes a channel of every annotation of a state.
    __proto__ = ""
    __rules__ = typing.cast("tuple[MessageRule, ...]", ())

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: typing.Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Build the schema as `BaseModel` does, with room for circles of types.

        Pydantic nests the types that hold each other: some hundred of them, and
        the usual limit is reached.
        """
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEP))
        try:
            return handler(source)
        finally:
            sys.setrecursionlimit(max(limit, _DEEP))

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: typing.Any) -> None:
        """Take the arguments that `__init_subclass__` used."""

    def __init_subclass__(
        cls,
        proto: str = "",
        rules: tuple[MessageRule, ...] = (),
        **kwargs: typing.Any,
    ) -> None:
        """Register a message, and check what is about several of its fields.

        Args:
            proto: The full name of the message in the proto.
            rules: The rules for the whole message.
            **kwargs: Configuration, as for `BaseModel`.
        """
        super().__init_subclass__(**kwargs)
        if proto:
            _MESSAGES[proto] = cls
            cls.__proto__ = proto
        if any(isinstance(value, OneOf) for value in vars(cls).values()):
            # Pydantic looks for validators after this.
            cls._check_one_ofs = model_validator(mode="after")(check_one_ofs)  # type: ignore[attr-defined]
        if rules:
            cls.__rules__ = rules
        if has_rules(cls):
            cls._check_rules = model_validator(mode="wrap")(_check_rules)  # type: ignore[attr-defined]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Show the fields by their ProtoJSON names."""
        shown = handler(schema)
        model = handler.resolve_ref_schema(shown)
        names = {field: json for field, (_, json) in names_of(cls).items()}
        for key in ("properties", "required"):
            if isinstance(fields := model.get(key), dict):
                model[key] = {names.get(f, f): v for f, v in fields.items()}
            elif isinstance(fields, list):
                model[key] = [names.get(f, f) for f in fields]
        return shown

    @classmethod
    def model_construct(
        cls, _fields_set: set[str] | None = None, **values: typing.Any
    ) -> Self:
        """Make a message of fields that another version of the class has stored.

        LangGraph calls this for what a checkpoint holds and the class refuses.

        Raises:
            ValueError: If a value cannot be read as its field of today.
        """
        from . import stored

        return stored.read_message(cls, values)


class Enum(enum.IntEnum):
    """Base of the enums: reads members, their numbers and their proto names."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: typing.Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Read with `parse`."""
        return core_schema.no_info_plain_validator_function(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """List the names."""
        return {"type": "string", "enum": list(proto_members(cls))}

    @classmethod
    def parse(cls, value: object) -> Self:
        """Return the member of a name or a number.

        Raises:
            ValueError: If there is no such member.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            member = proto_members(cls).get(value)
            if member is None:
                raise ValueError(f"not a value of enum {cls.__name__}")
            return member
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"want a name or a number of enum {cls.__name__}")
        return cls(value)


class ClosedEnum(Enum):
    """An enum that holds its declared values only (proto2, and by feature)."""


class OpenEnum(Enum):
    """An enum that also holds numbers of values declared later (proto3)."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """Represent an undeclared number, whose name is the number itself."""
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        if not -(2**31) <= value < 2**31:
            return None
        member = int.__new__(cls, value)
        member._name_ = str(value)
        member._value_ = value
        return member


class NullValue(OpenEnum):
    """JSON's null (google.protobuf.NullValue)."""

    NULL_VALUE = 0


def proto_names(names: dict[str, str]) -> Callable[[type[EnumT]], type[EnumT]]:
    """Give an enum the proto names of the members that Python calls otherwise.

    Args:
        names: Proto names by Python name.
    """

    def decorate(cls: type[EnumT]) -> type[EnumT]:
        cls.__proto_names__ = names  # type: ignore[attr-defined]
        return cls

    return decorate


def proto_members(cls: type[EnumT]) -> dict[str, EnumT]:
    """Return the members of an enum, aliases included, by proto name."""
    names: dict[str, str] = getattr(cls, "__proto_names__", {})
    return {names.get(name, name): member for name, member in cls.__members__.items()}


def proto_name(member: enum.IntEnum) -> str | None:
    """Return the proto name of an enum member, None for an undeclared number."""
    if member.name not in type(member).__members__:
        return None
    names: dict[str, str] = getattr(type(member), "__proto_names__", {})
    return names.get(member.name, member.name)


_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _fraction(nanos: int) -> str:
    """Print nanoseconds with 0, 3, 6 or 9 digits, as ProtoJSON does."""
    if nanos == 0:
        return ""
    for digits in (3, 6, 9):
        if nanos % 10 ** (9 - digits) == 0:
            break
    return f".{nanos // 10 ** (9 - digits):0{digits}d}"


@total_ordering
class Timestamp(Message, proto="google.protobuf.Timestamp"):
    """A point in time with nanoseconds (google.protobuf.Timestamp).

    Fields of this type also accept an aware `datetime`.

    Attributes:
        seconds: Seconds since 1970-01-01T00:00:00Z, of the years 1 to 9999.
        nanos: Nanoseconds of the second, 0 to 999,999,999.
    """

    seconds: Annotated[int, Strict(), Field(ge=-62135596800, le=253402300799)] = 0
    nanos: Annotated[int, Strict(), Field(ge=0, le=999_999_999)] = 0

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Show the ProtoJSON form."""
        return {"type": "string", "format": "date-time"}

    @model_validator(mode="before")
    @classmethod
    def _accept_datetime(cls, value: object) -> object:
        return cls._fields_of(value) if isinstance(value, datetime) else value

    @staticmethod
    def _fields_of(moment: datetime) -> dict[str, int]:
        if moment.tzinfo is None:
            raise ValueError("want an aware datetime: give it a tzinfo")
        delta = moment - _EPOCH
        return {
            "seconds": delta.days * 86400 + delta.seconds,
            "nanos": delta.microseconds * 1000,
        }

    @classmethod
    def now(cls) -> Self:
        """Return the current time."""
        return cls.from_datetime(datetime.now(UTC))

    @classmethod
    def from_datetime(cls, moment: datetime) -> Self:
        """Convert an aware `datetime`."""
        return cls(**cls._fields_of(moment))

    def to_datetime(self) -> datetime:
        """Convert to a `datetime` in UTC, cutting off below the microsecond."""
        return _EPOCH + timedelta(seconds=self.seconds, microseconds=self.nanos // 1000)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read RFC 3339, such as `2024-05-01T12:00:00.000000001Z`.

        Raises:
            ValueError: If the text is no such timestamp.
        """
        match = _RFC3339.fullmatch(text)
        if match is None:
            raise ValueError("want an RFC 3339 timestamp such as 2024-05-01T12:00:00Z")
        *parts, fraction, zone = match.groups()
        moment = datetime(*map(int, parts), tzinfo=UTC)  # type: ignore[misc, arg-type]
        fields = cls._fields_of(moment)
        if zone != "Z":
            hours, minutes = int(zone[1:3]), int(zone[4:6])
            if hours > 23 or minutes > 59:
                raise ValueError("the offset of the timestamp is out of range")
            offset = hours * 3600 + minutes * 60
            fields["seconds"] -= offset if zone[0] == "+" else -offset
        return cls(seconds=fields["seconds"], nanos=int((fraction or "").ljust(9, "0")))

    def __str__(self) -> str:
        """Print RFC 3339 in UTC."""
        moment = _EPOCH + timedelta(seconds=self.seconds)
        return f"{moment:%Y-%m-%dT%H:%M:%S}".zfill(19) + _fraction(self.nanos) + "Z"

    def __lt__(self, other: object) -> bool:
        """Compare two points in time."""
        if not isinstance(other, Timestamp):
            return NotImplemented
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)


_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s", re.ASCII)
_MAX_DURATION = 315_576_000_000


@total_ordering
class Duration(Message, proto="google.protobuf.Duration"):
    """A span of time with nanoseconds (google.protobuf.Duration).

    Fields of this type also accept a `timedelta`.

    Attributes:
        seconds: Whole seconds, up to about 10,000 years either way.
        nanos: Nanoseconds, of the same sign as `seconds`.
    """

    seconds: Annotated[int, Strict(), Field(ge=-_MAX_DURATION, le=_MAX_DURATION)] = 0
    nanos: Annotated[int, Strict(), Field(ge=-999_999_999, le=999_999_999)] = 0

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Show the ProtoJSON form."""
        return {"type": "string", "description": "Seconds, such as 1.5s."}

    @model_validator(mode="before")
    @classmethod
    def _accept_timedelta(cls, value: object) -> object:
        return cls._fields_of(value) if isinstance(value, timedelta) else value

    @model_validator(mode="after")
    def _check_signs(self) -> Self:
        if self.seconds * self.nanos < 0:
            raise ValueError("seconds and nanos of a duration must have one sign")
        return self

    @staticmethod
    def _fields_of(span: timedelta) -> dict[str, int]:
        sign = -1 if span < timedelta() else 1
        span = abs(span)
        return {
            "seconds": sign * (span.days * 86400 + span.seconds),
            "nanos": sign * span.microseconds * 1000,
        }

    @classmethod
    def from_timedelta(cls, span: timedelta) -> Self:
        """Convert a `timedelta`."""
        return cls(**cls._fields_of(span))

    def to_timedelta(self) -> timedelta:
        """Convert to a `timedelta`, cutting off below the microsecond."""
        micros = abs(self.nanos) // 1000
        return timedelta(
            seconds=self.seconds, microseconds=micros if self.nanos >= 0 else -micros
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ProtoJSON's form, such as `1.5s`.

        Raises:
            ValueError: If the text is no such duration.
        """
        match = _DURATION.fullmatch(text)
        if match is None:
            raise ValueError("want a duration in seconds such as 1.5s")
        sign = -1 if match[1] else 1
        nanos = int((match[3] or "").ljust(9, "0"))
        return cls(seconds=sign * int(match[2]), nanos=sign * nanos)

    def __str__(self) -> str:
        """Print ProtoJSON's form."""
        sign = "-" if self.seconds < 0 or self.nanos < 0 else ""
        return f"{sign}{abs(self.seconds)}{_fraction(abs(self.nanos))}s"

    def __lt__(self, other: object) -> bool:
        """Compare two spans of time."""
        if not isinstance(other, Duration):
            return NotImplemented
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)


class FieldMask(Message, proto="google.protobuf.FieldMask"):
    """A set of field paths (google.protobuf.FieldMask).

    Attributes:
        paths: Paths in snake_case, such as `user.display_name`.
    """

    paths: list[String] = Field(default_factory=list)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Show the ProtoJSON form."""
        return {"type": "string", "description": "Paths, separated by commas."}


class Empty(Message, proto="google.protobuf.Empty"):
    """A message without fields (google.protobuf.Empty)."""


Struct = dict[str, JsonValue]
"""A JSON object (google.protobuf.Struct)."""

ListValue = list[JsonValue]
"""A JSON array (google.protobuf.ListValue)."""


class Value(Message, proto="google.protobuf.Value"):
    """Any JSON value (google.protobuf.Value).

    Wrapped, so that a field that holds JSON's null differs from an unset one.
    Fields of this type also accept the bare value, unless it is an object.

    Attributes:
        value: The JSON value.
    """

    value: JsonValue = None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Show the ProtoJSON form."""
        return {}

    @model_validator(mode="before")
    @classmethod
    def _accept_bare(cls, value: object) -> object:
        if isinstance(value, (dict, Value)):
            return value
        return {"value": value}


class Any(Message, proto="google.protobuf.Any"):
    """A message of any type in its ProtoJSON form (google.protobuf.Any).

    Attributes:
        type_url: The type, such as `type.googleapis.com/acme.v1.Thing`.
        value: The fields of the message in ProtoJSON; for a well-known type with a
            JSON form of its own, that form under the key `value`.
    """

    type_url: String = ""
    value: Struct = Field(default_factory=dict)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Show the ProtoJSON form."""
        return {"type": "object", "properties": {"@type": {"type": "string"}}}

    @classmethod
    def pack(cls, message: Message) -> Self:
        """Pack a message of the generated models."""
        from . import wire

        return cls(
            type_url=f"type.googleapis.com/{message.__proto__}",
            value=wire.packed(message),
        )

    def unpack(self, cls: type[MessageT]) -> MessageT:
        """Return the message.

        Raises:
            ValueError: If it is of another type.
        """
        from . import wire

        if self.type_url.rpartition("/")[2] != cls.__proto__:
            raise ValueError(f"the message is not a {cls.__proto__}")
        return wire.unpacked(cls, self.value)

    @field_validator("value")
    @classmethod
    def _refuse_type_key(cls, value: Struct) -> Struct:
        if "@type" in value:
            raise ValueError("the type of an Any stands in type_url, not in value")
        return value


WELL_KNOWN_TYPES = (Timestamp, Duration, FieldMask, Empty, Value, Any)
"""The message classes of this module."""
