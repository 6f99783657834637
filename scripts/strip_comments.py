"""Removes the comments of a file from a descriptor set: strip_comments.py SET FILE.

What no test looks at need not be stored.
"""

from __future__ import annotations

import sys
from pathlib import Path

from google.protobuf import descriptor_pb2  # type: ignore[import-untyped]


def main() -> None:
    """Rewrite the set if it has the file."""
    path, name = Path(sys.argv[1]), sys.argv[2]
    image = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    for file in image.file:
        if file.name == name:
            file.ClearField("source_code_info")
            path.write_bytes(image.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
