"""Pydantic schemas that read and print ProtoJSON.

Values that ProtoJSON writes as Python does are handled by Pydantic's core alone;
the other forms are converted by functions. Nothing here is called by people:
`protojson` is the way in.
"""

from __future__ import annotations

import base64
import binascii
import enum
import math
import re
import struct
import types
import typing
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache, cached_property
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    PydanticOmit,
    PydanticUseDefault,
    SchemaSerializer,
    SchemaValidator,
    core_schema,
)

from . import pb, rules

M = TypeVar("M", bound=pb.Message)

LABELS = ("\x00value", "\x00other")
"""Labels of the two ways to read a value, which paths of errors leave out."""

NOT_NULL = "\x00not-null"
"""Stands in the error of the way that reads null only, which says nothing."""


ERROR_TYPE = "protojson"
"""The Pydantic type of the errors of this module."""


class NoJsonForm(ValueError):
    """A value that ProtoJSON cannot write."""


class Use(enum.Enum):
    """What a schema is for."""

    READ = enum.auto()
    READ_KNOWN = enum.auto()
    """Read, and skip unknown fields and unknown names of enum values."""
    PRINT = enum.auto()


class Codec:
    """Reads and prints the ProtoJSON of one type."""

    def __init__(self, annotation: Any) -> None:
        """Read and print values of an annotation, such as a message class."""
        self._annotation = annotation

    @cached_property
    def _printer(self) -> SchemaSerializer:
        return SchemaSerializer(_Builder(Use.PRINT).build(self._annotation))

    @cached_property
    def _strict(self) -> SchemaValidator:
        return SchemaValidator(_Builder(Use.READ).build(self._annotation))

    @cached_property
    def _lenient(self) -> SchemaValidator:
        return SchemaValidator(_Builder(Use.READ_KNOWN).build(self._annotation))

    def read(self, value: Any, *, ignore_unknown: bool = False) -> Any:
        """Read a value that a JSON parser returned.

        Raises:
            ValidationError: If it is no ProtoJSON of the type.
        """
        validator = self._lenient if ignore_unknown else self._strict
        return validator.validate_python(value)

    def print(self, value: Any) -> Any:
        """Print a value as Python's JSON types.

        Raises:
            NoJsonForm: If the value has no ProtoJSON form.
        """
        return self._printer.to_python(
            value, mode="json", by_alias=True, exclude_defaults=True
        )


@cache
def codec(cls: type[pb.Message]) -> Codec:
    """Return the codec of a message class."""
    return Codec(cls)


class _Record:
    """Stands for every message in the schemas that print.

    In the place of the class itself, Pydantic would take the schema of the class.
    """


_MAX_LISTED = 20
"""How many values of an enum a message lists."""


