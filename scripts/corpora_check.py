"""Imports generated models and compares them with Google's Python runtime.

Runs in a process of its own for each batch of scripts/corpora.py: standard input
says what to do, standard output gives a JSON object a package.
"""

from __future__ import annotations

import importlib
import json
import math
import random
import struct
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
)
from google.protobuf.descriptor import FieldDescriptor  # type: ignore[import-untyped]

INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
MAX_DEPTH = 3


def main() -> None:
    """Check every package that standard input names."""
    job = json.load(sys.stdin)
    out = Path(job["out"])
    sys.path.insert(0, str(out))
    for work in job["work"]:
        answer = check(out, work, job["samples"])
        sys.stdout.write(json.dumps({"package": work["package"], **answer}) + "\n")
        sys.stdout.flush()


def check(out: Path, work: dict[str, Any], samples: int) -> dict[str, Any]:
    """Import the models of a package and send messages through them."""
    package = work["package"]
    failures: list[str] = []
    trips = 0
    started = time.monotonic()
    try:
        importlib.import_module(f"{package}.support.state")
        started = time.monotonic()
        importlib.import_module(f"{package}.state.generated")
        imported = True
    except Exception:
        imported = False
        failures.append("import: " + traceback.format_exc().strip()[-600:])
    seconds = time.monotonic() - started
    if imported:
        files = descriptor_pb2.FileDescriptorSet.FromString(
            (out / f"{package}.binpb").read_bytes()
        )
        pool = descriptor_pool.DescriptorPool()
        try:
            for file in files.file:
                pool.Add(file)
        except TypeError as error:
            # The SDK takes less than protoc does.
            failures.append(f"the SDK refuses the file: {error}")
            work["messages"] = []
        trip = RoundTrip(package, pool)
        for name in work["messages"]:
            descriptors = list(pool.FindFileByName(name).message_types_by_name.values())
            while descriptors:
                descriptor = descriptors.pop()
                if descriptor.GetOptions().map_entry:
                    continue
                descriptors += descriptor.nested_types
                for seed in range(samples):
                    problem = trip.check(descriptor, seed)
                    trips += problem == ""
                    if problem.strip("-"):
                        failures.append(problem)
    return {
        "imported": imported,
        "seconds": seconds,
        "round_trips": trips,
        "failures": failures,
    }


class RoundTrip:
    """Sends random messages through the models of a package."""

    def __init__(self, package: str, pool: Any) -> None:
        """Use the support of a package, and the descriptors of a pool."""
        self._pb = importlib.import_module(f"{package}.support.pb")
        self._protojson = importlib.import_module(f"{package}.support.protojson")
        self._pool = pool
        self._random = random.Random()

    def check(self, descriptor: Any, seed: int) -> str:
        """Return what is wrong, or nothing."""
        name = descriptor.full_name
        cls = self._pb.message_class(name)
        if cls is None:
            return f"{name}: no model" if not well_known(name) else "-"
        self._random.seed(f"{name} {seed}")
        try:
            message = self.message(descriptor, 0)
        except RecursionError:
            return "-"  # A required field holds its own type: there is no such message.
        try:
            wanted = json_format.MessageToDict(message, descriptor_pool=self._pool)
        except Exception as error:
            return f"{name}: the SDK cannot print it: {error}"
        try:
            model = self._protojson.from_json(cls, wanted)
            printed = self._protojson.to_json(model)
            if printed != wanted:
                return f"{name}: {difference(wanted, printed)}"
            again = message_factory.GetMessageClass(descriptor)()
            json_format.ParseDict(printed, again, descriptor_pool=self._pool)
            if again != message:
                return f"{name}: the SDK reads something else"
        except Exception as error:
            return f"{name}: {type(error).__name__}: {str(error)[:300]}"
        return ""

    def message(self, descriptor: Any, depth: int) -> Any:
        """Make a message with random fields."""
        made = message_factory.GetMessageClass(descriptor)()
        if special(descriptor, made, self._random):
            return made
        chosen: dict[str, list[Any]] = {}
        for field in descriptor.fields:
            if field.is_required:
                self.fill(made, field, depth)
            elif field.containing_oneof:
                chosen.setdefault(field.containing_oneof.name, []).append(field)
            elif self._random.random() < (0.8 if depth == 0 else 0.4):
                self.fill(made, field, depth)
        for members in chosen.values():
            if self._random.random() < 0.8:
                self.fill(made, self._random.choice(members), depth)
        if depth == 0:
            for extension in self._pool.FindAllExtensions(descriptor):
                if self._random.random() < 0.3:
                    self.fill(made, extension, depth)
        return made

    def fill(self, made: Any, field: Any, depth: int) -> None:
        """Set a field to something."""
        nested = field.message_type
        is_map = nested is not None and nested.GetOptions().map_entry
        if nested is not None and not is_map and depth >= MAX_DEPTH:
            if not field.is_required:
                return
        if field.is_extension:
            if field.is_repeated:
                values = made.Extensions[field]
            elif nested is not None:
                made.Extensions[field].CopyFrom(self.message(nested, depth + 1))
                return
            else:
                made.Extensions[field] = self.scalar(field)
                return
        elif field.is_repeated:
            values = getattr(made, field.name)
        elif nested is not None:
            getattr(made, field.name).CopyFrom(self.message(nested, depth + 1))
            return
        else:
            setattr(made, field.name, self.scalar(field))
            return
        for _ in range(self._random.randint(0, 2)):
            if is_map:
                value = nested.fields_by_name["value"]
                key = self.scalar(nested.fields_by_name["key"])
                if value.message_type is None:
                    values[key] = self.scalar(value)
                elif depth < MAX_DEPTH:
                    values[key].CopyFrom(self.message(value.message_type, depth + 1))
            elif nested is not None:
                values.add().CopyFrom(self.message(nested, depth + 1))
            else:
                values.append(self.scalar(field))

    def scalar(self, field: Any) -> Any:
        """Return a random value for a scalar field."""
        kind, pick = field.cpp_type, self._random
        if kind in INTEGERS:
            low, high = INTEGERS[kind]
            return pick.choice([low, high, 0, 1, pick.randint(low, high)])
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return pick.random() < 0.5
        if kind == FieldDescriptor.CPPTYPE_DOUBLE:
            return pick.choice([0.0, -1.5, math.inf, pick.uniform(-1e9, 1e9), 1e300])
        if kind == FieldDescriptor.CPPTYPE_FLOAT:
            value = pick.choice([0.0, -1.5, -math.inf, pick.uniform(-1e6, 1e6)])
            (single,) = struct.unpack("f", struct.pack("f", value))
            return single
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return pick.choice(field.enum_type.values).number
        if field.type == FieldDescriptor.TYPE_BYTES:
            return pick.randbytes(pick.randint(0, 5))
        return pick.choice(["", "a", "\u00e9\U0001f600", "line\nbreak", "\\\"'{}"])


