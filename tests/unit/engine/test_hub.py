"""Stamping, folding, meters and what happens to values that cannot be written."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import clock
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.engine.console_outbox import ConsoleOutbox
from gemini_live_runtime.engine.hub import MAX_EARLY, METERS_S, SAMPLE_S, Hub
from gemini_live_runtime.engine.link import Hello, decode, encode
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.redactor import Redactor
from gemini_live_runtime.samples import MeterSample

SECRET = f"AIza{'Q' * 35}"
LOG = ev.Log(source="engine", level="info", text="x")
STARTED = ev.SessionStarted(
    session_id="s1", agent="a", model="m", backend="local", wall=0.0, record="off", mode="voice", program="p"
)


class Lines:
    """A journal that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sound: list[tuple[str, bytes]] = []

    def append(self, line: str) -> None:
        self.lines.append(line)

    def audio(self, track: str, pcm: bytes) -> None:
        self.sound.append((track, pcm))

    @property
    def events(self) -> list[ev.Event]:
        return [decode(line) for line in self.lines]


def with_hub(body: Callable[[Hub, Lines], Awaitable[None]]) -> None:
    async def main() -> None:
        journal = Lines()
        hub = Hub("s1", LoopClock(), program="p", pid=1, journal=journal)
        try:
            await body(hub, journal)
        finally:
            hub.bye("over", 0)

    run_virtual(main())


def test_numbers_are_dense_and_time_never_goes_back():
    async def body(hub, journal):
        hub.emit(STARTED, turn=0, gen=0)
        for number in range(20):
            await asyncio.sleep(0.5 if number % 3 else 0)
            hub.emit(LOG, turn=1, gen=2)
        events = journal.events
        assert [event.seq for event in events] == list(range(1, 22))
        assert [event.t for event in events] == sorted(event.t for event in events)
        assert events[-1].t == pytest.approx(6.5)
        assert (events[-1].turn, events[-1].gen) == (1, 2)
        assert fold(events) == hub.view

    with_hub(body)


def test_of_what_comes_before_the_sessions_first_event_the_newest_is_kept():
    async def body(hub, journal):
        for number in range(MAX_EARLY + 3):
            hub.tell(ev.Log(source="engine", level="info", text=str(number)))
        hub.emit(STARTED, turn=0, gen=0)
        texts = [event.payload.text for event in journal.events[1:]]
        assert (len(texts), texts[0], texts[-1]) == (MAX_EARLY, "3", str(MAX_EARLY + 2))

    with_hub(body)


def test_what_is_told_before_the_session_starts_follows_its_first_event():
    async def body(hub, journal):
        hub.tell(LOG)
        hub.report(ev.Notice(level="info", code="x", text="early"))
        await asyncio.sleep(0)
        hub.emit(STARTED, turn=0, gen=0)
        assert [event.type for event in journal.events] == ["session.started", "log", "notice"]

    with_hub(body)


class Odd:
    def __repr__(self) -> str:
        return "<odd>"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"x": Odd()}, {"x": "<odd>"}),
        ({"x": b"bytes"}, {"x": "b'bytes'"}),
        ({"x": {1, 2}.__class__({1})}, {"x": "{1}"}),
        ({(1, 2): "key", "ok": 1}, {"ok": 1}),
    ],
)
def test_values_that_json_lacks_are_spelled_out_the_same_for_everybody(value, kept):
    async def body(hub, journal):
        outbox = hub.attach()
        hub.emit(STARTED, turn=0, gen=0)
        event = hub.emit(ev.ToolCalled(call_id="1", name="t", args=value), turn=1, gen=1)
        assert event.payload.args == kept
        assert journal.events[-1] == event
        assert decode((await outbox.take())[-1]) == event

    with_hub(body)


@pytest.mark.parametrize("side", ["prompt", "response"])
def test_a_secret_among_the_names_of_modalities_is_redacted(side: str) -> None:
    figures = {"of_turn": 1, "latency_ms": 1.0, "source": "typed", "stages": {"total": 1.0}}

    async def body(hub: Hub, journal: Lines) -> None:
        hub.emit(ev.TurnMeasured(**figures, prompt_tokens=2, response_tokens=0, **{side: {SECRET: 2}}), turn=1, gen=1)
        plain = ev.TurnMeasured(**figures, prompt_tokens=2, response_tokens=0, **{side: {"AUDIO": 2}})
        hub.emit(plain, turn=1, gen=1)
        assert SECRET not in "".join(journal.lines)
        assert journal.events[-1].payload == plain

    with_hub(body)


