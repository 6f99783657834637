"""The harness under test: that of the golden of the `kinds` case."""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]

# The harness imports no human code, so the package is all there is.
sys.path.insert(0, str(REPOSITORY / "golden/kinds/langgraph/kinds"))