def well_known(name: str) -> bool:
    """Tell whether a message has no model, because support has its type."""
    return name.startswith("google.protobuf.")


def special(descriptor: Any, made: Any, pick: random.Random) -> bool:
    """Fill a message whose JSON form has rules that random fields would break."""
    name = descriptor.full_name
    if name == "google.protobuf.Timestamp":
        made.seconds, made.nanos = pick.randint(-1000, 2**31), pick.randrange(10**9)
    elif name == "google.protobuf.Duration":
        made.seconds, made.nanos = pick.randint(0, 10**6), pick.randrange(10**9)
    elif name == "google.protobuf.FieldMask":
        made.paths.extend(pick.choice([[], ["a"], ["a_b.c", "d"]]))
    elif name == "google.protobuf.Struct":
        made.update({"a": None, "b": [1.5, "x", {"c": True}]})
    elif name == "google.protobuf.ListValue":
        made.extend([None, 1.5, "x"])
    elif name == "google.protobuf.Value":
        match pick.randrange(4):
            case 0:
                made.null_value = 0
            case 1:
                made.number_value = 2.5
            case 2:
                made.string_value = "x"
            case _:
                made.struct_value.update({"a": [False]})
    elif name == "ameide_core_proto.agent.v1.ChatMessage":
        # LangChain's messages, which not every random message can become.
        made.id, made.role, made.content = "m", 2, "hello"
    elif name == "google.protobuf.Any":
        pass
    elif descriptor.GetOptions().message_set_wire_format:
        pass
    else:
        return False
    return True


def difference(wanted: Any, printed: Any, path: str = "") -> str:
    """Describe the first difference of two JSON values."""
    if isinstance(wanted, dict) and isinstance(printed, dict):
        for key in [*wanted, *printed]:
            if key not in wanted or key not in printed or wanted[key] != printed[key]:
                inner = difference(
                    wanted.get(key, "nothing"), printed.get(key, "nothing"), key
                )
                return f"{path}.{inner}"
    if isinstance(wanted, list) and isinstance(printed, list):
        for i, (one, other) in enumerate(zip(wanted, printed, strict=False)):
            if one != other:
                return f"{path}[{i}]{difference(one, other)}"
    return f"{path}: want {str(wanted)[:120]}, got {str(printed)[:120]}"


if __name__ == "__main__":
    main()
