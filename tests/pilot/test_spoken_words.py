"""Words are dim until they are spoken, live and in the past, and it costs little."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.console_driver import Driver, console
from textual.geometry import Region

from gemini_live_runtime import events as ev
from gemini_live_tui.panes.transcript import MIN_WORD_S

WORDS = ("Once ", "upon ", "a ", "time ", "there ", "was ", "a ", "fox.")
HALF_A_SECOND = 12_000


def answers(driver: Driver, times: int = 1) -> None:
    """Let the model send words that are spoken in half a second each, all at once."""
    link = driver.link
    link.begin_turn()
    link.gen += 1
    for number, word in enumerate(WORDS * times):
        first = number * HALF_A_SECOND
        link.emit(ev.TranscriptDelta(side="model", text=word, sample=first, samples=HALF_A_SECOND))


def hears(driver: Driver, words: int, after: float = 0.0) -> None:
    """Let `words` be heard but for the end of the last."""
    heard = ev.PlaybackHeard(of=driver.link.gen, first=0, count=words * HALF_A_SECOND - 1000)
    driver.link.emit(heard, after=after)


def runs(driver: Driver, item: int = 0) -> list[tuple[str, str]]:
    lines = driver.app.console_screen.transcript._item(item)
    return [run for line in lines for run in line.runs if run[1] in ("said", "ahead", "cut", "unheard")]


def row(driver: Driver) -> str:
    return next(row for row in driver.rows() if "fox." in row)


async def test_words_light_up_as_they_are_spoken_and_a_sign_stands_before_the_first_that_is_not() -> None:
    async with console() as driver:
        answers(driver)
        await driver.settle()
        assert runs(driver) == [("".join(WORDS), "ahead")]
        assert "▸Once upon" in row(driver)
        hears(driver, 1)
        await driver.settle()
        driver.clock.advance(0.1)
        driver.app.frames.flush()
        await driver.pilot.pause(0)
        assert runs(driver) == [("Once upon ", "said"), ("a time there was a fox.", "ahead")]
        assert "Once upon▸a time" in row(driver)
        driver.link.emit(ev.PlaybackDrained(of=driver.link.gen))
        await driver.settle()
        assert runs(driver) == [("".join(WORDS), "said")]
        assert "▸" not in row(driver)


async def test_an_interruption_strikes_what_is_dim() -> None:
    async with console() as driver:
        answers(driver)
        hears(driver, 2)
        cut: dict[str, Any] = {"cut_below": 2, "heard_samples": 24_000, "unheard_samples": 1}
        driver.link.emit(ev.TurnInterrupted(by="server", heard_text="Once upon", unheard_text=" a time", **cut))
        await driver.settle()
        assert runs(driver) == [("Once upon", "said"), (" ✂ cut", "cut"), (" a time there was a fox.", "unheard")]


async def test_the_rest_of_an_answer_whose_loudspeaker_is_lost_says_so() -> None:
    async with console() as driver:
        answers(driver)
        hears(driver, 2)
        driver.link.emit(ev.AudioLost(direction="output", reason="The loudspeaker was disconnected."))
        await driver.settle()
        assert "Once upon ✂ not heard a time there was a fox." in row(driver)


async def test_an_answer_that_lost_its_loudspeaker_waits_for_no_word_until_that_is_back() -> None:
    async with console() as driver:
        rates: dict[str, Any] = {"input_rate": 48_000, "output_rate": 48_000, "echo_canceller": "x"}
        answers(driver)
        hears(driver, 2)
        cut: dict[str, Any] = {"cut_below": 0, "heard_samples": 24_000, "unheard_samples": 1}
        driver.link.emit(ev.TurnInterrupted(by="device", heard_text="Once upon", unheard_text=" a time", **cut))
        driver.link.emit(ev.AudioLost(direction="output", reason="The loudspeaker was disconnected."))
        await driver.settle()
        assert runs(driver) == [("Once upon", "said"), (" ✂ cut", "cut"), (" a time there was a fox.", "unheard")]
        assert not any("▸" in row for row in driver.rows())
        driver.link.emit(ev.AudioOpened(input="Desk", output="Desk", again=True, **rates))
        driver.link.emit(ev.PlaybackHeard(of=driver.link.gen, first=6 * HALF_A_SECOND, count=100))
        await driver.settle()
        assert runs(driver) == [("Once upon", "said"), (" ✂ cut", "cut"), (" a time there was", "unheard")]
        assert "a▸fox." in row(driver)


async def test_with_the_loudspeaker_muted_the_words_are_read_and_none_is_dim() -> None:
    async with console() as driver:
        driver.link.emit(ev.ControlChanged(mode="voice", microphone=True, speaker=False))
        answers(driver)
        await driver.settle()
        assert runs(driver) == [("".join(WORDS), "said")]


async def test_in_the_past_the_same_words_are_lit_as_at_that_moment() -> None:
    async with console() as driver:
        answers(driver)
        hears(driver, 1, after=0.6)
        moment = driver.link._seq
        hears(driver, 2, after=0.5)
        driver.link.emit(ev.PlaybackDrained(of=driver.link.gen), after=3.0)
        await driver.settle()
        cursor = driver.app.store.cursor
        cursor.seek(moment)
        await driver.settle()
        assert runs(driver) == [("Once ", "said"), ("upon a time there was a fox.", "ahead")]
        cursor.play()
        driver.clock.advance(0.3)
        await driver.settle()
        assert runs(driver) == [("Once upon ", "said"), ("a time there was a fox.", "ahead")]
        cursor.live()


async def test_a_word_that_lights_up_repaints_its_line_alone_and_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with console() as driver:
        answers(driver, times=12)
        hears(driver, 1)
        await driver.settle()
        transcript = driver.app.console_screen.transcript
        assert transcript.line_count > 3
        painted: list[Region] = []
        refresh = transcript.refresh

        def counted(*regions: Region, **options: Any) -> Any:
            painted.extend(regions or [transcript.region])
            return refresh(*regions, **options)

        monkeypatch.setattr(transcript, "refresh", counted)
        driver.clock.advance(0.1)
        driver.app.frames.flush()
        assert [region.height for region in painted] == [1]
        painted.clear()
        driver.app.frames.flush()
        assert painted == []
        wait = transcript.show(driver.app.store.view, transcript._epoch, transcript._elapsed, passing=True)
        assert wait is not None
        assert MIN_WORD_S <= wait <= 0.5
        assert transcript.show(driver.app.store.view, transcript._epoch, 1e6, passing=True) is None
