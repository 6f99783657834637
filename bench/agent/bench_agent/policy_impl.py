"""The policy: as many rounds as the input asks for."""

from __future__ import annotations

from typing import Literal

from bench_agent_generated.state.generated import BenchStateModel
from bench_agent_generated.support.graphs import AgentGraph
from langgraph.graph import END


def register_edges(g: AgentGraph) -> None:
    """Go round."""
    g.add_conditional_edges("step", route)


def route(state: BenchStateModel) -> Literal["step", "__end__"]:
    """Stop after the last round."""
    return "step" if state.round < state.rounds else END