class _Builder:
    def __init__(self, use: Use) -> None:
        self._use = use
        # Whether what is being built is held to its rules.
        self._ruled = True
        self._met: set[str] = set()
        self._pending: list[tuple[type[pb.Message], str, bool]] = []

    def build(self, annotation: Any) -> CoreSchema:
        root = self._type(annotation)
        definitions = []
        # Not by recursion: types may hold each other in long chains.
        while self._pending:
            definitions.append(self._fields(*self._pending.pop()))
        return core_schema.definitions_schema(root, definitions)

    def _message(self, cls: type[pb.Message]) -> CoreSchema:
        if cls is pb.Any:
            return self._any()
        well_known = _WELL_KNOWN.get(cls)
        if well_known is not None:
            return well_known
        ref = f"{cls.__module__}.{cls.__qualname__}:{id(cls)}:{self._ruled}"
        if ref not in self._met:
            self._met.add(ref)
            self._pending.append((cls, ref, self._ruled))
        return core_schema.definition_reference_schema(ref)

    def _fields(self, cls: type[pb.Message], ref: str, ruled: bool) -> CoreSchema:
        self._ruled = ruled
        hints = typing.get_type_hints(cls, include_extras=True)
        fields: dict[str, core_schema.ModelField] = {}
        for name, (proto_name, json_name) in pb.names_of(cls).items():
            aliases: list[list[str | int]] = [[json_name]]
            if proto_name != json_name:
                aliases.append([proto_name])
            fields[name] = core_schema.model_field(
                self._field(hints[name], cls.model_fields[name]),
                validation_alias=aliases,
                serialization_alias=json_name,
            )
        inner = core_schema.model_fields_schema(
            fields,
            model_name=cls.__name__,
            extra_behavior="ignore" if self._use is Use.READ_KNOWN else "forbid",
        )
        if self._use is Use.PRINT:
            return core_schema.model_schema(_Record, inner, ref=ref)
        return core_schema.no_info_after_validator_function(
            _constructor(cls, ruled), inner, ref=ref
        )

    def _field(self, annotation: Any, info: FieldInfo) -> CoreSchema:
        value = self._type(annotation)
        if not info.is_required():
            default = info.get_default(call_default_factory=True)
        elif self._ruled:
            return value
        else:
            default = rules.zero(annotation)
        if isinstance(default, float):
            default = _Zero(default)
        if default is not None:
            # A union would print by the type that fits, not by the first.
            if self._use is not Use.PRINT:
                value = _either(value, _null_as_default)
        elif not _takes_null(annotation):
            value = core_schema.nullable_schema(value)
        return core_schema.with_default_schema(value, default=default)

    def _type(self, annotation: Any) -> CoreSchema:
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            if type(None) in get_args(args[0]):
                (inner,) = [a for a in get_args(args[0]) if a is not type(None)]
                return self._type(_constrained(inner, args[1:]))
            if any(isinstance(marker, rules.Ignored) for marker in args[1:]):
                return self._unruled(args[0])
            for marker in args[1:]:
                if isinstance(marker, pb.Scalar):
                    return _scalar(marker.kind, self._held(annotation))
                if hasattr(marker, "__protojson__"):
                    print_, read = marker.__protojson__()
                    return _converted(read, print_)
            value = self._type(args[0])
            constraints = [m for m in args[1:] if isinstance(m, _CONSTRAINTS)]
            if not constraints or self._use is Use.PRINT or not self._ruled:
                return value
            base = get_origin(args[0]) or Any
            checked = TypeAdapter(_constrained(base, constraints)).core_schema
            return core_schema.chain_schema([value, checked])
        if origin in (typing.Union, types.UnionType):
            (inner,) = [a for a in args if a is not type(None)]
            return self._type(inner)
        if annotation == pb.Struct:
            return _STRUCT
        if annotation == pb.ListValue:
            return _LIST_VALUE
        if origin is list:
            return core_schema.list_schema(self._type(args[0]))
        if origin is dict:
            key = _map_key(self._held(args[0]))
            return core_schema.dict_schema(key, self._type(args[1]))
        if isinstance(annotation, type) and issubclass(annotation, pb.Message):
            return self._message(annotation)
        if isinstance(annotation, type) and issubclass(annotation, pb.Enum):
            return self._enum(annotation)
        raise TypeError(f"no ProtoJSON form for {annotation!r}")

    def _held(self, annotation: Any) -> Any:
        """Return the annotation of a scalar with the rules that it is held to."""
        if self._ruled:
            return annotation
        # They stand behind what makes the scalar.
        base, *metadata = get_args(annotation)
        kinds = [isinstance(marker, pb.Scalar) for marker in metadata]
        return _constrained(base, metadata[: kinds.index(True) + 1])

    def _unruled(self, annotation: Any) -> CoreSchema:
        around, self._ruled = self._ruled, False
        try:
            return self._type(annotation)
        finally:
            self._ruled = around

    def _enum(self, cls: type[pb.Enum]) -> CoreSchema:
        members = pb.proto_members(cls)
        is_null = cls is pb.NullValue
        wanted = f"not a value of enum {cls.__name__}"
        if len(members) <= _MAX_LISTED:
            wanted += ": want one of " + ", ".join(members)

        def read(value: Any) -> pb.Enum:
            if isinstance(value, str):
                member = members.get(value)
                if member is None:
                    if self._use is Use.READ_KNOWN:
                        raise PydanticOmit
                    raise ValueError(wanted)
                return member
            if value is None and is_null:
                return pb.NullValue.NULL_VALUE
            number = _integer(value, -(2**31), 2**31)
            try:
                return cls(number)
            except ValueError:
                raise ValueError(wanted) from None

        def print_(member: pb.Enum) -> JsonValue:
            if is_null:
                return None
            name = pb.proto_name(member)
            return int(member) if name is None else name

        return _converted(read, print_)

    def _any(self) -> CoreSchema:
        ignore_unknown = self._use is Use.READ_KNOWN

        def read(value: Any) -> pb.Any:
            if not isinstance(value, dict):
                raise _error("want an object")
            fields = dict(value)
            type_url = fields.pop("@type", None)
            if type_url is None and not fields:
                return pb.Any()
            if not isinstance(type_url, str):
                raise _error("an Any says its type in `@type`")
            payload = _payload(type_url)
            packed = payload.read(fields, ignore_unknown=ignore_unknown)
            return pb.Any(type_url=type_url, value=packed)

        def print_(message: pb.Any) -> JsonValue:
            if not message.type_url:
                return {}
            return {"@type": message.type_url, **message.value}

        return _converted(read, print_)


