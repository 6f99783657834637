"""The program that protovalidate's conformance harness tests: the generated models.

A case is a message of the SDK. It is made a model field by field, and what Pydantic
finds wrong is the answer. Pydantic says the rule and where in the value; the harness
also wants to know where in the proto the rule stands, which is sought here.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path[:0] = os.environ["CONFORMANCE_PATH"].split(os.pathsep)

from bridge import Bridge  # noqa: E402
from buf.validate import validate_pb2 as validate  # noqa: E402
from buf.validate.conformance.harness import harness_pb2 as harness  # noqa: E402
from google.protobuf import symbol_database  # noqa: E402
from google.protobuf.descriptor import FieldDescriptor  # noqa: E402
from pydantic import ValidationError  # noqa: E402

PACKAGE = os.environ["CONFORMANCE_PACKAGE"]
REFUSED = json.loads(Path(os.environ["CONFORMANCE_REFUSED"]).read_text())

# What Pydantic calls the rules that it checks itself.
PYDANTIC = {
    "string_too_short": "min_len",
    "string_too_long": "max_len",
    "bytes_too_short": "min_len",
    "bytes_too_long": "max_len",
    "string_pattern_mismatch": "pattern",
    "greater_than": "gt",
    "greater_than_equal": "gte",
    "less_than": "lt",
    "less_than_equal": "lte",
    "finite_number": "finite",
    "missing": "required",
}
FORMS = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}


class Unchecked(Bridge):
    """Makes dicts, which the model of the whole message validates."""

    def to_model(self, message: Any) -> Any:
        """Convert a message within a message."""
        name = message.DESCRIPTOR.full_name
        if name.startswith("google.protobuf."):
            return super().to_model(message)
        return self.fields_of(self._pb.message_class(name), message)

    def _any_to_model(self, message: Any) -> Any:
        """Convert an Any; of a type that nobody knows, models have the name only."""
        try:
            return super()._any_to_model(message)
        except KeyError:
            return self._pb.Any(type_url=message.type_url)


class Testee:
    """Validates the messages of all cases."""

    def __init__(self) -> None:
        """Load the generated package."""
        importlib.import_module(f"{PACKAGE}.state.generated")
        self._pb = importlib.import_module(f"{PACKAGE}.support.pb")
        wire = importlib.import_module(f"{PACKAGE}.support.wire")
        self._bridge = Unchecked(self._pb, wire)

    def run(self, case: Any, result: Any) -> None:
        """Validate one case."""
        name = case.type_url.rpartition("/")[2]
        if name in REFUSED:
            result.compilation_error = REFUSED[name]
            return
        message = symbol_database.Default().GetSymbol(name)()
        message.ParseFromString(case.value)
        try:
            fields = self._bridge.to_model(message)
            if isinstance(fields, dict):
                self._pb.message_class(name)(**fields)
        except ValidationError as error:
            errors = [e for e in error.errors() if e["type"] != "model_type"]
            for item in errors:
                violation = result.validation_error.violations.add()
                self._describe(item, message.DESCRIPTOR, violation)
        except Exception as error:
            result.runtime_error = f"{type(error).__name__}: {error}"[:1000]
        else:
            result.success = True

    def _describe(self, error: Any, message: Any, violation: Any) -> None:
        where = Place(self._pb, message, error["loc"], violation.field)
        rule = where.rule_id(error)
        violation.rule_id = rule
        violation.message = error["msg"]
        if where.for_key:
            violation.for_key = True
        where.find_rule(rule, violation.rule)


class Place:
    """Where in a message an error is."""

    def __init__(self, pb: Any, message: Any, loc: tuple[Any, ...], path: Any) -> None:
        """Follow the location of an error, and write the path of it."""
        self.message = message
        self.field: FieldDescriptor | None = None
        self.oneof = False
        self.for_key = False
        # What the rules of an element stand in: `items`, `keys` or `values`.
        self.part = ""
        rest = list(loc)
        while rest:
            name = rest.pop(0)
            if name in self.message.oneofs_by_name:
                path.elements.add(field_name=name)
                self.oneof = True
                return
            self.field = _field_named(pb, self.message, name)
            element = path.elements.add()
            _describe_field(self.field, element)
            self.part = ""
            if _is_map(self.field) and rest:
                self._enter_map(rest, element)
            elif self.field.is_repeated and rest:
                element.index = rest.pop(0)
                self.part = "items"
            if rest:
                entry = self.field.message_type
                self.message = (
                    entry.fields_by_name["value"].message_type
                    if _is_map(self.field)
                    else entry
                )

    def _enter_map(self, rest: list[Any], element: Any) -> None:
        entry = self.field.message_type
        key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
        element.key_type, element.value_type = key.type, value.type
        _set_key(element, key, rest.pop(0))
        self.part = "values"
        if rest and rest[0] == "[key]":
            rest.pop(0)
            self.part, self.for_key = "keys", True

    def kind(self) -> str:
        """Return the name of the set of rules that is for the value."""
        field = self.field
        if _is_map(field) and self.part:
            field = field.message_type.fields_by_name[
                "key" if self.part == "keys" else "value"
            ]
        elif _is_map(field):
            return "map"
        elif field.is_repeated and not self.part:
            return "repeated"
        if field.message_type is not None:
            name = field.message_type.name
            return {
                "Any": "any",
                "Duration": "duration",
                "FieldMask": "field_mask",
                "Timestamp": "timestamp",
            }.get(name, name.removesuffix("Value").lower())
        return {
            kind: name.removeprefix("TYPE_").lower()
            for name, kind in vars(FieldDescriptor).items()
            if name.startswith("TYPE_")
        }[field.type]

    def rules(self) -> Any:
        """Return the rules of the value."""
        rules = self.field.GetOptions().Extensions[validate.field]
        if self.part == "items":
            return rules.repeated.items
        if self.part:
            return getattr(rules.map, self.part)
        return rules

    def rule_id(self, error: Any) -> str:
        """Return protovalidate's id of the rule."""
        kind = error["type"]
        if self.oneof or self.field is None or "." in kind and "number." not in kind:
            return str(kind)
        if kind.startswith("number."):
            return kind.replace("number", self.kind())
        if kind in ("too_short", "too_long"):
            unit = "pairs" if self.kind() == "map" else "items"
            return f"{self.kind()}.{'min' if kind == 'too_short' else 'max'}_{unit}"
        if kind not in PYDANTIC:
            return str(kind)
        name = PYDANTIC[kind]
        if name == "required":
            return name
        standard = getattr(self.rules(), self.kind())
        if name in ("min_len", "max_len") and standard.HasField("len"):
            name = "len"
        if kind in FORMS:
            set_ = [n for n in ("gt", "gte", "lt", "lte") if standard.HasField(n)]
            name = "_".join(set_)
        return f"{self.kind()}.{name}"

    def find_rule(self, rule: str, path: Any) -> None:
        """Write the path of a rule in the options."""
        if self.oneof or self.field is None:
            return
        outer = self.field.GetOptions().Extensions[validate.field]
        rules = self.rules()
        if self.part:
            steps = {"items": "repeated.items"}.get(self.part, f"map.{self.part}")
            _add_steps(outer, steps, path)
        if _find_expression(rules, rule, path):
            return
        if rule == "required":
            _add_steps(rules, rule, path)
            return
        kind = self.kind()
        standard = getattr(rules, kind, None)
        if standard is None:
            return
        for extension, _ in standard.ListFields():
            if extension.is_extension and _has_rule(extension, rule):
                _add_steps(rules, kind, path)
                element = path.elements.add()
                _describe_field(extension, element)
                element.field_name = f"[{extension.full_name}]"
                return
        name = rule.removeprefix(f"{kind}.").partition(".")[0]
        name = name.removesuffix("_empty")
        for candidate in (name, name.partition("_")[0]):
            if candidate in standard.DESCRIPTOR.fields_by_name:
                _add_steps(rules, f"{kind}.{candidate}", path)
                return


