"""The nodes of agent `research-agent`.

A node factory is a public function here that takes `runtime` and `tools` by keyword;
its name is the node's name. It returns the node: a function, plain or async, from
the state to a dict of the fields that change. Fields with a reducer get the part
that is to be merged, not the whole. A node may run again after an interrupt or a
crash, so what it does outside of the state must bear repetition.
"""

from __future__ import annotations

from collections.abc import Callable

from research_agent_generated.runtime_contract.generated import AgentRuntime
from research_agent_generated.state.generated import (
    ResearchStateModel,
    ResearchStateUpdate,
)
from research_agent_generated.tools.generated.registry import ToolRegistry


def entry(
    *, runtime: AgentRuntime, tools: ToolRegistry
) -> Callable[[ResearchStateModel], ResearchStateUpdate]:
    """Build the node at which a run starts."""
    raise NotImplementedError
