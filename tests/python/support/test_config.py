from __future__ import annotations

import copy
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import config
from support.config import SecretError, SecretFile, load_settings
from support.errors import ConfigError

Write = Callable[[str, str | bytes], Path]
TOOLS = ("web_search", "fetch_page")


def load(**environ: str) -> config.Settings:
    environ = {"AGENT_ID": "research-agent", **environ}
    return load_settings(environ, agent_id="research-agent", tool_ids=TOOLS)


def problems(**environ: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(**environ)
    return caught.value.problems


def tool_problems(write: Write, entry: Any) -> tuple[str, ...]:
    path = write("tools.json", json.dumps({"web_search": entry}))
    found = problems(TOOLS_CONFIG_JSON=str(path))
    prefix = f"TOOLS_CONFIG_JSON: file {path}, tool `web_search`: "
    assert all(p.startswith(prefix) for p in found), found
    return tuple(p.removeprefix(prefix) for p in found)


def test_defaults() -> None:
    settings = load()
    assert settings == config.Settings(agent_id="research-agent")
    assert (settings.port_http, settings.log_level) == (8080, "INFO")
    assert settings.model is None
    assert settings.tools == {}
    assert settings.persistence_enabled is False
    assert settings.tools_source == "TOOLS_CONFIG_JSON (not set)"


def test_everything_set(write: Write, tmp_path: Path) -> None:
    key = write("key", "sk-1\n")
    token = write("token", "t0ken")
    dsn = write("dsn", f"sqlite:///{tmp_path}/threads.db\n")
    tools = write(
        "tools.json",
        json.dumps(
            {
                "web_search": {
                    "url": "https://tools.example:8443/api/",
                    "auth_token_file": "token",
                    "timeout_ms": 500,
                    "retries": 0,
                },
                "fetch_page": {"transport": "callable", "timeout_ms": 10},
            }
        ),
    )
    settings = load(
        PORT_HTTP="9000",
        LOG_LEVEL="Warning",
        MODEL_PROVIDER="openai",
        MODEL_NAME="gpt-4o",
        MODEL_PARAMS_JSON='{"temperature": 0.5, "max_tokens": 9}',
        MODEL_API_KEY_FILE=str(key),
        TOOLS_CONFIG_JSON=str(tools),
        PERSISTENCE_ENABLED="true",
        PERSISTENCE_DSN=str(dsn),
    )
    assert (settings.port_http, settings.log_level) == (9000, "WARNING")
    assert settings.model is not None and settings.model.api_key is not None
    assert settings.model.params == {"temperature": 0.5, "max_tokens": 9}
    assert settings.model.api_key.read() == "sk-1"
    search = settings.tools["web_search"]
    assert search.auth_token is not None
    assert search.auth_token.path == token
    assert (search.url, search.timeout_ms, search.retries) == (
        "https://tools.example:8443/api",
        500,
        0,
    )
    assert settings.tools["fetch_page"].transport == "callable"
    assert settings.sqlite_path() == f"{tmp_path}/threads.db"


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(
            {
                "PORT_HTTP": "http",
                "LOG_LEVEL": "loud",
                "MODEL_NAME": "gpt-4o",
                "MODEL_PARAMS_JSON": "[]",
                "MODEL_API_KEY_FILE": f"{tmp_path}/absent",
                "MODEL_API_KEY": "sk-1",
                "TOOLS_CONFIG_JSON": f"{tmp_path}/tools.json",
                "PERSISTENCE_ENABLED": "yes",
                "PERSISTENCE_DSN": f"{tmp_path}/dsn",
            },
            agent_id="research-agent",
            tool_ids=TOOLS,
        )
    assert caught.value.problems == (
        "AGENT_ID: not set; this package is `research-agent`",
        "PERSISTENCE_ENABLED: must be true or false",
        "PORT_HTTP: must be a port number from 1 to 65535",
        "LOG_LEVEL: must be one of debug, info, warning, error, critical",
        "MODEL_PARAMS_JSON: must be a JSON object",
        f"MODEL_API_KEY_FILE: file {tmp_path}/absent: No such file or directory",
        "MODEL_API_KEY: a key is never a variable; mount it as a file and set "
        "MODEL_API_KEY_FILE to its path",
        "MODEL_PROVIDER: not set, but MODEL_NAME is",
        f"TOOLS_CONFIG_JSON: file {tmp_path}/tools.json: is not a regular file or "
        "does not exist",
        "PERSISTENCE_DSN: set, but PERSISTENCE_ENABLED is not true",
    )
    assert "agent `research-agent`" in str(caught.value)


def test_agent_id_of_another_agent() -> None:
    assert problems(AGENT_ID="other") == (
        "AGENT_ID: must be `research-agent`, as this package is",
    )


@pytest.mark.parametrize(
    "name", ["AGENT_ID", "PORT_HTTP", "LOG_LEVEL", "TOOLS_CONFIG_JSON"]
)
def test_set_but_empty(name: str) -> None:
    assert problems(**{name: " "}) == (
        f"{name}: set but empty; give it a value or remove it",
    )


@pytest.mark.parametrize("value", ["0", "65536", "-1", "8080.0", "1e3", "٨٠", " 80"])
def test_bad_port(value: str) -> None:
    assert problems(PORT_HTTP=value) == (
        "PORT_HTTP: must be a port number from 1 to 65535",
    )


@pytest.mark.parametrize("value", ["True", "1", "yes", "TRUE", "on"])
def test_persistence_enabled_is_strict(value: str) -> None:
    assert problems(PERSISTENCE_ENABLED=value) == (
        "PERSISTENCE_ENABLED: must be true or false",
    )


def test_half_a_model() -> None:
    assert problems(MODEL_PROVIDER="ollama") == (
        "MODEL_NAME: not set, but MODEL_PROVIDER is",
    )
    assert problems(MODEL_PARAMS_JSON="{}") == (
        "MODEL_PARAMS_JSON: set without MODEL_PROVIDER and MODEL_NAME",
    )


def test_a_key_is_required_except_where_there_is_none() -> None:
    assert problems(MODEL_PROVIDER="openai", MODEL_NAME="gpt-4o") == (
        "MODEL_API_KEY_FILE: not set; MODEL_PROVIDER needs a key, mounted as a file",
    )
    assert load(MODEL_PROVIDER="ollama", MODEL_NAME="llama3").model is not None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes"),
        ('{"a": 1, "a": 2}', "is not JSON: a key stands there twice"),
        ('{"a": NaN}', "is not JSON: NaN is not JSON"),
        ("[" * 100_000, "is not JSON: nested too deeply"),
        ('"text"', "must be a JSON object"),
        ('{"api_key": "x"}', "`api_key`: a secret belongs in MODEL_API_KEY_FILE"),
        ('{"openai_api_key": "x"}', "`openai_api_key`: a secret"),
        ('{"apiKey": "x"}', "`apiKey`: a secret"),
        ('{"x": [{"access-token": "x"}]}', "`x[0].access-token`: a secret"),
        ('{"default_headers": {"Authorization": "x"}}', "`default_headers.Author"),
        ('{"model": "x"}', "`model`: MODEL_PROVIDER and MODEL_NAME choose"),
    ],
)
def test_bad_model_params(text: str, problem: str) -> None:
    (found,) = problems(
        MODEL_PROVIDER="ollama", MODEL_NAME="llama3", MODEL_PARAMS_JSON=text
    )
    assert found.startswith(f"MODEL_PARAMS_JSON: {problem}")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"not json", "is not JSON: Expecting value (line 1, column 1)"),
        (b"[]", "must be a JSON object"),
        (
            b'{"web_serch": {}}',
            "unknown tool `web_serch`; did you mean `web_search`?",
        ),
        (b'{"zzz": {}}', "unknown tool `zzz`; known: `fetch_page`, `web_search`"),
        (b" " * (1024 * 1024 + 1), "is larger than 1 MiB"),
    ],
)
def test_bad_tools_file(write: Write, content: bytes, problem: str) -> None:
    path = write("tools.json", content)
    assert problems(TOOLS_CONFIG_JSON=str(path)) == (
        f"TOOLS_CONFIG_JSON: file {path}: {problem}",
    )


