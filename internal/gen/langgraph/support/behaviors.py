"""What google.api.field_behavior asks of requests."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any

from . import pb, rules

__all__ = ["has_behavior", "missing"]


def missing(message: pb.Message, path: str = "") -> Iterator[str]:
    """Find what a request must set and does not.

    Args:
        message: The request, or a message in it.
        path: Where it is in the request.

    Yields:
        The paths of the fields, as `order.lines[0].article`.
    """
    for name in _fields(type(message)):
        value = getattr(message, name)
        here = f"{path}{name}"
        if has_behavior(type(message), name, pb.REQUIRED) and (
            value is None or rules.is_zero(value)
        ):
            yield here
        elif isinstance(value, pb.Message):
            yield from missing(value, f"{here}.")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, pb.Message):
                    yield from missing(item, f"{here}[{index}].")
        elif isinstance(value, dict):
            for key, item in value.items():
                if isinstance(item, pb.Message):
                    yield from missing(item, f"{here}[{key!r}].")


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
