"""The errors of a generated agent.

No message holds a value that came from a caller, a model, a tool or a secret
file: LangGraph stores the text of a failed node's error in the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable


class AgentError(Exception):
    """Base of every error that the generated code raises."""


class ContractError(AgentError):
    """A value does not keep the contract of the protos."""


class InputError(ContractError):
    """The input of a run is not what the agent's public input allows.

    Attributes:
        agent_id: The agent that was called.
        problems: What is wrong, one sentence a field.
    """

    def __init__(self, agent_id: str, problems: Iterable[str]) -> None:
        """Describe the problems of an input."""
        self.agent_id = agent_id
        self.problems = tuple(problems)
        super().__init__(f"agent `{agent_id}`, input: " + "; ".join(self.problems))


class UpdateError(ContractError):
    """A node returned an update that the state does not allow.

    Attributes:
        agent_id: The agent whose graph ran.
        node: The node that returned the update.
        field: The state field at fault, or None when the update as a whole is.
    """

    def __init__(
        self, agent_id: str, node: str, field: str | None, problem: str
    ) -> None:
        """Describe the problem of one update."""
        self.agent_id = agent_id
        self.node = node
        self.field = field
        where = f"agent `{agent_id}`, node `{node}`"
        if field is not None:
            where += f", field `{field}`"
        super().__init__(f"{where}: {problem}")


class ProblemsError(AgentError):
    """An error that reports every problem it found at once.

    Attributes:
        problems: The problems, one sentence each.
    """

    def __init__(self, summary: str, problems: Iterable[str]) -> None:
        """Describe all problems under one summary."""
        self.problems = tuple(problems)
        super().__init__("\n".join([summary, *(f"  - {p}" for p in self.problems)]))


class GraphError(ProblemsError):
    """The nodes and edges do not form a graph that can run."""


class ConfigError(ProblemsError):
    """The environment does not give what the runtime contract asks for."""


class ThreadIdError(AgentError):
    """Persistence is on and a run has no `thread_id`."""


class ToolError(AgentError):
    """A tool call failed.

    Attributes:
        tool_id: The tool that was called.
        code: A Connect error code, such as `unavailable` or `invalid_argument`.
        retryable: Whether the same call may succeed later.
    """

    def __init__(
        self, tool_id: str, code: str, message: str, *, retryable: bool = False
    ) -> None:
        """Describe the failure of one call."""
        self.tool_id = tool_id
        self.code = code
        self.retryable = retryable
        super().__init__(f"tool `{tool_id}`: {code}: {message}")


class ToolContractError(ToolError, ContractError):
    """The input or the output of a tool does not keep its schema.

    Attributes:
        direction: `input` or `output`.
        problems: What is wrong, one sentence a field.
    """

    def __init__(self, tool_id: str, direction: str, problems: Iterable[str]) -> None:
        """Describe the problems of one side of a call."""
        self.direction = direction
        self.problems = tuple(problems)
        code = "invalid_argument" if direction == "input" else "internal"
        super().__init__(tool_id, code, f"{direction}: " + "; ".join(self.problems))
