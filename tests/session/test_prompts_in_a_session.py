"""Prompts of the model never interrupt an answer that it owes."""

from __future__ import annotations

from pathlib import Path

from tests.agents.conversation import talk_to
from tests.session.talking import agent, talk

from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.tech_support import tech_support
from gemini_live_runtime.audio.file_audio import FileAudio
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
