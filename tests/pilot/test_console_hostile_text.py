"""Text from outside is shown as text: no control sequence, no markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.support.console_driver import console
from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import events as ev

EVIL = (
    "\x1b[2Jclear\x1b]0;title\x07\x1b]52;c;cHduZWQ=\x07\x1b]8;;http://x\x07link\x1bPdcs\x1b\\ \x9b31mC1\x9d0;t\x9c "
    "\u202ebidi\u2066 \ud800lone [/] [bold] [@click=app.quit]go[/] [/etc/passwd] \x00\x07\x08\x0c CANARY"
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _hostile() -> Iterator[ev.Payload]:
    """Yield every payload with text, with the canary in each of its fields."""
    yield ev.SessionStarted(
        session_id=EVIL, agent=EVIL, model=EVIL, backend=EVIL, wall=0, record="audio", mode="voice", program=EVIL,
        phrases=(EVIL, EVIL), tools=(EVIL,),
    )  # fmt: skip
    yield ev.SessionState(word="error", reason=EVIL)
    yield ev.ConnectionOpening(url=EVIL)
    yield ev.ConnectionReady(ms=1.0, server_session=EVIL)
    yield ev.AudioOpened(input=EVIL, output=EVIL, input_rate=1, output_rate=1, echo_canceller=EVIL, problems=(EVIL,))
    yield ev.TurnStarted(by="voice")
    yield ev.TranscriptDelta(side="user", text=EVIL)
    yield ev.TranscriptDelta(side="model", text=EVIL, channel="thought")
    yield ev.TranscriptDelta(side="model", text=EVIL)
    yield ev.TextSent(text=EVIL)
    yield ev.ToolCalled(call_id=EVIL, name=EVIL, args={EVIL: EVIL, "nested": [EVIL]})
    yield ev.ToolFinished(call_id=EVIL, name=EVIL, status="error", result={EVIL: EVIL}, ms=1.0, delivered=True)
    yield ev.TurnInterrupted(
        by="server", cut_below=1, heard_samples=1, unheard_samples=1, heard_text=EVIL[:9], unheard_text=EVIL
    )
    tree = {"text": EVIL, "value": False, "reads": [{"key": EVIL, "value": EVIL, "present": True, "by": EVIL}]}
    yield ev.AgentDescribed(
        agent=EVIL,
        phases=({"name": EVIL, "goal": EVIL, "needs": [EVIL], "ways": [{"to": EVIL, "when": EVIL, "because": EVIL}]},),
        watchers=({"name": EVIL, "when": EVIL, "keys": [EVIL], "blocking": True, "defined_at": EVIL},),
        patterns=({"name": EVIL, "when": EVIL, "defined_at": EVIL},),
        computed=({"key": f"derived:{EVIL}", "inputs": [EVIL], "defined_at": EVIL},),
        keys=({"key": EVIL, "type": {"type": EVIL}, "description": EVIL},),
    )
    yield ev.StateChanged(key=EVIL, old=None, new=EVIL, mutation=1, origin=EVIL, by=EVIL, reason=EVIL, added=True)
    yield ev.StateChanged(key=f"derived:{EVIL}", old=EVIL, new={EVIL: [EVIL]}, mutation=2, origin=EVIL, by=EVIL)
    yield ev.PhaseEntered(
        phase=EVIL, trigger="initial", because=EVIL, explanation=tree, needs=(EVIL,), tools=(EVIL,), terminal=True
    )
    yield ev.GuardsRead(
        phase=EVIL,
        ways=({"index": 0, "to": EVIL, "outcome": EVIL, "because": EVIL, "guard": tree, "missing": [EVIL]},),
        needs=({"key": EVIL, "label": EVIL, "met": True, "by": EVIL},),
    )
    yield ev.PhaseBlocked(phase=EVIL, target=EVIL, missing=(EVIL,), preparing=(EVIL,))
    yield ev.WatcherFired(watcher=EVIL, key=EVIL, old=EVIL, new=EVIL, explanation=tree)
    miss = {"watcher": f"2{EVIL}", "key": EVIL, "old": EVIL, "new": EVIL, "missing": EVIL, "share": 0.4}
    yield ev.WatchersMissed(misses=(miss,))
    yield ev.PatternsRead(patterns=({"name": EVIL, "progress": EVIL, "cooldown_left_s": 0.0},))
    yield ev.Notice(level="warning", code=EVIL, text=EVIL, remedy=EVIL)
    yield ev.Notice(level="error", code=EVIL, text=EVIL, remedy=EVIL)
    yield ev.AudioLost(direction="input", reason=EVIL)
    yield ev.CommandRefused(command_id=EVIL, command=EVIL, reason=EVIL)
    yield ev.RecordingTrimmed(session_ids=(EVIL,), bytes_freed=1, reason=EVIL)
    yield ev.Log(source="stdout", level="info", text=EVIL)
    yield ev.ConnectionClosed(close_code=1008, reason=EVIL, sentence=EVIL, remedy=EVIL)
    yield ev.Unknown(name=EVIL, data=EVIL)
    yield ev.SessionEnded(reason=EVIL)


PAYLOADS = list(_hostile())


async def test_no_field_of_any_event_gets_a_control_character_onto_the_screen() -> None:
    async with console(size=(160, 45)) as driver:
        for payload in PAYLOADS:
            driver.link.emit(payload)
            await driver.settle()
            assert not CONTROL.search(driver.screen().replace("\n", "")), type(payload).__name__
            assert driver.app.is_running, type(payload).__name__


async def test_no_pane_and_no_screen_of_time_shows_a_control_character() -> None:
    async with console(size=(160, 45)) as driver:
        for payload in PAYLOADS[:-1]:
            driver.link.emit(payload)
        driver.link.emit(
            ev.PhaseEntered(phase=EVIL, trigger="guard", because=EVIL),
            ev.WatcherFired(watcher=EVIL, key=EVIL, old=EVIL, new=EVIL, explanation={EVIL: EVIL}),
            ev.MarkSet(text=EVIL),
            ev.StateChanged(key=EVIL, old=None, new={EVIL: [EVIL]}, added=True, mutation=1, origin="tool", by=EVIL),
            ev.TurnMeasured(
                of_turn=1, latency_ms=5.0, source=EVIL, stages={EVIL: 5.0}, prompt_tokens=1, response_tokens=1
            ),
        )
        await driver.settle()
        for keys in (*"56789", ("7", "enter"), ("8", "up", "enter"), ("7", "d"), ("7", "M"), ("7", "[", "[")):
            for key in keys:
                await driver.press(key)
            assert not CONTROL.search(driver.screen().replace("\n", "")), keys
            assert not any(pane.failure for pane in driver.app.console_screen.grid.panes.values()), keys
            while driver.app.screen is not driver.app.console_screen:
                await driver.press("escape")


@pytest.mark.parametrize("ending", ["bye", "die"])
async def test_the_engines_last_words_are_cleaned_on_screen_and_in_the_shell(ending: str) -> None:
    async with console(size=(160, 45)) as driver:
        getattr(driver.link, ending)(EVIL)
        await driver.settle()
        assert "CANARY" in driver.screen()
        assert not CONTROL.search(driver.screen().replace("\n", ""))
        await driver.pilot.press("ctrl+q")
    assert driver.app.return_value is not None
    assert "CANARY" in driver.app.return_value.message
    assert not CONTROL.search(driver.app.return_value.message)


async def test_markup_in_what_is_said_is_shown_letter_by_letter() -> None:
    async with console(size=(160, 45)) as driver:
        await driver.press("0")
        driver.link.begin_turn()
        driver.link.model("see [/etc/passwd] and [/] and [bold red]this[/bold red]")
        driver.link.emit(ev.Notice(level="error", code="x", text="bad [/] notice [@click=app.quit]x[/]"))
        await driver.settle()
        assert "see [/etc/passwd] and [/] and [bold red]this[/bold red]" in driver.screen()
        assert "bad [/] notice [@click=app.quit]x[/]" in driver.rows()[2]


async def test_hostile_phrases_fill_the_empty_console_harmlessly() -> None:
    link = ScriptedLink()
    async with console(started=False, link=link) as driver:
        link.start(phrases=(EVIL,) * 5, agent="[/]")
        await driver.settle()
        assert "CANARY" in driver.screen()
        assert "[/]" in driver.rows()[0]
        assert not CONTROL.search(driver.screen().replace("\n", ""))


@pytest.mark.parametrize("place", ["state down y", "state down Y", "events up y", "logs y"])
async def test_what_is_copied_controls_no_terminal_it_is_pasted_into(place: str) -> None:
    pane, *keys = place.split()
    async with console(size=(160, 45)) as driver:
        driver.link.emit(
            ev.StateChanged(key="app:note", old=None, new={EVIL: [EVIL]}, added=True, mutation=1, origin="tool"),
            ev.PhaseEntered(phase=EVIL, trigger="guard", because=EVIL, explanation={"text": EVIL, "value": True}),
            ev.Log(source="stdout", level="info", text=EVIL),
        )
        await driver.settle()
        driver.app.console_screen.grid.go_to(pane)
        await driver.settle()
        await driver.press(*keys)
        assert "CANARY" in driver.app.clipboard
        assert not CONTROL.search(driver.app.clipboard.replace("\n", ""))


async def test_screens_about_hostile_things_show_them_harmlessly() -> None:
    async with console(size=(160, 45)) as driver:
        driver.link.emit(*PAYLOADS[2:-1])
        await driver.settle()
        grid = driver.app.console_screen.grid
        opened = 0
        for pane, keys in (("phase", ["enter"]), ("phase", ["t"]), ("watchers", ["enter"]), ("state", ["e"])):
            grid.go_to(pane)
            await driver.settle()
            for key in keys:
                await driver.press(key)
            opened += driver.app.screen is not driver.app.console_screen
            assert "CANARY" in driver.screen(), (pane, keys)
            assert not CONTROL.search(driver.screen().replace("\n", "")), (pane, keys)
            await driver.press("escape")
        await driver.press("ctrl+e")
        for _ in range(4):
            assert not CONTROL.search(driver.screen().replace("\n", ""))
            await driver.press("[")
        assert opened == 4
        assert driver.app.is_running
