"""One edge, to the end."""

from __future__ import annotations

from guarantees_generated.support.graphs import AgentGraph
from langgraph.graph import END


def register_edges(g: AgentGraph) -> None:
    """End after the first node."""
    g.add_edge("first", END)