def test_tools_file_is_a_directory(tmp_path: Path) -> None:
    (found,) = problems(TOOLS_CONFIG_JSON=str(tmp_path))
    assert "is not a regular file" in found


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://host", "must begin with http:// or https://"),
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("host:80", "must begin with http:// or https://"),
        ("http://", "must name a host"),
        ("http://:80", "must name a host"),
        ("http://host:", "must name a host"),
        ("http://host:0", "must name a host"),
        ("http://host:99999", "is not a URL"),
        ("http://[::1", "is not a URL"),
        ("http://-host", "must name a host"),
        ("http://a%2fb", "must name a host"),
        ("http://user@host", "must not hold a user or a password"),
        ("http://user:pw@host", "must not hold a user or a password"),
        ("http://host\r\nX: y", "must be printable ASCII"),
        ("http://host/a b", "must be printable ASCII"),
        ("http://host\\@evil", "must be printable ASCII"),
        ("http://hóst", "must be printable ASCII"),
        ("http://host?q=1", "must have neither a query nor a fragment"),
        ("http://host/#", "must have neither a query nor a fragment"),
        ("http://host//x", "must have a plain path"),
        ("http://host/a/../b", "must have a plain path"),
        (7, "must be a string"),
        (None, "is missing"),
    ],
)
def test_bad_url(write: Write, url: Any, problem: str) -> None:
    (found,) = tool_problems(write, {"url": url})
    assert found.startswith(f"`url` {problem}")


