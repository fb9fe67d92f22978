"""Every callback is called at its moment; listeners are isolated and timed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import CallbackMode, EventCallbacks, FunctionExtractor, LiveHandle, State, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.state.reading import ReadOnlyView
from gemini_live_runtime.wire.audio_frame import encode_model_audio


@tool
async def slow() -> str:
    """Take long."""
    await asyncio.sleep(2)
    return "done"


async def everything(t: Talk) -> None:
    """Make the session call every callback."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    await t.voice(True)
    await t.hears("hello")
    await t.voice(False)
    await t.server.says(serverContent={"modelTurn": {"parts": [{"text": "Hm.", "thought": True}]}})
    await t.server.says(serverContent={"modelTurn": {"parts": [{"text": "Good "}]}})
    await t.server.says(serverContent={"modelTurn": {"parts": [{"text": "day."}]}})
    await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 10)))
    await t.says("Good day.")
    await t.server.says(serverContent={"generationComplete": True}, usageMetadata={"totalTokenCount": 7})
    await t.server.says(serverContent={"turnComplete": True})
    await t.passes(1)
    await t.calls("slow")
    await t.passes(2.1)
    await t.calls("slow")
    await t.server.says(toolCallCancellation={"ids": ["c2"]})
    await t.rests()
    await t.says("Well, you see")
    await t.server.says(serverContent={"interrupted": True})
    await t.rests()
    await t.server.says(serverContent={"turnComplete": True})
    await t.server.says(goAway={"timeLeft": "60s"})
    await t.passes(1)
    if not t.all(ev.ConnectionClosed):
        await t.server.closes(1011)
    await t.connects_again()
    await t.turn("again")
    await t.server.closes(1008, "no more")
    await t.rests()
    t.stage.agent.emit(ev.Notice(level="error", code="mine", text="Broken."))
    await t.rests()


async def arguments_of(callback: str, out: Path) -> list[Any]:
    """Return the arguments of each call of `callback` during `everything`."""
    called: list[Any] = []
    count = len(CALLBACKS[callback].arguments)
    listeners: dict[int, Callable[..., None]] = {
        0: lambda: called.append(()),
        1: lambda a: called.append(a),
        2: lambda a, b: called.append((a, b)),
    }

    def reads(window: Any) -> dict[str, Any]:
        if "again" in window.last_user:
            raise RuntimeError("boom")
        return {"mood": "glad"}

    of = agent().tools(slow).extract(FunctionExtractor(function=reads, name="mood")).on(callback, listeners[count])
    async with talk(of, audio=lambda: FileAudio(None, out)) as t:
        await everything(t)
    return called


EXPECTED: dict[str, Callable[[list[Any]], bool]] = {
    "on_audio": lambda told: sum(map(len, told)) == SECOND_OF_SPEECH // 10,
    "on_text": lambda told: told == ["Good ", "day."],
    "on_text_complete": lambda told: told == ["Good day."],
    "on_input_transcript": lambda told: told[:2] == [("hello", False), ("hello", True)],
    "on_output_transcript": lambda told: told[0] == ("Good day.", False) and told[1][1] is True,
    "on_thought": lambda told: told == ["Hm."],
    "on_vad_start": lambda told: len(told) == 1,
    "on_vad_end": lambda told: len(told) == 1,
    "on_phase": lambda told: {"connecting", "active", "model_speaking", "tool_call_executing"} <= set(told),
    "on_usage": lambda told: told[0]["total"] == 7,
    "on_interrupted": lambda told: len(told) == 1,
    "on_tool_call": lambda told: [[call.name for call in calls] for calls, _ in told] == [["slow"], ["slow"]],
    "on_tool_cancelled": lambda told: told == [["c2"]],
    "on_turn_complete": lambda told: told[0] == 1 and told == sorted(told),
    "on_generation_complete": lambda told: len(told) == 2,
    "on_go_away": lambda told: told == [60.0],
    "on_connected": lambda told: len(told) == 1 and isinstance(told[0], LiveHandle),
    "on_disconnected": lambda told: "no more" in told[-1],
    "on_resumed": lambda told: len(told) == 1,
    "on_error": lambda told: told == ["Broken."],
    "on_extracted": lambda told: told[0] == ("mood", {"mood": "glad"}),
    "on_extraction_error": lambda told: told == [("mood", "RuntimeError: boom")],
    "on_teardown": lambda told: len(told) == 1,
    "before_tool_response": lambda told: [one.name for one in told[0][0]] == ["slow"],
    "on_turn_boundary": lambda told: isinstance(told[0][0], State),
    "instruction_template": lambda told: isinstance(told[0], ReadOnlyView),
    "instruction_amendment": lambda told: isinstance(told[0], ReadOnlyView),
}


