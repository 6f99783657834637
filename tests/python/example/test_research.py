"""The research example: with a chat model, without one, and over several questions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

EXAMPLE = Path(__file__).parents[3] / "examples/research"


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Generate the package with the plugin of this checkout."""
    out = tmp_path_factory.mktemp("generated")
    bins = [EXAMPLE.parents[1] / "bin", Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, bins), os.environ["PATH"]])
    subprocess.run(
        ["buf", "generate", "--output", str(out)],
        cwd=EXAMPLE,
        env={**os.environ, "PATH": path},
        check=True,
    )
    sys.path[:0] = [
        str(out / "build/generated/agent/research-agent"),
        str(EXAMPLE / "research-agent"),
    ]


LIBRARY = {
    "https://library.example/retries": "A retry repeats a call that failed.",
    "https://library.example/keys": "A key makes a retry safe.",
}


def build(**options: Any) -> tuple[Any, Any]:
    """Return the agent and its runtime, over a library of two documents."""
    from research_agent_generated.graph.generated import build_agent
    from research_agent_generated.harness.generated import (
        harness_runtime,
        memory_saver,
    )

    def search(request: Any) -> dict[str, Any]:
        words = set(request.query.lower().split())
        hits = [
            {"title": text, "url": url, "score": 1.0}
            for url, text in LIBRARY.items()
            if words & set(text.lower().rstrip(".").split())
        ]
        return {"results": hits}

    def fetch(request: Any) -> dict[str, Any]:
        return {"url": request.url, "text": LIBRARY[request.url]}

    runtime = harness_runtime(
        tools={"web_search": search, "fetch_document": fetch}, **options
    )
    return build_agent(runtime=runtime, checkpointer=memory_saver()), runtime


def without_model() -> tuple[Any, Any]:
    """Return the agent as it is without MODEL_PROVIDER."""
    from research_agent_generated.support.runtime import AgentRuntime

    class Runtime(AgentRuntime):
        has_chat_model = False

    agent, runtime = build()
    runtime.__class__ = Runtime
    return agent, runtime


def test_it_answers_without_a_model() -> None:
    """From the sentences that fit the question best."""
    agent, runtime = without_model()
    result = agent.invoke({"user_query": "is a retry safe"}, thread_id="1").value
    assert set(result.facts) == set(LIBRARY)
    assert result.answer.startswith("A key makes a retry safe.")
    assert result.round >= 1
    (fact,) = runtime.fact_sink.envelopes
    assert fact.idempotency_key == "1/answer-1"


def test_a_new_question_starts_afresh() -> None:
    """What belongs to the old question is reset, the conversation goes on."""
    agent, _ = without_model()
    agent.invoke({"user_query": "is a retry safe"}, thread_id="1")
    result = agent.invoke({"user_query": "unknown words"}, thread_id="1").value
    assert (result.facts, result.notes, result.answer) == ({}, [], "Nothing was found.")
    assert [m.type for m in result.messages] == ["human", "ai", "human", "ai"]


def test_a_chat_model_plans_and_answers() -> None:
    """The same graph, with the decisions made by the model."""
    from research_agent_generated.harness.generated import ScriptedChatModel

    model = ScriptedChatModel([AIMessage("- retry\n- key"), AIMessage("Use a key.")])
    agent, _ = build(model=model)
    result = agent.invoke({"user_query": "How?", "max_rounds": 1}, thread_id="1").value
    assert result.answer == "Use a key."
    assert {source.query for source in result.sources} == {"retry", "key"}
