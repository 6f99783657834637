"""Tools: typed, checked calls and what a chat model sees of them."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    NoReturn,
    Protocol,
    TypeVar,
    Union,
    get_type_hints,
)

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from langgraph.runtime import get_runtime
from pydantic import (
    BaseModel,
    JsonValue,
    ValidationError,
    create_model,
    model_validator,
)

from . import arguments, behaviors, pb, protojson
from .config import suggest
from .errors import ConfigError, ToolContractError, ToolError
from .schemas import Profile, ToolSchemas, profile_of
from .transports import ToolRequest, ToolTransport

__all__ = [
    "ContractViolations",
    "ToolAdapter",
    "ToolHost",
    "ToolSpec",
    "Toolset",
    "idempotency_key",
]

DEFAULT_TIMEOUT_MS = 30_000

In = TypeVar("In", bound=pb.Message)
Out = TypeVar("Out", bound=pb.Message)
A = TypeVar("A", bound="ToolAdapter[Any, Any]")
State = Union[BaseModel, Mapping[str, Any]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """What the contract says about a tool.

    Attributes:
        tool_id: Stable id, by which configuration names the tool.
        name: The name that models call the tool by.
        display_name: The name shown to people.
        description: What the tool does, shown to models.
        service: Full name of the proto service.
        method: Name of the rpc.
        idempotent: Whether a repeated call has no further effect.
        timeout_ms: Deadline of a call, unless configuration says another.
        injected: Fields of the request that the state fills, by field, with the
            state field that fills them. Models neither see nor set them.
    """

    tool_id: str
    name: str
    display_name: str
    description: str
    service: str
    method: str
    idempotent: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    injected: Mapping[str, str] = field(default_factory=dict)


class ContractViolations:
    """Counts inputs and outputs of tools that did not keep their schema."""

    def __init__(self) -> None:
        """Start at zero."""
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], int] = {}

    def record(self, error: ToolContractError) -> None:
        """Count a violation and log it."""
        key = (error.tool_id, error.direction)
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1
        _log.warning(
            "contract violation: %s",
            error,
            extra={"tool_id": error.tool_id, "direction": error.direction},
        )

    @property
    def counts(self) -> dict[tuple[str, str], int]:
        """Counts by tool id and direction (`input` or `output`)."""
        with self._lock:
            return dict(self._counts)


class ToolHost(Protocol):
    """What tools need of the runtime."""

    @property
    def agent_id(self) -> str:
        """The agent."""
        ...

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The ids of the configured tools, sorted."""
        ...

    @property
    def tools_source(self) -> str:
        """What configures the tools, for messages."""
        ...

    @property
    def model_provider(self) -> str | None:
        """The provider of the chat model, None if there is no model."""
        ...

    @property
    def violations(self) -> ContractViolations:
        """Where violations are counted."""
        ...

    def transport(self, tool_id: str) -> ToolTransport:
        """Return the transport of a configured tool."""
        ...


_KEY_NAMESPACE = uuid.UUID("3f0d4a5e-7c36-5f0b-9f4e-6c1f6f6f2a10")
_tool_call_id: ContextVar[str | None] = ContextVar("tool_call_id", default=None)


def idempotency_key(tool_id: str, payload: JsonValue) -> str:
    """Return a key for one logical call of a tool.

    In a graph the key is derived from the thread, the task (or the model's tool
    call) and the payload, so that a retried or resumed node repeats the same key,
    and a changed payload changes it. Outside of a graph nothing is ever resumed, and
    every call has a key of its own.
    """
    try:
        info = get_runtime().execution_info
    except (RuntimeError, AttributeError):
        info = None
    if info is None:
        return str(uuid.uuid4())
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    parts = [
        info.thread_id or "",
        info.checkpoint_ns,
        _tool_call_id.get() or info.task_id,
        tool_id,
        hashlib.sha256(canonical.encode()).hexdigest(),
    ]
    return str(uuid.uuid5(_KEY_NAMESPACE, json.dumps(parts)))


