"""Runs agent `research-agent` once: public input in, public output out, as ProtoJSON.

The environment says where the tools and the model are; at least `AGENT_ID` and
`TOOLS_CONFIG_JSON` (the path of a file such as the `tools.json` beside this one).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from typing import Any

from research_agent_generated.graph.generated import AGENT_ID, build_agent
from research_agent_generated.runtime_contract.generated import load_runtime
from research_agent_generated.state.generated import ResearchStateInput
from research_agent_generated.support.errors import AgentError
from research_agent_generated.support.protojson import JsonError, from_json, to_json


async def run(value: Any, thread_id: str | None) -> Any:
    """Run the agent to its end and return its public output."""
    state = from_json(ResearchStateInput, value)
    async with load_runtime() as runtime, runtime.acheckpointer() as checkpointer:
        logging.basicConfig(level=runtime.settings.log_level)
        agent = build_agent(runtime=runtime, checkpointer=checkpointer)
        result = await agent.ainvoke(state, thread_id=thread_id)
    return to_json(result.value)


def main() -> None:
    """Read the command line and print the output."""
    parser = argparse.ArgumentParser(prog=AGENT_ID, description="Run the agent once.")
    parser.add_argument("input", nargs="?", help="JSON; from stdin when left out")
    parser.add_argument("--thread-id", help="needed when persistence is on")
    options = parser.parse_args()
    text = sys.stdin.read() if options.input is None else options.input
    try:
        output = asyncio.run(run(json.loads(text), options.thread_id))
    except (AgentError, JsonError, json.JSONDecodeError) as error:
        sys.exit(f"{AGENT_ID}: {error}")
    sys.stdout.write(json.dumps(output, indent=2) + "\n")


if __name__ == "__main__":
    main()
