from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt
from support import http_transport, pb
from support.config import SecretFile
from support.errors import ToolContractError, ToolError
from support.http_transport import HttpClients, HttpTransport
from support.transports import CallableTransport, ToolRequest, UnsentError
from tenacity import RetryCallState

Write = Callable[[str, str | bytes], Path]


class Query(pb.Message):
    """A request."""

    query: pb.String = ""


def request(**changes: Any) -> ToolRequest:
    fields: dict[str, Any] = {
        "tool_id": "web_search",
        "service": "acme.tools.v1.Tools",
        "method": "WebSearch",
        "message": Query(query="ä"),
        "payload": {"query": "ä"},
        "idempotent": True,
        "timeout_ms": 20_000,
        "idempotency_key": "key-1",
    }
    return ToolRequest(**fields | changes)


class Caller:
    """Calls transports, blocking or not, over the same test."""

    def __init__(self, asynchronous: bool) -> None:
        self.asynchronous = asynchronous

    def __call__(self, transport: Any, req: ToolRequest) -> Any:
        if self.asynchronous:
            return asyncio.run(transport.acall(req))
        return transport.call(req)

    def http(self, url: str, req: ToolRequest | None = None, **options: Any) -> Any:
        """Call over HTTP with clients of its own."""
        clients = HttpClients()
        transport = HttpTransport(url, clients=clients, **options)

        async def acall() -> Any:
            try:
                return await transport.acall(req or request())
            finally:
                await clients.aclose()

        if self.asynchronous:
            return asyncio.run(acall())
        try:
            return transport.call(req or request())
        finally:
            clients.close()


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Caller:
    return Caller(request.param)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "_WAIT", lambda state: 0)


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def failure(call: Callable[[], Any]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        call()
    error = caught.value
    # What is chained may hold credentials.
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    return error


def test_a_call(call: Caller, server: Any, reply: Any) -> None:
    server.answer(reply(body=b'{"urls": ["x"]}'))
    assert call.http(server.url + "/api/") == {"urls": ["x"]}
    (seen,) = server.seen
    assert seen.path == "/api/acme.tools.v1.Tools/WebSearch"
    assert seen.body == {"query": "ä"}
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["connect-protocol-version"] == "1"
    assert seen.headers["idempotency-key"] == '"key-1"'
    assert seen.headers["accept-encoding"] == "identity"
    assert 0 < int(seen.headers["connect-timeout-ms"]) <= 20_000
    assert "authorization" not in seen.headers


def test_configuration_overrides_the_deadline(call: Caller, server: Any) -> None:
    call.http(server.url, timeout_ms=3_000)
    assert int(server.seen[0].headers["connect-timeout-ms"]) <= 3_000


def test_content_type_with_parameters(call: Caller, server: Any, reply: Any) -> None:
    server.answer(reply(headers={"Content-Type": "Application/JSON; charset=utf-8"}))
    assert call.http(server.url) == {}


@pytest.mark.parametrize(
    ("status", "code", "want"),
    [
        (400, "invalid_argument", "invalid_argument"),
        (404, "not_found", "not_found"),
        (429, "resource_exhausted", "resource_exhausted"),
        (500, "internal", "internal"),
        (401, "no_such_code", "unauthenticated"),
    ],
)
def test_connect_errors(
    call: Caller, server: Any, error_reply: Any, status: int, code: str, want: str
) -> None:
    server.answer(error_reply(status, code))
    error = failure(lambda: call.http(server.url))
    assert (error.code, error.retryable) == (want, False)
    assert str(error) == f"tool `web_search`: {want}: HTTP {status}"
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("status", "want"),
    [
        (201, "unknown"),
        (302, "unknown"),
        (307, "unknown"),
        (400, "internal"),
        (401, "unauthenticated"),
        (403, "permission_denied"),
        (404, "unimplemented"),
        (418, "unknown"),
        (429, "unavailable"),
        (500, "unknown"),
        (502, "unavailable"),
        (503, "unavailable"),
        (504, "unavailable"),
    ],
)
def test_http_errors(
    call: Caller, server: Any, reply: Any, status: int, want: str
) -> None:
    headers = {"Content-Type": "text/html", "Location": server.url + "/elsewhere"}
    server.answer(reply(status, b"<html>", headers))
    error = failure(lambda: call.http(server.url, retries=0))
    assert error.code == want
    assert f"HTTP {status}" in str(error)
    assert len(server.seen) == 1


