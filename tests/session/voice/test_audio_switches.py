"""Programs switch microphone and speaker, and read how connections are made."""

from __future__ import annotations

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import AgentSession
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import GeminiLiveError


async def test_a_program_mutes_and_opens_microphone_and_speaker() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        session = AgentSession.of(t.handle)
        for switch, name in ((session.input, "microphone"), (session.output, "speaker")):
            assert switch.audio_enabled
            await switch.set_audio_enabled(False)
            assert not switch.audio_enabled
            changed = t.all(ev.ControlChanged)[-1]
            assert getattr(changed, name) is False
            await switch.set_audio_enabled(True)
            assert switch.audio_enabled
            assert getattr(t.all(ev.ControlChanged)[-1], name) is True


async def test_the_options_of_the_connections_are_those_in_force_and_read_only() -> None:
    async with talk(agent().max_unrecoverable_errors(5)) as t:
        session = AgentSession.of(t.handle)
        assert session.conn_options["max_unrecoverable_errors"] == 5
        assert session.conn_options["reconnect_for_s"] > 0
        await session.update_options(max_unrecoverable_errors=2)
        assert session.conn_options["max_unrecoverable_errors"] == 2
        with pytest.raises(TypeError):
            session.conn_options["reconnect_for_s"] = 1.0  # type: ignore[index]


async def test_the_microphone_cannot_be_opened_in_text_mode() -> None:
    async with talk(agent(), mode="text") as t:
        with pytest.raises(GeminiLiveError, match="off in text mode"):
            await t.handle.set_microphone(True)
