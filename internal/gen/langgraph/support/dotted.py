"""Imports of modules whose file names hold a dot, such as `state.generated.py`.

Python maps a dot in a module's name to a folder. The dotted layout keeps the dot in
the file name instead: `<package>.state.generated` is `state.generated.py` in the
package's folder, and `<package>.state` is a namespace without a folder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

__all__ = ["install"]


class _DottedFinder(MetaPathFinder):
    """Finds the modules of one package."""

    def __init__(self, package: str, folders: Sequence[str]) -> None:
        self.package = package
        self.folders = [Path(folder) for folder in folders]

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of a module with a dot in its file name, or of its parent."""
        package, _, name = fullname.partition(f"{self.package}.")
        if package or not name:
            return None
        for folder in self.folders:
            if "." in name:
                file = folder / f"{name}.py"
                if file.is_file():
                    return spec_from_file_location(fullname, file)
            elif any(folder.glob(f"{name}.*.py")) and not (folder / name).is_dir():
                spec = ModuleSpec(fullname, None, is_package=True)
                spec.submodule_search_locations = []
                return spec
        return None


def install(package: str, folders: Sequence[str]) -> None:
    """Make the dotted modules of a package importable.

    Installing again, as a reload of the package does, replaces what was installed.

    Args:
        package: The `__name__` of the package.
        folders: The `__path__` of the package.
    """
    sys.meta_path[:] = [
        finder
        for finder in sys.meta_path
        if getattr(finder, "package", None) != package
        or type(finder).__name__ != _DottedFinder.__name__
    ]
    sys.meta_path.append(_DottedFinder(package, folders))
