"""Clients of other projects hold a conversation each: see `make test-clients`."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
UTTERANCE = ROOT / "tests/data/speech/do_you_remember_what_i_said.wav"
"""Said by flite's voice slt, 16 kHz."""
TIMEOUT_S = 90
"""Seconds that all conversations together may take."""


@dataclass(frozen=True)
class Client:
    """Program of a client and the environment that `make test-clients` makes for it."""

    folder: str
    script: str

    @property
    def is_installed(self) -> bool:
        return (ROOT / self.folder / ".ready").exists()

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


@pytest.fixture(scope="module")
def conversations(live_server: str, clean_environment: dict[str, str]) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Yield the processes of the installed clients, which talk at the same time."""
    processes = {
        name: subprocess.Popen(
            [*client.command, live_server, str(UTTERANCE)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment,
            cwd=ROOT / client.folder,
        )
        for name, client in CLIENTS.items()
        if client.is_installed
    }
    yield processes
    for process in processes.values():
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def deadline() -> float:
    """Return the time by which the conversations have to be over."""
    return time.monotonic() + TIMEOUT_S


@pytest.fixture(scope="module", params=CLIENTS)
def report(
    request: pytest.FixtureRequest, conversations: dict[str, subprocess.Popen[str]], deadline: float
) -> dict[str, Any]:
    """Return the results of a client's conversation."""
    if request.param not in conversations:
        pytest.skip("The client is not installed: make test-clients installs it")
    process = conversations[request.param]
    out, err = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
    assert process.returncode == 0, err
    seen: dict[str, Any] = json.loads(out.splitlines()[-1])
    return seen


def test_a_typed_turn_that_opens_the_conversation_is_answered(report: dict[str, Any]) -> None:
    assert report["typed"]["said"] == "Goodbye."


def test_a_tool_is_called_and_its_result_understood(report: dict[str, Any]) -> None:
    assert report["tool"]["calls"] == [["get_weather", {"city": "Lisbon"}]]
    assert report["tool"]["said"] == "In Lisbon it is 21 degrees and sunny."


@pytest.mark.skipif(find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)")
def test_a_spoken_turn_is_transcribed_in_one_piece_and_recalls_what_was_said(report: dict[str, Any]) -> None:
    assert report["spoken"]["heard"] == ["do you remember what i said"]
    assert report["spoken"]["said"] == "Before that you said: goodbye; and what is the weather in Lisbon."
