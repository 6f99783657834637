"""Measures a generated agent against one that is written by hand.

Both do the same, in the same process and in turns; what counts is the ratio.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Mapping
from typing import Any

import handwritten
from bench_agent_generated.graph.generated import build_agent
from bench_agent_generated.runtime_contract.generated import load_runtime
from bench_agent_generated.state.generated import PageModel
from bench_agent_generated.support import protojson
from report import heading, say, table

IMPORTS = {
    "langgraph alone": "import langgraph.graph",
    "the hand-written agent": "import handwritten",
    "the generated agent": (
        "import bench_agent_generated.graph.generated, "
        "bench_agent_generated.runtime_contract.generated"
    ),
}
IMPORT_TIMES = 11
RUN_TIMES = 60
ROUNDS = 41


def lookup(_request: object) -> dict[str, Any]:
    """Answer as the tool does."""
    return {"results": ["found this", "and that"]}


def imports() -> None:
    """Measure what importing costs, in a fresh process each time."""
    heading("Importing, in a fresh process, medians")
    measured: dict[str, list[float]] = {what: [] for what in IMPORTS}
    # The first turn compiles the modules and is not counted.
    for turn in range(IMPORT_TIMES + 1):
        for what, statement in IMPORTS.items():
            code = (
                f"import time; t = time.perf_counter(); {statement}; "
                "print(time.perf_counter() - t)"
            )
            output = subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            )
            if turn:
                measured[what].append(float(output.stdout))
    base = statistics.median(measured["langgraph alone"])
    table(
        ["import", "ms", "ratio"],
        [
            [
                what,
                f"{(median := statistics.median(times)) * 1000:.0f}",
                f"{median / base:.2f}",
            ]
            for what, times in measured.items()
        ],
    )


def runs() -> None:
    """Measure runs, supersteps and tool calls."""
    runtime = load_runtime({"AGENT_ID": "bench-agent"}, callables={"lookup": lookup})
    agent = build_agent(runtime=runtime)
    by_hand = handwritten.build_graph(lookup)

    def generated(rounds: int, calls_tool: bool) -> Mapping[str, Any]:
        value = {"query": "q", "rounds": rounds, "calls_tool": calls_tool}
        return agent.invoke(value).value.model_dump()

    def hand_written(rounds: int, calls_tool: bool) -> Mapping[str, Any]:
        value = {"query": "q", "rounds": rounds, "calls_tool": calls_tool}
        return by_hand.invoke(value, {"recursion_limit": 50})

    for rounds in (1, ROUNDS):
        for calls_tool in (False, True):
            assert generated(rounds, calls_tool) == hand_written(rounds, calls_tool)

    cases = [(1, False), (ROUNDS, False), (ROUNDS, True)]
    sides: dict[str, Callable[[int, bool], Mapping[str, Any]]] = {
        "generated": generated,
        "by hand": hand_written,
    }
    seconds: dict[tuple[str, int, bool], list[float]] = {
        (side, *case): [] for side in sides for case in cases
    }
    for _ in range(RUN_TIMES):
        for case in cases:
            for side, run in sides.items():
                start = time.perf_counter()
                run(*case)
                seconds[side, *case].append(time.perf_counter() - start)
    median = {key: statistics.median(times) for key, times in seconds.items()}

    def whole(side: str) -> float:
        return median[side, 1, False]

    def superstep(side: str) -> float:
        return (median[side, ROUNDS, False] - median[side, 1, False]) / (ROUNDS - 1)

    def tool_call(side: str) -> float:
        return (median[side, ROUNDS, True] - median[side, ROUNDS, False]) / ROUNDS

    heading("Running, in one process, medians")
    table(
        ["one", "generated µs", "by hand µs", "ratio", "difference µs"],
        [
            [
                what,
                f"{(left := measure('generated')) * 1e6:.0f}",
                f"{(right := measure('by hand')) * 1e6:.0f}",
                f"{left / right:.2f}",
                f"{(left - right) * 1e6:.0f}",
            ]
            for what, measure in {
                "run of one superstep": whole,
                "superstep more": superstep,
                "tool call in a superstep": tool_call,
            }.items()
        ],
    )
    say(
        "\nThe tool is a function of the process: over a network, its time is the same"
        " on both sides."
    )


def messages() -> None:
    """Measure reading and printing ProtoJSON against a bare Pydantic model."""
    document = {
        "hits": [
            {
                "title": f"Title {i}",
                "url": f"https://library.example/{i}",
                "snippet": "What the page says about it. " * 3,
                "score": i + 0.5,
                "pageNumber": i + 1,
            }
            for i in range(10)
        ],
        "totalSize": "1000",
        "nextPageToken": "next",
    }
    generated = protojson.from_json(PageModel, document)
    assert protojson.to_json(generated) == document
    by_hand = handwritten.Page.model_validate(document)
    sides: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "reading": (
            lambda: protojson.from_json(PageModel, document),
            lambda: handwritten.Page.model_validate(document),
        ),
        "printing": (
            lambda: protojson.to_json(generated),
            lambda: by_hand.model_dump(mode="json", by_alias=True),
        ),
    }
    rows = []
    for what, functions in sides.items():
        best = [min(timeit.repeat(f, number=500, repeat=15)) / 500 for f in functions]
        rows.append(
            [what, *(f"{t * 1e6:.1f}" for t in best), f"{best[0] / best[1]:.2f}"]
        )
    heading("A page of ten results as ProtoJSON, best of 15")
    table(["", "generated µs", "bare Pydantic µs", "ratio"], rows)
    say("\nThe bare model takes what ProtoJSON refuses, and prints defaults.")


if __name__ == "__main__":
    imports()
    runs()
    messages()
