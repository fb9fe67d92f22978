"""Sessions whose user's turns are found by the server, by our detector or by hand."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import Agent, Live, ServerDetection, run_virtual
from gemini_live_runtime import events as ev

SPOKEN = Path(__file__).parents[1] / "data" / "speech" / "please_stop_talking.wav"

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
