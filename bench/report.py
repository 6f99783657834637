"""Tables on standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def say(text: str = "") -> None:
    """Write a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def heading(text: str) -> None:
    """Write a heading."""
    say(f"\n## {text}\n")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a Markdown table."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("| " + " | ".join(cells) + " |")
