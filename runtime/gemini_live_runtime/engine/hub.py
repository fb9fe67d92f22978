"""Stamp a session's events, fold and journal them, and send them to consoles.

All of it happens in `emit`, on the event loop and without an await in between: the journal, the view and every console
see the same events in the same order, and a console that attaches gets a snapshot of the view to which the next event
on its link belongs. Only where a piece of a transcript may end in the beginning of a secret, this and all events after
it wait for the next piece, at most `HOLD_S`. Nothing in it blocks: the journal has its own thread, and each console an
outbox from which its connection sends. An outbox that exceeds its bound ends that console's link and no other.

Threads reach the hub through `report` alone, which passes the payload to the event loop. Payloads of the engine itself
that come before `session.started` wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock, hold_time
from gemini_live_runtime.engine.console_outbox import ConsoleOutbox
from gemini_live_runtime.engine.link import Bye, Hello, encode, encode_snapshot
from gemini_live_runtime.engine.payloads import field_names, is_figures, plain_values, without_secrets
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
from gemini_live_runtime.journal.files.large_values import MAX_LINE_CHARS, cut_payload, is_huge, shortened
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.privacy.split_secrets import HeldEvent, SplitSecrets
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.samples import MeterSample, have_changed

if TYPE_CHECKING:
    from gemini_live_runtime.journal.recording.kept_journal import KeptJournal

MAX_EARLY = 10_000
"""Payloads of the engine that may wait for the session's first event."""

HOLD_S = 0.2
"""Seconds that events wait for the rest of a text which may end in the beginning of a secret."""

DISK_S = 10.0
"""Longest time in real seconds for which virtual time stands still while the disk writes."""

_MAX_HELD = 1000
"""Events that may wait for that."""

_REDACTED = frozenset((ev.TranscriptDelta, ev.WireMessage))
"""Payloads with pieces of streamed texts; the rest of a message on the wire is redacted by its recorder."""

_STREAMED = frozenset((*_REDACTED, ev.TurnInterrupted))
"""Payloads with streamed texts."""

_WITH_DATA: dict[type[ev.Payload], tuple[str, ...]] = {
    ev.StateChanged: ("old", "new"),
    ev.ToolCalled: ("args",),
    ev.ToolFinished: ("result",),
}
"""Fields with data of the agent and its tools, which may be of any size."""

SAMPLE_S = 0.05
"""Seconds between samples while a console is attached (20 Hz)."""

METERS_S = 1.0
"""Seconds between `meters` events, and between measurements of the loop's lag and the event rate.

Also between samples at most, so that consoles see that the engine runs.
"""


