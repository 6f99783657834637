"""What models see of tools, and what is made of what they answer."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from forms_generated.harness.generated import harness_runtime, sample
from forms_generated.state.generated import (
    Color,
    QueryRequestModel,
    RulesRequestModel,
    ScalarsRequestModel,
    ShapesRequestModel,
    WellKnownRequestModel,
)
from forms_generated.support import arguments, pb, protojson
from forms_generated.support.schemas import Profile, ToolSchemas
from forms_generated.tools.generated import registry
from jsonschema import Draft202012Validator, FormatChecker
from langchain_core.utils.function_calling import convert_to_openai_tool

SPEC = importlib.util.spec_from_file_location(
    "providers", Path(__file__).with_name("providers.py")
)
assert SPEC is not None and SPEC.loader is not None
providers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(providers)

PROFILES: list[Profile] = ["mcp", "openai-strict", "anthropic", "gemini"]
ADAPTERS = registry.ToolRegistry.adapters
GOLDEN = Path(__file__).parents[3] / "golden"
FILES = sorted(GOLDEN.glob("*/langgraph/*/*/tools/generated/*.json"))


def schema_of(tool: str, profile: Profile) -> dict[str, Any]:
    """Return the schema of a tool of the case."""
    return ADAPTERS[tool].schemas.input(profile)


def accepts(schema: dict[str, Any], document: Any) -> bool:
    """Ask an independent validator."""
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    return bool(validator.is_valid(document))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parents[4].name}-{path.stem}"
)
def test_every_schema_is_one_that_its_provider_takes(
    path: Path, profile: Profile
) -> None:
    """For every tool of the goldens, by an independent validator and a checker."""
    schema = ToolSchemas(path).input(profile)
    Draft202012Validator.check_schema(schema)
    assert list(providers.typed(schema)) == []
    assert list(providers.CHECKERS[profile](schema)) == []


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parents[4].name}-{path.stem}"
)
def test_every_output_schema_is_valid(path: Path) -> None:
    """And typed at every node."""
    schema = ToolSchemas(path).output()
    Draft202012Validator.check_schema(schema)
    assert list(providers.typed(schema)) == []


@pytest.mark.parametrize("tool", ADAPTERS)
def test_samples_keep_the_schemas(tool: str) -> None:
    """What the models print is what the schemas of ProtoJSON say."""
    adapter = ADAPTERS[tool]
    document = protojson.to_json(sample(adapter.output_type))
    assert accepts(adapter.schemas.output(), document)
    assert isinstance(request := protojson.to_json(sample(adapter.input_type)), dict)
    for hidden in ("tenant", "id"):
        request.pop(hidden, None)
    assert accepts(adapter.schemas.input(), request)


def test_outputs_of_every_form() -> None:
    """Also those that inputs need not know."""
    schema = ADAPTERS["scalars"].schemas.output()
    for document in (
        {"ratio": "NaN", "color": 7, "count": "-1", "data": "/w=="},
        {"ratio": 0.5, "color": "COLOR_RED", "value": None, "later": 1},
        {"expression": {"and": [{"not": {"comparison": {"field": "a"}}}]}},
        {"points": {"-1": {"latitude": "Infinity"}}, "any": {}},
        {},
    ):
        assert accepts(schema, document), document
    for document in (
        {"ratio": "many"},
        {"count": 1},
        {"color": "RED"},
        {"points": {"a": {}}},
        {"expression": {"and": [{"not": 1}]}},
        {"any": {"@type": 1}},
    ):
        assert not accepts(schema, document), document


EMPTY = {"@type": "type.googleapis.com/google.protobuf.Empty"}

# Documents in ProtoJSON, for the neutral profile.
GOOD: list[tuple[str, dict[str, Any]]] = [
    ("scalars", {"subject": "x"}),
    ("scalars", {"subject": "x", "flag": True, "ratio": 1, "int32Value": -5}),
    ("scalars", {"subject": "x", "int64Value": "-9", "uint32Value": 4294967295}),
    ("scalars", {"subject": "x", "color": "COLOR_BLUE", "otherName": "y"}),
    ("shapes", {"names": ["a"], "points": [{"latitude": 1.5}], "counts": {"a": 1}}),
    ("shapes", {"byNumber": {"-7": {}}, "byAnswer": {"true": "yes"}}),
    ("shapes", {"address": "x"}),
    ("shapes", {"nowhere": {}, "color": "COLOR_RED"}),
    (
        "shapes",
        {"choice": {"text": "x"}, "legacy": {"name": "x", "[forms.v1.remark]": ""}},
    ),
    (
        "query",
        {"filter": {"and": [{"not": {}}, {"comparison": {"value": {"and": []}}}]}},
    ),
    ("well_known", {"at": "2024-01-01T00:00:00Z", "span": "1.5s", "mask": "a,bC"}),
    ("well_known", {"object": {"a": [None]}, "value": None, "list": [1, {}]}),
    ("well_known", {"any": EMPTY, "nothing": None, "empty": {}}),
    ("well_known", {"int64Value": "1", "boolValue": False, "values": [None, 1]}),
    ("nothing", {}),
]
BAD: list[tuple[str, dict[str, Any]]] = [
    ("scalars", {}),
    ("scalars", {"subject": 1}),
    ("scalars", {"subject": "x", "flag": "yes"}),
    ("scalars", {"subject": "x", "int32Value": 1.5}),
    ("scalars", {"subject": "x", "int32Value": 2**31}),
    ("scalars", {"subject": "x", "uint32Value": -1}),
    ("scalars", {"subject": "x", "int64Value": 5}),
    ("scalars", {"subject": "x", "uint64Value": "-5"}),
    ("scalars", {"subject": "x", "color": "COLOR_CRIMSON"}),
    ("scalars", {"subject": "x", "tenant": "forged"}),
    ("scalars", {"subject": "x", "id": "forged"}),
    ("scalars", {"subject": "x", "data": 1}),
    ("shapes", {"names": "a"}),
    ("shapes", {"points": [1]}),
    ("shapes", {"counts": {"a": "b"}}),
    ("shapes", {"byNumber": {"a": {}}}),
    ("shapes", {"byAnswer": {"yes": ""}}),
    ("shapes", {"address": "x", "point": {}}),
    ("shapes", {"choice": {}}),
    ("shapes", {"choice": {"text": "x", "number": 1}}),
    ("shapes", {"legacy": {}}),
    ("query", {"filter": {"and": [{"unknown": 1}]}}),
    ("well_known", {"span": "1 second"}),
    ("well_known", {"span": "PT1S"}),
    ("well_known", {"any": {}}),
    ("well_known", {"object": []}),
    ("well_known", {"list": {}}),
    ("well_known", {"nothing": 0}),
    ("well_known", {"empty": {"a": 1}}),
    ("nothing", {"a": 1}),
]
RULES: dict[str, Any] = {
    "code": "AB",
    "odd": "A",
    "mail": "a@example.com",
    "host": "example.com:80",
    "prefix": "a.b",
    "fixed": "yes",
    "either": "left",
    "low": 1,
    "high": 6,
    "big": "8",
    "share": 0.5,
    "color": "COLOR_RED",
    "tags": ["a"],
    "votes": {"a": 1},
    "point": {},
}
GOOD += [("rules", RULES), ("rules", {**RULES, "pause": "5s", "first": "x"})]
BAD += [
    ("rules", {**RULES, **change})
    for change in (
        {"code": "A"},
        {"code": "ab"},
        {"code": "ABCDEFGHI"},
        {"mail": "nobody"},
        {"prefix": "axb"},
        {"fixed": "no"},
        {"either": "up"},
        {"neither": "up"},
        {"low": 0},
        {"low": 10},
        {"share": 0},
        {"share": 0.6},
        {"color": "COLOR_UNSPECIFIED"},
        {"tags": []},
        {"tags": ["a", "a"]},
        {"tags": ["a", "b", "c", "d"]},
        {"tags": ["abcdef"]},
        {"votes": {}},
        {"votes": {"abcd": 1}},
        {"votes": {"a": 10}},
    )
]
BAD += [("rules", {k: v for k, v in RULES.items() if k != gone}) for gone in RULES]


@pytest.mark.parametrize(("tool", "document"), GOOD)
def test_good_documents(tool: str, document: dict[str, Any]) -> None:
    """The validator, the decoder and the model take them."""
    assert accepts(schema_of(tool, "mcp"), document)
    cls = ADAPTERS[tool].input_type
    assert arguments.to_protojson(cls, document) == document
    protojson.from_json(cls, document)


@pytest.mark.parametrize(("tool", "document"), BAD)
def test_bad_documents(tool: str, document: dict[str, Any]) -> None:
    """The validator refuses them."""
    assert not accepts(schema_of(tool, "mcp"), document)


# The same requests in the forms of the providers.
FORMS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("scalars", {"subject": "x", "flag": True}, {"subject": "x", "flag": True}),
    (
        "shapes",
        {
            "counts": [{"key": "a", "value": 1}],
            "byNumber": [{"key": "7", "value": {"latitude": 1, "longitude": 2}}],
            "byAnswer": [{"key": True, "value": "yes"}],
            "target": {"point": {"latitude": 1, "longitude": 2}},
            "colorChoice": {"color": "COLOR_RED"},
            "choice": {"kind": {"number": 5}},
            "legacy": {"name": "x", "part": {"number": 1}, "forms.v1.remark": "r"},
        },
        {
            "counts": {"a": 1},
            "byNumber": {"7": {"latitude": 1, "longitude": 2}},
            "byAnswer": {"true": "yes"},
            "point": {"latitude": 1, "longitude": 2},
            "color": "COLOR_RED",
            "choice": {"number": 5},
            "legacy": {"name": "x", "part": {"number": 1}, "[forms.v1.remark]": "r"},
        },
    ),
    (
        "well_known",
        {
            "object": '{"a": 1}',
            "value": '"text"',
            "list": "[1, null]",
            "any": '{"@type": "type.googleapis.com/google.protobuf.Empty"}',
            "values": ["1", "null", "plain text"],
            "nothing": "NULL_VALUE",
        },
        {
            "object": {"a": 1},
            "value": "text",
            "list": [1, None],
            "any": {"@type": "type.googleapis.com/google.protobuf.Empty"},
            "values": [1, None, "plain text"],
            "nothing": None,
        },
    ),
]


def whole(schema: dict[str, Any], document: Any, root: dict[str, Any]) -> Any:
    """Say null, or an empty list, for what a strict schema wants said."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return whole(root["$defs"][name], document, root)
    for choice in schema.get("anyOf", []):
        if choice.get("properties", {}).keys() >= getattr(document, "keys", set)():
            return whole(choice, document, root)
        if "$ref" in choice and document is not None:
            return whole(choice, document, root)
    if isinstance(document, list):
        return [whole(schema["items"], item, root) for item in document]
    if not isinstance(document, dict) or "properties" not in schema:
        return document
    out = {}
    for name, inner in schema["properties"].items():
        if name in document:
            out[name] = whole(inner, document[name], root)
        else:
            out[name] = [] if inner.get("type") == "array" else None
    return out


