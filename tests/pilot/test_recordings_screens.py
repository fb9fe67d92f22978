"""The screens for recorded sessions and exports find, choose, refuse and report."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import CONTROL
from tests.support.console_driver import Driver, console
from tests.support.recordings import Recorder
from tests.support.recordings_screens import (
    LIVE,
    MIDDLE,
    NEWEST,
    OLDEST,
    chosen,
    done,
    open_export,
    open_sessions,
    record_live,
    record_three,
)

from gemini_live_runtime import paths
from gemini_live_runtime.journal.sessions import catalog, trash
from gemini_live_tui.editors.export import ExportScreen
from gemini_live_tui.pickers.sessions import SessionsScreen


def words(driver: Driver) -> str:
    return " ".join(driver.screen().replace("│", " ").split())


# -- sessions --------------------------------------------------------------------------------------------------------


async def test_while_sessions_are_looked_for_that_is_said_and_keys_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking takes place in a thread: it waits here until the screen was seen."""
    found = asyncio.Event()
    loop = asyncio.get_running_loop()
    original = catalog.list_entries

    def slow(root: Path, **options: Any) -> list[catalog.Entry]:
        asyncio.run_coroutine_threadsafe(found.wait(), loop).result(10)
        return original(root, **options)

    monkeypatch.setattr(catalog, "list_entries", slow)
    record_three()
    async with console() as driver:
        await driver.press("ctrl+l")
        assert "Looking through the recordings" in driver.screen()
        await driver.press("f", "c")
        assert isinstance(driver.app.screen, SessionsScreen)
        assert driver.app.screen.field.value == "c"
        found.set()
        await done(driver)
        assert "concierge" in driver.screen()


async def test_without_sessions_the_screen_says_how_they_come_about() -> None:
    async with console() as driver:
        await open_sessions(driver, recorded=False)
        assert "No session is recorded yet." in driver.screen()
        await driver.press("enter", "delete", "e", "x", "u", "down", "end")
        assert "Traceback" not in driver.screen()
        assert isinstance(driver.app.screen, SessionsScreen)


async def test_a_folder_of_sessions_that_cannot_be_read_is_a_sentence() -> None:
    paths.private_dir(paths.sessions_dir().parent)
    paths.sessions_dir().write_text("not a folder")
    async with console() as driver:
        await open_sessions(driver, recorded=False)
        assert "The recordings cannot be looked through: Not a directory." in driver.screen()
        await driver.press("delete", "e", "x", "u", "tab")
        await done(driver)
        assert isinstance(driver.app.screen, SessionsScreen)


async def test_the_preview_follows_the_cursor() -> None:
    async with console() as driver:
        await open_sessions(driver)
        assert f"{NEWEST} · local-debt_collection" in driver.screen()
        await driver.press("down")
        await done(driver)
        assert f"{MIDDLE} · local-debt_collection" in driver.screen()
        assert "tool: find_account() -> error" in driver.screen()


async def test_a_filter_that_nothing_passes_says_so_and_escape_gives_it_up() -> None:
    async with console() as driver:
        screen = await open_sessions(driver)
        await driver.press("f", *"zzz")
        assert "No session has all of these words" in driver.screen()
        await driver.press("escape")
        assert len(screen.list.rows) == 3
        assert screen.list.has_focus
        await driver.press("f", *"angry", "down", "up")
        await driver.press("enter")
        await done(driver)
        assert list(screen.list.rows) == [MIDDLE]
        assert screen.list.has_focus


async def test_letters_are_written_in_the_field_and_are_commands_outside_of_it() -> None:
    """However fast they come: what is meant for the field deletes nothing."""
    async with console() as driver:
        screen = await open_sessions(driver)
        await driver.press("f", *"dxeuf")
        await driver.press("home")
        await driver.press("d", "d")
        assert screen.field.value == "dddxeuf"
        assert (paths.sessions_dir() / NEWEST).is_dir()


async def test_naming_keeps_the_filter_and_escape_changes_nothing() -> None:
    async with console() as driver:
        screen = await open_sessions(driver)
        await driver.press("f", *"angry", "enter")
        await done(driver)
        await driver.press("e")
        assert screen.field.value == "Angry caller"
        await driver.press("x")
        await driver.press("escape")
        assert screen.field.value == "angry"
        assert catalog.title_of(paths.sessions_dir() / MIDDLE) == "Angry caller"
        await driver.press("e", *" indeed", "enter")
        await done(driver)
        assert catalog.title_of(paths.sessions_dir() / MIDDLE) == "Angry caller indeed"
        assert list(screen.list.rows) == [MIDDLE]