COUNTED = ev.StateChanged(key="session:turn_count", old=1, new=2, mutation=7, origin="signal")


def test_counts_of_the_session_are_not_searched_for_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(Redactor, "may_redact", lambda _, line: searched.append(line))

    async def body(hub: Hub, journal: Lines) -> None:
        hub.emit(COUNTED, turn=1, gen=1)
        hub.emit(replace(COUNTED, key="session:resumable", old=None, new=True), turn=1, gen=1)
        hub.emit(replace(COUNTED, old=2, new=1, origin="program"), turn=1, gen=1)
        assert searched == journal.lines[-1:]

    with_hub(body)


def test_sound_of_a_known_kind_is_not_searched_for_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    may_redact = Redactor.may_redact
    monkeypatch.setattr(Redactor, "may_redact", lambda self, line: searched.append(line) or may_redact(self, line))
    sound = ev.WireAudio(direction="received", track="model", rate=24_000, first=0, count=480, frames=(), mime_type="")

    async def body(hub: Hub, journal: Lines) -> None:
        hub.emit(replace(sound, mime_type="audio/pcm;rate=24000"), turn=1, gen=1)
        assert not searched
        hub.emit(replace(sound, mime_type=f"audio/pcm;{SECRET}"), turn=1, gen=1)
        assert SECRET not in journal.lines[-1]

    with_hub(body)


@pytest.mark.parametrize(
    "field", [{"new": SECRET}, {"old": SECRET}, {"key": f"session:called_ok:{SECRET}"}, {"key": f"bg:{SECRET}_failed"},
              {"by": SECRET}, {"reason": SECRET}]
)  # fmt: skip
def test_a_secret_in_what_the_session_notes_is_redacted(field: dict[str, Any]) -> None:
    async def body(hub: Hub, journal: Lines) -> None:
        hub.emit(replace(COUNTED, **field), turn=1, gen=1)
        assert SECRET not in journal.lines[-1]

    with_hub(body)


def test_an_event_that_cannot_be_written_at_all_becomes_a_notice():
    async def body(hub, journal):
        circle: dict[str, object] = {}
        circle["self"] = circle
        hub.emit(STARTED, turn=0, gen=0)
        event = hub.emit(ev.ToolCalled(call_id="1", name="t", args=circle), turn=1, gen=1)
        assert (event.seq, event.payload.code) == (2, "event-lost")
        assert "tool.called" in event.payload.text
        assert journal.events[-1] == event

    with_hub(body)


def test_virtual_time_stands_still_while_the_disk_writes(monkeypatch):
    slept = threading.Event()
    select = clock._JumpingSelector.select

    def watched(selector, timeout=None):
        found = select(selector, timeout)
        if not found and (timeout is None or timeout > 0):
            slept.set()
        return found

    monkeypatch.setattr(clock._JumpingSelector, "select", watched)

    def write(tell: Callable[[bool], None]) -> None:
        """Be done after the loop has once slept, or jumped in time."""
        slept.clear()
        threading.Thread(target=lambda: tell(slept.wait(PATIENCE_S))).start()

    async def body(hub, journal):
        hub.emit(STARTED, turn=0, gen=0)
        journal.call_when_written = write
        assert await hub.written(0.02)
        assert asyncio.get_running_loop().time() == 0

    with_hub(body)


def test_samples_flow_only_while_somebody_watches():
    async def body(hub, journal):
        asked = 0

        def sample() -> MeterSample:
            nonlocal asked
            asked += 1
            return MeterSample(t=0.0, mic_db=-float(asked))

        hub.emit(STARTED, turn=0, gen=0)
        hub.sample_source = sample
        await asyncio.sleep(10.2)
        assert asked <= 11
        outbox = hub.attach()
        before = asked
        await asyncio.sleep(1.0)
        assert 18 <= asked - before <= 21
        hub.detach(outbox)
        before = asked
        await asyncio.sleep(10)
        assert asked - before <= 11

    with_hub(body)


def test_meters_are_journaled_once_a_second_and_not_at_all_while_nothing_changes():
    async def body(hub, journal):
        level = [-30.0]
        hub.emit(STARTED, turn=0, gen=0)
        hub.attach()
        hub.sample_source = lambda: MeterSample(t=0.0, mic_db=level[0])
        for _ in range(200):
            level[0] += 0.01
            await asyncio.sleep(0.05)
        lively = sum(event.type == "meters" for event in journal.events)
        assert 9 <= lively <= 11
        await asyncio.sleep(60)
        assert sum(event.type == "meters" for event in journal.events) <= lively + 1

    with_hub(body)


