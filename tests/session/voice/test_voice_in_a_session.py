"""Sessions in which the operator chooses another voice of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev


def voice_of(setup: dict[str, Any]) -> str:
    speech = setup["generationConfig"].get("speechConfig", {})
    name: str = speech.get("voiceConfig", {}).get("prebuiltVoiceConfig", {}).get("voiceName", "")
    return name


async def test_another_voice_speaks_on_another_connection_that_goes_on_with_the_conversation() -> None:
    async with talk(agent().voice("Puck")) as t:
        assert voice_of(t.setup) == "Puck"
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.commands(cmd.SetVoice(voice="Kore"))
        assert [changed.voice for changed in t.all(ev.VoiceChanged)] == ["Kore"]
        setup = await t.connects_again()
        assert voice_of(setup) == "Kore"
        assert setup["sessionResumption"] == {"handle": "h-1"}


async def test_the_agents_own_voice_returns() -> None:
    async with talk(agent().voice("Puck")) as t:
        await t.commands(cmd.SetVoice(voice="Kore"))
        await t.connects_again()
        await t.commands(cmd.SetVoice(voice=""))
        assert voice_of(await t.connects_again()) == "Puck"


@pytest.mark.parametrize("voice", ["", "  "])
async def test_the_voice_that_speaks_already_changes_nothing(voice: str) -> None:
    async with talk(agent()) as t:
        await t.commands(cmd.SetVoice(voice=voice))
        assert t.all(ev.VoiceChanged) == []


async def test_a_voice_that_is_chosen_before_a_connection_is_that_of_the_first_one() -> None:
    async with talk(agent(), begins=False) as t:
        await t.commands(cmd.SetVoice(voice="Kore"))
        assert voice_of(await t.begins()) == "Kore"


async def test_the_session_of_an_adapter_of_the_programs_own_refuses_another_voice() -> None:
    async with talk(agent()) as t:
        state = t.stage.core.state
        state.turn_options = replace(state.turn_options, fixed="the program's own adapter makes the setup")
        refused = await t.commands(cmd.SetVoice(voice="Kore"))
        assert refused.startswith("The voice cannot change in this session: the program's own adapter")
        assert t.all(ev.VoiceChanged) == []
