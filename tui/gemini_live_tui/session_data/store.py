"""Fold the link's messages into a view and note which of its parts changed.

Events and the fold are imported with the first message, which is after the first paint.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.session_data.cursor import Cursor

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.engine.link import Bye, Hello, LinkMessage
    from gemini_live_runtime.events import Event, Payload, StateWord
    from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
    from gemini_live_runtime.journal.history.session_history import History
    from gemini_live_runtime.samples import MeterSample

MAX_QUEUED = 4096
"""Messages read but not folded yet; at the limit reading waits, so nothing is lost and the engine notices."""

FOLD_BUDGET_S = 0.010
"""Longest time one frame spends folding; a backlog is worked off over several frames while keys still answer."""

FRAME_S = 0.02
"""Processor seconds that folding and drawing may take together; where drawing takes longer, less is folded."""

MIN_FOLD_S = 0.0005
"""Seconds of folding in a frame, however long drawing takes."""

KEY_FRAMES = 2
"""Frames in which a backlog waits after a key, so that the key is answered first."""

MAX_WAITS = 3
"""Frames that a backlog waits at most in a row: keys may be typed without a pause."""

HURRY = 4
"""Part of the time for folding that a frame takes after `MAX_WAITS`, while keys are typed."""

ALL = ~Dirty.NONE


@dataclass(frozen=True, slots=True)
class Takeover:
    """View of another engine, which goes on with a session whose engine died."""

    view: SessionView


class NotSent(Exception):  # noqa: N818 - reported to the operator, not an error of the program
    """Command that cannot be sent; `str` is a sentence."""


class Store:
    """View of one session and its dirty marks.

    The link's reader puts messages in; the frame clock folds them. `view` is the present, kept by `history` with the
    way back; `cursor` is the reader's position. `epoch` grows when the whole view was replaced, so that panes know to
    forget what they cached.
    """

    def __init__(self, clock: Clock, wake: Callable[[], None]) -> None:
        self.history: History | None = None
        """History of the session; None before the first message."""
        self.cursor = Cursor(clock, lambda: self.history)
        self._before = SessionView()
        self.dirty = ALL
        self.epoch = 0
        self.hello: Hello | None = None
        self.bye: Bye | None = None
        self.lost = ""
        """Reason for the loss of the link; "" while it works or after the engine's last message."""
        self.goes_on = False
        """True when the link is lost, but the session is not over as far as is known."""
        self.is_silent = False
        """True while the engine does not answer although its link holds."""
        self.silent_since = 0.0
        """Unix seconds of the engine's last message before it fell silent."""
        self.is_restarting = False
        """True while another engine is started in place of one that died."""
        self.has_unread = False
        """True when the console left while the engine still sent messages."""
        self.reattached = ""
        """Sentence about the last time that the link was made again; "" before."""
        self.missed = 0
        """Number of events that never arrived although later ones did."""
        self._clock = clock
        self.wake = wake
        """Requests a frame."""
        self._queue: deque[LinkMessage | Takeover] = deque()
        self._sample: MeterSample | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._is_leaving = False
        self._received_at = 0.0
        self._budget_s = FOLD_BUDGET_S
        self._is_behind = False
        """True when the last frame left something to fold."""
        self._to_wait = self._waited = 0
        """Frames that the backlog is to wait for keys, and has waited."""
        self._listeners: dict[type[Payload], list[Callable[[Event], None]]] = {}

    # -- filling -----------------------------------------------------------------------------------------------------

    async def put(self, message: LinkMessage | Takeover) -> None:
        """Queue a message; of samples only the last is kept.

        Waits while `MAX_QUEUED` are not folded yet, unless the console is leaving.
        """
        from gemini_live_runtime.samples import MeterSample
        from gemini_live_tui.session_data.meter_steps import look_different

        if isinstance(message, MeterSample):
            self._sample = message
            if not look_different(message, self.view.meters):
                # It says that the engine runs, or tells of soft noise: the next frame is soon enough.
                return
        else:
            while len(self._queue) >= MAX_QUEUED and not self._is_leaving:
                self._room.clear()
                await self._room.wait()
            self._queue.append(message)
        self.wake()

    def leave(self) -> None:
        """Queue all further messages, and fold only those that tell how the session ends.

        They may follow a flood, which will not be read any more; the engine has recorded it.
        """
        self._is_leaving = True
        self._room.set()

    def leave_unread(self) -> None:
        """Record that the engine's last message was not waited for any longer."""
        self.has_unread = True

    def tell_reattached(self, missed: int) -> None:
        """Record that the link was made again after `missed` events."""
        self.reattached = f"This console fell behind and attached again; it takes in {missed:,} events that it missed."
        self.dirty |= Dirty.NOTICES
        self.wake()

    def lose(self, reason: str, *, goes_on: bool = False) -> None:
        """Record the loss of the link; `reason` is a sentence."""
        self.lost, self.goes_on, self.is_silent, self.is_restarting = reason, goes_on, False, False
        self.dirty |= ALL
        self.wake()

    def note_silence(self, is_silent: bool, for_s: float = 0.0) -> None:
        """Record that the engine has not answered for some seconds, or answers again."""
        self.is_silent, self.silent_since = is_silent, self._clock.wall() - for_s
        self.dirty |= ALL
        self.wake()

    def note_death(self) -> None:
        """Record that the engine died, and another one is being started."""
        self.is_restarting, self.is_silent = True, False
        self.dirty |= ALL
        self.wake()

    def listen(self, payload: type[Payload], listener: Callable[[Event], None]) -> None:
        """Call `listener` with live events of a payload type, just before they are folded."""
        self._listeners.setdefault(payload, []).append(listener)

    def unlisten(self, payload: type[Payload], listener: Callable[[Event], None]) -> None:
        """Undo one `listen`."""
        self._listeners[payload].remove(listener)

    # -- folding -----------------------------------------------------------------------------------------------------

    @property
    def queued(self) -> int:
        """Number of messages not folded yet."""
        return len(self._queue)

    def answer_key(self) -> None:
        """Let a backlog wait for `KEY_FRAMES`: a key was typed. Safe from threads."""
        if self._is_behind:
            self._to_wait = KEY_FRAMES

    def pace(self, frame_s: float) -> None:
        """Adapt the time for folding to the processor seconds of the last frame."""
        # Slowly up: where an event leads to much drawing, every attempt at more is a frame that keeps a key waiting.
        factor = min(1.1, FRAME_S / max(frame_s, 1e-6))
        self._budget_s = max(MIN_FOLD_S, min(FOLD_BUDGET_S, self._budget_s * factor))

    def drain(self) -> bool:
        """Fold queued messages within the budget; return True when some are left."""
        if self._to_wait and self._waited < MAX_WAITS:
            self._to_wait, self._waited = self._to_wait - 1, self._waited + 1
            return True
        budget_s = min(FOLD_BUDGET_S, self._budget_s) / (HURRY if self._to_wait else 1)
        self._to_wait = self._waited = 0
        deadline = time.perf_counter() + budget_s
        if self._queue:
            self._received_at = self._clock.now()
        while self._queue:
            self._fold(self._queue.popleft())
            if self._to_wait or time.perf_counter() > deadline:
                break
        if len(self._queue) < MAX_QUEUED // 2:
            self._room.set()
        if self._sample is not None and not self._queue:
            # After the snapshot, which would set the meters back.
            from gemini_live_runtime.journal.fold.session_fold import apply_sample

            self.dirty |= apply_sample(self.view, self._sample)
            self._sample, self._received_at = None, self._clock.now()
        self._is_behind = bool(self._queue)
        return self._is_behind

    def _fold(self, message: LinkMessage | Takeover) -> None:
        from gemini_live_runtime.engine.link import Bye, Hello, Snapshot
        from gemini_live_runtime.events import Event, Notice, SessionEnded
        from gemini_live_runtime.journal.fold.session_fold import apply
        from gemini_live_runtime.journal.history.live_history import LiveHistory

        if isinstance(message, Event) and self._is_leaving:
            if isinstance(message.payload, SessionEnded | Notice):
                self.dirty |= apply(self.view, message)
        elif isinstance(message, Event):
            expected = self.view.seq + 1
            if message.seq < expected:
                return
            self.missed += message.seq - expected
            for listener in self._listeners.get(type(message.payload), ()):
                listener(message)
            if self.history is None:
                self.history = LiveHistory(self._before)
            assert isinstance(self.history, LiveHistory), "a recording has no link"
            self.dirty |= self.history.append(message)
        elif isinstance(message, Takeover):
            gone = self._rows_after(message.view.resumed_after)
            self.take(LiveHistory(message.view))
            self.is_restarting = False
            self._tell_takeover(gone)
        elif isinstance(message, Snapshot):
            self.take(LiveHistory(message.view))
        elif isinstance(message, Hello):
            self.hello = message
            self.dirty |= Dirty.HEADER
        elif isinstance(message, Bye):
            self.bye = message
            self.dirty |= ALL

    def _rows_after(self, seq: int) -> int:
        """Return the number of rows of the transcript that came after event `seq`."""
        return sum(block.seq > seq for block in self.view.blocks)

    def _tell_takeover(self, gone: int) -> None:
        rows = f" {gone:,} {'row' if gone == 1 else 'rows'} had not been recorded yet and are gone." if gone else ""
        self.reattached = f"The engine died; another one goes on with the session.{rows}"

    def take(self, history: History) -> None:
        """Show another session, or the same one anew."""
        if self.history is not None:
            self.history.close()
        self.history = history
        self.cursor.renew()
        self.epoch += 1
        self.dirty |= ALL

    def open_recording(self, history: RecordedHistory) -> None:
        """Show a recording, as far as it was read."""
        from gemini_live_runtime.engine.link import Hello

        self.take(history)
        self.hello = Hello(history.journal.session_id, 0, "", str(history.folder))
        self.wake()

    def grown(self) -> None:
        """Take in more of a recording."""
        self.dirty |= ALL
        self.wake()

    def end_recording(self) -> None:
        """Finish a recording: all of it was read."""
        from gemini_live_runtime.engine.link import Bye

        self.bye = Bye("The recording ends here.", 0)
        self.grown()

    def drain_all(self) -> None:
        """Fold all queued messages, however long it takes."""
        while self.drain():
            pass

    def take_dirty(self) -> Dirty:
        """Return the marks since the last call, and clear them."""
        dirty, self.dirty = self.dirty, Dirty.NONE
        return dirty

    # -- questions ---------------------------------------------------------------------------------------------------

    @property
    def view(self) -> SessionView:
        """View of the present."""
        return self._before if self.history is None else self.history.live

    @property
    def shown(self) -> SessionView:
        """View on show: the present, or the moment at the cursor."""
        return self.view if self.cursor.seq is None else self.cursor.view

    @property
    def word(self) -> StateWord:
        """State word to show: the session's own, unless its link is lost or silent."""
        if self.bye is not None:
            return "error" if self.bye.exit_code else "offline"
        if self.is_restarting:
            return "connecting"
        if self.lost or self.is_silent:
            return "error"
        return self.view.word

    @property
    def live(self) -> bool:
        """True while a session is at the other end."""
        is_running = self.hello is not None and self.bye is None and not self.lost
        return is_running and not self.view.ended and not self.is_restarting

    @property
    def moment(self) -> tuple[int, float]:
        """Moment on show, as a mark refers to it: event and session time in seconds."""
        # Before the first event there is no event to refer to.
        return max(1, self.shown.seq), self.cursor.place(self.elapsed(running=True)).t

    def elapsed(self, *, running: bool) -> float:
        """Return the session time in seconds.

        Between the events of a `running` session it follows the console's clock.
        """
        ahead = self._clock.now() - self._received_at if running and self.live and self.view.seq else 0.0
        return self.view.t + max(0.0, ahead)
