"""Reading."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.support.action_checks import check, filled
from tests.support.console_driver import Driver

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Interrupt, SetMicrophone


@check("scroll-up")
async def _scroll_up(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press(key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end - 1
    assert "1 line below" in driver.screen()


@check("scroll-down")
async def _scroll_down(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press("up", "up", key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end - 1


@check("page-up")
async def _page_up(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press("i", "x", key)
    assert driver.app.console_screen.transcript.scroll_offset.y < end - 5
    assert driver.app.console_screen.prompt.text == "x"


@check("page-down")
async def _page_down(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press("pageup", key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end


@check("top")
async def _top(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press(key)
    assert driver.app.console_screen.transcript.scroll_offset.y == 0
    assert "Question 0" in driver.screen()


@check("follow")
async def _follow(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("home")
    assert "lines below" in driver.screen()
    await driver.press(key)
    assert "following" in driver.screen()
    assert "Answer 39" in driver.screen()


@check("search")
async def _search(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("4")
    await driver.press(key)
    assert driver.app.focused is driver.app.console_screen.body.search
    assert "esc End search" in driver.rows()[-1]
    await driver.press(*"question 7")
    assert "1 of 1 · enter n N" in driver.screen()
    assert "Question 7" in driver.screen()
    await driver.press("escape")
    assert driver.app.focused is driver.app.console_screen.transcript
    assert not driver.app.console_screen.body.search.display
    assert driver.link.orders == []


@check("search-older")
async def _search_older(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press(key)
    assert "Nothing is searched for yet." in driver.screen()
    assert "Find" not in driver.rows()[-1]
    await driver.press("ctrl+f", *"answer 1", "enter")
    assert "found 1 of 11" in driver.screen()
    assert "n Find older" in driver.rows()[-1]
    assert "Answer 19" in driver.screen()
    await driver.press(key, key)
    assert "found 3 of 11" in driver.screen()
    assert "Answer 17" in driver.screen()


@check("search-newer")
async def _search_newer(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("ctrl+f", *"answer 1", "enter")
    await driver.press("n", key)
    assert "found 1 of 11" in driver.screen()
    await driver.press(key)
    assert "The search goes on from the other end." in driver.screen()
    assert "found 11 of 11" in driver.screen()
    assert "Answer 1" in driver.screen()


class Sounding:
    """Player in place of a process."""

    def __init__(self, history: Any, folder: Any, **values: Any) -> None:
        self.values = values
        self.note = "with sound"
        self.position: float | None = None
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True

    async def gone(self) -> None:
        return


@check("copy-utterance")
async def _copy_utterance(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert "There is nothing here to copy." in driver.screen()
    await filled(driver)
    await driver.press(key)
    assert driver.app.clipboard == "Answer 39"
    await driver.press("(", "(", key)
    assert driver.app.clipboard == "Question 39"
    assert "Copied the paragraph of" in driver.screen()


@check("play-utterance")
async def _play_utterance(driver: Driver, key: str) -> None:
    made: list[Sounding] = []

    def make(*arguments: Any, **values: Any) -> Sounding:
        made.append(Sounding(*arguments, **values))
        return made[-1]

    await driver.press(key)
    assert "There is nothing here that was said." in driver.screen()
    link = driver.link
    link.emit(ev.VoiceMarked(speaking=True, source="local"), after=2.0)
    link.emit(ev.VoiceMarked(speaking=False, source="local"), after=1.0)
    link.begin_turn()
    link.user("Hello")
    said = link.t
    link.emit(ev.TextSent(command_id="c", text="typed words"), after=2.0)
    await driver.settle()
    await driver.press(key)
    assert "It was typed: there is nothing to hear." in driver.screen()
    await driver.press("ctrl+f", *"hello", "enter")
    await driver.press(key)
    assert "No sound of it was recorded." in driver.screen()
    driver.app.store.hello = replace(driver.app.store.hello, folder="/nowhere")
    with patch("gemini_live_tui.console.utterance_sound.SoundPlayback", make):
        await driver.press(key)
        assert "Playing what was said at 00:" in driver.screen()
        assert made[0].values["begin"] < said - 1.0 < said < made[0].values["end"]
        assert link.orders == [SetMicrophone(on=False)]
        made[0].position = made[0].values["end"]
        await driver.settle()
        assert made[0].stopped
        assert link.orders[1:] == [SetMicrophone(on=True)]
        for stops in (key, "escape"):
            await driver.press(key)
            await driver.press(stops)
            assert made[-1].stopped
            assert link.orders[-2:] == [SetMicrophone(on=False), SetMicrophone(on=True)]
        assert Interrupt() not in link.orders
        await driver.press("space")
        await driver.press(key)
        assert link.orders[-1] == SetMicrophone(on=False)
        made[-1].note = "silent: the speaker cannot be opened"
        await driver.settle()
        assert "It cannot be heard: the speaker cannot be opened." in driver.screen()
        assert made[-1].stopped
        assert link.orders[-1] == SetMicrophone(on=False)


@check("utterance-back")
async def _utterance_back(driver: Driver, key: str) -> None:
    await filled(driver)
    transcript = driver.app.console_screen.transcript
    await driver.press(key)
    assert next(row for row in driver.rows() if "Answer 39" in row).startswith("›")
    await driver.press(key)
    assert transcript.utterance is not None
    assert transcript.utterance.text == "Question 39"
    assert sum(row.startswith("›") for row in driver.rows()) == 1
    for _ in range(40):
        await driver.press(key)
    assert "Question 19" in next(row for row in driver.rows() if row.startswith("›"))


@check("utterance-on")
async def _utterance_on(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("home", "(", "(")
    transcript = driver.app.console_screen.transcript
    assert transcript.utterance is not None
    before = transcript.utterance
    await driver.press(key)
    assert transcript.utterance is not None
    assert transcript.utterance.id == before.id + 1
    await driver.press("end", key, key)
    assert transcript.utterance.text == "Answer 39"
