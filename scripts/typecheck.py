"""Type-checks the Python of this repository, generated code included.

The trees of the goldens are checked together with their starters, the example with
its implementation. A tree of the dotted layout is left out: type checkers do not see
modules with dots in their file names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "internal" / "gen" / "langgraph" / "support"
BENCH = ROOT / "bench"
EXAMPLE = ROOT / "examples" / "research"


def main() -> None:
    """Check everything; the exit status says whether all of it is right."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        checks = [
            mypy("scripts", [ROOT / "scripts"], [*(ROOT / "scripts").glob("*.py")]),
            mypy("benchmarks", [BENCH], [BENCH / "run.py", BENCH / "handwritten.py"]),
            mypy("support modules", [SUPPORT.parent], [SUPPORT]),
            mypy("golden trees and starters", *golden_trees(scratch / "golden")),
            mypy("example", *example(scratch / "example")),
        ]
    sys.exit(0 if all(checks) else 1)


def mypy(what: str, paths: Iterable[Path], files: Iterable[Path]) -> bool:
    """Check files that find each other below paths."""
    sys.stdout.write(f"{what}: ")
    sys.stdout.flush()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--explicit-package-bases", *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, paths))},
        check=False,
    )
    return done.returncode == 0


def golden_trees(scratch: Path) -> tuple[list[Path], list[Path]]:
    """Return the paths and packages of the goldens, each package once."""
    paths: dict[str, Path] = {}
    packages: list[Path] = []
    for manifest in sorted(ROOT.glob("golden/*/*/*/manifest.json")):
        tree = manifest.parent
        entries = [file["path"] for file in json.loads(manifest.read_bytes())["files"]]
        marker = next((e for e in entries if e.endswith("/state/generated.py")), None)
        if marker is None:
            continue
        package = marker.removesuffix("/state/generated.py")
        if package in paths:
            continue
        paths[package] = tree
        packages.append(tree / package)
        # By default, the human package is called as the agent.
        starters = scratch / tree.name
        human = starters / tree.name.replace("-", "_")
        human.mkdir(parents=True)
        for template in (tree / "templates").glob("*.py.tmpl"):
            shutil.copy(template, human / template.name.removesuffix(".tmpl"))
        paths[human.name] = starters
        packages.append(human)
    return list(paths.values()), packages


def example(scratch: Path) -> tuple[list[Path], list[Path]]:
    """Generate the example; return its paths and packages."""
    subprocess.run(
        ["buf", "generate", "--output", str(scratch)], cwd=EXAMPLE, check=True
    )
    (manifest,) = scratch.rglob("manifest.json")
    tree, human = manifest.parent, EXAMPLE / "research-agent"
    return [tree, human], [tree / "research_agent_generated", human / "research_agent"]


if __name__ == "__main__":
    main()
