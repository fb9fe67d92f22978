"""The devices' screen: choosing before a session and during a call."""

from __future__ import annotations

import pytest
from tests.support.console_driver import Driver, console
from tests.support.set_up_doubles import DEVICES, FakeStarter, Helpers, before_a_session, saved_settings, use_doubles
from textual.widgets import OptionList

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SetDevices

pytestmark = pytest.mark.usefixtures("helpers")


async def test_devices_stand_below_each_other_at_80_columns_and_beside_each_other_from_100_on() -> None:
    for size, beside in (((80, 24), False), ((100, 30), True)):
        async with before_a_session("devices", size=size) as newcomer:
            assert ("Speaker" in newcomer.row(" Microphone  ")) is beside


async def test_the_level_is_that_of_the_microphone_under_the_cursor(helpers: Helpers) -> None:
    async with before_a_session("devices") as newcomer:
        helper = helpers.last
        assert helper.orders[-1] == ("levels", "", "")
        helper.level(-18.0, speech=True)
        await newcomer.settle()
        assert "-18 dB voice" in newcomer.screen()
        await newcomer.press("down")
        assert helper.orders[-1] == ("levels", "Built-in Audio", "")
        helper.problem("Microphone 'Built-in Audio' is in use by another program.")
        await newcomer.settle()
        assert "in use by another program" in newcomer.screen()
    assert helper.closed


async def test_enter_saves_one_side_after_the_other_and_the_next_start_has_both() -> None:
    starter = FakeStarter()
    async with before_a_session("devices", starter=starter) as newcomer:
        await newcomer.press("down", "down", "enter")
        assert "Microphone: USB Headset. Saved." in newcomer.screen()
        await newcomer.press("end", "enter")
        assert "Speaker: HDMI. Saved." in newcomer.screen()
    kept = saved_settings()
    assert (kept.audio_input, kept.audio_output) == ("USB Headset", "HDMI")
    assert starter.forgotten == ["audio.input", "audio.output"]


async def test_a_variable_that_overrides_the_choice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_LIVE_TUI_AUDIO_INPUT", "HDMI")
    async with before_a_session("devices", size=(120, 36)) as newcomer:
        await newcomer.press("home", "enter")
        assert "GEMINI_LIVE_TUI_AUDIO_INPUT in the environment overrides" in newcomer.screen()


async def test_without_devices_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    use_doubles(monkeypatch, devices=(), problem="PortAudio is not installed, so there is no sound.")
    async with before_a_session("devices") as newcomer:
        assert "PortAudio is not installed" in newcomer.screen()
        assert "no microphone was found" in newcomer.screen()


async def _choosing(driver: Driver, *keys: str) -> None:
    driver.app.action_open("devices")
    for press in ((), keys):
        await driver.press(*press)
        await driver.app.workers.wait_for_complete()
        await driver.settle()


async def test_during_a_call_the_devices_change_at_once_and_are_kept_when_that_went_well() -> None:
    async with console() as driver:
        await _choosing(driver, "down", "down", "enter")
        assert driver.link.orders == [SetDevices(input="USB Headset", output="")]
        assert "Changing the devices" in driver.screen()
        assert saved_settings().audio_input == ""
        opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
        driver.link.emit(ev.AudioOpened(input="USB Headset", output="Speakers", **opened))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "Microphone: USB Headset. Saved. The call goes on with it." in driver.screen()
        assert saved_settings().audio_input == "USB Headset"
        await driver.press("escape")
        assert driver.app.store._listeners.get(ev.AudioOpened, []) == []


async def test_the_open_dialog_follows_a_device_that_is_lost_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
    async with console() as driver:
        await _choosing(driver)
        use_doubles(monkeypatch, devices=DEVICES[:1])
        driver.link.emit(ev.AudioLost(direction="input", reason="The microphone 'USB Headset' was disconnected."))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "was disconnected" in driver.screen()
        assert "44.1 kHz" not in driver.screen()
        use_doubles(monkeypatch)
        driver.link.emit(ev.AudioOpened(input="USB Headset", output="Speakers", again=True, **opened))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "The call uses USB Headset and Speakers." in driver.screen()
        assert "44.1 kHz" in driver.screen()


async def test_a_device_that_the_engine_refuses_is_not_kept_and_the_reason_is_said() -> None:
    async with console() as driver:
        driver.link.refusing = "Microphone 'USB Headset' is in use by another program. The devices stay as they were."
        await _choosing(driver, "down", "down", "enter")
        assert "The devices stay as they were" in driver.words()
        assert saved_settings().audio_input == ""


async def test_a_microphone_that_the_call_does_not_share_is_no_fault(helpers: Helpers) -> None:
    async with console() as driver:
        opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
        driver.link.emit(ev.AudioOpened(input="USB Headset", output="Speakers", **opened))
        await driver.settle()
        await _choosing(driver)
        for press in ((), ("down",), ("down",)):
            await driver.press(*press)
            helpers.last.problem("Microphone is in use by another program.")
            await driver.settle()
            said = "the call uses it" in driver.screen()
            assert said is ("Built-in Audio" not in _under_the_cursor(driver))


def _under_the_cursor(driver: Driver) -> str:
    options = driver.app.screen.query_one("#devices-input", OptionList)
    assert options.highlighted is not None
    return str(options.get_option_at_index(options.highlighted).prompt)
