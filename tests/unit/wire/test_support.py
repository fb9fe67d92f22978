"""Messages that a backend does not support are refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import (
    AvatarConfig,
    ClientMessage,
    FunctionDeclaration,
    GenerationConfig,
    Modality,
    RealtimeInput,
    SessionResumption,
    Setup,
    Tool,
)
from gemini_live_runtime.wire.support import refusals

PLAIN = compose.build_setup("m", instruction="Be brief.", voice="Puck", language="en-US")
TWO = GenerationConfig(response_modalities=(Modality.AUDIO, Modality.TEXT))


@pytest.mark.parametrize("backend", ["gemini", "vertex", "url", "local"])
def test_a_usual_voice_session_is_fine_everywhere(backend) -> None:
    assert refusals(ClientMessage(setup=PLAIN), backend) == ()
    assert refusals(compose.text_turn("hi"), backend) == ()
    assert refusals(compose.audio_stream_end(), backend) == ()


@pytest.mark.parametrize(
    ("setup", "backends", "words"),
    [
        (replace(PLAIN, explicit_vad_signal=True), {"gemini"}, "explicitVadSignal"),
        (replace(PLAIN, session_resumption=SessionResumption(transparent=True)), {"gemini"}, "transparent"),
        (replace(PLAIN, labels={"a": "b"}), {"vertex"}, "labels"),
        (replace(PLAIN, generation_config=TWO), {"gemini", "vertex"}, "one modality"),
        (replace(PLAIN, avatar_config=AvatarConfig(avatar_name="Kira")), {"gemini", "vertex"}, "needs .*VIDEO"),
    ],
)
def test_a_setting_is_refused_where_it_does_not_exist(setup: Setup, backends: set[str], words: str) -> None:
    import re

    for backend in ("gemini", "vertex", "url", "local"):
        found = refusals(ClientMessage(setup=setup), backend)  # type: ignore[arg-type]
        assert len(found) == (backend in backends)
        assert not found or re.search(words, found[0])


def test_an_empty_realtime_input_is_refused() -> None:
    assert "not none" in refusals(ClientMessage(realtime_input=RealtimeInput()), "vertex")[0]


class TestBuildingASetup:
    def test_it_asks_for_speech_transcripts_handles_and_compression(self) -> None:
        setup = compose.build_setup("m")
        assert setup.generation_config is not None
        assert setup.generation_config.response_modalities == (Modality.AUDIO,)
        assert setup.input_audio_transcription is not None
        assert setup.output_audio_transcription is not None
        assert setup.session_resumption == SessionResumption()
        assert setup.context_window_compression is not None
        assert setup.realtime_input_config is None
        assert setup.system_instruction is None

    def test_a_handle_resumes(self) -> None:
        assert compose.build_setup("m", handle="h").session_resumption == SessionResumption(handle="h")
        assert compose.build_setup("m", resumption=False).session_resumption is None

    def test_manual_activity_turns_the_servers_detection_off(self) -> None:
        config = compose.build_setup("m", manual_activity=True).realtime_input_config
        assert config is not None
        assert config.automatic_activity_detection is not None
        assert config.automatic_activity_detection.disabled is True

    def test_declared_functions_come_last_in_one_entry(self) -> None:
        one, two = FunctionDeclaration(name="one"), FunctionDeclaration(name="two")
        search = Tool(google_search={})
        assert compose.tool_list([one, two], [search]) == (search, Tool(function_declarations=(one, two)))
        assert compose.tool_list([]) == ()
