"""The generated package under test: the golden of the `guarantees` case."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

HERE = Path(__file__).parent
GENERATED = HERE.parents[2] / "golden" / "guarantees" / "langgraph" / "guarantees"

# The golden, and the human package that it imports.
sys.path[:0] = [str(GENERATED), str(HERE)]


class Bytes:
    """Everything that a saver has stored, as one string of bytes."""

    def __init__(self, saver: InMemorySaver) -> None:
        """Look into a saver."""
        self._saver = saver

    def all(self) -> bytes:
        """Return the stored checkpoints, blobs and pending writes."""
        out: list[bytes] = []

        def walk(value: object) -> None:
            if isinstance(value, bytes):
                out.append(value)
            elif isinstance(value, dict):
                for key, item in value.items():
                    walk(key)
                    walk(item)
            elif isinstance(value, (list, tuple)):
                for item in value:
                    walk(item)
            else:
                out.append(repr(value).encode())

        walk(self._saver.storage)
        walk(self._saver.blobs)
        walk(self._saver.writes)
        return b"\n".join(out)


@pytest.fixture
def saver() -> InMemorySaver:
    """Return a fresh saver whose serializer revives no type that is not listed."""
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))


@pytest.fixture
def stored(saver: InMemorySaver) -> Iterator[Bytes]:
    """Return a view of what the saver has stored."""
    yield Bytes(saver)
