"""Offline checkers of what providers take, written from their documentation.

They know nothing of the generator and its table. Each yields what is wrong.

- OpenAI, strict: platform.openai.com/docs/guides/structured-outputs
- Anthropic, strict: docs.claude.com/en/docs/build-with-claude/structured-outputs
- Gemini: ai.google.dev/api/caching#Schema
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}


def nodes(schema: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every schema that describes a value, with its place."""
    yield path, schema
    for part in ("properties", "$defs"):
        for name, inner in schema.get(part, {}).items():
            yield from nodes(inner, f"{path}/{part}/{name}")
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from nodes(schema[part], f"{path}/{part}")
    for index, inner in enumerate(schema.get("anyOf", [])):
        if inner.keys() != {"required"}:
            yield from nodes(inner, f"{path}/anyOf/{index}")


def typed(schema: Any) -> Iterator[str]:
    """Every node says its type."""
    for path, node in nodes(schema):
        if not {"type", "$ref", "anyOf"} & node.keys():
            yield f"{path}: has no type"
        kinds = node.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not set(kinds) <= TYPES:
            yield f"{path}: has the type {kinds}"
        if "array" in kinds and "items" not in node and len(kinds) == 1:
            yield f"{path}: has no items"


def _only(schema: Any, keywords: set[str], formats: set[str]) -> Iterator[str]:
    for path, node in nodes(schema):
        for keyword in node.keys() - keywords:
            yield f"{path}: {keyword} is not taken"
        if node.get("format", "date-time") not in formats:
            yield f"{path}: the format {node['format']} is not taken"


def _object_root(schema: Any) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "#: is no object"
    if {"anyOf", "oneOf", "allOf", "$ref", "enum", "not"} & schema.keys():
        yield "#: combines schemas"


def _closed(schema: Any) -> Iterator[str]:
    for path, node in nodes(schema):
        is_object = "object" in (node.get("type") or [])
        if is_object and node.get("additionalProperties") is not False:
            yield f"{path}: is open"


def _bare_references(schema: Any) -> Iterator[str]:
    for path, node in nodes(schema):
        if "$ref" in node and len(node) > 1:
            yield f"{path}: has something beside $ref"


def openai_strict(schema: Any) -> Iterator[str]:
    """Structured outputs: closed objects, everything required, few keywords."""
    yield from _object_root(schema)
    yield from _closed(schema)
    yield from _bare_references(schema)
    yield from _only(
        schema,
        {
            *("$defs", "$ref", "additionalProperties", "anyOf", "const"),
            *("description", "enum", "exclusiveMaximum", "exclusiveMinimum"),
            *("format", "items", "maxItems", "maximum", "minItems", "minimum"),
            *("multipleOf", "pattern", "properties", "required", "type"),
        },
        {
            *("date", "date-time", "duration", "email", "hostname"),
            *("ipv4", "ipv6", "time", "uuid"),
        },
    )
    for path, node in nodes(schema):
        if "properties" in node and [*node["properties"]] != node.get("required"):
            yield f"{path}: does not require every property"


def anthropic(schema: Any) -> Iterator[str]:
    """Strict tools: closed objects, no limits, no recursion, plain names."""
    yield from _object_root(schema)
    yield from _closed(schema)
    yield from _bare_references(schema)
    yield from _only(
        schema,
        {
            *("$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const"),
            *("default", "description", "enum", "format", "items"),
            *("properties", "required", "type"),
        },
        {"date", "date-time", "email", "ipv4", "ipv6", "time", "uri", "uuid"},
    )
    defs = schema.get("$defs", {})

    def reach(node: Any, around: tuple[str, ...]) -> Iterator[str]:
        for _, inner in nodes({k: v for k, v in node.items() if k != "$defs"}):
            name = inner.get("$ref", "").removeprefix("#/$defs/")
            if name in around:
                yield f"#/$defs/{name}: is recursive"
            elif name:
                yield from reach(defs[name], (*around, name))

    yield from reach(schema, ())
    for path, node in nodes(schema):
        for name in node.get("properties", {}):
            if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
                yield f"{path}: has the property {name}"


def gemini(schema: Any) -> Iterator[str]:
    """The type Schema of the API: no references, no types in lists."""
    yield from _object_root(schema)
    yield from _only(
        schema,
        {
            *("anyOf", "description", "enum", "format", "items", "maxItems"),
            *("maxLength", "maximum", "minItems", "minLength", "minimum"),
            *("nullable", "pattern", "properties", "required", "type"),
        },
        {"date-time", "enum"},
    )
    for path, node in nodes(schema):
        if not isinstance(node.get("type", ""), str):
            yield f"{path}: has several types"


def mcp(schema: Any) -> Iterator[str]:
    """What clients hand on to any provider: an object, nothing combined at the root."""
    yield from _object_root(schema)


CHECKERS = {
    "mcp": mcp,
    "openai-strict": openai_strict,
    "anthropic": anthropic,
    "gemini": gemini,
}
