"""The nodes of the research agent.

Without a chat model the nodes decide by counting words, so that the agent gives
the same answer every time; with one (MODEL_PROVIDER, MODEL_NAME) the model plans
the queries and writes the answer. Either way the graph is the same.
"""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.config import get_config
from langgraph.types import Overwrite
from research_agent_generated.facts.generated import ANSWER_FOUND
from research_agent_generated.runtime_contract.generated import AgentRuntime
from research_agent_generated.state.generated import (
    AnswerFoundModel,
    FetchDocumentRequestModel,
    ResearchStateModel,
    ResearchStateUpdate,
    SourceModel,
    WebSearchRequestModel,
)
from research_agent_generated.support import pb
from research_agent_generated.tools.generated.registry import ToolRegistry

from research_agent.text import best_sentence, follow_up_queries, queries_of

Node = Callable[[ResearchStateModel], ResearchStateUpdate]

QUERIES_PER_ROUND = 3
RESULTS_PER_QUERY = 3
DOCUMENTS_PER_ROUND = 4


def plan(*, runtime: AgentRuntime, tools: ToolRegistry) -> Node:
    """Choose the queries of the next round; start afresh for a new question."""

    def node(state: ResearchStateModel) -> ResearchStateUpdate:
        if is_new(state):
            return {
                "notes": Overwrite([]),
                "facts": Overwrite({}),
                "sources": Overwrite([]),
                "messages": [HumanMessage(state.user_query)],
                "started_at": pb.Timestamp.now(),
                "answer": "",
                "round": 1,
                "queries": first_queries(state.user_query),
            }
        return {
            "round": state.round + 1,
            "queries": follow_up_queries(
                state.user_query, state.facts.values(), QUERIES_PER_ROUND
            ),
        }

    def first_queries(question: str) -> list[str]:
        if not runtime.has_chat_model:
            return queries_of(question, QUERIES_PER_ROUND)
        reply = runtime.chat_model().invoke(
            [
                SystemMessage(
                    f"Write at most {QUERIES_PER_ROUND} search queries that would "
                    "find the answer to the question, one a line and nothing else."
                ),
                HumanMessage(question),
            ]
        )
        lines = [line.strip(" -*\t") for line in str(reply.text).splitlines()]
        return [line for line in lines if line][:QUERIES_PER_ROUND]

    return node


def is_new(state: ResearchStateModel) -> bool:
    """Tell whether the question has not been planned for yet."""
    asked = [m for m in state.messages if isinstance(m, HumanMessage)]
    return not asked or asked[-1].text != state.user_query or bool(state.answer)


def search(*, runtime: AgentRuntime, tools: ToolRegistry) -> Node:
    """Search for one query; as many of these run at once as there are queries."""

    def node(state: ResearchStateModel) -> ResearchStateUpdate:
        response = tools.web_search(
            WebSearchRequestModel(query=state.query, max_results=RESULTS_PER_QUERY)
        )
        return {
            "notes": [f"{state.query}: {r.title}" for r in response.results],
            "sources": [
                SourceModel(url=r.url, title=r.title, query=state.query, score=r.score)
                for r in response.results
            ],
        }

    return node


def read(*, runtime: AgentRuntime, tools: ToolRegistry) -> Node:
    """Read the documents found most often and keep a sentence of each."""

    def node(state: ResearchStateModel) -> ResearchStateUpdate:
        unread = [s.url for s in state.sources if s.url not in state.facts]
        # The more queries found a document, the better; ties in order of finding.
        ranked = sorted(dict.fromkeys(unread), key=unread.count, reverse=True)
        documents = {
            url: state.documents.get(url)
            or tools.fetch_document(FetchDocumentRequestModel(url=url)).text
            for url in ranked[:DOCUMENTS_PER_ROUND]
        }
        return {
            "documents": documents,
            "facts": {
                url: best_sentence(state.user_query, text)[0]
                for url, text in documents.items()
            },
        }

    return node


def answer(*, runtime: AgentRuntime, tools: ToolRegistry) -> Node:
    """Answer from the sentences that were kept, and tell other systems."""

    def node(state: ResearchStateModel) -> ResearchStateUpdate:
        text = compose(state)
        thread_id = str(get_config()["configurable"].get("thread_id", ""))
        # Derived, not drawn: a node that runs again adds no second message.
        message_id = f"answer-{sum(m.type == 'human' for m in state.messages)}"
        ANSWER_FOUND.emit(
            runtime.fact_sink,
            AnswerFoundModel(
                thread_id=thread_id,
                message_id=message_id,
                question=state.user_query,
                answer=text,
                source_urls=list(state.facts),
                found_at=pb.Timestamp.now(),
            ),
        )
        return {"answer": text, "messages": [AIMessage(text, id=message_id)]}

    def compose(state: ResearchStateModel) -> str:
        ranked = sorted(
            state.facts.values(),
            key=lambda sentence: best_sentence(state.user_query, sentence)[1],
            reverse=True,
        )
        if not ranked:
            return "Nothing was found."
        if not runtime.has_chat_model:
            return " ".join(ranked[:3])
        reply = runtime.chat_model().invoke(
            [
                SystemMessage(
                    "Answer the question from these sentences only:\n"
                    + "\n".join(f"- {sentence}" for sentence in ranked)
                ),
                HumanMessage(state.user_query),
            ]
        )
        return str(reply.text)

    return node