@pytest.mark.parametrize("profile", PROFILES[1:])
@pytest.mark.parametrize(("tool", "given", "wanted"), FORMS)
def test_the_forms_of_providers(
    tool: str, given: dict[str, Any], wanted: dict[str, Any], profile: Profile
) -> None:
    """Schemas take them, and the decoder makes ProtoJSON of them."""
    schema = schema_of(tool, profile)
    if profile == "openai-strict":
        given = whole(schema, given, schema)
    assert accepts(schema, given), list(Draft202012Validator(schema).iter_errors(given))
    cls = ADAPTERS[tool].input_type
    document = arguments.to_protojson(cls, given, profile)
    without_empty = {k: v for k, v in document.items() if v not in ([], {})}
    assert without_empty == wanted
    protojson.from_json(cls, document)


@pytest.mark.parametrize("profile", PROFILES[1:])
def test_recursion(profile: Profile) -> None:
    """Where a schema ends, text goes on."""
    inner = {"comparison": {"field": "a"}}
    levels = {"not": {"not": {"not": {"not": {"not": inner}}}}}
    text: dict[str, Any] = {
        "not": {"not": {"not": json.dumps({"not": {"not": inner}})}}
    }
    for given in (levels, text):
        document = arguments.to_protojson(QueryRequestModel, {"filter": given}, profile)
        assert document == {"filter": levels}
    schema = schema_of("query", profile)
    for given, taken in ((levels, False), (text, True)):
        whole_ = {"filter": given}
        if profile == "openai-strict":
            whole_ = whole(schema, whole_, schema)
        assert accepts(schema, whole_) is taken


