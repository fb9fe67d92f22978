"""`config`: every option can be set, shown and overridden; bad values are errors."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.command_line import run

from gemini_live_runtime import paths
from gemini_live_tui import config
from gemini_live_tui.cli import checks

VALUES: dict[str, tuple[str, object]] = {
    "backend": ("wss://live.example/x", "wss://live.example/x"),
    "model": ("gemini-3.8-live", "gemini-3.8-live"),
    "voice": ("Puck", "Puck"),
    "agent": ("mine.py:agent", "mine.py:agent"),
    "turns": ("client", "client"),
    "api_version": ("v1alpha", "v1alpha"),
    "audio.input": ("USB", "USB"),
    "audio.output": ("2", "2"),
    "audio.echo_cancelling": ("no", False),
    "audio.headphones": ("yes", True),
    "audio.noise_suppression": ("1", True),
    "recording.record": ("text", "text"),
    "recording.cap_gb": ("0.5", 0.5),
    "limits.max_cost": ("1", 1.0),
    "limits.max_minutes": ("2.5", 2.5),
    "engine.reconnect_for_s": ("10", 10.0),
    "engine.dormant_after_s": ("120", 120.0),
    "engine.linger_s": ("60", 60.0),
    "ui.theme": ("paper", "paper"),
    "ui.fps": ("10", 10),
    "ui.ascii": ("yes", True),
    "credentials.source": ("env", "env"),
    "credentials.file": ("~/key", "~/key"),
    "credentials.keyring": ("work", "work"),
    "credentials.trusted_hosts": ("a.example, b.example:8443", ["a.example", "b.example:8443"]),
    "vertex.project": ("p", "p"),
    "vertex.location": ("global", "global"),
    "profile": ("work", "work"),
}


def shown() -> dict[str, dict[str, object]]:
    value: dict[str, dict[str, object]] = json.loads(run("config", "show", "--json").out)
    return value


def test_the_table_above_covers_every_option() -> None:
    assert {*VALUES, "keymap", "prices"} == set(config.OPTIONS)


@pytest.mark.parametrize("key", VALUES)
def test_an_option_can_be_set_is_shown_with_its_source_and_overridden(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (paths.private_dir(paths.config_dir() / "profiles") / "work.toml").touch()
    text, value = VALUES[key]
    ended = run("config", "set", key, text)
    assert (ended.code, ended.err) == (0, "")
    assert shown()[key] == {"value": value, "source": "file"}
    assert f"{key} " in run("config").out
    default = str(config.default_of(config.OPTIONS[key]))
    variable = config.variable_of(key)
    monkeypatch.setenv(variable, "" if default == "[]" else default)
    assert shown()[key]["source"] == variable
    assert shown()[key]["value"] == config.default_of(config.OPTIONS[key])
    assert f"{variable} is set and overrides it." in run("config", "set", key, text).err


def test_prices_come_from_the_file_and_a_wrong_one_is_named() -> None:
    path = paths.config_dir() / "config.toml"
    paths.private_dir(path.parent)
    path.write_text('[prices]\nas_of = "2027-01"\n[prices."gemini-3.8-live"]\naudio_in = 2.5\n')
    assert shown()["prices"]["value"] == {"as_of": "2027-01", "gemini-3.8-live": {"audio_in": 2.5}}
    path.write_text('[prices]\nas_of = "2027-01"\n[prices."gemini-3.8-live"]\naudio_in = "free"\n')
    ended = run("config", "show")
    assert ended.code == 2
    assert 'prices."gemini-3.8-live".audio_in' in ended.err


def test_prices_are_edited_in_the_file() -> None:
    ended = run("config", "set", "prices", "1")
    assert ended.code == 2
    assert "file" in ended.err


def test_a_key_of_the_keymap_can_be_set_and_a_wrong_one_is_refused() -> None:
    assert run("config", "set", "keymap.mute", "k,f4").code == 0
    assert shown()["keymap"]["value"] == {"mute": "k,f4"}
    for key, value, words in (
        ("keymap.nope", "m", "unknown action 'nope'"),
        ("keymap.mute", "", "no key is given"),
        ("keymap.help", "f4", "is the key of both"),
        ("keymap", "m", "config set keymap.mute"),
    ):
        ended = run("config", "set", key, value)
        assert ended.code == 2
        assert words in ended.sentence
    assert shown()["keymap"]["value"] == {"mute": "k,f4"}


@pytest.mark.parametrize("form", [(), ("show",), ("show", "--json")])
def test_what_of_the_keymap_cannot_be_used_is_told_beside_the_settings(form: tuple[str, ...]) -> None:
    path = paths.private_dir(paths.config_dir()) / "config.toml"
    path.write_text('[keymap]\nmute = "k"\nhepl = "f6"\nquit = "f1"\n')
    ended = run("config", *form)
    assert ended.code == 0
    assert "keymap.hepl: unknown action 'hepl'. Did you mean help?" in ended.err
    assert "keymap.quit: f1 is the key of both help and quit" in ended.err
    assert "mute" not in ended.err
    assert '"mute": "k"' in ended.out


def test_a_theme_that_does_not_exist_is_refused_when_it_is_set() -> None:
    ended = run("config", "set", "ui.theme", "nope")
    assert ended.code == 2
    assert "nope" in ended.sentence
    assert shown()["ui.theme"]["source"] == "default"


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("ui.fps", "fast", "a whole number"),
        ("ui.fps", "0", "1 to 60"),
        ("ui.ascii", "perhaps", "true or false"),
        ("limits.max_cost", "$3", "a number"),
        ("limits.max_cost", "-1", "0 (no limit)"),
        ("limits.max_minutes", "nan", "a number"),
        ("backend", "openai", "gemini"),
        ("recording.record", "video", "off, text, audio"),
        ("credentials.source", "paper", "keyring"),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_the_file_stays(key: str, text: str, words: str) -> None:
    ended = run("config", "set", "--", key, text)
    assert ended.code == 2
    assert key in ended.sentence
    assert words in ended.sentence
    assert not config.config_path({}).exists()


BROKEN = {
    "not TOML": ("ui = ?", ["config.toml", "line 1", "Mend"]),
    "an unknown section": ("[iu]\nfps = 3", ["iu.fps", "ui.fps"]),
    "a wrong type": ("[ui]\nfps = 'x'", ["ui.fps", "whole number"]),
    "control characters": ('backend = "\\u001b[31mred\\u202e"', ["backend", "gemini"]),
    "an infinite cap": ("[recording]\ncap_gb = inf", ["recording.cap_gb"]),
    "a number of a thousand digits": (f"[ui]\nfps = {'9' * 5000}", ["config.toml"]),
}


@pytest.mark.parametrize("command", [("talk", "--text", "x"), ("config", "show"), ("run", "x.py:agent")], ids=" ".join)
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_config_file_is_one_sentence_wherever_it_is_read(case: str, command: tuple[str, ...]) -> None:
    text, words = BROKEN[case]
    path = paths.private_dir(paths.config_dir()) / "config.toml"
    path.write_text(text)
    ended = run(*command)
    assert ended.code == 2, ended
    assert [word for word in words if word not in ended.sentence] == []
    assert ended.control == []


def test_a_broken_config_file_is_a_failed_check_of_doctor_not_its_end() -> None:
    (paths.private_dir(paths.config_dir()) / "config.toml").write_text("ui = ?")
    ended = run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(ended.out)["checks"]}
    assert ended.code == 1
    assert checks["config"]["state"] == "failed"
    assert "line 1" in checks["config"]["found"]


def test_doctor_names_variables_that_nothing_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_LIVE_TUI_UI_THEM", "paper")
    monkeypatch.setenv("GEMINI_LIVE_TUI_KEYMAP", "mute=m")
    monkeypatch.setenv("GEMINI_LIVE_TUI_UI_FPS", "10")
    checks = {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}
    assert checks["variables"]["found"] == "unknown: GEMINI_LIVE_TUI_KEYMAP, GEMINI_LIVE_TUI_UI_THEM"


@pytest.mark.parametrize(
    ("priority", "state", "remedy"), [("real-time", "ok", ""), ("raised", "ok", ""), ("normal", "missing", "rtprio")]
)
def test_doctor_tells_the_priority_that_sound_would_get(
    priority: str, state: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []

    def ask(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, f"{priority}\n", "")

    monkeypatch.setattr(checks.subprocess, "run", ask)
    monkeypatch.setattr(checks.sys, "platform", "linux")
    (found,) = checks._audio_priority()
    assert (found.name, found.state) == ("audio priority", state)
    assert remedy in found.remedy
    assert asked[0][-1] == "gemini_live_runtime.audio.devices.priority"


def test_a_key_can_be_set_beside_others_that_do_not_work_and_doctor_names_those() -> None:
    path = paths.private_dir(paths.config_dir()) / "config.toml"
    path.write_text('[keymap]\nnope = "x"\nhelp = "ctrl+m"\n')
    assert run("config", "set", "keymap.mute", "k").code == 0
    assert run("config", "set", "keymap.help", "f1").code == 0
    found = [check for check in json.loads(run("doctor", "--json").out)["checks"] if check["name"] == "keymap"]
    assert [check["found"] for check in found] == ["keymap.nope: unknown action 'nope'"]


def test_doctor_names_themes_that_cannot_be_used() -> None:
    themes = paths.private_dir(paths.config_dir() / "themes")
    (themes / "mine.toml").write_text("primary = 3")
    checks = {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}
    assert "mine.toml cannot be used: primary is not a colour" in checks["theme"]["found"]


def test_setting_keeps_what_somebody_wrote_by_hand() -> None:
    path = paths.private_dir(paths.config_dir()) / "config.toml"
    path.write_text("# mine\n[ui]\nfps = 10 # slow\n")
    assert run("config", "set", "ui.theme", "paper").code == 0
    assert "# mine" in path.read_text()
    assert tomllib.loads(path.read_text()) == {"ui": {"fps": 10, "theme": "paper"}}


def test_the_path_is_where_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_LIVE_TUI_CONFIG", str(tmp_path / "mine.toml"))
    assert run("config", "path").out == f"{tmp_path / 'mine.toml'}\n"
    assert run("config", "set", "ui.fps", "10").code == 0
    assert tomllib.loads((tmp_path / "mine.toml").read_text()) == {"ui": {"fps": 10}}


@pytest.mark.parametrize("target", ["a folder", "a folder that may not be written"])
def test_a_config_that_cannot_be_written_is_a_sentence(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path if target == "a folder" else Path("/proc/nowhere/config.toml")
    monkeypatch.setenv("GEMINI_LIVE_TUI_CONFIG", str(path))
    ended = run("config", "set", "ui.fps", "10")
    assert ended.code == 2, ended
    assert str(path) in ended.sentence


def test_doctor_repeats_what_was_wrong_with_the_last_sessions_sound() -> None:
    def checks() -> dict[str, dict[str, str]]:
        return {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}

    assert "last sound" not in checks()
    folder = paths.sessions_dir() / "20261122-101112-abcd"
    folder.mkdir(parents=True)
    data = {"kind": "clipping", "well": False, "text": "The microphone clips.", "remedy": "Move away.", "action": ""}
    line = json.dumps({"seq": 1, "t": 1.0, "turn": 0, "gen": 0, "type": "audio.health", "data": data})
    (folder / "events.jsonl").write_text(f"{line}\n")
    last = checks()["last sound"]
    assert (last["state"], last["remedy"]) == ("missing", "Move away.")
    assert last["found"] == "The microphone clips. (session 20261122-101112-abcd)"


def test_a_value_that_looks_like_a_key_is_not_written_into_the_config_file() -> None:
    key = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"
    ended = run("config", "set", "voice", key)
    assert (ended.code, key in ended.out + ended.err) == (2, False)
    assert "voice holds what looks like a key" in ended.err
    assert not config.config_path({}).exists()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_doctor_shows_no_key_that_was_given_in_place_of_a_name(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_LIVE_TUI_PROFILE", "AIzaSyD9tR4B7LNPDh3F8w6ZQ2VRM5KC")
    ended = run("doctor", *options)
    assert "There is no profile" in ended.out
    assert "AIza" not in ended.out + ended.err