async def test_a_title_that_is_too_long_is_refused_and_can_be_shortened() -> None:
    async with console() as driver:
        screen = await open_sessions(driver)
        await driver.press("e")
        screen.field.value = "x" * 130
        await driver.press("enter")
        assert "at most 120 are kept" in driver.screen()
        assert screen.field.value == "x" * 130
        screen.field.value = ""
        await driver.press("enter")
        await done(driver)
        assert "has no title any more" in driver.screen()


@pytest.fixture
def running() -> Iterator[None]:
    """Keep a session of another engine running."""
    call = Recorder()
    call.start("running")
    writer = call.writer(paths.sessions_dir(), "running")
    yield
    writer.close()


@pytest.mark.usefixtures("running")
async def test_a_running_session_is_neither_deleted_nor_lost() -> None:
    async with console() as driver:
        await open_sessions(driver, recorded=False)
        assert "running" in driver.rows()[3]
        await driver.press("delete")
        await done(driver)
        assert "is running" in driver.screen()
        assert "stop running" in words(driver)


@pytest.mark.usefixtures("running")
async def test_a_running_session_is_returned_to() -> None:
    async with console() as driver:
        await open_sessions(driver, recorded=False)
        await driver.press("enter", "enter")
    outcome = driver.app.return_value
    assert outcome is not None
    assert outcome.session == paths.sessions_dir() / "running"
    assert outcome.replay is None
    assert "Detached" in outcome.message


async def test_ones_own_session_needs_no_other_console() -> None:
    record_live()
    async with console() as driver:
        await open_sessions(driver, recorded=False)
        for key in ("enter", "G"):
            await driver.press(key)
            assert "This console is in that session: esc goes back to it." in driver.screen()


async def test_a_call_that_cannot_go_on_alone_is_not_left_for_another_session() -> None:
    async with console() as driver:
        await open_sessions(driver)
        driver.app.store.hello = replace(driver.app.store.hello, pid=os.getpid())
        await driver.press("enter")
        assert "A call goes on here. The engine runs in this process" in driver.screen()


async def test_keys_pressed_while_the_trash_is_looked_through_are_no_words_of_the_filter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = asyncio.Event()
    loop = asyncio.get_running_loop()
    original = trash.list_trash

    def slow(root: Path) -> list[catalog.Entry]:
        asyncio.run_coroutine_threadsafe(found.wait(), loop).result(10)
        return original(root)

    monkeypatch.setattr(trash, "list_trash", slow)
    async with console() as driver:
        screen = await open_sessions(driver)
        await driver.press("delete")
        await done(driver)
        await driver.press("tab")
        await driver.press("e")
        assert "not in the trash" in driver.screen()
        assert screen.field.value == ""
        found.set()
        await done(driver)
        assert screen.focused is screen.list


async def test_in_the_trash_nothing_is_named_or_deleted_again() -> None:
    async with console() as driver:
        await open_sessions(driver)
        await driver.press("delete")
        await done(driver)
        assert [entry.id for entry in trash.list_trash(paths.sessions_dir())] == [NEWEST]
        await driver.press("tab")
        await done(driver)
        await done(driver)
        await driver.press("e")
        await done(driver)
        assert "not in the trash" in driver.screen()
        await driver.press("delete")
        assert "gemini-live-tui sessions empty-trash" in driver.screen()
        await driver.press("escape")
        await done(driver)
        assert "Trash" not in driver.rows()[0]


async def test_what_cannot_be_read_is_listed_with_the_reason() -> None:
    (paths.private_dir(paths.sessions_dir() / "bad") / "events.jsonl").write_text("Dear diary\n")
    async with console() as driver:
        await open_sessions(driver, recorded=False)
        assert "This is not a session of gemini-live-tui." in driver.rows()[3]
        await driver.press("enter")
        assert "It cannot be shown." in driver.screen()
        await driver.press("x")
        assert "nothing here to export" in driver.screen()


async def test_when_nobody_is_on_the_line_a_session_is_replayed_next() -> None:
    async with console() as driver:
        await open_sessions(driver)
        driver.link.bye()
        await driver.settle()
        await driver.press("down", "enter")
        assert driver.app.return_value is not None
        assert driver.app.return_value.replay == paths.sessions_dir() / MIDDLE


