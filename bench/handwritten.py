"""The agent of bench.proto as one writes it by hand, with the same behaviour.

It validates what a careful author validates: the state when a node reads it, and
the input and the output of the tool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


def append(left: list[str], right: list[str]) -> list[str]:
    """Append a list."""
    return left + right


def merge(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Merge a dictionary."""
    return {**left, **right}


class State(BaseModel):
    """The state."""

    model_config = ConfigDict(extra="forbid")

    query: str = ""
    rounds: int = Field(default=0, ge=0, lt=2**32)
    calls_tool: bool = False
    round: int = Field(default=0, ge=0, lt=2**32)
    notes: Annotated[list[str], append] = Field(default_factory=list)
    facts: Annotated[dict[str, str], merge] = Field(default_factory=dict)


class Input(BaseModel):
    """What callers set."""

    query: str = ""
    rounds: int = 0
    calls_tool: bool = False


class Output(BaseModel):
    """What callers see."""

    round: int = 0
    notes: list[str] = Field(default_factory=list)
    facts: dict[str, str] = Field(default_factory=dict)


class LookupRequest(BaseModel):
    """The request of the tool."""

    model_config = ConfigDict(extra="forbid")

    query: str = ""
    limit: int = Field(default=0, ge=0, lt=2**32)


class LookupResponse(BaseModel):
    """The response of the tool."""

    results: list[str] = Field(default_factory=list)


def build_graph(
    lookup: Callable[[LookupRequest], dict[str, Any]],
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the graph."""

    def step(state: State) -> dict[str, Any]:
        note = f"round {state.round}"
        if state.calls_tool:
            request = LookupRequest.model_validate({"query": state.query, "limit": 3})
            response = LookupResponse.model_validate(lookup(request))
            note = response.results[0]
        return {"round": state.round + 1, "notes": [note], "facts": {"last": note}}

    def route(state: State) -> str:
        return "step" if state.round < state.rounds else END

    graph = StateGraph(State, input_schema=Input, output_schema=Output)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", route)
    return graph.compile()


class Camel(BaseModel):
    """Base of models with the names of JSON."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Hit(Camel):
    """One thing that was found."""

    title: str = ""
    url: str = ""
    snippet: str = ""
    score: float = 0.0
    page_number: int = 0


class Page(Camel):
    """What a search tool returns."""

    hits: list[Hit] = Field(default_factory=list)
    total_size: int = 0
    next_page_token: str = ""
