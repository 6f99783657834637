"""The JSON schemas of a tool, in the forms that providers of models take.

They are generated from the protos into a file beside the tool's module. Four
profiles have the schema of the arguments:

- `mcp`: plain JSON Schema of the request's ProtoJSON;
- `openai-strict`, `anthropic`, `gemini`: what these providers accept. Maps are
  lists of pairs, a oneof is an object with the one field that is set, and JSON of
  any shape is text. `arguments` reads these forms back.
"""

from __future__ import annotations

import copy
import json
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

__all__ = ["NEUTRAL", "Profile", "ToolSchemas", "profile_of"]

Profile = Literal["mcp", "openai-strict", "anthropic", "gemini"]

NEUTRAL: Profile = "mcp"
"""The profile that is ProtoJSON."""

_NARROWEST: Profile = "anthropic"

_PROFILES: dict[str, Profile] = {
    "azure_openai": "openai-strict",
    "google_genai": "gemini",
    "google_vertexai": "gemini",
    "openai": "openai-strict",
}


def profile_of(provider: str | None) -> Profile:
    """Return the profile for a value of `MODEL_PROVIDER`, as LangChain names it.

    A provider that has no profile of its own gets the one that asks least of it; with
    no provider at all, schemas are those of ProtoJSON.
    """
    return NEUTRAL if provider is None else _PROFILES.get(provider, _NARROWEST)


def _unroll(
    node: Any, defs: dict[str, Any], levels: int, around: tuple[str, ...]
) -> Any:
    if isinstance(node, list):
        return [_unroll(item, defs, levels, around) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: _unroll(value, defs, levels, around) for key, value in node.items()}
    if not isinstance(reference := out.pop("$ref", None), str):
        return out
    name = reference.removeprefix("#/$defs/")
    if around.count(name) == levels:
        found = {"type": "object", "description": defs[name].get("description", name)}
    else:
        found = _unroll(defs[name], defs, levels, (*around, name))
    return found | out


class ToolSchemas:
    """The schemas of one tool, read when they are first needed."""

    def __init__(self, path: Path) -> None:
        """Name the file that has the schemas."""
        self._path = path

    @cached_property
    def _document(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self._path.read_bytes()))

    def input(self, profile: Profile = NEUTRAL) -> dict[str, Any]:
        """Return the schema of the arguments that a model gives."""
        return copy.deepcopy(cast("dict[str, Any]", self._document["input"][profile]))

    def unrolled(self, profile: Profile = NEUTRAL) -> dict[str, Any]:
        """Return the schema of the arguments, without references in a circle.

        LangChain writes every reference out, and would leave nothing where a message
        stands in itself. Here it is written out a few times, and is any object then.
        """
        schema = self.input(profile)
        defs = schema.pop("$defs", {})
        # Messages that hold each other in many ways multiply.
        levels = 3 if len(defs) <= 3 else 1
        return cast("dict[str, Any]", _unroll(schema, defs, levels, ()))

    def output(self) -> dict[str, Any]:
        """Return the schema of the response: canonical ProtoJSON."""
        return copy.deepcopy(cast("dict[str, Any]", self._document["output"]))
