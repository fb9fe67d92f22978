"""The export's screen: formats, redaction, ranges, and files that exist already."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.console_driver import console
from tests.support.recordings_screens import LIVE, NEWEST, done, open_export, record_live, record_three

from gemini_live_tui.editors.export import ExportScreen


async def test_a_session_that_is_not_recorded_says_what_to_do() -> None:
    async with console(started=False) as driver:
        driver.link.start(record="off")
        await driver.settle()
        driver.app.performer("export")()
        await driver.settle()
        assert "This session is not recorded, so there is nothing to export." in driver.words()
        await driver.press("e", "space", "down")
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen


async def test_sound_is_offered_once_redaction_is_off_and_given_up_when_it_is_on_again(tmp_path: Path) -> None:
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        assert "turn redaction off" in driver.screen()
        screen.list.go_to("format stereo")
        await driver.press("space")
        assert "A voice cannot be redacted" in driver.screen()
        assert screen.choices.formats == {"markdown"}
        screen.list.go_to("redact")
        await driver.press("space")
        assert "OFF: personal data goes into the files" in driver.screen()
        screen.list.go_to("format stereo")
        await driver.press("space")
        assert screen.choices.formats == {"markdown", "stereo"}
        screen.list.go_to("redact")
        await driver.press("space")
        assert screen.choices.formats == {"markdown"}


async def test_a_format_behind_the_command_is_chosen_when_the_screen_opens() -> None:
    record_live()
    async with console() as driver:
        for name, title in (("markdown", "Markdown"), ("text", "Text"), ("json", "JSON")):
            await driver.press(f"/export {name}")
            screen = driver.app.screen
            assert isinstance(screen, ExportScreen)
            assert f"[x] {title}" in driver.screen()
            assert (screen.choices.formats, screen.choices.redact) == ({name}, True)
            await driver.press("escape")


async def test_sound_behind_the_command_turns_redaction_off_and_says_so() -> None:
    record_live(record="audio")
    async with console() as driver:
        await driver.press("/export wav")
        screen = driver.app.screen
        assert isinstance(screen, ExportScreen)
        assert screen.choices.formats == {"stereo"}
        assert "OFF: personal data goes into the files" in driver.screen()
        assert "A voice cannot be redacted: redaction is off for this export." in driver.words()


async def test_sound_that_was_not_recorded_is_said_to_and_not_chosen() -> None:
    record_live()
    async with console(started=False) as driver:
        driver.link.start(record="text")
        await driver.settle()
        await driver.press("/export wav")
        screen = driver.app.screen
        assert isinstance(screen, ExportScreen)
        assert (screen.choices.formats, screen.choices.redact) == ({"markdown"}, True)
        assert "No sound was recorded in this session." in driver.words()


async def test_formats_are_completed_and_an_unknown_one_names_those_there_are() -> None:
    async with console() as driver:
        await driver.press(*"/export ")
        shown = driver.words()
        assert all(f"{name} format" in shown for name in ("markdown", "text", "json", "wav"))
        await driver.press(*"pdf", "enter")
        assert driver.app.screen is driver.app.console_screen
        assert "There is no format 'pdf'. Known: markdown, text, json, wav." in driver.words()


async def test_without_redaction_everything_is_written(tmp_path: Path) -> None:
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        screen.list.go_to("redact")
        await driver.press("space", "x")
        await done(driver)
        assert "not redacted" in driver.words()
        assert "Ruiz" in (tmp_path / f"{LIVE}.md").read_text()


async def test_a_file_that_exists_is_replaced_only_the_second_time(tmp_path: Path) -> None:
    (tmp_path / f"{LIVE}.md").write_text("precious")
    async with console() as driver:
        await open_export(driver, tmp_path)
        await driver.press("x")
        await done(driver)
        assert "exists. Press e again to replace it." in driver.words()
        assert (tmp_path / f"{LIVE}.md").read_text() == "precious"
        await driver.press("down", "up", "x")
        await done(driver)
        assert "Written:" in driver.screen()
        assert (tmp_path / f"{LIVE}.md").read_text() != "precious"


async def test_a_choice_between_the_two_presses_asks_again(tmp_path: Path) -> None:
    (tmp_path / f"{LIVE}.md").write_text("precious")
    async with console() as driver:
        await open_export(driver, tmp_path)
        await driver.press("x")
        await done(driver)
        await driver.press("down", "space", "x")
        await done(driver)
        assert "exists" in driver.words()
        assert (tmp_path / f"{LIVE}.md").read_text() == "precious"


async def test_one_turn_is_asked_for_by_its_number(tmp_path: Path) -> None:
    record_three()
    async with console() as driver:
        await driver.press("ctrl+l")
        await done(driver)
        await driver.press("x")
        screen = driver.app.screen
        assert isinstance(screen, ExportScreen)
        assert screen.list is not None
        screen.choices.folder = str(tmp_path)
        screen.list.go_to("part turn")
        await driver.press("space")
        assert screen.field.value == "3"
        screen.field.value = "9"
        await driver.press("enter")
        assert "Write a turn's number, 1 to 3." in driver.screen()
        screen.field.value = "2"
        await driver.press("enter")
        await driver.press("x")
        await done(driver)
        assert [path.name for path in tmp_path.iterdir()] == [f"{NEWEST}-turn2.md"]


@pytest.mark.parametrize("written", ["x - y", "5 - 2", "-", "1e400 - 2", "nan - 3"])
async def test_seconds_that_are_none_are_refused_in_words(written: str, tmp_path: Path) -> None:
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        screen.list.go_to("part seconds")
        await driver.press("space")
        screen.field.value = written
        await driver.press("enter")
        if written == "-":
            assert (screen.choices.start, screen.choices.end) == ("", "")
        else:
            assert "Write two numbers" in driver.screen() or "before the end" in driver.screen()


async def test_seconds_and_folder_are_taken(tmp_path: Path) -> None:
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        screen.list.go_to("part seconds")
        await driver.press("space")
        screen.field.value = "1.5 - 3"
        await driver.press("enter")
        screen.list.go_to("folder")
        await driver.press("enter")
        screen.field.value = str(tmp_path / "deeper")
        await driver.press("enter")
        screen.list.go_to("write")
        await driver.press("enter")
        await done(driver)
        assert [path.name for path in (tmp_path / "deeper").iterdir()] == [f"{LIVE}-1.5s-3s.md"]


async def test_marks_that_are_not_there_are_a_sentence(tmp_path: Path) -> None:
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        screen.list.go_to("part marks")
        await driver.press("space", "x")
        await done(driver)
        assert "Nothing was marked in this session" in driver.words()
        assert list(tmp_path.iterdir()) == []


async def test_no_format_and_a_folder_that_cannot_be_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    async with console() as driver:
        screen = await open_export(driver, tmp_path / "file" / "below")
        await driver.press("space", "x")
        assert "No format is chosen" in driver.screen()
        await driver.press("space", "x")
        await done(driver)
        assert "file" in driver.words()
        assert screen._writing is False


@pytest.mark.parametrize("written", ["~nobody-of-this-name/x", "x" * 5000, "\x00", " ", "[red]x"])
async def test_a_folder_that_cannot_be_is_a_sentence(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        screen.list.go_to("folder")
        await driver.press("enter")
        screen.field.value = written
        await driver.press("enter")
        await driver.press("x")
        await done(driver)
        assert isinstance(driver.app.screen, ExportScreen)
        assert driver.app.is_running


async def test_a_recording_is_exported_from_where_it_is(tmp_path: Path) -> None:
    folder = record_live().write(tmp_path / "elsewhere", "copied")
    async with console(replay=True, recording=folder / "events.jsonl") as driver:
        driver.app.performer("export")()
        await driver.settle()
        screen = driver.app.screen
        assert isinstance(screen, ExportScreen)
        screen.choices.folder = str(tmp_path / "out")
        await driver.press("x")
        await done(driver)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["copied.md"]
