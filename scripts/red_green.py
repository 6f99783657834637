"""Proves that the generated tests are red, then green, and red for the right reason.

For every example this runs the generated tests with the starters as they are, with
the reference implementation, and with the reference implementation after each of
the faults that the example lists. Exactly the expected tests must fail, each with
its one sentence; a test may be skipped only if it names one that fails. Golden trees
without an example are run with their starters.

An example is a file `red_green.json`. Its paths are relative to the file:

    {
      "template": "buf.gen.yaml: write the tree with this, elsewhere (optional)",
      "generated": "the generated folder of the agent; below the output of template",
      "reference": "a folder that holds the human package, fully written",
      "faults": [
        {
          "name": "what is wrong",
          "change": [{"in": "impl/pkg/nodes_impl.py", "replace": "a", "by": "b"}],
          "red": {"test_nodes.py::test_x[y]": "the sentence"}
        }
      ]
    }

A change is to a file below `generated/` or `impl/` and is one of
`{"in": F, "replace": TEXT, "by": TEXT}` (the text must be there exactly once),
`{"append": TEXT, "to": F}`, `{"write": TEXT, "to": F}` and `{"delete": F}`.
With `"seal": true` the hashes of the generated tree are made right again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ("examples/*/red_green.json", "tests/red_green/*/red_green.json")
GOLDENS = "golden/*/*/*/manifest.json"
FOOTER = b"# sha256:"


@dataclass(frozen=True)
class Case:
    """One run of the generated tests and what it must give.

    Attributes:
        example: The name of the example.
        name: What is tested.
        generated: The generated folder.
        implementation: The folder that holds the human package; None for starters.
        red: The tests that must fail, and the sentence of each.
        changes: What is changed before the run.
        seal: Whether the hashes are made right after the changes.
    """

    example: str
    name: str
    generated: Path
    implementation: Path | None
    red: dict[str, str]
    changes: list[dict[str, str]] = field(default_factory=list)
    seal: bool = False


@dataclass(frozen=True)
class Outcome:
    """What the run of a case gave.

    Attributes:
        red: The tests that failed, and why.
        skipped: The tests that were skipped, and why.
        passed: How many tests passed.
        output: What pytest printed.
    """

    red: dict[str, str]
    skipped: dict[str, str]
    passed: int
    output: str


def main() -> int:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(
        description="Prove that the generated tests are red, then green."
    )
    parser.add_argument("examples", nargs="*", type=Path, help="red_green.json files")
    parser.add_argument("-k", default="", help="run the cases whose name holds this")
    parser.add_argument("-j", type=int, default=2, help="runs at the same time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="red-green-") as scratch:
        cases = [
            case
            for case in read_all(options.examples, Path(scratch))
            if options.k in f"{case.example}: {case.name}"
        ]
        if not cases:
            sys.stderr.write("error: there is nothing to run\n")
            return 1
        return report(cases, options.j)


def report(cases: list[Case], jobs: int) -> int:
    """Run cases and print a line each; return 1 if any differs."""
    width = max(len(f"{case.example}: {case.name}") for case in cases)
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for case, outcome in zip(cases, pool.map(run, cases), strict=True):
            problems = list(differences(case, outcome))
            failed += bool(problems)
            sys.stdout.write(
                f"{case.example}: {case.name}".ljust(width)
                + f"  {len(outcome.red):2} red {len(outcome.skipped):3} skipped "
                + f"{outcome.passed:3} passed  {'DIFFERS' if problems else 'ok'}\n"
            )
            for problem in problems:
                sys.stdout.write(textwrap.indent(problem, "    ") + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(cases)} cases, {failed} differ\n")
    return 1 if failed else 0


def read_all(files: list[Path], scratch: Path) -> Iterator[Case]:
    """Read the given examples, or all there are and the goldens besides."""
    if files:
        for i, file in enumerate(files):
            yield from read_cases(file, scratch / str(i))
        return
    seen = set()
    for i, file in enumerate(sorted(f for e in EXAMPLES for f in ROOT.glob(e))):
        for case in read_cases(file, scratch / str(i)):
            seen.add(case.generated)
            yield case
    for manifest in sorted(ROOT.glob(GOLDENS)):
        tree = manifest.parent
        if tree not in seen:
            yield starters(tree.relative_to(ROOT).as_posix(), tree)


def read_cases(path: Path, scratch: Path) -> Iterator[Case]:
    """Read the cases of an example; write its generated tree first, if it says so."""
    example = json.loads(path.read_text())
    here = path.resolve().parent
    base = here
    if template := example.get("template"):
        base = scratch
        command = ["buf", "generate", "--template", template, "--output", str(scratch)]
        # The pinned tools and the plugin go before any other.
        folders = [
            str(ROOT / "bin"),
            str(Path(sys.executable).parent),
            os.environ["PATH"],
        ]
        environ = {**os.environ, "PATH": os.pathsep.join(folders)}
        if subprocess.run(command, cwd=here, env=environ, check=False).returncode:
            raise SystemExit(f"error: {path}: buf generate failed")
    generated = (base / example["generated"]).resolve()
    reference = here / example["reference"]
    for folder in (generated, reference):
        if not folder.is_dir():
            raise SystemExit(f"error: {path}: there is no folder {folder}")
    yield starters(here.name, generated)
    yield Case(here.name, "reference", generated, reference, {})
    for fault in example["faults"]:
        yield Case(
            here.name,
            fault["name"],
            generated,
            reference,
            dict(fault["red"]),
            fault["change"],
            fault.get("seal", False),
        )


def starters(example: str, generated: Path) -> Case:
    """Return the case of the starters as they are, all of whose faults are known."""
    agent = json.loads((generated / "contract.json").read_bytes())["agent"]
    entry, folder = agent["entryNode"], implementation_package(generated)[-1]
    red = {
        "test_graph.py::test_edges_are_complete": (
            "Policy `register_edges` in policy_impl.py is still NotImplemented"
        ),
        f"test_nodes.py::test_node_is_implemented[{entry}]": (
            f"Node `{entry}` is still NotImplemented"
        ),
    }
    for tool in agent["requiredToolIds"]:
        red[f"test_tools.py::test_required_tool_is_registered[{tool}]"] = (
            f"Required tool `{tool}` not registered in {folder}/tools.json"
        )
    return Case(example, "starters", generated, None, red)


def implementation_package(generated: Path) -> list[str]:
    """Return the parts of the import package of the human code."""
    source = (generated / "tests/generated/conftest.py").read_text()
    match = re.search(r'^IMPL_PACKAGE = "(.*)"$', source, re.MULTILINE)
    assert match is not None
    return match[1].split(".")


def run(case: Case) -> Outcome:
    """Run the tests of a case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="red-green-") as folder:
        at = Path(folder)
        ignore = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info")
        shutil.copytree(case.generated, at / "generated", ignore=ignore)
        if case.implementation is None:
            copy_starters(at / "generated", at / "impl")
        else:
            shutil.copytree(case.implementation, at / "impl", ignore=ignore)
        for change in case.changes:
            apply(change, at)
        if case.seal:
            seal(at / "generated")
        return pytest(at)


