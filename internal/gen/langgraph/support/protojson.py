"""ProtoJSON of generated models.

The models do not know JSON: `wire` builds a second Pydantic schema from the
annotations of a class, once, and this module reads and prints with it. It accepts
lowerCamel and proto names, and prints lowerCamel.

Rules: https://protobuf.dev/programming-guides/json/
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import JsonValue, ValidationError

from . import pb, wire

__all__ = ["JsonError", "dumps", "from_json", "loads", "problems_of", "to_json"]

M = TypeVar("M", bound=pb.Message)


class JsonError(ValueError):
    """JSON that is not ProtoJSON of the message.

    Attributes:
        problems: What is wrong, one sentence a field, without the values.
    """

    def __init__(self, *problems: str) -> None:
        """Describe the problems."""
        self.problems = problems
        super().__init__("; ".join(problems))


def to_json(message: pb.Message) -> JsonValue:
    """Convert a message to canonical ProtoJSON, as Python's JSON types.

    Raises:
        JsonError: If a value has no ProtoJSON form, such as NaN in a `pb.Value`.
    """
    try:
        value: JsonValue = wire.codec(type(message)).print(message)
    except wire.NoJsonForm as error:
        raise JsonError(str(error)) from None
    except (ValueError, RecursionError):
        raise JsonError(f"{type(message).__name__} has no ProtoJSON form") from None
    return value


def from_json(cls: type[M], value: JsonValue, *, ignore_unknown: bool = False) -> M:
    """Convert ProtoJSON, as Python's JSON types, to a message.

    Args:
        cls: The class of the message.
        value: What a JSON parser returned.
        ignore_unknown: Skip unknown fields and unknown enum names instead of
            refusing them.

    Raises:
        JsonError: If the value is no ProtoJSON of such a message.
    """
    try:
        message: M = wire.codec(cls).read(value, ignore_unknown=ignore_unknown)
    except ValidationError as error:
        raise JsonError(*problems_of(error)) from None
    except RecursionError:
        raise JsonError("nested too deeply") from None
    return message


def dumps(message: pb.Message) -> str:
    """Print a message as compact ProtoJSON text."""
    return json.dumps(to_json(message), ensure_ascii=False, separators=(",", ":"))


def loads(cls: type[M], text: str | bytes, *, ignore_unknown: bool = False) -> M:
    """Read ProtoJSON text.

    Raises:
        JsonError: If the text is no JSON, or no ProtoJSON of such a message.
    """
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except JsonError:
        raise
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except ValueError:
        raise JsonError("not JSON") from None
    return from_json(cls, value, ignore_unknown=ignore_unknown)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise JsonError("an object has the same key twice")
    return fields


def problems_of(error: ValidationError) -> list[str]:
    """Describe a Pydantic error, one sentence a problem, without the values."""
    problems: dict[str, dict[str, None]] = {}
    precise: dict[str, dict[str, None]] = {}
    for item in error.errors(
        include_input=False, include_url=False, include_context=False
    ):
        path = ""
        for part in item["loc"]:
            if isinstance(part, int):
                path += f"[{part}]"
            elif part not in wire.LABELS:
                path += f".{part}" if path else part
        if item["type"] in ("recursion_depth_exceeded", "recursion_loop"):
            return ["nested too deeply"]
        message = _MESSAGES.get(item["type"], item["msg"]).removeprefix("Value error, ")
        if wire.NOT_NULL not in message:
            # A scalar that can be read in two ways has two errors.
            found = precise if item["type"] == wire.ERROR_TYPE else problems
            found.setdefault(path, {})[message] = None
    return [
        f"`{path}`: {message}" if path else message
        for path in dict.fromkeys([*problems, *precise])
        for message in precise.get(path) or problems[path]
    ]


# Pydantic's words for what is wrong, where JSON has better ones.
_MESSAGES = {
    "extra_forbidden": "unknown field",
    "model_type": "want an object",
    "model_attributes_type": "want an object",
    "dict_type": "want an object",
    "list_type": "want an array",
    "bool_type": "want true or false",
    "string_type": "want a string",
    "string_unicode": "want valid Unicode",
    "missing": "required",
}
