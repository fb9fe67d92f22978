"""A session in the hands of the program that embeds it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, silence, talk, two_phases

from gemini_live_runtime import Live, LiveHandle, Phase, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.wire.audio_frame import encode_model_audio


async def test_the_program_types_for_the_user() -> None:
    async with talk(agent()) as t:
        assert isinstance(t.handle, LiveHandle)
        await t.handle.send_text("hello")
        await t.rests()
        assert t.wire == [("text", "hello")]


async def test_a_text_that_is_refused_raises_why() -> None:
    async with talk(agent()) as t:
        with pytest.raises(GeminiLiveError, match="empty"):
            await t.handle.send_text("  ")


async def test_the_program_tells_the_model_something_without_an_answer() -> None:
    async with talk(agent()) as t:
        t.handle.send_context("It rains.", "It is cold.")
        await t.rests()
        assert t.wire == [("model context", "It rains."), ("model context", "It is cold.")]


async def test_context_that_is_no_text_is_refused_at_once_even_while_a_call_runs() -> None:
    @tool
    async def look_up() -> None:
        """Take a while."""
        await asyncio.sleep(5)

    async with talk(agent().tools(look_up)) as t:
        await t.calls("look_up")
        with pytest.raises(GeminiLiveError, match=r"not list: \['It rains.'\]"):
            t.handle.send_context(["It rains."])  # type: ignore[arg-type]
        await t.passes(6)
        assert t.failures() == []
        assert t.sent("model context") == []


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (lambda t: t.handle.update_instruction(7), "The text of update_instruction is text, not int: 7"),
        (lambda t: t.handle.update_instruction(None), "The text of update_instruction is text, not NoneType"),
        (lambda t: t.handle.writer().update_instruction(b"x"), "The text of update_instruction is text, not bytes"),
        (lambda t: t.handle.writer().send_text(5), "The text of send_text is text, not int"),
        (lambda t: t.handle.writer().send_context([1]), "Context is text, not int: 1"),
        (lambda t: t.handle.writer().send_context("abc"), "Context is a list of texts, not 'abc'"),
        (lambda t: t.handle.writer().send_context(["a"], role="system"), "Context cannot have the role 'system'"),
        (lambda t: t.handle.transition_to(["second"]), "The phase of transition_to is text, not list"),
        (lambda t: t.handle.prompt(5), "The reason of prompt is text, not int"),
        (lambda t: t.handle.mute_watcher(None), "The name of mute_watcher is text, not NoneType"),
        (lambda t: t.handle.send_text(b"x"), "The text of send_text is text, not bytes"),
        (lambda t: t.handle.edit_state(None), "An edit is an object, not None"),
        (lambda t: t.handle.until_quiet("1"), "until_quiet cannot wait '1'"),
    ],
)
@pytest.mark.parametrize("calling", [False, True], ids=["at rest", "while a call runs"])
async def test_what_is_no_text_is_refused_at_the_call_and_nothing_is_lost(
    act: Callable[[Talk], Any], problem: str, calling: bool
) -> None:
    @tool
    async def look_up() -> None:
        """Take a while."""
        await asyncio.sleep(5)

    async with talk(agent().tools(look_up).phase(*two_phases())) as t:
        t.handle.update_instruction("Be kind.")
        await t.rests()
        if calling:
            await t.calls("look_up")
        t.handle.send_context("It rains.")

        async def attempt() -> None:
            done = act(t)
            if done is not None:
                await done

        with pytest.raises(GeminiLiveError, match=re.escape(problem)):
            await attempt()
        await t.passes(6)
        await t.turn()
        await t.writes(go=True)
        assert t.failures() == []
        assert t.phases == ["first", "second"]
        assert t.sent("model context") == [("model context", "It rains.")]
        assert [told for _, told in t.sent("instruction")] == ["Be kind.\n\nOne.", "Be kind.\n\nTwo."]


async def test_the_program_sends_audio_in_place_of_a_microphones(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(silence(tmp_path / "mic.wav"), None)) as t:
        before = len(t.sent("audio"))
        t.handle.send_audio(bytes(640))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(t.sent("audio")) == before + 1


async def test_the_program_interrupts_the_model() -> None:
    async with talk(agent()) as t:
        with pytest.raises(GeminiLiveError, match="nothing to interrupt"):
            await t.handle.interrupt()
        await t.says("Well, you see")
        await t.handle.interrupt()
        await t.rests()
        assert [cut.by for cut in t.all(ev.TurnInterrupted)] == ["operator"]


async def test_a_prompt_goes_out_when_the_program_has_played_all() -> None:
    async with talk(agent()) as t:
        t.handle.user_speech_started()
        t.handle.prompt()
        t.handle.user_speech_ended()
        t.handle.flush_deferred_prompt()
        await t.rests()
        assert t.wire == [("prompt",)]


@pytest.mark.parametrize("told", ["playback_drained", "flush_deferred_prompt"])
async def test_a_prompt_waits_until_the_program_says_that_all_was_played(told: str) -> None:
    async with talk(agent()) as t:
        # The speaker is the program's: its beginning was told, its end is known to nobody else.
        t.stage.session.audio_input.on_playback_started(1)
        t.handle.prompt()
        await t.passes(5)
        assert t.handle.voice_state().playback_active
        assert t.wire == []
        getattr(t.handle, told)()
        await t.rests()
        assert t.wire == [("prompt",)]
        assert not t.handle.voice_state().playback_active


async def test_the_program_ends_the_session_and_may_do_so_twice() -> None:
    async with talk(agent()) as t:
        ending = [asyncio.create_task(t.handle.disconnect("enough")) for _ in range(2)]
        assert await asyncio.gather(*ending) == [0, 0]
    assert [ended.reason for ended in t.all(ev.SessionEnded)] == ["enough"]


async def test_the_program_waits_until_nothing_goes_on() -> None:
    async with talk(agent()) as t:
        await t.types("hello")
        waiting = asyncio.create_task(t.handle.until_quiet())
        await t.passes(3)
        assert not waiting.done()
        await t.says("Good day.")
        await t.ends()
        await t.passes(0.5)
        assert waiting.done()


@pytest.mark.parametrize("seconds", [float("nan"), 10**400, "1", None], ids=["nan", "huge", "text", "none"])
async def test_a_time_of_quiet_that_no_clock_knows_is_refused(seconds: Any) -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="until_quiet cannot wait"):
            await t.handle.until_quiet(seconds)


async def test_an_unknown_phase_is_refused_at_once() -> None:
    async with talk(agent().phase(Phase("only", "One."))) as t:
        with pytest.raises(AgentError, match="no phase nowhere"):
            t.handle.transition_to("nowhere")


async def test_the_resumption_handle_is_at_hand_and_in_no_event() -> None:
    async with talk(agent()) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "secret-handle-1", "resumable": True})
        await t.rests()
        assert t.handle.resume_handle() == "secret-handle-1"
    assert "secret-handle-1" not in "".join(event.to_line() for event in t.stage.sink.events)


def test_an_agent_runs_inside_a_program_of_its_own(tmp_path: Path) -> None:
    from gemini_live_runtime.clock import run_virtual

    async def main() -> list[str]:
        of = Live.builder("embedded").instruction("Be brief.").local_model("local-concierge")
        async with of.connect(backend="local", fast=True, data_dir=str(tmp_path)) as session:
            await session.send_text("hello")
            await session.until_quiet()
            return [session.wire_phase, session.stream("late").name]

    assert run_virtual(main()) == ["active", "late"]


async def test_a_session_is_not_quiet_while_the_model_owes_what_it_was_prompted_for() -> None:
    async with talk(agent()) as t:
        t.handle.prompt()
        await t.rests()
        waiting = asyncio.create_task(t.handle.until_quiet())
        await t.passes(3)
        assert not waiting.done()
        await t.says("Good day.")
        await t.ends()
        await t.passes(0.5)
        assert waiting.done()


async def test_a_prompt_waits_for_the_end_of_an_answer_without_sound_and_quiet_for_the_prompts() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("hello")
        await t.says("fine")
        t.handle.prompt()
        quiet = asyncio.create_task(t.handle.until_quiet())
        await t.passes(1)
        assert (t.sent("prompt"), quiet.done()) == ([], False)
        await t.ends()
        await t.passes(1)
        assert (t.sent("prompt"), quiet.done()) == ([("prompt",)], False)
        await t.says("There is more.")
        await t.ends()
        await t.passes(1)
        assert quiet.done()


async def test_the_last_status_is_the_sessions_though_a_rule_changed_it_on_the_way(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav"), mode="text") as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        t.handle.prompt()
        await t.rests()
        assert t.sent("prompt") == []
        await t.passes(1.5)
        assert t.sent("prompt") == [("prompt",)]
        assert (t.all(ev.SessionState)[-1].word, t.stage.core.state.word[0]) == ("thinking", "thinking")


@pytest.mark.parametrize("has_sound", [False, True])
async def test_an_interrupted_answer_that_was_read_is_kept_whole(has_sound: bool) -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("hello")
        if has_sound:
            # Models that speak do so in text mode, too; without a speaker it is dropped.
            await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.says("Once upon a time")
        await t.types("stop")
        (cut,) = t.all(ev.TurnInterrupted)
        assert (cut.heard_text, cut.unheard_text) == ("Once upon a time", "")


async def test_leaving_a_terminal_phase_is_an_error_of_the_caller() -> None:
    async with talk(agent().phase(*two_phases(True))) as t:
        await t.turn()
        with pytest.raises(AgentError, match="terminal"):
            t.handle.transition_to("first")


@pytest.mark.parametrize(
    "act",
    [
        lambda handle: handle.prompt(),
        lambda handle: handle.send_context("Hello?"),
        lambda handle: handle.update_instruction("Be loud."),
        lambda handle: handle.transition_to("second"),
    ],
    ids=["prompt", "context", "instruction", "phase"],
)
async def test_a_handle_whose_session_is_over_says_so(act: Callable[[LiveHandle], None]) -> None:
    async with talk(agent().phase(*two_phases())) as t:
        await t.turn()
    with pytest.raises(GeminiLiveError, match="is over"):
        act(t.handle)
    with pytest.raises(GeminiLiveError, match="is over"):
        await t.handle.send_text("Hello?")
    assert t.events[-1] == "session.ended"


@pytest.mark.parametrize("owed", [True, False], ids=["while an answer is owed", "in quiet"])
async def test_who_waits_for_quiet_is_told_when_the_session_ends(owed: bool) -> None:
    async with talk(agent(), mode="text") as t:
        if owed:
            await t.types("hello")
        waiting = asyncio.create_task(t.handle.until_quiet(1000))
        await t.rests()
        assert not waiting.done()
    await asyncio.sleep(0.1)
    assert waiting.done()


@pytest.mark.parametrize("minutes", ["5", True, float("nan"), 0])
def test_a_limit_that_is_no_number_above_0_is_refused_in_a_sentence(minutes: Any) -> None:
    with pytest.raises(GeminiLiveError, match="max_minutes must be above 0"):
        Limits(None, minutes)


async def test_the_options_of_connect_are_taken_in_any_case(tmp_path: Path) -> None:
    of = agent().local_model("local-concierge")
    async with of.connect(backend="Local", fast=True, mode="TEXT", record="Off", data_dir=str(tmp_path)) as session:
        await session.send_text("hello")
        await session.until_quiet()
        assert session.wire_phase == "active"
