"""Sessions started from the console: their backend, their agent and the flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.canaries import KEY

from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import AgentError
from gemini_live_tui import config
from gemini_live_tui.cli import start
from gemini_live_tui.cli.options import Sound
from gemini_live_tui.launcher import Choice
from gemini_live_tui.set_up.recent import recent_agents
from gemini_live_tui.settings import ConsoleOutcome


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> list[EngineSpec]:
    made: list[EngineSpec] = []
    monkeypatch.setattr(start, "engine_source", made.append)
    return made


@pytest.fixture
def own(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text("agent = None\n")
    return f"{tmp_path / 'mine.py'}:agent"


def starts(**flags: Any) -> start.EngineStarter:
    return start.EngineStarter(flags, Sound(kind="devices"))


def test_the_demo_is_on_the_embedded_server_whatever_is_configured(
    specs: list[EngineSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    starts().source(Choice(demo=True))
    starts().source(Choice("clinic", demo=True))
    assert [(spec.agent, spec.backend) for spec in specs] == [("concierge", "local"), ("clinic", "local")]
    assert recent_agents() == []


def test_ones_own_agent_talks_to_the_configured_backend_when_there_is_a_key(
    specs: list[EngineSpec], own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts().source(Choice(own))
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    starts().source(Choice(own))
    assert [spec.backend for spec in specs] == ["local", "gemini"]
    assert [agent.reference for agent in recent_agents()] == [own]


def test_what_is_gone_is_refused_before_anything_starts(specs: list[EngineSpec], tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="There is no file"):
        starts().source(Choice(f"{tmp_path / 'gone.py'}:agent"))
    assert specs == []
    assert recent_agents() == []


def test_a_device_chosen_on_the_screen_goes_before_the_command_lines(specs: list[EngineSpec]) -> None:
    started = starts(**{"audio.input": "USB", "audio.output": "HDMI"})
    assert started.devices() == ("USB", "HDMI")
    config.set_value(config.config_path({}), "audio.input", "Desk")
    started.on_saved("audio.input")
    assert started.devices() == ("Desk", "HDMI")
    started.source(Choice(demo=True))
    assert (specs[0].input, specs[0].output) == ("Desk", "HDMI")


@pytest.mark.parametrize(
    ("backend", "key", "found", "said"),
    [
        ("", "", False, "Gemini"),
        ("", KEY, True, "Gemini"),
        ("vertex", "", True, "Vertex AI"),
        ("local", "", True, "the embedded server"),
        ("ws://127.0.0.1:1", "", True, "your server"),
    ],
)
def test_whether_a_start_needs_to_ask_for_a_key(
    backend: str, key: str, found: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", key)
    started = starts(backend=backend or None)
    assert (started.key_found(), started.describe()) == (found, said)


def test_consoles_follow_each_other_for_as_long_as_another_agent_is_chosen(
    specs: list[EngineSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [ConsoleOutcome(0, next=Choice("clinic", demo=True)), ConsoleOutcome(3)]
    rooms: list[str] = []

    def show(source: object, settings: Any, **_: object) -> ConsoleOutcome:
        rooms.append(settings.first_screen)
        return outcomes.pop(0)

    monkeypatch.setattr(start, "show", show)
    monkeypatch.setattr(start, "require_terminal", lambda: None)
    assert start.converse(None, starts(), first_screen="gallery") == 3
    assert rooms == ["gallery", ""]
    assert [spec.agent for spec in specs] == ["clinic"]


def test_the_options_of_the_microphone_reach_the_engine(specs: list[EngineSpec]) -> None:
    starts().source(Choice(demo=True))
    starts(**{"audio.echo_cancelling": False, "audio.headphones": True, "audio.noise_suppression": True}).source(
        Choice(demo=True)
    )
    assert [(spec.echo_cancelling, spec.headphones, spec.noise_suppression) for spec in specs] == [
        (True, False, False),
        (False, True, True),
    ]


def test_the_detector_of_turns_reaches_the_engine(specs: list[EngineSpec]) -> None:
    starts().source(Choice(demo=True))
    starts(turns="client").source(Choice(demo=True))
    assert [spec.turns for spec in specs] == ["auto", "client"]
