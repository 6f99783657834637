"""Measures contracts that are made to be large: generating, importing, first JSON.

Prints the table of docs/corpora.md. Usage: python scripts/scale.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "bin" / "protoc-gen-ameide-agent"
PROTOC = ROOT / ".venv" / "bin" / "protoc"

AGENT = """syntax = "proto3";
package scale.v1;
import "ameide_core_proto/annotations/v1/agent_annotations.proto";
message ScaleState {
  option (ameide_core_proto.annotations.v1.msg_role) = {role: STATE};
  Root root = 1 [(ameide_core_proto.annotations.v1.state_field) = {
    checkpoint: true
    public_input: true
  }];
}
message RunRequest { ScaleState state = 1; }
service Agent {
  option (ameide_core_proto.annotations.v1.agent) = {
    agent_id: "scale"
    entry_node: "entry"
  };
  rpc Run(RunRequest) returns (RunRequest);
}
"""

MEASURE = """
import json, sys, time
start = time.perf_counter()
from scale_generated.state.generated import STATE, MODELS
from scale_generated.support import pb, protojson
imported = time.perf_counter()
root = pb.message_class("scale.v1.Root")
protojson.to_json(protojson.from_json(root, {}))
print(json.dumps([imported - start, time.perf_counter() - imported]))
"""


def message(name: str, *fields: str) -> str:
    """Return a message with fields of these types."""
    lines = [f"  {kind} f{i} = {i + 1};" for i, kind in enumerate(fields)]
    return "\n".join([f"message {name} {{", *lines, "}"])


def fields(count: int) -> str:
    """Return one message of many fields."""
    numbers = [n + 1 + (1000 if n >= 18_999 else 0) for n in range(count)]
    lines = [f"  string field_{n} = {n};" for n in numbers]
    return "\n".join(["message Root {", *lines, "}"])


def flat(count: int) -> str:
    """Return many messages in one."""
    parts = [message(f"M{i}", "string") for i in range(count)]
    return "\n".join([*parts, message("Root", *(f"M{i}" for i in range(count)))])


def chain(count: int) -> str:
    """Return messages, each inside the next."""
    parts = [message("M0", "string")]
    parts += [message(f"M{i}", f"M{i - 1}") for i in range(1, count)]
    return "\n".join([*parts, message("Root", f"M{count - 1}")])


def circle(count: int) -> str:
    """Return messages that hold each other in a circle."""
    parts = [message(f"M{i}", f"M{(i + 1) % count}") for i in range(count)]
    return "\n".join([*parts, message("Root", "M0")])


def values(count: int) -> str:
    """Return an enum of many values."""
    lines = [f"  VALUE_{i} = {i};" for i in range(count)]
    return "\n".join(["enum Large {", *lines, "}", message("Root", "Large")])


CASES: list[tuple[str, Callable[[int], str], int]] = [
    ("one message of 16,000 fields", fields, 16_000),
    ("2,000 messages", flat, 2000),
    ("1,600 messages, each inside the next", chain, 1600),
    ("a circle of 200 messages", circle, 200),
    ("an enum of 8,000 values", values, 8000),
]


def main() -> None:
    """Measure every case."""
    say("| contract | generate | import | first JSON |")
    say("|---|--:|--:|--:|")
    for name, make, count in CASES:
        with tempfile.TemporaryDirectory() as folder:
            seconds = measure(Path(folder), AGENT + make(count))
        say(f"| {name} | " + " | ".join(f"{s:.1f}" for s in seconds) + " |")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def measure(folder: Path, proto: str) -> list[float]:
    """Return the seconds for generating, importing and the first JSON."""
    (folder / "scale.proto").write_text(proto)
    start = time.perf_counter()
    subprocess.run(
        [
            str(PROTOC),
            f"-I{folder}",
            f"-I{ROOT / 'annotations'}",
            f"--plugin={PLUGIN}",
            f"--ameide-agent_out={folder}",
            "scale.proto",
        ],
        check=True,
    )
    generated = time.perf_counter() - start
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=folder / "scale",
        check=True,
        capture_output=True,
        text=True,
    )
    return [generated, *json.loads(done.stdout)]


if __name__ == "__main__":
    main()
