"""The environment contract: variables and mounted files become settings.

Every value has one source and there are no fallbacks. Everything that is wrong is
reported together, and no message shows the content of a variable or a file that
may hold a secret.
"""

from __future__ import annotations

import difflib
import ipaddress
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import JsonValue

from .errors import AgentError, ConfigError

__all__ = [
    "ModelSettings",
    "SecretError",
    "SecretFile",
    "Settings",
    "ToolSettings",
    "collect_settings",
    "load_settings",
    "suggest",
]

MAX_SECRET_BYTES = 64 * 1024
MAX_TOOLS_CONFIG_BYTES = 1024 * 1024
MAX_RETRIES = 4
MAX_TIMEOUT_MS = 3_600_000
LOG_LEVELS = ("debug", "info", "warning", "error", "critical")

# Providers that authenticate by the identity of the machine, or not at all.
KEYLESS_PROVIDERS = frozenset(
    {"bedrock", "bedrock_converse", "google_vertexai", "huggingface", "ollama"}
)

_SQLITE = "sqlite:///"


class SecretError(AgentError):
    """A secret file cannot be used. The message names the file and the reason."""


class SecretFile:
    """A secret in a mounted file.

    The file is looked at on every read, so that a rotated secret is seen, and read
    again only when it changed.
    """

    __slots__ = ("_cache", "path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file; nothing is read yet."""
        self.path = Path(path)
        self._cache: tuple[tuple[int, int, int], str] | None = None

    def __repr__(self) -> str:
        """Show the path, never the content."""
        return f"SecretFile({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[SecretFile], tuple[str]]:
        """Copy and pickle the path, never the content."""
        return SecretFile, (str(self.path),)

    def read(self, *, fresh: bool = False) -> str:
        """Return the secret without its trailing newline.

        Args:
            fresh: Read the file even if it looks unchanged.

        Raises:
            SecretError: If the file is missing, unreadable, not a regular file,
                empty, larger than 64 KiB, or not one line of text.
        """
        try:
            # Not blocking, so that a pipe cannot hang the caller.
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise self._error(error.strerror or "cannot be opened") from None
        try:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                raise self._error("is not a regular file")
            version = (info.st_mtime_ns, info.st_ino, info.st_size)
            if self._cache is None or fresh or self._cache[0] != version:
                self._cache = (version, self._parse(_read_all(handle)))
            return self._cache[1]
        except OSError as error:
            raise self._error(error.strerror or "cannot be read") from None
        finally:
            os.close(handle)

    def _parse(self, content: bytes) -> str:
        if len(content) > MAX_SECRET_BYTES:
            raise self._error("is larger than 64 KiB")
        try:
            secret = content.decode()
        except UnicodeDecodeError:
            raise self._error("is not UTF-8 text") from None
        secret = secret.removesuffix("\n").removesuffix("\r")
        if not secret.strip():
            raise self._error("is empty")
        if not secret.isprintable():
            raise self._error("holds more than one line of printable text")
        return secret

    def _error(self, reason: str) -> SecretError:
        return SecretError(f"file {self.path}: {reason}")


def _read_all(handle: int) -> bytes:
    content = b""
    while len(content) <= MAX_SECRET_BYTES:
        chunk = os.read(handle, MAX_SECRET_BYTES + 1 - len(content))
        if not chunk:
            break
        content += chunk
    return content


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The chat model that the operator chose.

    Attributes:
        provider: A provider that LangChain's `init_chat_model` knows.
        name: The name of the model, as the provider calls it.
        params: Further arguments of the model, such as `temperature`.
        api_key: The provider's key, None for providers that need none.
    """

    provider: str
    name: str
    params: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    api_key: SecretFile | None = None


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """Where a tool is and how it is called.

    Attributes:
        tool_id: The tool.
        transport: `http` for Connect over HTTP, `callable` for a function that the
            application passes to `load_runtime`.
        url: Base URL of the service, for `http`.
        auth_token: The bearer token that is sent, if any.
        timeout_ms: Deadline of a call; the contract's when None.
        retries: Further attempts after a failed one; the transport's when None.
    """

    tool_id: str
    transport: Literal["http", "callable"]
    url: str = ""
    auth_token: SecretFile | None = None
    timeout_ms: int | None = None
    retries: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says, checked.

    Attributes:
        agent_id: The agent.
        port_http: The port that the application serves on.
        log_level: A level that the `logging` module knows, such as `INFO`.
        model: The chat model, None when none is configured.
        tools: The configured tools by tool id.
        tools_file: The file that configures the tools, None when there is none.
        persistence_enabled: Whether runs are checkpointed.
        persistence_dsn: Where checkpoints are kept; in memory when None.
    """

    agent_id: str
    port_http: int = 8080
    log_level: str = "INFO"
    model: ModelSettings | None = None
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)
    tools_file: Path | None = None
    persistence_enabled: bool = False
    persistence_dsn: SecretFile | None = None

    @property
    def tools_source(self) -> str:
        """What configures the tools, for messages."""
        if self.tools_file is None:
            return "TOOLS_CONFIG_JSON (not set)"
        return f"TOOLS_CONFIG_JSON (file {self.tools_file})"

    def sqlite_path(self) -> str:
        """Return the path of the database that PERSISTENCE_DSN names.

        Raises:
            SecretError: If the file has changed and is no longer right.
        """
        assert self.persistence_dsn is not None
        path, problem = _sqlite_path(self.persistence_dsn.read())
        if problem:
            raise SecretError(f"file {self.persistence_dsn.path}: {problem}")
        return path


