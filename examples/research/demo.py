"""Asks the research agent a question and shows what happened.

Needs the tool server: `make demo` starts it and calls this.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from research_agent_generated.facts.generated import InMemoryFactSink
from research_agent_generated.graph.generated import AGENT_ID, build_agent
from research_agent_generated.runtime_contract.generated import load_runtime
from research_agent_generated.state.generated import ResearchStateInput

THREAD = "demo"


def show(text: str = "") -> None:
    """Print one line."""
    sys.stdout.write(text + "\n")


def environment(folder: Path, tools: str) -> dict[str, str]:
    """Write the files that an operator would mount, and say where they are.

    A model that the caller's own environment configures is passed on.
    """
    (folder / "tools.json").write_text(
        json.dumps({tool: {"url": tools} for tool in ("web_search", "fetch_document")})
    )
    (folder / "dsn").write_text(f"sqlite:///{folder / 'threads.db'}")
    return {
        **{name: value for name, value in os.environ.items() if name[:6] == "MODEL_"},
        "AGENT_ID": AGENT_ID,
        "TOOLS_CONFIG_JSON": str(folder / "tools.json"),
        "PERSISTENCE_ENABLED": "true",
        "PERSISTENCE_DSN": str(folder / "dsn"),
        "LOG_LEVEL": "warning",
    }


def describe(update: dict[str, Any] | None) -> str:
    """Say in a line what a node wrote to the public output."""
    parts = []
    for name, value in (update or {}).items():
        if isinstance(value, (list, dict)):
            parts.append(f"{name} +{len(value)}")
        elif name in ("round", "answer"):
            parts.append(f"{name} = {textwrap.shorten(str(value), 48)!r}")
    return ", ".join(parts)


def run(question: str, environ: dict[str, str]) -> None:
    """Ask the question and show the graph, the trace, the answer and the history."""
    facts = InMemoryFactSink()
    with (
        load_runtime(environ, fact_sink=facts) as runtime,
        runtime.checkpointer() as checkpointer,
    ):
        agent = build_agent(runtime=runtime, checkpointer=checkpointer)

        show("\n=== The graph ===")
        show(agent.graph.get_graph().draw_mermaid(with_styles=False))

        show(f"=== The trace of: {question} ===")
        asked = ResearchStateInput(user_query=question)
        for part in agent.stream(asked, thread_id=THREAD):
            for node, update in part.items():
                show(f"  {node:<8} {describe(update)}")

        config = runtime.run_config(thread_id=THREAD)
        state = agent.graph.get_state(config).values
        show("\n=== The answer ===")
        show(textwrap.fill(state["answer"], 88))
        for url in state["facts"]:
            show(f"  {url}")

        show("\n=== The checkpoints of the thread, newest first ===")
        for checkpoint in agent.graph.get_state_history(config):
            metadata = checkpoint.metadata or {}
            upcoming = ", ".join(sorted(set(checkpoint.next))) or "end"
            checkpoint_id = checkpoint.config["configurable"]["checkpoint_id"]
            show(f"  {checkpoint_id}  step {metadata.get('step'):>2}  next: {upcoming}")

        show("\n=== The facts that the agent emitted ===")
        for envelope in facts.envelopes:
            show(f"  {envelope.type} key={envelope.idempotency_key}")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", required=True, help="base URL of the tool server")
    parser.add_argument(
        "question", nargs="?", default="How can an agent retry a tool call safely?"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(options.question, environment(Path(folder), options.tools))


if __name__ == "__main__":
    main()
