from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, Field, SecretStr
from support import pb
from support.blobs import InMemoryBlobStore
from support.errors import ConfigError, ThreadIdError
from support.facts import InMemoryFactSink
from support.http_transport import HttpTransport
from support.runtime import AgentRuntime, load_runtime
from support.schemas import ToolSchemas
from support.tools import ToolAdapter, ToolSpec
from support.transports import CallableTransport

Write = Callable[[str, str | bytes], Path]
TOOLS = ("web_search", "fetch_page")


class Query(pb.Message):
    """A request."""

    query: pb.String = ""


class Found(pb.Message):
    """A response."""

    urls: list[pb.String] = Field(default_factory=list)


class WebSearch(ToolAdapter[Query, Found]):
    """Search."""

    spec = ToolSpec(
        tool_id="web_search",
        name="web_search",
        display_name="",
        description="",
        service="acme.tools.v1.Tools",
        method="WebSearch",
    )
    schemas = ToolSchemas(Path(__file__).parent / "schemas" / "no_fields.json")
    input_type = Query
    output_type = Found


def append(left: list[Any], right: list[Any]) -> list[Any]:
    return [*left, *right]


class State(BaseModel):
    """A state that holds a model of ours."""

    found: Annotated[list[Found], append] = Field(default_factory=list)


FOUND = (Found.__module__, Found.__name__)


def load(environ: dict[str, str] | None = None, **options: Any) -> AgentRuntime:
    environ = {"AGENT_ID": "research-agent"} | (environ or {})
    return load_runtime(environ, agent_id="research-agent", tool_ids=TOOLS, **options)


def problems(environ: dict[str, str] | None = None, **options: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(environ, **options)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value.problems


def tools_file(write: Write, **tools: Any) -> dict[str, str]:
    return {"TOOLS_CONFIG_JSON": str(write("tools.json", json.dumps(tools)))}


def persistent(write: Write, tmp_path: Path) -> dict[str, str]:
    dsn = write("dsn", f"sqlite:///{tmp_path}/threads.db")
    return {"PERSISTENCE_ENABLED": "true", "PERSISTENCE_DSN": str(dsn)}


def build(checkpointer: Any) -> Any:
    graph: Any = StateGraph(State)
    graph.add_node("work", lambda state: {"found": [Found(urls=["x"])]})
    graph.add_edge(START, "work")
    graph.add_edge("work", END)
    return graph.compile(checkpointer=checkpointer)


def test_nothing_configured() -> None:
    with load() as runtime:
        assert (runtime.agent_id, runtime.tool_ids) == ("research-agent", ())
        assert runtime.has_chat_model is False
        with pytest.raises(ConfigError, match="MODEL_PROVIDER: not set"):
            runtime.chat_model()
        with pytest.raises(ConfigError, match=r"\(not set\): tool `web_search`"):
            runtime.transport("web_search")
        with pytest.raises(ConfigError, match="fact_sink"):
            runtime.fact_sink  # noqa: B018
        with pytest.raises(ConfigError, match="blob_store"):
            runtime.blob_store  # noqa: B018


def test_stores() -> None:
    sink, store = InMemoryFactSink(), InMemoryBlobStore()
    runtime = load(fact_sink=sink, blob_store=store)
    assert runtime.fact_sink is sink
    assert runtime.blob_store is store


def test_tools_over_http(server: Any, reply: Any, write: Write, canary: str) -> None:
    token = write("token", canary)
    entry = {"url": server.url, "auth_token_file": str(token), "timeout_ms": 2000}
    server.answer(reply(body=b'{"urls": ["x"]}'))
    with load(tools_file(write, web_search=entry)) as runtime:
        assert runtime.tool_ids == ("web_search",)
        assert isinstance(runtime.transport("web_search"), HttpTransport)
        assert WebSearch(runtime)(Query(query="q")) == Found(urls=["x"])
    assert server.seen[0].headers["authorization"] == f"Bearer {canary}"
    assert int(server.seen[0].headers["connect-timeout-ms"]) <= 2000

    async def main() -> Found:
        async with load(tools_file(write, web_search=entry)) as runtime:
            return await WebSearch(runtime).acall(Query(query="q"))

    assert asyncio.run(main()) == Found(urls=["x"])
    with load(tools_file(write, web_search=entry)) as runtime:
        shown = repr(runtime) + repr(vars(runtime)) + repr(runtime.settings)
        assert canary not in shown


def test_functions(write: Write) -> None:
    environ = tools_file(write, web_search={"transport": "callable", "timeout_ms": 5})
    functions: dict[str, Any] = {
        "web_search": lambda query: Found(urls=[query.query]),
        "fetch_page": lambda query: {},
    }
    runtime = load(environ, callables=functions)
    assert runtime.tool_ids == ("fetch_page", "web_search")
    assert isinstance(runtime.transport("fetch_page"), CallableTransport)
    assert WebSearch(runtime)(Query(query="q")) == Found(urls=["q"])


def test_functions_and_configuration_disagree(write: Write) -> None:
    environ = tools_file(
        write,
        web_search={"transport": "callable"},
        fetch_page={"url": "http://localhost"},
    )
    functions: dict[str, Any] = {"fetch_page": lambda q: {}, "web_serch": lambda q: {}}
    found = problems(environ | {"PORT_HTTP": "x"}, callables=functions)
    path = environ["TOOLS_CONFIG_JSON"]
    assert found == (
        "PORT_HTTP: must be a port number from 1 to 65535",
        f"callables: TOOLS_CONFIG_JSON (file {path}) gives tool `fetch_page` the "
        "transport `http`",
        "callables: unknown tool `web_serch`; did you mean `web_search`?",
        f"TOOLS_CONFIG_JSON (file {path}): tool `web_search` has the transport "
        "`callable`, but load_runtime was given no function for it",
    )


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://tools.example", True),
        ("https://tools.example", False),
        ("http://127.0.0.1:1", False),
        ("http://localhost:1", False),
        ("http://[::1]:1", False),
    ],
)
def test_a_token_in_the_clear_is_noticed(
    write: Write, caplog: pytest.LogCaptureFixture, url: str, warned: bool
) -> None:
    entry = {"url": url, "auth_token_file": str(write("token", "t"))}
    with caplog.at_level(logging.WARNING):
        load(tools_file(write, web_search=entry)).close()
    assert [r.getMessage() for r in caplog.records] == (
        ["tool `web_search`: its token is sent without encryption"] if warned else []
    )


