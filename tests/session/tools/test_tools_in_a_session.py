"""Every call id gets one answer, after the effects of the tool."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.session.talking import agent, talk
from tests.session.tools.slow_tool import slow

from gemini_live_runtime import (
    Phase,
    State,
    Tool,
    ToolContext,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.tools.tool_answers import ToolResponse
from gemini_live_runtime.tools.results import MAX_RESULT_LEVELS


@tool
def ping() -> str:
    """Ping."""
    return "pong"


async def test_a_result_that_is_no_object_is_sent_as_one() -> None:
    async with talk(agent().tools(ping)) as t:
        await t.calls("ping")
        assert t.sent("answer") == [("answer", "c1", {"output": "pong"})]


async def test_calls_of_one_message_run_at_the_same_time() -> None:
    async with talk(agent().tools(slow)) as t:
        await t.calls("slow", "slow", "slow")
        await t.passes(5.1)
        assert [told[1] for told in t.sent("answer")] == ["c1", "c2", "c3"]


async def test_a_tool_that_takes_too_long_is_answered_with_that() -> None:
    @tool(timeout_s=2)
    async def never() -> None:
        """Never end."""
        await asyncio.sleep(1000)

    async with talk(agent().tools(never)) as t:
        await t.calls("never")
        await t.passes(2.1)
        assert "error" in t.sent("answer")[0][2]
    assert t.all(ev.ToolFinished)[0].status == "timeout"


async def test_arguments_that_do_not_fit_are_answered_without_running_the_tool() -> None:
    ran: list[int] = []

    def book(people: int) -> None:
        """Book.

        Args:
            people: How many.
        """
        ran.append(people)

    async with talk(agent().tools(book)) as t:
        await t.calls("book", people="many")
        assert "people" in t.sent("answer")[0][2]["error"]
    assert ran == []


async def test_a_tool_that_does_not_exist_is_answered_with_those_that_do() -> None:
    async with talk(agent().tools(ping)) as t:
        await t.calls("fly")
        assert "ping" in t.sent("answer")[0][2]["error"]


async def test_a_cancellation_by_the_server_reaches_the_tool_and_nothing_is_answered() -> None:
    told: list[str] = []

    @tool
    async def long(ctx: ToolContext) -> None:
        """Take long."""
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            told.append(f"cancelled: {ctx.cancelled.is_set()}")
            raise

    async with talk(agent().tools(long)) as t:
        await t.calls("long")
        await t.server.says(toolCallCancellation={"ids": ["c1"]})
        await t.rests()
        assert t.sent("answer") == []
        assert told == ["cancelled: True"]
    assert [finished.status for finished in t.all(ev.ToolFinished)] == ["cancelled"]


async def test_a_call_that_arrives_twice_runs_once() -> None:
    async with talk(agent().tools(ping)) as t:
        for _ in range(2):
            await t.server.says(toolCall={"functionCalls": [{"id": "same", "name": "ping", "args": {}}]})
            await t.rests()
        assert len(t.sent("answer")) == 1


async def test_what_a_tool_has_written_is_in_the_turn_scope_until_the_next_turn_begins() -> None:
    seen: list[Any] = []

    def write(state: State) -> None:
        """Write."""
        state.set("turn:chosen", "red")

    of = agent().tools(write).on("turn_complete", lambda turn: seen.append("turn complete"))
    async with talk(of) as t:
        await t.hears("red")
        await t.calls("write")
        await t.says("Red it is.")
        await t.ends()
        seen.append(t.state.get("turn:chosen"))
        await t.hears("next")
        seen.append(t.state.get("turn:chosen"))
    assert seen == ["turn complete", "red", None]


async def test_a_listener_may_answer_a_call_in_its_tools_place() -> None:
    def override(calls: Any, state: State) -> dict[str, Any]:
        return {call.id: {"by": "listener"} for call in calls if call.name == "ping"}

    async with talk(agent().tools(ping, slow).on("tool_call", override)) as t:
        await t.calls("ping", "slow")
        assert t.sent("answer") == [("answer", "c1", {"by": "listener"})]
        await t.passes(5)
        assert len(t.sent("answer")) == 2


async def test_with_one_call_refused_and_a_listener_that_leaves_it_be_both_are_answered() -> None:
    asked: list[str] = []

    def listens(calls: Any, state: State) -> None:
        asked.extend(call.name for call in calls)

    of = agent().tools(ping, slow)
    async with talk(of.phase(Phase("only", "One.", tools=("ping",))).on("tool_call", listens)) as t:
        await t.calls("ping", "slow", seconds=0.0)
        answers = {told[1]: told[2] for told in t.sent("answer")}
        assert set(answers) == {"c1", "c2"}
        assert "error" in answers["c2"]
    assert asked == ["ping"]


async def test_before_tool_response_may_change_an_answer_but_not_drop_it() -> None:
    def change(responses: Any, state: State) -> Any:
        if state.get("app:drop"):
            return []
        responses[0].response = {"changed": True}
        return responses

    async with talk(agent().tools(ping).on("before_tool_response", change)) as t:
        await t.calls("ping")
        t.state.set("app:drop", True)
        await t.calls("ping")
        assert [told[2] for told in t.sent("answer")] == [{"changed": True}, {"output": "pong"}]
    assert [failure.where for failure in t.failures()] == ["tool ping"]


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        (ToolResponse("c9", "ping", {"a": 1}), "'c9'"),
        (ToolResponse("c1", "ping", {"a": 1}), "'c1' more than once"),
        ({"a": 1}, "returned dict"),
    ],
    ids=["another id", "the same id", "no id"],
)
async def test_an_answer_that_a_listener_adds_is_told_of_and_not_sent(extra: Any, told: str) -> None:
    async with talk(agent().tools(ping).on("before_tool_response", lambda responses, state: [*responses, extra])) as t:
        await t.calls("ping")
        assert t.sent("answer") == [("answer", "c1", {"output": "pong"})]
    (failure,) = t.failures()
    assert told in failure.error


async def test_each_record_keeps_the_arguments_of_its_own_call() -> None:
    @tool
    def say(word: str) -> str:
        """Say a word.

        Args:
            word: The word.
        """
        return word

    async with talk(agent().tools(say)) as t:
        await t.server.says(
            toolCall={
                "functionCalls": [
                    {"id": "a", "name": "say", "args": {"word": "one"}},
                    {"id": "b", "name": "say", "args": {"word": "two"}},
                ]
            }
        )
        await t.rests()
        (turn,) = t.stage.agent.transcript.window_with_current(1).turns
        assert [(call.call_id, call.args) for call in turn.tool_calls] == [
            ("a", '{"word": "one"}'),
            ("b", '{"word": "two"}'),
        ]


async def test_a_tool_with_an_explicit_schema_is_declared_and_called() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    double = Tool.from_schema("double", "Double a number.", schema, lambda args: {"n": args["n"] * 2})

    async with talk(agent().tools(double)) as t:
        setup = t.setup
        assert setup["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"]["required"] == ["n"]
        await t.calls("double", n=4)
        assert t.sent("answer") == [("answer", "c1", {"n": 8})]


async def test_failures_and_successes_are_counted_in_the_state() -> None:
    @tool
    def pay(ok: bool) -> None:
        """Pay.

        Args:
            ok: Whether it works.
        """
        if not ok:
            raise RuntimeError("declined")

    async with talk(agent().tools(pay)) as t:
        await t.calls("pay", ok=False)
        assert t.state["bg:pay_failed"] is True
        await t.calls("pay", ok=True)
        assert (t.state["bg:pay_failed"], t.state["session:called_ok:pay"]) == (False, 1)


async def test_the_program_may_answer_a_call_that_runs() -> None:
    async with talk(agent().tools(slow)) as t:
        await t.calls("slow")
        assert t.handle.answer_tool("c1", {"by": "hand"})
        await t.rests()
        assert t.sent("answer") == [("answer", "c1", {"by": "hand"})]
        await t.passes(6)
        assert len(t.sent("answer")) == 1


async def given_in_place(answer: Any, by: str) -> tuple[ev.ToolFinished, bool | None]:
    """Answer a call in its tool's place; its end, and `bg:slow_failed`."""
    of = agent().tools(slow)
    if by == "listener":
        of = of.on("on_tool_call", lambda calls, state: {call.id: answer for call in calls})
    async with talk(of) as t:
        await t.calls("slow")
        if by == "program":
            assert t.handle.answer_tool("c1", answer)
            await t.rests()
        assert t.sent("answer") == [("answer", "c1", t.all(ev.ToolFinished)[0].result)]
        return t.all(ev.ToolFinished)[0], t.state.get("bg:slow_failed")


