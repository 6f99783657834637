"""The requests that the benchmarks measure, made once and kept in a cache."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"
BUF = ROOT / ".venv" / "bin" / "buf"

GOOGLEAPIS = "google-proto-files@6.0.1"
"""The npm package that holds the protos of googleapis."""

# Keeps the request and answers that it understands all files.
_CAPTURE = """#!/bin/sh
cat >"$0.request"
printf '\\020\\003\\030\\346\\007\\040\\351\\007'
"""

_AGENT = """syntax = "proto3";
package bench.{name}.v1;
import "ameide_core_proto/annotations/v1/agent_annotations.proto";
// Service is agent {id}.
service Service {{
  option (ameide_core_proto.annotations.v1.agent) = {{
    agent_id: "{id}"
    entry_node: "plan"
{required}
  }};
  // Runs the agent.
  rpc Invoke(InvokeRequest) returns (InvokeResponse);
}}
// InvokeRequest is the input of a run.
message InvokeRequest {{
  // Id of the request.
  string request_id = 1;
  // The public input.
  State input = 2;
}}
// InvokeResponse is the output of a run.
message InvokeResponse {{
  // Id of the request.
  string request_id = 1;
  // The public output.
  State output = 2;
}}
// Source is where something was found.
message Source {{
  // Address.
  string url = 1;
  // Title.
  string title = 2;
  // How well it fits.
  double score = 3;
}}
// State is what the nodes read and write.
message State {{
  option (ameide_core_proto.annotations.v1.msg_role) = {{role: STATE}};
  // The question.
  string query = 1 [(ameide_core_proto.annotations.v1.state_field) = {{
    reducer: REPLACE
    checkpoint: true
    public_input: true
  }}];
  // What was found.
  repeated string notes = 2 [(ameide_core_proto.annotations.v1.state_field) = {{
    reducer: APPEND_LIST
    checkpoint: true
    public_output: true
  }}];
  // What is known.
  map<string, string> facts = 3 [(ameide_core_proto.annotations.v1.state_field) = {{
    reducer: MERGE_MAP
    checkpoint: true
    public_output: true
  }}];
  // Where it was found.
  repeated Source sources = 4 [(ameide_core_proto.annotations.v1.state_field) = {{
    reducer: APPEND_LIST
    checkpoint: true
  }}];
  // The round.
  uint32 round = 5 [(ameide_core_proto.annotations.v1.state_field) = {{
    reducer: REPLACE
    checkpoint: true
  }}];
}}
"""

_TOOLS = """syntax = "proto3";
package bench.{name}.tools.v1;
import "ameide_core_proto/annotations/v1/agent_annotations.proto";
// Tools are the tools of agent {id}.
service Tools {{
{methods}
}}
{messages}
"""

_METHOD = """  // Does thing {t}.
  rpc Do{t}(Do{t}Request) returns (Do{t}Response) {{
    option (ameide_core_proto.annotations.v1.tool) = {{
      tool_id: "{id}"
      idempotent: true
      default_timeout_ms: 5000
    }};
  }}"""

_MESSAGES = """// Do{t}Request asks for thing {t}.
message Do{t}Request {{
  option (ameide_core_proto.annotations.v1.msg_role) = {{role: TOOL_INPUT}};
  // What to look for.
  string query = 1;
  // How much of it.
  uint32 limit = 2;
}}
// Do{t}Response is thing {t}.
message Do{t}Response {{
  option (ameide_core_proto.annotations.v1.msg_role) = {{role: TOOL_OUTPUT}};
  // What was found.
  repeated string results = 1;
}}"""


def synthetic(agents: int, tools: int) -> Path:
    """Return the request of agents that have so many tools each."""

    def write(folder: Path) -> None:
        shutil.copytree(ROOT / "annotations", folder / "annotations")
        modules = [{"path": "annotations"}, {"path": "proto"}]
        (folder / "buf.yaml").write_text(
            json.dumps({"version": "v2", "modules": modules})
        )
        for a in range(agents):
            name, agent_id = f"a{a:04}", f"agent-{a:04}"
            tool_ids = [f"do_{a:04}_{t:02}" for t in range(tools)]
            required = "\n".join(f'    required_tool_ids: "{i}"' for i in tool_ids)
            package = folder / "proto" / "bench" / name
            (package / "v1").mkdir(parents=True)
            (package / "v1" / "agent.proto").write_text(
                _AGENT.format(name=name, id=agent_id, required=required)
            )
            (package / "tools" / "v1").mkdir(parents=True)
            (package / "tools" / "v1" / "tools.proto").write_text(
                _TOOLS.format(
                    name=name,
                    id=agent_id,
                    methods="\n".join(
                        _METHOD.format(t=t, id=i) for t, i in enumerate(tool_ids)
                    ),
                    messages="\n".join(_MESSAGES.format(t=t) for t in range(tools)),
                )
            )

    # The name of the cache entry covers everything that the request depends on.
    inputs = [Path(__file__), *sorted((ROOT / "annotations").rglob("*.proto"))]
    version = hashlib.sha256(b"".join(p.read_bytes() for p in inputs)).hexdigest()[:12]
    return _request(f"synthetic-{agents}x{tools}-{version}", write, "proto")


def googleapis() -> Path | None:
    """Return the request of all of googleapis; None without npm, its carrier."""

    def write(folder: Path) -> None:
        subprocess.run(
            ["npm", "pack", GOOGLEAPIS, "--silent"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (archive,) = folder.glob("*.tgz")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        archive.unlink()
        # buf has the well-known types built in.
        shutil.rmtree(folder / "package" / "google" / "protobuf", ignore_errors=True)
        modules = [{"path": "package"}]
        (folder / "buf.yaml").write_text(
            json.dumps({"version": "v2", "modules": modules})
        )

    name = "googleapis-" + GOOGLEAPIS.rpartition("@")[2]
    if not (CACHE / f"{name}.request").exists() and shutil.which("npm") is None:
        return None
    return _request(name, write, "package")


def _request(name: str, write: Callable[[Path], None], module: str) -> Path:
    """Return the request that buf makes of a workspace, from the cache if there."""
    request = CACHE / f"{name}.request"
    if request.exists():
        return request
    folder = CACHE / f"{name}.workspace"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write(folder)
    capture = folder / "capture.sh"
    capture.write_text(_CAPTURE)
    capture.chmod(0o755)
    template = {
        "version": "v2",
        "inputs": [{"directory": module}],
        "plugins": [{"local": str(capture), "out": "out", "strategy": "all"}],
    }
    (folder / "buf.gen.yaml").write_text(json.dumps(template))
    subprocess.run([str(BUF), "generate"], cwd=folder, check=True)
    (folder / "capture.sh.request").rename(request)
    shutil.rmtree(folder)
    return request
