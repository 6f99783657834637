from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import uuid
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field, JsonValue
from support import pb, rules
from support.errors import ConfigError, ToolContractError, ToolError
from support.schemas import ToolSchemas, profile_of
from support.tools import ContractViolations, ToolAdapter, Toolset, ToolSpec
from support.transports import CallableTransport, ToolRequest, ToolTransport
from typing_extensions import Annotated

SCHEMAS = Path(__file__).parent / "schemas"


class Level(pb.OpenEnum):
    """How loud."""

    LEVEL_UNSPECIFIED = 0
    LEVEL_HIGH = 1


class Note(pb.Message):
    """A request with a field of every kind, one of them hidden."""

    text: pb.String = ""
    max_results: pb.UInt32 = 0
    big: pb.Int64 = 0
    raw: pb.Bytes = b""
    at: pb.Timestamp | None = None
    level: Level = Level.LEVEL_UNSPECIFIED
    tags: list[pb.String] = Field(default_factory=list)
    tenant_id: pb.String = ""


class Ruled(Note, rules=(rules.Cel("this.tenant_id == this.text", id="same"),)):
    """A request with a rule that needs the hidden field."""


class Saved(pb.Message):
    """A response."""

    id: pb.String = ""
    count: pb.Int64 = 0


class Empty(pb.Message):
    """A request without fields."""


class SaveNote(ToolAdapter[Note, Saved]):
    """Save a note."""

    spec = ToolSpec(
        tool_id="notes.save",
        name="save_note",
        display_name="Save",
        description="Saves a note.",
        service="acme.v1.Notes",
        method="Save",
        idempotent=True,
        timeout_ms=1234,
        injected={"tenant_id": "tenant"},
    )
    schemas = ToolSchemas(SCHEMAS / "save_note.json")
    input_type = Note
    output_type = Saved


class SaveRuled(SaveNote):
    """Save a note that has a rule."""

    input_type = Ruled


class Ping(ToolAdapter[Empty, Saved]):
    """Do nothing."""

    spec = ToolSpec(
        tool_id="ping",
        name="ping",
        display_name="Ping",
        description="Pings.",
        service="acme.v1.Notes",
        method="Ping",
    )
    schemas = ToolSchemas(SCHEMAS / "no_fields.json")
    input_type = Empty
    output_type = Saved


class State(BaseModel):
    """The state of the graphs here."""

    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)
    tenant: str = "acme"
    answers: list[str] = Field(default_factory=list)


class Recorder:
    """A transport that keeps what it gets."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results) or [{"id": "1"}]
        self.seen: list[ToolRequest] = []

    def call(self, request: ToolRequest) -> JsonValue:
        self.seen.append(request)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        value: JsonValue = result
        return value

    async def acall(self, request: ToolRequest) -> JsonValue:
        return self.call(request)


class Host:
    """A runtime with the given transports."""

    agent_id = "notes"
    tools_source = "TOOLS_CONFIG_JSON (file /etc/tools.json)"
    model_provider: str | None = None

    def __init__(self, transports: dict[str, ToolTransport]) -> None:
        self.transports = transports
        self.violations = ContractViolations()

    @property
    def tool_ids(self) -> tuple[str, ...]:
        return tuple(sorted(self.transports))

    def transport(self, tool_id: str) -> ToolTransport:
        return self.transports[tool_id]


def save_note(*results: Any) -> tuple[SaveNote, Recorder, Host]:
    recorder = Recorder(*results)
    host = Host({"notes.save": recorder})
    return SaveNote(host), recorder, host


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def call(tool: Any, request: Any, asynchronous: bool, **options: Any) -> Any:
    if asynchronous:
        return asyncio.run(tool.acall(request, **options))
    return tool(request, **options)


def run_node(tool: Any, args: dict[str, Any], asynchronous: bool) -> Any:
    """Run a tool in a ToolNode of a real graph and return the tool's message."""
    message = AIMessage(
        "", tool_calls=[{"name": tool.name, "args": args, "id": "call-1"}]
    )
    graph: Any = StateGraph(State)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    compiled = graph.compile()
    given = {"messages": [message], "tenant": "acme"}
    if asynchronous:
        out = asyncio.run(compiled.ainvoke(given))
    else:
        out = compiled.invoke(given)
    return out["messages"][-1]


