from __future__ import annotations

import asyncio

import pytest
from support import pb
from support.errors import ContractError
from support.facts import Envelope, FactSpec, InMemoryFactSink


class Mood(pb.OpenEnum):
    """How the answer feels."""

    MOOD_UNSPECIFIED = 0
    MOOD_GOOD = 1


class Answer(pb.Message):
    """A fact."""

    thread: pb.String = ""
    number: pb.Int64 = 0
    final: pb.Bool = False
    raw: pb.Bytes = b""
    mood: Mood = Mood.MOOD_UNSPECIFIED
    note: pb.String | None = None


ANSWER = FactSpec(
    model=Answer,
    type="answer.v1",
    schema_subject="acme.Answer",
    stream_ref="answers",
    partition_key=lambda fact: (fact.thread,),
    idempotency_key=lambda fact: (fact.thread, fact.number),
)


def test_envelope() -> None:
    assert ANSWER.envelope(Answer(thread="t1", number=2)) == Envelope(
        type="answer.v1",
        schema_subject="acme.Answer",
        stream_ref="answers",
        partition_key="t1",
        idempotency_key="t1/2",
        payload={"thread": "t1", "number": "2"},
    )


def test_different_values_make_different_keys() -> None:
    spec = FactSpec(
        model=Answer,
        type="answer.v1",
        idempotency_key=lambda fact: (fact.thread, fact.note),
    )
    one = spec.envelope(Answer(thread="a/b", note="c"))
    two = spec.envelope(Answer(thread="a", note="b/c"))
    assert (one.idempotency_key, two.idempotency_key) == ("a%2Fb/c", "a/b%2Fc")


def test_text_of_scalars() -> None:
    spec = FactSpec(
        model=Answer,
        type="answer.v1",
        partition_key=lambda f: (f.number, f.final, f.raw, f.mood, f.thread),
    )
    fact = Answer(number=-7, final=True, raw=b"\xff", mood=Mood.MOOD_GOOD, thread="ä")
    assert spec.envelope(fact).partition_key == "-7/true/%2Fw%3D%3D/MOOD_GOOD/%C3%A4"
    assert spec.envelope(Answer(mood=Mood(9))).partition_key == "0/false//9/"


def test_a_key_field_that_is_not_set() -> None:
    spec = FactSpec(
        model=Answer, type="answer.v1", partition_key=lambda fact: (fact.note,)
    )
    with pytest.raises(ContractError, match="a field of its key is not set"):
        spec.envelope(Answer())


def test_without_key_fields_the_content_is_the_key() -> None:
    spec = FactSpec(model=Answer, type="answer.v1")
    one, same, other = (
        spec.envelope(Answer(thread=t)).idempotency_key for t in ("x", "x", "y")
    )
    assert one == same != other
    assert len(one) == 64
    renamed = FactSpec(model=Answer, type="other.v1")
    assert renamed.envelope(Answer(thread="x")).idempotency_key != one


def test_emit() -> None:
    sink = InMemoryFactSink()
    first = ANSWER.emit(sink, Answer(thread="t", number=1))
    asyncio.run(ANSWER.aemit(sink, Answer(thread="t", number=2)))
    # A node that runs again emits again.
    ANSWER.emit(sink, Answer(thread="t", number=1))
    assert [e.idempotency_key for e in sink.envelopes] == ["t/1", "t/2"]
    assert sink.envelopes[0] == first


def test_only_its_own_message() -> None:
    with pytest.raises(ContractError, match="want Answer, got Empty"):
        ANSWER.emit(InMemoryFactSink(), pb.Empty())  # type: ignore[arg-type]


def test_repr_does_not_show_the_payload(canary: str) -> None:
    assert canary not in repr(ANSWER.envelope(Answer(note=canary)))
