"""Setting up: each screen opens over the call, and the call goes on."""

from __future__ import annotations

import pytest
from tests.support.action_checks import check
from tests.support.console_driver import Driver
from tests.support.set_up_doubles import DEVICES, use_doubles

from gemini_live_runtime.commands import SetDevices, SetMicrophone
from gemini_live_runtime.events import AudioOpened
from gemini_live_tui.config import load
from gemini_live_tui.dialogs.api_key import KeyScreen
from gemini_live_tui.dialogs.audio_test import EchoTest, MicrophoneTest
from gemini_live_tui.dialogs.vertex import VertexScreen
from gemini_live_tui.pickers.devices import DevicesScreen
from gemini_live_tui.pickers.gallery import GalleryScreen


async def _opens(driver: Driver, key: str, screen: type, *said: str) -> None:
    await driver.press(key)
    await driver.app.workers.wait_for_complete()
    await driver.settle()
    assert isinstance(driver.app.screen, screen)
    for words in said:
        assert words in driver.screen()


async def _closes(driver: Driver) -> None:
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen
    assert driver.app.store.live


@check("agents")
async def _agents(driver: Driver, key: str) -> None:
    await _opens(driver, key, GalleryScreen, "debt_collection", "9 phases, 2 tools, 2 watchers")
    await _closes(driver)


@check("devices")
async def _devices(driver: Driver, key: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        helpers = use_doubles(patch)
        await _opens(driver, key, DevicesScreen, "USB Headset", "44.1 kHz", "HDMI")
        assert helpers.last.orders[-1] == ("levels", "", "")
        await _closes(driver)
        assert helpers.last.closed


@check("devices-rescan")
async def _rescan(driver: Driver, key: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        use_doubles(patch, devices=DEVICES[:1])
        driver.app.action_open("devices")
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "USB Headset" not in driver.screen()
        use_doubles(patch)
        await driver.press(key)
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "USB Headset" in driver.screen()


@check("devices-headphones")
async def _headphones(driver: Driver, key: str) -> None:
    opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
    with pytest.MonkeyPatch.context() as patch:
        use_doubles(patch)
        driver.app.action_open("devices")
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "(headphones)" not in driver.screen()
        await driver.press(key)
        assert driver.link.orders[-1] == SetDevices(input="", output="", headphones=True)
        driver.link.emit(AudioOpened(input="USB Headset", output="USB Headset", **opened))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "(headphones)" in driver.screen()
        assert load({}).config.headphones
        await _closes(driver)


@check("test-microphone")
async def _test_microphone(driver: Driver, key: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        use_doubles(patch)
        await _opens(driver, key, MicrophoneTest, "Press enter to begin", "The call does not hear it")
        await _closes(driver)


@check("test-echo")
async def _test_echo(driver: Driver, key: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        use_doubles(patch)
        await _opens(driver, key, EchoTest, "Plays a melody", "speaker")
        await _closes(driver)


@check("sound-test")
async def _sound_test(driver: Driver, key: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        helpers = use_doubles(patch)
        driver.app.action_open("microphone-test")
        await driver.settle()
        await driver.press(key)
        await driver.app.workers.wait_for_complete()
        assert helpers.last.orders == [("microphone", "", "")]
        assert driver.link.orders == [SetMicrophone(on=False)]
        helpers.last.result("good", "Your voice is clear.", voice_db=-20.0, floor_db=-60.0, peak_db=-9.0)
        await driver.settle()
        assert "GOOD  Your voice is clear." in driver.screen()
        assert driver.link.orders[-1] == SetMicrophone(on=True)


@check("api-key")
async def _api_key(driver: Driver, key: str) -> None:
    await _opens(driver, key, KeyScreen, "aistudio.google.com/apikey", "the system's keyring")
    await _closes(driver)


@check("vertex")
async def _vertex(driver: Driver, key: str) -> None:
    await _opens(driver, key, VertexScreen, "Project", "us-central1")
    await _closes(driver)
