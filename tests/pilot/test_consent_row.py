"""Rows show the call that waits for consent, and only their keys answer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.console_driver import Driver, console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SendText


async def asks(driver: Driver, ident: str = "q1", *, aloud: str = "", why_not: str = "", **args: Any) -> None:
    driver.link.emit(
        ev.ConsentAsked(
            id=ident,
            tool="pay",
            call_id="c1",
            args=args,
            reason="The agent asks.",
            expires_s=30.0,
            voice=bool(aloud),
            question=aloud,
            voice_reason=why_not,
        )
    )
    await driver.settle()


def shown(driver: Driver) -> str:
    """Return the rows of the question."""
    row = driver.app.console_screen.consent_row
    return "\n".join(driver.rows()[row.region.y : row.region.bottom])


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (60, 24)])
async def test_question_keys_and_arguments_are_readable(width: int, height: int) -> None:
    async with console(size=(width, height)) as driver:
        await asks(driver, euros=7, text="word " * 30 + "end")
        for words in ("MAY THIS RUN?", "A run it", "X refuse", "W always", "pay(euros=7", 'end")'):
            assert words in shown(driver), words


async def test_of_a_long_call_the_rows_say_where_the_rest_is() -> None:
    async with console(size=(80, 24)) as driver:
        await asks(driver, text="word " * 200)
        assert "the rest is in the transcript" in shown(driver)


async def test_yes_that_is_typed_is_a_text_and_no_consent() -> None:
    async with console() as driver:
        await asks(driver)
        driver.clock.advance(2.0)
        await driver.press("i", *"Yes", "enter")
        assert driver.link.orders == [SendText(text="Yes")]


async def test_a_key_that_meant_the_question_before_answers_no_other() -> None:
    async with console() as driver:
        await asks(driver)
        driver.clock.advance(5.0)
        driver.link.emit(ev.ConsentGiven(id="q1", tool="pay", call_id="c1", yes=False, by="time"))
        await asks(driver, "q2")
        await driver.press("A")
        assert driver.link.orders == []
        assert "The question is new" in driver.screen()


async def test_a_question_that_another_screen_has_covered_is_new_once_that_is_closed() -> None:
    async with console() as driver:
        await driver.press("M")
        await asks(driver)
        driver.clock.advance(5.0)
        await driver.press("escape", "A")
        assert driver.link.orders == []
        assert "The question is new" in driver.screen()
        driver.clock.advance(1.0)
        await driver.press("A")
        assert [order.command for order in driver.link.orders] == ["consent.give"]


async def test_hostile_arguments_are_shown_harmlessly() -> None:
    async with console() as driver:
        await asks(driver, text="\x1b[2J[bold]x[/]\u202e")
        assert "[bold]x[/]" in shown(driver)
        assert "\x1b" not in driver.screen()


@pytest.mark.parametrize("width", [80, 60])
async def test_the_row_says_when_a_spoken_answer_counts_and_why_it_does_not(width: int) -> None:
    async with console(size=(width, 24)) as driver:
        await asks(driver, aloud="Shall I pay 7 euros?", euros=7)
        assert "The model asks aloud: Shall I pay 7 euros?" in shown(driver)
        driver.link.emit(ev.ConsentVoice(id="q1", state="listening"))
        await driver.settle()
        assert "Say yes or no: Shall I pay 7 euros?" in shown(driver)
        driver.link.emit(ev.ConsentVoice(id="q1", state="off", reason="“what?” is neither yes nor no"))
        await driver.settle()
        assert "By key only: “what?” is neither yes nor no." in shown(driver)
        assert "A run it" in shown(driver)


async def test_the_row_says_why_the_question_is_not_asked_aloud() -> None:
    async with console(size=(80, 24)) as driver:
        await asks(driver, why_not="the echo canceller is not proven yet", euros=7)
        assert "By key only: the echo canceller is not proven yet." in shown(driver)


async def test_the_row_of_a_tool_that_is_never_asked_about_aloud_says_nothing_of_it() -> None:
    async with console(size=(80, 24)) as driver:
        await asks(driver, euros=7)
        assert "By key only" not in driver.screen()


async def test_a_change_of_the_voice_is_no_new_question_that_has_to_be_read_first() -> None:
    async with console() as driver:
        await asks(driver, aloud="Shall I pay 7 euros?", euros=7)
        driver.clock.advance(1.0)
        driver.link.emit(ev.ConsentVoice(id="q1", state="listening"))
        await driver.settle()
        await driver.press("A")
        assert [order.command for order in driver.link.orders] == ["consent.give"]


async def test_while_one_writes_the_row_says_how_its_keys_are_reached() -> None:
    async with console(size=(80, 24)) as driver:
        await asks(driver, euros=7)
        assert "tab first" not in shown(driver)
        await driver.press("i")
        assert "tab first" in shown(driver)
        driver.clock.advance(1.0)
        await driver.press("A")
        assert driver.link.orders == []
        for key in ("backspace", "tab", "A"):
            await driver.press(key)
        assert [order.command for order in driver.link.orders] == ["consent.give"]
        assert "tab first" not in shown(driver)
