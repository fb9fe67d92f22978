"""Test usage, compression, resumption, goAway and simulated faults."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from live_support import (
    LONG,
    Client,
    TestParts,
    answer,
    hiss,
    join,
    refused,
    server,
    session,
    setup,
    tools,
    virtual,
    voice,
)

from gemini_live_runtime.local.faults import Fault
from gemini_live_runtime.local.protocol import handles
from gemini_live_runtime.local.protocol.content import MAX_UNASKED
from gemini_live_runtime.local.protocol.context import AUDIO_TOKENS_PER_SECOND, MAX_CONTEXT_TOKENS
from gemini_live_runtime.local.protocol.handles import HANDLE_LIFE_S, HANDLES_A_SESSION
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES, TransportClosed


def total(details: list[dict[str, Any]]) -> int:
    return sum(item["tokenCount"] for item in details)


def of(details: list[dict[str, Any]], modality: str) -> int:
    return total([item for item in details if item["modality"] == modality])


def adds_up(usage: dict[str, Any]) -> None:
    kinds = ("prompt", "response", "toolUsePrompt")
    for kind in kinds:
        assert usage.get(f"{kind}TokenCount", 0) == total(usage.get(f"{kind}TokensDetails", []))
    assert usage["totalTokenCount"] == sum(usage.get(f"{kind}TokenCount", 0) for kind in kinds)


# -- usage -----------------------------------------------------------------------------------------------------------


@virtual
async def test_usage_adds_up_over_text_speech_and_tool_calls() -> None:
    async with session(TestParts("hello"), tools=tools("clock"), systemInstruction={"parts": [{"text": "Be."}]}) as c:
        await c.text("one")
        adds_up((await c.turn()).usage)
        await c.audio(hiss(0.3) + voice(1) + hiss(1))
        adds_up((await c.turn()).usage)
        await c.text("call clock")
        await c.send(answer((await c.until("toolCall"))["toolCall"]["functionCalls"][0]))
        usage = (await c.turn()).usage
    adds_up(usage)
    assert usage["toolUsePromptTokenCount"] > 0


@virtual
async def test_speech_costs_25_tokens_a_second() -> None:
    async with session() as client:
        await client.text("one two three")
        turn = await client.turn()
    seconds = len(turn.pcm) / 48_000
    assert of(turn.usage["responseTokensDetails"], "AUDIO") == pytest.approx(AUDIO_TOKENS_PER_SECOND * seconds, abs=1)


@virtual
async def test_the_prompt_is_the_whole_conversation_so_far() -> None:
    async with session() as client:
        prompts = []
        for _ in range(3):
            await client.text("one two")
            usage = (await client.turn()).usage
            prompts.append((usage["promptTokenCount"], usage["responseTokenCount"]))
    said = 2
    assert prompts[0][0] == said
    assert prompts[1][0] == prompts[0][0] + prompts[0][1] + said
    assert prompts[2][0] == prompts[1][0] + prompts[1][1] + said


@virtual
async def test_an_interrupted_answer_is_billed_as_sent_and_remembered_as_heard() -> None:
    async with session() as client:
        await client.text("long")
        await asyncio.sleep(1)
        await client.text("hi")
        cut = (await client.turn()).usage
        after = (await client.turn()).usage
    adds_up(cut)
    assert of(cut["responseTokensDetails"], "AUDIO") == pytest.approx(4 * 25, abs=10)
    assert of(after["promptTokensDetails"], "AUDIO") == pytest.approx(1 * 25, abs=4)


@pytest.mark.parametrize(("coverage", "images"), [("TURN_INCLUDES_ALL_INPUT", 2), ("TURN_INCLUDES_ONLY_ACTIVITY", 0)])
@virtual
async def test_images_count_as_the_turn_coverage_says(coverage: str, images: int) -> None:
    async with session(realtimeInputConfig={"turnCoverage": coverage}) as client:
        for _ in range(2):
            await client.send({"realtimeInput": {"video": {"data": "AAAA", "mimeType": "image/jpeg"}}})
        await client.text("hi")
        usage = (await client.turn()).usage
    assert of(usage["promptTokensDetails"], "IMAGE") == images * 258


@virtual
async def test_a_context_that_is_full_closes_the_session_without_compression() -> None:
    async with session() as client:
        turns = [{"role": "user", "parts": [{"text": "x" * (MAX_CONTEXT_TOKENS * 4 + 4)}]}]
        await client.send({"clientContent": {"turns": turns, "turnComplete": True}})
        code, reason = await client.closed()
    assert code == 1007
    assert "context" in reason


@virtual
async def test_content_that_never_asks_for_an_answer_is_bounded() -> None:
    turns = [{"role": "user", "parts": [{"text": "x" * 300_000}]}]
    async with session(contextWindowCompression={}) as client:
        for _ in range(MAX_UNASKED // 300_000 + 1):
            await client.send({"clientContent": {"turns": turns}})
        code, reason = await client.closed()
    assert code == 1007
    assert "turnComplete" in reason


@virtual
async def test_compression_keeps_the_counted_context_below_its_trigger() -> None:
    window = {"triggerTokens": 1000, "slidingWindow": {"targetTokens": 400}}
    async with session(contextWindowCompression=window) as client:
        prompts = []
        for _ in range(12):
            await client.text("x" * 800)
            prompts.append((await client.turn()).usage["promptTokenCount"])
    assert max(prompts) < 1000
    assert min(prompts[4:]) <= 400
    assert any(later < earlier for earlier, later in itertools.pairwise(prompts))


# -- resumption ------------------------------------------------------------------------------------------------------


@virtual
async def test_a_handle_brings_back_history_dialogue_and_session() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={})
        await client.text("remember me")
        usage = (await client.turn()).usage
        handle = await client.handle()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle})
        await client.text("before")
        turn = await client.turn()
    assert turn.output == "Before that: remember me."
    assert turn.usage["promptTokenCount"] > usage["totalTokenCount"]


@virtual
async def test_tools_and_voice_of_a_resumed_session_are_those_of_the_new_setup() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={}, tools=tools("old"))
        handle = await client.handle()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle}, tools=tools("new"))
        await client.text("tools")
        assert (await client.turn()).output == "Tools: new."


@virtual
async def test_an_earlier_handle_brings_back_the_earlier_state() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={})
        await client.text("first")
        await client.turn()
        handle = await client.handle()
        await client.text("second")
        await client.turn()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle})
        await client.text("before")
        assert (await client.turn()).output == "Before that: first."


@virtual
async def test_while_generating_a_session_is_not_resumable() -> None:
    async with session(sessionResumption={}) as client:
        await client.handle()
        await client.text("hi")
        updates = [
            m["sessionResumptionUpdate"] for m in (await client.turn()).messages if "sessionResumptionUpdate" in m
        ]
        assert updates == [{}]
        assert await client.handle()


@virtual
async def test_while_a_background_call_runs_a_session_is_not_resumable() -> None:
    async with session(sessionResumption={}, tools=tools("clock", behavior="NON_BLOCKING")) as client:
        await client.handle()
        await client.text("call clock")
        call = (await client.until("toolCall"))["toolCall"]["functionCalls"][0]
        await client.turn()
        await client.send(answer(call, scheduling="SILENT"))
        await client.handle()
        times = [t for t, m in client.log if m.get("sessionResumptionUpdate", {}).get("resumable")]
        assert len(times) == 2


@virtual
async def test_handles_are_sent_only_when_asked_for() -> None:
    async with session() as client:
        await client.text("hi")
        await client.turn()
        assert not any("sessionResumptionUpdate" in m for _, m in client.log)


@virtual
async def test_a_transparent_resumption_says_which_message_was_consumed_last() -> None:
    async with session(sessionResumption={"transparent": True}) as client:
        await client.handle()
        await client.text("hi")
        await client.turn()
        update = await client.until("sessionResumptionUpdate")
    assert update["sessionResumptionUpdate"]["lastConsumedClientMessageIndex"] == "1"


@virtual
async def test_an_unknown_handle_is_refused() -> None:
    code, reason = await refused(setup(sessionResumption={"handle": "nothing"}))
    assert code == 1007
    assert "handle" in reason


@virtual
async def test_a_handle_is_refused_after_its_life_and_for_another_model() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={})
        handle = await client.handle()
        await client.transport.close()
        other = await closing(running, model="gemini-3.8-live", sessionResumption={"handle": handle})
        await asyncio.sleep(HANDLE_LIFE_S + 1)
        late = await closing(running, sessionResumption={"handle": handle})
    assert (other[0], late[0]) == (1007, 1007)
    assert "model" in other[1]


async def closing(running: Any, **fields: Any) -> tuple[int, str]:
    client = Client(running.connect())
    await client.send(setup(**fields))
    return await client.closed()


@virtual
async def test_a_session_keeps_a_bounded_number_of_handles() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={})
        first = await client.handle()
        for _ in range(HANDLES_A_SESSION):
            await client.text("hi")
            await client.turn()
            await client.handle()
        await client.transport.close()
        code, _ = await closing(running, sessionResumption={"handle": first})
    assert code == 1007


@virtual
async def test_of_the_handles_of_all_sessions_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "MAX_HANDLES", 3)
    async with server() as running:
        kept = []
        for _ in range(5):
            client = await join(running, sessionResumption={})
            kept.append(await client.handle())
            await client.transport.close()
        codes = [(await closing(running, sessionResumption={"handle": handle}))[0] for handle in kept[:2]]
        assert codes == [1007, 1007]
        await (await join(running, sessionResumption={"handle": kept[2]})).transport.close()


@virtual
async def test_resuming_while_the_old_connection_is_open_is_refused_with_1011() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={})
        handle = await client.handle()
        assert (await closing(running, sessionResumption={"handle": handle}))[0] == 1011
        await client.text("still here")
        assert (await client.turn()).output == "You typed still here."


@virtual
async def test_of_two_connections_that_resume_at_once_one_goes_on() -> None:
    async with server() as running:
        old = await join(running, sessionResumption={})
        handle = await old.handle()

        async def resume() -> str:
            client = Client(running.connect())
            await client.send(setup(sessionResumption={"handle": handle}))
            try:
                return next(iter(await client.next()))
            except TransportClosed as end:
                return str(end.code)

        resumed = [asyncio.ensure_future(resume()) for _ in range(2)]
        await asyncio.sleep(0.1)
        await old.transport.close()
        assert sorted(await asyncio.gather(*resumed)) == ["1011", "setupComplete"]


@virtual
async def test_a_server_may_be_told_to_hand_an_open_session_over() -> None:
    async with server(refuse_open_resume=False) as running:
        old = await join(running, sessionResumption={})
        handle = await old.handle()
        new = await join(running, sessionResumption={"handle": handle})
        assert (await old.closed())[0] == 1008
        await new.text("hi")
        assert (await new.turn()).output == "You typed hi."


# -- leaving ---------------------------------------------------------------------------------------------------------


@virtual
async def test_go_away_announces_the_close_that_follows() -> None:
    async with session(options={"go_away_after": 5.0, "time_left": 3.0}) as client:
        message = await client.until("goAway")
        announced = client.log[-1][0]
        code, reason = await client.closed()
        assert asyncio.get_running_loop().time() - announced == pytest.approx(3.0)
    assert message["goAway"] == {"timeLeft": "3s"}
    assert (code, "Deadline" in reason) == (1011, True)


@virtual
async def test_a_conversation_goes_on_after_go_away_and_can_be_resumed() -> None:
    async with server(go_away_after=5.0, time_left=30.0) as running:
        client = await join(running, sessionResumption={})
        await client.until("goAway")
        await client.text("remember me")
        await client.turn()
        handle = await client.handle()
        await client.closed()
        client = await join(running, sessionResumption={"handle": handle})
        await client.text("before")
        assert (await client.turn()).output == "Before that: remember me."


# -- faults ----------------------------------------------------------------------------------------------------------


@virtual
async def test_a_dropped_connection_breaks_the_answer_off_without_a_word() -> None:
    async with session(options={"faults": {Fault.DROP_MID_TURN: 1}}) as client:
        await client.text("long")
        code, reason = await client.closed()
    assert (code, reason) == (1006, "")
    assert any("modelTurn" in m.get("serverContent", {}) for _, m in client.log)


@virtual
async def test_a_fault_happens_as_often_as_it_was_ordered() -> None:
    async with server(faults={Fault.DROP_MID_TURN: 1}) as running:
        broken = await join(running)
        await broken.text("long")
        await broken.closed()
        fine = await join(running)
        await fine.text("long")
        assert (await fine.turn()).output == LONG


@virtual
async def test_a_silent_server_never_answers_the_setup() -> None:
    async with server(faults={Fault.SILENT_SETUP: 1}) as running:
        transport = running.connect()
        await transport.send(json.dumps(setup()))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(transport.recv(), 3600)


@pytest.mark.parametrize("fault", [Fault.GARBAGE_FRAME, Fault.HUGE_FRAME])
@virtual
async def test_a_frame_fault_precedes_an_answer(fault: Fault) -> None:
    async with session(options={"faults": {fault: 1}}) as client:
        await client.text("hi")
        frame = await client.transport.recv()
        assert (not frame.startswith(b"{")) if fault is Fault.GARBAGE_FRAME else (len(frame) > MAX_MESSAGE_BYTES)  # type: ignore[arg-type]
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_a_late_interruption_comes_after_turn_complete() -> None:
    async with session(options={"faults": {Fault.LATE_INTERRUPTED: 1}}) as client:
        await client.text("long")
        await client.until("modelTurn")
        await client.text("hi")
        assert (await client.turn()).contents("interrupted") == []
        assert "interrupted" in (await client.next())["serverContent"]


@virtual
async def test_a_duplicate_call_has_the_same_ids() -> None:
    async with session(tools=tools("clock"), options={"faults": {Fault.DUPLICATE_CALL: 1}}) as client:
        await client.text("call clock")
        assert await client.until("toolCall") == await client.until("toolCall")