@pytest.mark.parametrize("by", ["program", "listener"])
async def test_an_error_given_in_a_tools_place_is_a_failure(by: str) -> None:
    finished, failed = await given_in_place({"error": "card refused"}, by)
    assert (finished.status, failed) == ("error", True)


@pytest.mark.parametrize("by", ["program", "listener"])
async def test_an_answer_in_a_tools_place_has_the_limit_of_a_result(by: str) -> None:
    finished, failed = await given_in_place("x" * 1_000_001, by)
    assert (finished.status, failed) == ("error", True)
    assert "the limit of 1,000,000" in finished.result["error"]


async def test_a_program_that_gives_no_json_hears_so_and_the_tool_runs_on() -> None:
    async with talk(agent().tools(slow)) as t:
        await t.calls("slow")
        with pytest.raises(AgentError, match="c1 cannot be answered"):
            t.handle.answer_tool("c1", {"by": object()})
        await t.passes(6)
        assert t.sent("answer") == [("answer", "c1", {"it": "is done"})]


@pytest.mark.parametrize(
    ("left", "sent", "told"),
    [
        ({"a": "x" * 1_000_001}, {"output": "pong"}, "the limit of 1,000,000"),
        ({"a": float("nan")}, {"a": None}, "result.a"),
        ((item / 0 for item in [1]), {"output": "pong"}, "division by zero"),
    ],
    ids=["huge", "nan", "raising"],
)
async def test_a_listener_that_leaves_an_unusable_response_is_told(left: Any, sent: dict[str, Any], told: str) -> None:
    def change(responses: list[Any], state: State) -> list[Any]:
        responses[0].response = left
        return responses

    async with talk(agent().tools(ping).on("before_tool_response", change)) as t:
        await t.calls("ping")
        assert t.sent("answer") == [("answer", "c1", sent)]
    assert told in t.failures()[0].error


