"""Servers and files for the tests of the support code."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

CANARY = "canary-7f3a91c2-do-not-show"


@dataclass
class Reply:
    """What the server answers to one request."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(
        default_factory=lambda: {"Content-Type": "application/json"}
    )
    # Break the connection instead of answering.
    hang_up: bool = False
    # Wait for this before the answer.
    wait: threading.Event | None = None
    # Do this before the answer.
    before: Callable[[], None] | None = None


@dataclass
class Seen:
    """A request that the server got."""

    path: str
    headers: dict[str, str]
    body: Any


class ToolServer:
    """A scripted HTTP server; the last reply repeats."""

    def __init__(self) -> None:
        """Listen on a free port of the loopback interface."""
        self.replies: list[Reply] = [Reply()]
        self.seen: list[Seen] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                body = json.loads(self.rfile.read(length))
                outer.seen.append(
                    Seen(
                        self.path, {k.lower(): v for k, v in self.headers.items()}, body
                    )
                )
                replies = outer.replies
                reply = replies.pop(0) if len(replies) > 1 else replies[0]
                if reply.before is not None:
                    reply.before()
                if reply.wait is not None:
                    reply.wait.wait(30)
                if reply.hang_up:
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                try:
                    self.wfile.write(reply.body)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Base URL of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, *replies: Reply) -> None:
        """Set the script."""
        self.replies = list(replies)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


def connect_error(status: int, code: str, message: str = "") -> Reply:
    """Return an error reply of the Connect protocol."""
    return Reply(status, json.dumps({"code": code, "message": message}).encode())


@pytest.fixture
def server() -> Iterator[ToolServer]:
    """Return a scripted server."""
    server = ToolServer()
    yield server
    server.close()


@pytest.fixture
def reply() -> type[Reply]:
    """Return the class of replies."""
    return Reply


@pytest.fixture
def error_reply() -> Callable[..., Reply]:
    """Return the maker of error replies."""
    return connect_error


@pytest.fixture
def canary() -> str:
    """Return a secret that must never be shown."""
    return CANARY


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Return a function that writes a file and returns its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