def test_a_call(asynchronous: bool) -> None:
    tool, recorder, host = save_note({"id": "7", "count": "12"})
    request = Note(text="x", big=2**60, raw=b"\xff", at=pb.Timestamp(seconds=1))
    result = call(tool, request, asynchronous, state={"tenant": "acme"})
    assert result == Saved(id="7", count=12)
    (seen,) = recorder.seen
    assert seen.payload == {
        "text": "x",
        "big": str(2**60),
        "raw": "/w==",
        "at": "1970-01-01T00:00:01Z",
        "tenantId": "acme",
    }
    assert isinstance(seen.message, Note) and seen.message.tenant_id == "acme"
    assert (seen.tool_id, seen.service, seen.method) == (
        "notes.save",
        "acme.v1.Notes",
        "Save",
    )
    assert (seen.idempotent, seen.timeout_ms) == (True, 1234)
    assert host.violations.counts == {}


def test_the_state_wins_over_the_request() -> None:
    tool, recorder, _ = save_note()
    tool(Note(tenant_id="forged"), state=State(tenant="acme"))
    assert recorder.seen[0].payload == {"tenantId": "acme"}


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        (None, "`tenant_id`: the state fills it: pass `state`"),
        ({}, "`tenant_id`: the state has no field `tenant`"),
        ({"tenant": 7}, "`tenant_id`: want a string"),
    ],
)
def test_a_hidden_field_must_come_from_the_state(state: Any, problem: str) -> None:
    tool, recorder, host = save_note()
    with pytest.raises(ToolContractError) as caught:
        tool(Note(), state=state)
    assert caught.value.problems == (problem,)
    assert recorder.seen == []
    assert host.violations.counts == {("notes.save", "input"): 1}


