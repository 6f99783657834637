"""The fakes and helpers that every generated package has for tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from kinds_generated.harness.generated import (
    ScriptedChatModel,
    ScriptedTransport,
    ScriptError,
    arun_node,
    harness_runtime,
    memory_saver,
    one_node_graph,
    run_node,
    sample,
    sqlite_saver,
    strict_serde,
    tool_call,
)
from kinds_generated.state.generated import (
    MODELS,
    STATE,
    ChoiceModel,
    ConvertRequestModel,
    ConvertResponseModel,
    TreeModel,
)
from kinds_generated.support import pb
from kinds_generated.support.errors import UpdateError
from kinds_generated.tools.generated.kinds_convert import KindsConvertTool
from kinds_generated.tools.generated.registry import ToolRegistry
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict


class Task(BaseModel):
    """What a Send carries, and no type of the contract."""

    text: str


class TestSample:
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
    def test_sets_every_field(self, model: type[pb.Message]) -> None:
        rivals = {m for group in pb.one_ofs(model) for m in group.members[1:]}
        message = sample(model)

        assert type(message).model_validate(dict(message)) == message
        assert message == sample(model)
        unset = set(model.model_fields) - message.model_fields_set
        assert unset <= rivals | {
            name
            for name, field in model.model_fields.items()
            if "Tree" in str(field.annotation) or "Forest" in str(field.annotation)
        }

    def test_sets_the_first_member_of_a_oneof(self) -> None:
        assert sample(ChoiceModel).value == "text"
        assert sample(ChoiceModel, number=7).value == "number"

    def test_ends_where_a_message_contains_itself(self) -> None:
        tree = sample(TreeModel)
        assert tree.parent is None
        assert tree.children == []
        assert tree.named == {}

    def test_takes_fields(self) -> None:
        assert sample(TreeModel, name="oak").name == "oak"


class TestScriptedChatModel:
    def test_answers_in_order_and_records(self) -> None:
        model = ScriptedChatModel(["one", "two"])

        assert model.invoke("a").text == "one"
        assert model.invoke("b").text == "two"
        assert model.calls == [[HumanMessage("a")], [HumanMessage("b")]]
        model.assert_finished()

    def test_exhausted_script_is_an_error(self) -> None:
        model = ScriptedChatModel(["one"])
        model.invoke("a")

        with pytest.raises(ScriptError, match="has 1 messages, and this is call 2"):
            model.invoke("b")

    def test_rest_of_a_script_is_an_error(self) -> None:
        with pytest.raises(ScriptError, match="2 of 2 scripted messages"):
            ScriptedChatModel(["one", "two"]).assert_finished()

    def test_endless_answer(self) -> None:
        model = ScriptedChatModel(["one"], endless="more")
        answers = [model.invoke("?") for _ in range(3)]

        assert [answer.text for answer in answers] == ["one", "more", "more"]
        assert len({answer.id for answer in answers}) == 3

    def test_records_bound_tools(self) -> None:
        model = ScriptedChatModel([tool_call("look", {"at": "it"})])
        bound = model.bind_tools([KindsConvertTool], tool_choice="any")

        assert bound.invoke("a").tool_calls[0]["args"] == {"at": "it"}
        assert model.bound_tools == [KindsConvertTool]
        assert model.bound_with == {"tool_choice": "any"}

    def test_structured_output(self) -> None:
        class Look(BaseModel):
            """Look at it."""

            at: str

        model = ScriptedChatModel([tool_call("Look", {"at": "it"})])

        assert model.with_structured_output(Look).invoke("a") == Look(at="it")

    def test_streams_words_and_tool_calls(self) -> None:
        answer = tool_call("look", {"at": "it"})
        answer.content = "I will look"
        chunks = list(ScriptedChatModel([answer]).stream("a"))

        assert [chunk.text for chunk in chunks if chunk.text] == ["I ", "will ", "look"]
        whole = chunks[0]
        for chunk in chunks[1:]:
            assert isinstance(chunk, AIMessageChunk)
            whole = whole + chunk
        assert whole.tool_calls == answer.tool_calls

    def test_streams_asynchronously(self) -> None:
        async def texts() -> list[str]:
            model = ScriptedChatModel(["a b"])
            return [str(chunk.text) async for chunk in model.astream("?")]

        assert "".join(asyncio.run(texts())) == "a b"

    def test_streams_within_a_graph(self) -> None:
        model = ScriptedChatModel(["a b"])

        class State(TypedDict):
            text: str

        graph: Any = StateGraph(State)
        graph.add_node("ask", lambda state: {"text": model.invoke("?").text})
        graph.add_edge(START, "ask")
        parts = graph.compile().stream({"text": ""}, stream_mode="messages")

        assert "".join(chunk.text for chunk, _ in parts) == "a b"


def _convert(runtime: Any) -> Any:
    tools = ToolRegistry(runtime)
    return tools.kinds_convert(
        ConvertRequestModel(content=b"x"), state={"question": "?", "notes": []}
    )


class TestScriptedTransport:
    def test_answers_samples_without_a_script(self) -> None:
        runtime = harness_runtime()

        assert _convert(runtime) == sample(ConvertResponseModel)
        assert _convert(runtime) == sample(ConvertResponseModel)

    def test_answers_in_order_and_records(self) -> None:
        convert = ScriptedTransport(
            KindsConvertTool,
            [ConvertResponseModel(content=b"1"), {"content": "Mg=="}],
        )
        runtime = harness_runtime(tools={"kinds.convert": convert})

        assert [_convert(runtime).content for _ in range(2)] == [b"1", b"2"]
        assert [request.content for request in convert.requests] == [b"x", b"x"]
        assert convert.requests[0].question == "?"
        convert.assert_finished()

    def test_raises_and_computes(self) -> None:
        def answer(request: ConvertRequestModel) -> ConvertResponseModel:
            return ConvertResponseModel(content=request.content * 2)

        runtime = harness_runtime(tools={"kinds.convert": [ValueError("no"), answer]})

        with pytest.raises(ValueError, match="^no$"):
            _convert(runtime)
        assert _convert(runtime).content == b"xx"

    def test_single_response_is_for_every_call(self) -> None:
        runtime = harness_runtime(tools={"kinds.convert": {"content": "Mg=="}})

        assert [_convert(runtime).content for _ in range(3)] == [b"2"] * 3

    def test_exhausted_script_is_an_error(self) -> None:
        runtime = harness_runtime(tools={"kinds.convert": []})

        with pytest.raises(ScriptError, match="has 0 responses, and this is call 1"):
            _convert(runtime)

    def test_rest_of_a_script_is_an_error(self) -> None:
        convert = ScriptedTransport(KindsConvertTool, [{}, {}])

        with pytest.raises(ScriptError, match="2 of 2 scripted responses"):
            convert.assert_finished()

    def test_unknown_tool_is_an_error(self) -> None:
        with pytest.raises(ScriptError, match="did you mean `kinds.convert`"):
            harness_runtime(tools={"kinds.convrt": {}})


class TestRunNode:
    def test_returns_what_was_written(self) -> None:
        written = run_node(lambda state: {"question": "b"}, {"question": "a"})

        assert written == {"question": "b"}

    def test_injects_what_a_graph_injects(self) -> None:
        seen = []

        def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> None:
            seen.append((runtime.execution_info is not None, "configurable" in config))

        run_node(node, sample(STATE.schema))

        assert seen == [(True, True)]

    def test_runs_coroutine_functions(self) -> None:
        async def node(state: Any) -> dict[str, str]:
            return {"question": "a"}

        assert run_node(node) == {"question": "a"}
        assert asyncio.run(arun_node(node)) == {"question": "a"}

    def test_names_the_node_in_errors(self) -> None:
        with pytest.raises(UpdateError, match="node `plan`, field `questoin`"):
            run_node(lambda state: {"questoin": "a"}, name="plan")

    def test_sends_other_models(self) -> None:
        def node(task: Task) -> Command[Literal["__end__"]]:
            return Command(update={"question": task.text}, goto="__end__")

        assert run_node(node, Task(text="a")) == {"question": "a"}

    def test_stops_at_an_interrupt(self) -> None:
        def node(state: Any) -> dict[str, str]:
            return {"question": interrupt("?")}

        assert run_node(node) == {}


class TestOneNodeGraph:
    def test_merges_with_the_reducers_of_the_state(self) -> None:
        graph = one_node_graph(lambda state: {"notes": ["b"]})

        assert graph.invoke({"notes": ["a"]})["notes"] == ["a", "b"]

    def test_runs_a_tool_node(self) -> None:
        (tool,) = ToolRegistry(harness_runtime()).langchain_tools("kinds.convert")
        call = tool_call("kinds_convert", {"content": "eA=="})
        written = run_node(ToolNode([tool]), {"messages": [call], "question": "?"})

        (message,) = written["messages"]
        assert message.status == "success"
        assert message.artifact["content"] == "c2FtcGxl"


class TestCheckpointers:
    def test_are_fresh(self) -> None:
        config: Any = {"configurable": {"thread_id": "1"}}
        for _ in range(2):
            graph = one_node_graph(lambda state: None, checkpointer=memory_saver())
            assert graph.get_state(config).created_at is None
            graph.invoke({"question": "a"}, config)

    def test_database_outlives_its_saver(self, tmp_path: Path) -> None:
        config: Any = {"configurable": {"thread_id": "1"}}
        state = sample(STATE.schema)
        with sqlite_saver(tmp_path) as saver:
            graph = one_node_graph(lambda state: None, checkpointer=saver)
            graph.invoke(dict(state), config)
        with sqlite_saver(tmp_path) as saver:
            graph = one_node_graph(lambda state: None, checkpointer=saver)
            values = graph.get_state(config).values

        assert STATE.schema(**values) == state.model_copy(
            update={name: STATE.schema().model_dump()[name] for name in STATE.untracked}
        )

    def test_serializer_revives_nothing_else(self) -> None:
        serde = strict_serde()

        assert serde.loads_typed(serde.dumps_typed(Task(text="a"))) == {"text": "a"}
