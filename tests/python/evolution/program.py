"""One version of the ledger agent: writes threads, or goes on with them.

Runs in a process of its own, with the generated package of one version on the path.
Standard input is a JSON object: `database`, `threads` (fields in ProtoJSON by thread
id) and `do`; standard output is one too: what the nodes saw, by thread id.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START
from langgraph.types import Command, Send, interrupt
from ledger_generated.state.generated import STATE, LedgerStateModel, OrderModel
from ledger_generated.support.agent import Agent
from ledger_generated.support.graphs import AgentGraph
from ledger_generated.support.protojson import from_json, to_json

Update = dict[str, Any]
seen: dict[str, Any] = {}
fields: Update | None = None


def see(state: LedgerStateModel) -> None:
    """Keep what a node sees of the thread that runs."""
    seen[state.query.split()[0]] = to_json(state)


def first(state: LedgerStateModel) -> Update:
    """Write the fields of the thread, or look at what it has."""
    if fields is not None:
        update = from_json(LedgerStateModel, fields, ignore_unknown=False)
        return {name: getattr(update, name) for name in update.model_fields_set}
    see(state)
    return {"orders": [OrderModel(id="later")], "messages": [HumanMessage("more")]}


def route(state: LedgerStateModel) -> list[Send]:
    """Send the state, of which the packet keeps a copy."""
    return [Send("wait", state)]


def wait(state: LedgerStateModel) -> Update:
    """Wait for an answer, so that the packet is stored."""
    if state.query.endswith("waits"):
        see(state)
        interrupt("go on?")
        see(state)
    return {}


def agent(saver: Any) -> Agent[Any, Any]:
    """Build the graph."""
    graph = AgentGraph(STATE)
    graph.add_node("first", first)
    graph.add_node("wait", wait)
    graph.add_edge(START, "first")
    graph.add_conditional_edges("first", route, ["wait"])
    graph.add_edge("wait", END)
    return Agent(
        STATE, graph.build(checkpointer=saver, recursion_limit=9, where="test")
    )


def main() -> None:
    """Do what standard input says."""
    global fields
    job = json.load(sys.stdin)
    serde = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)
    connection = sqlite3.connect(job["database"], check_same_thread=False)
    ledger = agent(SqliteSaver(connection, serde=serde))
    for thread, content in job["threads"].items():
        if job["do"] == "write":
            fields = content
            query = f"{thread} waits"
        else:
            ledger.invoke(Command(resume="yes"), thread_id=thread)
            seen[f"{thread}-resumed"] = seen.pop(thread)
            query = f"{thread} again"
        ledger.invoke({"query": query}, thread_id=thread)
    json.dump(seen, sys.stdout)


main()
