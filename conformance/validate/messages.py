"""Lists the messages of the cases: messages.py SDK_FOLDER OUTPUT."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path


def main() -> None:
    """Write the full names of the messages that stand in no other message."""
    sdk, output = Path(sys.argv[1]), Path(sys.argv[2])
    sys.path.insert(0, str(sdk))
    names = []
    for path in sorted((sdk / "buf/validate/conformance/cases").rglob("*_pb2.py")):
        name = ".".join(path.relative_to(sdk).with_suffix("").parts)
        module = importlib.import_module(name)
        names += [
            message.full_name
            for message in module.DESCRIPTOR.message_types_by_name.values()
        ]
    output.write_text(json.dumps(names))


if __name__ == "__main__":
    main()