TOLERATED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("scalars", {"Subject": "x", "INT32_VALUE": 1}, {"subject": "x", "int32Value": 1}),
    ("scalars", {"flag": "True", "color": "red"}, {"flag": True, "color": "COLOR_RED"}),
    ("scalars", {"color": "color_blue"}, {"color": "COLOR_BLUE"}),
    ("scalars", {"nickname": None, "ratio": None}, {}),
    ("shapes", {"names": "a"}, {"names": ["a"]}),
    ("shapes", {"names": '["a", "b"]'}, {"names": ["a", "b"]}),
    ("shapes", {"points": {"latitude": 1}}, {"points": [{"latitude": 1}]}),
    ("shapes", {"label": '{"text": "x"}'}, {"label": {"text": "x"}}),
    ("shapes", {"target": {"address": "x", "point": None}}, {"address": "x"}),
    ("shapes", {"target": None, "address": "x"}, {"address": "x"}),
    ("shapes", {"counts": '{"a": 1}'}, {"counts": {"a": 1}}),
    ("shapes", {"counts": '[{"key": "a", "value": 1}]'}, {"counts": {"a": 1}}),
    (
        "well_known",
        {"span": 5, "object": '{"a": 1}'},
        {"span": "5s", "object": {"a": 1}},
    ),
]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("tool", "given", "wanted"), TOLERATED)
def test_what_models_write_instead(
    tool: str, given: dict[str, Any], wanted: dict[str, Any], profile: Profile
) -> None:
    """What is plain is taken in every profile."""
    cls = ADAPTERS[tool].input_type
    assert arguments.to_protojson(cls, given, profile) == wanted


