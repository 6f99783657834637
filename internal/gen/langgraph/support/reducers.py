"""Reducers: pure functions `(left, right) -> merged` of a value and an update."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def replace(left: T, right: T) -> T:
    """Take the update; of several in one superstep, the last in task order wins."""
    return right


def append_list(left: list[T], right: list[T]) -> list[T]:
    """Append the elements of the update to those of the value."""
    return [*left, *right]


def merge_map(left: dict[K, V], right: dict[K, V]) -> dict[K, V]:
    """Set the entries of the update, keep the others."""
    return {**left, **right}
