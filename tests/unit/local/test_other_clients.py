"""Test what other Live clients send: openings, placeholders, typed turns, results."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from live_support import Client, TestParts, Turn, answer, hiss, join, server, session, tools, virtual, voice

from gemini_live_runtime.local import main
from gemini_live_runtime.local.default_parts import DefaultParts
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.parts import Recognition
from gemini_live_runtime.local.recognition.recogniser import shared_engine

HISTORY = {"historyConfig": {"initialHistoryInClientContent": True}}


def content(*turns: tuple[str, str], complete: bool = False) -> dict[str, Any]:
    contents = [{"role": role, "parts": [{"text": text}]} for role, text in turns]
    return {"clientContent": {"turns": contents, "turnComplete": complete}}


async def answer_to(client: Client) -> str:
    return (await client.turn()).output


# -- openings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nudge", [" ", "."], ids=["Pipecat", "ADK"])
@virtual
async def test_initial_history_that_ends_with_the_user_is_answered_at_a_nudge(nudge: str) -> None:
    async with session(model="gemini-3.8-live", **HISTORY) as client:
        await client.send(content(("user", "good morning"), complete=True))
        await client.text(nudge)
        assert await answer_to(client) == "You typed good morning."
        await client.text("before")
        assert await answer_to(client) == "Before that: good morning."


@virtual
async def test_initial_history_that_ends_with_the_model_is_continued_at_a_nudge() -> None:
    async with session(**HISTORY) as client:
        await client.send(content(("user", "hi"), ("model", "Hello."), complete=True))
        await client.text(" ")
        assert await answer_to(client) == "Welcome."


@virtual
async def test_a_model_without_initial_history_answers_it_at_once() -> None:
    async with session(model="gemini-2.5-flash-native-audio-preview-12-2025", **HISTORY) as client:
        await client.send(content(("user", "good morning"), complete=True))
        assert await answer_to(client) == "You typed good morning."
        await client.send(content(("user", "hi"), ("model", "Hello."), ("user", " "), complete=True))
        assert await answer_to(client) == "Welcome."


@pytest.mark.parametrize("complete", [True, False])
@virtual
async def test_initial_history_is_not_answered_once_the_user_says_something_else(complete: bool) -> None:
    async with session(TestParts("weather"), **HISTORY) as client:
        await client.send(content(("user", "good morning"), complete=complete))
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        assert await answer_to(client) == "You said weather."
        await client.send({"clientContent": {"turnComplete": True}})
        if not complete:  # it ended the history
            await client.text(" ")
        assert await answer_to(client) == "Welcome."


@virtual
async def test_content_after_the_initial_history_is_answered_without_it() -> None:
    async with session(**HISTORY) as client:
        await client.send(content(("user", "good morning"), complete=True))
        await client.send(content(("user", "weather"), complete=True))
        assert await answer_to(client) == "You typed weather."


@virtual
async def test_a_nudge_does_not_cut_off_the_answer_that_it_asks_for() -> None:
    async with session() as client:
        await client.send(content(("user", "long"), complete=True))
        await client.text(" ")
        turn = await client.turn()
        await client.text("before")
        assert await answer_to(client) == "Before that: long."
    assert not turn.contents("interrupted")


@virtual
async def test_a_placeholder_that_ends_the_content_is_no_word_of_the_user() -> None:
    async with session() as client:
        await client.send(content(("user", "good morning")))
        await client.send(content(("user", "."), complete=True))
        assert await answer_to(client) == "You typed good morning."
        await client.send(content(("model", "Greet the user."), ("user", "."), complete=True))
        assert await answer_to(client) == "Welcome."
        await client.text("before")
        assert await answer_to(client) == "Before that: good morning."


@pytest.mark.parametrize("sign", ["...", "…", "\u200b", "\ufeff", "-", "。", "()"])
@virtual
async def test_punctuation_and_signs_that_cannot_be_seen_are_placeholders(sign: str) -> None:
    async with session(model="gemini-3.8-live", **HISTORY) as client:
        await client.send(content(("user", "good morning"), complete=True))
        await client.text(sign)
        assert await answer_to(client) == "You typed good morning."


@pytest.mark.parametrize("sign", ["?", "!", "👋", "7"])
@virtual
async def test_a_sign_that_says_something_is_no_placeholder(sign: str) -> None:
    async with session() as client:
        await client.text(sign)
        assert await answer_to(client) == f"You typed {sign}."


@virtual
async def test_a_model_turn_before_a_placeholder_does_not_answer_what_waits() -> None:
    async with session() as client:
        await client.send(content(("user", "good morning")))
        await client.send(content(("model", "Be brief."), ("user", "."), complete=True))
        assert await answer_to(client) == "You typed good morning."
        await client.send(content(("user", "good morning")))
        await client.send(content(("model", "Good morning to you.")))
        await client.send(content(("user", "."), complete=True))
        assert await answer_to(client) == "Welcome."


@virtual
async def test_content_without_a_role_that_asks_nothing_is_an_instruction() -> None:
    async with session() as client:
        await client.send({"clientContent": {"turns": [{"parts": [{"text": "Be brief."}]}]}})
        await client.send(content(("user", "good morning")))
        await client.send(content(("user", "."), complete=True))
        assert await answer_to(client) == "You typed good morning."
        await client.send({"clientContent": {"turns": [{"parts": [{"text": "hi"}]}], "turnComplete": True}})
        assert await answer_to(client) == "You typed hi."


@pytest.mark.parametrize("spoken", [True, False])
@virtual
async def test_what_the_user_says_is_answered_instead_of_content_that_waits(spoken: bool) -> None:
    async with session(TestParts("weather")) as client:
        await client.send(content(("user", "good morning")))
        if spoken:
            await client.audio(hiss(0.5) + voice(1) + hiss(1))
        else:
            await client.text("weather")
        await client.until("outputTranscription")
        # Pipecat completes the turn once the user has stopped speaking.
        await client.send({"clientContent": {"turnComplete": True}})
        turn = await client.turn()
        assert not turn.contents("interrupted")
        await client.send({"clientContent": {"turnComplete": True}})
        assert await answer_to(client) == "Welcome."


@virtual
async def test_a_turn_complete_alone_lets_an_answer_begin_but_cuts_off_one_that_has_begun() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    complete: dict[str, Any] = {"clientContent": {"turns": [], "turnComplete": True}}
    async with session(TestParts("long"), realtimeInputConfig=manual) as client:
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.audio(voice(1))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        await client.send(complete)  # LiveKit asks for a reply to the activity
        await client.until("outputTranscription")
        await client.send(complete)
        cut = await client.turn()
        assert cut.contents("interrupted")
        assert await answer_to(client) == "Welcome."
    turns = Turn([message for _, message in client.log]).contents("turnComplete")
    assert len(turns) == 2


# -- calls -----------------------------------------------------------------------------------------------------------

SECOND_GENERATION = "gemini-2.5-flash-native-audio-preview-12-2025"
CLOCK: dict[str, Any] = {"model": SECOND_GENERATION, "tools": tools("clock"), "sessionResumption": {}}


async def call_of(client: Client) -> dict[str, Any]:
    (call,) = (await client.until("toolCall"))["toolCall"]["functionCalls"]
    return dict(call)


@virtual
async def test_a_model_before_3_completes_a_turn_with_its_calls_and_tells_results_in_another() -> None:
    async with session(**CLOCK) as client:
        first = await client.handle()
        await client.text("call clock")
        call = await call_of(client)
        turn = await client.turn()  # google-adk runs its calls only then
        assert turn.usage["responseTokenCount"] == turn.usage["totalTokenCount"] - turn.usage["promptTokenCount"] > 0
        await client.send(answer(call, "noon", scheduling="SILENT"))
        assert await answer_to(client) == "clock says noon."
        assert await client.handle() != first
        seen = [m["sessionResumptionUpdate"].get("newHandle") for _, m in client.log if "sessionResumptionUpdate" in m]
    assert len([handle for handle in seen if handle]) == 2  # none while the call was open


@virtual
async def test_an_open_call_of_a_complete_turn_is_cancelled_by_the_user_or_in_time() -> None:
    async with session(**CLOCK) as client:
        await client.text("call clock")
        call = await call_of(client)
        await client.turn()
        await client.text("hi")
        cancelled = await client.until("toolCallCancellation")
        assert cancelled["toolCallCancellation"]["ids"] == [call["id"]]
        assert await answer_to(client) == "You typed hi."
        await client.send(answer(call))
        await client.text("call clock")
        await client.turn()
        assert await answer_to(client) == "clock did not answer."


@virtual
async def test_results_that_an_interruption_outran_or_that_are_silent_are_known_to_the_dialogue() -> None:
    parts = TestParts()
    async with session(parts, tools=tools("one", "two")) as client:
        await client.text("call one and two")
        one, _ = (await client.until("toolCall"))["toolCall"]["functionCalls"]
        await client.send(answer(one, "a"))
        await client.text("hi")
        cut = await client.turn()
        assert cut.contents("interrupted")
        assert cut.usage["toolUsePromptTokenCount"] > 0
        assert await answer_to(client) == "You typed hi."
    async with session(parts, tools=tools("clock", behavior="NON_BLOCKING")) as client:
        await client.text("call clock")
        call = await call_of(client)
        await client.send(answer(call, "b", scheduling="SILENT"))
        await client.turn()
    assert [parrot.results_seen for parrot in parts.parrots] == [
        [("one", {"answer": "a"})],
        [("clock", {"answer": "b"})],
    ]


@pytest.mark.parametrize("model", [SECOND_GENERATION, "gemini-3.8-live"])
@virtual
async def test_what_another_agent_has_dealt_with_is_not_answered_again(model: str) -> None:
    said = ("user", "For context: below is a transcript of what another agent did. [root] said: Hello.")
    called = ("user", "For context: below is a transcript of what another agent did. [root] called transfer.")
    async with session(model=model, **HISTORY) as client:
        await client.send(content(("user", "good morning"), said, ("user", "call transfer"), called, complete=True))
        if model != SECOND_GENERATION:
            await client.text(".")
        assert await answer_to(client) == "Welcome."
        await client.text("hi")
        assert await answer_to(client) == "You typed hi."


# -- resumption ------------------------------------------------------------------------------------------------------


@virtual
async def test_content_without_its_turn_complete_outlives_a_resumption() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={})
        await client.handle()
        await client.send(content(("user", "good morning")))
        handle = await client.handle()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle})
        await client.send(content(("user", "."), complete=True))
        turn = await client.turn()
    assert turn.output == "You typed good morning."
    assert turn.usage["promptTokenCount"] == 3


@virtual
async def test_initial_history_that_waits_for_a_nudge_outlives_a_resumption() -> None:
    async with server() as running:
        client = await join(running, sessionResumption={}, **HISTORY)
        await client.handle()
        await client.send(content(("user", "good morning"), complete=True))
        handle = await client.handle()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle}, **HISTORY)
        await client.text("hi")
        assert await answer_to(client) == "You typed hi."
        await client.text(" ")
        assert await answer_to(client) == "Welcome."


@pytest.mark.parametrize("has_history", [True, False])
@virtual
async def test_content_on_a_resumed_session_is_history_only_while_that_goes_on(has_history: bool) -> None:
    async with server() as running:
        client = await join(running, sessionResumption={}, **HISTORY)
        await client.handle()
        await client.send(content(("user", "hi"), ("model", "Hello."), complete=has_history))
        handle = await client.handle()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle}, **HISTORY)
        await client.send(content(("user", "good morning"), complete=True))
        async with asyncio.timeout(60):
            if not has_history:
                await client.text("weather")
            assert await answer_to(client) == f"You typed {'good morning' if has_history else 'weather'}."


@virtual
async def test_no_handle_is_made_while_a_request_waits_for_the_user_to_end() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    async with session(sessionResumption={}, realtimeInputConfig=manual) as client:
        first = await client.handle()
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.send(content(("user", "good morning"), complete=True))
        await client.send(content(("user", "good evening")))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        assert await answer_to(client) == "You typed good morning."
        seen = [m["sessionResumptionUpdate"] for _, m in client.log if "sessionResumptionUpdate" in m]
        assert [update.get("newHandle") for update in seen] == [first, None]
        assert await client.handle()


@virtual
async def test_an_answer_that_a_noise_ended_is_part_of_the_next_handle() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    async with server() as running:
        client = await join(running, sessionResumption={}, realtimeInputConfig=manual)
        await client.handle()
        await client.text("long")
        await client.until("modelTurn")
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.send({"realtimeInput": {"activityEnd": {}}})
        handle = await client.handle()
        await client.transport.close()
        client = await join(running, sessionResumption={"handle": handle})
        await client.text("before")
        assert await answer_to(client) == "Before that: long."


# -- transcription and usage -----------------------------------------------------------------------------------------


@virtual
async def test_an_utterance_is_transcribed_in_one_message() -> None:
    async with session(TestParts("please tell me what time it is in Lisbon"), model="gemini-3.8-live") as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        turn = await client.turn()
    assert turn.contents("inputTranscription") == [{"text": "please tell me what time it is in Lisbon"}]


@virtual
async def test_a_turn_interrupted_before_any_output_has_the_usage_of_its_prompt() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    async with session(TestParts("never"), realtimeInputConfig=manual) as client:
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.audio(voice(1))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        await client.text("four word typed turn")
        await client.text("hi")
        spoken, typed = await client.turn(), await client.turn()
    assert spoken.contents("interrupted") == typed.contents("interrupted") == [True]
    assert (spoken.usage["promptTokenCount"], spoken.usage["totalTokenCount"]) == (25, 25)
    assert typed.usage["promptTokenCount"] == 25 + 5


@virtual
async def test_an_utterance_that_the_user_goes_on_from_is_transcribed_and_remembered() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    async with session(TestParts("set a timer", "before"), realtimeInputConfig=manual) as client:
        for _ in range(2):
            await client.send({"realtimeInput": {"activityStart": {}}})
            await client.audio(voice(1))
            await client.send({"realtimeInput": {"activityEnd": {}}})
        cut, answered = await client.turn(), await client.turn()
    assert cut.marks == ["inputTranscription", "interrupted", "turnComplete", "usageMetadata"]
    assert (cut.input, answered.output) == ("set a timer", "Before that: set a timer.")


@virtual
async def test_a_transcription_that_takes_long_does_not_hold_up_what_interrupts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = TestParts("set a timer")
    recognise = parts.ear.recognise

    async def slowly(pcm: bytes) -> Recognition:
        await asyncio.sleep(30)
        return await recognise(pcm)

    monkeypatch.setattr(parts.ear, "recognise", slowly)
    manual = {"automaticActivityDetection": {"disabled": True}}
    async with session(parts, realtimeInputConfig=manual) as client:
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.audio(voice(1))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        await client.text("hi")
        assert (await client.turn()).contents("interrupted")
        assert await answer_to(client) == "You typed hi."
        heard = await client.until("inputTranscription")
        assert heard["serverContent"]["inputTranscription"] == {"text": "set a timer"}
        await client.text("before")
        assert await answer_to(client) == "Before that: set a timer."


# -- a fresh server --------------------------------------------------------------------------------------------------


class SlowParts(DefaultParts):
    """Parts that say when they are loaded."""

    async def warm_up(self) -> None:
        print("loaded")


@pytest.mark.parametrize("lazy", [False, True])
async def test_a_server_is_ready_once_its_parts_are_loaded(lazy: bool, capsys: pytest.CaptureFixture[str]) -> None:
    out = ""
    serving = asyncio.create_task(main._serve(ServerOptions(), SlowParts(), exit_with_parent=False, lazy=lazy))
    while "url" not in out:
        await asyncio.sleep(0)
        out += capsys.readouterr().out
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    lines = out.splitlines()
    assert lines[:-1] == ([] if lazy else ["loaded"])
    assert json.loads(lines[-1])["url"].startswith("ws://")


async def test_warming_up_loads_the_recogniser_and_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pocketsphinx")
    spoken: list[str] = []

    class Voice:
        async def speak(self, text: str, voice: str) -> Any:
            spoken.append(text)
            yield None

        async def close(self) -> None:
            spoken.append("closed")

    parts = DefaultParts()
    monkeypatch.setattr(parts, "speech", Voice)
    await parts.warm_up()
    assert shared_engine().is_loaded
    assert spoken == ["Ready.", "closed"]