class ToolAdapter(Generic[In, Out]):
    """A tool as a typed function, and as a tool for chat models.

    Generated subclasses say the contract of one tool.

    Attributes:
        spec: What the contract says about the tool.
        input_type: Model of the request.
        output_type: Model of the response.
        schemas: The JSON schemas of both.
    """

    spec: ClassVar[ToolSpec]
    schemas: ClassVar[ToolSchemas]
    input_type: type[In]
    output_type: type[Out]

    def __init__(self, host: ToolHost) -> None:
        """Connect the tool to the transport that the runtime has for it."""
        self._transport = host.transport(self.spec.tool_id)
        self._violations = host.violations
        self._model_provider = host.model_provider

    def __repr__(self) -> str:
        """Show the tool's id."""
        return f"<{type(self).__name__} {self.spec.tool_id}>"

    def __call__(
        self,
        request: In,
        *,
        state: State | None = None,
        idempotency_key: str | None = None,
    ) -> Out:
        """Call the tool.

        Args:
            request: The request. Fields that the state fills are overwritten.
            state: The state of the graph, needed if it fills any field.
            idempotency_key: Overrides the key that is derived from the run.

        Raises:
            ToolError: If the call fails.
            ToolContractError: If request or response do not keep their schema.
        """
        call = self._request(self._fill(request, state), idempotency_key)
        with self._counted():
            return self._response(self._transport.call(call))

    async def acall(
        self,
        request: In,
        *,
        state: State | None = None,
        idempotency_key: str | None = None,
    ) -> Out:
        """Call the tool without blocking the event loop; else as a plain call."""
        call = self._request(self._fill(request, state), idempotency_key)
        with self._counted():
            return self._response(await self._transport.acall(call))

    def as_langchain_tool(self, profile: Profile | None = None) -> StructuredTool:
        """Return the tool for `bind_tools` and `ToolNode`.

        The model sees the schema that its provider takes, without the fields that the
        state fills, and its arguments are read in that form or near it.

        The content of its message is the response as JSON text, the artifact the
        same JSON as an object. A failed call becomes an error message that says the
        error's code and nothing else; invalid arguments become one that says what is
        wrong with them. A response that does not keep its schema is raised.

        Args:
            profile: The form of the schema; that for `MODEL_PROVIDER` if None.
        """
        profile = profile or profile_of(self._model_provider)
        shown = self._shown_schema(profile)
        adapter: Any = type(self)
        return _ModelTool(
            name=self.spec.name,
            description=shown["description"],
            args_schema=_args_schema(adapter, profile),
            shown_schema=shown,
            func=self._run,
            coroutine=self._arun,
            response_format="content_and_artifact",
            metadata={"tool_id": self.spec.tool_id},
            handle_tool_error=True,
            handle_validation_error=self._refuse_arguments,
        )

    def _run(self, **fields: Any) -> tuple[str, JsonValue]:
        call = self._request(fields, None)
        with self._shown_to_model(), self._counted():
            return _content(self._response(self._transport.call(call)))

    async def _arun(self, **fields: Any) -> tuple[str, JsonValue]:
        call = self._request(fields, None)
        with self._shown_to_model(), self._counted():
            return _content(self._response(await self._transport.acall(call)))

    def _fill(self, request: In, state: State | None) -> dict[str, Any]:
        """Return the fields of a request, those that the state fills included."""
        if not isinstance(request, self.input_type):
            self._violation(
                f"want {self.input_type.__name__}, got {type(request).__name__}"
            )
        fields = dict(request)
        for name, source in self.spec.injected.items():
            if state is None:
                self._violation(f"`{name}`: the state fills it: pass `state`")
            values = state if isinstance(state, Mapping) else vars(state)
            if source not in values:
                self._violation(f"`{name}`: the state has no field `{source}`")
            fields[name] = values[source]
        return fields

    def _request(self, fields: dict[str, Any], key: str | None) -> ToolRequest:
        try:
            message = self.input_type.model_validate(fields)
            payload = protojson.to_json(message)
        except ValidationError as error:
            self._violation(*protojson.problems_of(error))
        except protojson.JsonError as error:
            self._violation(*error.problems)
        if unset := list(behaviors.missing(message)):
            self._violation(*(f"`{path}`: required" for path in unset))
        return ToolRequest(
            tool_id=self.spec.tool_id,
            service=self.spec.service,
            method=self.spec.method,
            message=message,
            payload=payload,
            idempotent=self.spec.idempotent,
            timeout_ms=self.spec.timeout_ms,
            idempotency_key=key or idempotency_key(self.spec.tool_id, payload),
        )

    def _response(self, value: JsonValue) -> Out:
        try:
            # A newer service may send fields that this contract does not know.
            return protojson.from_json(self.output_type, value, ignore_unknown=True)
        except protojson.JsonError as error:
            raise ToolContractError(
                self.spec.tool_id, "output", error.problems
            ) from None

    def _violation(self, *problems: str) -> NoReturn:
        error = ToolContractError(self.spec.tool_id, "input", problems)
        self._violations.record(error)
        raise error from None

    @contextmanager
    def _counted(self) -> Iterator[None]:
        try:
            yield
        except ToolContractError as error:
            self._violations.record(error)
            raise

    @contextmanager
    def _shown_to_model(self) -> Iterator[None]:
        """Turn a failed call into a message with a fixed text."""
        try:
            yield
        except ToolContractError:
            raise
        except ToolError as error:
            _log.warning("tool call failed: %s", error)
            raise ToolException(
                f"The tool `{self.spec.name}` failed: {error.code}."
            ) from None

    def _refuse_arguments(self, error: Any) -> str:
        """Tell the model what is wrong with its arguments, without their values."""
        problems = protojson.problems_of(error)
        if any(e["loc"] and e["loc"][0] in self.spec.injected for e in error.errors()):
            self._violation(*problems)
        violation = ToolContractError(self.spec.tool_id, "input", problems)
        self._violations.record(violation)
        return f"The arguments of `{self.spec.name}` are invalid: " + "; ".join(
            problems
        )

    def _shown_schema(self, profile: Profile) -> dict[str, Any]:
        """Return the JSON schema that models see."""
        schema = self.schemas.unrolled(profile)
        described = [self.spec.description, schema.pop("description", "")]
        return {
            "title": self.spec.name,
            "description": "\n".join(filter(None, described)),
            **schema,
        }


