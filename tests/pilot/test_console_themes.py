"""The theme picker previews; enter keeps, escape restores; bad files are reported."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.support.console_driver import BY_NAME, console

from gemini_live_tui import theming

PICKER = f"{BY_NAME}themes"
GOOD = 'primary = "#ffffff"\nforeground = "#ffffff"\nbackground = "#000000"\n'


async def test_moving_previews_and_escape_restores(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    async with console(theme="paper", config_path=path) as driver:
        await driver.press(PICKER, "down", "down")
        assert driver.app.theme == "solar-light"
        await driver.press("escape")
        assert driver.app.theme == "paper"
        assert not path.exists()


async def test_enter_keeps_the_theme_in_the_config_file_and_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("# mine\n[ui]\nfps = 10 # slow\n")
    async with console(config_path=path) as driver:
        await driver.press(PICKER, "up", "enter")
        assert driver.app.theme == "colour-blind"
        assert "Theme colour-blind is kept in the config file." in driver.screen()
    assert tomllib.loads(path.read_text()) == {"ui": {"fps": 10, "theme": "colour-blind"}}
    assert "# mine" in path.read_text()


async def test_a_variable_that_overrides_the_choice_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_LIVE_TUI_UI_THEME", "paper")
    async with console(config_path=tmp_path / "config.toml") as driver:
        await driver.press(PICKER, "down", "enter")
        assert "GEMINI_LIVE_TUI_UI_THEME is set and overrides it" in driver.screen()


async def test_a_config_file_that_cannot_be_written_is_a_sentence_and_the_theme_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("ui = ?")
    async with console(config_path=path, size=(240, 36)) as driver:
        await driver.press(PICKER, "down", "enter")
        assert driver.app.theme == "fjord"
        assert "for this session only" in driver.screen()
        assert "not valid TOML" in driver.screen()
    assert path.read_text() == "ui = ?"


async def test_own_themes_come_first_and_broken_ones_are_listed_with_their_sentence(tmp_path: Path) -> None:
    (tmp_path / "ember.toml").write_text(GOOD)
    (tmp_path / "mine.toml").write_text(GOOD)
    (tmp_path / "broken.toml").write_text('primary = "#ffffff"\nforeground = "red"\n')
    async with console(themes_dir=tmp_path) as driver:
        await driver.press(PICKER)
        shown = " ".join(" ".join(row.strip(" │") for row in driver.rows()).split())
        assert "ember dark, yours, in use" in shown
        assert "mine dark, yours" in shown
        assert "Cannot be used:" in shown
        assert "is not a colour: 'red'" in shown
        assert driver.app.theme_variables["background"].lower() == "#000000"


async def test_a_theme_file_edited_since_the_start_is_taken_as_it_is_now(tmp_path: Path) -> None:
    async with console(themes_dir=tmp_path) as driver:
        (tmp_path / "aaa.toml").write_text(GOOD.replace("#000000", "#010203"))
        await driver.press(PICKER, "home")
        assert driver.app.theme == "aaa"
        assert driver.app.theme_variables["background"].lower() == "#010203"


async def test_the_picker_can_be_used_with_the_mouse() -> None:
    async with console(size=(80, 24)) as driver:
        await driver.press(PICKER)
        row = next(at for at, text in enumerate(driver.rows()) if "phosphor" in text)
        await driver.pilot.click(offset=(driver.rows()[row].index("phosphor"), row))
        await driver.settle()
        assert driver.app.theme == "phosphor"
        assert driver.app.screen is driver.app.console_screen


@pytest.mark.parametrize("name", theming.theme_names())
async def test_every_theme_can_be_taken_by_its_command(name: str) -> None:
    async with console() as driver:
        await driver.press(f"/theme {name}")
        assert driver.app.theme == name


@pytest.mark.parametrize("theme", ["ember", "ansi"])
async def test_a_dialog_leaves_the_session_around_it_in_sight(theme: str) -> None:
    async with console(size=(120, 36), theme=theme) as driver:
        driver.link.exchange("Is it raining?", "It is raining.")
        await driver.settle()
        for opens in ("ctrl+e", "m", "M"):
            await driver.press(opens)
            assert driver.app.screen is not driver.app.console_screen
            assert "raining" in driver.screen()
            await driver.press("escape")
