"""The checks of a generated tree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.integrity import GeneratedTree

Write = Callable[[dict[str, str]], GeneratedTree]


def _with_footer(body: str) -> str:
    return body + "# sha256:" + hashlib.sha256(body.encode()).hexdigest() + "\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a whole tree: bodies by path."""

    def write(bodies: dict[str, str]) -> GeneratedTree:
        files = []
        for path, body in bodies.items():
            content = _with_footer(body) if path.endswith(".py") else body
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(content)
            digest = hashlib.sha256(content.encode()).hexdigest()
            files.append({"path": path, "sha256": digest})
        (tmp_path / "manifest.json").write_text(json.dumps({"files": files}))
        return GeneratedTree(tmp_path)

    return write


def _problems(tree: GeneratedTree) -> list[str]:
    return [
        *tree.missing_files(),
        *tree.edited_files(),
        *tree.foreign_files(),
        *tree.forbidden_imports("gen", "impl"),
    ]


def test_whole_tree_has_no_problems(write: Write, tmp_path: Path) -> None:
    """Neither do what tools leave behind and hidden files make any."""
    tree = write(
        {"gen/__init__.py": "x = 1\n", "README.md": "text", "gen/py.typed": ""}
    )
    for path in (
        "gen/__pycache__/a.py",
        "gen/a.pyc",
        ".mypy_cache/a.json",
        "gen/.DS_Store",
        "gen.egg-info/PKG-INFO",
        "build/lib/a.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("left behind")

    assert _problems(tree) == []


def test_missing_file(write: Write, tmp_path: Path) -> None:
    """A file of the manifest that is gone is named, and not called edited."""
    tree = write({"gen/a.py": "", "gen/b.py": ""})
    (tmp_path / "gen/b.py").unlink()

    assert _problems(tree) == [
        "Generated file `gen/b.py` is missing; run `buf generate` again"
    ]


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"files": [1]}', "{"])
def test_bad_manifest(write: Write, tmp_path: Path, content: str | None) -> None:
    """A manifest that cannot be read is one problem."""
    write({"gen/a.py": ""})
    if content is None:
        (tmp_path / "manifest.json").unlink()
    else:
        (tmp_path / "manifest.json").write_text(content)

    what = "is missing" if content is None else "was edited"
    assert _problems(GeneratedTree(tmp_path)) == [
        f"Generated file `manifest.json` {what}; run `buf generate` again"
    ]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("x = 1", "x = 2"),
        lambda text: text + "x = 2\n",
        lambda text: text + "\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: "",
    ],
)
@pytest.mark.parametrize("manifest_too", [False, True])
def test_edited_file(
    write: Write, tmp_path: Path, edit: Callable[[str], str], manifest_too: bool
) -> None:
    """An edit is seen by the manifest, and by the last line alone."""
    tree = write({"gen/a.py": "x = 1\n"})
    path = tmp_path / "gen/a.py"
    content = edit(path.read_text()).encode()
    path.write_bytes(content)
    if manifest_too:
        files = [{"path": "gen/a.py", "sha256": hashlib.sha256(content).hexdigest()}]
        (tmp_path / "manifest.json").write_text(json.dumps({"files": files}))
        tree = GeneratedTree(tmp_path)

    assert tree.edited_files() == [
        "Generated file `gen/a.py` was edited; run `buf generate` again"
    ]


def test_footer_alone_is_not_enough(write: Write, tmp_path: Path) -> None:
    """A new last line does not hide an edit from the manifest."""
    tree = write({"gen/a.py": "x = 1\n"})
    (tmp_path / "gen/a.py").write_text(_with_footer("x = 2\n"))

    assert len(tree.edited_files()) == 1


def test_foreign_file(write: Write, tmp_path: Path) -> None:
    """A file that the generator did not write is named."""
    tree = write({"gen/a.py": ""})
    (tmp_path / "gen/notes.txt").write_text("mine")

    assert _problems(tree) == [
        "File `gen/notes.txt` does not belong to the generated tree; move it out"
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "import os.path",
        "from __future__ import annotations",
        "from langgraph.graph import START",
        "import pydantic_core",
        "from impl import nodes_impl, policy_impl",
        "from impl.nodes_impl import entry",
        "import impl.policy_impl as policy",
        "import gen.state.generated",
        "from ..state import generated",
        "from . import b",
    ],
)
def test_allowed_import(write: Write, statement: str) -> None:
    """The standard library, the listed packages, itself, and two human modules."""
    tree = write({"gen/graph/a.py": statement + "\n"})

    assert tree.forbidden_imports("gen", "impl") == []


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("import numpy as np", "numpy"),
        ("import impl", "impl"),
        ("from impl import nodes_impl, prompts", "impl.prompts"),
        ("from impl import *", "impl.*"),
        ("from impl.nodes_impl_old import x", "impl.nodes_impl_old.x"),
        ("import generator", "generator"),
        ("from ....other import x", "other.x"),
        ("import pytest", "pytest"),
        ("def f():\n    import requests", "requests"),
        ("if False:\n    from requests import get", "requests.get"),
        ("__import__('requests')", "requests"),
        ("importlib.import_module('impl.prompts')", "impl.prompts"),
    ],
)
def test_forbidden_import(write: Write, statement: str, module: str) -> None:
    """Everything else is named with its file."""
    tree = write({"gen/graph/a.py": statement + "\n"})

    (problem,) = tree.forbidden_imports("gen", "impl")
    assert problem.startswith(f"Generated file `gen/graph/a.py` imports `{module}`")


def test_generated_tests_may_import_pytest(write: Write) -> None:
    """Tests need it, the package does not."""
    assert not write(
        {"tests/generated/test_a.py": "import pytest\n"}
    ).forbidden_imports("gen", "impl")


def test_dots_in_the_name_of_a_file_are_packages(write: Write) -> None:
    """The file `state.generated.py` is the module `state.generated`."""
    tree = write({"gen/state.generated.py": "from ..support import pb\n"})

    assert tree.forbidden_imports("gen", "impl") == []


def test_packages_within_each_other(write: Write) -> None:
    """Generated code may live within the human package, and the other way round."""
    tree = write({"a/gen/b.py": "from a import nodes_impl\nfrom a.gen import c\n"})
    assert tree.forbidden_imports("a.gen", "a") == []
    tree = write({"a/gen/b.py": "import a.prompts\n"})
    assert len(tree.forbidden_imports("a.gen", "a")) == 1
