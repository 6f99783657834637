"""Whether a generated tree is what the generator wrote, and imports what it may.

This module imports the standard library only, so that it also works on a tree that
is broken.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["ALLOWED_PACKAGES", "HUMAN_MODULES", "GeneratedTree"]

ALLOWED_PACKAGES = frozenset(
    {
        "aiosqlite",
        "celpy",
        "httpx2",
        "langchain",
        "langchain_core",
        "langgraph",
        "lark",
        "pydantic",
        "pydantic_core",
        "tenacity",
        "typing_extensions",
    }
)
"""The packages beside the standard library that generated code may import."""

HUMAN_MODULES = ("nodes_impl", "policy_impl")
"""The modules of human code that generated code may import."""

_MANIFEST = "manifest.json"
_FOOTER = b"# sha256:"
_AGAIN = "run `buf generate` again"


class GeneratedTree:
    """The folder of one agent, as `buf generate` wrote it.

    Its methods return what is wrong, one sentence a problem.

    Attributes:
        root: The folder, which holds `manifest.json`.
    """

    def __init__(self, root: Path) -> None:
        """Read the manifest, if there is one that can be read."""
        self.root = root
        self._hashes = _read_manifest(root / _MANIFEST)

    def missing_files(self) -> list[str]:
        """Find the files that the manifest lists and that are not there."""
        if not (self.root / _MANIFEST).is_file():
            return [f"Generated file `{_MANIFEST}` is missing; {_AGAIN}"]
        return [
            f"Generated file `{path}` is missing; {_AGAIN}"
            for path in sorted(self._hashes or ())
            if not (self.root / path).is_file()
        ]

    def edited_files(self) -> list[str]:
        """Find the files whose content is not that of their hashes."""
        problems = []
        if self._hashes is None and (self.root / _MANIFEST).is_file():
            problems.append(f"Generated file `{_MANIFEST}` was edited; {_AGAIN}")
        for path, digest in sorted((self._hashes or {}).items()):
            if not (self.root / path).is_file():
                continue
            content = (self.root / path).read_bytes()
            if hashlib.sha256(content).hexdigest() != digest or (
                path.endswith((".py", ".toml")) and not _keeps_footer(content)
            ):
                problems.append(f"Generated file `{path}` was edited; {_AGAIN}")
        return problems

    def foreign_files(self) -> list[str]:
        """Find the files that the manifest does not list.

        Hidden files and what Python's tools leave behind do not count.
        """
        if self._hashes is None:
            return []
        return [
            f"File `{path}` does not belong to the generated tree; move it out"
            for path in sorted(_files(self.root))
            if path != _MANIFEST and path not in self._hashes
        ]

    def forbidden_imports(self, package: str, implementation: str) -> list[str]:
        """Find the imports that generated code may not make.

        It may import the standard library, `ALLOWED_PACKAGES`, its own package and,
        of human code, `HUMAN_MODULES`; its tests may import pytest as well.

        Args:
            package: The import package of the generated code.
            implementation: The import package of human code.
        """
        problems = []
        for path in sorted(_files(self.root)):
            if not path.endswith(".py"):
                continue
            if self._hashes is not None and path not in self._hashes:
                continue
            is_test = path.startswith("tests/")
            allowed = ALLOWED_PACKAGES | ({"pytest"} if is_test else set())
            modules = _imports((self.root / path).read_bytes(), path)
            problems += [
                f"Generated file `{path}` imports `{module}`; of human code it may "
                f"import only {' and '.join(HUMAN_MODULES)}"
                if _is_in(module, implementation)
                else f"Generated file `{path}` imports `{module}`, which is not on "
                "the list of what generated code may import"
                for module in dict.fromkeys(modules)
                if not _is_allowed(module, package, implementation, allowed)
            ]
        return problems


def _read_manifest(path: Path) -> dict[str, str] | None:
    """Return the hashes of a manifest by path, None if it is none."""
    try:
        manifest = json.loads(path.read_bytes())
        return {str(f["path"]): str(f["sha256"]) for f in manifest["files"]}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _keeps_footer(content: bytes) -> bool:
    """Tell whether the last line is the hash of all lines before it."""
    start = content.rfind(_FOOTER)
    digest = hashlib.sha256(content[:start]).hexdigest().encode()
    return content[start:] == _FOOTER + digest + b"\n"


def _files(root: Path) -> Iterator[str]:
    """Yield the files of a tree that count, as paths with slashes."""
    for folder, folders, names in os.walk(root):
        at = Path(folder).relative_to(root)
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name != "__pycache__"
            and not name.endswith(".egg-info")
            # What `pip install` and `python -m build` make.
            and not (folder == str(root) and name in ("build", "dist"))
        ]
        for name in names:
            if not name.startswith(".") and not name.endswith((".pyc", ".pyo")):
                yield (at / name).as_posix()


def _imports(source: bytes, path: str) -> Iterator[str]:
    """Yield the modules that a file imports, also those named in a call."""
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError):
        return
    # The packages around the module, outermost first: dots separate them too.
    packages = path.removesuffix(".py").replace(".", "/").split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                around = packages[: max(0, len(packages) - node.level + 1)]
                base = ".".join([*around, *([base] if base else [])]) or "."
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            module = getattr(node.args[0], "value", None)
            if name in ("__import__", "import_module") and isinstance(module, str):
                yield module


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _is_allowed(
    module: str, package: str, implementation: str, allowed: frozenset[str]
) -> bool:
    if _is_in(module, package):
        return True
    if _is_in(module, implementation):
        return any(_is_in(module, f"{implementation}.{name}") for name in HUMAN_MODULES)
    top = module.partition(".")[0]
    return top in allowed or top in sys.stdlib_module_names