def test_an_idempotent_tool_is_repeated_with_the_same_key(
    call: Caller, server: Any, reply: Any, error_reply: Any
) -> None:
    server.answer(error_reply(503, "unavailable"), reply(hang_up=True), reply())
    assert call.http(server.url) == {}
    assert {s.headers["idempotency-key"] for s in server.seen} == {'"key-1"'}
    assert len(server.seen) == 3


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_retries_are_limited(
    call: Caller, server: Any, error_reply: Any, retries: int
) -> None:
    server.answer(error_reply(503, "unavailable"))
    error = failure(lambda: call.http(server.url, retries=retries))
    assert (error.code, error.retryable) == ("unavailable", True)
    assert len(server.seen) == 1 + retries


def test_a_tool_with_effects_is_never_sent_twice(
    call: Caller, server: Any, reply: Any, error_reply: Any
) -> None:
    once = request(idempotent=False)
    for answer in (error_reply(503, "unavailable"), reply(hang_up=True)):
        server.seen.clear()
        server.answer(answer)
        error = failure(lambda: call.http(server.url, once))
        assert (error.code, error.retryable) == ("unavailable", False)
        assert not isinstance(error, UnsentError)
        assert len(server.seen) == 1


def test_what_was_never_sent_is_repeated_for_any_tool(
    call: Caller, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []

    def wait(state: RetryCallState) -> float:
        attempts.append(state.attempt_number)
        return 0

    monkeypatch.setattr(http_transport, "_WAIT", wait)
    url = f"http://127.0.0.1:{closed_port}"
    error = failure(lambda: call.http(url, request(idempotent=False), retries=3))
    assert isinstance(error, UnsentError)
    assert (error.code, error.retryable) == ("unavailable", True)
    assert attempts[:3] == [1, 2, 3]


def test_other_codes_are_not_repeated(
    call: Caller, server: Any, error_reply: Any
) -> None:
    for code in sorted(http_transport._CODES - {"unavailable"}):
        server.seen.clear()
        server.answer(error_reply(500, code))
        assert failure(lambda: call.http(server.url)).code == code
        assert len(server.seen) == 1


def test_one_deadline_spans_all_attempts(
    call: Caller, server: Any, error_reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The next attempt would begin after the deadline: it is not made.
    monkeypatch.setattr(http_transport, "_WAIT", lambda state: 60)
    server.answer(error_reply(503, "unavailable"))
    assert failure(lambda: call.http(server.url)).code == "unavailable"
    assert len(server.seen) == 1


def test_deadline(call: Caller, server: Any, reply: Any) -> None:
    release = threading.Event()
    server.answer(reply(wait=release))
    try:
        error = failure(lambda: call.http(server.url, timeout_ms=50))
    finally:
        release.set()
    assert (error.code, error.retryable) == ("deadline_exceeded", False)
    assert str(error).endswith("no response within 0.05 s")
    assert len(server.seen) == 1


def test_a_long_response_is_refused(call: Caller, server: Any, reply: Any) -> None:
    server.answer(reply(body=b'"' + b"x" * 98 + b'"'))
    assert call.http(server.url, max_response_bytes=100) == "x" * 98
    server.answer(reply(body=b'"' + b"x" * 99 + b'"'))
    error = failure(lambda: call.http(server.url, max_response_bytes=100))
    assert error.code == "resource_exhausted"
    server.answer(reply(503, b"x" * 101))
    error = failure(lambda: call.http(server.url, max_response_bytes=100))
    assert error.code == "resource_exhausted"


def test_a_compressed_response_is_refused(
    call: Caller, server: Any, reply: Any
) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    server.answer(reply(headers=headers))
    assert "compressed" in str(failure(lambda: call.http(server.url)))


@pytest.mark.parametrize("body", [b"", b"{", b"NaN", b'{"a": 1} x', b"[" * 100_000])
def test_not_json(call: Caller, server: Any, reply: Any, body: bytes) -> None:
    server.answer(reply(body=body))
    error = failure(lambda: call.http(server.url))
    assert isinstance(error, ToolContractError)
    assert (error.direction, error.problems) == ("output", ("is not JSON",))


def test_html_instead_of_json(call: Caller, server: Any, reply: Any) -> None:
    server.answer(reply(headers={"Content-Type": "text/html"}))
    assert failure(lambda: call.http(server.url)).code == "unknown"


def test_the_environment_is_not_trusted(
    call: Caller, server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    call.http(server.url)
    assert "authorization" not in server.seen[0].headers


def test_cookies_are_not_kept(call: Caller, server: Any, reply: Any) -> None:
    headers = {"Content-Type": "application/json", "Set-Cookie": "a=b"}
    server.answer(reply(503, headers=headers), reply())
    call.http(server.url)
    assert len(server.seen) == 2
    assert "cookie" not in server.seen[1].headers


def test_certificates_are_checked() -> None:
    context = HttpClients()._ssl
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname is True


def test_token(call: Caller, server: Any, write: Write) -> None:
    secret = SecretFile(write("token", "t0ken\n"))
    call.http(server.url, auth_token=secret)
    assert server.seen[0].headers["authorization"] == "Bearer t0ken"


def test_a_rotated_token_is_used_at_once(
    call: Caller, server: Any, reply: Any, write: Write
) -> None:
    path = write("token", "old")
    before = path.stat()

    def rotate() -> None:
        # So that the file looks unchanged.
        path.write_text("new")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    server.answer(reply(401, before=rotate), reply())
    # Also for a tool with effects: what was refused had none.
    once = request(idempotent=False)
    assert call.http(server.url, once, auth_token=SecretFile(path)) == {}
    tokens = [s.headers["authorization"] for s in server.seen]
    assert tokens == ["Bearer old", "Bearer new"]


def test_the_same_token_is_not_sent_again(
    call: Caller, server: Any, error_reply: Any, write: Write
) -> None:
    secret = SecretFile(write("token", "t0ken"))
    server.answer(error_reply(401, "unauthenticated"))
    error = failure(lambda: call.http(server.url, auth_token=secret))
    assert error.code == "unauthenticated"
    assert len(server.seen) == 1


def test_a_renewed_token_is_tried_once(
    call: Caller, server: Any, reply: Any, write: Write
) -> None:
    path = write("token", "t1")
    count = iter(range(2, 10))

    def rotate() -> None:
        path.write_text(f"t{next(count)}")

    server.answer(reply(401, before=rotate))
    secret = SecretFile(path)
    assert failure(lambda: call.http(server.url, auth_token=secret)).code == (
        "unauthenticated"
    )
    assert len(server.seen) == 2


@pytest.mark.parametrize("content", ["", "two words", "a\r\nX-Evil: b"])
def test_a_token_that_went_bad(
    call: Caller, server: Any, write: Write, content: str
) -> None:
    path = write("token", content)
    error = failure(lambda: call.http(server.url, auth_token=SecretFile(path)))
    assert error.code == "unauthenticated"
    assert str(path) in str(error)
    assert server.seen == []


def test_no_error_or_log_shows_the_token(
    call: Caller,
    server: Any,
    reply: Any,
    error_reply: Any,
    write: Write,
    canary: str,
    closed_port: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = SecretFile(write("token", canary))
    release = threading.Event()
    shown: list[str] = []
    answers = [
        reply(),
        # A server that repeats what it was sent.
        error_reply(400, "invalid_argument", f"bad token {canary}"),
        error_reply(401, canary, canary),
        reply(302, headers={"Location": f"http://x/{canary}"}),
        reply(200, canary.encode()),
        reply(200, headers={"Content-Type": canary}),
        reply(hang_up=True),
        reply(wait=release),
    ]
    for url, answer in [(server.url, a) for a in answers] + [
        (f"http://127.0.0.1:{closed_port}", reply())
    ]:
        server.answer(answer)
        timeout = 50 if answer.wait else 20_000
        try:
            call.http(url, auth_token=secret, timeout_ms=timeout, retries=1)
        except ToolError as error:
            shown += [str(error), repr(error), repr(error.args), repr(vars(error))]
    release.set()
    assert len(shown) == 4 * 8
    # Headers that a server sends are its own; everything of ours is looked at.
    ours = [r for r in caplog.records if "receive_response_headers" not in r.message]
    assert len(ours) > 20
    shown += [r.getMessage() for r in ours]
    assert not [text for text in shown if canary in text]


def test_cancelling_is_not_an_error_of_the_tool(server: Any, reply: Any) -> None:
    release = threading.Event()
    arrived = threading.Event()
    server.answer(reply(wait=release, before=arrived.set))

    async def main() -> None:
        clients = HttpClients()
        transport = HttpTransport(server.url, clients=clients)
        task = asyncio.create_task(transport.acall(request()))
        await asyncio.to_thread(arrived.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await clients.aclose()

    try:
        asyncio.run(main())
    finally:
        release.set()


def test_clients_outlive_event_loops(server: Any) -> None:
    clients = HttpClients()
    transport = HttpTransport(server.url, clients=clients)

    async def main() -> Any:
        result = await transport.acall(request())
        await clients.aclose()
        return result

    assert [asyncio.run(main()), asyncio.run(main())] == [{}, {}]


def test_function(call: Caller) -> None:
    transport = CallableTransport(lambda query: {"got": query.query})
    assert call(transport, request()) == {"got": "ä"}


def test_function_that_returns_a_model(call: Caller) -> None:
    assert call(CallableTransport(lambda query: query), request()) == {"query": "ä"}


def test_coroutine_function() -> None:
    async def search(query: Query) -> Query:
        return query

    transport = CallableTransport(search)
    assert asyncio.run(transport.acall(request())) == {"query": "ä"}
    error = failure(lambda: transport.call(request()))
    assert isinstance(error, UnsentError)
    assert "call the tool asynchronously" in str(error)


def test_callable_object_with_coroutine() -> None:
    class Search:
        async def __call__(self, query: Query) -> Query:
            return query

    transport = CallableTransport(Search())
    assert asyncio.run(transport.acall(request())) == {"query": "ä"}


def test_a_blocking_function_does_not_block_the_loop() -> None:
    main_thread = threading.get_ident()
    transport = CallableTransport(lambda query: {"thread": threading.get_ident()})
    assert asyncio.run(transport.acall(request())) != {"thread": main_thread}


def test_function_that_fails(call: Caller, canary: str) -> None:
    def search(query: Query) -> Query:
        raise KeyError(canary)

    with pytest.raises(ToolError) as caught:
        call(CallableTransport(search), request())
    assert str(caught.value) == (
        "tool `web_search`: unknown: the function raised KeyError"
    )
    assert isinstance(caught.value.__cause__, KeyError)


def test_function_that_says_a_code(call: Caller) -> None:
    def search(query: Query) -> Query:
        raise ToolError("web_search", "not_found", "nothing there")

    with pytest.raises(ToolError, match="not_found"):
        call(CallableTransport(search), request())


def test_function_that_interrupts(call: Caller) -> None:
    def search(query: Query) -> Query:
        raise GraphInterrupt(())

    with pytest.raises(GraphInterrupt):
        call(CallableTransport(search), request())


def test_deadline_of_a_coroutine() -> None:
    async def search(query: Query) -> Query:
        await asyncio.Event().wait()
        return query

    transport = CallableTransport(search, timeout_ms=10)
    error = failure(lambda: asyncio.run(transport.acall(request())))
    assert error.code == "deadline_exceeded"


def test_payload_is_compact_json(call: Caller, server: Any) -> None:
    call.http(server.url, request(payload={"a": ["é", 1.5, None, True]}))
    assert server.seen[0].body == {"a": ["é", 1.5, None, True]}
    raw = json.dumps({"a": ["é", 1.5, None, True]}, ensure_ascii=False)
    want = len(raw.replace(" ", "").encode())
    assert int(server.seen[0].headers["content-length"]) == want