@pytest.mark.parametrize(
    ("cls", "given", "problem"),
    [
        (ScalarsRequestModel, {"id": "x"}, "`id`: set by the service; leave it out"),
        (ScalarsRequestModel, {"name": "a", "Name": "b"}, "`name`: given twice"),
        (ScalarsRequestModel, {"nope": 1}, "`nope`: unknown field"),
        (ScalarsRequestModel, {"wieght": 1}, "unknown field; did you mean `weight`?"),
        (
            ShapesRequestModel,
            {"label": {"nope": 1}},
            "`label.nope`: unknown field; there are text",
        ),
        (
            ScalarsRequestModel,
            {"color": "PINK"},
            "`color`: not a value of enum Color: want one of COLOR_UNSPECIFIED, COLOR_R",
        ),
        (
            ScalarsRequestModel,
            {"nope": 1, "int32Value": "x", "id": "y"},
            "`int32Value`: want an integer",
        ),
        (ScalarsRequestModel, {"int32Value": "many"}, "`int32Value`: want an integer"),
        (ShapesRequestModel, {"target": {"street": 1}}, "`target`: unknown field"),
        (
            ShapesRequestModel,
            {"target": {"address": "x", "point": {}}},
            "oneof `target` has more than one field set: address, point",
        ),
        (
            ShapesRequestModel,
            {"counts": [{"key": "a"}]},
            '`counts`: want pairs, as [{"key": ..., "value": ...}]',
        ),
        (
            ShapesRequestModel,
            {"counts": [{"key": "a", "value": 1}, {"key": "a", "value": 2}]},
            '`counts`: has the key "a" twice',
        ),
        (ShapesRequestModel, {"points": [{"latitude": "x"}]}, "`points[0].latitude`: "),
        (QueryRequestModel, {"filter": "no JSON"}, "`filter`: want an object"),
        (
            RulesRequestModel,
            {**RULES, "low": 50},
            "`low`: Input should be less than 10",
        ),
        (RulesRequestModel, {**RULES, "even": 1}, "`even`: must be even"),
        (
            RulesRequestModel,
            {**RULES, "low": 9},
            "low is not above high",
        ),
    ],
)
def test_what_models_hear(cls: type[pb.Message], given: Any, problem: str) -> None:
    """The place in their own words, what is wrong, and what to do."""
    with pytest.raises(protojson.JsonError) as error:
        arguments.read(cls, given, "anthropic")
    assert problem in str(error.value)


