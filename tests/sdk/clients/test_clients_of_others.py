"""Clients of other projects hold a conversation each: see `make test-clients`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
UTTERANCE = ROOT / "tests/data/speech/do_you_remember_what_i_said.wav"
"""Said by flite's voice slt, 16 kHz."""
TIMEOUT_S = 180


@dataclass(frozen=True)
class Client:
    """Program of a client and the environment that `make test-clients` makes for it."""

    folder: str
    script: str

    @property
    def command(self) -> list[str]:
        script = str(Path(__file__).with_name(self.script))
        return ["node", script] if script.endswith(".mjs") else [str(ROOT / self.folder / "bin/python"), script]


CLIENTS = {
    "ADK": Client(".venv-adk", "adk.py"),
    "JavaScript": Client(".venv-genai-js", "genai.mjs"),
    "LiveKit": Client(".venv-livekit", "livekit_plugin.py"),
    "Pipecat": Client(".venv-pipecat", "pipecat_pipeline.py"),
}


@pytest.fixture(scope="module", params=CLIENTS)
def report(request: pytest.FixtureRequest, live_server: str, clean_environment: dict[str, str]) -> dict[str, Any]:
    """Return the results of a client's conversation."""
    client = CLIENTS[request.param]
    if not (ROOT / client.folder / ".ready").exists():
        pytest.skip("The client is not installed: make test-clients installs it")
    finished = subprocess.run(
        [*client.command, live_server, str(UTTERANCE)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=clean_environment,
        cwd=ROOT / client.folder,
    )
    assert finished.returncode == 0, finished.stderr
    seen: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return seen


def test_a_typed_turn_that_opens_the_conversation_is_answered(report: dict[str, Any]) -> None:
    assert report["typed"]["said"] == "Goodbye, it was nice talking to you."


def test_a_tool_is_called_and_its_result_understood(report: dict[str, Any]) -> None:
    assert report["tool"]["calls"] == [["get_weather", {"city": "Lisbon"}]]
    assert report["tool"]["said"] == "In Lisbon it is 21 degrees and sunny."


@pytest.mark.skipif(find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)")
def test_a_spoken_turn_is_transcribed_in_one_piece_and_recalls_what_was_said(report: dict[str, Any]) -> None:
    assert report["spoken"]["heard"] == ["do you remember what i said"]
    assert report["spoken"]["said"] == "Before that you said: goodbye; and what is the weather in Lisbon."
