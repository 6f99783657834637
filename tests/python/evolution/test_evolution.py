"""Threads outlive contracts: what an older package stored, a newer one reads.

And the other way round, for a deployment that is rolled back. Each process has one
of the two packages, which have one name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PATH = os.pathsep.join(
    [str(ROOT / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
)

STEP = """
import json, sys
from langgraph.graph import END, START
from trips_generated.harness.generated import sqlite_saver
from trips_generated.state.generated import STATE
from trips_generated.support.agent import Agent
from trips_generated.support.graphs import AgentGraph
from trips_generated.support.protojson import to_json
from pathlib import Path

folder, update = Path(sys.argv[1]), json.loads(sys.argv[2])
seen = []

def step(state):
    seen.append(state)
    return update

graph = AgentGraph(STATE)
graph.add_node("step", step)
graph.add_edge(START, "step")
graph.add_edge("step", END)
with sqlite_saver(folder) as saver:
    compiled = graph.build(checkpointer=saver, recursion_limit=5, where="test")
    agent = Agent(STATE, compiled)
    result = agent.invoke({"query": "q"}, thread_id="t")
    history = [s.values for s in compiled.get_state_history(
        {"configurable": {"thread_id": "t"}})]
    types = sorted({type(leg).__name__ for s in history for leg in s.get("legs", [])})
    print(json.dumps({"state": to_json(seen[0]), "output": to_json(result.value),
                      "types": types}))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Generate the package of both contracts."""
    out = tmp_path_factory.mktemp("generated")
    for version in ("v1", "v2"):
        folder = out / version
        folder.mkdir()
        subprocess.run(
            ["protoc", f"-I{HERE / version}", f"-I{ROOT / 'annotations'}"]
            + [f"--ameide-agent_out={folder}", "trip/v1/trip.proto"],
            env={**os.environ, "PATH": PATH},
            check=True,
        )
    return {version: out / version / "trips" for version in ("v1", "v2")}


def step(package: Path, folder: Path, update: dict[str, Any]) -> dict[str, Any]:
    """Run the agent of a package once on the stored thread."""
    run = subprocess.run(
        [sys.executable, "-c", STEP, str(folder), json.dumps(update)],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    result: dict[str, Any] = json.loads(run.stdout)
    return result


OLD_LEG = {
    "from": "A",
    "to": "B",
    "minutes": 30,
    "seat": "12a",
    "train": {"number": "7", "engine": "steam"},
    "mood": "MOOD_TIRED",
}
OLD_LEG_NOW = {
    "from": "A",
    "to": "B",
    "minutes": 30,
    "train": {"number": "7"},
    "mood": "MOOD_TIRED",
}
NEW_LEG = {
    "from": "C",
    "to": "D",
    "platform": "",
    "stops": ["X"],
    "train": {"number": "8", "delay": 2**40},
    "mood": "MOOD_HAPPY",
}
NEW_LEG_THEN = {"from": "C", "to": "D", "train": {"number": "8"}, "mood": 3}


def python_names(leg: dict[str, Any]) -> dict[str, Any]:
    """Call the fields as Python does."""
    return {{"from": "from_"}.get(name, name): value for name, value in leg.items()}


def everywhere(leg: dict[str, Any]) -> dict[str, Any]:
    """Put a leg into every kind of field."""
    leg = python_names(leg)
    return {"legs": [leg], "by_day": {"mon": leg}, "current": leg}


def test_the_change_is_compatible(tmp_path: Path) -> None:
    """By buf's own rules for JSON and the wire."""
    for version in ("v1", "v2"):
        subprocess.run(
            ["protoc", f"-I{HERE / version}", f"-I{ROOT / 'annotations'}"]
            + ["--include_imports", f"-o{tmp_path / version}.binpb"]
            + ["trip/v1/trip.proto"],
            env={**os.environ, "PATH": PATH},
            check=True,
        )
    config = json.dumps({"version": "v2", "breaking": {"use": ["WIRE_JSON"]}})
    subprocess.run(
        ["buf", "breaking", str(tmp_path / "v2.binpb"), "--config", config]
        + ["--against", str(tmp_path / "v1.binpb"), "--against-config", config],
        env={**os.environ, "PATH": PATH},
        check=True,
    )


def test_a_newer_contract_reads_older_threads(
    packages: dict[str, Path], tmp_path: Path
) -> None:
    """Removed fields are dropped, at every depth; new ones are unset."""
    update = {**everywhere(OLD_LEG), "dropped": "gone", "mood": "MOOD_CALM"}
    step(packages["v1"], tmp_path, update)
    new = python_names(NEW_LEG)
    seen = step(packages["v2"], tmp_path, {"legs": [new], "notes": ["n"]})
    assert seen["state"] == {
        "query": "q",
        "legs": [OLD_LEG_NOW],
        "byDay": {"mon": OLD_LEG_NOW},
        "current": OLD_LEG_NOW,
        "mood": "MOOD_CALM",
    }
    assert seen["types"] == ["LegModel"]
    delay = {"number": "8", "delay": str(2**40)}
    assert seen["output"] == {
        "legs": [OLD_LEG_NOW, {**NEW_LEG, "train": delay}],
        "notes": ["n"],
    }


def test_an_older_contract_reads_newer_threads(
    packages: dict[str, Path], tmp_path: Path
) -> None:
    """Fields that it does not know are dropped, numbers of enum values stay."""
    update = {**everywhere(NEW_LEG), "notes": ["n"], "ticket": {"code": "c"}}
    step(packages["v2"], tmp_path, {**update, "mood": "MOOD_HAPPY"})
    seen = step(packages["v1"], tmp_path, {"dropped": "back"})
    assert seen["state"] == {
        "query": "q",
        "legs": [NEW_LEG_THEN],
        "byDay": {"mon": NEW_LEG_THEN},
        "current": NEW_LEG_THEN,
        "mood": 3,
    }
    assert seen["types"] == ["LegModel"]
