"""LangChain's messages as the contract's ChatMessage.

In the state a conversation is a list of LangChain messages; at the API it is
ProtoJSON of `ameide_core_proto.agent.v1.ChatMessage`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Union

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import JsonValue

__all__ = ["ChatMessage", "ChatMessageMarker", "ChatUpdate", "from_json", "to_json"]


@dataclass(frozen=True, slots=True)
class ChatMessageMarker:
    """Marks LangChain's message type as ChatMessage."""

    def __protojson__(
        self,
    ) -> tuple[Callable[[BaseMessage], JsonValue], Callable[[JsonValue], BaseMessage]]:
        """Return the functions that print and read a message."""
        return to_json, from_json


ChatMessage = Annotated[AnyMessage, ChatMessageMarker()]
"""A message of a conversation in the state."""

ChatUpdate = Union[ChatMessage, RemoveMessage]
"""What a node may write to a conversation: a message, or the removal of one."""

_ROLES = {
    "CHAT_ROLE_SYSTEM": SystemMessage,
    "CHAT_ROLE_USER": HumanMessage,
    "CHAT_ROLE_ASSISTANT": AIMessage,
    "CHAT_ROLE_TOOL": ToolMessage,
}
_ROLE_OF_TYPE = {
    "system": "CHAT_ROLE_SYSTEM",
    "human": "CHAT_ROLE_USER",
    "ai": "CHAT_ROLE_ASSISTANT",
    "tool": "CHAT_ROLE_TOOL",
}
_ROLE_OF_NUMBER = dict(enumerate(_ROLES, start=1))
_KEYS = {
    "id": "id",
    "role": "role",
    "content": "content",
    "name": "name",
    "toolCalls": "tool_calls",
    "tool_calls": "tool_calls",
    "toolCallId": "tool_call_id",
    "tool_call_id": "tool_call_id",
}


def to_json(message: BaseMessage) -> dict[str, JsonValue]:
    """Convert a LangChain message to ProtoJSON of ChatMessage.

    Content that is not text is left out: a ChatMessage holds text only.

    Raises:
        ValueError: If the message is of a kind that ChatMessage does not have.
    """
    role = _ROLE_OF_TYPE.get(message.type)
    if role is None:
        raise ValueError(f"a ChatMessage cannot hold a message of type {message.type}")
    out: dict[str, JsonValue] = {}
    if message.id:
        out["id"] = message.id
    out["role"] = role
    if text := str(message.text):
        out["content"] = text
    if message.name:
        out["name"] = message.name
    if isinstance(message, AIMessage) and message.tool_calls:
        out["toolCalls"] = [
            {"id": call["id"] or "", "name": call["name"], "args": call["args"]}
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        out["toolCallId"] = message.tool_call_id
    return out


def from_json(value: JsonValue) -> BaseMessage:
    """Convert ProtoJSON of ChatMessage to a LangChain message.

    Raises:
        ValueError: If the value is no ChatMessage, or says no role.
    """
    if not isinstance(value, dict):
        raise ValueError("want an object: a ChatMessage")
    fields: dict[str, Any] = {}
    for key, item in value.items():
        if key not in _KEYS:
            raise ValueError(f"unknown field `{key}` of ChatMessage")
        if item is not None:
            fields[_KEYS[key]] = item
    role = fields.pop("role", None)
    if isinstance(role, int):
        role = _ROLE_OF_NUMBER.get(role)
    cls = _ROLES.get(role) if isinstance(role, str) else None
    if cls is None:
        raise ValueError("`role` must be one of " + ", ".join(_ROLES))
    for key in ("id", "content", "name", "tool_call_id"):
        if not isinstance(fields.get(key, ""), str):
            raise ValueError(f"`{key}` of ChatMessage must be a string")
    calls = fields.pop("tool_calls", [])
    call_id = fields.pop("tool_call_id", "")
    kwargs: dict[str, Any] = {k: v for k, v in fields.items() if v}
    kwargs["content"] = fields.get("content", "")
    if calls:
        if cls is not AIMessage:
            raise ValueError("only a message of CHAT_ROLE_ASSISTANT has tool calls")
        kwargs["tool_calls"] = [_tool_call(call) for call in calls]
    if cls is ToolMessage:
        kwargs["tool_call_id"] = call_id
    message: BaseMessage = cls(**kwargs)
    return message


def _tool_call(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) - {"id", "name", "args"}:
        raise ValueError("a tool call has the fields id, name and args")
    call = {
        "id": value.get("id") or "",
        "name": value.get("name") or "",
        "args": value.get("args") or {},
    }
    if not isinstance(call["args"], dict):
        raise ValueError("the args of a tool call must be an object")
    return call