def _has_rule(extension: FieldDescriptor, rule: str) -> bool:
    predefined = extension.GetOptions().Extensions[validate.predefined]
    return any(cel.id == rule for cel in predefined.cel)


def _find_expression(rules: Any, rule: str, path: Any) -> bool:
    for name, ids in (
        ("cel", [cel.id for cel in rules.cel]),
        ("cel_expression", list(rules.cel_expression)),
    ):
        if rule in ids:
            _add_steps(rules, name, path)
            path.elements[-1].index = ids.index(rule)
            return True
    return False


def _add_steps(rules: Any, steps: str, path: Any) -> None:
    descriptor = rules.DESCRIPTOR
    for step in steps.split("."):
        field = descriptor.fields_by_name[step]
        _describe_field(field, path.elements.add())
        descriptor = field.message_type


def _describe_field(field: FieldDescriptor, element: Any) -> None:
    element.field_number = field.number
    element.field_name = f"[{field.full_name}]" if field.is_extension else field.name
    element.field_type = field.type


def _set_key(element: Any, key: FieldDescriptor, value: Any) -> None:
    if key.type == FieldDescriptor.TYPE_STRING:
        element.string_key = str(value)
    elif key.type == FieldDescriptor.TYPE_BOOL:
        element.bool_key = str(value) in ("True", "true")
    elif key.cpp_type in (
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
    ):
        element.uint_key = int(value)
    else:
        element.int_key = int(value)


def _field_named(pb: Any, message: Any, name: str) -> FieldDescriptor:
    cls = pb.message_class(message.full_name)
    proto = pb.names_of(cls)[name][0]
    if proto.startswith("["):
        return message.file.pool.FindExtensionByName(proto.strip("[]"))
    return message.fields_by_name[proto]


def _is_map(field: FieldDescriptor) -> bool:
    message = field.message_type
    return message is not None and message.GetOptions().map_entry


def sdk_modules() -> Iterator[str]:
    """Return the modules of the SDK with the messages of the cases."""
    for folder in os.environ["CONFORMANCE_PATH"].split(os.pathsep):
        for path in Path(folder).glob("buf/validate/conformance/cases/**/*_pb2.py"):
            yield ".".join(path.relative_to(folder).with_suffix("").parts)


def main() -> None:
    """Answer the one request of the harness."""
    for module in sdk_modules():
        importlib.import_module(module)
    testee = Testee()
    request = harness.TestConformanceRequest.FromString(sys.stdin.buffer.read())
    response = harness.TestConformanceResponse()
    for name, case in request.cases.items():
        testee.run(case, response.results[name])
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