@pytest.mark.parametrize(
    "url",
    ["http://localhost", "https://a-b.c_d.example:65535/x/y", "HTTP://[::1]:1/x/"],
)
def test_good_url(write: Write, url: str) -> None:
    path = write("tools.json", json.dumps({"web_search": {"url": url}}))
    settings = load(TOOLS_CONFIG_JSON=str(path))
    assert settings.tools["web_search"].url == url.rstrip("/")


def test_bad_tool_entries(write: Write) -> None:
    assert tool_problems(write, []) == ("must be an object",)
    assert tool_problems(write, {"uri": "http://h"}) == (
        "`uri` is not a setting; did you mean `url`?",
        "`url` is missing",
    )
    assert tool_problems(
        write,
        {
            "url": "http://h",
            "transport": "grpc",
            "timeout_ms": 0,
            "retries": True,
            "auth_token_file": "",
        },
    ) == (
        "`transport` must be `http` or `callable`",
        "`auth_token_file` must be a path",
        "`timeout_ms` must be an integer from 1 to 3600000",
        "`retries` must be an integer from 0 to 4",
    )
    assert tool_problems(write, {"url": "http://h", "timeout_ms": "500"}) == (
        "`timeout_ms` must be an integer from 1 to 3600000",
    )
    assert tool_problems(write, {"transport": "callable", "url": "http://h"}) == (
        "`url` has no meaning for the transport `callable`",
    )


def test_bad_token_file(write: Write, tmp_path: Path) -> None:
    write("two words", "a b")
    for name, problem in [
        ("absent", "No such file or directory"),
        ("two words", "is not one word of ASCII text"),
        ("/", "is not a regular file"),
    ]:
        (found,) = tool_problems(write, {"url": "http://h", "auth_token_file": name})
        assert found == f"`auth_token_file`: file {tmp_path / name}: {problem}"


@pytest.mark.parametrize(
    ("dsn", "problem"),
    [
        ("postgres://u:secret@h/db", "must hold a DSN of the form sqlite:///path"),
        ("sqlite:///", "must name a database file after sqlite:///, and nothing else"),
        ("sqlite:///:memory:", "must name a database file"),
        ("sqlite:///x.db?mode=ro", "must name a database file"),
        ("sqlite:////absent-dir/secret/x.db", "the directory of the database that it"),
    ],
)
def test_bad_dsn(write: Write, dsn: str, problem: str) -> None:
    path = write("dsn", dsn)
    (found,) = problems(PERSISTENCE_ENABLED="true", PERSISTENCE_DSN=str(path))
    assert found.startswith(f"PERSISTENCE_DSN: file {path}: {problem}")
    assert "secret" not in found