class Payload:
    """The message in an Any: its fields, or its JSON under the key `value`."""

    def __init__(self, annotation: Any, *, wrapped: bool) -> None:
        """Hold messages of a type."""
        self._codec = Codec(annotation)
        self._wrapped = wrapped

    def read(self, fields: dict[str, Any], *, ignore_unknown: bool) -> dict[str, Any]:
        """Check the fields and return their canonical form."""
        value: Any = fields
        if self._wrapped:
            if fields.keys() != {"value"}:
                raise _error("the message of this Any stands under the key `value`")
            value = fields["value"]
        try:
            message = self._codec.read(value, ignore_unknown=ignore_unknown)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(p) for p in first["loc"] if p not in LABELS)
            raise ValueError(f"{where}: {first['msg']}" if where else first["msg"])
        return self.pack(message)

    def pack(self, message: Any) -> dict[str, Any]:
        """Return what an Any holds for the message."""
        printed = self._codec.print(message)
        return {"value": printed} if self._wrapped else printed

    def unpack(self, fields: dict[str, Any]) -> Any:
        """Return the message that an Any holds."""
        return self._codec.read(fields["value"] if self._wrapped else fields)


def _payload(type_url: str) -> Payload:
    prefix, _, full_name = type_url.rpartition("/")
    payload = payload_of(full_name) if prefix else None
    if payload is None:
        raise _error("the type in `@type` is not among the models")
    return payload


@cache
def payload_of(full_name: str) -> Payload | None:
    """Return how an Any holds the messages of a type, None for an unknown one."""
    if full_name in _SPECIAL:
        return Payload(_SPECIAL[full_name], wrapped=True)
    cls = pb.message_class(full_name)
    return None if cls is None else Payload(cls, wrapped=False)


def packed(message: pb.Message) -> dict[str, Any]:
    """Return what an Any holds for a message.

    Raises:
        ValueError: If the message is none of the generated models.
    """
    payload = payload_of(message.__proto__)
    if payload is None:
        raise ValueError(f"{type(message).__name__} has no proto to name in an Any")
    return payload.pack(message)


def unpacked(cls: type[M], fields: dict[str, Any]) -> M:
    """Return the message that an Any holds."""
    payload = payload_of(cls.__proto__)
    assert payload is not None
    message: M = payload.unpack(fields)
    return message


def _constructor(cls: type[M], ruled: bool) -> Callable[[Any], M]:
    """Return a function that makes a message of fields that were checked."""
    defaults = {
        name: info for name, info in cls.model_fields.items() if not info.is_required()
    }
    has_one_ofs = bool(pb.one_ofs(cls))
    has_rules = ruled and pb.has_rules(cls)
    assign = object.__setattr__

    def construct(parts: tuple[dict[str, Any], Any, set[str]]) -> M:
        fields, _, fields_set = parts
        if len(fields) < len(defaults):  # A field with an unknown enum name.
            for name in defaults.keys() - fields.keys():
                fields[name] = defaults[name].get_default(call_default_factory=True)
        # The same that Pydantic does for a model whose fields it has checked.
        message = cls.__new__(cls)
        assign(message, "__dict__", fields)
        assign(message, "__pydantic_fields_set__", fields_set)
        assign(message, "__pydantic_extra__", None)
        assign(message, "__pydantic_private__", None)
        if has_one_ofs:
            pb.check_one_ofs(message)
        if has_rules:
            rules.check(message)
        return message

    return construct


_CONSTRAINTS = (FieldInfo, rules.Rule, rules.Required, rules.IgnoreZero)
"""What annotations hold of validation rules."""


def _constrained(base: Any, metadata: Iterable[Any]) -> Any:
    """Return the annotation of a type with metadata."""
    return Annotated[(base, *metadata)]


