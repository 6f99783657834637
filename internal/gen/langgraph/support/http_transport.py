"""Tools over HTTP: unary calls of the Connect protocol with JSON.

Protocol: https://connectrpc.com/docs/protocol/
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from weakref import WeakKeyDictionary

import httpx2
import pydantic_core
from pydantic import JsonValue
from tenacity import (
    AsyncRetrying,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_any,
    stop_before_delay,
    wait_random_exponential,
)

from .config import SecretError, SecretFile
from .errors import ToolContractError, ToolError
from .transports import Deadline, ToolRequest, UnsentError

__all__ = ["HttpClients", "HttpTransport"]

DEFAULT_RETRIES = 2
MAX_RESPONSE_BYTES = 4 * 1024 * 1024

# A host that does not answer must not use up the deadline of all attempts.
_CONNECT_SECONDS = 5.0

_WAIT = wait_random_exponential(multiplier=0.1, max=2)

_CODES = frozenset(
    {
        "canceled",
        "unknown",
        "invalid_argument",
        "deadline_exceeded",
        "not_found",
        "already_exists",
        "permission_denied",
        "resource_exhausted",
        "failed_precondition",
        "aborted",
        "out_of_range",
        "unimplemented",
        "internal",
        "unavailable",
        "data_loss",
        "unauthenticated",
    }
)
_CODE_OF_STATUS = {
    400: "internal",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


class HttpClients:
    """The HTTP clients that the transports of a runtime share.

    Proxies, certificates and credentials of the environment are not used, redirects
    are not followed, and cookies are not kept.
    """

    def __init__(self) -> None:
        """Load the system's certificates; nothing is connected yet."""
        self._ssl = httpx2.create_ssl_context(trust_env=False)
        self._sync = httpx2.Client(**self._options())
        # The connections of an asynchronous client belong to one event loop.
        self._async: WeakKeyDictionary[
            asyncio.AbstractEventLoop, httpx2.AsyncClient
        ] = WeakKeyDictionary()

    def _options(self) -> dict[str, Any]:
        return {
            "verify": self._ssl,
            "trust_env": False,
            "follow_redirects": False,
            "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
        }

    def sync_client(self) -> httpx2.Client:
        """Return the client for blocking calls."""
        return self._sync

    def async_client(self) -> httpx2.AsyncClient:
        """Return the client of the running event loop."""
        loop = asyncio.get_running_loop()
        client = self._async.get(loop)
        if client is None:
            client = self._async[loop] = httpx2.AsyncClient(**self._options())
        return client

    def close(self) -> None:
        """Close the connections of blocking calls."""
        self._sync.close()

    async def aclose(self) -> None:
        """Close all connections of blocking calls and of this event loop."""
        self.close()
        client = self._async.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    media_type: str
    body: bytes