def test_no_meters_follow_the_end_of_a_session():
    async def body(hub, journal):
        hub.emit(STARTED, turn=0, gen=0)
        hub.attach()
        hub.sample_source = lambda: MeterSample(t=0.0, mic_db=-hub._loop.time())
        hub.emit(ev.SessionEnded(reason="hung up"), turn=0, gen=0)
        await asyncio.sleep(10)
        assert journal.events[-1].type == "session.ended"

    with_hub(body)


@pytest.mark.parametrize("has_meters", [True, False])
def test_a_quiet_session_sends_a_console_only_the_sample_a_second_that_its_hello_promises(has_meters):
    async def body(hub, journal):
        hub.emit(STARTED, turn=0, gen=0)
        outbox = hub.attach()
        hub.sample_source = (lambda: MeterSample(t=0.0)) if has_meters else None
        await asyncio.sleep(1.5)
        hello = decode((await outbox.take())[0])
        assert hello.beat_s == METERS_S
        taken = 0
        for _ in range(60):
            await asyncio.sleep(1.0)
            lines, outbox._lines, sample, outbox._sample = outbox._lines, deque(), outbox._sample, None
            assert not lines
            taken += sample is not None
        assert 57 <= taken <= 60

    with_hub(body)


def test_the_last_sample_wins_and_carries_the_event_rate():
    async def body(hub, journal):
        hub.emit(STARTED, turn=0, gen=0)
        outbox = hub.attach()
        level = [0.0]

        def sample() -> MeterSample:
            level[0] -= 1
            return MeterSample(t=0.0, mic_db=level[0])

        hub.sample_source = sample
        for _ in range(40):
            hub.tell(LOG)
            await asyncio.sleep(SAMPLE_S)
        messages = [decode(line) for line in await outbox.take()]
        samples = [message for message in messages if isinstance(message, MeterSample)]
        assert len(samples) == 1
        assert samples[0].mic_db == level[0]
        assert samples[0].events_per_s == pytest.approx(20, abs=3)

    with_hub(body)


def test_a_blocked_loop_shows_as_lag():
    async def body(hub, journal):
        loop = asyncio.get_running_loop()
        hub.emit(STARTED, turn=0, gen=0)
        hub.attach()
        hub.sample_source = lambda: MeterSample(t=0.0, mic_db=-loop.time())
        await asyncio.sleep(2)
        loop.jump(0.3)
        await asyncio.sleep(1.5)
        assert max(event.payload.loop_lag_ms for event in journal.events if event.type == "meters") >= 250

    with_hub(body)


def test_a_meter_that_breaks_is_told_once_and_ends_nothing_else():
    async def body(hub, journal):
        def broken() -> MeterSample:
            raise ValueError("no such meter")

        hub.emit(STARTED, turn=0, gen=0)
        hub.sample_source = broken
        await asyncio.sleep(10)
        notices = [event.payload for event in journal.events if event.type == "notice"]
        assert [notice.code for notice in notices] == ["meters-failed"]

    with_hub(body)


def test_sound_goes_to_the_journal_and_is_no_event():
    async def body(hub, journal):
        hub.audio("user", b"\1\0")
        assert journal.sound == [("user", b"\1\0")]
        assert journal.lines == []

    with_hub(body)


async def test_an_outlet_that_ended_gives_its_last_line_and_then_nothing():
    outbox = ConsoleOutbox()
    outbox.push(json.dumps(1))
    outbox.end("last")
    outbox.push("too late")
    outbox.push_sample("too late")
    assert await outbox.take() == ["1", "last"]
    assert await outbox.take() == []


async def test_an_outbox_of_a_console_that_leaves_keeps_only_what_is_about_the_end() -> None:
    outbox = ConsoleOutbox()
    notice = ev.Notice(level="error", code="events-missing", text="1 event is missing.")
    payloads = (ev.Log(source="engine", level="info", text='"type":"notice"'), notice, LOG)
    before, after = [
        [ev.Event(first + number, 0.0, 0, 0, payload).to_line() for number, payload in enumerate(payloads)]
        for first in (1, 4)
    ]
    end = ev.Event(7, 0.0, 0, 0, ev.SessionEnded(reason="hung up")).to_line()
    outbox.push(encode(Hello("s1", 1, "p", harness_root="/records")))
    for line in before:
        outbox.push(line)
    outbox.leave()
    for line in (*after, end):
        outbox.push(line)
    assert [decode(line) for line in await outbox.take()] == [
        Hello("s1", 1, "p", harness_root="/records"),
        *(decode(line) for line in (before[1], after[1], end)),
    ]
