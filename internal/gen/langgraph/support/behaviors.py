"""What google.api.field_behavior asks of requests."""

from __future__ import annotations

import typing
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Annotated, Any

from . import pb, rules

__all__ = ["has_behavior", "missing"]


def missing(
    message: pb.Message, *, in_json: bool = False, hidden: Collection[str] = ()
) -> Iterator[str]:
    """Find what a request must set and does not.

    Args:
        message: The request, or a message in it.
        in_json: Whether to name fields as ProtoJSON does.
        hidden: The fields of the request that something else sets.

    Yields:
        The paths of the fields, as `order.lines[0].article`.
    """
    cls = type(message)
    names = pb.names_of(cls) if in_json else {}
    for name in _fields(cls):
        value = getattr(message, name)
        here = names[name][1] if in_json else name
        if name in hidden:
            continue
        if has_behavior(cls, name, pb.REQUIRED) and (
            value is None or rules.is_zero(value)
        ):
            yield here
            continue
        parts: Iterable[tuple[str, Any]] = [(here, value)]
        if isinstance(value, list):
            parts = ((f"{here}[{i}]", item) for i, item in enumerate(value))
        elif isinstance(value, dict):
            parts = ((f"{here}.{key}", item) for key, item in value.items())
        for path, part in parts:
            if isinstance(part, pb.Message):
                for inner in missing(part, in_json=in_json):
                    yield f"{path}.{inner}"


def has_behavior(cls: type[pb.Message], name: str, behavior: pb.Behavior) -> bool:
    """Tell whether a field has a behavior."""
    return behavior in _behaviors(cls).get(name, ())


@cache
def _behaviors(cls: type[pb.Message]) -> dict[str, tuple[pb.Behavior, ...]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    found = {
        name: tuple(
            m
            for m in getattr(hints[name], "__metadata__", ())
            if isinstance(m, pb.Behavior)
        )
        for name in cls.model_fields
    }
    return {name: behaviors for name, behaviors in found.items() if behaviors}


@cache
def _fields(cls: type[pb.Message]) -> tuple[str, ...]:
    """Return the fields that are required, or in which something may be."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple(
        name
        for name in cls.model_fields
        if has_behavior(cls, name, pb.REQUIRED)
        or any(_asks(inner) for inner in messages_in(hints[name]))
    )


def messages_in(annotation: Any) -> Iterator[type[pb.Message]]:
    """Find the message classes in an annotation."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    if isinstance(annotation, type) and issubclass(annotation, pb.Message):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from messages_in(argument)


@cache
def _asks(cls: type[pb.Message]) -> bool:
    """Tell whether a message, or one in it, has required fields."""
    met = {cls}
    pending = [cls]
    while pending:
        at = pending.pop()
        if any(pb.REQUIRED in found for found in _behaviors(at).values()):
            return True
        for hint in typing.get_type_hints(at, include_extras=True).values():
            inner = {*messages_in(hint)} - met
            met |= inner
            pending += inner
    return False
