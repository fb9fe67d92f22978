"""The tests of microphone and echo: levels, verdicts, and the call's microphone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.console_driver import console
from tests.support.set_up_doubles import Helpers, before_a_session

from gemini_live_runtime.commands import SetMicrophone

pytestmark = pytest.mark.usefixtures("helpers")


async def test_the_microphone_test_shows_levels_time_and_a_verdict(helpers: Helpers) -> None:
    async with before_a_session("microphone-test") as newcomer:
        await newcomer.press("enter")
        helper = helpers.last
        helper.level(-22.0, left_s=3.2)
        await newcomer.settle()
        assert "3 s left" in newcomer.screen()
        assert "-22 dB" in newcomer.screen()
        await newcomer.press("enter")
        assert helper.orders == [("microphone", "", "")]
        helper.result("fair", "Your voice is very quiet.", "Come closer", voice_db=-50, floor_db=-60, peak_db=-40)
        await newcomer.settle()
        for words in (
            "FAIR  Your voice is very quiet.",
            "Come closer.",
            "voice -50 dBFS, room -60 dBFS, peak -40 dBFS",
        ):
            assert words in newcomer.screen()
        await newcomer.press("enter")
        assert len(helper.orders) == 2


async def test_the_echo_test_says_what_comes_back_and_what_is_taken_out(helpers: Helpers) -> None:
    async with before_a_session("echo-test", size=(120, 36)) as newcomer:
        await newcomer.press("enter")
        helpers.last.level(-30.0, out_db=-20.0, left_s=4.0)
        await newcomer.settle()
        assert "Playing: please be quiet. 4 s left." in newcomer.screen()
        helpers.last.result("good", "The echo is taken out.", return_db=-12.3, reduction_db=31.0)
        await newcomer.settle()
        assert "echo return -12 dB" in newcomer.screen()
        assert "31 dB of it is taken out" in newcomer.screen()


async def test_a_test_without_devices_says_what_is_missing_and_can_be_tried_again(helpers: Helpers) -> None:
    async with before_a_session("echo-test") as newcomer:
        await newcomer.press("enter")
        helpers.last.problem("No sound device was found.")
        await newcomer.settle()
        assert "No sound device was found." in newcomer.screen()
        await newcomer.press("enter")
        assert len(helpers.last.orders) == 2


async def test_what_a_device_is_called_cannot_harm_the_screen(helpers: Helpers) -> None:
    from tests.support.canaries import HOSTILE

    async with before_a_session("echo-test") as newcomer:
        await newcomer.press("enter")
        helpers.last.problem(f"The microphone {HOSTILE} went away.")
        await newcomer.settle()
        text: Any = newcomer.screen()
        assert "\x1b" not in text
        assert "[bold]markup[/bold]" in newcomer.words()


async def test_leaving_a_test_in_a_call_gives_the_microphone_back(helpers: Helpers) -> None:
    async with console() as driver:
        driver.app.action_open("microphone-test")
        await driver.settle()
        await driver.press("enter")
        assert driver.link.orders == [SetMicrophone(on=False)]
        await driver.press("escape")
        assert driver.link.orders[-1] == SetMicrophone(on=True)
        assert helpers.last.closed


async def test_a_muted_microphone_stays_muted_after_a_test(helpers: Helpers) -> None:
    async with console() as driver:
        await driver.press("space")
        driver.app.action_open("echo-test")
        await driver.settle()
        await driver.press("enter")
        await driver.press("escape")
        assert driver.link.orders == [SetMicrophone(on=False)]
