"""Talking."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import (
    ClearTurn,
    CommitTurn,
    Connect,
    Drain,
    Interrupt,
    SetMicrophone,
    SetMode,
    SetOptions,
    SetSpeaker,
    Sleep,
)


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


@check("commit-turn")
async def _commit_turn(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert driver.link.orders == [CommitTurn()]


@check("sleep")
async def _sleep(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert driver.link.orders == [Sleep()]
    driver.link.emit(ev.SessionState(word="dormant", reason="listening locally"))
    await driver.settle()
    assert "DORMANT" in driver.screen()
    assert "listening locally" in driver.screen()


@check("drain")
async def _drain(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert driver.link.orders == [Drain()]


@check("clear-turn")
async def _clear_turn(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert driver.link.orders == [ClearTurn()]
    driver.link.emit(ev.TurnCleared(by="operator", text="never mind"))
    await driver.settle()
    assert "What you said was cleared" in driver.screen()


@check("turns")
async def _turns(driver: Driver, way: str) -> None:
    await driver.press(f"{way}client 0.8")
    assert driver.link.orders == [SetOptions(turn_detection="client", min_endpointing_delay=0.8)]
    driver.link.emit(ev.TurnsChanged(detection="server", next="client", min_delay_s=0.8, asked=True))
    await driver.settle()
    assert "our own detector, which wait for 0.8 s" in driver.screen()
    await driver.press(f"{way}sometimes")
    assert "Use one of auto, server, client, manual" in driver.screen()
    await driver.press(f"{way}client soon")
    assert "such as 0.5" in driver.screen()
    assert len(driver.link.orders) == 1


@check("connect")
async def _connect(driver: Driver, way: str) -> None:
    driver.link.emit(ev.ConnectionClosed(close_code=1008, sentence="The key expired", remedy="Check the key"))
    driver.link.emit(ev.LinkGivenUp(reason="refused"))
    driver.link.emit(ev.SessionState(word="error", reason="The key expired"))
    await driver.settle()
    assert any("C Connect" in row for row in driver.rows())
    await driver.press(way)
    assert driver.link.orders == [Connect()]


@check("text")
async def _text(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert driver.link.orders == [SetMode(mode="text")]
    assert driver.app.focused is driver.app.console_screen.prompt
    assert "TEXT" in driver.rows()[0]


@check("voice")
async def _voice(driver: Driver, way: str) -> None:
    await driver.press("f2")
    await driver.press(way)
    assert driver.link.orders[-1] == SetMode(mode="voice")
    assert driver.app.focused is driver.app.console_screen.transcript
