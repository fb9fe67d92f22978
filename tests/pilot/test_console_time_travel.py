"""Time travel while the call goes on, and recordings opened the same way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.pilot.actions.time import at, heard, row, talked, written
from tests.support.console_driver import Driver, console, make_app, screen_text
from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import ScriptedLink
from textual import events
from textual.widget import Widget

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SendText, SetMark, SetMicrophone
from gemini_live_runtime.engine.link import Hello, Snapshot
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.history.session_history import History
from gemini_live_runtime.vocabulary import header
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.panes.events import Events
from gemini_live_tui.panes.timeline import Timeline
from gemini_live_tui.pickers.marks import MarksScreen
from gemini_live_tui.session_data.moment_parser import find
from gemini_live_tui.settings import ConsoleSettings


async def test_muting_reaches_the_call_from_the_past_which_stands_still() -> None:
    async with console() as driver:
        await talked(driver)
        await driver.press("[", "[")
        before = heard(driver)
        await driver.press("space")
        assert driver.link.orders[-1] == SetMicrophone(on=False)
        driver.link.exchange("Question 9", "Answer 9")
        await driver.settle()
        assert heard(driver) == before
        await driver.press("5")
        await driver.press("end")
        assert "Answer 9" in heard(driver)


@pytest.mark.parametrize("key", ["written", "R"])
async def test_a_message_sent_from_the_past_returns_to_the_present_that_shows_it(key: str) -> None:
    async with console() as driver:
        await talked(driver)
        await driver.press("[", "[")
        await driver.press(*(("i", *"hello", "enter") if key == "written" else key))
        assert isinstance(driver.link.orders[-1], SendText)
        assert driver.app.store.cursor.seq is None
        driver.link.model("Answer 9")
        await driver.settle()
        assert "Answer 9" in heard(driver)
        assert "REPLAY" not in driver.rows()[0]


async def test_a_message_that_cannot_be_sent_leaves_the_past_where_it_is() -> None:
    async with console() as driver:
        await talked(driver)
        await driver.press("[", "[")
        there = at(driver)
        driver.link.broken = "The engine ended without a word."
        driver.link.die()
        await driver.settle()
        await driver.press("i", *"hello", "enter")
        assert at(driver) == there


async def test_a_mark_set_in_the_past_stands_there_and_is_gone_to_from_the_present() -> None:
    async with console() as driver:
        await talked(driver)
        await driver.press("[", "[")
        there, t = at(driver), driver.app.store.shown.t
        assert t < driver.app.store.view.t
        await driver.press("m")
        await driver.press(*"early", "enter")
        assert driver.link.orders[-1] == SetMark(text="early", of=there, t=t)
        await driver.press("end")
        marks = driver.app.store.view.agent_view.marks
        assert (marks[-1].of, marks[-1].t) == (there, t)
        await driver.press("g")
        await driver.press(*"mark 2", "enter")
        assert at(driver) == there
        await driver.press("f2", *"/mark again", "enter")
        assert driver.link.orders[-1] == SetMark(text="again", of=there, t=t)


async def test_before_the_first_event_a_mark_still_stands_at_the_beginning() -> None:
    async with console() as driver:
        await talked(driver)
        driver.app.console_screen.time_travel.travel(lambda: driver.app.store.cursor.seek(0))
        await driver.settle()
        assert driver.app.store.cursor.seq == 0
        await driver.press("m")
        await driver.press("enter")
        assert driver.link.orders[-1] == SetMark(of=1, t=0.0)


async def test_marks_are_listed_and_numbered_by_what_they_mark() -> None:
    async with console() as driver:
        await talked(driver)
        last = driver.app.store.view.seq
        driver.link.emit(ev.MarkSet(text="late", of=last, t=8.0), ev.MarkSet(text="early", of=2, t=0.5))
        await driver.settle()
        driver.app.action_open("marks")
        await driver.settle()
        screen = driver.app.screen
        assert isinstance(screen, MarksScreen)
        assert [str(option.prompt).split()[-1] for option in screen.list.options] == ["early", "odd", "late"]
        await driver.press("enter")
        assert at(driver) == 2
        assert find("mark 1", _history(driver)) == 2


def _history(driver: Driver) -> History:
    assert driver.app.store.history is not None
    return driver.app.store.history


async def test_the_state_diff_names_who_removed_a_key() -> None:
    async with console(size=(120, 36)) as driver:
        await written(driver)
        gone = {"removed": True, "origin": "watcher", "by": "anger", "reason": "app:anger changed"}
        driver.link.emit(ev.StateChanged(**{"key": "app:plan", "old": "gold", "new": None, "mutation": 1, **gone}))
        await driver.settle()
        await driver.press("d")
        rows = {name: row for row in driver.rows() for name in ("app:day", "app:plan") if f"removed  {name}" in row}
        assert "tool pay" in rows["app:day"]
        assert "watcher anger" in rows["app:plan"]
        await driver.press("down", "enter")
        assert "Removed, by watcher anger at" in driver.screen()
        assert "app:anger changed" in driver.screen()


async def test_a_click_on_the_timeline_seeks_and_a_drag_scrubs() -> None:
    async with console() as driver:
        await talked(driver)
        timeline = driver.app.console_screen.query_one(Timeline)
        await driver.pilot.mouse_down(timeline, offset=(12, 1))
        await driver.settle()
        first = at(driver)
        await driver.pilot.hover(timeline, offset=(18, 1))
        await driver.settle()
        assert at(driver) > first
        await driver.pilot.mouse_up(timeline, offset=(18, 1))
        assert "here" in timeline.plain
        await driver.pilot.click(timeline, offset=(timeline.size.width - 3, 1))
        await driver.settle()
        assert driver.app.store.cursor.seq is None


async def test_what_was_before_an_unrecorded_console_came_is_said_to_be_out_of_reach() -> None:
    link = ScriptedLink()
    async with console(link=link, started=False) as driver:
        link.hello(fold(_events(3)))
        link.emit(ev.Notice(level="info", code="x", text="Later.", remedy=""))
        await driver.settle()
        await driver.press(",", ",", ",")
        assert "Nothing from before event 15 is in memory" in driver.screen()
        assert "the session is not recorded" in driver.screen()


async def test_what_was_before_a_console_came_is_read_from_the_recording(tmp_path: Path) -> None:
    link = ScriptedLink()
    events = _events(6)
    _write(tmp_path, events)
    async with console(link=link, started=False) as driver:
        link.put(Hello("s", 1, "test", str(tmp_path)))
        link.put(Snapshot(fold(events)))
        link._seq = len(events)
        link.emit(ev.Notice(level="info", code="x", text="Later.", remedy=""))
        await driver.settle()
        await driver.press("/at turn 2")
        reading = driver.app.console_screen.time_travel._reader
        assert reading is not None
        await reading
        await driver.settle()
        assert "turn 2" in row(driver)
        assert "Question 1" in driver.screen()
        assert "Question 3" not in driver.screen()


def _events(turns: int) -> list[ev.Event]:
    """Return the events of a short session."""
    payloads: list[tuple[int, ev.Payload]] = [
        (0, ev.SessionStarted(session_id="s", agent="a", model="m", backend="local", wall=1.0, record="text",
                              mode="voice", program="test")),
        (0, ev.SessionState(word="listening")),
    ]  # fmt: skip
    for turn in range(1, turns + 1):
        payloads.append((turn, ev.TurnStarted(by="voice")))
        payloads.append((turn, ev.TranscriptDelta(side="user", text=f"Question {turn}")))
        payloads.append((turn, ev.TranscriptDelta(side="model", text=f"Answer {turn}")))
        payloads.append((turn, ev.TurnCompleted(outcome="complete", latency_ms=500.0)))
    return [ev.Event(n, float(n), turn, turn, payload) for n, (turn, payload) in enumerate(payloads, 1)]


def _write(folder: Path, events: list[ev.Event], rest: str = "") -> Path:
    path = folder / "events.jsonl"
    lines = [json.dumps({**header(), "session_id": "s"}), *(event.to_line() for event in events)]
    path.write_text("\n".join(lines) + "\n" + rest)
    return path


async def _replayed(path: Path, *keys: str, size: tuple[int, int] = (100, 30), speed: float | None = None) -> str:
    clock = ManualClock()
    settings = ConsoleSettings(theme="ember", tmux=False, replay=True, recording=path, replay_speed=speed)
    app = ConsoleApp(None, settings=settings, clock=clock)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot, ScriptedLink(), clock)
        await driver.settle()
        for key in keys:
            await driver.press(key)
        return screen_text(app)


async def test_a_recording_opens_at_its_end_and_is_scrubbed_like_a_call(tmp_path: Path) -> None:
    path = _write(tmp_path, _events(5))
    screen = await _replayed(path)
    assert "Answer 5" in screen
    assert "00:22 of 00:22 · event 22 of 22 · turn 5" in screen
    screen = await _replayed(path, "[", "[")
    assert "Answer 3" in screen
    assert "Question 4" not in screen


async def test_playing_goes_on_behind_a_screen_and_says_so_with_the_key_that_stops_it(tmp_path: Path) -> None:
    path = _write(tmp_path, _events(5))
    settings = ConsoleSettings(theme="ember", tmux=False, replay=True, recording=path, replay_speed=1.0)
    clock = ManualClock()
    app = ConsoleApp(None, settings=settings, clock=clock)
    async with app.run_test(size=(80, 36)) as pilot:
        driver = Driver(app, pilot, ScriptedLink(), clock)
        for expected, keys in (("00:00", ()), ("00:05", ("f1",)), ("00:10", ()), ("00:15", ("escape",))):
            await driver.press(*keys)
            (row,) = [row for row in driver.rows() if "playing 1x" in row]
            assert f"{expected} of 00:22" in row
            assert "P pause" in row
            clock.advance(5.0)


async def test_a_recording_names_nothing_that_only_a_call_has(tmp_path: Path) -> None:
    events = _events(5)
    edited = ev.EditsApplied(command_id="c", how="edit", values=(), undo=1, redo=1)
    path = _write(tmp_path, [*events, ev.Event(len(events) + 1, 23.0, 5, 5, edited)])
    for keys in ((), ("8",), ("4",), ("[", "["), ("P",)):
        screen = await _replayed(path, *keys, size=(160, 45))
        for words in ("following", "stopped", "to undo", "to redo"):
            assert words not in screen, (keys, words)
    assert "23 events" in await _replayed(path, "8", size=(160, 45))


async def test_what_can_be_taken_back_is_told_of_the_present_only() -> None:
    async with console(size=(120, 40)) as driver:
        await talked(driver)
        driver.link.emit(ev.EditsApplied(command_id="c", how="edit", values=(), undo=1, redo=0))
        await driver.settle()
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        assert "1 to undo" in driver.screen()
        assert "following" in driver.screen()
        driver.link.exchange("Question 9", "Answer 9")
        await driver.settle()
        await driver.press("[")
        assert "to undo" not in driver.screen()
        assert "following" not in driver.screen()
        await driver.press("end")
        assert "1 to undo" in driver.screen()


async def test_a_recording_with_a_speed_plays_from_its_beginning(tmp_path: Path) -> None:
    screen = await _replayed(_write(tmp_path, _events(5)), speed=2.0, size=(160, 40))
    assert "playing 2x" in screen
    assert "00:00 of 00:22" in screen
    assert "event 0 of 22" in screen


async def test_a_torn_recording_shows_what_there_is_and_says_so(tmp_path: Path) -> None:
    screen = await _replayed(_write(tmp_path, _events(5), '{"seq": 23, "t'))
    assert "Answer 5" in screen
    assert "The last line is incomplete: the recording was cut off there." in screen


async def test_lines_that_are_no_events_are_counted_and_the_rest_is_shown(tmp_path: Path) -> None:
    screen = await _replayed(_write(tmp_path, _events(5), "nonsense\n[1]\n"), size=(160, 40))
    assert "Answer 5" in screen
    assert "is not an event" in screen
    assert "2 lines had problems in all; the rest is shown." in screen


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"format": "gemini-live-tui", "version": 99, "session_id": "s"}\n',
            "event format version 99, this program reads up to",
        ),
        ("a shopping list\n", "is not a gemini-live-tui session"),
        ("", "is empty"),
    ],
)
async def test_a_file_that_is_no_session_of_ours_gets_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "events.jsonl"
    head = header()
    if "99" in text:
        text = json.dumps({**head, **{key: 99 for key, value in head.items() if isinstance(value, int)}}) + "\n"
    path.write_text(text)
    screen = await _replayed(path, size=(260, 40))
    assert said in screen
    assert "Traceback" not in screen


def test_a_console_with_a_link_needs_no_recording() -> None:
    assert make_app(ScriptedLink()).settings.recording is None


async def test_playing_follows_the_sound_and_pausing_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Sounding:
        note = "with sound"
        position: float | None = None
        stopped = False

        def __init__(self, history: Any, folder: Path, **values: Any) -> None:
            self.values = values
            made.append(self)

        def stop(self) -> None:
            self.stopped = True

        async def gone(self) -> None:
            return

    monkeypatch.setattr("gemini_live_tui.console.past_sound.SoundPlayback", Sounding)
    link = ScriptedLink()
    async with console(link=link, started=False, size=(120, 40)) as driver:
        link.put(Hello("s", 1, "test", "/nowhere"))
        link.put(Snapshot(fold(_events(0))))
        link._seq = 2
        for event in _events(6)[2:]:
            link.put(event)
        await driver.settle()
        await driver.press("5")
        await driver.press("[", "[", "[")
        begun = driver.app.store.shown.t
        await driver.press("P")
        assert made[0].values["begin"] == begun
        assert "playing 1x, with sound" in driver.screen()
        made[0].position = begun + 5
        await driver.settle()
        assert driver.app.store.shown.t == begun + 5
        await driver.press(",")
        assert made[0].stopped
        assert len(made) == 2
        await driver.press("P")
        assert made[1].stopped
        assert "playing" not in driver.screen()
        assert driver.app.leaving.outcome().folder == "/nowhere"


async def test_below_an_answer_stands_where_its_time_went_once_that_is_known() -> None:
    async with console(size=(120, 40)) as driver:
        driver.link.exchange("Question", "Answer")
        await driver.settle()
        assert "Answer  612 ms" in driver.screen()
        driver.link.emit(
            ev.TurnMeasured(
                of_turn=1,
                latency_ms=612.0,
                source="local_voice",
                stages={"hang_over": 180.0, "uplink": 60.0, "server": 288.0, "downlink": 36.0, "buffer": 48.0},
                prompt_tokens=1,
                response_tokens=1,
            )
        )
        await driver.settle()
        assert "612 ms │vad 180│net 96│model 288│play 48│" in driver.screen()
        assert "Answer  612 ms" not in driver.screen()


async def test_a_pane_that_need_not_hurry_is_shown_four_times_a_second_and_misses_nothing() -> None:
    async with console(size=(120, 40)) as driver:
        timeline = driver.app.console_screen.query_one(Timeline)
        shown = []
        show = timeline.show
        timeline.show = lambda view, frame: (shown.append(view.seq), show(view, frame))[1]  # type: ignore[method-assign]
        for number in range(20):
            driver.clock.advance(0.05)
            driver.link.exchange(f"Question {number}", "Answer")
            await driver.settle()
        assert 3 <= len(shown) <= 6
        driver.clock.advance(0.3)
        await driver.settle()
        assert shown[-1] == driver.app.store.view.seq


async def test_a_disk_that_fails_is_a_sentence_in_the_events_pane_and_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(size=(120, 40)) as driver:
        await talked(driver)
        history = driver.app.store.history
        assert history is not None

        def fail(*_: Any) -> Any:
            raise JournalError("The session at event 3 cannot be read back: no such device")

        monkeypatch.setattr(history, "events", fail)
        monkeypatch.setattr(history, "view_at", fail)
        await driver.press("8")
        await driver.press("f")
        await driver.press(*"mark.set")
        await driver.press("enter")
        assert "The session at event 3 cannot be read back" in driver.screen()
        assert "This pane failed" not in driver.screen()
        await driver.press("comma")
        assert "cannot be read back" in driver.rows()[2]
        assert driver.app.store.cursor.seq is None


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_transcript_that_was_scrolled_shows_its_rows_at_an_earlier_moment(size: tuple[int, int]) -> None:
    async with console(size=size) as driver:
        for number in range(60):
            driver.link.t += 1
            driver.link.exchange(f"Question {number}", "An answer " * 20)
        await driver.settle()
        screen = driver.app.console_screen
        await driver.press("1")
        screen.time_travel.seek_event(driver.app.store.view.seq - 20)
        await driver.settle()
        await driver.press("pageup")
        for seq in (200, 150, 100):
            screen.time_travel.seek_event(seq)
            await driver.settle()
            assert screen.transcript.scroll_y <= screen.transcript.max_scroll_y
            assert "Question" in driver.screen()


async def test_the_wheel_turned_back_keeps_the_events_where_they_are() -> None:
    async with console(size=(120, 30)) as driver:
        for number in range(40):
            driver.link.exchange(f"Question {number}", f"Answer {number}")
        await driver.settle()
        await driver.press("8")
        listed = driver.app.console_screen.query_one(Events)
        assert "following" in driver.screen()
        before = listed.scroll_y
        listed.post_message(wheel_back(listed))
        await driver.settle()
        driver.link.exchange("More", "And more")
        driver.clock.advance(1)
        await driver.settle()
        assert listed.scroll_y < before
        assert "following" not in driver.screen()


def wheel_back(widget: Widget) -> events.MouseScrollUp:
    return events.MouseScrollUp(
        widget, 5, 5, 0, -1, 0, shift=False, meta=False, ctrl=False, screen_x=None, screen_y=None, style=None
    )


async def test_behind_the_last_turn_a_step_says_that_none_follows() -> None:
    async with console() as driver:
        await talked(driver)
        await driver.press("[")
        await driver.press("]")
        assert driver.app.store.cursor.seq is None
        assert "No turn follows: this is live." in driver.words()