def test_a_request_is_checked_again(asynchronous: bool, canary: str) -> None:
    tool, recorder, host = save_note()
    built = Note().model_copy(update={"max_results": canary})
    mutated = Note()
    mutated.tags.append(7)  # type: ignore[arg-type]
    for bad, problem in [
        (built, "`max_results`: "),
        (mutated, "`tags[0]`: "),
        (Saved(), "want Note, got Saved"),
        ({"text": "x"}, "want Note, got dict"),
    ]:
        with pytest.raises(ToolContractError) as caught:
            call(tool, bad, asynchronous, state={"tenant": "acme"})
        assert (caught.value.tool_id, caught.value.direction) == ("notes.save", "input")
        (found,) = caught.value.problems
        assert found.startswith(problem)
        assert canary not in str(caught.value) + repr(caught.value)
    assert recorder.seen == []
    assert host.violations.counts == {("notes.save", "input"): 4}


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        ({"id": 7}, "`id`: want a string"),
        ({"count": "many"}, "`count`: want an integer"),
        ([], "want an object"),
        (None, "want an object"),
    ],
)
def test_a_response_is_checked(
    asynchronous: bool,
    response: Any,
    problem: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool, _, host = save_note(response)
    with caplog.at_level(logging.WARNING), pytest.raises(ToolContractError) as caught:
        call(tool, Note(), asynchronous, state={"tenant": "acme"})
    assert (caught.value.direction, caught.value.problems) == ("output", (problem,))
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert host.violations.counts == {("notes.save", "output"): 1}
    (record,) = caplog.records
    assert (record.tool_id, record.direction) == (  # type: ignore[attr-defined]
        "notes.save",
        "output",
    )


def test_a_newer_service_may_send_more() -> None:
    tool, _, host = save_note({"id": "1", "addedLater": {"x": 1}})
    assert tool(Note(), state={"tenant": "acme"}) == Saved(id="1")
    assert host.violations.counts == {}


def test_violations_of_a_transport_are_counted() -> None:
    error = ToolContractError("notes.save", "output", ["is not JSON"])
    tool, _, host = save_note(error)
    with pytest.raises(ToolContractError):
        tool(Note(), state={"tenant": "acme"})
    assert host.violations.counts == {("notes.save", "output"): 1}


def test_failures_are_no_violations() -> None:
    tool, _, host = save_note(ToolError("notes.save", "unavailable", "gone"))
    with pytest.raises(ToolError, match="unavailable"):
        tool(Note(), state={"tenant": "acme"})
    assert host.violations.counts == {}


def test_repr() -> None:
    assert repr(save_note()[0]) == "<SaveNote notes.save>"


def test_what_a_model_sees() -> None:
    tool = save_note()[0].as_langchain_tool()
    assert (tool.name, tool.description) == (
        "save_note",
        "Saves a note.\nOne note each.",
    )
    assert tool.metadata == {"tool_id": "notes.save"}
    shown: Any = tool.tool_call_schema
    names = {json for _, json in pb.names_of(Note).values()}
    assert set(shown["properties"]) == names - {"tenantId"}
    assert "maxResults" in names
    sent = convert_to_openai_tool(tool)["function"]
    assert sent["name"] == "save_note"
    assert set(sent["parameters"]["properties"]) == names - {"tenantId"}
    assert "tenant" not in json.dumps(shown)
    assert "tenant_id" not in tool.args


def test_the_provider_chooses_the_schema() -> None:
    adapter, _, host = save_note()
    assert "maxResults" in adapter.as_langchain_tool().tool_call_schema["properties"]
    host.model_provider = "google_genai"
    shown = SaveNote(host).as_langchain_tool().tool_call_schema
    assert shown["properties"] == {"text": {"type": "string"}}
    shown = SaveNote(host).as_langchain_tool("mcp").tool_call_schema
    assert "maxResults" in shown["properties"]
    assert profile_of("openai") == "openai-strict"
    assert profile_of("anthropic") == "anthropic"
    assert profile_of("ollama") == "anthropic"
    assert profile_of(None) == "mcp"


def test_tool_node(asynchronous: bool) -> None:
    adapter, recorder, _ = save_note({"id": "7", "count": 12, "later": 1})
    args = {
        "text": "x",
        "maxResults": 3,
        "big": str(2**60),
        "raw": "/w==",
        "at": "1970-01-01T00:00:01Z",
        "level": "LEVEL_HIGH",
        "tags": ["a"],
    }
    message = run_node(adapter.as_langchain_tool(), args, asynchronous)
    assert isinstance(message, ToolMessage) and message.status == "success"
    assert json.loads(str(message.content)) == {"id": "7", "count": "12"}
    assert message.artifact == {"id": "7", "count": "12"}
    assert recorder.seen[0].payload == args | {"tenantId": "acme"}


@pytest.mark.parametrize("key", ["tenant_id", "tenantId"])
def test_a_model_cannot_set_hidden_fields(asynchronous: bool, key: str) -> None:
    adapter, recorder, _ = save_note()
    run_node(adapter.as_langchain_tool(), {key: "forged"}, asynchronous)
    assert recorder.seen[0].payload == {"tenantId": "acme"}


def test_a_model_hears_what_is_wrong_with_its_arguments(
    asynchronous: bool, canary: str
) -> None:
    adapter, recorder, host = save_note()
    args = {"max_results": canary, "nope": canary, "text": "x"}
    message = run_node(adapter.as_langchain_tool(), args, asynchronous)
    assert message.status == "error"
    assert message.content == (
        "The arguments of `save_note` are invalid: `nope`: unknown field; there are "
        "text, maxResults, big, raw, at, level, tags; `maxResults`: want an integer"
    )
    assert recorder.seen == []
    assert host.violations.counts == {("notes.save", "input"): 1}


def test_rules_see_hidden_fields(asynchronous: bool) -> None:
    recorder = Recorder({"id": "7"})
    tool = SaveRuled(Host({"notes.save": recorder})).as_langchain_tool()
    assert run_node(tool, {"text": "acme"}, asynchronous).status == "success"
    message = run_node(tool, {"text": "other"}, asynchronous)
    assert message.status == "error"
    assert "`this.tenant_id == this.text` must hold" in message.content
    assert len(recorder.seen) == 1


def test_a_wrong_state_is_not_the_models_fault() -> None:
    adapter, _, host = save_note()
    tool = adapter.as_langchain_tool()
    with pytest.raises(ToolContractError, match="tenant_id"):
        tool.invoke({"text": "x", "tenant_id": 7})
    for arguments in ({"text": "x"}, {"text": "x", "tenantId": "forged"}):
        with pytest.raises(ToolContractError, match="tenant_id"):
            tool.invoke(arguments)
    assert host.violations.counts == {("notes.save", "input"): 3}


def test_a_model_hears_of_a_failure_without_details(
    asynchronous: bool, canary: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(request: Note) -> Saved:
        raise RuntimeError(canary)

    adapter = SaveNote(Host({"notes.save": CallableTransport(fail)}))
    message = run_node(adapter.as_langchain_tool(), {}, asynchronous)
    assert (message.status, message.content, message.artifact) == (
        "error",
        "The tool `save_note` failed: unknown.",
        None,
    )
    assert not [r for r in caplog.records if canary in r.getMessage()]


def test_a_broken_response_is_not_hidden_from_the_run(asynchronous: bool) -> None:
    adapter, _, host = save_note({"id": 7})
    with pytest.raises(ToolContractError, match="want a string"):
        run_node(adapter.as_langchain_tool(), {}, asynchronous)
    assert host.violations.counts == {("notes.save", "output"): 1}


def test_interrupts_pass(asynchronous: bool) -> None:
    def ask(request: Note) -> Saved:
        raise GraphInterrupt(())

    adapter = SaveNote(Host({"notes.save": CallableTransport(ask)}))
    with pytest.raises(GraphInterrupt):
        call(adapter, Note(), asynchronous, state={"tenant": "acme"})


def test_tool_without_arguments(asynchronous: bool) -> None:
    recorder = Recorder()
    tool = Ping(Host({"ping": recorder})).as_langchain_tool()
    schema: Any = tool.tool_call_schema
    assert schema["properties"] == {}
    message = run_node(tool, {}, asynchronous)
    assert message.artifact == {"id": "1"}
    assert recorder.seen[0].payload == {}


def in_graph(node: Any, checkpointer: Any = None) -> Any:
    graph: Any = StateGraph(State)
    graph.add_node("work", node)
    graph.add_edge(START, "work")
    graph.add_edge("work", END)
    return graph.compile(checkpointer=checkpointer)


def keys_of(recorder: Recorder) -> list[str]:
    return [seen.idempotency_key for seen in recorder.seen]


def thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


def test_a_resumed_node_repeats_the_key() -> None:
    adapter, recorder, _ = save_note()

    def work(state: State) -> dict[str, Any]:
        adapter(Note(text="x"), state=state)
        interrupt("go on?")
        return {}

    graph = in_graph(work, InMemorySaver())
    graph.invoke({"tenant": "acme"}, thread("1"))
    graph.invoke(Command(resume="yes"), thread("1"))
    first, second = keys_of(recorder)
    assert first == second
    assert uuid.UUID(first).version == 5
    graph.invoke({"tenant": "acme"}, thread("2"))
    assert keys_of(recorder)[2] != first


def test_the_key_depends_on_tool_and_payload(asynchronous: bool) -> None:
    class Twin(SaveNote):
        spec = dataclasses.replace(SaveNote.spec, tool_id="notes.twin")

    adapter, recorder, host = save_note()
    host.transports["notes.twin"] = recorder
    twin = Twin(host)
    calls = [(adapter, "x"), (adapter, "y"), (adapter, "x"), (twin, "x")]

    def work(state: State) -> dict[str, Any]:
        for tool, text in calls:
            tool(Note(text=text), state=state)
        return {}

    async def awork(state: State) -> dict[str, Any]:
        for tool, text in calls:
            await tool.acall(Note(text=text), state=state)
        return {}

    if asynchronous:
        asyncio.run(in_graph(awork).ainvoke({}))
    else:
        in_graph(work).invoke({})
    x, y, x_again, other = keys_of(recorder)
    assert x == x_again
    assert len({x, y, other}) == 3


def test_every_call_of_a_model_has_its_own_key(asynchronous: bool) -> None:
    adapter, recorder, _ = save_note()
    tool = adapter.as_langchain_tool()
    calls = [
        {"name": "save_note", "args": {"text": "x"}, "id": f"call-{i}"}
        for i in range(2)
    ]
    graph = in_graph(ToolNode([tool]))
    given = {"messages": [AIMessage("", tool_calls=calls)]}
    if asynchronous:
        asyncio.run(graph.ainvoke(given))
    else:
        graph.invoke(given)
    assert len(set(keys_of(recorder))) == 2


def test_outside_of_a_graph_every_call_has_its_own_key() -> None:
    adapter, recorder, _ = save_note()
    for _ in range(2):
        adapter(Note(), state={"tenant": "acme"})
    adapter(Note(), state={"tenant": "acme"}, idempotency_key="mine")
    one, two, given = keys_of(recorder)
    assert one != two
    assert given == "mine"


class Tools(Toolset):
    """Two tools."""

    adapters = {"notes.save": SaveNote, "ping": Ping}

    @property
    def save_note(self) -> SaveNote:
        return self._tool(SaveNote)

    @property
    def ping(self) -> Ping:
        return self._tool(Ping)


def test_toolset() -> None:
    recorder = Recorder()
    tools = Tools(Host({"ping": recorder, "notes.save": recorder}), ["ping"])
    assert tools.ids == ("notes.save", "ping")
    assert isinstance(tools.save_note, SaveNote)
    assert tools["ping"] is tools.ping
    assert "ping" in tools and "pong" not in tools
    assert (len(tools), list(tools)) == (2, [tools.save_note, tools.ping])
    assert [t.name for t in tools.langchain_tools()] == ["save_note", "ping"]
    assert [t.name for t in tools.langchain_tools("ping")] == ["ping"]


def test_missing_tools() -> None:
    with pytest.raises(ConfigError) as caught:
        Tools(Host({"ping": Recorder()}), ["notes.save", "ping", "pong"])
    assert caught.value.problems == (
        "TOOLS_CONFIG_JSON (file /etc/tools.json): tool `notes.save` is not configured",
        "unknown tool `pong`; did you mean `ping`?",
        "configured tools: `ping`; known tools: `notes.save`, `ping`",
    )
    tools = Tools(Host({"ping": Recorder()}))
    for ask in (lambda: tools.save_note, lambda: tools["notes.save"]):
        with pytest.raises(ConfigError, match="`notes.save` is not configured"):
            ask()