async def test_numbers_that_json_lacks_are_null_for_the_model_and_logged_by_place() -> None:
    def weigh(item: str) -> dict[str, Any]:
        """Weigh an item.

        Args:
            item: The item.
        """
        return {"kg": float("nan"), "all": [1.5, float("inf")]}

    async with talk(agent().tools(weigh)) as t:
        await t.calls("weigh", item="egg")
        assert t.sent("answer")[0][2] == {"kg": None, "all": [1.5, None]}
        assert any("result.kg, result.all[1]" in log.text for log in t.all(ev.Log))


@pytest.mark.parametrize("number", [10**5000, {"rows": [-(10**400)]}], ids=["the result", "inside"])
async def test_a_result_with_a_number_that_no_message_can_hold_is_an_error_that_is_answered(number: Any) -> None:
    def weigh() -> Any:
        """Weigh the ship."""
        return number

    async with talk(agent().tools(weigh)) as t:
        await t.calls("weigh")
        ended = await t.stage.sink.until(ev.ToolFinished)
        await t.rests()
        assert (ended.status, len(t.sent("answer"))) == ("error", 1)
        assert "more than 308 digits" in t.sent("answer")[0][2]["error"]


def nested(levels: int) -> Any:
    """Return lists in lists."""
    return [] if levels == 1 else [nested(levels - 1)]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("x" * (17 << 20), "The result has at least 17,825,792 characters, above the limit of 1,000,000."),
        (nested(MAX_RESULT_LEVELS + 1), "The result has more than 90 levels of nesting, the limit."),
    ],
    ids=["long", "deep"],
)
async def test_a_result_that_no_message_can_hold_is_answered_with_size_and_limit(
    result: Any, told: str, background: bool
) -> None:
    @tool(background=background)
    def fetch() -> Any:
        """Fetch."""
        return result

    async with talk(agent().tools(fetch)) as t:
        await t.calls("fetch")
        ended = await t.stage.sink.until(ev.ToolFinished)
        await t.rests()
        kind, call_id, answer = t.sent("answer")[-1]
        assert (kind, call_id, told in answer["error"]) == ("answer", "c1", True)
        assert (ended.status, ended.delivered) == ("error", True)


