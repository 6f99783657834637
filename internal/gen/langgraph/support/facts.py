"""Typed emission of facts and events.

A node may run again after an interrupt or a crash, so a fact may be emitted more
than once: consumers drop repetitions by the idempotency key.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar
from urllib.parse import quote

from pydantic import JsonValue

from . import pb, protojson
from .errors import ContractError

__all__ = ["Envelope", "FactSink", "FactSpec", "InMemoryFactSink"]

F = TypeVar("F", bound=pb.Message)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A fact with what a broker needs to carry it.

    Attributes:
        type: Stable type of the fact.
        schema_subject: Subject under which the schema is registered.
        stream_ref: Logical name of the stream.
        partition_key: Facts with equal keys stay in order; may be empty.
        idempotency_key: Equal for repetitions of the same fact.
        payload: The fact in ProtoJSON.
    """

    type: str
    schema_subject: str
    stream_ref: str
    partition_key: str
    idempotency_key: str
    payload: JsonValue = field(repr=False)


class FactSink(Protocol):
    """Where facts go, such as an outbox or a broker."""

    def emit(self, envelope: Envelope) -> None:
        """Accept a fact durably, or raise."""
        ...

    async def aemit(self, envelope: Envelope) -> None:
        """Do as `emit` does, without blocking the event loop."""
        ...


class InMemoryFactSink:
    """Keeps facts in a list, for tests and development."""

    def __init__(self) -> None:
        """Start empty."""
        self.envelopes: list[Envelope] = []

    def emit(self, envelope: Envelope) -> None:
        """Keep a fact, unless one with its idempotency key is there."""
        if all(e.idempotency_key != envelope.idempotency_key for e in self.envelopes):
            self.envelopes.append(envelope)

    async def aemit(self, envelope: Envelope) -> None:
        """Keep a fact as `emit` does."""
        self.emit(envelope)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSpec(Generic[F]):
    """What the contract says about a fact or an event.

    Attributes:
        model: The model of the message.
        type: Stable type.
        schema_subject: Subject under which the schema is registered.
        stream_ref: Logical name of the stream.
        partition_key: Returns the values that form the partition key.
        idempotency_key: Returns the values that form the idempotency key; when it
            returns none, the key is the hash of the payload.
    """

    model: type[F]
    type: str
    schema_subject: str = ""
    stream_ref: str = ""
    partition_key: Callable[[F], tuple[object, ...]] = lambda fact: ()
    idempotency_key: Callable[[F], tuple[object, ...]] = lambda fact: ()

    def envelope(self, fact: F) -> Envelope:
        """Return a fact in its envelope.

        Raises:
            ContractError: If it is of another type, has no ProtoJSON form, or a
                field of a key is not set.
        """
        if not isinstance(fact, self.model):
            raise ContractError(
                f"fact `{self.type}`: want {self.model.__name__}, "
                f"got {type(fact).__name__}"
            )
        try:
            payload = protojson.to_json(fact)
        except protojson.JsonError as error:
            raise ContractError(f"fact `{self.type}`: {error}") from None
        key = self._key(self.idempotency_key(fact))
        return Envelope(
            type=self.type,
            schema_subject=self.schema_subject,
            stream_ref=self.stream_ref,
            partition_key=self._key(self.partition_key(fact)),
            idempotency_key=key or self._hash(payload),
            payload=payload,
        )

    def emit(self, sink: FactSink, fact: F) -> Envelope:
        """Emit a fact and return its envelope."""
        envelope = self.envelope(fact)
        sink.emit(envelope)
        return envelope

    async def aemit(self, sink: FactSink, fact: F) -> Envelope:
        """Emit a fact as `emit` does, without blocking the event loop."""
        envelope = self.envelope(fact)
        await sink.aemit(envelope)
        return envelope

    def _key(self, values: tuple[object, ...]) -> str:
        """Join values so that different values never make the same key."""
        return "/".join(quote(self._text(value), safe="") for value in values)

    def _text(self, value: object) -> str:
        if value is None:
            raise ContractError(f"fact `{self.type}`: a field of its key is not set")
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        if isinstance(value, enum.IntEnum):
            return pb.proto_name(value) or str(int(value))
        return str(value)

    def _hash(self, payload: JsonValue) -> str:
        canonical = json.dumps([self.type, payload], sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()
