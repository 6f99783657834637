"""The nodes: one, which notes the round or what the tool says."""

from __future__ import annotations

from collections.abc import Callable

from bench_agent_generated.runtime_contract.generated import AgentRuntime
from bench_agent_generated.state.generated import (
    BenchStateModel,
    BenchStateUpdate,
    LookupRequestModel,
)
from bench_agent_generated.tools.generated.registry import ToolRegistry


def step(
    *, runtime: AgentRuntime, tools: ToolRegistry
) -> Callable[[BenchStateModel], BenchStateUpdate]:
    """Go one round."""

    def node(state: BenchStateModel) -> BenchStateUpdate:
        note = f"round {state.round}"
        if state.calls_tool:
            note = tools.lookup(LookupRequestModel(query=state.query, limit=3)).results[
                0
            ]
        return {"round": state.round + 1, "notes": [note], "facts": {"last": note}}

    return node
