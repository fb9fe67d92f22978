"""The screen of recorded sessions finds, chooses, names and deletes them."""

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
from tests.support.console_driver import console
from tests.support.recordings import Recorder
from tests.support.recordings_screens import (
    MIDDLE,
    NEWEST,
    OLDEST,
    chosen,
    done,
    open_sessions,
    record_live,
    record_three,
)

from gemini_live_runtime import paths
from gemini_live_runtime.journal.sessions import catalog, trash
from gemini_live_tui.editors.export import ExportScreen
from gemini_live_tui.pickers.sessions import SessionsScreen


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


async def test_in_a_field_the_lowest_row_names_the_keys_that_work_there() -> None:
    async with console() as driver:
        await open_sessions(driver)
        keys = driver.rows()[-1]
        await driver.press("f")
        assert driver.rows()[-1].split() == ["enter", "To", "the", "list", "esc", "Clear", "filter"]
        await driver.press("escape", "e")
        assert driver.rows()[-1].split() == ["enter", "Keep", "title", "esc", "Keep", "the", "old", "one"]
        await driver.press("escape")
        assert driver.rows()[-1] == keys


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
        assert "stop running" in driver.words()


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


async def test_in_a_small_terminal_no_remark_of_a_session_is_cut_within_a_word() -> None:
    record_three()
    for name in (NEWEST, MIDDLE, OLDEST):
        (paths.sessions_dir() / name / "model.wav").write_bytes(bytes(4096))
    async with console(size=(80, 24)) as driver:
        await open_sessions(driver, recorded=False)
        noted = [row for row in driver.rows() if "errors" in row or "sound" in row]
        assert noted
        assert not any(cut in row for row in noted for cut in ("so…", "sou…", "soun…"))


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


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_the_lowest_row_names_the_way_out_first_and_no_key_by_half(width: int) -> None:
    async with console(size=(width, 24)) as driver:
        await open_sessions(driver)
        parts = driver.rows()[-1].strip().split("  ")
        assert parts[0] == "esc Close"
        assert all(len(part.split()) == 2 for part in parts), parts
