"""Reads what an earlier or a later version of the contract has stored.

A checkpoint holds models as their class and their fields. The class of today may
have other fields, and the types of fields may have changed as protobuf allows. So
what Pydantic refuses is read here as protobuf reads messages: fields that do not
exist any more are skipped, fields that are missing are unset, and fields are found
by their JSON name. A value that has no reading at all is left as it was stored, and
refused where a node reads it: nothing is guessed.
"""

from __future__ import annotations

import copy
import types
import typing
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.types import Overwrite, Send
from pydantic import BaseModel, ValidationError

from . import pb, rules

__all__ = ["UNSET", "read", "read_message", "reading"]

M = TypeVar("M", bound=pb.Message)

UNSET: Any = object()
"""What a stored value is read as that leaves its field unset."""


class _Names:
    """The fields of a model, found by each of their names."""

    def __init__(self, cls: type[BaseModel]) -> None:
        """Index the fields of a class."""
        self.hints = typing.get_type_hints(cls, include_extras=True)
        self._names: dict[str, str] = {}
        for name, (proto_name, json_name) in pb.names_of(cls).items():
            for key in (json_name, proto_name):
                self._names.setdefault(key, name)
        self._names |= {name: name for name in cls.model_fields}

    def find(self, stored: str) -> str | None:
        """Return the name of the field that was stored under a name, if any is."""
        for name in (stored, pb.lower_camel(stored)):
            if name in self._names:
                return self._names[name]
        return None


@cache
def _names(cls: type[BaseModel]) -> _Names:
    return _Names(cls)


def read_message(cls: type[M], stored: Mapping[str, Any]) -> M:
    """Make a message of stored fields.

    Validation rules are for what is written: a message that breaks those of today
    was right when it was stored.

    Raises:
        ValueError: If a field has a value that its type of today does not know.
    """
    fields = _fields(cls, stored)
    try:
        return cls(**fields)
    except ValidationError as error:
        if not rules.are_broken(error):
            raise
    for name, info in cls.model_fields.items():
        if info.is_required():
            fields.setdefault(name, rules.zero(_names(cls).hints[name]))
    construct: Callable[..., M] = BaseModel.model_construct.__func__  # type: ignore[attr-defined]
    return construct(cls, fields.keys() & stored.keys(), **fields)


def _fields(cls: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    names = _names(cls)
    fields = {}
    for key, value in stored.items():
        name = names.find(key)
        if name is None:
            continue
        value = read(names.hints[name], value)
        if value is not UNSET:
            fields[name] = value
    return fields


def read(annotation: Any, value: Any) -> Any:
    """Read a stored value as a type.

    Args:
        annotation: The type of today.
        value: What the serializer gave: an object of the type, or its parts.

    Returns:
        The value, or `UNSET`.

    Raises:
        ValueError: If a message has a value that its type of today does not know.
    """
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        scalar = next((m for m in args[1:] if isinstance(m, pb.Scalar)), None)
        return read(args[0], value) if scalar is None else _scalar(scalar.kind, value)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in args if a is not type(None)]
        if value is None or len(inner) != 1:
            return value
        value = read(inner[0], value)
        return None if value is UNSET else value
    if origin is list and isinstance(value, list):
        items = [read(args[0], item) for item in value]
        return [item for item in items if item is not UNSET]
    if origin is dict and isinstance(value, dict):
        pairs = [(read(args[0], k), read(args[1], v)) for k, v in value.items()]
        return {k: v for k, v in pairs if v is not UNSET}
    if isinstance(annotation, type) and issubclass(annotation, pb.Message):
        return _message(annotation, value)
    if isinstance(annotation, type) and issubclass(annotation, pb.Enum):
        return _enum(annotation, value)
    return UNSET if value is None and origin in (list, dict) else value


def _message(cls: type[pb.Message], value: Any) -> Any:
    if isinstance(value, cls) or value is None:
        return UNSET if value is None else value
    if isinstance(value, BaseModel):
        value = dict(value)
    return read_message(cls, value) if isinstance(value, dict) else value


def _enum(cls: type[pb.Enum], value: Any) -> Any:
    if value is None:
        return UNSET
    if isinstance(value, cls) or isinstance(value, bool) or not isinstance(value, int):
        return value
    try:
        return cls(int(value))
    except ValueError:
        # What a closed enum does not know, protobuf reads as unset.
        return UNSET


_BITS = {"int32": 32, "uint32": 32, "int64": 64, "uint64": 64}


