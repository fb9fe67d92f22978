"""Keys typed ahead of a screen that is still opening land where it takes them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.console_driver import console
from tests.support.manual_clock import ManualClock
from textual import events
from textual.widgets import Input

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SendText
from gemini_live_tui.dialogs.help import HelpScreen
from gemini_live_tui.early_keys import MAX_EARLY, EarlyKeys
from gemini_live_tui.editors.state import StateEditor
from gemini_live_tui.pickers.palette import CommandsScreen
from gemini_live_tui.pickers.sessions import SessionsScreen
from gemini_live_tui.session_data.store import Store
from gemini_live_tui.typed_ahead import MAX_WAITING, TypedAhead
from gemini_live_tui.widgets.line_input import LineInput


@pytest.mark.parametrize("pane", ["transcript", "state", "phase", "timeline"])
@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_letters_typed_right_after_help_go_to_its_filter(pane: str, key: str) -> None:
    async with console(size=(120, 40)) as driver:
        driver.app.console_screen.grid.go_to(pane)
        await driver.settle()
        await driver.press(key, *"undo")
        assert isinstance(driver.app.screen, HelpScreen)
        assert driver.app.screen.field.value == "undo"


async def test_letters_typed_right_after_help_leave_the_prompt() -> None:
    async with console() as driver:
        await driver.press("i", *"so", "f1", *"undo")
        assert isinstance(driver.app.screen, HelpScreen)
        assert driver.app.screen.field.value == "undo"
        await driver.press("f1", *" it is")
        assert driver.app.console_screen.prompt.text == "so it is"


async def test_a_screen_opened_closed_and_opened_at_once_takes_the_last_letters() -> None:
    async with console(size=(120, 40)) as driver:
        await driver.press("question_mark", *"un", "escape", "question_mark", *"mute")
        assert isinstance(driver.app.screen, HelpScreen)
        assert driver.app.screen.field.value == "mute"


@pytest.mark.parametrize("key", ["ctrl+p", "f3"])
async def test_letters_typed_right_after_the_palette_search_it(key: str) -> None:
    async with console() as driver:
        await driver.press("i", key, *"theme")
        assert isinstance(driver.app.screen, CommandsScreen)
        assert driver.app.screen.query_one(Input).value == "theme"


async def test_letters_typed_right_after_search_go_to_it() -> None:
    async with console() as driver:
        await driver.press("ctrl+f", *"salad")
        assert driver.app.console_screen.query_one("#transcript-search", LineInput).value == "salad"


async def test_a_value_typed_right_after_edit_goes_to_the_editor() -> None:
    async with console(size=(120, 40)) as driver:
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        await driver.press("a", *"app")
        assert isinstance(driver.app.screen, StateEditor)
        assert "app" in driver.screen()


async def test_a_filter_of_a_list_that_is_still_opening_gets_its_letters() -> None:
    async with console(size=(120, 40)) as driver:
        await driver.press("ctrl+l", "f", *"clin")
        assert isinstance(driver.app.screen, SessionsScreen)
        assert driver.app.screen.field.value == "clin"


async def test_only_so_many_keys_wait_for_a_screen() -> None:
    screen = SimpleNamespace(is_mounted=False, call_later=lambda *_: None)
    app: Any = SimpleNamespace(screen=screen, call_next=None)
    taken: list[str] = []

    async def forward(event: events.Key) -> None:
        taken.append(event.key)

    typed = TypedAhead(app, forward)
    for _ in range(MAX_WAITING + 5):
        await typed.take(events.Key("a", "a"))
    assert taken == []
    screen.is_mounted = True
    await typed.take(events.Key("b", "b"))
    assert taken == ["a"] * MAX_WAITING


async def test_a_sentence_typed_before_the_session_has_begun_is_in_the_prompt_when_it_begins_in_text_mode() -> None:
    async with console(started=False) as driver:
        await driver.pilot.pause()
        assert driver.app.link is not None
        driver.tap(*"Mend my z1 dim tasks", "backspace")
        await driver.pilot.pause()
        assert driver.app.screen is driver.app.console_screen
        driver.link.start()
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        driver.link.state("text")
        await driver.settle()
        await driver.settle()
        assert driver.app.console_screen.prompt.text == "Mend my z1 dim task"
        driver.tap("enter")
        await driver.settle()
        assert driver.link.orders == [SendText(text="Mend my z1 dim task")]
        assert driver.app.screen is driver.app.console_screen


async def test_a_message_that_was_sent_before_the_session_has_begun_is_sent_when_it_begins() -> None:
    async with console(started=False) as driver:
        await driver.pilot.pause()
        driver.tap(*"dim", "enter", *"Zoo")
        await driver.pilot.pause()
        driver.link.start(mode="text")
        await driver.settle()
        await driver.settle()
        assert driver.link.orders == [SendText(text="dim")]
        assert driver.app.console_screen.prompt.text == "Zoo"


async def test_other_keys_act_while_letters_wait_and_a_session_that_fails_gets_none() -> None:
    async with console(started=False) as driver:
        await driver.pilot.pause()
        driver.tap(*"dM", "f1")
        await driver.pilot.pause()
        assert isinstance(driver.app.screen, HelpScreen)
        driver.tap("escape")
        driver.link.die("The engine process ended.")
        await driver.pilot.pause()
        for _ in range(3):
            driver.app.frames.flush()
            await driver.pilot.pause(0)
        assert driver.app.screen is driver.app.console_screen
        assert driver.app.early_keys.release() == ()


def test_only_so_many_letters_wait_for_a_session() -> None:
    store = Store(ManualClock(), lambda: None)
    keys = EarlyKeys(store)
    letter = events.Key("a", "a")
    assert not keys.keep(events.Key("enter", None))
    assert all(keys.keep(letter) for _ in range(MAX_EARLY + 5))
    store.view.word = "text"
    assert len(keys.release()) == MAX_EARLY
    assert not keys.keep(letter)
