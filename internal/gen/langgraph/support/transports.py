"""The seam between a tool and what carries its calls.

A transport gets a request that was checked and returns JSON that is yet to be
checked. It knows endpoint, credentials, deadline and retries; the tool knows none
of them.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Union

from langgraph.errors import GraphBubbleUp
from pydantic import JsonValue

from . import pb, protojson
from .errors import AgentError, ToolContractError, ToolError

__all__ = [
    "CallableTransport",
    "Deadline",
    "ToolFunction",
    "ToolRequest",
    "ToolTransport",
    "UnsentError",
]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One call of a tool, as a transport sees it.

    Attributes:
        tool_id: The tool.
        service: Full name of the proto service.
        method: Name of the rpc.
        message: The checked request.
        payload: The request in ProtoJSON.
        idempotent: Whether a repeated call has no further effect.
        timeout_ms: The contract's deadline, which configuration may override.
        idempotency_key: Equal for all attempts at this call, also after a resume.
    """

    tool_id: str
    service: str
    method: str
    message: pb.Message
    payload: JsonValue
    idempotent: bool
    timeout_ms: int
    idempotency_key: str


class ToolTransport(Protocol):
    """Carries the calls of one tool."""

    def call(self, request: ToolRequest) -> JsonValue:
        """Return the response in ProtoJSON, or raise a ToolError."""
        ...

    async def acall(self, request: ToolRequest) -> JsonValue:
        """Do as `call` does, without blocking the event loop."""
        ...


class UnsentError(ToolError):
    """A call failed before any of it was sent: it has had no effect."""


class Deadline:
    """The moment at which all attempts at a call end."""

    def __init__(self, seconds: float) -> None:
        """Start the clock."""
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds that are left, never less than zero."""
        return max(0.0, self._end - time.monotonic())


ToolResult = Union[pb.Message, Mapping[str, JsonValue]]
ToolFunction = Callable[[Any], Union[ToolResult, Awaitable[ToolResult]]]
"""A tool in this process: takes the request's model, returns the response's model
or its ProtoJSON. It may be a coroutine function."""


class CallableTransport:
    """Calls a function of this process."""

    def __init__(
        self, function: ToolFunction, *, timeout_ms: int | None = None
    ) -> None:
        """Wrap a function.

        Args:
            function: The function, or coroutine function.
            timeout_ms: Overrides the contract's deadline. A plain function cannot be
                stopped, so only asynchronous calls have a deadline.
        """
        self._function = function
        self._timeout_ms = timeout_ms
        self._is_async = inspect.iscoroutinefunction(
            function
        ) or inspect.iscoroutinefunction(getattr(function, "__call__", None))

    def call(self, request: ToolRequest) -> JsonValue:
        """Call the function."""
        if self._is_async:
            raise UnsentError(
                request.tool_id,
                "failed_precondition",
                "the function is asynchronous; call the tool asynchronously",
            )
        try:
            return _to_json(request, self._function(request.message))
        # Interrupts steer the graph, they are no failures.
        except (AgentError, GraphBubbleUp):
            raise
        except Exception as error:
            raise _failure(request, error) from error

    async def acall(self, request: ToolRequest) -> JsonValue:
        """Await the coroutine function, or call the function in a thread."""
        seconds = (self._timeout_ms or request.timeout_ms) / 1000
        timeout = asyncio.timeout(seconds)
        try:
            async with timeout:
                if self._is_async:
                    result = self._function(request.message)
                else:
                    result = await asyncio.to_thread(self._function, request.message)
                if inspect.isawaitable(result):
                    result = await result
                return _to_json(request, result)
        except (AgentError, GraphBubbleUp):
            raise
        except Exception as error:
            if timeout.expired():
                raise ToolError(
                    request.tool_id,
                    "deadline_exceeded",
                    f"the function took longer than {seconds:g} s",
                ) from None
            raise _failure(request, error) from error


def _to_json(request: ToolRequest, result: Any) -> JsonValue:
    if isinstance(result, pb.Message):
        try:
            return protojson.to_json(result)
        except protojson.JsonError as error:
            raise ToolContractError(request.tool_id, "output", error.problems) from None
    return dict(result) if isinstance(result, Mapping) else result


def _failure(request: ToolRequest, error: Exception) -> ToolError:
    name = type(error).__name__
    return ToolError(request.tool_id, "unknown", f"the function raised {name}")
