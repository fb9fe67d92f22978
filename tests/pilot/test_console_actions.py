"""Every action of the table: what it sends, and what the screen then says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.support.console_driver import Driver, console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import HangUp, Interrupt, SendText, SetMicrophone, SetMode, SetSpeaker
from gemini_live_tui.actions import ACTIONS, BY_ID, keys_of
from gemini_live_tui.screens.help import HelpScreen
from gemini_live_tui.screens.palette import CommandsScreen

Check = Callable[[Driver, str], Awaitable[None]]
CHECKS: dict[str, Check] = {}


def check(ident: str) -> Callable[[Check], Check]:
    def register(function: Check) -> Check:
        CHECKS[ident] = function
        return function

    return register


@check("text-mode")
async def _text_mode(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.link.orders == [SetMode(mode="text")]
    assert driver.app.focused is driver.app.console_screen.prompt
    assert "TEXT" in driver.rows()[0]
    assert "off (text)" in driver.rows()[1]
    await driver.press(key)
    assert driver.link.orders[-1] == SetMode(mode="voice")
    assert driver.app.focused is driver.app.console_screen.transcript
    assert "LISTENING" in driver.rows()[0]


@check("mute")
async def _mute(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.link.orders == [SetMicrophone(on=False)]
    assert "MIC MUTED" in driver.rows()[1]
    await driver.press(key)
    assert driver.link.orders[-1] == SetMicrophone(on=True)
    assert "MUTED" not in driver.rows()[1]


@check("mute-speaker")
async def _mute_speaker(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.link.orders == [SetSpeaker(on=False)]
    assert "OUT MUTED" in driver.rows()[1]


@check("interrupt")
async def _interrupt(driver: Driver, key: str) -> None:
    driver.link.begin_turn()
    driver.link.model("A very long answer")
    driver.link.emit(ev.PlaybackStarted(), ev.SessionState(word="speaking"))
    await driver.settle()
    await driver.press(key)
    assert driver.link.orders == [Interrupt()]


@check("send")
async def _send(driver: Driver, key: str) -> None:
    await driver.press("h", "i")
    await driver.press(key)
    assert driver.link.orders == [SendText(text="hi")]
    assert driver.app.console_screen.prompt.text == ""
    assert "you    hi" in driver.screen()


@check("newline")
async def _newline(driver: Driver, key: str) -> None:
    await driver.press("a", key, "b", "enter")
    assert driver.link.orders == [SendText(text="a\nb")]


@check("history-previous")
async def _history_previous(driver: Driver, key: str) -> None:
    await driver.press("f2", "o", "n", "e", "enter", "t", "w", "o", "enter")
    await driver.press(key)
    assert driver.app.console_screen.prompt.text == "two"
    await driver.press(key)
    assert driver.app.console_screen.prompt.text == "one"


@check("history-next")
async def _history_next(driver: Driver, key: str) -> None:
    await driver.press("o", "n", "e", "enter", "d", "r", "a", "f", "t")
    await driver.press("up")
    assert driver.app.console_screen.prompt.text == "one"
    await driver.press(key)
    assert driver.app.console_screen.prompt.text == "draft"


async def _filled(driver: Driver) -> int:
    for number in range(40):
        driver.link.exchange(f"Question {number}", f"Answer {number}")
    await driver.settle()
    return driver.app.console_screen.transcript.scroll_offset.y


@check("scroll-up")
async def _scroll_up(driver: Driver, key: str) -> None:
    end = await _filled(driver)
    await driver.press(key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end - 1
    assert "1 line below" in driver.screen()


@check("scroll-down")
async def _scroll_down(driver: Driver, key: str) -> None:
    end = await _filled(driver)
    await driver.press("up", "up", key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end - 1


@check("page-up")
async def _page_up(driver: Driver, key: str) -> None:
    end = await _filled(driver)
    await driver.press("x", key)
    assert driver.app.console_screen.transcript.scroll_offset.y < end - 5
    assert driver.app.console_screen.prompt.text == "x"


@check("page-down")
async def _page_down(driver: Driver, key: str) -> None:
    end = await _filled(driver)
    await driver.press("pageup", key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end


@check("top")
async def _top(driver: Driver, key: str) -> None:
    await _filled(driver)
    await driver.press(key)
    assert driver.app.console_screen.transcript.scroll_offset.y == 0
    assert "Question 0" in driver.screen()


@check("follow")
async def _follow(driver: Driver, key: str) -> None:
    await _filled(driver)
    await driver.press("home")
    assert "lines below" in driver.screen()
    await driver.press(key)
    assert "following" in driver.screen()
    assert "Answer 39" in driver.screen()


@check("copy")
async def _copy(driver: Driver, key: str) -> None:
    await driver.press("h", "e", "y", "shift+home")
    await driver.press(key)
    assert driver.app.clipboard == "hey"
    assert "Copied 3 characters" in driver.screen()


@check("help")
async def _help(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert isinstance(driver.app.screen, HelpScreen)
    assert "Mute the microphone" in driver.screen()
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen


@check("palette")
async def _palette(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert isinstance(driver.app.screen, CommandsScreen)
    await driver.press(*"mute")
    await driver.app.workers.wait_for_complete()
    await driver.press("enter")
    await driver.press("enter")
    assert driver.link.orders == [SetMicrophone(on=False)]


@check("theme")
async def _theme(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.app.theme == "high-contrast"
    assert "Theme high-contrast" in driver.screen()


@check("quit")
async def _quit(driver: Driver, key: str) -> None:
    await driver.pilot.press(key)
    assert driver.app._hanging_up is not None
    await driver.app._hanging_up
    assert driver.link.orders == [HangUp()]
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 0


PAIRS = [(action.id, key) for action in ACTIONS for key in keys_of(action, {})]


@pytest.mark.parametrize(("ident", "key"), PAIRS, ids=[f"{ident}-{key}" for ident, key in PAIRS])
async def test_every_key_of_every_action_does_what_the_table_says(ident: str, key: str) -> None:
    async with console() as driver:
        await CHECKS[ident](driver, key)


def test_no_action_of_the_table_is_without_a_check() -> None:
    assert set(CHECKS) == set(BY_ID)


PALETTE: dict[str, Callable[[Driver], bool]] = {
    "text-mode": lambda driver: driver.link.orders == [SetMode(mode="text")],
    "mute": lambda driver: driver.link.orders == [SetMicrophone(on=False)],
    "mute-speaker": lambda driver: driver.link.orders == [SetSpeaker(on=False)],
    "interrupt": lambda driver: driver.link.orders == [Interrupt()],
    "top": lambda driver: driver.app.console_screen.transcript.scroll_offset.y == 0,
    "follow": lambda driver: driver.app.console_screen.transcript.following,
    "help": lambda driver: isinstance(driver.app.screen, HelpScreen),
    "theme": lambda driver: driver.app.theme == "high-contrast",
    "quit": lambda driver: driver.link.orders == [HangUp()],
}


@pytest.mark.parametrize("ident", [action.id for action in ACTIONS if action.palette])
async def test_an_action_chosen_by_name_does_the_same_as_its_key(ident: str) -> None:
    async with console() as driver:
        await _filled(driver)
        driver.link.emit(ev.PlaybackStarted())
        await driver.settle()
        if ident == "follow":
            await driver.press("home")
        assert not PALETTE[ident](driver)
        driver.app.performer(ident)()
        await driver.settle()
        assert PALETTE[ident](driver)