@pytest.mark.parametrize("background", [False, True])
async def test_a_result_of_as_many_levels_as_may_be_is_answered(background: bool) -> None:
    @tool(background=background)
    def fetch() -> Any:
        """Fetch."""
        return {"rows": nested(MAX_RESULT_LEVELS - 1)}

    async with talk(agent().tools(fetch)) as t:
        await t.calls("fetch")
        await t.stage.sink.until(ev.ToolFinished)
        await t.rests()
        assert '"rows"' in json.dumps(t.sent("answer")[-1])
        assert t.failures() == []


async def test_what_listeners_change_inside_of_calls_and_answers_is_their_copy() -> None:
    seen = []

    def weigh(ship: dict[str, Any]) -> dict[str, Any]:
        """Weigh the ship.

        Args:
            ship: The ship.
        """
        seen.append(ship)
        return {"load": {"tons": 5, "price": 9}}

    def spoil(calls: Any, state: State) -> None:
        calls[0].args["ship"]["name"] = "spoilt"

    def hide(responses: Any, state: State) -> None:
        responses[0].response["load"].pop("price")

    of = agent().tools(weigh).on("tool_call", spoil).on("before_tool_response", hide)
    async with talk(of) as t:
        await t.calls("weigh", ship={"name": "Ada"})
        ended = await t.stage.sink.until(ev.ToolFinished)
        await t.rests()
        assert (seen, t.all(ev.ToolCalled)[0].args) == ([{"name": "Ada"}], {"ship": {"name": "Ada"}})
        assert ended.result == {"load": {"tons": 5, "price": 9}}
        assert t.sent("answer")[0][2] == {"load": {"tons": 5}}


async def test_counts_go_on_where_code_wrote_something_else() -> None:
    def weigh() -> str:
        """Weigh the ship."""
        return "5 t"

    async with talk(agent().tools(weigh), mode="text") as t:
        t.state.set("session:called_ok:weigh", "often")
        t.state.set("session:interrupt_count", None)
        await t.calls("weigh")
        await t.stage.sink.until(ev.ToolFinished)
        await t.says("It is")
        await t.types("stop")
        assert (t.state["session:called_ok:weigh"], t.state["session:interrupt_count"]) == (1, 1)
        assert t.failures() == []


async def test_a_tool_that_changes_its_arguments_changes_no_event() -> None:
    @tool
    def sort_out(rooms: dict[str, Any]) -> str:
        """Sort out."""
        rooms["names"].append("invented")
        return "ok"

    async with talk(agent().tools(sort_out)) as t:
        await t.calls("sort_out", rooms={"names": ["real"]})
        await t.stage.sink.until(ev.ToolFinished)
        assert [called.args for called in t.all(ev.ToolCalled)] == [{"rooms": {"names": ["real"]}}]


@pytest.mark.parametrize("count", ["often", 10**308], ids=["text", "largest"])
async def test_a_count_of_successes_that_is_none_begins_anew(count: Any) -> None:
    @tool
    def book() -> str:
        """Book."""
        return "ok"

    async with talk(agent().tools(book)) as t:
        t.state.set("session:called_ok:book", count)
        await t.calls("book")
        await t.stage.sink.until(ev.ToolFinished)
        await t.rests()
        assert t.state["session:called_ok:book"] == 1
        assert len(t.sent("answer")) == 1
