"""A row tells what the model says next, and why it waits."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.console_driver import Driver, console

from gemini_live_runtime import events as ev


def queued(number: int, reason: str, priority: int = 5) -> ev.SpeechChanged:
    return ev.SpeechChanged(id=f"speech-{number}", status="queued", source="prompt", reason=reason, priority=priority)


async def passes(driver: Driver, seconds: float) -> None:
    """Let time pass and the screen follow."""
    driver.clock.advance(seconds)
    driver.app.frames.flush()
    await driver.settle()


def row(driver: Driver) -> str:
    """Return the row, "" without one."""
    return next((line.strip() for line in driver.rows() if line.startswith(" NEXT ")), "")


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("hearing", "you have finished"),
        ("thinking", "the answer is said"),
        ("speaking", "the model has finished"),
        ("connecting", "there is a connection"),
        ("listening", "the pause between speeches is over"),
    ],
)
async def test_a_speech_that_waits_is_shown_with_what_it_waits_for(word: Any, reason: str) -> None:
    async with console(size=(100, 30)) as driver:
        driver.link.emit(ev.SessionState(word=word), queued(1, "greeting"))
        await driver.settle()
        assert row(driver) == ""
        await passes(driver, 0.6)
        assert row(driver) == f"NEXT  greeting · waits until {reason}"


async def test_a_speech_that_the_model_was_asked_for_waits_no_longer() -> None:
    async with console(size=(100, 30)) as driver:
        driver.link.emit(queued(1, "greeting"))
        await driver.settle()
        await passes(driver, 0.6)
        assert row(driver)
        driver.link.emit(ev.SpeechChanged(id="speech-1", status="asked", source="prompt", reason="greeting"))
        await driver.settle()
        assert row(driver) == ""


async def test_the_speech_of_the_highest_priority_is_next_and_the_others_are_counted() -> None:
    async with console(size=(100, 30)) as driver:
        driver.link.emit(queued(1, "greeting"), queued(2, "the oven is ready", 0), queued(3, "fire alarm", 10))
        await driver.settle()
        await passes(driver, 0.6)
        assert row(driver) == "NEXT  fire alarm · waits until the pause between speeches is over · 2 more"


@pytest.mark.parametrize("width", [60, 72, 80, 100])
async def test_the_row_fits_and_keeps_the_name(width: int) -> None:
    async with console(size=(width, 24)) as driver:
        driver.link.emit(ev.SessionState(word="hearing"), queued(1, "a very long reason " * 4), queued(2, "another"))
        await driver.settle()
        await passes(driver, 0.6)
        assert row(driver).startswith("NEXT  a very")
        assert len(row(driver)) <= width


async def test_hostile_reasons_are_shown_harmlessly() -> None:
    async with console() as driver:
        driver.link.emit(queued(1, "\x1b[2J[bold]x[/]"))
        await driver.settle()
        await passes(driver, 0.6)
        assert "\x1b" not in driver.screen()
        assert "[bold]x[/]" in row(driver)