class Host:
    """A runtime without transports."""

    agent_id = "forms"
    tools_source = "test"
    tool_ids = tuple(ADAPTERS)
    violations: Any = None

    def __init__(self, provider: str | None) -> None:
        self.model_provider = provider

    def transport(self, tool_id: str) -> Any:
        return None


@pytest.mark.parametrize("provider", [None, "openai", "anthropic", "google_genai"])
@pytest.mark.parametrize("tool", ADAPTERS)
def test_langchain_keeps_the_schema(tool: str, provider: str | None) -> None:
    """What LangChain sends is what was generated, whatever the tool is called with."""
    shown = ADAPTERS[tool](Host(provider)).as_langchain_tool()
    sent = convert_to_openai_tool(shown)["function"]
    profile = dict(
        zip(("openai", "anthropic", "google_genai"), PROFILES[1:], strict=True)
    )
    name = profile.get(provider or "", "mcp")
    assert "$ref" not in json.dumps(sent)
    assert list(providers.typed(sent["parameters"])) == []
    assert list(providers.CHECKERS[name](sent["parameters"])) == []
    schema = schema_of(tool, name)
    assert sent["description"].endswith(schema.pop("description", ""))
    if "$defs" not in schema:
        assert sent["parameters"] == schema


@pytest.mark.parametrize("profile", PROFILES)
def test_a_call_in_the_form_of_a_provider(profile: Profile) -> None:
    """From the model's arguments to the request that the tool gets, and back."""
    requests: list[Any] = []

    def shapes(request: Any) -> dict[str, str]:
        requests.append(request)
        return {"text": "done"}

    runtime = harness_runtime(tools={"shapes": shapes})
    tools = registry.build_tool_registry(runtime=runtime, required_tool_ids=())
    _, given, wanted = FORMS[1]
    call = {
        "type": "tool_call",
        "name": "shapes",
        "id": "1",
        "args": wanted if profile == "mcp" else given,
    }
    (tool,) = tools.langchain_tools("shapes", profile=profile)
    message = tool.invoke(call)
    assert json.loads(message.content) == {"text": "done"}
    assert requests == [protojson.from_json(ShapesRequestModel, wanted)]
    # What is wrong is told, and does not end the run.
    call["args"] = {"target": {"address": "x", "point": {}}, "names": [1]}
    message = tool.invoke(call)
    assert message.status == "error"
    assert "`names[0]`: want a string" in message.content


def test_a_model_hears_what_it_must_set() -> None:
    """REQUIRED of google.api.field_behavior, by the name that the model knows."""
    runtime = harness_runtime(tools={"scalars": {"text": "done"}})
    tools = registry.build_tool_registry(runtime=runtime, required_tool_ids=())
    (tool,) = tools.langchain_tools("scalars")
    call = {"type": "tool_call", "name": "scalars", "id": "1"}
    message = tool.invoke({**call, "args": {"name": "x", "tenant": "acme"}})
    assert message.status == "error" and "`subject`: required" in message.content
    message = tool.invoke({**call, "args": {"subject": "x", "tenant": "acme"}})
    assert message.status == "success"


def test_nulls_of_native_json() -> None:
    """In plain ProtoJSON null is a value where protobuf has one."""
    given = {"value": None, "nothing": None, "at": None}
    document = arguments.to_protojson(WellKnownRequestModel, given)
    assert document == {"value": None, "nothing": None}
    model = protojson.from_json(WellKnownRequestModel, document)
    assert model.value == pb.Value(value=None)
    assert Color.COLOR_RED == 1