@pytest.mark.parametrize("callback", CALLBACKS)
async def test_a_callback_is_called_at_its_moment_with_its_arguments(callback: str, tmp_path: Path) -> None:
    told = await arguments_of(callback, tmp_path / "out.wav")
    assert told
    assert EXPECTED[callback](told), told


@pytest.mark.parametrize("callback", sorted(CALLBACKS.keys() - {"instruction_template", "instruction_amendment"}))
async def test_what_a_listener_writes_is_written_by_a_callback(callback: str, tmp_path: Path) -> None:
    held: list[State] = []

    def write(*_: Any) -> None:
        if held:
            held[0].set("app:called", True)

    def reads(window: Any) -> dict[str, Any]:
        if "again" in window.last_user:
            raise RuntimeError("boom")
        return {"mood": "glad"}

    count = len(CALLBACKS[callback].arguments)
    listeners: dict[int, Callable[..., None]] = {0: lambda: write(), 1: lambda a: write(a), 2: lambda a, b: write(a, b)}
    of = agent().tools(slow).extract(FunctionExtractor(function=reads, name="mood")).on(callback, listeners[count])
    async with talk(of, audio=lambda: FileAudio(None, tmp_path / "out.wav"), begins=False) as t:
        held.append(t.state)
        await t.begins()
        await everything(t)
    written = t.state.evidence("app:called")
    assert written is not None
    assert written.origin.kind == "callback"


async def test_a_typed_text_is_told_as_the_users_final_words() -> None:
    told: list[Any] = []

    async with talk(agent().on("input_transcript", lambda text, final: told.append((text, final)))) as t:
        await t.types("hello")
    assert told == [("hello", True)]


async def test_several_listeners_are_called_in_the_order_they_were_added() -> None:
    order: list[int] = []
    of = agent().on("turn_complete", lambda turn: order.append(1)).on("turn_complete", lambda turn: order.append(2))

    async with talk(of) as t:
        await t.turn()
    assert order == [1, 2]


@pytest.mark.parametrize("callback", ["turn_complete", "input_transcript", "vad_start", "usage"])
async def test_a_listener_that_raises_is_an_event_and_the_next_one_is_called(callback: str) -> None:
    called: list[str] = []

    def fails(*args: Any) -> None:
        raise RuntimeError("boom")

    async with talk(agent().on(callback, fails).on(callback, lambda *args: called.append("next"))) as t:
        await t.voice(True)
        await t.turn()
        await t.server.says(usageMetadata={"totalTokenCount": 1})
        await t.rests()
    assert called
    assert {(failure.where, failure.error) for failure in t.failures()} == {
        (f"on_{callback}", "RuntimeError: boom"),
    }


async def test_a_blocking_listener_is_done_before_the_next_step() -> None:
    order: list[str] = []

    async def waits(turn: int) -> None:
        await asyncio.sleep(1)
        order.append(f"turn {turn}")

    async with talk(agent().on("turn_complete", waits).on("turn_complete", lambda turn: order.append("next"))) as t:
        await t.turn()
        await t.turn()
        await t.passes(3)
    assert order == ["turn 1", "next", "turn 2", "next"]