def load_settings(
    environ: Mapping[str, str], *, agent_id: str, tool_ids: Collection[str]
) -> Settings:
    """Read the environment contract.

    Args:
        environ: The environment variables.
        agent_id: The agent that the package was generated for.
        tool_ids: All tools that the package knows.

    Raises:
        ConfigError: If anything is wrong, with everything that is wrong.
    """
    settings, problems = collect_settings(environ, agent_id=agent_id, tool_ids=tool_ids)
    if problems:
        raise config_error(agent_id, problems)
    return settings


def config_error(agent_id: str, problems: Iterable[str]) -> ConfigError:
    """Return the error that reports problems of an agent's configuration."""
    return ConfigError(f"the configuration of agent `{agent_id}` is wrong:", problems)


def collect_settings(
    environ: Mapping[str, str], *, agent_id: str, tool_ids: Collection[str]
) -> tuple[Settings, list[str]]:
    """Read the environment contract; return the problems instead of raising.

    The settings are usable only when there are no problems.
    """
    reader = _Reader(environ)
    reader.check_agent_id(agent_id)
    tools_file = reader.path("TOOLS_CONFIG_JSON")
    enabled = reader.persistence_enabled()
    settings = Settings(
        agent_id=agent_id,
        port_http=reader.port("PORT_HTTP", 8080),
        log_level=reader.log_level(),
        model=reader.model(),
        tools=reader.tools(tools_file, tool_ids) if tools_file else {},
        tools_file=tools_file,
        persistence_enabled=enabled,
        persistence_dsn=reader.persistence_dsn(enabled),
    )
    return settings, reader.problems


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name, or at all of them."""
    known = sorted(known)
    nearest = difflib.get_close_matches(name, known, n=1)
    if nearest:
        return f"did you mean `{nearest[0]}`?"
    if not known:
        return "there are none"
    return "known: " + ", ".join(f"`{k}`" for k in known)


def _sqlite_path(dsn: str) -> tuple[str, str]:
    """Return the path that a DSN names and what is wrong with the DSN."""
    path = dsn.removeprefix(_SQLITE)
    if path == dsn:
        return "", f"must hold a DSN of the form {_SQLITE}path"
    if not path or path.startswith(":") or "?" in path or "#" in path:
        return "", f"must name a database file after {_SQLITE}, and nothing else"
    if not Path(path).parent.is_dir():
        return "", "the directory of the database that it names does not exist"
    return path, ""


_SECRET_KEY = re.compile(
    r"api_?key|access_?key|private_?key|secret|passw|credential|authorization|bearer"
    r"|token$",
    re.IGNORECASE,
)
_RESERVED_PARAMS = ("model", "model_provider", "configurable_fields", "config_prefix")


def _secret_keys(value: JsonValue, path: str = "") -> Iterable[str]:
    """Find the keys, at any depth, that name a secret."""
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}.{key}" if path else key
            if _SECRET_KEY.search(key.replace("-", "_")):
                yield here
            else:
                yield from _secret_keys(item, here)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _secret_keys(item, f"{path}[{i}]")


_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_URL_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*/?", re.ASCII)


def _url_problem(url: str) -> str:
    """Return what is wrong with the base URL of a service."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return "must be printable ASCII without spaces and backslashes"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    if "@" in parts.netloc:
        return "must not hold a user or a password: use `auth_token_file`"
    if not host or port == 0 or parts.netloc.endswith(":"):
        return "must name a host"
    if "[" in parts.netloc:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return "must name a host"
    elif not _HOST.fullmatch(host):
        return "must name a host"
    if "?" in url or "#" in url:
        return "must have neither a query nor a fragment"
    if not _URL_PATH.fullmatch(parts.path) or ".." in parts.path.split("/"):
        return "must have a plain path"
    return ""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands there twice")
    return out


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse_object(text: str) -> dict[str, JsonValue]:
    """Parse a JSON object.

    Raises:
        ValueError: If the text is none; the message shows nothing of the text.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise ValueError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise ValueError("is not JSON: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return value


class _Reader:
    """Reads variables and files, and collects what is wrong with them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.problems: list[str] = []

    def problem(self, variable: str, text: str) -> None:
        self.problems.append(f"{variable}: {text}")

    def text(self, variable: str) -> str | None:
        """Return the value of a variable, None when it is not set."""
        value = self.environ.get(variable)
        if value is not None and not value.strip():
            self.problem(variable, "set but empty; give it a value or remove it")
            return None
        return value

    def path(self, variable: str) -> Path | None:
        value = self.text(variable)
        if value is not None and "\0" in value:
            self.problem(variable, "is not a path")
            return None
        return None if value is None else Path(value)

    def secret(self, variable: str, path: Path) -> SecretFile:
        """Return a secret file after a first look at it."""
        secret = SecretFile(path)
        try:
            secret.read()
        except SecretError as error:
            self.problem(variable, str(error))
        return secret

    def credential(self, variable: str, path: Path) -> SecretFile:
        """Return a secret file whose content can stand in an HTTP header."""
        secret = self.secret(variable, path)
        try:
            value = secret.read()
        except SecretError:
            return secret
        if not value.isascii() or " " in value:
            self.problem(variable, f"file {path}: is not one word of ASCII text")
        return secret

    def check_agent_id(self, agent_id: str) -> None:
        value = self.text("AGENT_ID")
        if value is None:
            if "AGENT_ID" not in self.environ:
                self.problem("AGENT_ID", f"not set; this package is `{agent_id}`")
        elif value != agent_id:
            self.problem("AGENT_ID", f"must be `{agent_id}`, as this package is")

    def port(self, variable: str, default: int) -> int:
        value = self.text(variable)
        if value is None:
            return default
        if re.fullmatch(r"[0-9]{1,5}", value) and 1 <= int(value) <= 65535:
            return int(value)
        self.problem(variable, "must be a port number from 1 to 65535")
        return default

    def log_level(self) -> str:
        value = self.text("LOG_LEVEL") or "info"
        if value.lower() not in LOG_LEVELS:
            self.problem("LOG_LEVEL", "must be one of " + ", ".join(LOG_LEVELS))
        return value.upper()

    def model(self) -> ModelSettings | None:
        provider = self.text("MODEL_PROVIDER")
        name = self.text("MODEL_NAME")
        params = self.params()
        key_path = self.path("MODEL_API_KEY_FILE")
        key = self.credential("MODEL_API_KEY_FILE", key_path) if key_path else None
        if "MODEL_API_KEY" in self.environ:
            self.problem(
                "MODEL_API_KEY",
                "a key is never a variable; mount it as a file and set "
                "MODEL_API_KEY_FILE to its path",
            )
        if provider is None or name is None:
            self.check_half_model(provider, name)
            return None
        if (
            key_path is None
            and "MODEL_API_KEY_FILE" not in self.environ
            and provider not in KEYLESS_PROVIDERS
        ):
            self.problem(
                "MODEL_API_KEY_FILE",
                "not set; MODEL_PROVIDER needs a key, mounted as a file",
            )
        return ModelSettings(provider, name, params, key)

    def check_half_model(self, provider: str | None, name: str | None) -> None:
        """Report what makes no sense without a whole model."""
        if name is not None and "MODEL_PROVIDER" not in self.environ:
            self.problem("MODEL_PROVIDER", "not set, but MODEL_NAME is")
        if provider is not None and "MODEL_NAME" not in self.environ:
            self.problem("MODEL_NAME", "not set, but MODEL_PROVIDER is")
        if provider is None and name is None:
            for variable in ("MODEL_PARAMS_JSON", "MODEL_API_KEY_FILE"):
                if variable in self.environ:
                    self.problem(variable, "set without MODEL_PROVIDER and MODEL_NAME")

    def params(self) -> dict[str, JsonValue]:
        text = self.text("MODEL_PARAMS_JSON")
        if text is None:
            return {}
        try:
            params = _parse_object(text)
        except ValueError as error:
            self.problem("MODEL_PARAMS_JSON", str(error))
            return {}
        for path in _secret_keys(params):
            self.problem(
                "MODEL_PARAMS_JSON", f"`{path}`: a secret belongs in MODEL_API_KEY_FILE"
            )
        for key in _RESERVED_PARAMS:
            if key in params:
                self.problem(
                    "MODEL_PARAMS_JSON",
                    f"`{key}`: MODEL_PROVIDER and MODEL_NAME choose the model",
                )
        return params

    def persistence_enabled(self) -> bool:
        value = self.text("PERSISTENCE_ENABLED")
        if value not in (None, "true", "false"):
            self.problem("PERSISTENCE_ENABLED", "must be true or false")
        return value == "true"

    def persistence_dsn(self, enabled: bool) -> SecretFile | None:
        variable = "PERSISTENCE_DSN"
        path = self.path(variable)
        if path is None:
            return None
        if not enabled:
            self.problem(variable, "set, but PERSISTENCE_ENABLED is not true")
            return None
        secret = self.secret(variable, path)
        try:
            _, problem = _sqlite_path(secret.read())
        except SecretError:
            return secret
        if problem:
            self.problem(variable, f"file {path}: {problem}")
        return secret

    def tools(
        self, path: Path, tool_ids: Collection[str]
    ) -> Mapping[str, ToolSettings]:
        where = f"file {path}"
        try:
            if not path.is_file():
                raise ValueError("is not a regular file or does not exist")
            with path.open("rb") as file:
                content = file.read(MAX_TOOLS_CONFIG_BYTES + 1)
            if len(content) > MAX_TOOLS_CONFIG_BYTES:
                raise ValueError("is larger than 1 MiB")
            entries = _parse_object(content.decode())
        except OSError as error:
            self.problem("TOOLS_CONFIG_JSON", f"{where}: {error.strerror}")
            return {}
        except UnicodeDecodeError:
            self.problem("TOOLS_CONFIG_JSON", f"{where}: is not UTF-8 text")
            return {}
        except ValueError as error:
            self.problem("TOOLS_CONFIG_JSON", f"{where}: {error}")
            return {}
        tools = {}
        for tool_id, entry in entries.items():
            if tool_id not in tool_ids:
                self.problem(
                    "TOOLS_CONFIG_JSON",
                    f"{where}: unknown tool `{tool_id}`; {suggest(tool_id, tool_ids)}",
                )
            elif not isinstance(entry, dict):
                self.problem(
                    "TOOLS_CONFIG_JSON", f"{where}, tool `{tool_id}`: must be an object"
                )
            else:
                tools[tool_id] = _ToolReader(self, path, tool_id, entry).read()
        return tools


