"""Sessions started from the console: their backend, their agent and the flags."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.canaries import KEY

from gemini_live_runtime import paths
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import AgentError, ConfigError
from gemini_live_tui import config
from gemini_live_tui.cli import command_line, main
from gemini_live_tui.cli import console_start as start
from gemini_live_tui.cli.engine_specs import Sound
from gemini_live_tui.launcher import Choice
from gemini_live_tui.set_up.recent import recent_agents
from gemini_live_tui.set_up.saving import save
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


def test_tools_that_are_to_ask_ask_in_each_session(specs: list[EngineSpec]) -> None:
    start.EngineStarter({}, Sound(kind="devices"), asked=("order_taxi",)).source(Choice(demo=True))
    assert specs[0].consent == {"order_taxi": "ask"}


def test_a_tool_cannot_both_ask_and_be_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["talk", "--ask", "pay", "--allow", "pay", "--text", "hi"]) == 2
    assert "--ask and --allow both name pay" in capsys.readouterr().err


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


def test_a_file_that_is_no_python_is_refused_before_anything_starts(specs: list[EngineSpec], tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("agent = (\n")
    with pytest.raises(AgentError, match=r"broken\.py failed: SyntaxError: '\(' was never closed .*line 1"):
        starts().source(Choice(f"{broken}:agent"))
    assert specs == []


def test_nothing_of_a_file_runs_before_its_engine(specs: list[EngineSpec], tmp_path: Path) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text("import nothing_of_that_name\n")
    starts().source(Choice(f"{failing}:agent"))
    assert len(specs) == 1


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


@pytest.mark.parametrize(("options", "kind", "mode"), [([], "devices", "voice"), (["-t"], "devices", "text")])
def test_a_plain_demo_is_the_demo_of_the_command_line(
    options: list[str], kind: str, mode: str, specs: list[EngineSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "show", lambda *_, **__: ConsoleOutcome(3, ""))
    monkeypatch.setattr(start, "require_terminal", lambda: None)
    assert main(["demo", *options]) == 3
    assert command_line.run(["demo", *options]) == 3
    plain, parsed = specs
    assert (plain.agent, plain.audio, plain.mode, plain.backend) == ("concierge", kind, mode, "local")
    assert replace(plain, session_id="") == replace(parsed, session_id="")


def test_a_plain_demo_that_fails_says_so_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    # Tests have no terminal.
    assert main(["demo", "--no-sound"]) == command_line.run(["demo", "--no-sound"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    assert "needs a terminal" in first


def test_a_plain_demo_imports_no_click_redactor_or_events_before_its_first_paint() -> None:
    code = (
        "import sys\n"
        "import gemini_live_tui.cli\n"
        "from gemini_live_tui.cli import console_start\n"
        "console_start.require_terminal = lambda: None\n"
        "console_start.show = lambda *_, **__: print(*sorted(sys.modules)) or sys.exit()\n"
        "import gemini_live_tui.run_console\n"
        "gemini_live_tui.cli.main(['demo', '--no-sound'])\n"
    )
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    ours = ("redactor", "session", "events", "commands", "engine.launch")
    heavy = ("click", "pydantic", "numpy", "websockets", *(f"gemini_live_runtime.{name}" for name in ours))
    assert [name for name in heavy if name in imported] == []
    assert "gemini_live_tui.app" in imported


# -- profiles --------------------------------------------------------------------------------------------------------


def profile(text: str, name: str = "work") -> Path:
    path = paths.private_dir(paths.config_dir() / "profiles") / f"{name}.toml"
    path.write_text(text)
    return path


def test_another_profile_starts_the_same_agent_under_it_and_stays(specs: list[EngineSpec]) -> None:
    profile("voice = 'Puck'\n")
    started = starts()
    started.source(Choice("clinic", demo=True))
    started.source(started.under_profile("work"))
    started.source(Choice(demo=True))
    assert [(spec.agent, spec.voice, spec.profile.name) for spec in specs] == [
        ("clinic", "", "default"),
        ("clinic", "Puck", "work"),
        ("concierge", "Puck", "work"),
    ]
    assert start.settings_of(started.load()).profile == "work"


def test_a_profile_that_cannot_be_used_leaves_the_present_one(specs: list[EngineSpec]) -> None:
    profile("[ui]\nfps = 1000\n")
    started = starts()
    with pytest.raises(ConfigError, match=r"ui\.fps"):
        started.source(started.under_profile("work"))
    assert started.load().profile.name == "default"
    assert specs == []


def test_a_choice_in_the_console_is_saved_where_it_counts() -> None:
    file = profile("[ui]\ntheme = 'paper'  # bright\n")
    save({"ui.theme": "ember", "audio.input": "USB"}, "work")
    assert file.read_text() == '[ui]\ntheme = "ember"  # bright\n'
    assert config.read_document(config.config_path({})) == {"audio": {"input": "USB"}}
    loaded = config.load(flags={"profile": "work"}).config
    assert (loaded.theme, loaded.audio_input) == ("ember", "USB")