def _scalar(kind: str, value: Any) -> Any:
    bits = _BITS.get(kind)
    if value is None:
        return UNSET
    if bits is None or isinstance(value, bool) or not isinstance(value, int):
        return value
    # As on the wire: a changed sign keeps the bits.
    value &= (1 << bits) - 1
    if kind.startswith("int") and value >> (bits - 1):
        value -= 1 << bits
    return value


class _Reading(BaseCheckpointSaver[Any]):
    """What `reading` adds to the class of a checkpointer."""

    _schema: type[pb.Message]
    _inputs: Mapping[str, Any]
    _moved: set[str]

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        return None if found is None else self._read(found)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        return None if found is None else self._read(found)

    def list(self, *args: Any, **kwargs: Any) -> Iterator[CheckpointTuple]:
        yield from map(self._read, super().list(*args, **kwargs))

    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[CheckpointTuple]:
        async for found in super().alist(*args, **kwargs):
            yield self._read(found)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        versions = self._versions(checkpoint, new_versions)
        return super().put(config, checkpoint, metadata, versions)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        versions = self._versions(checkpoint, new_versions)
        return await super().aput(config, checkpoint, metadata, versions)

    def _versions(
        self, checkpoint: Checkpoint, new_versions: ChannelVersions
    ) -> ChannelVersions:
        """Count the fields that were found under another name as changed.

        Some checkpointers store a field under its name, and only when it changes.
        """
        known = checkpoint["channel_versions"]
        return {n: known[n] for n in self._moved & known.keys()} | new_versions

    def _read(self, found: CheckpointTuple) -> CheckpointTuple:
        checkpoint = found.checkpoint.copy()
        values = (self._channel(*i) for i in checkpoint["channel_values"].items())
        checkpoint["channel_values"] = {n: v for n, v in values if v is not UNSET}
        checkpoint["channel_versions"] = self._renamed(checkpoint["channel_versions"])
        checkpoint["versions_seen"] = {
            node: self._renamed(seen)
            for node, seen in checkpoint["versions_seen"].items()
        }
        writes = found.pending_writes
        if writes is not None:
            pending = [(task, *self._channel(n, value)) for task, n, value in writes]
            writes = [write for write in pending if write[2] is not UNSET]
        return found._replace(checkpoint=checkpoint, pending_writes=writes)

    def _name(self, channel: str) -> str:
        if channel.startswith("__") or ":" in channel:
            return channel
        return _names(self._schema).find(channel) or channel

    def _renamed(self, versions: ChannelVersions) -> ChannelVersions:
        names = {channel: self._name(channel) for channel in versions}
        self._moved |= {name for channel, name in names.items() if name != channel}
        return {names[channel]: version for channel, version in versions.items()}

    def _channel(self, channel: str, value: Any) -> tuple[str, Any]:
        if channel == "__start__" and isinstance(value, dict):
            return channel, _or_as_stored(_fields, self._schema, value)
        if channel == "__pregel_tasks":
            sends = value if isinstance(value, _LIST) else [value]
            known = [self._send(send) for send in sends]
            return channel, known if isinstance(value, _LIST) else known[0]
        name = self._name(channel)
        hint = _names(self._schema).hints.get(name)
        if hint is None:
            return channel, value
        if isinstance(value, Overwrite):
            inner = _or_as_stored(read, hint, value.value)
            return name, inner if inner is UNSET else Overwrite(inner)
        return name, _or_as_stored(read, hint, value)

    def _send(self, send: Any) -> Any:
        schema = self._inputs.get(send.node) if isinstance(send, Send) else None
        if schema is None or not isinstance(send.arg, dict):
            return send
        arg = _or_as_stored(_fields, schema, send.arg)
        return Send(send.node, arg, timeout=send.timeout)


# In a class with a method of that name, `list` is the method to type checkers.
_LIST = list


def _or_as_stored(
    reader: Callable[[Any, Any], Any], annotation: Any, value: Any
) -> Any:
    try:
        return reader(annotation, value)
    except ValueError:
        return value


def reading(
    saver: BaseCheckpointSaver[Any],
    schema: type[pb.Message],
    inputs: Mapping[str, Any],
) -> BaseCheckpointSaver[Any]:
    """Return a checkpointer that reads what other versions of a contract stored.

    Args:
        saver: The checkpointer; it stays as it is.
        schema: The state model.
        inputs: The type of what each node takes.
    """
    clone = copy.copy(saver)
    if not isinstance(clone, _Reading):
        kind = type(saver)
        clone.__class__ = type(kind.__name__, (_Reading, kind), {})
    reading = typing.cast(_Reading, clone)
    reading._schema = schema
    reading._inputs = {
        name: cls
        for name, cls in inputs.items()
        if isinstance(cls, type) and issubclass(cls, pb.Message)
    }
    reading._moved = set()
    return reading
