"""Reads the arguments that a language model gave for a tool.

Models write what their provider's schema asks for, more or less: maps as pairs,
a oneof as an object, JSON as text, null for what they leave out. They also err in
ways whose meaning is plain, such as another case of a name or a single value for a
list. What is plain is taken; what is not is refused, all of it at once, with the
place and what would be right.
"""

from __future__ import annotations

import difflib
import json
import types
import typing
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import JsonValue

from . import behaviors, pb, protojson
from .schemas import NEUTRAL, Profile

__all__ = ["read", "to_protojson"]

M = TypeVar("M", bound=pb.Message)


def read(
    cls: type[M],
    arguments: Mapping[str, Any],
    profile: Profile = NEUTRAL,
    *,
    hidden: Collection[str] = (),
) -> M:
    """Read the arguments of a tool call as its request.

    Args:
        cls: The class of the request.
        arguments: What the model gave, in the form of the profile or near it.
        profile: The profile of the schema that the model saw.
        hidden: The fields of the request that no message may name.

    Raises:
        JsonError: If they are no such request.
    """
    reader = _Reader(cls, hidden, texts=profile != NEUTRAL)
    document = reader.message(cls, dict(arguments), "")
    problems = reader.problems
    try:
        message = protojson.from_json(cls, document)
    except protojson.JsonError as error:
        raise protojson.JsonError(*problems, *error.problems) from None
    unset = behaviors.missing(message, in_json=True, hidden=hidden)
    problems += [f"`{path}`: required" for path in unset]
    if problems:
        raise protojson.JsonError(*problems)
    return message


def to_protojson(
    cls: type[pb.Message], arguments: Mapping[str, Any], profile: Profile = NEUTRAL
) -> dict[str, JsonValue]:
    """Convert the arguments of a tool call to ProtoJSON, and check no values.

    Raises:
        JsonError: If a field is unknown, given twice, or not the model's to set.
    """
    reader = _Reader(cls, (), texts=profile != NEUTRAL)
    out = reader.message(cls, dict(arguments), "")
    if reader.problems:
        raise protojson.JsonError(*reader.problems)
    return typing.cast("dict[str, JsonValue]", out)


_MAX_LISTED = 12


class _Reader:
    def __init__(
        self, root: type[pb.Message], hidden: Collection[str], *, texts: bool
    ) -> None:
        self._root = root
        self._hidden = hidden
        self._texts = texts
        self.problems: list[str] = []

    def message(self, cls: type[pb.Message], value: Any, path: str) -> Any:
        value = _parsed(value, dict)
        if not isinstance(value, dict):
            return value
        fields = _Fields.of(cls)
        out: dict[str, Any] = {}
        for key, item in value.items():
            name = fields.find(str(key))
            if name is not None:
                self._field(fields, name, item, path, out)
            elif (chosen := fields.chosen(str(key), item)) is not None:
                for member, inner in chosen.items():
                    self._field(fields, member, inner, path, out)
            else:
                here = f"{path}.{key}" if path else str(key)
                self.problems.append(f"`{here}`: {self._unknown(fields, str(key))}")
        return out

    def _unknown(self, fields: _Fields, key: str) -> str:
        """Say that there is no such field, and which there are."""
        hidden = self._hidden if fields.cls is self._root else ()
        known = [
            json_name
            for name, json_name in fields.keys.items()
            if name not in hidden
            and not behaviors.has_behavior(fields.cls, name, pb.OUTPUT_ONLY)
        ]
        if near := difflib.get_close_matches(key, known, n=1):
            return f"unknown field; did you mean `{near[0]}`?"
        if len(known) > _MAX_LISTED:
            return "unknown field"
        return "unknown field; there are " + (", ".join(known) or "none")

    def _field(
        self, fields: _Fields, name: str, value: Any, path: str, out: dict[str, Any]
    ) -> None:
        key, hint = fields.keys[name], fields.hints[name]
        here = f"{path}.{key}" if path else key
        if value is None and (self._texts or not _takes_null(hint)):
            return
        if behaviors.has_behavior(fields.cls, name, pb.OUTPUT_ONLY):
            self.problems.append(f"`{here}`: set by the service; leave it out")
        elif key in out:
            self.problems.append(f"`{here}`: given twice")
        else:
            out[key] = self._value(hint, value, here)

    def _value(self, hint: Any, value: Any, path: str) -> Any:
        kind = _bare(hint)
        origin = typing.get_origin(kind)
        if kind == pb.Struct:
            return _parsed(value, dict)
        if kind == pb.ListValue:
            return _parsed(value, list)
        if origin is list:
            return self._list(typing.get_args(kind)[0], value, path)
        if origin is dict:
            return self._map(typing.get_args(kind)[1], value, path)
        if kind is pb.Value:
            return _parsed(value, object) if self._texts else value
        if kind is pb.Any:
            return _parsed(value, dict)
        if kind is pb.Duration and _is_number(value):
            return f"{value}s"
        if not isinstance(kind, type):
            return value
        if kind is pb.NullValue:
            return None
        if issubclass(kind, pb.Enum):
            return _enum(kind, value)
        if issubclass(kind, bool) and isinstance(value, str):
            return {"true": True, "false": False}.get(value.lower(), value)
        if issubclass(kind, pb.Message) and kind not in _TEXTS:
            return self.message(kind, value, path)
        return value

    def _list(self, item: Any, value: Any, path: str) -> Any:
        value = _parsed(value, list)
        if not isinstance(value, list):
            value = [value]
        return [self._value(item, v, f"{path}[{i}]") for i, v in enumerate(value)]

    def _map(self, item: Any, value: Any, path: str) -> Any:
        value = _parsed(_parsed(value, dict), list)
        if isinstance(value, list):
            pairs = []
            for pair in value:
                if not isinstance(pair, dict) or pair.keys() != {"key", "value"}:
                    self.problems.append(
                        f'`{path}`: want pairs, as [{{"key": ..., "value": ...}}]'
                    )
                    return {}
                pairs.append((pair["key"], pair["value"]))
        elif isinstance(value, dict):
            pairs = list(value.items())
        else:
            return value
        out: dict[str, Any] = {}
        for given, inner in pairs:
            name = _key(given)
            if name in out:
                self.problems.append(f"`{path}`: has the key {json.dumps(name)} twice")
            out[name] = self._value(item, inner, f"{path}.{name}")
        return out


