"""A profile is a layer between the config file and the environment."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.support.command_line import run

from gemini_live_runtime import paths
from gemini_live_runtime.errors import ConfigError
from gemini_live_tui import config
from gemini_live_tui.cli.engine_specs import Sound, spec_of

KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"


def write(text: str, name: str = "work") -> Path:
    path = paths.private_dir(paths.config_dir() / "profiles") / f"{name}.toml"
    path.write_text(text)
    return path


def write_config(text: str) -> Path:
    path = paths.private_dir(paths.config_dir()) / "config.toml"
    path.write_text(text)
    return path


def shown(*arguments: str) -> dict[str, dict[str, object]]:
    value: dict[str, dict[str, object]] = json.loads(run("config", "show", "--json", *arguments).out)
    return value


def test_the_profile_overrides_the_file_and_variables_override_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    write_config('voice = "Kore"\nmodel = "m"\n[ui]\nfps = 10\n')
    write('voice = "Puck"\n[ui]\nfps = 15\n')
    monkeypatch.setenv("GEMINI_LIVE_TUI_UI_FPS", "30")
    found = shown("--profile", "work")
    assert found["voice"] == {"value": "Puck", "source": "profile"}
    assert found["model"] == {"value": "m", "source": "file"}
    assert found["ui.fps"] == {"value": 30, "source": "GEMINI_LIVE_TUI_UI_FPS"}
    assert found["profile"] == {"value": "work", "source": "flag"}
    assert shown()["voice"] == {"value": "Kore", "source": "file"}


def test_the_profile_is_chosen_by_flag_then_variable_then_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        write(f'voice = "{name}"\n', name)
    write_config('profile = "a"\n')
    assert shown()["voice"]["value"] == "a"
    monkeypatch.setenv("GEMINI_LIVE_TUI_PROFILE", "b")
    assert shown()["voice"]["value"] == "b"
    assert shown("--profile", "c")["voice"]["value"] == "c"
    assert '"c"            # profile: Voice name' in run("config", "--profile", "c").out


def test_the_default_profile_may_have_no_file_and_has_a_say_with_one() -> None:
    assert config.load().profile.name == "default"
    write('voice = "Puck"\n', "default")
    assert shown()["voice"] == {"value": "Puck", "source": "profile"}


BROKEN = {
    "an unknown key": ("[ui]\nthem = 'x'", ["ui.them", "Did you mean ui.theme?"]),
    "an unknown key of the tools": ("[tools]\nfolder = 1", ["tools.folder", "Did you mean tools.folders?"]),
    "an unknown table": ("[tols]\nenabled = []", ["tols.enabled", "Did you mean tools.enabled?"]),
    "an unknown table of tools by name": ("[consnt]\npay_for_it_now = 'deny'", ["consent.pay_for_it_now?"]),
    "a wrong value": ("[ui]\nfps = 1000", ["ui.fps", "1000", "1 to 60"]),
    "a profile in a profile": ("profile = 'other'", ["cannot name a profile", "Leave out"]),
    "no TOML": ("ui = ?", ["line 1", "Mend"]),
    "a policy that is none": ("[consent]\npay = 'no'", ["consent.pay", "'no'", "allow, ask, deny"]),
    "a good value before a bad one": ("voice = 'Puck'\n[tools]\nenabled = ['x']", ["tools.enabled", "'x'"]),
}


@pytest.mark.parametrize(
    "command",
    [("talk", "--text", "x"), ("config", "show"), ("run", "x.py:agent"), ("demo",), (), ("attach",)],
    ids=" ".join,
)
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_profile_is_one_sentence_and_nothing_starts(case: str, command: tuple[str, ...]) -> None:
    text, words = BROKEN[case]
    path = write(text)
    with pytest.raises(ConfigError) as raised:
        config.load(flags={"profile": "work"})
    assert [word for word in [*words, path.name] if word not in str(raised.value)] == []
    ended = run(*command, "--profile", "work")
    assert ended.code == 2
    assert ended.sentence
    assert not paths.sessions_dir().exists()


def test_a_profile_that_does_not_exist_is_named_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    write("", "work")
    assert (
        "There is no profile 'wrok' (the command line). Did you mean work?"
        in run("talk", "--text", "x", "--profile", "wrok").sentence
    )
    monkeypatch.setenv("GEMINI_LIVE_TUI_PROFILE", "home")
    sentence = run("config", "show").sentence
    assert "'home' (GEMINI_LIVE_TUI_PROFILE)" in sentence
    assert "gemini-live-tui profiles create home" in sentence


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "a" * 65])
@pytest.mark.parametrize(
    "command",
    [("talk", "--text", "x"), ("config", "show"), ("tasks",), ("memory", "list"), ("notify", "x"), ("doctor",)],
    ids=" ".join,
)
def test_a_name_that_is_no_file_name_is_refused_everywhere(name: str, command: tuple[str, ...]) -> None:
    option = ("--profile", name)
    ended = run(command[0], *option, *command[1:])
    assert ended.code != 0
    assert "at most 64" in ended.out + ended.err


TABLES = {
    "in its own option": f'[credentials]\nfile = "{KEY}"',
    "by an unknown name": f'[credentials]\napi_key = "{KEY}"',
    "in a list": f'[tools.programs]\nx = ["curl", "{KEY}"]',
    "after an option": '[tools.programs]\nx = ["curl", "--password", "hunter2hunter2"]',
    "as a password": 'password = "correct horse battery"',
    "in a URL": 'backend = "wss://user:hunter2hunter2@live.example/x"',
}


@pytest.mark.parametrize("case", TABLES)
def test_a_file_that_holds_a_key_is_refused_without_showing_it(case: str) -> None:
    write(TABLES[case])
    ended = run("talk", "--text", "x", "--profile", "work")
    assert ended.code == 2
    assert "profiles set-key" in ended.sentence
    assert [secret for secret in (KEY[4:20], "hunter2", "horse") if secret in ended.err] == []


def test_ordinary_values_are_no_keys() -> None:
    write('[credentials]\nsource = "file"\nfile = "~/keys/api-key"\ntrusted_hosts = ["live.example"]\n')
    assert config.load(flags={"profile": "work"}).config.api_key_file == "~/keys/api-key"


def test_tables_of_a_profile_in_the_config_file_are_refused() -> None:
    write_config('[consent]\npay = "deny"\n')
    assert "Only a profile has it" in run("config", "show").sentence


def test_the_engine_gets_the_profile_with_records_of_its_own() -> None:
    write('voice = "Puck"\n[consent]\npay = "deny"\n')
    loaded = config.load(flags={"profile": "work"})
    spec = spec_of(loaded, agent="concierge", backend="local", sound=Sound(kind="none"))
    assert spec.voice == "Puck"
    assert spec.profile == loaded.profile
    assert spec.profile.consent == {"pay": "deny"}
    assert Path(spec.harness_root).name == "work"


def test_records_are_those_of_the_chosen_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    write("", "work")
    assert run("memory", "--profile", "work", "put", "user", "name", "Grace").code == 0
    assert "Grace" not in run("memory").out
    monkeypatch.setenv("GEMINI_LIVE_TUI_PROFILE", "work")
    assert "Grace" in run("memory").out


def test_records_outlive_the_file_of_their_profile_and_need_no_other_option() -> None:
    file = write("", "work")
    run("memory", "--profile", "work", "put", "user", "name", "Grace")
    file.unlink()
    write_config("[ui]\nfps = 'fast'\n")
    assert "Grace" in run("memory", "--profile", "work").out
    assert "There is no profile 'wrok'" in run("memory", "--profile", "wrok").sentence


def test_setting_with_a_profile_changes_its_file_only() -> None:
    file = write("# mine\n[ui]\nfps = 10 # slow\n")
    for key, text in (
        ("voice", "Puck"),
        ("keymap.mute", "k"),
        ("consent.pay.now", "deny"),
        ("tools.enabled", "tasks,timer"),
        ("tools.programs.build", "make all"),
        ("tools.folders.notes", "/var/notes"),
    ):
        ended = run("config", "set", "--profile", "work", key, text)
        assert (ended.code, ended.err) == (0, ""), ended
    assert "# mine" in file.read_text()
    assert tomllib.loads(file.read_text()) == {
        "voice": "Puck",
        "ui": {"fps": 10},
        "keymap": {"mute": "k"},
        "consent": {"pay.now": "deny"},
        "tools": {
            "enabled": ["tasks", "timer"],
            "programs": {"build": ["make", "all"]},
            "folders": {"notes": "/var/notes"},
        },
    }
    assert not config.config_path({}).exists()
    assert config.load(flags={"profile": "work"}).profile.consent == {"pay.now": "deny"}


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("ui.fps", "1000", "1 to 60"),
        ("profile", "default", "cannot name a profile"),
        ("consent.pay", "no", "allow, ask, deny"),
        ("keymap.nope", "m", "unknown action"),
        ("model", KEY, "profiles set-key"),
    ],
)
def test_a_value_that_cannot_be_leaves_the_profile_as_it_is(key: str, text: str, words: str) -> None:
    file = write("voice = 'Puck'\n")
    ended = run("config", "set", "--profile", "work", key, text)
    assert ended.code == 2
    assert words in ended.sentence
    assert KEY[4:20] not in ended.err
    assert file.read_text() == "voice = 'Puck'\n"


def test_setting_an_option_that_the_profile_overrides_says_so() -> None:
    write("voice = 'Puck'\n", "default")
    ended = run("config", "set", "voice", "Kore")
    assert ended.code == 0
    assert "The profile default sets it too, and overrides it" in ended.err
    assert shown()["voice"]["value"] == "Puck"


def test_a_profile_that_does_not_exist_cannot_become_the_configured_one() -> None:
    assert "There is no profile 'home'" in run("config", "set", "profile", "home").sentence
    assert not config.config_path({}).exists()
