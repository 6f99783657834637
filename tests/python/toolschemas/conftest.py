"""The models and schemas of the `toolschemas` golden."""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]

sys.path.insert(0, str(REPOSITORY / "golden/toolschemas/langgraph/forms"))
