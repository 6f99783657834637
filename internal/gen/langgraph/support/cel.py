"""Evaluates rules in CEL, the Common Expression Language, with cel-python.

Values become CEL's: numbers keep their signedness, a message has its fields by
their names in the proto, and one that is not set reads as its default.
"""

from __future__ import annotations

import importlib
import math
import sys
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from . import formats, pb, rules
from .errors import AgentError, ConfigError

# The library is installed for the agents that have such rules, and for no others.
try:
    celpy: Any = importlib.import_module("celpy")
    lark: Any = importlib.import_module("lark")
except ImportError:
    raise ConfigError(
        "the contract has validation rules in CEL:", ["install `cel-python`"]
    ) from None
celtypes = celpy.celtypes
CELEvalError = celpy.CELEvalError
MessageType: Any = celtypes.MessageType

__all__ = ["RuleError", "convert", "evaluate"]


class RuleError(AgentError):
    """A rule that cannot be evaluated: its expression is wrong."""


def evaluate(
    expression: str, this: Any, *, rule: Any = None, now: Any = None
) -> bool | str:
    """Evaluate an expression.

    Args:
        expression: The expression.
        this: What it is about, as a value of CEL.
        rule: What a predefined rule says, as a value of CEL.
        now: The time that the expression sees, by default the present.

    Returns:
        Whether the value is valid; or what is wrong, empty if nothing.

    Raises:
        RuleError: If the expression is no CEL, does not fit the value, or gives
            neither a bool nor a text.
    """
    program = _program(expression)
    names = {"this": this, "now": now or _timestamp(pb.Timestamp.now()), "rule": rule}
    try:
        result = program.evaluate(names)
    except CELEvalError as error:
        raise RuleError(f"`{expression}`: {error.args[0]}") from None
    if isinstance(result, celtypes.BoolType):
        return bool(result)
    if isinstance(result, celtypes.StringType):
        return str(result)
    raise RuleError(f"`{expression}`: gives neither a bool nor a text")


@cache
def _program(expression: str) -> Any:
    limit = sys.getrecursionlimit()
    environment = celpy.Environment()
    # The library sets a limit of its own, for the whole process.
    sys.setrecursionlimit(max(limit, sys.getrecursionlimit()))
    try:
        tree = environment.compile(expression)
    except celpy.CELParseError as error:
        raise RuleError(f"`{expression}`: {error.args[0]}") from None
    for call in tree.find_data("ident_arg"):
        if call.children[0] == "has":
            _mark_question(call)
    return environment.program(tree, functions=_FUNCTIONS)


class _Asked(str):
    """The name of a field of which an expression asks whether it is set."""

    __slots__ = ()


def _mark_question(call: Any) -> None:
    """Mark the field of a `has`: the library reads it like any other."""
    field = next(call.find_data("member_dot"), None)
    if field is not None:
        name = field.children[1]
        field.children[1] = lark.Token.new_borrow_pos(name.type, name, name)
        field.children[1].value = _Asked(name)


class _Message(MessageType):  # type: ignore[misc]
    """A message, of which fields that are not set have their defaults.

    Only those that are set are items of the mapping, so that messages are equal
    when they have the same fields with the same values.
    """

    def __init__(self, cls: type[pb.Message], message: pb.Message | None) -> None:
        super().__init__()
        self._fields = _fields(cls)
        if message is not None:
            for name, field in self._fields.items():
                value = getattr(message, field.attribute)
                if field.is_set(value):
                    self[name] = field.convert(value)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a field; an error if it is not declared, or asked for and unset."""
        if key in self:
            return self[key]
        field = self._fields.get(key)
        if field is None:
            return CELEvalError(f"no such field: '{key}'", KeyError, None)
        if isinstance(key, _Asked):
            return CELEvalError(f"not set: '{key}'", KeyError, None)
        return field.zero()


class _Field:
    """How to read a field of a message."""

    def __init__(self, attribute: str, hint: Any, default: Any) -> None:
        self.attribute = attribute
        self._inner, self._is_optional = _without_none(hint)
        self.convert = _converter(self._inner)
        self._has_presence = self._is_optional or default is ...

    def is_set(self, value: Any) -> bool:
        if value is None:
            return False
        if self._has_presence and not isinstance(value, (list, dict)):
            return True
        return not rules.is_zero(value)

    def zero(self) -> Any:
        """Return what a field reads as that is not set."""
        origin = _origin(self._inner)
        if origin is Any:
            return None
        if issubclass(origin, pb.Enum):
            return celtypes.IntType(0)
        if origin in (pb.Timestamp, pb.Duration):
            return self.convert(origin())
        if issubclass(origin, pb.Message):
            return _Message(origin, None)
        return self.convert(origin())


def _origin(annotation: Any) -> Any:
    """Return the Python type of a type without `None`."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    return typing.get_origin(annotation) or annotation