def copy_starters(generated: Path, to: Path) -> None:
    """Copy the starters to where humans keep them."""
    folder = to.joinpath(*implementation_package(generated))
    folder.mkdir(parents=True)
    for template in generated.glob("templates/*.tmpl"):
        name = template.name.removesuffix(".tmpl")
        shutil.copy(template, (to if name == "pyproject.toml" else folder) / name)


def apply(change: dict[str, str], at: Path) -> None:
    """Make one change."""
    match change:
        case {"in": path, "replace": old, "by": new}:
            text = (at / path).read_text()
            if text.count(old) != 1:
                raise SystemExit(f"error: {path}: {old!r} is not there exactly once")
            (at / path).write_text(text.replace(old, new))
        case {"append": text, "to": path}:
            (at / path).write_text((at / path).read_text() + text)
        case {"write": text, "to": path}:
            (at / path).parent.mkdir(parents=True, exist_ok=True)
            (at / path).write_text(text)
        case {"delete": path}:
            (at / path).unlink()
        case _:
            raise SystemExit(f"error: unknown change {change}")


def seal(generated: Path) -> None:
    """Make the hashes of a generated tree right, as one who hides an edit would."""
    path = generated / "manifest.json"
    manifest = json.loads(path.read_bytes())
    for entry in manifest["files"]:
        file = generated / entry["path"]
        content = file.read_bytes()
        if file.suffix in (".py", ".toml"):
            content = content[: content.rindex(FOOTER)]
            digest = hashlib.sha256(content).hexdigest().encode()
            content += FOOTER + digest + b"\n"
            file.write_bytes(content)
        entry["sha256"] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(manifest, indent=2) + "\n")


def pytest(at: Path) -> Outcome:
    """Run the generated tests of a folder."""
    report = at / "report.xml"
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environ["PYTHONPATH"] = str(at / "impl")
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    process = subprocess.run(
        [*command, f"--junitxml={report}"],
        cwd=at / "generated",
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    red: dict[str, str] = {}
    skipped: dict[str, str] = {}
    passed = 0
    tests = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
    for test in tests:
        name = test_name(test)
        if (failure := first(test, "failure", "error")) is not None:
            red[name] = failure.removeprefix("Failed: ")
        elif (reason := first(test, "skipped")) is not None:
            skipped[name] = reason
        else:
            passed += 1
    return Outcome(red, skipped, passed, process.stdout)


def test_name(test: Any) -> str:
    """Return the name of a test as pytest takes it, without the folder."""
    module = test.get("classname", "").rpartition(".")[2]
    return f"{module}.py::{test.get('name')}"


def first(test: Any, *kinds: str) -> str | None:
    """Return the message of the first element of some kinds."""
    for kind in kinds:
        if (element := test.find(kind)) is not None:
            return str(element.get("message"))
    return None


def differences(case: Case, outcome: Outcome) -> Iterator[str]:
    """Describe how an outcome differs from what the case wants."""
    for name, sentence in outcome.red.items():
        if name not in case.red:
            yield f"{name} must not fail, but does:\n  {sentence}"
        elif sentence != case.red[name]:
            yield (
                f"{name} fails with another sentence:\n"
                f"  want {case.red[name]}\n  got  {sentence}"
            )
    for name in case.red.keys() - outcome.red.keys():
        yield f"{name} must fail, and does not"
    for name, reason in outcome.skipped.items():
        culprit = reason.rpartition(": see ")[2]
        if reason.startswith("got empty parameter set"):
            continue
        if not any(red.startswith(culprit) for red in outcome.red):
            yield f"{name} is skipped, but no test that fails is the reason: {reason}"
    if not outcome.passed:
        yield "no test passes:\n" + textwrap.indent(outcome.output, "  ")


if __name__ == "__main__":
    sys.exit(main())
