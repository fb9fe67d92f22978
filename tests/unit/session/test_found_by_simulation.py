"""Faults that the simulation of sessions has found, each in its shortest form."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.unit.session.core_support import Bench
from tests.unit.session.session_support import stage

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.conversation.phases import Phase, Transition
from gemini_live_runtime.session.rules.effects import TransitionPhase
from gemini_live_runtime.session.rules.reactor import Live as LiveEvent
from gemini_live_runtime.session.rules.reactor import PlaybackStarted, ReactorRule
from gemini_live_runtime.state.terms import key
from gemini_live_runtime.tools.declaration import tool

SILENCE = {"mimeType": "audio/pcm;rate=24000", "data": "AAAAAAAAAAA="}
THOUGHT = {"parts": [{"text": "Hm.", "thought": True}]}


def test_an_answer_is_of_the_turn_it_begins_in_not_of_the_one_it_was_thought_of_in(bench: Bench) -> None:
    bench.content(modelTurn=THOUGHT)
    bench.types("hello")
    bench.content(outputTranscription={"text": "Hi!"})
    delta = bench.emits(ev.TranscriptDelta)[-1]
    assert delta.turn == bench.core.state.turns.number == 2


def test_a_thought_on_a_lost_connection_does_not_claim_the_next_answer() -> None:
    from gemini_live_runtime.errors import ConnectionClosedError

    bench = Bench().connect()
    bench.content(modelTurn=THOUGHT)
    bench.do(bench.core.connection.on_disconnected(bench.now, ConnectionClosedError("gone", close_code=1006)))
    bench.connect()
    bench.content(outputTranscription={"text": "Hi!"})
    assert bench.emits(ev.TranscriptDelta)[-1].turn == 2


def test_sound_after_its_generation_was_complete_and_played_is_not_waited_for(bench: Bench) -> None:
    bench.content(outputTranscription={"text": "Hi!"}, generationComplete=True)
    bench.drains(1)
    bench.do(bench.core.audio.on_playback_drained(bench.now, 1))
    bench.audio(20)
    bench.content(turnComplete=True)
    assert bench.core.is_quiet
    assert bench.word == "listening"


def test_words_that_come_after_all_of_their_sound_was_played_are_not_speaking(bench: Bench) -> None:
    bench.audio(100)
    bench.content(generationComplete=True)
    bench.drains(1)
    bench.content(outputTranscription={"text": "Hi!"})
    assert bench.word != "speaking"
    bench.order(cmd.Interrupt())
    assert bench.last(ev.CommandRefused).reason == "There is nothing to interrupt"


async def test_a_text_that_waits_for_the_connection_is_refused_when_the_session_ends() -> None:
    async with stage(mode="text") as s:
        await s.types("anybody there?")
        s.session.hang_up("never mind")
    assert [refused.reason for refused in s.sink.all(ev.CommandRefused)] == [
        "Not sent, the session ended: never mind: anybody there?"
    ]


async def test_a_text_that_waits_is_refused_when_a_limit_ends_the_session() -> None:
    async with stage(mode="text", max_minutes=0.1, hang_up=False) as s:
        await s.types("anybody there?")
        await s.sink.until(ev.SessionEnded)
    assert len(s.sink.all(ev.CommandRefused)) == 1


@tool
async def quick() -> str:
    """Be quick."""
    return "done"


@tool
async def never() -> str:
    """Never come back."""
    await asyncio.Event().wait()
    return ""


def _call(name: str) -> dict[str, Any]:
    return {"functionCalls": [{"id": "1", "name": name, "args": {}}]}


async def test_a_call_whose_end_waits_behind_slow_code_still_ends_when_the_session_does() -> None:
    async def slow(turn: int) -> None:
        await asyncio.sleep(4)

    agent = Live.builder("a").instruction("Test.").tools(quick).on("turn_complete", slow)

    async with stage(agent=agent) as s:
        await s.server.accepts()
        await s.server.says(toolCall=_call("quick"))
        await s.settled()
        await s.server.says(toolCall={"functionCalls": [{"id": "2", "name": "quick", "args": {}}]})
        await s.server.says(serverContent={"turnComplete": True})
        await s.sink.until(ev.TurnCompleted)
        await asyncio.sleep(0.1)
        await s.server.says(toolCall={"functionCalls": [{"id": "3", "name": "quick", "args": {}}]})
        await asyncio.sleep(0.1)
    assert sorted(done.call_id for done in s.sink.all(ev.ToolFinished)) == ["1", "2", "3"]
    assert isinstance(s.sink.events[-1].payload, ev.SessionEnded)


async def test_a_call_that_passes_the_gate_while_the_session_ends_is_not_begun() -> None:
    began = []

    @tool
    async def counted() -> str:
        """Count."""
        began.append(1)
        await asyncio.Event().wait()
        return ""

    async def slow_gate(calls: Any, state: Any) -> None:
        await asyncio.sleep(0.5)

    agent = Live.builder("a").instruction("Test.").tools(counted, never).on("tool_call", slow_gate)

    async with stage(agent=agent) as s:
        await s.server.accepts()
        await s.server.says(toolCall=_call("never"))
        await asyncio.sleep(0.7)
        await s.server.says(toolCall={"functionCalls": [{"id": "2", "name": "counted", "args": {}}]})
        await s.sink.until(ev.ToolCalled, 2)
    assert s.exit_code == 0
    assert not began
    assert sorted((done.call_id, done.status) for done in s.sink.all(ev.ToolFinished)) == [
        ("1", "cancelled"),
        ("2", "cancelled"),
    ]
    assert isinstance(s.sink.events[-1].payload, ev.SessionEnded)


async def test_a_transition_wanted_before_the_first_phase_waits_for_it() -> None:
    def at_once(event: Any, voice: Any, state: Any) -> Any:
        if isinstance(event, LiveEvent) and isinstance(event.event, ev.AudioOpened):
            return [TransitionPhase("two", "at once")]
        return None

    agent = (
        Live.builder("a")
        .phase(
            Phase("one", "One.", transitions=Transition("two", key("app:x").is_set())),
            Phase("two", "Two.", terminal=True),
        )
        .rule(ReactorRule("at once", at_once))
    )

    async with stage(agent=agent) as s:
        await s.server.accepts()
        await s.settled()
    assert s.exit_code == 0
    assert [entered.phase for entered in s.sink.all(ev.PhaseEntered)] == ["one", "two"]


async def test_a_typed_text_that_ends_a_turn_calls_off_the_prompt_that_waited_for_its_end() -> None:
    agent = Live.builder("a").instruction("Test.")

    async with stage(agent=agent, mode="text") as s:
        await s.server.accepts()
        await s.settled()
        await s.server.says(serverContent={"modelTurn": {"parts": [{"inlineData": SILENCE}]}})
        await s.sink.until(ev.TurnStarted)
        s.agent.react(PlaybackStarted())
        s.session.handle.prompt("later")
        await s.types("me first")
        await s.settled()
    assert [changed.state for changed in s.sink.all(ev.PromptChanged)] == ["armed", "cancelled"]