class HttpTransport:
    """Calls a tool by `POST {url}/{service}/{method}`.

    A call is repeated only when the service was unavailable, and then only if the
    tool is idempotent or nothing was sent. One deadline spans all attempts.
    """

    def __init__(
        self,
        url: str,
        *,
        clients: HttpClients,
        auth_token: SecretFile | None = None,
        timeout_ms: int | None = None,
        retries: int | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        """Describe the endpoint.

        Args:
            url: Base URL of the service.
            clients: The clients to call with.
            auth_token: Bearer token to send.
            timeout_ms: Overrides the contract's deadline.
            retries: Further attempts after a failed one.
            max_response_bytes: Longer responses are refused.
        """
        self._url = url.rstrip("/")
        self._clients = clients
        self._auth_token = auth_token
        self._timeout_ms = timeout_ms
        self._retries = DEFAULT_RETRIES if retries is None else retries
        self._max_response_bytes = max_response_bytes

    def call(self, request: ToolRequest) -> JsonValue:
        """Call the tool."""
        attempt = _Attempt(self, request)
        retrying = Retrying(
            stop=self._stop(attempt),
            wait=_WAIT,
            retry=retry_if_exception(_may_repeat),
            reraise=True,
        )
        return retrying(attempt.run)

    async def acall(self, request: ToolRequest) -> JsonValue:
        """Call the tool without blocking the event loop."""
        attempt = _Attempt(self, request)
        retrying = AsyncRetrying(
            stop=self._stop(attempt),
            wait=_WAIT,
            retry=retry_if_exception(_may_repeat),
            reraise=True,
        )
        return await retrying(attempt.arun)

    def _stop(self, attempt: _Attempt) -> stop_any:
        return stop_any(
            stop_after_attempt(1 + self._retries), stop_before_delay(attempt.seconds)
        )


def _may_repeat(error: BaseException) -> bool:
    return isinstance(error, ToolError) and error.retryable


class _Attempt:
    """One call, which may be attempted several times."""

    def __init__(self, transport: HttpTransport, request: ToolRequest) -> None:
        self.transport = transport
        self.request = request
        self.tool_id = request.tool_id
        self.seconds = (transport._timeout_ms or request.timeout_ms) / 1000
        self.deadline = Deadline(self.seconds)
        self.url = f"{transport._url}/{request.service}/{request.method}"
        self.content = json.dumps(
            request.payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()

    def run(self) -> JsonValue:
        secret = self.transport._auth_token
        if secret is None:
            return self.result(self.post(None))
        with self.secret_errors():
            token = secret.read()
        reply = self.post(token)
        if reply.status == 401:
            with self.secret_errors():
                renewed = secret.read(fresh=True)
            if renewed != token:
                reply = self.post(renewed)
        return self.result(reply)

    async def arun(self) -> JsonValue:
        secret = self.transport._auth_token
        if secret is None:
            return self.result(await self.apost(None))
        with self.secret_errors():
            token = await asyncio.to_thread(secret.read)
        reply = await self.apost(token)
        if reply.status == 401:
            with self.secret_errors():
                renewed = await asyncio.to_thread(secret.read, fresh=True)
            if renewed != token:
                reply = await self.apost(renewed)
        return self.result(reply)

    def post(self, token: str | None) -> _Reply:
        with (
            self.http_errors(),
            self.transport._clients.sync_client().stream(
                "POST",
                self.url,
                content=self.content,
                headers=self.headers(token),
                timeout=self.timeout(),
            ) as response,
        ):
            self.check_encoding(response)
            body = bytearray()
            for chunk in response.iter_raw():
                self.grow(body, chunk)
            return _reply(response, body)

    async def apost(self, token: str | None) -> _Reply:
        with self.http_errors():
            async with (
                asyncio.timeout(self.deadline.remaining()),
                self.transport._clients.async_client().stream(
                    "POST",
                    self.url,
                    content=self.content,
                    headers=self.headers(token),
                    timeout=self.timeout(),
                ) as response,
            ):
                self.check_encoding(response)
                body = bytearray()
                async for chunk in response.aiter_raw():
                    self.grow(body, chunk)
                return _reply(response, body)

    def headers(self, token: str | None) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "Connect-Protocol-Version": "1",
            "Connect-Timeout-Ms": str(max(1, int(self.deadline.remaining() * 1000))),
            # A string in the syntax of structured fields, hence the quotes.
            "Idempotency-Key": f'"{self.request.idempotency_key}"',
        }
        if token is not None:
            if not token.isascii() or " " in token:
                raise ToolError(
                    self.tool_id,
                    "unauthenticated",
                    f"file {self.auth_path}: is not one word of ASCII text",
                )
            headers["Authorization"] = f"Bearer {token}"
        return headers

    @property
    def auth_path(self) -> str:
        secret = self.transport._auth_token
        return "" if secret is None else str(secret.path)

    def timeout(self) -> httpx2.Timeout:
        seconds = self.deadline.remaining()
        if seconds == 0:
            raise self.expired()
        # Of each step. `grow`, or asyncio, watches over the whole.
        return httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))

    def grow(self, body: bytearray, chunk: bytes) -> None:
        """Add a part of the response, within the limits of size and time."""
        body += chunk
        if len(body) > self.transport._max_response_bytes:
            limit = self.transport._max_response_bytes
            raise ToolError(
                self.tool_id,
                "resource_exhausted",
                f"the response is longer than {limit} bytes",
            )
        if self.deadline.remaining() == 0:
            raise self.expired()

    def check_encoding(self, response: httpx2.Response) -> None:
        # Nothing else was asked for, and a small body can decompress to a huge one.
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise ToolError(self.tool_id, "internal", "the response is compressed")

    def expired(self) -> ToolError:
        return ToolError(
            self.tool_id,
            "deadline_exceeded",
            f"no response within {self.seconds:g} s",
        )

    @contextmanager
    def secret_errors(self) -> Iterator[None]:
        """Turn the error of a secret file into one of the tool."""
        try:
            yield
        except SecretError as error:
            raise ToolError(self.tool_id, "unauthenticated", str(error)) from None

    @contextmanager
    def http_errors(self) -> Iterator[None]:
        """Turn an error of the HTTP client into one of the tool.

        The cause is cut off: it holds the request with its credentials.
        """
        try:
            yield
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            if self.deadline.remaining() == 0:
                raise self.expired() from None
            raise UnsentError(
                self.tool_id,
                "unavailable",
                "no connection to the service",
                retryable=True,
            ) from None
        except (httpx2.TimeoutException, TimeoutError):
            raise self.expired() from None
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            raise self.error("unavailable", "the connection broke") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            name = type(error).__name__
            raise ToolError(
                self.tool_id, "internal", f"the HTTP client failed: {name}"
            ) from None

    def error(self, code: str, message: str) -> ToolError:
        repeat = code == "unavailable" and self.request.idempotent
        return ToolError(self.tool_id, code, message, retryable=repeat)

    def result(self, reply: _Reply) -> JsonValue:
        """Return the JSON of a reply, or raise the error that it is."""
        if 300 <= reply.status < 400:
            raise self.error(
                "unknown", f"HTTP {reply.status}: redirects are not followed"
            )
        if reply.status != 200:
            code = _error_code(reply)
            raise self.error(code, f"HTTP {reply.status}")
        if reply.media_type != "application/json":
            raise ToolError(
                self.tool_id, "unknown", "HTTP 200, but the response is not JSON"
            )
        try:
            return _parse(reply.body)
        except ValueError:
            raise ToolContractError(self.tool_id, "output", ["is not JSON"]) from None


def _reply(response: httpx2.Response, body: bytearray) -> _Reply:
    media_type = response.headers.get("Content-Type", "").partition(";")[0]
    return _Reply(response.status_code, media_type.strip().lower(), bytes(body))


def _parse(body: bytes) -> JsonValue:
    value: JsonValue = pydantic_core.from_json(body, allow_inf_nan=False)
    return value


def _error_code(reply: _Reply) -> str:
    """Return the code that an error says, else the one of its HTTP status."""
    if reply.media_type == "application/json":
        try:
            error = _parse(reply.body)
        except ValueError:
            error = None
        if isinstance(error, dict):
            code = error.get("code")
            if isinstance(code, str) and code in _CODES:
                return code
    return _CODE_OF_STATUS.get(reply.status, "unknown")