class _Zero(float):
    """A default of zero, from which negative zero differs."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, float)
            and float.__eq__(self, other)
            and math.copysign(1, self) == math.copysign(1, other)
        )

    __hash__ = float.__hash__


def _takes_null(annotation: Any) -> bool:
    """Tell whether null is a value of a type, which the type reads itself."""
    if get_origin(annotation) in (typing.Union, types.UnionType, Annotated):
        return any(_takes_null(arg) for arg in get_args(annotation))
    return annotation in (pb.Value, pb.NullValue)


def _null_as_default(value: Any) -> Any:
    if value is None:
        raise PydanticUseDefault
    raise ValueError(NOT_NULL)


def _either(value: CoreSchema, read_other: Callable[[Any], Any]) -> CoreSchema:
    """Read with the schema, and what that refuses with the function."""
    other = core_schema.no_info_plain_validator_function(read_other)
    return core_schema.union_schema(
        [(value, LABELS[0]), (other, LABELS[1])],
        mode="left_to_right",
        auto_collapse=False,
    )


def _converted(
    read: Callable[[Any], Any], print_: Callable[[Any], JsonValue]
) -> CoreSchema:
    """Read and print with functions."""

    def checked(value: Any) -> Any:
        try:
            return read(value)
        except ValidationError:
            raise ValueError("out of range") from None

    return core_schema.no_info_plain_validator_function(
        checked, serialization=core_schema.plain_serializer_function_ser_schema(print_)
    )


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGERS = {
    "int32": (-(2**31), 2**31),
    "uint32": (0, 2**32),
    "int64": (-(2**63), 2**63),
    "uint64": (0, 2**64),
}
_FLOATS = {
    "double": math.inf,
    # From here on, numbers round to infinity as 32-bit floats.
    "float": 3.4028235677973366e38,
}
_SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


_PLAIN = (pb.Double, pb.Float, pb.Int32, pb.UInt32, pb.Int64, pb.UInt64)
"""The numbers without constraints of their own."""


def _error(message: str) -> PydanticCustomError:
    return PydanticCustomError(ERROR_TYPE, message)


def _integer(value: Any, low: int, high: int) -> int:
    """Read an integer from a number, or from a string that holds one."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = Decimal(value)
        # The exponent says how large an integer would be made of the number.
        if number.adjusted() < 40 and number == number.to_integral_value():
            value = int(number)
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _error("want an integer")
    if not low <= value < high:
        raise _error("out of range")
    return value