class Provider:
    """Stands in for `init_chat_model`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.error: Exception | None = None

    def __call__(self, name: str, **arguments: Any) -> BaseChatModel:
        self.calls.append((name, arguments))
        if self.error is not None:
            raise self.error
        return ParrotFakeChatModel()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    provider = Provider()
    module = types.ModuleType("langchain.chat_models")
    module.init_chat_model = provider  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain.chat_models", module)
    return provider


def model(write: Write, secret: str) -> dict[str, str]:
    return {
        "MODEL_PROVIDER": "openai",
        "MODEL_NAME": "gpt-4o",
        "MODEL_PARAMS_JSON": '{"temperature": 0}',
        "MODEL_API_KEY_FILE": str(write("key", secret)),
    }


def test_chat_model_is_built_at_start_up(
    provider: Provider, write: Write, canary: str
) -> None:
    runtime = load(model(write, canary))
    ((name, arguments),) = provider.calls
    assert name == "gpt-4o"
    key = arguments.pop("api_key")
    assert isinstance(key, SecretStr) and key.get_secret_value() == canary
    assert arguments == {"model_provider": "openai", "temperature": 0}
    assert runtime.has_chat_model
    assert runtime.chat_model() is runtime.chat_model()
    assert len(provider.calls) == 1


def test_chat_model_is_built_when_asked_for(provider: Provider, write: Write) -> None:
    runtime = load(model(write, "k"), build_model=False)
    assert provider.calls == []
    assert runtime.has_chat_model
    runtime.chat_model()
    assert len(provider.calls) == 1
    provider.error = ImportError("needs a package")
    with pytest.raises(ConfigError, match="needs a package"):
        load(model(write, "k"), build_model=False).chat_model()


def test_what_a_provider_refuses(provider: Provider, write: Write, canary: str) -> None:
    class Options(BaseModel):
        temperature: int

    with pytest.raises(ValueError) as refused:
        Options(temperature=canary)  # type: ignore[arg-type]
    for error, problem in [
        (refused.value, "MODEL_PARAMS_JSON: the provider refuses `temperature`"),
        (
            RuntimeError(canary),
            "MODEL_PROVIDER, MODEL_NAME: the provider refuses: RuntimeError",
        ),
        (
            ValueError("Unsupported provider='x'.\n\nSupported model providers ..."),
            "MODEL_PROVIDER: LangChain knows no such provider",
        ),
    ]:
        provider.error = error
        found = problems({**model(write, canary), "PORT_HTTP": "0"})
        assert found == ("PORT_HTTP: must be a port number from 1 to 65535", problem)


def test_a_model_that_is_configured_wrong_is_not_built(
    provider: Provider, write: Write
) -> None:
    (found,) = problems({**model(write, "k"), "MODEL_PARAMS_JSON": "["})
    assert found.startswith("MODEL_PARAMS_JSON: is not JSON")
    assert provider.calls == []


def test_missing_integration_package(write: Write) -> None:
    # For real: LangChain is installed here, the provider's package is not.
    pytest.importorskip("langchain.chat_models")
    environ = model(write, "k") | {"MODEL_PROVIDER": "fireworks"}
    (found,) = problems(environ)
    assert "langchain-fireworks" in found and "MODEL_PROVIDER" in found
    (found,) = problems(environ | {"MODEL_PROVIDER": "nobody"})
    assert found == "MODEL_PROVIDER: LangChain knows no such provider"


def test_run_config(write: Write, tmp_path: Path) -> None:
    runtime = load(persistent(write, tmp_path))
    assert runtime.run_config(thread_id="t", checkpoint_id="c") == {
        "configurable": {"thread_id": "t", "checkpoint_id": "c"}
    }
    with pytest.raises(ThreadIdError, match="thread_id"):
        runtime.run_config()
    with pytest.raises(ThreadIdError, match="thread_id"):
        runtime.run_config(checkpoint_id="c")
    assert load().run_config() == {"configurable": {}}
    with pytest.raises(ThreadIdError, match="persistence is off"):
        load().run_config(thread_id="t", checkpoint_id="c")


def test_no_checkpointer_without_persistence() -> None:
    with load().checkpointer() as saver:
        assert saver is None

    async def main() -> Any:
        async with load().acheckpointer() as saver:
            return saver

    assert asyncio.run(main()) is None


def test_in_memory() -> None:
    runtime = load({"PERSISTENCE_ENABLED": "true"})
    with runtime.checkpointer() as one, runtime.checkpointer() as two:
        assert isinstance(one, InMemorySaver) and one is not two


def test_sqlite_keeps_threads(write: Write, tmp_path: Path) -> None:
    environ = persistent(write, tmp_path)
    want: list[Found] = []
    # Each turn is a process of its own, blocking ones and others in turn.
    for turn in range(4):
        runtime = load(environ, checkpoint_types=[FOUND])
        config = runtime.run_config(thread_id="t")
        want.append(Found(urls=["x"]))
        if turn % 2:
            with runtime.checkpointer() as saver:
                assert build(saver).invoke({"found": []}, config)["found"] == want
        else:

            async def main(runtime: AgentRuntime, config: Any) -> Any:
                async with runtime.acheckpointer() as saver:
                    return await build(saver).ainvoke({"found": []}, config)

            assert asyncio.run(main(runtime, config))["found"] == want


def test_only_types_of_the_contract_are_read_back(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = persistent(write, tmp_path)
    config: Any = {"configurable": {"thread_id": "t"}}
    with load(environ, checkpoint_types=[FOUND]).checkpointer() as saver:
        build(saver).invoke({}, config)
        assert build(saver).get_state(config).values["found"] == [Found(urls=["x"])]
    for environ in (environ, {"PERSISTENCE_ENABLED": "true"}):
        with load(environ).checkpointer() as saver:
            build(saver).invoke({}, config)
            values = build(saver).get_state(config).values["found"]
            assert values and not any(isinstance(v, Found) for v in values)


def test_a_database_that_cannot_be_opened(
    write: Write, tmp_path: Path, canary: str
) -> None:
    secret_dir = tmp_path / canary
    secret_dir.mkdir()
    (secret_dir / "x.db").write_text("this is no database, it is a text file")
    dsn = write("dsn", f"sqlite:///{secret_dir}/x.db")
    environ = {"PERSISTENCE_ENABLED": "true", "PERSISTENCE_DSN": str(dsn)}
    runtime = load(environ)

    async def main() -> None:
        async with runtime.acheckpointer():
            pass

    def sync() -> None:
        with runtime.checkpointer():
            pass

    for run in (sync, lambda: asyncio.run(main())):
        with pytest.raises(ConfigError, match="PERSISTENCE_DSN: ") as caught:
            run()
        assert canary not in str(caught.value)
        assert caught.value.__suppress_context__
    (secret_dir / "x.db").unlink()
    os.rmdir(secret_dir)
    for run in (sync, lambda: asyncio.run(main())):
        with pytest.raises(ConfigError, match="does not exist") as caught:
            run()
        assert canary not in str(caught.value)


def test_no_secret_reaches_a_checkpoint(
    server: Any, reply: Any, error_reply: Any, write: Write, tmp_path: Path, canary: str
) -> None:
    entry = {"url": server.url, "auth_token_file": str(write("token", canary))}
    environ = tools_file(write, web_search=entry) | persistent(write, tmp_path)
    server.answer(error_reply(400, "invalid_argument", canary))
    with load(environ) as runtime, runtime.checkpointer() as saver:
        search = WebSearch(runtime)
        graph: Any = StateGraph(State)
        graph.add_node("work", lambda state: {"found": [search(Query(query="q"))]})
        graph.add_edge(START, "work")
        with pytest.raises(Exception, match="invalid_argument"):
            graph.compile(checkpointer=saver).invoke(
                {}, runtime.run_config(thread_id="t")
            )
    stored = b"".join(p.read_bytes() for p in tmp_path.glob("threads.db*"))
    assert b"invalid_argument" in stored
    assert canary.encode() not in stored
