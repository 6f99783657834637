"""The edges of agent `research-agent`."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END
from research_agent_generated.state.generated import ResearchStateModel
from research_agent_generated.support.graphs import AgentGraph


def register_edges(g: AgentGraph) -> None:
    """Summarize what was found, if anything was."""

    def after_search(
        state: ResearchStateModel,
    ) -> Literal["summarize", "__end__"]:
        return "summarize" if state.facts else "__end__"

    g.add_conditional_edges("entry", after_search)
    g.add_edge("summarize", END)