def _float(value: Any, limit: float) -> float:
    """Read a float from a number, or from a string that holds or names one."""
    if isinstance(value, str):
        if value in _SPECIAL_FLOATS:
            return _SPECIAL_FLOATS[value]
        if not _NUMBER.fullmatch(value):
            raise _error("want a number")
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _error("want a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) < limit:
        raise _error("out of range")
    return number


def _float32(value: float) -> float:
    """Round to the value of a 32-bit float."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _print_float(value: float) -> JsonValue:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _print_float32(value: float) -> JsonValue:
    """Print the shortest number that is the same 32-bit float."""
    if not math.isfinite(value):
        return _print_float(value)
    single = struct.pack("<f", value)
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if abs(short) < _FLOATS["float"] and struct.pack("<f", short) == single:
            return short
    return float(f"{value:.9g}")


def _read_bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise _error("want a string: base64")
    text = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise _error("want base64") from None


def _print_bytes(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _scalar(kind: str, annotation: Any) -> CoreSchema:
    """Build the schema of a scalar; the annotation's own constraints apply."""
    own = TypeAdapter(annotation).core_schema
    print_: core_schema.SerSchema
    if kind in ("bool", "string"):
        return own
    if kind == "bytes":
        first = core_schema.no_info_plain_validator_function(_read_bytes)
        print_ = core_schema.plain_serializer_function_ser_schema(_print_bytes)
        return core_schema.chain_schema([first, own], serialization=print_)
    if kind in _FLOATS:
        limit = _FLOATS[kind]
        value: CoreSchema = core_schema.float_schema(strict=True, lt=limit, gt=-limit)
        value = _either(value, lambda value: _float(value, limit))
        print_ = core_schema.plain_serializer_function_ser_schema(
            _print_float32 if kind == "float" else _print_float
        )
    else:
        low, high = _INTEGERS[kind]
        value = core_schema.int_schema(strict=True, ge=low, lt=high)
        value = _either(value, lambda value: _integer(value, low, high))
        print_ = core_schema.simple_ser_schema("int")
        if kind in ("int64", "uint64"):
            print_ = core_schema.to_string_ser_schema()
    steps = [value]
    if kind == "float":
        steps.append(core_schema.no_info_plain_validator_function(_float32))
    if annotation not in _PLAIN:
        steps.append(own)
    return core_schema.chain_schema(steps, serialization=print_)


def _map_key(annotation: Any) -> CoreSchema:
    """Build the schema of a map's keys, which are strings in JSON."""
    kind = next(m.kind for m in get_args(annotation) if isinstance(m, pb.Scalar))
    if kind == "string":
        return TypeAdapter(annotation).core_schema
    if kind == "bool":

        def read_bool(text: Any) -> bool:
            if text not in ("true", "false"):
                raise _error("a key must be true or false")
            return bool(text == "true")

        key: CoreSchema = core_schema.no_info_plain_validator_function(read_bool)
        print_ = core_schema.simple_ser_schema("bool")
    else:
        low, high = _INTEGERS[kind]
        key = core_schema.no_info_plain_validator_function(
            lambda text: _integer(text, low, high)
        )
        print_ = core_schema.simple_ser_schema("int")
    own = TypeAdapter(annotation).core_schema
    return core_schema.chain_schema([key, own], serialization=print_)


def _from_string(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            raise _error("want a string")
        return parse(value)

    return read


MAX_DEPTH = 100
"""How deep JSON values may nest, as in Google's own implementations."""


def _json_value(value: Any, depth: int = 0) -> JsonValue:
    """Check that a value is JSON: no NaN, no lone surrogate, not too deep."""
    if depth > MAX_DEPTH:
        raise _error("nested too deeply")
    if isinstance(value, float) and not math.isfinite(value):
        raise NoJsonForm("a JSON number is finite")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _error("want valid Unicode") from None
    if isinstance(value, dict):
        return {
            str(_json_value(k)): _json_value(v, depth + 1) for k, v in value.items()
        }
    if isinstance(value, list):
        return [_json_value(v, depth + 1) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise _error("want a JSON value")


def _read_struct(value: Any) -> Any:
    if not isinstance(value, dict):
        raise _error("want an object")
    return _json_value(value)


def _read_list_value(value: Any) -> Any:
    if not isinstance(value, list):
        raise _error("want an array")
    return _json_value(value)


def _read_value(value: Any) -> pb.Value:
    return pb.Value(value=_json_value(value))


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name)


def _read_mask(text: str) -> pb.FieldMask:
    if not re.fullmatch(r"[A-Za-z0-9.,]*", text):
        raise _error("the paths of a field mask are lowerCamel")
    return pb.FieldMask(paths=[_snake(p) for p in text.split(",")] if text else [])


def _print_mask(mask: pb.FieldMask) -> str:
    paths = [pb.lower_camel(path) for path in mask.paths]
    if [_snake(path) for path in paths] != mask.paths:
        raise NoJsonForm("a path of the field mask has no lowerCamel form")
    return ",".join(paths)


_STRUCT = _converted(_read_struct, lambda value: _json_value(value))
_LIST_VALUE = _converted(_read_list_value, lambda value: _json_value(value))
_WELL_KNOWN: dict[type[pb.Message], CoreSchema] = {
    pb.Timestamp: _converted(_from_string(pb.Timestamp.parse), str),
    pb.Duration: _converted(_from_string(pb.Duration.parse), str),
    pb.FieldMask: _converted(_from_string(_read_mask), _print_mask),
    pb.Value: _converted(_read_value, lambda message: _json_value(message.value)),
}
_SPECIAL: dict[str, Any] = {
    "google.protobuf.Any": pb.Any,
    "google.protobuf.BoolValue": pb.Bool,
    "google.protobuf.BytesValue": pb.Bytes,
    "google.protobuf.DoubleValue": pb.Double,
    "google.protobuf.Duration": pb.Duration,
    "google.protobuf.FieldMask": pb.FieldMask,
    "google.protobuf.FloatValue": pb.Float,
    "google.protobuf.Int32Value": pb.Int32,
    "google.protobuf.Int64Value": pb.Int64,
    "google.protobuf.ListValue": pb.ListValue,
    "google.protobuf.StringValue": pb.String,
    "google.protobuf.Struct": pb.Struct,
    "google.protobuf.Timestamp": pb.Timestamp,
    "google.protobuf.UInt32Value": pb.UInt32,
    "google.protobuf.UInt64Value": pb.UInt64,
    "google.protobuf.Value": pb.Value,
}
"""The messages with a JSON form of their own."""
