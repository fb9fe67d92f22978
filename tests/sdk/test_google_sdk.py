"""Google's own client holds a whole conversation with the embedded server."""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SDK_PYTHON = next(
    (path for path in (ROOT / ".venv-sdk/bin/python", ROOT / ".venv-sdk/Scripts/python.exe") if path.exists()), None
)
UTTERANCE = ROOT / "tests/data/speech/please_stop_talking.wav"
"""Said by flite's voice slt, 16 kHz."""

TIMEOUT_S = 120

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(
        SDK_PYTHON is None,
        reason="Google's SDK is not there: python3 -m venv .venv-sdk && .venv-sdk/bin/pip install google-genai",
    ),
]


@pytest.fixture(scope="module")
def report(live_server: str, clean_environment: dict[str, str]) -> dict[str, Any]:
    """Return the results of conversation.py."""
    finished = subprocess.run(
        [str(SDK_PYTHON), str(Path(__file__).with_name("conversation.py")), live_server, str(UTTERANCE)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=clean_environment,
    )
    assert finished.returncode == 0, finished.stderr
    seen: dict[str, Any] = json.loads(finished.stdout)
    return seen


def test_a_typed_turn_is_answered_in_speech_with_transcript_and_usage(report: dict[str, Any]) -> None:
    turn = report["text"]
    assert turn["said"].startswith("Goodbye")
    assert turn["audio_s"] > 0.5
    assert turn["generation_complete"]
    assert turn["total_tokens"] > 0


def test_a_function_is_called_and_its_result_is_the_outcome(report: dict[str, Any]) -> None:
    assert report["tool"]["calls"] == [["get_weather", {"city": "Lisbon"}]]
    assert "21 degrees" in report["tool"]["said"]


@pytest.mark.skipif(find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)")
def test_a_spoken_turn_is_recognised_and_answered(report: dict[str, Any]) -> None:
    assert report["audio"]["input"] == "please stop talking"
    assert report["audio"]["said"] == "All right."


def test_an_interruption_ends_the_turn_and_the_new_question_is_answered(report: dict[str, Any]) -> None:
    assert report["cut"]["interrupted"]
    assert not report["cut"]["generation_complete"]
    assert report["after_cut"]["said"] == "You're welcome."
    assert not report["after_cut"]["interrupted"]


def test_a_resumed_session_remembers(report: dict[str, Any]) -> None:
    assert report["resumed"]["said"] == "I said: You're welcome."
    assert report["resumed"]["total_tokens"] > report["after_cut"]["total_tokens"]


def test_a_refusal_reaches_the_sdk_with_its_reason(report: dict[str, Any]) -> None:
    code, text = report["refused"]
    assert code == 1008
    assert "local-nobody is not found" in text


def test_the_vertex_dialect_is_understood_too(report: dict[str, Any]) -> None:
    assert report["vertex"]["said"] == "All right."
