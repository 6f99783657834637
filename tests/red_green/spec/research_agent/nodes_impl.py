"""The nodes of agent `research-agent`."""

from __future__ import annotations

from collections.abc import Callable

from research_agent_generated.runtime_contract.generated import AgentRuntime
from research_agent_generated.state.generated import (
    ResearchStateModel,
    ResearchStateUpdate,
    WebSearchRequestModel,
)
from research_agent_generated.support.pb import Timestamp
from research_agent_generated.tools.generated.registry import ToolRegistry


def entry(
    *, runtime: AgentRuntime, tools: ToolRegistry
) -> Callable[[ResearchStateModel], ResearchStateUpdate]:
    """Build the node that searches for the question."""

    def node(state: ResearchStateModel) -> ResearchStateUpdate:
        found = tools.web_search(
            WebSearchRequestModel(query=state.user_query, max_results=3)
        )
        return {
            "notes": found.snippets,
            "facts": dict(zip(found.urls, found.snippets, strict=False)),
            "started_at": state.started_at or Timestamp.now(),
        }

    return node


def summarize(
    *, runtime: AgentRuntime, tools: ToolRegistry
) -> Callable[[ResearchStateModel], ResearchStateUpdate]:
    """Build the node that counts what was found."""

    async def node(state: ResearchStateModel) -> ResearchStateUpdate:
        return {"notes": [f"{len(state.facts)} sources"]}

    return node  # type: ignore[return-value]
