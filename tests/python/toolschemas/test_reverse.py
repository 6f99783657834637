"""Random requests, into the form of each provider and back.

A request is made from the neutral schema, which is that of ProtoJSON. It is put into
the form that a provider's schema asks for, must be valid there, and must come back
from the decoder as it was.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from forms_generated.support import arguments, protojson
from forms_generated.support.schemas import Profile
from forms_generated.tools.generated import registry
from jsonschema import Draft202012Validator

ADAPTERS = registry.ToolRegistry.adapters
SAMPLES = 150
TEXTS = ["", "x", "null", "1", "[1]", '{"a": 1}', "ä\n", "true"]
JSON = [None, True, 1.5, "x", "1", [], [None, {"a": "b"}], {}, {"k": [1]}]
PATTERNS = {
    "^-?[0-9]+$": ["0", "-9223372036854775808", "7"],
    "^[0-9]+$": ["0", "18446744073709551615"],
    r"^-?[0-9]+(\.[0-9]{1,9})?s$": ["0s", "1.500s", "-3s"],
}
SPECIAL: dict[str, list[Any]] = {
    "mask": ["", "a", "a,b.cD"],
    "any": [
        {"@type": "type.googleapis.com/google.protobuf.Empty"},
        {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "x"},
    ],
    "bytesValue": ["", "/w=="],
    "data": ["", "AQID"],
}


class Maker:
    """Makes random documents of a schema of ProtoJSON."""

    def __init__(self, schema: dict[str, Any], seed: int) -> None:
        """Begin with a seed."""
        self._root = schema
        self._random = random.Random(seed)

    def make(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        """Return a document."""
        pick = self._random
        if name in SPECIAL:
            return pick.choice(SPECIAL[name])
        if "$ref" in schema:
            schema = self._root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        if "enum" in schema:
            return pick.choice(schema["enum"])
        match schema["type"]:
            case "null":
                return None
            case "boolean":
                return pick.choice([True, False])
            case "integer":
                return pick.randint(schema["minimum"], schema["maximum"])
            case "number":
                return pick.choice([0, -1.5, 1e10])
            case "string" if "pattern" in schema:
                return pick.choice(PATTERNS[schema["pattern"]])
            case "string" if schema.get("format") == "date-time":
                return "2024-05-01T12:00:00.5Z"
            case "string":
                return pick.choice(TEXTS)
            case "array":
                count = pick.randrange(3) if depth < 4 else 0
                return [self.make(schema["items"], "", depth + 1) for _ in range(count)]
            case "object":
                return self._object(schema, depth)
            case _:
                return pick.choice(JSON)

    def _object(self, schema: Any, depth: int) -> Any:
        if "properties" not in schema:
            if not isinstance(schema.get("additionalProperties"), dict):
                return self._random.choice([{}, {"a": None}, {"b": [1, {"c": "d"}]}])
            names = schema.get("propertyNames", {})
            keys = names.get("enum") or PATTERNS.get(names.get("pattern", ""), TEXTS)
            chosen = self._random.sample(keys, self._random.randrange(len(keys)))
            values = schema["additionalProperties"]
            return {key: self.make(values, "", depth + 1) for key in chosen}
        out: dict[str, Any] = {}
        names = list(schema["properties"])
        self._random.shuffle(names)
        rivals = schema.get("dependentSchemas", {})
        needed = [choice["required"][0] for choice in schema.get("anyOf", [])]
        must = {*schema.get("required", []), *needed[:1]}
        for name in names:
            excluded = {*rivals.get(name, {}).get("properties", {})} | {
                other
                for other in out
                if name in rivals.get(other, {}).get("properties", {})
            }
            optional = name not in must and self._random.random() > 0.6 / (
                1 + depth / 2
            )
            if optional or excluded & {*out, *must} or name in needed[1:]:
                continue
            out[name] = self.make(schema["properties"][name], name, depth + 1)
        return out


def given(schema: Any, document: Any, root: Any) -> Any:
    """Put ProtoJSON into the form that a schema asks for."""
    if "$ref" in schema:
        return given(
            root["$defs"][schema["$ref"].removeprefix("#/$defs/")], document, root
        )
    if "anyOf" in schema:
        if document is None:
            return None
        inner = [c for c in schema["anyOf"] if c.get("type") != "null"]
        for choice in inner:
            if (
                len(inner) == 1
                or choice.get("properties", {}).keys() == document.keys()
            ):
                return given(choice, document, root)
        raise AssertionError(document)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "string" in kinds:
        if "enum" in schema and document is None:
            return "NULL_VALUE" if "NULL_VALUE" in schema["enum"] else None
        is_json = re.search(
            r"JSON (value|array|object|text of)", schema.get("description", "")
        )
        return json.dumps(document) if is_json else document
    if "array" in kinds and isinstance(document, dict):
        pair = schema["items"]["properties"]
        return [
            {
                "key": key == "true" if pair["key"]["type"] == "boolean" else key,
                "value": given(pair["value"], value, root),
            }
            for key, value in document.items()
        ]
    if "array" in kinds:
        return [given(schema["items"], item, root) for item in document]
    if "object" not in kinds or not isinstance(document, dict):
        return document
    return {
        name: value
        for name, inner in schema["properties"].items()
        if (value := _property(name, inner, document, root)) is not _ABSENT
        or (value := _unset(name, inner, schema)) is not _ABSENT
    }


_ABSENT: Any = object()


def _property(name: str, schema: Any, document: dict[str, Any], root: Any) -> Any:
    for key in (name, f"[{name}]"):
        if key in document:
            return given(schema, document[key], root)
    for choice in [schema, *schema.get("anyOf", [])]:
        members = choice.get("properties", {})
        if len(members) == 1 and members.keys() <= document.keys():
            chosen = {member: document[member] for member in members}
            return given(choice, chosen, root)
    return _ABSENT


def _unset(name: str, schema: Any, around: Any) -> Any:
    if name not in around.get("required", []):
        return _ABSENT
    return [] if schema.get("type") == "array" else None


@pytest.mark.parametrize("profile", ["openai-strict", "anthropic", "gemini"])
@pytest.mark.parametrize("tool", ["scalars", "shapes", "query", "well_known"])
def test_random_requests(tool: str, profile: Profile) -> None:
    """They are valid in the provider's form, and come back."""
    adapter = ADAPTERS[tool]
    neutral, schema = adapter.schemas.input(), adapter.schemas.input(profile)
    judge = Draft202012Validator(schema)
    for seed in range(SAMPLES):
        document = Maker(neutral, seed).make(neutral)
        assert Draft202012Validator(neutral).is_valid(document), document
        form = given(schema, document, schema)
        assert judge.is_valid(form), (document, list(judge.iter_errors(form))[:1])
        back = arguments.to_protojson(adapter.input_type, form, profile)
        wanted = protojson.from_json(adapter.input_type, document)
        assert protojson.from_json(adapter.input_type, back) == wanted, (document, form)