class _ToolReader:
    """Reads the entry of one tool in the tools file."""

    KEYS = ("url", "transport", "auth_token_file", "timeout_ms", "retries")
    HTTP_ONLY = ("url", "auth_token_file", "retries")

    def __init__(
        self, reader: _Reader, path: Path, tool_id: str, entry: dict[str, JsonValue]
    ) -> None:
        self.reader = reader
        self.path = path
        self.tool_id = tool_id
        self.entry = entry
        self.where = f"file {path}, tool `{tool_id}`"

    def problem(self, key: str, text: str) -> None:
        self.reader.problem("TOOLS_CONFIG_JSON", f"{self.where}: `{key}` {text}")

    def read(self) -> ToolSettings:
        for key in self.entry:
            if key not in self.KEYS:
                self.problem(key, f"is not a setting; {suggest(key, self.KEYS)}")
        transport = self.entry.get("transport", "http")
        if transport == "callable":
            for key in self.HTTP_ONLY:
                if key in self.entry:
                    self.problem(key, "has no meaning for the transport `callable`")
            return ToolSettings(
                self.tool_id, "callable", timeout_ms=self.integer(*_TIMEOUT)
            )
        if transport != "http":
            self.problem("transport", "must be `http` or `callable`")
        return ToolSettings(
            self.tool_id,
            "http",
            url=self.url(),
            auth_token=self.auth_token(),
            timeout_ms=self.integer(*_TIMEOUT),
            retries=self.integer("retries", 0, MAX_RETRIES),
        )

    def url(self) -> str:
        url = self.entry.get("url")
        if url is None:
            self.problem("url", "is missing")
        elif not isinstance(url, str):
            self.problem("url", "must be a string")
        elif problem := _url_problem(url):
            self.problem("url", problem)
        else:
            return url.rstrip("/")
        return ""

    def auth_token(self) -> SecretFile | None:
        if "auth_token_file" not in self.entry:
            return None
        name = self.entry["auth_token_file"]
        if not isinstance(name, str) or not name or "\0" in name:
            self.problem("auth_token_file", "must be a path")
            return None
        # A relative path is one beside the tools file.
        path = self.path.parent / name
        variable = f"TOOLS_CONFIG_JSON: {self.where}: `auth_token_file`"
        return self.reader.credential(variable, path)

    def integer(self, key: str, low: int, high: int) -> int | None:
        if key not in self.entry:
            return None
        value = self.entry[key]
        if isinstance(value, int) and not isinstance(value, bool):
            if low <= value <= high:
                return value
        self.problem(key, f"must be an integer from {low} to {high}")
        return None


_TIMEOUT = ("timeout_ms", 1, MAX_TIMEOUT_MS)
