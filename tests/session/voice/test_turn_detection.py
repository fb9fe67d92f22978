"""Sessions whose user's turns are found by the server, by our detector or by hand."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk
from tests.session.voice.test_client_turn_taking_in_a_session import kinds

from gemini_live_runtime import Agent, AgentSession, Live, ServerDetection, run_virtual
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import AgentError, GeminiLiveError

SPOKEN = Path(__file__).parents[2] / "data" / "speech" / "please_stop_talking.wav"

OF_SERVER: dict[str, Any] = {
    "start_sensitivity": "low",
    "end_sensitivity": "high",
    "prefix_padding_ms": 200,
    "silence_duration_ms": 700,
    "activity_handling": "no-interruption",
    "turn_coverage": "all-input",
}


@pytest.mark.parametrize(
    "of",
    [
        agent().server_detection(**OF_SERVER),
        Agent(name="test", instructions="Be brief.", server_detection=ServerDetection(**OF_SERVER)),
    ],
    ids=["builder", "class"],
)
async def test_settings_of_the_servers_detector_are_part_of_the_setup(of: Live) -> None:
    async with talk(of) as t:
        assert t.setup["realtimeInputConfig"] == {
            "automaticActivityDetection": {
                "startOfSpeechSensitivity": "START_SENSITIVITY_LOW",
                "endOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
                "prefixPaddingMs": 200,
                "silenceDurationMs": 700,
            },
            "activityHandling": "NO_INTERRUPTION",
            "turnCoverage": "TURN_INCLUDES_ALL_INPUT",
        }


async def test_nothing_is_set_that_the_author_left_out() -> None:
    async with talk(agent()) as t:
        assert "realtimeInputConfig" not in t.setup
    async with talk(agent().turn_taking("client").server_detection(turn_coverage="only-activity")) as t:
        assert t.setup["realtimeInputConfig"] == {
            "automaticActivityDetection": {"disabled": True},
            "turnCoverage": "TURN_INCLUDES_ONLY_ACTIVITY",
        }


def twice(path: Path, pause_s: float) -> Path:
    """Write a WAV file in which the same is said twice, with a pause between."""
    with wave.open(str(SPOKEN)) as file:
        parameters, pcm = file.getparams(), file.readframes(file.getnframes())
    # The recording has silence around what is said: the pause is what is put between.
    with wave.open(str(path), "wb") as file:
        file.setparams(parameters)
        file.writeframes(
            pcm + bytes(int(pause_s * parameters.framerate) * 2) + pcm + bytes(3 * parameters.framerate * 2)
        )
    return path


@pytest.mark.parametrize(("silence_ms", "turns"), [(300, 2), (4000, 1)])
def test_the_embedded_server_ends_a_turn_after_the_silence_that_was_asked_for(
    tmp_path: Path, silence_ms: int, turns: int
) -> None:
    microphone = twice(tmp_path / "mic.wav", 1.5)
    live = (
        Live.builder("test")
        .instruction("Be brief.")
        .server_detection(silence_duration_ms=silence_ms, activity_handling="no-interruption")
    )

    async def run() -> int:
        options: dict[str, Any] = {"backend": "local", "fast": True, "audio": "files", "mode": "voice"}
        async with live.connect(**options, input=str(microphone)) as session, session.events() as events:
            await session.until_quiet(8)
            events.end()
            return len([event async for event in events if isinstance(event.payload, ev.TurnStarted)])

    assert run_virtual(run()) == turns


def test_settings_without_an_effect_are_listed() -> None:
    of = agent().turn_taking("manual").server_detection(silence_duration_ms=500, turn_coverage="all-input")
    assert of.ignored_settings() == [
        "server_detection's silence_duration_ms has no effect: with manual the server does not decide"
    ]
    assert agent().server_detection(silence_duration_ms=500).ignored_settings() == []


# -- who finds the turns -----------------------------------------------------------------------------------------------


def automatic(t: Talk) -> bool:
    """Return True when the newest setup leaves turns to the server."""
    return "realtimeInputConfig" not in t.setup


async def test_the_choice_is_made_once_and_told() -> None:
    async with talk(agent()) as t:
        (told,) = t.all(ev.TurnsChanged)
        assert (told.detection, told.reason) == ("server", "the server's detector does all that the agent asks for")
        assert automatic(t)
    async with talk(agent().turn_taking("auto", preset="conversational")) as t:
        (told,) = t.all(ev.TurnsChanged)
        assert (told.detection, told.reason) == ("client", "only our own detector works with turn_taking's preset")
        assert told.min_delay_s == 0.8
        assert not automatic(t)
    async with talk(Agent(name="test", instructions="Be brief.", turn_detection="push-to-talk")) as t:
        assert [told.detection for told in t.all(ev.TurnsChanged)] == ["manual"]


async def test_our_detector_takes_over_with_a_renewed_connection() -> None:
    async with talk(agent(), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.handle.update_options(turn_detection="client", min_endpointing_delay=0.2)
        assert t.all(ev.TurnsChanged)[-1].next == "client"
        setup = await t.connects_again()
        assert setup["realtimeInputConfig"] == {"automaticActivityDetection": {"disabled": True}}
        assert setup["sessionResumption"] == {"handle": "h-1"}
        told = t.all(ev.TurnsChanged)[-1]
        assert (told.detection, told.next, told.min_delay_s) == ("client", "", 0.2)
        await t.passes(8)
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


async def test_the_server_takes_over_again() -> None:
    async with talk(agent().turn_taking("client"), audio=ProgramAudio) as t:
        await t.handle.update_options(turn_detection="auto")
        setup = await t.connects_again()
        assert "realtimeInputConfig" not in setup
        t.handle.send_audio(bytes(640))
        await t.rests()
        assert kinds(t) == ["audio"]


async def test_our_detector_and_the_switch_change_places_on_one_connection() -> None:
    async with talk(agent().turn_taking("client"), audio=ProgramAudio) as t:
        await AgentSession.of(t.handle).update_options(turn_detection="manual")
        assert t.all(ev.ControlChanged)[-1].microphone is False
        assert await t.commands(cmd.SetMicrophone(on=True)) == ""
        t.handle.send_audio(bytes(640))
        await t.rests()
        assert kinds(t) == ["activityStart", "audio"]
        await t.handle.update_options(turn_detection="client")
        await t.rests()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]
        t.handle.send_audio(bytes(640))
        await t.rests()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


async def test_a_turn_that_goes_on_ends_before_another_detector_takes_over() -> None:
    async with talk(agent().turn_taking("client"), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(0.8)
        assert kinds(t) == ["activityStart", "audio"]
        await t.handle.update_options(turn_detection="manual")
        await t.rests()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


async def test_a_longer_delay_keeps_a_turn_open_for_longer() -> None:
    lengths = {}
    for delay_s in (0.2, 1.2):
        async with talk(agent().turn_taking("client"), audio=lambda: FileAudio(SPOKEN, None)) as t:
            await t.handle.update_options(min_endpointing_delay=delay_s)
            await t.passes(8)
        lengths[delay_s] = len(t.sent("audio"))
    # A second is 50 chunks of 20 ms.
    assert 45 <= lengths[1.2] - lengths[0.2] <= 55


async def test_a_change_that_is_asked_for_while_connecting_is_made_with_the_next_connection() -> None:
    async with talk(agent(), begins=False) as t:
        await t.rests()
        await t.handle.update_options(turn_detection="client")
        await t.begins()
        setup = await t.connects_again()
        assert setup["realtimeInputConfig"]["automaticActivityDetection"] == {"disabled": True}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "No option was given. Give turn_detection or a delay."),
    ({"turn_detection": "vad"}, "turn_detection cannot be 'vad'. Use one of auto, server, client, manual."),
    ({"min_endpointing_delay": -1}, "min_endpointing_delay cannot be -1. Use seconds from 0 to 60."),
    ({"min_endpointing_delay": "1"}, "min_endpointing_delay cannot be '1'."),
    (
        {"min_endpointing_delay": 1.0, "turn_detection": "manual"},
        "min_endpointing_delay has no effect: with manual our detector does not decide. Set turn_detection to client.",
    ),
    ({"max_endpointing_delay": 2.0}, "max_endpointing_delay has no effect: the agent has no end-of-turn model."),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[words for _, words in REFUSED])
async def test_an_option_that_cannot_be_followed_is_refused_and_nothing_changes(
    options: dict[str, Any], words: str
) -> None:
    async with talk(agent().turn_taking("client")) as t:
        with pytest.raises(GeminiLiveError) as caught:
            await t.handle.update_options(**options)
        assert words in str(caught.value)
        assert len(t.all(ev.TurnsChanged)) == 1


async def test_an_option_that_there_is_not_is_refused_with_the_one_that_is_meant() -> None:
    async with talk(agent()) as t:
        wrong: Any = {"max_tool_step": 3}
        for of in (t.handle, AgentSession.of(t.handle)):
            with pytest.raises(AgentError, match="There is no option max_tool_step"):
                await of.update_options(**wrong)
