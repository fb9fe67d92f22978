"""Going back and forth in the session while it goes on."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime import events as ev
from gemini_live_tui.dialogs.go_to import GoToScreen
from gemini_live_tui.dialogs.state_diff import DiffScreen


async def talked(driver: Driver) -> None:
    """Four turns, two phases, a mark; the focus is in a pane where letters are keys."""
    link = driver.link
    link.emit(ev.PhaseEntered(phase="greet", trigger="start"))
    for number in range(1, 5):
        link.exchange(f"Question {number}", f"Answer {number}")
        if number == 2:
            link.emit(ev.PhaseEntered(phase="verify", trigger="guard"), ev.MarkSet(text="odd"))
        link.t += 2
    await driver.pilot.resize_terminal(120, 40)
    await driver.press("5")
    await driver.settle()


def row(driver: Driver) -> str:
    """Return the time travel row."""
    return next((row for row in driver.rows()[3:] if " REPLAY " in row), "")


def at(driver: Driver) -> int:
    """Return the event at the cursor."""
    seq = driver.app.store.cursor.seq
    assert seq is not None
    return seq


def payload(driver: Driver) -> ev.Payload:
    """Return the payload of the event at the cursor."""
    assert driver.app.store.history is not None
    return driver.app.store.history.event(at(driver)).payload


def heard(driver: Driver) -> str:
    """Return the transcript's text."""
    return "\n".join(line for line in driver.rows() if "Question" in line or "Answer" in line)


@check("event-back")
async def _event_back(driver: Driver, way: str) -> None:
    await talked(driver)
    last = driver.app.store.view.seq
    await driver.press(way, way)
    assert at(driver) == last - 2
    assert f"event {last - 2} of {last}" in row(driver)
    assert "behind live" in row(driver)
    assert " REPLAY " in driver.rows()[0]


@check("event-on")
async def _event_on(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("comma", "comma", "comma")
    before = at(driver)
    await driver.press(way)
    assert at(driver) == before + 1
    await driver.press(way, way)
    assert driver.app.store.cursor.seq is None
    assert not row(driver)


@check("turn-back")
async def _turn_back(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press(way, way)
    assert isinstance(payload(driver), ev.TurnStarted)
    assert "turn 3" in row(driver)
    assert "Answer 2" in heard(driver)
    assert "Question 3" not in heard(driver)


@check("turn-on")
async def _turn_on(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("[", "[", "[")
    await driver.press(way)
    assert isinstance(payload(driver), ev.TurnStarted)
    assert "turn 3" in row(driver)


@check("transition-back")
async def _transition_back(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press(way)
    assert payload(driver) == ev.PhaseEntered(phase="verify", trigger="guard")
    await driver.press(way)
    assert payload(driver) == ev.PhaseEntered(phase="greet", trigger="start")


@check("transition-on")
async def _transition_on(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("{", "{")
    await driver.press(way)
    assert payload(driver) == ev.PhaseEntered(phase="verify", trigger="guard")


@check("mark-back")
async def _mark_back(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press(way)
    assert at(driver) == driver.app.store.view.agent_view.marks[0].of


@check("mark-on")
async def _mark_on(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("[", "[", "[")
    await driver.press(way)
    assert at(driver) == driver.app.store.view.agent_view.marks[0].of
    await driver.press(way)
    assert driver.app.store.cursor.seq is None


@check("go-to")
async def _go_to(driver: Driver, way: str) -> None:
    await talked(driver)
    if way.startswith("/"):
        await driver.press(f"{way.strip()} turn 2")
        assert "turn 2" in row(driver)
        return
    await driver.press(way)
    assert isinstance(driver.app.screen, GoToScreen)
    await driver.press(*"turn 99", "enter")
    assert "There is no turn 99; the last one is 4." in driver.screen()
    await driver.press("backspace", "backspace")
    await driver.press("2")
    await driver.press("enter")
    assert driver.app.screen is driver.app.console_screen
    assert "turn 2" in row(driver)
    assert "Question 2" not in heard(driver)


@check("live")
async def _live(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("[", "[")
    driver.link.exchange("Question 5", "Answer 5")
    await driver.settle()
    assert "Question 5" not in heard(driver)
    await driver.press(way)
    assert "Answer 5" in heard(driver)
    assert not row(driver)
    await driver.press("[", "end")
    assert driver.app.store.cursor.seq is None


@check("play")
async def _play(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("[", "[")
    if way.startswith("/"):
        driver.app.console_screen.grid.go_to("timeline")
    before = at(driver)
    await driver.press(way)
    assert "playing 1x" in row(driver)
    driver.clock.advance(3.0)
    await driver.settle()
    assert at(driver) > before
    await driver.press(way)
    assert "playing" not in row(driver)
    stood = at(driver)
    driver.clock.advance(3.0)
    await driver.settle()
    assert at(driver) == stood


@check("play-slower")
async def _slower(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("7")
    await driver.press("[", "[", "P")
    await driver.press(way)
    assert "playing 0.5x" in row(driver)


@check("play-faster")
async def _faster(driver: Driver, way: str) -> None:
    await talked(driver)
    await driver.press("7")
    await driver.press("[", "[", "P")
    await driver.press(way)
    assert "playing 2x" in row(driver)


async def written(driver: Driver) -> None:
    """Write state in two turns, in the second one after a mark."""

    def write(key: str, old: object, new: object, *, removed: bool = False) -> ev.Payload:
        added = old is None
        return ev.StateChanged(
            key=key, old=old, new=new, added=added, removed=removed, mutation=1, origin="tool", by="pay"
        )

    link = driver.link
    link.begin_turn()
    link.emit(write("app:plan", None, "silver"), write("app:day", None, "monday"))
    link.emit(ev.TurnCompleted(outcome="complete", latency_ms=None), ev.MarkSet(text="odd"))
    link.begin_turn()
    link.emit(write("app:plan", "silver", "gold"), write("app:day", "monday", None, removed=True))
    await driver.pilot.resize_terminal(120, 40)
    await driver.press("7")


@check("diff")
async def _diff(driver: Driver, way: str) -> None:
    await written(driver)
    await driver.press(way)
    assert isinstance(driver.app.screen, DiffScreen)
    screen = driver.screen()
    assert "State: turn 2 so far" in screen
    assert "~ changed  app:plan" in screen
    assert '"silver" → "gold"' in screen
    assert "- removed  app:day" in screen
    assert "tool pay" in screen
    assert "tool pay" in next(row for row in driver.rows() if "- removed  app:day" in row)
    await driver.press("down", "enter")
    assert '"gold"' in driver.screen()
    assert "Before, by tool pay" in driver.screen()
    await driver.press("escape")
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen


@check("diff-earlier")
async def _diff_earlier(driver: Driver, way: str) -> None:
    await written(driver)
    await driver.press("d")
    await driver.press(way)
    assert "State: turn 1" in driver.screen()
    assert "+ added    app:plan" in driver.screen()


@check("diff-later")
async def _diff_later(driver: Driver, way: str) -> None:
    await written(driver)
    await driver.press("d")
    await driver.press("left")
    await driver.press(way)
    assert "State: turn 2 so far" in driver.screen()


@check("diff-mode")
async def _diff_mode(driver: Driver, way: str) -> None:
    await written(driver)
    await driver.press("[")
    await driver.press("d")
    assert "to the present" in driver.screen()
    await driver.press(way)
    assert "State: turn" in driver.screen()
    await driver.press(way)
    assert "State: mark 1 (odd) to the present" in driver.screen()
    assert "~ changed  app:plan" in driver.screen()
