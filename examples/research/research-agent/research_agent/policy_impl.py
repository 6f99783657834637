"""The policy of the research agent: what follows what.

START -> plan -> search (one a query) -> read -> plan or answer -> END
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END
from langgraph.types import Send
from research_agent_generated.state.generated import ResearchStateModel
from research_agent_generated.support.graphs import AgentGraph

DEFAULT_MAX_ROUNDS = 3
ENOUGH_FACTS = 6


def register_edges(g: AgentGraph) -> None:
    """Wire the nodes; START leads to `plan`, the entry node of the contract."""
    g.add_conditional_edges("plan", fan_out, ["search", "answer"])
    g.add_edge("search", "read")
    g.add_conditional_edges("read", after_reading)
    g.add_edge("answer", END)


def fan_out(state: ResearchStateModel) -> list[Send] | Literal["answer"]:
    """Search for all queries at once, or answer if there is nothing to look for."""
    if not state.queries:
        return "answer"
    return [Send("search", {"query": query}) for query in state.queries]


def after_reading(state: ResearchStateModel) -> Literal["plan", "answer"]:
    """Go another round unless enough is known or the rounds are used up."""
    rounds = state.max_rounds or DEFAULT_MAX_ROUNDS
    if len(state.facts) >= ENOUGH_FACTS or state.round >= rounds:
        return "answer"
    return "plan"
