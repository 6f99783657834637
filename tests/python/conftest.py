"""Makes the support code of generated packages importable as `support`."""

import importlib.util
import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[2] / "internal/gen/langgraph/support"


def _load_support() -> None:
    # The folder has no __init__.py: the emitter writes it.
    spec = importlib.util.spec_from_loader("support", loader=None, is_package=True)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__path__ = [str(SUPPORT)]
    sys.modules.setdefault("support", module)


_load_support()
