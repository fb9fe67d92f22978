"""The screen in which the operator sends the conversation to a phase."""

from __future__ import annotations

from tests.support.collection import negotiating
from tests.support.console_driver import BY_NAME, console


async def test_an_instruction_that_fails_when_it_is_made_is_said_before_going_there() -> None:
    async with console(size=(80, 24)) as driver:
        negotiating(driver.link)
        error = "The instruction (agent.py:12) raised ValueError: \x1b[31mno price"
        driver.link.foreseen_phase = {"instruction": "", "unknown": (f"instruction of plan: {error}",)}
        await driver.settle()
        driver.app.console_screen.grid.go_to("phase")
        await driver.settle()
        await driver.press(f"{BY_NAME}phase-override")
        said = " ".join(row.strip("│┃ ").strip() for row in driver.rows())
        assert "can't preview: instruction of plan: The instruction (agent.py:12) raised" in said
        assert "ValueError: no price" in said
        assert "\x1b" not in said
