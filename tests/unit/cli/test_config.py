"""Settings: their layers, and the message for each invalid value."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from gemini_live_runtime.errors import ConfigError
from gemini_live_tui import config


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"GEMINI_LIVE_TUI_CONFIG": str(tmp_path / "config.toml")}


def write(environment: dict[str, str], text: str) -> Path:
    path = Path(environment["GEMINI_LIVE_TUI_CONFIG"])
    path.write_text(text)
    return path


def test_without_anything_set_all_values_are_defaults(environment: dict[str, str]) -> None:
    loaded = config.load(environment)
    assert loaded.config == config.Config()
    assert set(loaded.sources.values()) == {"default"}


def test_flags_override_variables_override_the_file(environment: dict[str, str]) -> None:
    write(environment, '[ui]\ntheme = "file"\nfps = 10\nascii = true\n')
    environment |= {"GEMINI_LIVE_TUI_UI_THEME": "variable", "GEMINI_LIVE_TUI_UI_FPS": "12"}
    loaded = config.load(environment, {"ui.theme": "flag", "ui.fps": None})
    assert (loaded.config.theme, loaded.config.fps, loaded.config.ascii) == ("flag", 12, True)
    assert loaded.sources["ui.theme"] == "flag"
    assert loaded.sources["ui.fps"] == "GEMINI_LIVE_TUI_UI_FPS"
    assert loaded.sources["ui.ascii"] == "file"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ui = ?\n", ["config.toml", "line 1"]),
        ("[ui]\nthem = 'x'", ["ui.them", "Did you mean ui.theme"]),
        ("[ui]\nfps = 'fast'", ["ui.fps", "fast", "whole number"]),
        ("[ui]\nfps = 1000", ["ui.fps", "1000", "1 to 60"]),
        ("[ui]\nascii = 1", ["ui.ascii", "true or false"]),
        ("backend = 'openai'", ["backend", "openai", "gemini"]),
        ("[recording]\nrecord = 'video'", ["recording.record", "off, text, audio"]),
        ("[limits]\nmax_cost = -1.0", ["limits.max_cost", "0 (no limit)"]),
        ("[limits]\nmax_cost = nan", ["limits.max_cost"]),
        ("[credentials]\ntrusted_hosts = [1]", ["credentials.trusted_hosts", "list of strings"]),
        ("[credentials]\ntrusted_hosts = ['*']", ["credentials.trusted_hosts", "no patterns"]),
        ("[credentials]\ntrusted_hosts = ['a b']", ["credentials.trusted_hosts", "names of hosts"]),
        ("[credentials]\ntrusted_hosts = ['wss://a.example']", ["credentials.trusted_hosts", "names of hosts"]),
        ("[keymap]\nmute = 3", ["keymap", "strings"]),
    ],
)
def test_a_bad_file_is_refused_naming_key_value_and_remedy(
    environment: dict[str, str], text: str, words: list[str]
) -> None:
    write(environment, text)
    with pytest.raises(ConfigError) as caught:
        config.load(environment)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_file_that_is_not_text_is_refused(environment: dict[str, str]) -> None:
    Path(environment["GEMINI_LIVE_TUI_CONFIG"]).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        config.load(environment)


@pytest.mark.parametrize(("variable", "value"), [("UI_FPS", "x"), ("UI_ASCII", "perhaps"), ("LIMITS_MAX_COST", "$3")])
def test_a_bad_variable_is_refused_by_its_name(environment: dict[str, str], variable: str, value: str) -> None:
    environment[f"GEMINI_LIVE_TUI_{variable}"] = value
    with pytest.raises(ConfigError, match=f"GEMINI_LIVE_TUI_{variable}"):
        config.load(environment)


def test_lists_in_variables_are_separated_by_commas(environment: dict[str, str]) -> None:
    environment["GEMINI_LIVE_TUI_CREDENTIALS_TRUSTED_HOSTS"] = "a.example, b_b.example:8443,::1,[::1]:9"
    hosts = config.load(environment).config.trusted_hosts
    assert hosts == ["a.example", "b_b.example:8443", "::1", "[::1]:9"]


def test_setting_a_value_keeps_comments_and_the_rest(environment: dict[str, str]) -> None:
    path = write(environment, '# mine\n[ui]\ntheme = "a" # dark\nfps = 10\n')
    config.set_value(path, "ui.theme", "b")
    config.set_value(path, "limits.max_minutes", 5.0)
    text = path.read_text()
    assert "# mine" in text
    assert "# dark" in text
    loaded = config.load(environment).config
    assert (loaded.theme, loaded.fps, loaded.max_minutes) == ("b", 10, 5.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_broken_is_not_overwritten(environment: dict[str, str]) -> None:
    path = write(environment, "ui = ")
    with pytest.raises(ConfigError):
        config.set_value(path, "ui.theme", "b")
    assert path.read_text() == "ui = "


def test_every_option_has_help_and_a_default_that_passes_its_own_check() -> None:
    for key, option in config.OPTIONS.items():
        assert option.metadata["help"], key
        check = option.metadata["check"]
        assert check is None or check(config.default_of(option)) == "", key
