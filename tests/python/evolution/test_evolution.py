"""Threads that one version of a contract wrote, read by an earlier or a later one.

The contracts are testdata/evolution/v1 and v2; docs/evolution.md is the same table
for people.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CASES = ROOT / "testdata" / "evolution"
BREAKING = json.dumps({"version": "v2", "breaking": {"use": ["WIRE_JSON"]}})
GOLDENS = ROOT / "golden" / "evolution"

Fields = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A change of a contract, and fields that it touches.

    Attributes:
        old: What v1 writes.
        new: What v2 reads of it.
        forth: What v2 writes, for the way back; `new` without that.
        back: What v1 reads of it.
        packet: What a stored packet holds beside: it was sent when the field was
            checkpointed, and is read as it was sent.
    """

    name: str
    old: Fields
    new: Fields
    forth: Fields | None = None
    back: Fields | None = None
    packet: Fields = field(default_factory=dict)


def order(old: Fields, new: Fields) -> tuple[Fields, Fields]:
    """Put an order into a field of every cardinality."""

    def everywhere(value: Fields) -> Fields:
        return {
            "order": value,
            "orders": [value, value],
            "byName": {"a": value},
            "found": {**value, "parent": value, "lines": {"7": value}},
        }

    return everywhere(old), everywhere(new)


def inside(
    name: str, old: Fields, new: Fields, back: Fields | None = None, **more: Any
) -> Change:
    """Make a change inside a message, with a field that stays beside it."""
    stays = {"id": "o-1", "maybe": "m", "plain": "p"}
    written, read = order(stays | old, stays | new)
    changes = Change(f"message: {name}", written, read)
    if back is None:
        return changes
    forth, backwards = order(stays | more.get("forth", new), stays | back)
    return Change(changes.name, written, read, forth, backwards)


LEGACY = {"id": "required"}

