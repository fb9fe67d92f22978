"""An author's code cannot stop the conversation or an orderly end of the session."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from tests.unit.session.session_support import Stage, stage

from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.conversation.extraction import FunctionExtractor
from gemini_live_runtime.session.rules.effects import EmitEvent, LiveEffect, SendContext
from gemini_live_runtime.session.rules.reactor import Live as Happened
from gemini_live_runtime.session.rules.reactor import ReactorEvent, ReactorRule
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key
from gemini_live_runtime.state.watchers import Watcher


def agent() -> Live:
    return Live.builder("test").instruction("Test.").state(values={"app:n": 0})


async def talks(s: Stage, count: int = 1) -> None:
    for number in range(1, count + 1):
        await s.types(f"question {number}")
        await s.server.says(serverContent={"outputTranscription": {"text": f"answer {number}"}})
        await s.server.says(serverContent={"generationComplete": True})
        await s.server.says(serverContent={"turnComplete": True})
        await s.sink.until(ev.TurnCompleted, number)


async def begins_and_talks(s: Stage) -> None:
    await s.begins()
    await talks(s)
    await s.settled()


async def test_a_rule_that_fails_at_everything_is_told_now_and_then_and_ends_nothing() -> None:
    def bad(event: ReactorEvent, voice: Any, state: State) -> None:
        raise ValueError("boom")

    async with stage(agent=agent().rule(ReactorRule("bad", bad)), mode="text") as s:
        await begins_and_talks(s)
    assert s.exit_code == 0
    assert s.agent.turn_count == 1
    assert 1 <= len([failed for failed in s.sink.all(ev.CodeFailed) if failed.name == "bad"]) <= 10


@pytest.mark.parametrize(
    "effect", [SendContext(("x",)), EmitEvent(ev.Log(source="engine", level="info", text="x"))], ids=["send", "emit"]
)
async def test_a_rule_that_answers_its_own_answers_is_stopped_and_said(effect: LiveEffect) -> None:
    def echo(event: ReactorEvent, voice: Any, state: State) -> Iterable[LiveEffect]:
        return [effect] if isinstance(event, Happened) else []

    async with stage(agent=agent().rule(ReactorRule("echo", echo)), mode="text") as s:
        await begins_and_talks(s)
    assert s.exit_code == 0
    assert s.agent.turn_count == 1
    assert len(s.sink.events) < 3000


async def test_a_rule_that_emits_what_is_no_event_is_reported() -> None:
    def bad(event: ReactorEvent, voice: Any, state: State) -> Iterable[Any]:
        begun = isinstance(event, Happened) and isinstance(event.event, ev.TurnStarted)
        return [EmitEvent(object())] if begun else []  # type: ignore[arg-type]

    async with stage(agent=agent().rule(ReactorRule("bad", bad)), mode="text") as s:
        await begins_and_talks(s)
    assert s.agent.turn_count == 1
    assert s.sink.all(ev.CodeFailed)[0].name == "bad"


def leaves(state: State, change: Any) -> None:
    sys.exit(3)


def is_cancelled(state: State, change: Any) -> None:
    raise asyncio.CancelledError


async def waits_for_ever(state: State, change: Any) -> None:
    await asyncio.sleep(1e6)


@pytest.mark.parametrize("action", [leaves, is_cancelled, waits_for_ever])
@pytest.mark.parametrize("blocking", [True, False])
async def test_a_watcher_that_leaves_is_cancelled_or_never_ends_does_not_stop_the_turns(
    action: Any, blocking: bool
) -> None:
    watcher = Watcher(key("app:n").changed(), action, name="w", blocking=blocking)
    async with stage(agent=agent().watch(watcher), mode="text") as s:
        await s.begins()
        s.state.set("app:n", 1)
        await talks(s)
        await asyncio.sleep(10)
        assert s.agent.turn_count == 1
    assert s.exit_code == 0
    assert len(s.sink.all(ev.CodeFailed)) == (1 if blocking or action is not waits_for_ever else 0)


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_watcher_that_writes_what_it_watches_comes_to_rest_and_says_so(blocking: bool) -> None:
    async def count(state: State, change: Any) -> None:
        state.set("app:n", change.new + 1)

    watcher = Watcher(key("app:n").changed(), count, name="w", blocking=blocking)
    async with stage(agent=agent().watch(watcher), mode="text") as s:
        await s.begins()
        s.state.set("app:n", 1)
        await asyncio.sleep(0.5)
        await talks(s)
        await s.settled()
    assert s.agent.turn_count == 1
    assert s.state.get("app:n") < 200
    assert "watchers" in [notice.code for notice in s.sink.all(ev.Notice)]


async def test_a_watcher_of_errors_that_fails_comes_to_rest() -> None:
    def bad(state: State, change: Any) -> None:
        raise ValueError("x")

    watcher = Watcher(key("session:error_count").changed(), bad, name="w", blocking=True)

    async with stage(agent=agent().watch(watcher), mode="text") as s:
        await s.begins()
        s.state.set("session:error_count", 5)
        await asyncio.sleep(0.5)
    assert len(s.sink.events) < 2000


async def test_each_turn_has_its_own_last_words_however_late_its_end_is_dealt_with() -> None:
    said: list[str] = []

    async def slow(*_: Any) -> None:
        await asyncio.sleep(4)

    def heard(text: str, final: bool) -> None:
        if final:
            said.append(text)

    async with stage(agent=agent().on("turn_boundary", slow).on("output_transcript", heard), mode="text") as s:
        await s.begins()
        await talks(s, 3)
        await s.settled()
    assert said == ["answer 1", "answer 2", "answer 3"]


async def test_an_event_that_the_mind_cannot_take_in_does_not_cost_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()

        def broken(payload: ev.Payload) -> None:
            raise ValueError("a fault of our own")

        with monkeypatch.context() as patch:
            patch.setattr(s.orchestrator.session_keys, "observe", broken)
            await s.server.says(serverContent={"outputTranscription": {"text": "one"}})
            await s.sink.until(ev.TranscriptDelta)
        await s.server.says(serverContent={"outputTranscription": {"text": " two"}})
        await s.sink.until(ev.TranscriptDelta, 2)
    assert s.exit_code == 0
    assert s.sink.all(ev.CodeFailed)[0].error == "ValueError: a fault of our own"


@pytest.mark.parametrize("lost", ["input", "output"])
async def test_a_device_that_is_lost_frees_the_floor_for_a_prompt(lost: str) -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        if lost == "input":
            s.session.audio_input.on_voice(True)
        else:
            s.session.audio_input.on_playback_started(1)
        s.session.handle.prompt()
        waits = [s.agent.context_queue.has_prompt]
        s.session.audio_input.on_device_lost("input" if lost == "input" else "output", "unplugged")
        waits.append(s.agent.context_queue.has_prompt)
        assert waits == [True, False]


class BrokenSound(NoAudio):
    async def close(self) -> None:
        raise ValueError("the driver is gone")


async def test_a_part_that_fails_at_the_end_does_not_keep_the_others_from_ending() -> None:
    async with stage(agent=agent(), audio=BrokenSound, mode="text") as s:
        await s.begins()
    assert s.exit_code == 0
    assert s.closed
    assert isinstance(s.sink.events[-1].payload, ev.SessionEnded)


async def test_a_session_that_is_cancelled_still_ends_for_those_who_wait_for_it() -> None:
    async def cancelled() -> None:
        async with stage(agent=agent(), mode="text") as s:
            await s.begins()
            events = s.session.handle.events()
            (running,) = [task for task in asyncio.all_tasks() if "LiveSession.run" in repr(task.get_coro())]
            running.cancel()
            assert await asyncio.wait_for(s.session.handle.done, 30) == 1
            async with asyncio.timeout(1):
                assert [event async for event in events]
            assert s.closed

    with pytest.raises(asyncio.CancelledError):
        await cancelled()


async def test_a_call_that_is_cancelled_in_the_message_that_makes_it_is_not_run() -> None:
    ran: list[str] = []

    async def slow() -> str:
        """Be slow."""
        ran.append("slow")
        await asyncio.sleep(20)
        return ""

    async with stage(agent=agent().tools(slow), mode="text") as s:
        await s.begins()
        call = {"id": "c1", "name": "slow", "args": {}}
        await s.server.says(toolCall={"functionCalls": [call]}, toolCallCancellation={"ids": ["c1"]})
        finished = await asyncio.wait_for(s.sink.until(ev.ToolFinished), 1)
        assert (finished.status, finished.delivered) == ("cancelled", False)
    assert ran == []


async def test_an_extractor_that_is_slow_to_give_up_does_not_keep_the_session_from_becoming_quiet() -> None:
    async def slow(window: Any) -> None:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(0.5)

    extractor = FunctionExtractor(slow, name="slow", deadline_s=1.0)
    async with stage(agent=agent().extract(extractor), mode="text") as s:
        await s.begins()
        await talks(s)
        await asyncio.wait_for(s.session.until_quiet(0.2), 10)
    assert [failed.extractor for failed in s.sink.all(ev.ExtractionFailed)] == ["slow"]
