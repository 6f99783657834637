"""Channels that LangGraph lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langgraph.channels import UntrackedValue
from langgraph.types import Overwrite
from typing_extensions import Self


class UntrackedReducer(UntrackedValue[Any]):
    """A value that merges its updates with a reducer and is never checkpointed.

    Only a subclass of `UntrackedValue` will do: LangGraph keeps writes to
    channels of that class, and their values in `Send` packets, out of every
    checkpoint.
    """

    __slots__ = ("empty", "reducer")

    def __init__(
        self, reducer: Callable[[Any, Any], Any], empty: Callable[[], Any]
    ) -> None:
        """Merge with `reducer`, starting from `empty()`."""
        super().__init__(object, guard=False)
        self.reducer = reducer
        self.empty = empty

    def __eq__(self, value: object) -> bool:
        """Two channels are equal when they merge in the same way."""
        return (
            isinstance(value, UntrackedReducer)
            and value.reducer is self.reducer
            and value.empty is self.empty
        )

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> Self:
        """Return a channel with the same value."""
        clone = self.from_checkpoint(None)
        clone.value = self.value
        return clone

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return an empty channel: nothing was checkpointed."""
        clone = self.__class__(self.reducer, self.empty)
        clone.key = self.key
        return clone

    def update(self, values: Sequence[Any]) -> bool:
        """Merge the updates of one superstep, in task order."""
        if not values:
            return False
        merged = self.value if self.is_available() else self.empty()
        for value in values:
            if isinstance(value, Overwrite):
                merged = value.value
            else:
                merged = self.reducer(merged, value)
        self.value = merged
        return True
