"""Test function calls over the Live protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from live_support import Client, Parrot, TestParts, answer, hiss, join, server, session, tools, virtual, voice

from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.protocol.function_calls import BACKGROUND_CALL_TIMEOUT_S, CALL_TIMEOUT_S, MAX_OPEN_CALLS
from gemini_live_runtime.local.protocol.turns import MAX_ROUNDS


async def calls_of(client: Client) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = (await client.until("toolCall"))["toolCall"]["functionCalls"]
    return calls


@virtual
async def test_a_blocking_call_is_waited_for_and_its_result_is_told_in_the_same_turn() -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call clock")
        (call,) = await calls_of(client)
        assert (call["name"], call["args"]) == ("clock", {"by": "parrot"})
        await asyncio.sleep(5)
        await client.send(answer(call, "noon"))
        turn = await client.turn()
    assert turn.output == "clock says noon."
    assert turn.marks[-3:] == ["generationComplete", "turnComplete", "usageMetadata"]


@virtual
async def test_two_calls_of_one_reply_are_told_when_both_have_answered() -> None:
    async with session(tools=tools("one", "two")) as client:
        await client.text("call one and two")
        first, second = await calls_of(client)
        await client.send(answer(second, "b"))
        await client.send(answer(first, "a"))
        assert (await client.turn()).output == "one says a; two says b."


@virtual
async def test_calls_above_the_limit_are_not_sent_and_get_an_error_as_their_result() -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call " + " and ".join(["clock"] * (MAX_OPEN_CALLS + 1)))
        turn = await client.turn()
    assert "toolCall" not in turn.marks
    assert turn.output.count("clock says") == MAX_OPEN_CALLS + 1


@virtual
async def test_a_dialogue_that_calls_without_end_is_stopped() -> None:
    class Endless(Parrot):
        def results(self, *results: Any, **options: Any) -> Reply:
            return self.respond("call clock", typed=True)

    class Parts(TestParts):
        def dialogue(self, model: str) -> Parrot:
            return Endless()

    async with session(Parts(), tools=tools("clock")) as client:
        await client.text("call clock")
        for _ in range(MAX_ROUNDS):
            (call,) = await calls_of(client)
            await client.send(answer(call, "noon"))
        assert "toolCall" not in (await client.turn()).marks


@virtual
async def test_an_interruption_cancels_a_blocking_call() -> None:
    async with session(TestParts("stop"), tools=tools("clock")) as client:
        await client.text("call clock")
        (call,) = await calls_of(client)
        await client.audio(hiss(0.3) + voice(1) + hiss(1))
        turn = await client.turn()
    assert turn.marks[-4:] == ["interrupted", "toolCallCancellation", "turnComplete", "usageMetadata"]
    (cancelled,) = [m["toolCallCancellation"]["ids"] for m in turn.messages if "toolCallCancellation" in m]
    assert cancelled == [call["id"]]


@virtual
async def test_the_late_answer_of_a_cancelled_call_is_ignored() -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call clock")
        (call,) = await calls_of(client)
        await client.text("hi")
        await client.turn()
        await client.send(answer(call))
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_a_call_that_nobody_answers_is_cancelled_and_said_so() -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call clock")
        await calls_of(client)
        asked = asyncio.get_running_loop().time()
        await client.until("toolCallCancellation")
        assert client.log[-1][0] - asked == pytest.approx(CALL_TIMEOUT_S)
        assert (await client.turn()).output == "clock did not answer."


@virtual
async def test_a_call_of_an_interrupted_turn_holds_no_timer_over_the_next() -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call clock")
        await calls_of(client)
        await client.text("hi")
        await client.turn()
        await client.turn()
        await asyncio.sleep(CALL_TIMEOUT_S * 2)
        await client.text("you")
        assert (await client.turn()).output == "You typed you."


@virtual
async def test_a_response_to_an_unknown_id_closes_with_1008() -> None:
    async with session(tools=tools("clock")) as client:
        await client.send(answer({"id": "function-call-1", "name": "clock"}))
        code, reason = await client.closed()
    assert code == 1008
    assert "function-call-1" in reason


@virtual
async def test_a_second_response_to_the_same_call_closes_with_1008() -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call clock")
        (call,) = await calls_of(client)
        await client.send(answer(call))
        await client.send(answer(call))
        code, _ = await client.closed()
    assert code == 1008


@virtual
async def test_a_response_without_an_id_or_for_another_function_closes_with_1007() -> None:
    for wrong in ({"id": ""}, {"name": "other"}):
        async with session(tools=tools("clock")) as client:
            await client.text("call clock")
            (call,) = await calls_of(client)
            await client.send(answer({**call, **wrong}))
            code, _ = await client.closed()
        assert code == 1007


# -- non-blocking ----------------------------------------------------------------------------------------------------


async def background_call(client: Client) -> dict[str, Any]:
    """Make a non-blocking call whose own turn is over."""
    await client.text("call clock")
    (call,) = await calls_of(client)
    await client.turn()
    return call


@virtual
async def test_a_non_blocking_call_does_not_hold_its_turn() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        await background_call(client)
        await client.text("hi")
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_a_result_when_idle_waits_for_the_answer_under_way() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.text("long")
        await client.until("modelTurn")
        await client.send(answer(call, "noon", scheduling="WHEN_IDLE"))
        assert (await client.turn()).contents("interrupted") == []
        assert (await client.turn()).output == "clock says noon."


@virtual
async def test_a_result_that_interrupts_cuts_the_answer_under_way() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.text("long")
        await client.until("modelTurn")
        await client.send(answer(call, "noon", scheduling="INTERRUPT"))
        assert (await client.turn()).contents("interrupted") == [True]
        assert (await client.turn()).output == "clock says noon."


@virtual
async def test_scheduling_inside_the_response_counts_too() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.text("long")
        await client.until("modelTurn")
        response = {"answer": "noon", "scheduling": "INTERRUPT"}
        await client.send(answer(call, response=response))
        assert (await client.turn()).contents("interrupted") == [True]


@virtual
async def test_a_silent_result_is_not_told_but_costs_context() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.text("hi")
        before = (await client.turn()).usage
        await client.send(answer(call, "x" * 4000, scheduling="SILENT"))
        await client.text("hi")
        turn = await client.turn()
    assert turn.output == "You typed hi."
    assert turn.usage["promptTokenCount"] > before["promptTokenCount"] + 1000


@virtual
async def test_a_result_that_arrives_while_the_user_speaks_waits() -> None:
    async with session(TestParts("and then"), tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.audio(hiss(0.3) + voice(0.5))
        await client.send(answer(call, "noon"))
        await client.audio(voice(0.5) + hiss(1))
        assert {(await client.turn()).output, (await client.turn()).output} == {
            "clock says noon.",
            "You said and then.",
        }
    assert not any("interrupted" in m.get("serverContent", {}) for _, m in client.log)


@virtual
async def test_an_interruption_leaves_a_non_blocking_call_alone() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.text("long")
        await client.until("modelTurn")
        await client.text("hi")
        cut = await client.turn()
        await client.turn()
        await client.send(answer(call, "noon"))
        told = await client.turn()
    assert "toolCallCancellation" not in cut.marks
    assert told.output == "clock says noon."


@virtual
async def test_a_generator_tells_each_result_and_ends_with_an_empty_one() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        call = await background_call(client)
        await client.send(answer(call, "one", willContinue=True))
        assert (await client.turn()).output == "clock says one."
        await client.send(answer(call, "two", willContinue=True))
        assert (await client.turn()).output == "clock says two."
        await client.send(answer(call, response={}, willContinue=False))
        await client.text("hi")
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_a_non_blocking_call_that_nobody_answers_ends_too() -> None:
    async with session(tools=tools("clock", behavior="NON_BLOCKING")) as client:
        await background_call(client)
        await client.until("toolCallCancellation")
        assert client.log[-1][0] == pytest.approx(BACKGROUND_CALL_TIMEOUT_S, abs=5)
        assert (await client.turn()).output == "clock did not answer."


@pytest.mark.parametrize(("model", "waits"), [("gemini-3.8-live", False), ("local-parrot", True)])
@virtual
async def test_without_a_behavior_the_newest_models_do_not_wait_and_others_do(model: str, waits: bool) -> None:
    async with session(model=model, tools=tools("clock")) as client:
        await client.text("call clock")
        await calls_of(client)
        await asyncio.sleep(1)
        await client.text("hi")
        turn = await client.turn()
    assert bool(turn.contents("interrupted")) is waits


# -- tools in mid-session --------------------------------------------------------------------------------------------


@virtual
async def test_a_context_update_replaces_the_tools_in_order_with_everything_else() -> None:
    async with session(tools=tools("clock")) as client:
        await client.send({"contextUpdate": {"tools": {"tools": tools("lamp", "door")}}})
        await client.text("tools")
        assert (await client.turn()).output == "Tools: door lamp."
        await client.send({"contextUpdate": {"tools": {"tools": []}}})
        await client.text("tools")
        assert (await client.turn()).output == "Tools: none."


@virtual
async def test_a_context_update_of_the_instruction_leaves_the_tools() -> None:
    async with session(tools=tools("clock")) as client:
        await client.send({"contextUpdate": {"systemInstruction": {"parts": [{"text": "x" * 4000}]}}})
        await client.text("tools")
        turn = await client.turn()
    assert turn.output == "Tools: clock."
    assert turn.usage["promptTokenCount"] > 1000


@virtual
async def test_proto_style_parameters_reach_the_dialogue_as_json_schema() -> None:
    parameters = {
        "type": "OBJECT",
        "properties": {"camelCase_city": {"type": "STRING"}, "days": {"type": "ARRAY", "items": {"type": "INTEGER"}}},
        "required": ["camelCase_city"],
    }
    parts = TestParts()
    async with session(parts, tools=[{"functionDeclarations": [{"name": "weather", "parameters": parameters}]}]):
        pass
    assert parts.parrots[0].tools["weather"] == {
        "type": "object",
        "properties": {"camelCase_city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}},
        "required": ["camelCase_city"],
    }


@virtual
async def test_an_answer_to_a_call_of_another_connection_is_ignored() -> None:
    async with server() as running:
        one = await join(running, tools=tools("clock"))
        await one.text("call clock")
        (call,) = await calls_of(one)
        two = await join(running, tools=tools("clock"))
        await two.send(answer(call))
        await two.text("hi")
        assert (await two.turn()).output == "You typed hi."
