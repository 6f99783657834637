"""Names that are hard in Python: the models of the case `names`, and of `kinds`.

Every message goes through the models and through Google's runtime, with random
fields. `make corpora` does the same with thousands of published protos.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

ROOT = Path(__file__).parents[3]
PACKAGES = {"names": "names_generated", "kinds": "kinds_generated"}
WELL_KNOWN = Path(descriptor_pb2.__file__).parent


def load(name: str, path: Path) -> ModuleType:
    """Load a module from a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = load("corpora_check", ROOT / "scripts" / "corpora_check.py")


def pool_of(case: str) -> Any:
    """Return the descriptors of a case."""
    image = (ROOT / "testdata" / case / "image.binpb").read_bytes()
    files = {
        file.name: file
        for file in descriptor_pb2.FileDescriptorSet.FromString(image).file
    }
    pool = descriptor_pool.DescriptorPool()
    added: set[str] = set()

    def add(name: str) -> None:
        if name not in added:
            added.add(name)
            for imported in files[name].dependency:
                add(imported)
            pool.Add(files[name])

    for name in files:
        add(name)
    return pool


def messages(pool: Any, generated: ModuleType) -> Iterator[Any]:
    """Return the descriptors of the models of a package."""
    for model in generated.MODELS:
        yield pool.FindMessageTypeByName(model.__proto__)


@pytest.fixture(scope="module", params=PACKAGES)
def package(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Make the package of a case importable."""
    case = request.param
    path = str(ROOT / "golden" / case / "langgraph" / case)
    sys.path.insert(0, path)
    yield case, PACKAGES[case]
    sys.path.remove(path)


def test_every_message_survives_a_round_trip(package: tuple[str, str]) -> None:
    """JSON of the SDK is what the models read and print, and back."""
    case, name = package
    generated = importlib.import_module(f"{name}.state.generated")
    pool = pool_of(case)
    trip = CHECK.RoundTrip(name, pool)
    descriptors = list(messages(pool, generated))
    problems = [trip.check(d, seed) for d in descriptors for seed in range(5)]
    assert [problem for problem in problems if problem] == []
    assert len(problems) == 5 * len(generated.MODELS) > 0


def test_every_name_of_the_proto_is_there(package: tuple[str, str]) -> None:
    """No field and no value is lost, or takes the place of another."""
    case, name = package
    generated = importlib.import_module(f"{name}.state.generated")
    pb = importlib.import_module(f"{name}.support.pb")
    pool = pool_of(case)
    for descriptor, model in zip(
        messages(pool, generated), generated.MODELS, strict=True
    ):
        protos = {proto for proto, _ in pb.names_of(model).values()}
        extensions = {f"[{e.full_name}]" for e in pool.FindAllExtensions(descriptor)}
        assert protos == {field.name for field in descriptor.fields} | extensions
        oneofs = [o for o in descriptor.oneofs if not o.name.startswith("_")]
        assert len(pb.one_ofs(model)) >= len(oneofs)
        assert getattr(generated, model.__name__) is model
    for enum in generated.ENUMS:
        assert getattr(generated, enum.__name__) is enum
        for proto, member in pb.proto_members(enum).items():
            assert enum.parse(proto) is member
            assert enum(int(member)) is member


def test_classes_of_one_name() -> None:
    """Each is called by the rule of docs/names.md."""
    sys.path.insert(0, str(ROOT / "golden/names/langgraph/names"))
    generated = importlib.import_module("names_generated.state.generated")
    classes = {model.__proto__: model.__name__ for model in generated.MODELS}
    assert {n: c for n, c in classes.items() if n.endswith(("eport", "REPORT"))} == {
        "Report": "ReportModel__pb",
        "left.common.v1.Report": "ReportModel__left__common__v1",
        "names.v1.REPORT": "REPORTModel",
        "names.v1.Report": "ReportModel",
        "names.v1.report": "PbreportModel",
        "right.common.v1.Report": "ReportModel__right__common__v1",
    }
    assert classes["names.v1.Outer.Inner"] == "Outer_InnerModel"
    assert classes["names.v1.Outer_Inner"] == "Outer__InnerModel"