@cache
def _args_schema(adapter: Any, profile: Profile) -> type[pb.Message]:
    """Return the request's model, which reads what models give and hides fields.

    `ToolNode` fills the hidden fields from the state, whatever the model says.
    """
    from langgraph.prebuilt import InjectedState

    request_type: type[pb.Message] = adapter.input_type
    injected = adapter.spec.injected
    hints = get_type_hints(request_type, include_extras=True)
    optional: dict[str, Any] = {n: (hints[n] | None, None) for n in injected}
    name = request_type.__name__
    shown_type = create_model(name, __base__=request_type, **optional)
    if injected:
        # Rules for the whole are looked at when the hidden fields are filled.
        shown_type.__rules__ = ()

    def read(cls: Any, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        hidden = {k: v for k, v in value.items() if k in injected}
        shown = {k: v for k, v in value.items() if k not in injected}
        try:
            request = arguments.read(shown_type, shown, profile, hidden=injected)
        except protojson.JsonError as error:
            raise ValueError("; ".join(error.problems)) from None
        names = request.model_fields_set - injected.keys()
        return {name: getattr(request, name) for name in names} | hidden

    filled: dict[str, Any] = {
        name: (Annotated[hints[name], InjectedState(source)], ...)
        for name, source in injected.items()
    }
    validators: dict[str, Any] = {"read": model_validator(mode="before")(read)}
    return create_model(
        name,
        __base__=request_type,
        __doc__=adapter.spec.description,
        __validators__=validators,
        **filled,
    )


def _content(response: pb.Message) -> tuple[str, JsonValue]:
    return protojson.dumps(response), protojson.to_json(response)


class _ModelTool(StructuredTool):
    """A tool that knows the id of the model's call while it runs."""

    shown_schema: dict[str, Any]

    @property
    def tool_call_schema(self) -> dict[str, Any]:
        """The schema of the arguments that models give."""
        return self.shown_schema

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        with _calling(input):
            return super().invoke(input, config, **kwargs)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        with _calling(input):
            return await super().ainvoke(input, config, **kwargs)


@contextmanager
def _calling(call: Any) -> Iterator[None]:
    is_call = isinstance(call, dict) and call.get("type") == "tool_call"
    token = _tool_call_id.set(call.get("id") if is_call else None)
    try:
        yield
    finally:
        _tool_call_id.reset(token)


class Toolset:
    """The configured tools of an agent.

    Generated subclasses have a typed attribute for every tool.

    Attributes:
        adapters: Every tool that the agent knows, by tool id.
    """

    adapters: ClassVar[Mapping[str, type[ToolAdapter[Any, Any]]]] = {}

    def __init__(self, host: ToolHost, required_tool_ids: Iterable[str] = ()) -> None:
        """Build the tools that are configured.

        Raises:
            ConfigError: If a required tool is not configured.
        """
        self._source = host.tools_source
        self._agent_id = host.agent_id
        self._tools = {
            tool_id: self.adapters[tool_id](host)
            for tool_id in host.tool_ids
            if tool_id in self.adapters
        }
        missing = [t for t in required_tool_ids if t not in self._tools]
        if missing:
            raise self._missing(*missing)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the configured tools, sorted."""
        return tuple(self._tools)

    def __getitem__(self, tool_id: str) -> ToolAdapter[Any, Any]:
        """Return a tool by its id."""
        tool = self._tools.get(tool_id)
        if tool is None:
            raise self._missing(tool_id)
        return tool

    def __contains__(self, tool_id: object) -> bool:
        """Tell whether a tool is configured."""
        return tool_id in self._tools

    def __iter__(self) -> Iterator[ToolAdapter[Any, Any]]:
        """Iterate over the tools, sorted by id."""
        return iter(self._tools.values())

    def __len__(self) -> int:
        """Return the number of configured tools."""
        return len(self._tools)

    def langchain_tools(
        self, *tool_ids: str, profile: Profile | None = None
    ) -> list[StructuredTool]:
        """Return tools for `bind_tools` and `ToolNode`.

        Args:
            *tool_ids: The tools to return, all configured ones when none is given.
            profile: The form of their schemas; that for `MODEL_PROVIDER` if None.
        """
        return [self[t].as_langchain_tool(profile) for t in tool_ids or self.ids]

    def _tool(self, adapter: type[A]) -> A:
        tool = self[adapter.spec.tool_id]
        assert isinstance(tool, adapter)
        return tool

    def _missing(self, *tool_ids: str) -> ConfigError:
        known = ", ".join(f"`{t}`" for t in sorted(self.adapters)) or "none"
        configured = ", ".join(f"`{t}`" for t in self.ids) or "none"
        return ConfigError(
            f"agent `{self._agent_id}` lacks tools:",
            [
                f"{self._source}: tool `{t}` is not configured"
                if t in self.adapters
                else f"unknown tool `{t}`; {suggest(t, self.adapters)}"
                for t in tool_ids
            ]
            + [f"configured tools: {configured}; known tools: {known}"],
        )