class Hub:
    """Event sink of a session, to which consoles attach.

    Only `report` may be called from other threads than the event loop's.
    """

    def __init__(
        self,
        session_id: str,
        clock: Clock,
        *,
        program: str,
        pid: int,
        journal: JournalWriter | None = None,
        on_consoles: Callable[[int], None] | None = None,
        kept: KeptJournal | None = None,
    ) -> None:
        """`kept` is the recording of an earlier engine, whose session goes on here."""
        self.view = SessionView() if kept is None else kept.view
        self.gate = RealtimeCompletionGate() if kept is None else kept.gate
        self.journal = journal
        self.sample_source: Callable[[], MeterSample] | None = None
        """Function that returns the current sample; the host sets it once the session exists."""
        self.folder = ""
        """Folder of the recording; consoles that attach later read earlier events there."""
        self.harness_root = ""
        """Folder of the tasks, notifications and memories, where they outlive the session."""
        self._identity = (session_id, pid, program)
        self._clock = clock
        self._origin = clock.now()
        self.wall = clock.wall()
        """Seconds since the Unix epoch at t = 0: the `wall` of `session.started`."""
        self._outboxes: list[ConsoleOutbox] = []
        self._last = ev.Event(0, 0.0, 0, 0, ev.Payload())
        """Newest event; it may still be held."""
        self.kept = kept
        """Recording of an earlier engine, whose session goes on; None for a new session."""
        if kept is not None:
            view = kept.view
            self._last = ev.Event(view.seq, view.t, view.turn, view.gen, ev.Payload())
            # The time without an engine passed for the session, too; a clock that was set back has not.
            self._origin -= max(view.t, self.wall - view.wall)
            self.wall = view.wall
        self._secrets = SplitSecrets(redactor)
        self._held: list[HeldEvent] = []
        self._hold_timer: asyncio.TimerHandle | None = None
        self._waiting: deque[ev.Payload] = deque(maxlen=MAX_EARLY)
        """Payloads of the engine that follow the next event."""
        self._on_consoles = on_consoles
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = 0.0
        self._bye = ""
        """Last line of every link, once the session is over."""
        self.values_cut = 0
        """Number of values that were too large for an event."""
        self._second_start = self._loop.time()
        self._worst_lag = 0.0
        self._lag_ms = 0.0
        self._second_seq = 0
        self._rate = 0.0
        self._sent_sample: MeterSample | None = None
        self._journaled_sample: MeterSample | None = None
        self._schedule()

    # -- events -----------------------------------------------------------------------------------------------------

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        """Stamp, fold, journal and send `payload`.

        Never raises: a payload that cannot be encoded becomes a notice.
        """
        last = self._last
        t = round(self._clock.now() - self._origin, 6)
        event = self._last = ev.Event(last.seq + 1, t if t > last.t else last.t, turn, gen, payload)
        event = self._stream(event) if self._held or type(payload) in _STREAMED else self._publish(event, False)
        if self._waiting:
            # Swap before emitting: `tell` calls `emit` again, which must find no queue.
            queued, self._waiting = self._waiting, deque(maxlen=MAX_EARLY)
            for waiting in queued:
                self.tell(waiting)
        return event

    def _stream(self, event: ev.Event) -> ev.Event:
        """Publish `event` with its streamed text redacted, or keep it until that can be."""
        payload = event.payload
        if isinstance(payload, ev.TurnInterrupted):
            event = replace(event, payload=self._secrets.cut_without_secrets(payload, event.gen))
            return self._hold(event) if self._held else self._publish(event, False)
        if self._held or not self._secrets.is_plain_event(event):
            return self._hold(event)
        return self._publish(event, True)

    def _hold(self, event: ev.Event) -> ev.Event:
        """Publish `event`, or keep it and all that follow until its text is decided.

        A secret may be split over two deltas, and over the messages on the wire that brought them.
        """
        held = HeldEvent(event)
        self._held.append(held)
        self._secrets.add_event(held)
        is_last = isinstance(event.payload, ev.SessionEnded) or len(self._held) >= _MAX_HELD
        if is_last or not self._secrets.is_open:
            return self._release() or event
        if self._hold_timer is None:
            self._hold_timer = self._loop.call_later(HOLD_S, self._release)
        # The session does not wait. What it makes of its transcript, such as state, must hold no part of a secret.
        return self._secrets.without_open(held.event)

    def _release(self) -> ev.Event | None:
        """Publish the events that were held and return the last."""
        if self._hold_timer is not None:
            self._hold_timer.cancel()
            self._hold_timer = None
        self._secrets.close()
        last = None
        held, self._held = self._held, []
        for one in held:
            last = self._publish(one.event, type(one.event.payload) in _REDACTED)
        return last

    def _publish(self, event: ev.Event, redacted: bool) -> ev.Event:
        """Fold, journal and send `event` without secrets, and return it like that."""
        try:
            if type(event.payload) in _WITH_DATA:
                event = self._without_huge_values(event)
            line = event.to_line()
            # Redacting walks all values: a scan of the encoded line says of nearly every event that it need not.
            if not redacted and not is_figures(event.payload) and redactor.may_redact(line):
                event = replace(event, payload=without_secrets(event.payload, redactor))
                line = event.to_line()
        except (TypeError, ValueError, RecursionError) as error:
            event = replace(event, payload=without_secrets(plain_values(event.payload, error, redactor), redactor))
            line = event.to_line()
        if len(line) > MAX_LINE_CHARS:
            event = self._cut(event)
            line = event.to_line()
        apply(self.view, event)
        self.gate.apply(event)
        if self.journal is not None:
            self.journal.append(line)
        for outbox in self._outboxes:
            outbox.push(line)
        return event

    def _without_huge_values(self, event: ev.Event) -> ev.Event:
        """Return `event` with values cut that take too long to encode."""
        payload, huge = event.payload, {}
        for name in _WITH_DATA[type(payload)]:
            value = getattr(payload, name)
            if is_huge(value):
                huge[name] = shortened(value, redactor)
        if not huge:
            return event
        self._count_cut(event.type, len(huge))
        short: ev.Payload = replace(payload, **huge)  # type: ignore[type-var]
        return replace(event, payload=short)

    def _cut(self, event: ev.Event) -> ev.Event:
        """Return `event` with its large values cut; the first time a notice follows it."""
        payload, count = cut_payload(event.payload, self._keep_value)
        self._count_cut(event.type, count)
        return replace(event, payload=payload)

    def _count_cut(self, kind: str, count: int) -> None:
        if not self.values_cut:
            notice = ev.Notice(
                level="warning",
                code="value-cut",
                text=f"A value in {kind} is too large for an event: what is shown and recorded of it is cut.",
                remedy="Return less data from tools; events name the file with the whole value",
            )
            self._waiting.append(notice)
        self.values_cut += count

    def _keep_value(self, name: str, data: bytes) -> bool:
        return self.journal is not None and self.journal.keep_value(name, data)

    def tell(self, payload: ev.Payload) -> None:
        """Emit a payload of the engine itself, in the current turn and generation.

        Before the session's first event it waits: a journal begins with `session.started`.
        """
        if not self._last.seq and not isinstance(payload, ev.SessionStarted):
            self._waiting.append(payload)
        else:
            self.emit(payload, turn=self._last.turn, gen=self._last.gen)

    def report(self, payload: ev.Payload) -> None:
        """Call `tell` from another thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the session
            self._loop.call_soon_threadsafe(self.tell, payload)

    async def written(self, within_s: float) -> bool:
        """Return True once all events so far are written and survive this process.

        False when the disk refused that, or took longer than `within_s` seconds. Nothing is waited for without a
        recording, nor while events are held back because of a possible secret.
        """
        if self.journal is None or self._held:
            return True
        done: asyncio.Future[bool] = self._loop.create_future()

        def tell(is_written: bool) -> None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_settle, done, is_written)

        self.journal.call_when_written(tell)
        try:
            # The disk takes real time: virtual time would jump past the limit before it can answer.
            with hold_time(DISK_S):
                async with asyncio.timeout(within_s):
                    return await done
        except TimeoutError:
            return False

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        """Record samples (s16le): `user` as sent (16 kHz), `model` as received (24 kHz)."""
        if self.journal is not None:
            self.journal.audio(track, pcm)

    # -- consoles ---------------------------------------------------------------------------------------------------

    @property
    def consoles(self) -> int:
        """Number of attached consoles."""
        return len(self._outboxes)

    def attach(self) -> ConsoleOutbox:
        """Return a new outbox that begins with a hello and a snapshot of the view.

        Events continue from there without a gap.
        """
        outbox = ConsoleOutbox()
        outbox.push(encode(Hello(*self._identity, self.folder, METERS_S, self.harness_root)))
        outbox.push(encode_snapshot(self.view))
        # No await since the snapshot was encoded, so no event can come in between.
        self._outboxes.append(outbox)
        self._sent_sample = None
        self._changed_consoles()
        if self._bye:
            outbox.end(self._bye)
        return outbox

    def detach(self, outbox: ConsoleOutbox) -> None:
        """Remove an outbox; idempotent."""
        if outbox in self._outboxes:
            self._outboxes.remove(outbox)
            self._changed_consoles()

    def bye(self, reason: str, exit_code: int) -> None:
        """End the links of all consoles, which learn what is missing, and stop the meters."""
        self._release()
        if self._timer is not None:
            self._timer.cancel()
        self._bye = encode(Bye(reason, exit_code, self.gate.completion().missing))
        self.sample_source = None
        for outbox in self._outboxes:
            outbox.end(self._bye)

    def _changed_consoles(self) -> None:
        if self._on_consoles is not None:
            self._on_consoles(len(self._outboxes))
        self._schedule()

    # -- samples ----------------------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if self._bye:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = self._loop.time() + (SAMPLE_S if self._outboxes else METERS_S)
        self._timer = self._loop.call_at(self._timer_due, self._tick)

    def _tick(self) -> None:
        now = self._loop.time()
        self._worst_lag = max(self._worst_lag, now - self._timer_due)
        second_over = now - self._second_start >= METERS_S - SAMPLE_S / 2
        if second_over:
            self._lag_ms = round(self._worst_lag * 1000, 1)
            self._rate = round((self._last.seq - self._second_seq) / (now - self._second_start), 1)
            self._worst_lag, self._second_seq, self._second_start = 0.0, self._last.seq, now
        if self.sample_source is not None:
            try:
                self._measure(self.sample_source(), second_over)
            except Exception as error:
                # Report a broken meter once, and measure no more: the timer must go on for the loop's lag.
                self.sample_source = None
                self.tell(
                    ev.Notice(
                        level="error",
                        code="meters-failed",
                        text=f"The meters have stopped: {redactor.text(repr(error)):.200}.",
                    )
                )
        elif second_over:
            self._send_sample(MeterSample(t=self._session_time()))
        self._schedule()

    def _measure(self, sample: MeterSample, second_over: bool) -> None:
        sample = replace(sample, t=self._session_time(), loop_lag_ms=self._lag_ms, events_per_s=self._rate)
        if second_over or self._sent_sample is None or have_changed(sample, self._sent_sample):
            self._send_sample(sample)
        # Consoles stay for a moment after the end, which remains the journal's last word.
        if not second_over or self.view.ended:
            return
        if self._journaled_sample is None or have_changed(sample, self._journaled_sample):
            self._journaled_sample = sample
            self.tell(ev.Meters(**{name: getattr(sample, name) for name in field_names(ev.Meters)}))

    def _send_sample(self, sample: MeterSample) -> None:
        if not self._outboxes:
            return
        self._sent_sample = sample
        line = encode(sample)
        for outbox in self._outboxes:
            outbox.push_sample(line)

    def _session_time(self) -> float:
        return round(self._clock.now() - self._origin, 6)


def _settle(future: asyncio.Future[bool], value: bool) -> None:
    if not future.done():
        future.set_result(value)
