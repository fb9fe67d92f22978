"""Consent: agreeing, refusing, remembering, revoking."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import GiveConsent, RevokeConsent


async def asked(driver: Driver, seconds: float = 1.0) -> None:
    """Let a call wait for consent, and time pass."""
    driver.link.emit(
        ev.ConsentAsked(id="q1", tool="pay", call_id="c1", args={"euros": 7}, reason="The agent asks.", expires_s=30.0)
    )
    await driver.settle()
    driver.clock.advance(seconds)
    driver.app.frames.flush()
    driver.link.sent.clear()
    await driver.settle()


async def _answers(driver: Driver, key: str, *, yes: bool, remember: bool = False) -> None:
    await driver.press(key)
    assert driver.link.orders == []
    await asked(driver)
    assert "MAY THIS RUN?" in driver.screen()
    assert "pay(euros=7)" in driver.screen()
    assert " ASKS " in driver.rows()[0]
    await driver.press(key)
    assert driver.link.orders == [GiveConsent(id="q1", yes=yes, remember=remember)]
    driver.link.emit(ev.ConsentGiven(id="q1", tool="pay", call_id="c1", yes=yes, by="operator"))
    await driver.settle()
    assert "MAY THIS RUN?" not in driver.screen()
    assert " ASKS " not in driver.rows()[0]


@check("consent-yes")
async def _yes(driver: Driver, key: str) -> None:
    await _answers(driver, key, yes=True)


@check("consent-no")
async def _no(driver: Driver, key: str) -> None:
    await _answers(driver, key, yes=False)


@check("consent-always")
async def _always(driver: Driver, key: str) -> None:
    await _answers(driver, key, yes=True, remember=True)


@check("revoke-consent")
async def _revoke(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.link.orders == [RevokeConsent()]
