"""Runs protovalidate's conformance suite against generated models.

Usage: python conformance/validate/run.py [--suite REGEX] [--case REGEX] [--verbose]

Prints the score. Fails when a test fails that known_failures.yaml does not list, or
when one that it lists passes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "conformance" / "validate"
CACHE = ROOT / ".cache" / "conformance-validate"
PLUGIN = ROOT / "bin" / "protoc-gen-ameide-agent"
PROTOC = ROOT / ".venv" / "bin" / "protoc"
HARNESS = "github.com/bufbuild/protovalidate/tools/protovalidate-conformance"
# Has protos and no Go package, so go.mod cannot hold it: it is pinned here.
PROTOS = "github.com/bufbuild/protovalidate@v1.2.2"
PROTOS_SUM = "h1:2H/9/Kr97etSRqW3IJjTTb09z+zutkK2GDhDRbOnqr4="
PACKAGE = "validate_cases_generated"

AGENT = """syntax = "proto3";

package conformance.validate;

import "ameide_core_proto/annotations/v1/agent_annotations.proto";
{imports}

message State {{
  option (ameide_core_proto.annotations.v1.msg_role) = {{role: STATE}};
  string query = 1 [(ameide_core_proto.annotations.v1.state_field) = {{
    checkpoint: true
    public_input: true
  }}];
}}

message Request {{
  State state = 1;
{fields}
}}

service Agent {{
  option (ameide_core_proto.annotations.v1.agent) = {{
    agent_id: "validate-cases"
    entry_node: "entry"
  }};
  rpc Run(Request) returns (State);
}}
"""


def main() -> int:
    """Prepare what is needed and run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", help="run the suites that match")
    parser.add_argument("--case", help="run the cases that match")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    protos = protovalidate()
    includes = [
        protos / "proto" / "protovalidate",
        protos / "proto" / "protovalidate-testing",
    ]
    fresh(CACHE)
    messages = sdk(includes)
    refused = generate(includes, messages)
    command = [str(harness()), "--timeout", "300s"]
    command += ["--expected_failures", str(HERE / "known_failures.yaml")]
    if options.suite:
        command += ["--suite", options.suite]
    if options.case:
        command += ["--case", options.case]
    if options.verbose:
        command += ["--verbose"]
    environ = {
        **os.environ,
        "CONFORMANCE_PATH": os.pathsep.join(
            [str(ROOT / "conformance"), str(messages), str(CACHE / "validate-cases")]
        ),
        "CONFORMANCE_PACKAGE": PACKAGE,
        "CONFORMANCE_REFUSED": str(refused),
    }
    run = subprocess.run(
        [*command, sys.executable, str(HERE / "testee.py")],
        env=environ,
        capture_output=True,
        text=True,
    )
    log = run.stdout + run.stderr
    (CACHE / "log.txt").write_text(log)
    say(log if options.verbose or len(log) < 4000 else log[:4000] + "\n...")
    score = re.findall(
        r"\(failed: (\d+), skipped: (\d+), passed: (\d+), total: (\d+)\)\s*$", log
    )
    if score:
        failed, known, passed, total = score[-1]
        say(f"{passed} of {total} passed, {failed} failed, {known} known failures")
    return run.returncode


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")


def protovalidate() -> Path:
    """Download the Go module with protovalidate's protos and return its folder."""
    listed = subprocess.run(
        ["go", "mod", "download", "-json", PROTOS],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(listed.stdout)
    if found["Sum"] != PROTOS_SUM:
        sys.exit(f"{PROTOS} has the checksum {found['Sum']}")
    return Path(found["Dir"])


def harness() -> Path:
    """Build the harness."""
    binary = CACHE / "protovalidate-conformance"
    subprocess.run(["go", "build", "-o", str(binary), HARNESS], cwd=HERE, check=True)
    return binary


def fresh(folder: Path) -> Path:
    """Return an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def cases(includes: list[Path]) -> list[str]:
    """Return the names of the files with the messages of the cases."""
    root = includes[1]
    folder = root / "buf" / "validate" / "conformance" / "cases"
    return sorted(str(p.relative_to(root)) for p in folder.rglob("*.proto"))


def protoc(includes: list[Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run protoc."""
    return subprocess.run(
        [str(PROTOC), *(f"-I{include}" for include in includes), *arguments],
        capture_output=True,
        text=True,
    )


def sdk(includes: list[Path]) -> Path:
    """Generate the SDK's classes and return their folder."""
    out = fresh(CACHE / "sdk")
    harness_protos = "buf/validate/conformance/harness/harness.proto"
    done = protoc(
        includes,
        f"--python_out={out}",
        "buf/validate/validate.proto",
        harness_protos,
        *cases(includes),
    )
    if done.returncode:
        sys.exit(done.stderr)
    return out


def generate(includes: list[Path], messages: Path) -> Path:
    """Generate the models and return the file that says which are refused, and why."""
    names = CACHE / "messages.json"
    lister = [sys.executable, str(HERE / "messages.py"), str(messages), str(names)]
    subprocess.run(lister, check=True)
    left = json.loads(names.read_text())
    refused: dict[str, str] = {}
    proto = CACHE / "agent.proto"
    for _ in range(40):
        lines = [f"  {name} f{i} = {i + 2};" for i, name in enumerate(left)]
        imports = [f'import "{name}";' for name in cases(includes)]
        proto.write_text(
            AGENT.format(imports="\n".join(imports), fields="\n".join(lines))
        )
        done = protoc(
            [CACHE, ROOT / "annotations", *includes],
            f"--plugin={PLUGIN}",
            f"--ameide-agent_out={CACHE}",
            "agent.proto",
        )
        if not done.returncode:
            path = CACHE / "refused.json"
            path.write_text(json.dumps(refused, indent=2))
            return path
        found = by_message(done.stderr, left)
        if not found:
            sys.exit(done.stderr)
        refused |= found
        left = [name for name in left if name not in found]
    sys.exit("the plugin refuses too much")


def by_message(errors: str, names: list[str]) -> dict[str, str]:
    """Return what the plugin says about messages, by their full names."""
    found: dict[str, str] = {}
    for line in errors.splitlines():
        if not re.search(r"error\[AG08\d", line):
            continue
        for name in re.findall(r"`([\w.]+)`", line):
            owner = max(
                (n for n in names if f"{name}.".startswith(f"{n}.")), default=""
            )
            if owner:
                found[owner] = line
                break
    return found


if __name__ == "__main__":
    sys.exit(main())