class _Fields:
    """The fields of a message, found by any name that a model may use."""

    def __init__(self, cls: type[pb.Message]) -> None:
        self.cls = cls
        self.hints = typing.get_type_hints(cls, include_extras=True)
        names = pb.names_of(cls)
        self.keys = {name: json_name for name, (_, json_name) in names.items()}
        self._exact: dict[str, str] = {}
        self._loose: dict[str, set[str]] = {}
        for name, (proto, json_name) in names.items():
            for key in (json_name, proto, proto.strip("[]")):
                self._exact.setdefault(key, name)
                self._loose.setdefault(_loose(key), set()).add(name)
        self._members = {m for group in pb.one_ofs(cls) for m in group.members}
        self._groups = {_loose(group.name) for group in pb.one_ofs(cls)}

    @staticmethod
    @cache
    def of(cls: type[pb.Message]) -> _Fields:
        """Return the fields of a class."""
        return _Fields(cls)

    def find(self, key: str) -> str | None:
        """Return the field of a name, of another case if only one has that."""
        if key in self._exact:
            return self._exact[key]
        near = self._loose.get(_loose(key), set())
        return next(iter(near)) if len(near) == 1 else None

    def chosen(self, key: str, value: Any) -> dict[str, Any] | None:
        """Return the fields that an object for a oneof sets, if it is one."""
        if value is None and _loose(key) in self._groups:
            return {}
        value = _parsed(value, dict)
        if not isinstance(value, dict):
            return None
        members = {self.find(str(k)): v for k, v in value.items() if v is not None}
        if not members.keys() <= self._members:
            return None
        if not members and _loose(key) not in self._groups:
            return None
        return typing.cast("dict[str, Any]", members)


def _loose(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


# Messages that are text in ProtoJSON.
_TEXTS = (pb.Timestamp, pb.Duration, pb.FieldMask)


def _takes_null(hint: Any) -> bool:
    return _bare(hint) in (pb.Value, pb.NullValue)


def _bare(hint: Any) -> Any:
    """Return a type without `None` and metadata."""
    while True:
        arguments = typing.get_args(hint)
        if typing.get_origin(hint) is Annotated:
            hint = arguments[0]
        elif typing.get_origin(hint) in (typing.Union, types.UnionType):
            inner = [a for a in arguments if a is not type(None)]
            if len(inner) != 1:
                return hint
            hint = inner[0]
        else:
            return hint


def _parsed(value: Any, kind: type) -> Any:
    """Return what a text holds as JSON, if it is of a kind; else the value."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, kind) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _key(value: Any) -> str:
    """Return the name of a map's key in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def _enum(cls: type[pb.Enum], value: Any) -> Any:
    """Return the name of an enum value, of another case or without its prefix."""
    members = pb.proto_members(cls)
    if not isinstance(value, str) or value in members:
        return value
    wanted = _loose(value)
    same = {name for name in members if _loose(name) == wanted}
    near = same or {
        name for name in members if name.lower().endswith(f"_{value.lower()}")
    }
    return next(iter(near)) if len({members[name] for name in near}) == 1 else value