async def test_from_a_recording_one_goes_to_another() -> None:
    async with console(replay=True) as driver:
        await open_sessions(driver)
        await driver.press("end", "enter")
        assert driver.app.return_value is not None
        assert driver.app.return_value.replay == paths.sessions_dir() / OLDEST


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (160, 45)])
async def test_hostile_titles_and_words_are_harmless_at_every_size(size: tuple[int, int]) -> None:
    spoof = f"{HOSTILE}\n[/bold][link=x]"
    call = Recorder()
    call.start("s1", agent=spoof, model=spoof)
    call.begin_turn()
    call.user(spoof)
    call.phase(spoof)
    call.end(spoof)
    folder = call.write(paths.sessions_dir(), "s1")
    (folder / "title.json").write_text(json.dumps({"title": spoof}))
    async with console(size=size) as driver:
        await open_sessions(driver, recorded=False)
        assert CONTROL.findall(driver.screen()) == []
        assert size[0] < 80 or "[bold]markup" in driver.screen()
        await driver.press("x")
        assert isinstance(driver.app.screen, ExportScreen)
        assert CONTROL.findall(driver.screen()) == []


async def test_a_click_moves_the_cursor_and_shows_that_session() -> None:
    async with console() as driver:
        screen = await open_sessions(driver)
        await driver.pilot.click("#sessions-list", offset=(5, 2))
        await done(driver)
        assert chosen(screen) == OLDEST
        assert f"{OLDEST} · local-debt_collection" in driver.screen()


async def test_help_begins_with_the_screen_that_one_is_in() -> None:
    async with console() as driver:
        await open_sessions(driver)
        await driver.press("f1")
        shown = driver.screen()
        assert "Move the session to the trash" in shown
        assert shown.index("Sessions") < shown.index("Everywhere")
        await driver.press("escape")
        assert isinstance(driver.app.screen, SessionsScreen)


# -- export ----------------------------------------------------------------------------------------------------------


async def test_a_session_that_is_not_recorded_says_what_to_do() -> None:
    async with console(started=False) as driver:
        driver.link.start(record="off")
        await driver.settle()
        driver.app.performer("export")()
        await driver.settle()
        assert "This session is not recorded, so there is nothing to export." in words(driver)
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
        assert "A voice cannot be redacted: redaction is off for this export." in words(driver)


async def test_sound_that_was_not_recorded_is_said_to_and_not_chosen() -> None:
    record_live()
    async with console(started=False) as driver:
        driver.link.start(record="text")
        await driver.settle()
        await driver.press("/export wav")
        screen = driver.app.screen
        assert isinstance(screen, ExportScreen)
        assert (screen.choices.formats, screen.choices.redact) == ({"markdown"}, True)
        assert "No sound was recorded in this session." in words(driver)


async def test_formats_are_completed_and_an_unknown_one_names_those_there_are() -> None:
    async with console() as driver:
        await driver.press(*"/export ")
        shown = words(driver)
        assert all(f"{name} format" in shown for name in ("markdown", "text", "json", "wav"))
        await driver.press(*"pdf", "enter")
        assert driver.app.screen is driver.app.console_screen
        assert "There is no format 'pdf'. Known: markdown, text, json, wav." in words(driver)


async def test_without_redaction_everything_is_written(tmp_path: Path) -> None:
    async with console() as driver:
        screen = await open_export(driver, tmp_path)
        assert screen.list is not None
        screen.list.go_to("redact")
        await driver.press("space", "x")
        await done(driver)
        assert "not redacted" in words(driver)
        assert "Ruiz" in (tmp_path / f"{LIVE}.md").read_text()


async def test_a_file_that_exists_is_replaced_only_the_second_time(tmp_path: Path) -> None:
    (tmp_path / f"{LIVE}.md").write_text("precious")
    async with console() as driver:
        await open_export(driver, tmp_path)
        await driver.press("x")
        await done(driver)
        assert "exists. Press e again to replace it." in words(driver)
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
        assert "exists" in words(driver)
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
        assert "Nothing was marked in this session" in words(driver)
        assert list(tmp_path.iterdir()) == []


async def test_no_format_and_a_folder_that_cannot_be_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    async with console() as driver:
        screen = await open_export(driver, tmp_path / "file" / "below")
        await driver.press("space", "x")
        assert "No format is chosen" in driver.screen()
        await driver.press("space", "x")
        await done(driver)
        assert "file" in words(driver)
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


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_the_lowest_row_names_the_way_out_first_and_no_key_by_half(width: int) -> None:
    async with console(size=(width, 24)) as driver:
        await open_sessions(driver)
        parts = driver.rows()[-1].strip().split("  ")
        assert parts[0] == "esc Close"
        assert all(len(part.split()) == 2 for part in parts), parts