CHANGES = [
    Change("nothing", {"text": "t"}, {"text": "t"}),
    Change("field added", {"mood": "MOOD_CALM"}, {"mood": "MOOD_CALM"}, {"mood": "MOOD_CALM", "added": "x", "fresh": {"text": "x"}}, {"mood": "MOOD_CALM"}),
    Change("field removed", {"gone": "x", "mood": "MOOD_CALM"}, {"mood": "MOOD_CALM"}),
    Change("message removed with its field", {"goneMessage": {"text": "x", "fate": "FATE_SEALED"}}, {}),
    Change("enum removed with its field", {"goneEnum": "FATE_SEALED"}, {}),
    Change("value of an open enum added", {"mood": "MOOD_CALM"}, {"mood": "MOOD_CALM"}, {"mood": "MOOD_NEW"}, {"mood": 3}),
    Change("value of an open enum removed", {"mood": "MOOD_OLD"}, {"mood": 2}),
    Change("value of a closed enum added", {"grade": "GRADE_LOW"}, {"grade": "GRADE_LOW"}, {"grade": "GRADE_NEW", "grades": ["GRADE_LOW", "GRADE_NEW"]}, {"grades": ["GRADE_LOW"]}),
    Change("value of a closed enum removed", {"grade": "GRADE_OLD", "grades": ["GRADE_HIGH", "GRADE_OLD"]}, {"grades": ["GRADE_HIGH"]}),
    Change("closed enum opened", {"tone": "TONE_WARM"}, {"tone": "TONE_WARM"}, {"tone": "TONE_COLD"}, {}),
    Change("int32 to uint32", {"balance": -1}, {"balance": 2**32 - 1}),
    Change("int32 to uint32, positive", {"balance": 7}, {"balance": 7}),
    Change("uint64 to int64", {"total": str(2**64 - 1)}, {"total": "-1"}),
    Change("keys from int32 to uint32", {"byNumber": {"-1": "a", "2": "b"}}, {"byNumber": {str(2**32 - 1): "a", "2": "b"}}),
    Change("presence made explicit", {"note": "x"}, {"note": "x"}),
    Change("presence made explicit, unset", {}, {}, {"note": ""}, {}),
    Change("presence made implicit", {"remark": "x"}, {"remark": "x"}),
    Change("presence made implicit, empty", {"remark": ""}, {}, {"remark": "x"}, {"remark": "x"}),
    Change("reducer added", {"log": ["a"]}, {"log": ["a"]}),
    Change("reducer removed", {"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
    Change("not checkpointed any more", {"scratch": "x"}, {}, packet={"scratch": "x"}),
    Change("checkpointed now", {}, {}, {"kept": "x"}, {}, {"kept": "x"}),
    Change("member of a oneof added", {"text": "x"}, {"text": "x"}, {"code": {"text": "x"}}, {}),
    Change(
        "type of the same name added in another package",
        {"item": {"name": "a", "size": "SIZE_LARGE", "gone": "x"}, "items": [{"name": "b"}], "size": "SIZE_LARGE"},
        {"item": {"name": "a", "size": "SIZE_LARGE"}, "items": [{"name": "b"}], "size": "SIZE_LARGE"},
        {"item": {"name": "a", "size": "SIZE_LARGE"}, "items": [{"name": "b"}], "size": "SIZE_LARGE", "mallItem": {"name": "c"}},
        {"item": {"name": "a", "size": "SIZE_LARGE"}, "items": [{"name": "b"}], "size": "SIZE_LARGE"},
    ),
    inside("field added", {}, {}, {}, forth={"added": "x", "fresh": [{"text": "x"}], "moodAdded": "MOOD_NEW"}),
    inside("field removed", {"gone": "x"}, {}),
    inside("message removed with its field", {"goneMessage": {"text": "x", "fate": "FATE_SEALED"}}, {}),
    inside("value of an open enum removed", {"mood": "MOOD_OLD", "moods": ["MOOD_CALM", "MOOD_OLD"]}, {"mood": 2, "moods": ["MOOD_CALM", 2]}),
    inside("value of an open enum added", {}, {}, {"mood": 3, "moods": [3, "MOOD_CALM"]}, forth={"mood": "MOOD_NEW", "moods": ["MOOD_NEW", "MOOD_CALM"]}),
    inside("value of a closed enum removed", {"grade": "GRADE_OLD", "grades": ["GRADE_OLD", "GRADE_LOW"]}, {"grades": ["GRADE_LOW"]}),
    inside("value of a closed enum added", {}, {}, {"grades": ["GRADE_LOW"]}, forth={"grade": "GRADE_NEW", "grades": ["GRADE_LOW", "GRADE_NEW"]}),
    inside("closed enum opened", {"tone": "TONE_WARM"}, {"tone": "TONE_WARM"}, {}, forth={"tone": "TONE_COLD"}),
    inside("changed signs", {"amount": -1, "total": str(2**63), "code": -1}, {"amount": 2**32 - 1, "total": str(-(2**63)), "code": 2**32 - 1}),
    # What v1 never set, it stored as the empty text.
    inside("presence changed", {"maybe": "x", "plain": "y"}, {"maybe": "x", "plain": "y"}),
    Change("message: presence changed, empty", *order({"maybe": "", "plain": ""}, {"plain": ""})),
    inside("member of a oneof added", {"flight": 0}, {"flight": 0}, {}, forth={"ship": {"text": "x"}}),
    inside("what does not change", {"at": "2024-05-01T12:00:00.000000001Z", "extra": {"a": [None, 1.5]}}, {"at": "2024-05-01T12:00:00.000000001Z", "extra": {"a": [None, 1.5]}}),
    inside(
        "extensions and groups",
        {"legacy": {**LEGACY, "part": {"name": "p", "gone": "x"}, "[legacy.v1.gone]": "x", "[legacy.v1.kept]": ["GRADE_LOW", "GRADE_OLD"], "graded": {"a": "GRADE_OLD", "b": "GRADE_LOW"}}},
        {"legacy": {**LEGACY, "part": {"name": "p"}, "[legacy.v1.kept]": ["GRADE_LOW"], "graded": {"b": "GRADE_LOW"}}},
        {"legacy": {**LEGACY, "[legacy.v1.kept]": ["GRADE_LOW"]}},
        forth={"legacy": {**LEGACY, "[legacy.v1.added]": "x", "[legacy.v1.kept]": ["GRADE_LOW", "GRADE_NEW"]}},
    ),
]  # fmt: skip


def run(version: str, database: Path, do: str, threads: dict[str, Fields]) -> Fields:
    """Run a version of the agent in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(HERE / "program.py")],
        input=json.dumps({"database": str(database), "do": do, "threads": threads}),
        env={**os.environ, "PYTHONPATH": str(GOLDENS / version / "langgraph/ledger")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: Fields = json.loads(done.stdout)
    return seen


@pytest.fixture(scope="module")
def forward(tmp_path_factory: pytest.TempPathFactory) -> Fields:
    """Return what v2 sees of the threads of v1."""
    database = tmp_path_factory.mktemp("forward") / "threads.db"
    threads = {f"t{i}": change.old for i, change in enumerate(CHANGES)}
    run("v1", database, "write", threads)
    return run("v2", database, "go on", threads)


@pytest.fixture(scope="module")
def backward(tmp_path_factory: pytest.TempPathFactory) -> Fields:
    """Return what v1 sees of the threads of v2."""
    database = tmp_path_factory.mktemp("backward") / "threads.db"
    threads = {
        f"t{i}": change.new if change.forth is None else change.forth
        for i, change in enumerate(CHANGES)
    }
    run("v2", database, "write", threads)
    return run("v1", database, "go on", threads)


def numbered(test: Callable[..., None]) -> Any:
    """Run a test for every change."""
    return pytest.mark.parametrize(
        ("number", "change"),
        list(enumerate(CHANGES)),
        ids=[change.name for change in CHANGES],
    )(test)


def check(seen: Fields, number: int, expected: Fields, packet: Fields) -> None:
    """Compare what the resumed node saw, and what the next run saw."""
    query = {"query": f"t{number} waits"}
    assert seen[f"t{number}-resumed"] == query | expected | packet
    assert seen[f"t{number}"] == {"query": f"t{number} again"} | expected


def sent(change: Change, written: Fields) -> Fields:
    """Return what the packet holds beside."""
    return {name: value for name, value in change.packet.items() if name in written}


@numbered
def test_a_newer_version_goes_on(forward: Fields, number: int, change: Change) -> None:
    """From an interrupt whose packet is stored, and with a new run."""
    check(forward, number, change.new, sent(change, change.old))


@numbered
def test_an_older_version_goes_on(
    backward: Fields, number: int, change: Change
) -> None:
    """A rollback reads what the newer version wrote."""
    if change.back is not None:
        check(backward, number, change.back, sent(change, change.forth or {}))
    else:
        assert f"t{number}" in backward


def breaking(against: Path, now: Path) -> set[str]:
    """Return the rules of `buf breaking` that a change breaks."""
    done = subprocess.run(
        ["buf", "breaking", str(now), "--against", str(against)]
        + ["--config", BREAKING, "--error-format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return {json.loads(line)["type"] for line in done.stdout.splitlines()}


def test_buf_allows_every_change() -> None:
    """What this file calls compatible is what WIRE_JSON allows."""
    assert breaking(CASES / "v1/image.binpb", CASES / "v2/image.binpb") == set()


REFUSED = {
    "field renamed": ("string a = 1;", "string b = 1;", {"FIELD_SAME_JSON_NAME", "FIELD_SAME_NAME"}),
    "field renamed, of the same JSON name": ("string aB = 1;", "string a_b = 1;", {"FIELD_SAME_NAME"}),
    "field renumbered": ("string a = 1;", "string a = 2;", {"FIELD_NO_DELETE_UNLESS_NAME_RESERVED", "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED"}),
    "field removed and not reserved": ("string a = 1;", "", {"FIELD_NO_DELETE_UNLESS_NAME_RESERVED", "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED"}),
    "wider integer": ("int32 a = 1;", "int64 a = 1;", {"FIELD_WIRE_JSON_COMPATIBLE_TYPE"}),
    "other scalar": ("string a = 1;", "bytes a = 1;", {"FIELD_WIRE_JSON_COMPATIBLE_TYPE"}),
    "made repeated": ("string a = 1;", "repeated string a = 1;", {"FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY"}),
    "other message": ("N a = 1; message N {} message O {}", "O a = 1; message N {} message O {}", {"FIELD_WIRE_JSON_COMPATIBLE_TYPE"}),
    "moved into a oneof": ("string a = 1;", "oneof o { string a = 1; }", {"FIELD_SAME_ONEOF"}),
    "oneof renamed": ("oneof o { string a = 1; }", "oneof p { string a = 1; }", {"FIELD_SAME_ONEOF"}),
    "enum value renamed": ("enum E { A = 0; }", "enum E { B = 0; }", {"ENUM_VALUE_SAME_NAME"}),
    "enum value removed and not reserved": ("enum E { A = 0; B = 1; }", "enum E { A = 0; }", {"ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED", "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED"}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_buf_refuses(tmp_path: Path, name: str) -> None:
    """What the page calls unsafe is what WIRE_JSON refuses."""
    old, new, rules = REFUSED[name]
    for version, body in (("old", old), ("new", new)):
        folder = tmp_path / version
        folder.mkdir()
        text = f'syntax = "proto3";\npackage a.v1;\nmessage M {{ {body} }}\n'
        (folder / "a.proto").write_text(text)
    assert breaking(tmp_path / "old", tmp_path / "new") == rules
