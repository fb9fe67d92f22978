"""Prompts of the model never interrupt an answer that it owes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.agents.conversation import talk_to
from tests.session.talking import GO, agent, talk, two_phases

from gemini_live_runtime import LiveHandle, Phase, Transition, called_ok, key, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.tech_support import tech_support
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def test_the_answer_to_a_failed_call_is_said_before_the_next_phase_is_opened() -> None:
    happened = talk_to(tech_support(), "I have no internet", "restart the router", "try it again")
    spoken = [event.payload for event in happened.events if isinstance(event.payload, ev.TranscriptDelta)]
    said = "".join(delta.text for delta in spoken if delta.side == "model")
    assert said.count("That didn't work") == 2
    assert said.rstrip().endswith("Who should the technician ask for?")


async def test_a_prompt_waits_for_sound_that_is_queued_and_not_begun(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(48_000)))
        await t.server.says(serverContent={"generationComplete": True, "turnComplete": True})
        await t.rests()
        t.handle.prompt()
        await t.rests()
        assert t.sent("prompt") == []
        await t.passes(2)
        assert len(t.sent("prompt")) == 1


class SlowSpeaker(NoAudio):
    """Speaker of another process, which obeys a little later and says nothing."""

    is_busy = True

    @property
    def playing(self) -> bool:
        """True until the order is obeyed."""
        return self.is_busy


async def test_a_prompt_is_given_once_a_speaker_that_was_busy_at_first_is_not() -> None:
    speaker = SlowSpeaker()
    async with talk(agent(), audio=lambda: speaker) as t:
        t.handle.prompt()
        await t.rests()
        assert t.sent("prompt") == []
        speaker.is_busy = False
        await t.passes(1)
        assert len(t.sent("prompt")) == 1


async def test_without_a_microphone_of_ones_own_the_servers_marks_say_who_has_the_floor() -> None:
    async with talk(agent()) as t:
        await t.voice(True)
        t.handle.prompt()
        await t.rests()
        assert t.sent("prompt") == []
        await t.voice(False)
        assert len(t.sent("prompt")) == 1
    assert [changed.state for changed in t.all(ev.PromptChanged)] == ["armed", "sent"]


async def test_a_prompt_that_is_called_off_is_told() -> None:
    async with talk(agent()) as t:
        await t.voice(True)
        t.handle.prompt()
        await t.types("never mind")
    assert [changed.state for changed in t.all(ev.PromptChanged)] == ["armed", "cancelled"]


@pytest.mark.parametrize(
    ("uses", "name"),
    [
        ("prompt", "look_up"),
        ("prompt", "plain"),
        ("send_context", "look_up"),
        ("send_context", "plain"),
        ("writer", "look_up"),
    ],
)
async def test_between_a_call_and_its_answer_no_message_of_the_program_is_sent(uses: str, name: str) -> None:
    handles: list[LiveHandle] = []

    def use() -> None:
        if uses == "prompt":
            handles[0].prompt()
        elif uses == "send_context":
            handles[0].send_context("[Weather] rain")
        else:
            handles[0].writer().send_context(("[Weather] rain",), prompt=True)

    @tool
    def plain() -> str:
        """Use the handle from a thread."""
        use()
        return "ok"

    @tool
    async def look_up() -> str:
        """Use the handle from the loop."""
        use()
        await asyncio.sleep(5)
        return "ok"

    async with talk(agent().tools(plain, look_up)) as t:
        handles.append(t.handle)
        await t.hears("hello")
        await t.calls(name)
        while not t.sent("answer"):
            await t.passes(1)
        assert [sent[0] for sent in t.wire] == ["answer"]
        await t.says("fine")
        await t.ends()
        told = {"prompt": ["prompt"], "send_context": ["model context"], "writer": ["model context", "prompt"]}
        assert [sent[0] for sent in t.wire] == ["answer", *told[uses]]


@pytest.mark.parametrize("other", ["is cancelled", "ends in silence"])
async def test_no_note_with_an_instruction_comes_between_a_call_and_its_answer_when_another(other: str) -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(9)
        return "ok"

    @tool(background=other == "ends in silence", scheduling="SILENT" if other == "ends in silence" else None)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(5)
        return "found"

    when = key("app:go") if other == "is cancelled" else called_ok("search")
    async with talk(agent().instruction_route("user_note").tools(wait, search).phase(*two_phases(when))) as t:
        await t.hears("hello")
        await t.calls("wait", "search")
        await t.writes(go=True)
        if other == "is cancelled":
            await t.server.says(toolCallCancellation={"ids": ["c2"]})
        await t.passes(6)
        assert t.handle.phase == "second"
        assert t.sent("user context") == []
        await t.passes(6)
        assert t.wire[-1] == ("answer", "c1", {"output": "ok"})
        await t.says("fine")
        await t.ends()
        assert t.wire[-1] == ("user context", "[Instruction] Be brief.\n\nTwo.")


async def test_a_prompt_that_waits_for_a_call_is_sent_when_the_call_was_cancelled() -> None:
    @tool
    async def wait() -> None:
        """Wait."""
        await asyncio.sleep(60)

    async with talk(agent().tools(wait)) as t:
        await t.hears("hello")
        await t.calls("wait")
        t.handle.prompt()
        await t.rests()
        assert t.wire == []
        await t.server.says(toolCallCancellation={"ids": ["c1"]})
        await t.ends()
        assert t.wire == [("prompt",)]


async def test_a_prompt_goes_out_after_all_when_the_one_before_is_never_answered() -> None:
    async with talk(agent()) as t:
        t.handle.prompt()
        await t.passes(1)
        t.handle.prompt()
        await t.passes(1)
        assert len(t.sent("prompt")) == 1
        async with asyncio.timeout(60):
            await t.handle.until_quiet()
        assert len(t.sent("prompt")) == 2
    assert {notice.code for notice in t.all(ev.Notice)} == {"no-answer"}


async def test_a_prompt_goes_out_after_all_when_nothing_is_said_about_a_result() -> None:
    @tool(blocking=False)
    async def weather() -> str:
        """Tell the weather."""
        await asyncio.sleep(2)
        return "sunny"

    async with talk(agent().tools(weather)) as t:
        await t.hears("and the weather?")
        await t.says("One moment.")
        await t.calls("weather")
        await t.ends()
        await t.passes(2)
        t.handle.prompt()
        await t.passes(1)
        assert [kind for kind, *_ in t.wire] == ["answer"]
        async with asyncio.timeout(60):
            await t.handle.until_quiet()
        assert [kind for kind, *_ in t.wire] == ["answer", "prompt"]


@pytest.mark.parametrize("owed", ["by the first phase", "by a phase entered before connecting"])
async def test_a_greeting_and_the_prompt_of_a_phase_let_the_model_speak_once(owed: str) -> None:
    first = Phase("first", "One.", prompt_on_enter=owed == "by the first phase", transitions=Transition("second", GO))
    of = agent().greeting("Greet the guest.").phase(first, Phase("second", "Two.", terminal=True, prompt_on_enter=True))
    async with talk(of, begins=False) as t:
        if owed != "by the first phase":
            await t.writes(go=True)
        await t.begins()
        await t.turn("", "Welcome!")
        await t.passes(9)
        told = [frame for frame in t.wire if frame[0] != "instruction"]
        assert told == [("user context", "[Context] Greet the guest."), ("prompt",)]