def test_secret_strips_one_newline(write: Write) -> None:
    assert SecretFile(write("a", "s3cret")).read() == "s3cret"
    assert SecretFile(write("b", "s3cret\n")).read() == "s3cret"
    assert SecretFile(write("c", "s3cret\r\n")).read() == "s3cret"
    with pytest.raises(SecretError, match="more than one line"):
        SecretFile(write("d", "s3cret\n\n")).read()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b" \n", "is empty"),
        (b"x" * (64 * 1024 + 1), "is larger than 64 KiB"),
        (b"\xff", "is not UTF-8 text"),
        (b"a\r\nX-Evil: b", "more than one line of printable text"),
        (b"a\0b", "more than one line of printable text"),
    ],
)
def test_bad_secret(write: Write, content: bytes, problem: str) -> None:
    path = write("secret", content)
    with pytest.raises(SecretError, match=problem) as caught:
        SecretFile(path).read()
    assert str(path) in str(caught.value)


def test_secret_of_64_kib(write: Write) -> None:
    assert len(SecretFile(write("secret", "x" * 65536)).read()) == 65536


def test_a_pipe_is_no_secret_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SecretError, match="is not a regular file"):
        SecretFile(tmp_path / "pipe").read()


def test_a_rotated_secret_is_seen(write: Write, tmp_path: Path) -> None:
    # As Kubernetes rotates: a symbolic link to a directory is swapped.
    for version in ("one", "two"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "token").write_text(version)
    link = tmp_path / "data"
    link.symlink_to("one")
    secret = SecretFile(link / "token")
    assert secret.read() == "one"
    (tmp_path / "swap").symlink_to("two")
    (tmp_path / "swap").replace(link)
    assert secret.read() == "two"


def test_an_unchanged_secret_is_read_once(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = SecretFile(write("secret", "one"))
    reads: list[int] = []
    read_all = config._read_all

    def count(handle: int) -> bytes:
        reads.append(handle)
        return read_all(handle)

    monkeypatch.setattr(config, "_read_all", count)
    assert [secret.read(), secret.read()] == ["one", "one"]
    assert len(reads) == 1
    assert secret.read(fresh=True) == "one"
    assert len(reads) == 2


def test_a_secret_that_went_bad_is_not_served_from_the_cache(write: Write) -> None:
    path = write("secret", "one")
    secret = SecretFile(path)
    assert secret.read() == "one"
    path.write_text("")
    with pytest.raises(SecretError, match="is empty"):
        secret.read()
    path.unlink()
    with pytest.raises(SecretError, match="No such file"):
        secret.read()


def test_nothing_shows_a_secret(
    write: Write, canary: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    key = write("key", canary)
    tools = write(
        "tools.json",
        json.dumps({"web_search": {"url": "http://h", "auth_token_file": str(key)}}),
    )
    environ = {
        "MODEL_PROVIDER": "openai",
        "MODEL_NAME": "gpt-4o",
        "MODEL_API_KEY_FILE": str(key),
        "TOOLS_CONFIG_JSON": str(tools),
    }
    settings = load(**environ)
    assert settings.model is not None and settings.model.api_key is not None
    secret = settings.model.api_key
    assert secret.read() == canary
    shown = [repr(settings), str(settings), repr(secret), f"{secret}"]
    assert pickle.loads(pickle.dumps(secret)).path == key
    assert canary.encode() not in pickle.dumps(secret)
    assert copy.copy(secret)._cache is None

    bad = write("bad", canary + "\n" + canary)
    params = json.dumps({"api_key": canary, "x": [canary]})
    shown += problems(
        AGENT_ID=canary,
        PORT_HTTP=canary,
        LOG_LEVEL=canary,
        MODEL_API_KEY=canary,
        MODEL_PROVIDER="openai",
        MODEL_NAME="gpt-4o",
        MODEL_PARAMS_JSON=params,
        MODEL_API_KEY_FILE=str(bad),
        PERSISTENCE_ENABLED="true",
        PERSISTENCE_DSN=str(key),
    )
    shown += problems(
        MODEL_PROVIDER="ollama", MODEL_NAME="x", MODEL_PARAMS_JSON=f'{{"{canary}'
    )
    shown += tool_problems(
        write,
        {"url": f"http://u:{canary}@h", "timeout_ms": canary, "transport": canary},
    )
    shown += [record.getMessage() for record in caplog.records]
    assert not [text for text in shown if canary in text]
