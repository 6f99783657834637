"""Counting words: what the agent does where it has no chat model."""

from __future__ import annotations

import re
from collections.abc import Iterable

_STOP_WORDS = frozenset(
    """
    a about after all an and any are as at be because been before between but by can
    could did do does each for from had has have how i if in into is it its may might
    more most must no not of off on one only or other our out over should so some such
    than that the their them then there these they this those through to too under
    until up us very was we were what when where which while who why will with would
    you your
    """.split()
)


def words_of(text: str) -> list[str]:
    """Return the words of a text that carry meaning, lower-cased, in order, once."""
    words = re.findall(r"[a-z][a-z0-9-]+", text.lower())
    return list(dict.fromkeys(w for w in words if w not in _STOP_WORDS))


def queries_of(question: str, limit: int = 3) -> list[str]:
    """Make the first queries: the whole question, and each half of its words."""
    words = words_of(question)
    if len(words) < 4:
        return [" ".join(words) or question]
    half = len(words) // 2
    return [" ".join(words), " ".join(words[:half]), " ".join(words[half:])][:limit]


def follow_up_queries(question: str, known: Iterable[str], limit: int = 2) -> list[str]:
    """Make queries from the words of the question that no known sentence has."""
    seen = {word for sentence in known for word in words_of(sentence)}
    missing = [word for word in words_of(question) if word not in seen]
    return missing[:limit]


def best_sentence(question: str, text: str) -> tuple[str, int]:
    """Return the sentence with the most words of the question, and how many."""
    wanted = set(words_of(question))
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(text.split()))
    scored = [(s, len(wanted & set(words_of(s)))) for s in sentences if s]
    return max(scored, key=lambda pair: pair[1], default=("", 0))
