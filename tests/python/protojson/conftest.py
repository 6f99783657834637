"""The models of the `kinds` golden, and the SDK's classes of the same protos."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import symbol_database

REPOSITORY = Path(__file__).parents[3]
PROTOC = Path(sys.executable).with_name("protoc")

sys.path.insert(0, str(REPOSITORY / "golden/kinds/langgraph/kinds"))


@pytest.fixture(scope="session")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function from full names to the SDK's classes."""
    out = tmp_path_factory.mktemp("sdk")
    protos = sorted((REPOSITORY / "testdata/kinds").rglob("*.proto"))
    roots = [REPOSITORY / "testdata/kinds", REPOSITORY / "annotations"]
    includes = [f"-I{root}" for root in roots]
    annotations = sorted((REPOSITORY / "annotations").rglob("*.proto"))
    subprocess.run(
        [
            str(PROTOC),
            *includes,
            f"--python_out={out}",
            *map(str, protos + annotations),
        ],
        check=True,
    )
    sys.path.insert(0, str(out))
    for proto in protos:
        name = proto.relative_to(REPOSITORY / "testdata/kinds").with_suffix("")
        importlib.import_module(".".join(name.parts) + "_pb2")
    return symbol_database.Default().GetSymbol