@cache
def _fields(cls: type[pb.Message]) -> dict[str, _Field]:
    """Return the fields of a message by their names in the proto."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {
        proto: _Field(
            attribute,
            hints[attribute],
            ... if cls.model_fields[attribute].is_required() else None,
        )
        for attribute, (proto, _) in pb.names_of(cls).items()
    }


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return a type without its metadata and `None`, and whether it had the latter."""
    inner = hint
    while typing.get_origin(inner) is Annotated:
        if any(isinstance(m, pb.Scalar) for m in inner.__metadata__):
            break
        inner = typing.get_args(inner)[0]
    if typing.get_origin(inner) in (typing.Union, types.UnionType):
        (only,) = [a for a in typing.get_args(inner) if a is not type(None)]
        return _without_none(only)[0], True
    return inner, False


def convert(annotation: Any, value: Any) -> Any:
    """Return a value as CEL's.

    Args:
        annotation: Its type; of a bare Python type, what the value says.
        value: The value.
    """
    return _converter(_without_none(annotation)[0])(value)


def _converter(annotation: Any) -> Callable[[Any], Any]:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        scalar = next(m for m in args[1:] if isinstance(m, pb.Scalar))
        return celtypes.UintType if scalar.kind.startswith("uint") else _plain
    if origin is list:
        item = _converter(_without_none(args[0])[0])
        return lambda value: celtypes.ListType([item(v) for v in value])
    if origin is dict:
        of_key, of_value = (_converter(_without_none(a)[0]) for a in args)
        return lambda value: celtypes.MapType(
            {of_key(k): of_value(v) for k, v in value.items()}
        )
    return _plain


def _plain(value: Any) -> Any:
    """Return a value as CEL's by its Python type."""
    match value:
        case None:
            return None
        case bool():
            return celtypes.BoolType(value)
        case int():
            return celtypes.IntType(value)
        case float():
            return celtypes.DoubleType(value)
        case str():
            return celtypes.StringType(value)
        case bytes():
            return celtypes.BytesType(value)
        case list():
            return celtypes.ListType([_plain(item) for item in value])
        case dict():
            return celtypes.MapType({_plain(k): _plain(v) for k, v in value.items()})
        case pb.Timestamp():
            return _timestamp(value)
        case pb.Duration():
            return celtypes.DurationType(seconds=value.seconds, nanos=value.nanos)
        case pb.Value():
            return _plain(value.value)
        case pb.Message():
            return _Message(type(value), value)
    raise RuleError(f"CEL has no type for a {type(value).__name__}")


def _timestamp(value: pb.Timestamp) -> Any:
    return celtypes.TimestampType(value.to_datetime())


def _text(value: Any) -> str:
    if not isinstance(value, celtypes.StringType):
        raise TypeError(f"no such overload for a {type(value).__name__}")
    return str(value)


def _is_ip(value: Any, version: Any = 0) -> Any:
    return celtypes.BoolType(formats.is_ip(_text(value), int(version)))


def _is_ip_prefix(value: Any, *arguments: Any) -> Any:
    """Take a version, or whether the prefix is strict, or both in this order."""
    strict = any(isinstance(a, celtypes.BoolType) and bool(a) for a in arguments)
    versions = [a for a in arguments if not isinstance(a, celtypes.BoolType)]
    version = int(versions[0]) if versions else 0
    return celtypes.BoolType(formats.is_ip_prefix(_text(value), version, strict=strict))


