"""Running a program and measuring the whole process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Command = Sequence[str | Path]


@dataclass(frozen=True)
class Run:
    """One run of a process, or the median of several.

    Attributes:
        seconds: From the start to the end, as a clock on the wall shows it.
        cpu_seconds: What it used of the processors; other programs matter less.
        peak_mb: The most memory that it had at once, or that this process had when
            it started it: a child begins as a copy.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float


def run(command: Command, stdin: Path, stdout: Path) -> Run:
    """Run a command on a file; it must succeed."""
    with stdin.open("rb") as source, stdout.open("wb") as target:
        start = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdin=source, stdout=target)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, list(map(str, command)))
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def response_size(command: Command, stdin: Path) -> int:
    """Run a plugin and return the size of its response, which must be no error."""
    scratch = stdin.with_suffix(".response")
    run(command, stdin, scratch)
    try:
        # A response begins with its error, if it has one.
        with scratch.open("rb") as response:
            if response.read(1) == b"\x0a":
                raise ValueError(f"the plugin refuses: {response.read(2000)!r}")
        return scratch.stat().st_size
    finally:
        scratch.unlink()


def medians(commands: Mapping[str, Command], stdin: Path, times: int) -> dict[str, Run]:
    """Run commands on a file, in turns, so that all of them see the same noise.

    What they write is thrown away, so that no disk is measured.
    """
    turns = [
        {
            name: run(command, stdin, Path(os.devnull))
            for name, command in commands.items()
        }
        for _ in range(times)
    ]
    return {name: _median([turn[name] for turn in turns]) for name in commands}


def _median(measured: Sequence[Run]) -> Run:
    return Run(
        statistics.median(r.seconds for r in measured),
        statistics.median(r.cpu_seconds for r in measured),
        statistics.median(r.peak_mb for r in measured),
    )
