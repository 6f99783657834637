"""One node, which notes what was asked."""

from __future__ import annotations

from collections.abc import Callable

from guarantees_generated.runtime_contract.generated import AgentRuntime
from guarantees_generated.state.generated import (
    GuaranteesStateModel,
    GuaranteesStateUpdate,
)
from guarantees_generated.tools.generated.registry import ToolRegistry


def first(
    *, runtime: AgentRuntime, tools: ToolRegistry
) -> Callable[[GuaranteesStateModel], GuaranteesStateUpdate]:
    """Make the node that notes the query."""

    def node(state: GuaranteesStateModel) -> GuaranteesStateUpdate:
        return {"notes": [state.query], "scratch": "untracked-51c2"}

    return node