def _is_host_and_port(value: Any, port_required: Any) -> Any:
    return celtypes.BoolType(
        formats.is_host_and_port(_text(value), port_required=bool(port_required))
    )


def _form(has_form: Callable[[str], bool]) -> Callable[[Any], Any]:
    return lambda value: celtypes.BoolType(has_form(_text(value)))


def _is_inf(value: Any, sign: Any = 0) -> Any:
    if not isinstance(value, celtypes.DoubleType):
        raise TypeError("isInf is for a double")
    wanted = int(sign)
    return celtypes.BoolType(
        math.isinf(value) and (wanted == 0 or (value > 0) == (wanted > 0))
    )


def _is_nan(value: Any) -> Any:
    if not isinstance(value, celtypes.DoubleType):
        raise TypeError("isNan is for a double")
    return celtypes.BoolType(math.isnan(value))


def _is_unique(values: Any) -> Any:
    seen: list[Any] = []
    for value in values:
        if value in seen:
            return celtypes.BoolType(False)
        seen.append(value)
    return celtypes.BoolType(True)


def _of_same_type(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def checked(value: Any, part: Any) -> Any:
        if type(value) is not type(part):
            raise TypeError("no such overload")
        return celtypes.BoolType(test(value, part))

    return checked


def _contains(value: Any, part: Any) -> Any:
    if isinstance(value, (str, bytes)) and type(value) is not type(part):
        raise TypeError("no such overload")
    return celtypes.BoolType(part in value)


def _format(template: Any, values: Any) -> Any:
    """Fill `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o`, `%b` and `%%`."""
    out, rest, index = "", _text(template), 0
    while rest:
        before, percent, rest = rest.partition("%")
        out += before
        if not percent:
            break
        if rest.startswith("%"):
            out, rest = out + "%", rest[1:]
            continue
        precision = 6
        if rest.startswith("."):
            digits = rest[1:][: len(rest[1:]) - len(rest[1:].lstrip("0123456789"))]
            precision, rest = int(digits), rest[1 + len(digits) :]
        if index >= len(values):
            raise ValueError(f"format: there is no value {index}")
        out += _verb(rest[:1], precision, values[index])
        rest, index = rest[1:], index + 1
    return celtypes.StringType(out)


def _verb(verb: str, precision: int, value: Any) -> str:
    match verb:
        case "s":
            return _show(value)
        case "d" if isinstance(value, int):
            return str(int(value))
        case "f" | "e" if isinstance(value, (int, float)):
            return f"{float(value):.{precision}{verb}}"
        case "x" | "X" if isinstance(value, (str, bytes)):
            data = value.encode() if isinstance(value, str) else bytes(value)
            return data.hex() if verb == "x" else data.hex().upper()
        case "x" | "X" | "o" | "b" if isinstance(value, int):
            return f"{int(value):{verb}}"
    raise ValueError(f"format: %{verb} is not for a {type(value).__name__}")


def _show(value: Any) -> str:
    match value:
        case celtypes.BoolType():
            return "true" if value else "false"
        case None:
            return "null"
        case celtypes.DoubleType():
            return (
                f"{float(value):.6g}" if math.isfinite(value) else _show_special(value)
            )
        case bytes():
            return value.decode(errors="replace")
        case list():
            return "[" + ", ".join(map(_show, value)) + "]"
        case dict():
            pairs = sorted((_show(k), _show(v)) for k, v in value.items())
            return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    return str(value)


def _show_special(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _get_field(message: Any, name: Any) -> Any:
    return message.get(str(name))


# protovalidate's extensions of CEL.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "contains": _contains,
    "endsWith": _of_same_type(lambda value, part: value.endswith(part)),
    "format": _format,
    "getField": _get_field,
    "isEmail": _form(formats.is_email),
    "isHostAndPort": _is_host_and_port,
    "isHostname": _form(formats.is_hostname),
    "isInf": _is_inf,
    "isIp": _is_ip,
    "isIpPrefix": _is_ip_prefix,
    "isNan": _is_nan,
    "isUri": _form(formats.is_uri),
    "isUriRef": _form(formats.is_uri_ref),
    "startsWith": _of_same_type(lambda value, part: value.startswith(part)),
    "unique": _is_unique,
}
