"""The edges of agent `research-agent`."""

from __future__ import annotations

from research_agent_generated.support.graphs import AgentGraph


def register_edges(g: AgentGraph) -> None:
    """Wire the nodes of `nodes_impl`, by their names.

    START leads to `entry` unless an edge from START is added here; nothing leads to
    END by itself. A router says where it may go: `add_conditional_edges` gets a
    `path_map`, or the router returns `Literal[...]`.
    """
    raise NotImplementedError
