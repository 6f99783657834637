"""Measures the generator and the code that it generates, and prints tables.

Usage: python bench/run.py [generator|code]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import corpora
from processes import Command, Run, medians, response_size
from report import heading, say, table

BIN = corpora.ROOT / "bin"
PLUGIN = BIN / "protoc-gen-ameide-agent"
EMPTY = corpora.CACHE / "emptyplugin"


def main() -> None:
    """Run the benchmarks that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=["generator", "code"])
    part = parser.parse_args().part
    corpora.CACHE.mkdir(parents=True, exist_ok=True)
    build(PLUGIN, "./cmd/protoc-gen-ameide-agent")
    build(EMPTY, "./bench/emptyplugin")
    say(f"{platform.platform()}, {os.cpu_count()} CPUs")
    if part in (None, "generator"):
        bench_generator()
    if part in (None, "code"):
        bench_code()


def build(binary: Path, package: str) -> None:
    """Build a Go program as a release is built."""
    subprocess.run(
        ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]
        + ["-o", str(binary), package],
        cwd=corpora.ROOT,
        env={**os.environ, "CGO_ENABLED": "0"},
        check=True,
    )


def bench_generator() -> None:
    """Measure the whole process of the plugin on requests of several sizes."""
    heading("The generator: whole process, medians")
    rows = []

    def measure(what: str, request: Path, times: int, budget: str) -> Run:
        commands: dict[str, Command] = {"plugin": [PLUGIN], "empty": [EMPTY]}
        # Before the others, so that the file cache is filled.
        written = response_size([PLUGIN], request)
        measured = medians(commands, request, times)
        plugin, empty = measured["plugin"], measured["empty"]
        rows.append(
            [
                what,
                f"{request.stat().st_size / 1e6:.1f}",
                f"{plugin.seconds * 1000:.0f}",
                f"{empty.seconds * 1000:.0f}",
                f"{plugin.seconds / empty.seconds:.2f}",
                f"{plugin.cpu_seconds * 1000:.0f}",
                f"{empty.cpu_seconds * 1000:.0f}",
                f"{plugin.peak_mb:.0f}",
                f"{empty.peak_mb:.0f}",
                f"{plugin.peak_mb / empty.peak_mb:.2f}",
                f"{written / 1e6:.1f}",
                budget,
            ]
        )
        return plugin

    everything = corpora.googleapis()
    if everything is not None:
        quiet = everything.with_name("googleapis-allow-empty.request")
        # allow_empty, because there is no agent; field 2 of a request, and the last
        # of several values counts.
        parameter = b"allow_empty=true"
        shutil.copyfile(everything, quiet)
        with quiet.open("ab") as file:
            file.write(bytes([0x12, len(parameter)]) + parameter)
        measure("googleapis, no annotations", quiet, 5, "3000 ms, 1100 MB")
        quiet.unlink()
    measure("10 agents, 50 tools", corpora.synthetic(10, 5), 21, "50 ms")
    half = measure("500 agents, 20 tools each", corpora.synthetic(500, 20), 5, "")
    full = measure("1000 agents, 20 tools each", corpora.synthetic(1000, 20), 5, "2 s")
    table(
        ["request", "MB", "wall ms", "empty", "ratio", "CPU ms", "empty"]
        + ["peak MB", "empty", "ratio", "response MB", "budget"],
        rows,
    )
    ratio = full.cpu_seconds / half.cpu_seconds
    say(
        "\n`empty` is a plugin on protoplugin that does nothing. 1000 agents take "
        f"{ratio:.2f} times the CPU of 500 (linear: 2)."
    )
    if everything is None:
        say("googleapis was not measured: its protos come through npm.")


def bench_code() -> None:
    """Measure the generated code against an agent that is written by hand."""
    heading("The generated code against a hand-written agent")
    here = Path(__file__).parent
    out = corpora.CACHE / "agent"
    template = {
        "version": "v2",
        "clean": True,
        "plugins": [{"local": str(PLUGIN), "out": str(out), "strategy": "all"}],
    }
    workspace = {
        "version": "v2",
        "modules": [{"path": "annotations"}, {"path": "bench/proto"}],
    }
    subprocess.run(
        [str(corpora.BUF), "generate", "bench/proto"]
        + ["--template", json.dumps(template), "--config", json.dumps(workspace)],
        cwd=corpora.ROOT,
        check=True,
    )
    paths = [out / "bench-agent", here / "agent", here]
    subprocess.run(
        [sys.executable, str(here / "code.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        check=True,
    )


if __name__ == "__main__":
    main()
