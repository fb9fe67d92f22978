"""Commands in the prompt: suggested while they are written, never sent by mistake."""

from __future__ import annotations

import pytest
from tests.support.console_driver import Driver, console
from textual.events import MouseScrollDown

from gemini_live_runtime.commands import SendText, SetMicrophone


def suggestions(driver: Driver) -> list[str]:
    """Return the rows of the list above the prompt."""
    rows = driver.rows()
    shown = driver.app.console_screen.completions
    if not shown.display:
        return []
    region = shown.region
    return [row[2:-1].strip() for row in rows[region.y + 1 : region.bottom - 1]]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_slash_opens_a_list_above_the_prompt_that_narrows_as_one_writes(size: tuple[int, int]) -> None:
    async with console(size=size) as driver:
        await driver.press("/")
        screen = driver.app.console_screen
        assert len(suggestions(driver)) == 6
        assert screen.completions.region.bottom == screen.query_one("#prompt-pane").region.y
        await driver.press(*"spe")
        assert suggestions(driver) == ["/speaker  Mute the speaker, or unmute it"]
        await driver.press(*"x")
        assert suggestions(driver) == []


async def test_down_and_enter_choose_and_carry_out() -> None:
    async with console() as driver:
        await driver.press(*"/mu", "down", "enter")
        assert driver.link.orders == [SetMicrophone(on=False)]
        assert suggestions(driver) == []
        assert driver.app.focused is driver.app.console_screen.prompt


async def test_enter_on_a_command_that_needs_more_only_writes_it_out() -> None:
    async with console() as driver:
        await driver.press(*"/sa", "down", "enter")
        assert driver.app.console_screen.prompt.text == "/say "
        assert suggestions(driver) == ["/say TEXT  Send a line as it is, also one that begins with a slash"]


async def test_the_list_turns_round_and_says_where_one_is() -> None:
    async with console() as driver:
        await driver.press("/", "up")
        completions = driver.app.console_screen.completions
        assert completions.cursor == len(completions.suggestions) - 1
        assert f"{len(completions.suggestions)} of {len(completions.suggestions)}" in driver.screen()
        await driver.press("down")
        assert completions.cursor == 0


async def test_escape_closes_the_list_first_and_keeps_what_was_written() -> None:
    async with console() as driver:
        await driver.press(*"/mu")
        await driver.press("escape")
        assert suggestions(driver) == []
        assert driver.app.console_screen.prompt.text == "/mu"
        assert driver.app.focused is driver.app.console_screen.prompt
        await driver.press("escape")
        assert driver.app.focused is driver.app.console_screen.prompt


async def test_tab_without_a_command_leaves_the_prompt() -> None:
    async with console() as driver:
        driver.link.exchange("Question", "Answer")
        await driver.settle()
        await driver.press("i", *"hello", "tab")
        assert driver.app.focused is not driver.app.console_screen.prompt
        assert driver.app.console_screen.prompt.text == "hello"


async def test_a_click_takes_a_suggestion_and_the_wheel_moves_among_them() -> None:
    async with console() as driver:
        await driver.press(*"/mu")
        await driver.pilot.click("#completions", offset=(3, 1))
        await driver.settle()
        assert driver.link.orders == [SetMicrophone(on=False)]
        await driver.press("/")
        await driver.pilot._post_mouse_events([MouseScrollDown], "#completions", offset=(3, 1))
        await driver.settle()
        assert driver.app.console_screen.completions.cursor == 0


async def test_a_message_that_looks_like_a_command_is_not_sent_silently() -> None:
    async with console() as driver:
        await driver.press(*"/mtue", "enter")
        assert driver.link.orders == []
        assert driver.app.console_screen.prompt.text == "/mtue"
        assert "Unknown command /mtue. Did you mean /mute?" in driver.screen()


async def test_two_slashes_send_a_message_that_begins_with_one() -> None:
    async with console() as driver:
        await driver.press(*"//etc/hosts", "enter")
        assert driver.link.orders == [SendText(text="/etc/hosts")]


async def test_a_refused_message_comes_back_as_it_was_written() -> None:
    async with console() as driver:
        driver.link.refusing = "The model takes no text."
        await driver.press(*"//etc", "enter")
        assert driver.app.console_screen.prompt.text == "//etc"
        await driver.press("ctrl+a", "ctrl+k")
        await driver.press("/say /etc")
        assert driver.app.console_screen.prompt.text == "/say /etc"


async def test_an_unknown_theme_names_the_known_ones_and_changes_nothing() -> None:
    async with console() as driver:
        await driver.press("/theme nosuch")
        assert driver.app.theme == "ember"
        assert "There is no theme 'nosuch'. Known: ansi, colour-blind, ember" in driver.screen()


async def test_themes_are_suggested_by_name() -> None:
    async with console() as driver:
        await driver.press(*"/theme ")
        assert [row.split()[0] for row in suggestions(driver)] == driver.app.themes.names[:6]


async def test_a_value_that_is_no_json_says_where_and_loses_nothing() -> None:
    async with console() as driver:
        await driver.press("/set app:plan = gold")
        assert driver.link.orders == []
        assert driver.app.console_screen.prompt.text == "/set app:plan = gold"
        assert "The value is no JSON at line 1, column 1" in driver.screen()
        await driver.press(*["backspace"] * 4)
        await driver.press(*'"gold"', "enter")
        assert len(driver.link.orders) == 1