async def test_a_concurrent_listener_keeps_nobody_waiting() -> None:
    order: list[str] = []

    async def waits(turn: int) -> None:
        await asyncio.sleep(1)
        order.append(f"turn {turn}")

    of = agent().on("turn_complete", waits, concurrent=True).on("turn_complete", lambda turn: order.append("next"))

    async with talk(of) as t:
        await t.turn()
        await t.passes(2)
    assert order == ["next", "turn 1"]


async def test_a_concurrent_listener_that_raises_is_an_event() -> None:
    async def fails(turn: int) -> None:
        await asyncio.sleep(1)
        raise RuntimeError("boom")

    async with talk(agent().on("turn_complete", fails, concurrent=True)) as t:
        await t.turn()
        await t.passes(2)
    assert [failure.error for failure in t.failures()] == ["RuntimeError: boom"]


async def test_a_slow_listener_is_named() -> None:
    async def waits(turn: int) -> None:
        await asyncio.sleep(1)

    async with talk(agent().on("turn_complete", waits)) as t:
        await t.turn()
        await t.passes(2)
    (slow,) = t.all(ev.CodeSlow)
    assert (slow.where, round(slow.ms)) == ("on_turn_complete", 1000)


async def test_a_listener_that_never_ends_does_not_keep_the_conversation() -> None:
    async def never(turn: int) -> None:
        await asyncio.sleep(10_000)

    async with talk(agent().on("turn_complete", never)) as t:
        await t.turn()
        await t.passes(6)
        assert t.state["session:turn_count"] == 1
    assert "took longer than 5 s" in t.failures()[0].error


async def test_what_a_listener_writes_is_watched_and_known_to_be_its_own() -> None:
    def write(state: State, writer: Any) -> None:
        state.set("app:x", 1)

    async with talk(agent().on("turn_boundary", write)) as t:
        await t.turn()
    (written,) = [change for change in t.all(ev.StateChanged) if change.key == "app:x"]
    assert (written.origin, written.reason) == ("callback", "on_turn_boundary")


def test_a_builder_keeps_its_listeners_by_callback_and_mode() -> None:
    of = agent().on("turn_complete", lambda turn: None, concurrent=True)
    callbacks = of.definition.callbacks
    assert isinstance(callbacks, EventCallbacks)
    (listener,) = callbacks.of("on_turn_complete")
    assert listener.mode is CallbackMode.CONCURRENT


async def test_sound_of_the_next_answer_is_not_dropped_while_a_listener_is_busy(tmp_path: Path) -> None:
    heard: list[int] = []

    async def busy() -> None:
        await asyncio.sleep(3)

    of = agent().on("interrupted", busy).on("audio", lambda pcm: heard.append(len(pcm)))
    async with talk(of, audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.passes(0.5)
        await t.server.says(serverContent={"interrupted": True})
        await t.server.says(serverContent={"turnComplete": True})
        await t.hears("go on")
        heard.clear()
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 2)))
        await t.ends()
        await t.passes(5)
    assert heard == [SECOND_OF_SPEECH // 2]
    played = [span for span in t.all(ev.PlaybackHeard) if span.of == t.all(ev.PlaybackDrained)[-1].of]
    assert sum(span.count for span in played) == SECOND_OF_SPEECH // 4


async def test_an_interruption_is_told_while_another_listener_still_runs() -> None:
    told: list[str] = []
    going = asyncio.Event()

    async def slow(turn: object) -> None:
        await going.wait()
        told.append("turn")

    async with talk(agent().on("turn_complete", slow).on("interrupted", lambda: told.append("interrupted"))) as t:
        await t.turn()
        await t.says("Well, you see")
        await t.handle.interrupt()
        await t.rests()
        assert told == ["interrupted"]
        going.set()
        await t.rests()
        assert told == ["interrupted", "turn", "turn"]
