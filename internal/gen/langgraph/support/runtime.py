"""The runtime handle: what the environment gives to a running agent."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr, ValidationError
from typing_extensions import Self

from .agent import run_config
from .blobs import BlobStore
from .config import (
    ModelSettings,
    SecretError,
    Settings,
    ToolSettings,
    collect_settings,
    config_error,
    suggest,
)
from .errors import ConfigError
from .facts import FactSink
from .tools import ContractViolations
from .transports import CallableTransport, ToolFunction, ToolTransport

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from .http_transport import HttpClients

__all__ = ["AgentRuntime", "load_runtime"]

_log = logging.getLogger(__name__)


class AgentRuntime:
    """Settings, tools' transports, model and stores of one process.

    Attributes:
        settings: What the environment says.
        violations: Counts of tool inputs and outputs that broke their schema.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        transports: Mapping[str, ToolTransport] | None = None,
        chat_model: BaseChatModel | None = None,
        fact_sink: FactSink | None = None,
        blob_store: BlobStore | None = None,
        checkpoint_types: Iterable[tuple[str, str]] = (),
        clients: HttpClients | None = None,
    ) -> None:
        """Assemble a runtime; `load_runtime` does it from the environment.

        Args:
            settings: What the environment says.
            transports: The transports of the configured tools, by tool id.
            chat_model: The chat model, built when first asked for if None.
            fact_sink: Where facts go.
            blob_store: Where large artifacts go.
            checkpoint_types: Module and name of each type that a checkpoint may hold.
            clients: HTTP clients to close with the runtime.
        """
        self.settings = settings
        self.violations = ContractViolations()
        self._transports = dict(sorted((transports or {}).items()))
        self._chat_model = chat_model
        self._fact_sink = fact_sink
        self._blob_store = blob_store
        self._checkpoint_types = set(checkpoint_types)
        self._clients = clients

    @property
    def agent_id(self) -> str:
        """The agent."""
        return self.settings.agent_id

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The ids of the configured tools, sorted."""
        return tuple(self._transports)

    @property
    def model_provider(self) -> str | None:
        """The provider of the chat model, None if the operator chose no model."""
        return None if self.settings.model is None else self.settings.model.provider

    @property
    def tools_source(self) -> str:
        """What configures the tools, for messages."""
        return self.settings.tools_source

    @property
    def fact_sink(self) -> FactSink:
        """Where facts go.

        Raises:
            ConfigError: If the application gave none.
        """
        if self._fact_sink is None:
            raise self._error("no fact sink: give `fact_sink` to load_runtime")
        return self._fact_sink

    @property
    def blob_store(self) -> BlobStore:
        """Where large artifacts go.

        Raises:
            ConfigError: If the application gave none.
        """
        if self._blob_store is None:
            raise self._error("no blob store: give `blob_store` to load_runtime")
        return self._blob_store

    def transport(self, tool_id: str) -> ToolTransport:
        """Return the transport of a tool.

        Raises:
            ConfigError: If the tool is not configured.
        """
        transport = self._transports.get(tool_id)
        if transport is None:
            hint = suggest(tool_id, self._transports)
            raise self._error(
                f"{self.tools_source}: tool `{tool_id}` is not configured; {hint}"
            )
        return transport

    @property
    def has_chat_model(self) -> bool:
        """Whether a chat model is configured."""
        return self._chat_model is not None or self.settings.model is not None

    def chat_model(self) -> BaseChatModel:
        """Return the chat model that the operator chose.

        It is built once; a rotated key is used after a restart.

        Raises:
            ConfigError: If none is configured, or it cannot be built.
        """
        if self._chat_model is None:
            if self.settings.model is None:
                raise self._error(
                    "MODEL_PROVIDER: not set; set it together with MODEL_NAME"
                )
            model, problem = _build_model(self.settings.model)
            if model is None:
                raise self._error(problem)
            self._chat_model = model
        return self._chat_model

    def run_config(
        self, *, thread_id: str | None = None, checkpoint_id: str | None = None
    ) -> RunnableConfig:
        """Return the configuration of one run.

        Args:
            thread_id: The thread; required when persistence is on.
            checkpoint_id: The checkpoint of the thread from which to replay.

        Raises:
            ThreadIdError: If the ids do not fit the persistence.
        """
        return run_config(
            persistent=self.settings.persistence_enabled,
            thread_id=thread_id,
            checkpoint_id=checkpoint_id,
        )

    @contextmanager
    def checkpointer(self) -> Iterator[BaseCheckpointSaver[Any] | None]:
        """Open the checkpointer that is configured, None without persistence.

        It reads back the contract's types only.

        Raises:
            ConfigError: If the database cannot be opened.
        """
        if not self.settings.persistence_enabled:
            yield None
        elif self.settings.persistence_dsn is None:
            yield InMemorySaver(serde=self._serde())
        else:
            from langgraph.checkpoint.sqlite import SqliteSaver

            try:
                # The saver has a lock of its own.
                connection = sqlite3.connect(self._database(), check_same_thread=False)
            except sqlite3.Error as error:
                raise self._database_error(error) from None
            try:
                saver = SqliteSaver(connection, serde=self._serde())
                try:
                    saver.setup()
                except sqlite3.Error as error:
                    raise self._database_error(error) from None
                yield saver
            finally:
                connection.close()

    @asynccontextmanager
    async def acheckpointer(self) -> AsyncIterator[BaseCheckpointSaver[Any] | None]:
        """Open the checkpointer for asynchronous runs, as `checkpointer` does."""
        if not self.settings.persistence_enabled:
            yield None
        elif self.settings.persistence_dsn is None:
            yield InMemorySaver(serde=self._serde())
        else:
            import aiosqlite
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            try:
                connection = await aiosqlite.connect(self._database())
            except sqlite3.Error as error:
                raise self._database_error(error) from None
            try:
                saver = AsyncSqliteSaver(connection, serde=self._serde())
                try:
                    await saver.setup()
                except sqlite3.Error as error:
                    raise self._database_error(error) from None
                yield saver
            finally:
                await connection.close()

    def close(self) -> None:
        """Close the connections of blocking calls."""
        if self._clients is not None:
            self._clients.close()

    async def aclose(self) -> None:
        """Close all connections, those of this event loop included."""
        if self._clients is not None:
            await self._clients.aclose()

    def __enter__(self) -> Self:
        """Return the runtime, to be closed at the end of the block."""
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections of blocking calls."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the runtime, to be closed at the end of the block."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self.aclose()

    def _serde(self) -> JsonPlusSerializer:
        return JsonPlusSerializer(
            pickle_fallback=False,
            allowed_msgpack_modules=sorted(self._checkpoint_types) or None,
        )

    def _database(self) -> str:
        try:
            return self.settings.sqlite_path()
        except SecretError as error:
            raise self._error(f"PERSISTENCE_DSN: {error}") from None

    def _database_error(self, error: sqlite3.Error) -> ConfigError:
        # SQLite's messages do not show the path of the database.
        return self._error(f"PERSISTENCE_DSN: cannot open the database: {error}")

    def _error(self, problem: str) -> ConfigError:
        return config_error(self.agent_id, [problem])


def load_runtime(
    environ: Mapping[str, str],
    *,
    agent_id: str,
    tool_ids: Collection[str],
    checkpoint_types: Iterable[tuple[str, str]] = (),
    callables: Mapping[str, ToolFunction] | None = None,
    fact_sink: FactSink | None = None,
    blob_store: BlobStore | None = None,
    build_model: bool = True,
) -> AgentRuntime:
    """Read the environment contract and assemble the runtime.

    Args:
        environ: The environment variables.
        agent_id: The agent that the package was generated for.
        tool_ids: All tools that the package knows.
        checkpoint_types: Module and name of each type that a checkpoint may hold.
        callables: Tools of this process, by tool id: those with the transport
            `callable`, and any that TOOLS_CONFIG_JSON does not mention.
        fact_sink: Where facts go.
        blob_store: Where large artifacts go.
        build_model: Build the chat model now, so that what is wrong with it is
            reported now, and no node imports it while an event loop waits.

    Raises:
        ConfigError: If anything is wrong, with everything that is wrong.
    """
    settings, problems = collect_settings(environ, agent_id=agent_id, tool_ids=tool_ids)
    functions = dict(callables or {})
    problems += _callable_problems(settings, functions, tool_ids)
    model = None
    model_is_wrong = any(problem.startswith("MODEL_") for problem in problems)
    if build_model and settings.model is not None and not model_is_wrong:
        model, problem = _build_model(settings.model)
        if model is None:
            problems.append(problem)
    if problems:
        raise config_error(agent_id, problems)

    clients = None
    if any(tool.transport == "http" for tool in settings.tools.values()):
        from .http_transport import HttpClients

        clients = HttpClients()
    transports: dict[str, ToolTransport] = {}
    for tool_id, tool in settings.tools.items():
        if tool.transport == "http":
            assert clients is not None
            transports[tool_id] = _http_transport(tool, clients)
    for tool_id, function in functions.items():
        configured = settings.tools.get(tool_id)
        transports[tool_id] = CallableTransport(
            function, timeout_ms=configured.timeout_ms if configured else None
        )
    return AgentRuntime(
        settings,
        transports=transports,
        chat_model=model,
        fact_sink=fact_sink,
        blob_store=blob_store,
        checkpoint_types=checkpoint_types,
        clients=clients,
    )


def _http_transport(tool: ToolSettings, clients: HttpClients) -> ToolTransport:
    from .http_transport import HttpTransport

    url = urlsplit(tool.url)
    if tool.auth_token and url.scheme == "http" and not _is_loopback(url.hostname):
        _log.warning("tool `%s`: its token is sent without encryption", tool.tool_id)
    return HttpTransport(
        tool.url,
        clients=clients,
        auth_token=tool.auth_token,
        timeout_ms=tool.timeout_ms,
        retries=tool.retries,
    )


def _is_loopback(host: str | None) -> bool:
    return host in ("localhost", "::1") or (host or "").startswith("127.")


def _callable_problems(
    settings: Settings, functions: Mapping[str, ToolFunction], tool_ids: Collection[str]
) -> Iterator[str]:
    """Compare the functions that the application gives with the configuration."""
    for tool_id in functions:
        if tool_id not in tool_ids:
            yield f"callables: unknown tool `{tool_id}`; {suggest(tool_id, tool_ids)}"
        elif tool_id in settings.tools:
            if settings.tools[tool_id].transport != "callable":
                yield (
                    f"callables: {settings.tools_source} gives tool `{tool_id}` "
                    "the transport `http`"
                )
    for tool_id, tool in settings.tools.items():
        if tool.transport == "callable" and tool_id not in functions:
            yield (
                f"{settings.tools_source}: tool `{tool_id}` has the transport "
                "`callable`, but load_runtime was given no function for it"
            )


def _build_model(model: ModelSettings) -> tuple[BaseChatModel | None, str]:
    """Return the chat model, or what is wrong."""
    source = "MODEL_PROVIDER, MODEL_NAME"
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        return None, f"{source}: a chat model needs the package `langchain`"
    arguments: dict[str, Any] = dict(model.params)
    try:
        if model.api_key is not None:
            arguments["api_key"] = SecretStr(model.api_key.read())
        return (
            init_chat_model(model.name, model_provider=model.provider, **arguments),
            "",
        )
    except SecretError as error:
        return None, f"MODEL_API_KEY_FILE: {error}"
    except ImportError as error:
        return None, f"{source}: {error}"
    except ValidationError as error:
        names = ", ".join(
            f"`{'.'.join(map(str, e['loc']))}`"
            for e in error.errors(include_input=False, include_url=False)
        )
        return None, f"MODEL_PARAMS_JSON: the provider refuses {names}"
    except Exception as error:
        if str(error).startswith("Unsupported provider"):
            return None, "MODEL_PROVIDER: LangChain knows no such provider"
        # The text of a provider's error may show the key.
        return None, f"{source}: the provider refuses: {type(error).__name__}"
