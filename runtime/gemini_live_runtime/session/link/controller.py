"""Decide the life of one session's link to its server.

A pure state machine: the connections' runner (`session.io.connections`) tells it what happens and does what it answers.
States::

    closed -> opening -> gated -> open -> restarting -> opening ...
                 |                 |          |
                 |                 +-> dormant (`wake` leads back to opening)
                 +----------> failed <--------+     (`connect` leads back to opening)

The gate between `gated` and `open` lets nothing of the user's pass until the model knows what it has to know. All that
the next connection may need has a mark, a number that grows; a resumption handle stands for ranges of marks, so that it
is clear what a server knows that resumes by this handle.

The link holds the present connection, and all that goes out passes it. Without one it refuses what is sent, which is a
mistake of the sender. It does no I/O of its own; the runner makes, reads and closes connections.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Literal

from gemini_live_runtime.errors import NotConnectedError
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.session.link.ends import PATIENT, LinkEnd
from gemini_live_runtime.session.link.outbox import Outbox
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.link.retry import Retry, RetrySchedule
from gemini_live_runtime.session.ports.provider import RealtimeProviderAdapter
from gemini_live_runtime.wire.messages import ClientMessage

MAX_RANGES = 64
"""Connections back to which it is remembered what a handle stands for."""

LinkState = Literal["closed", "opening", "gated", "open", "restarting", "dormant", "failed"]

HANDLE_AGE_S = 2 * 3600.0
"""Seconds for which a server keeps what a handle stands for, by the API's documentation."""


@keyword_record
class LinkPosition:
    """Position of a session's link: ids, what went out and came in, restarts.

    Counts go over all connections of this engine: messages, and samples of the microphone's sound, for which
    `samples_sent` goes on after the death of an engine.
    """

    session: str
    """Server's id of its session; "" when it gave none."""
    connection: int
    """Number of the present connection, or of the last one; 0 before the first."""
    response: int
    """Number of the model's present or next answer, as `gen` of events."""
    sent: int
    """Messages handed to a connection, without sound."""
    samples_sent: int
    received: int
    """Messages that came, sound among them."""
    restarts: int


class RealtimeSessionController:
    """Link of one session, over all its connections."""

    def __init__(self, policy: LinkPolicy | None = None) -> None:
        self.policy = policy or LinkPolicy()
        self.state: LinkState = "closed"
        self.adapter: RealtimeProviderAdapter | None = None
        """Present connection, or None."""
        self.connection = 0
        """Number of the present connection, or of the last one; 0 before the first."""
        self.session = ""
        """Server's id of its session, or ""."""
        self.sent = self.received = 0
        """Messages handed to a connection, without sound, and messages that came."""
        self.age_limit_s: float | None = None
        """Seconds after which the server ends a connection, as far as that is known."""
        self.rotate_at: float | None = None
        """Clock time (s) from which the present connection is to be left for its age.

        None without an age limit, and without a handle: there is nothing to move to.
        """
        self.outbox = Outbox(self.policy)
        self.handle = ""
        """Server's handle to resume its session with; a secret, "" for none."""
        self.is_attached = False
        """True while a console is attached."""
        self.end: LinkEnd | None = None
        """Class of the newest end."""
        self.retry = Retry(None)
        """Decision after the newest end."""
        self.schedule = RetrySchedule(self.policy)
        self.opened_at = 0.0
        """Clock time (s) at which the present connection was made."""
        self.leaving: Literal["", "old", "stalled"] = ""
        """Reason why the present connection is left: at the next quiet point for its age, or at once."""
        self.sign_at = 0.0
        """Clock time (s) of the newest message or pong."""
        self._answers_pings = False
        self._resuming = False
        self._fresh = False
        self._dormant_since = 0.0
        self._marks = 0
        self._known: list[tuple[int, int]] = []
        """Ranges of marks that the server's present session knows from earlier connections."""
        self._in_handle: list[tuple[int, int]] = []
        """Ranges of marks that a server knows which resumes by the handle."""
        self._connection_mark = 0

    def limit_errors(self, at_most: int | None) -> None:
        """Limit the failures of the server in a row; None is any number."""
        self.schedule.policy = self.policy = replace(self.policy, max_unrecoverable_errors=at_most)

    # -- what goes out -----------------------------------------------------------------------------------------------

    @property
    def is_connected(self) -> bool:
        """True while there is a connection that neither side has closed."""
        return self.adapter is not None and not self.adapter.closed

    @property
    def has_adapter(self) -> bool:
        """True while there is a connection, though either side may have closed it."""
        return self.adapter is not None

    @property
    def takes_audio(self) -> bool:
        """True when sound goes out, and False when it has to wait.

        A connection begins with what was kept, once the model knows what it has to know.
        """
        # Asked for each chunk of the microphone: without further calls.
        adapter = self.adapter
        return adapter is not None and not adapter.closed and self.state == "open"

    def post(self, message: ClientMessage) -> asyncio.Future[None]:
        """Post a message; return a future of its sending.

        Raises `NotConnectedError` while there is no connection, and the errors of the adapter.
        """
        posted = self._present("message").post(message)
        self.sent += 1
        return posted

    def interrupt(self) -> asyncio.Future[None]:
        """Ask the model to stop speaking; returns and raises as `post` does."""
        posted = self._present("interruption").interrupt()
        self.sent += 1
        return posted

    def send_audio(self, pcm: bytes, captured_at: float | None = None) -> None:
        """Send microphone audio (16 kHz s16le mono); raises `NotConnectedError`.

        `captured_at` is the clock time (s) of its last sample.
        """
        if self.adapter is None:
            raise self._not_connected("sound")
        self.outbox.samples_sent += len(pcm) // 2
        self.adapter.send_audio(pcm, captured_at)

    def position(self, response: int) -> LinkPosition:
        """Return the position of the link, which knows no `response` by itself."""
        return LinkPosition(
            session=self.session,
            connection=self.connection,
            response=response,
            sent=self.sent,
            samples_sent=self.outbox.samples_sent,
            received=self.received,
            restarts=max(0, self.connection - 1),
        )

    def _present(self, what: str) -> RealtimeProviderAdapter:
        if self.adapter is None:
            raise self._not_connected(what)
        return self.adapter

    def _not_connected(self, what: str) -> NotConnectedError:
        return NotConnectedError(
            f"There is no connection for this {what}: the link is {self.state}",
            remedy="Send it once the connection is ready",
        )

    # -- what the server knows ---------------------------------------------------------------------------------------

    def mark(self) -> int:
        """Return the mark of something that happens now."""
        self._marks += 1
        return self._marks

    def on_handle(self, handle: str) -> None:
        """Keep a handle; it stands for the conversation as it is now."""
        self.handle = handle
        self._in_handle = [*self._known[-MAX_RANGES:], (self._connection_mark, self.mark())]
        self._plan_rotation()

    def forget_handle(self) -> None:
        """Let the next connection begin a server session of its own."""
        self.handle = ""

    def knows(self, mark: int) -> bool:
        """Return True when the server's present session knows what has this mark."""
        return self.is_of_present(mark) or any(first <= mark <= last for first, last in self._known)

    def is_of_present(self, mark: int) -> bool:
        """Return True when this mark was made since the present connection."""
        return mark > self._connection_mark

    # -- the life of a connection ------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """True when what the user says goes out at once."""
        return self.state == "open"

    @property
    def is_resumed(self) -> bool:
        """True when the present connection resumed the server's session."""
        return self._resuming

    @property
    def is_lost(self) -> bool:
        """True between two connections, while another one is to come."""
        return self.connection > 0 and self.state in ("restarting", "opening")

    @property
    def is_dormant(self) -> bool:
        """True while the connection is closed because nothing goes on."""
        return self.state == "dormant"

    @property
    def keeps_audio(self) -> bool:
        """True without a connection whose successor gets what is said now."""
        return self.is_lost or self.is_dormant

    def wake(self, now: float) -> bool:
        """Let another connection be made; False when the link is not dormant.

        A handle that is too old for the server is forgotten: the next session begins with the conversation so far.
        """
        if not self.is_dormant:
            return False
        if now - self._dormant_since > HANDLE_AGE_S:
            self.forget_handle()
        self.schedule.begin_anew()
        self.outbox.audio.counts_losses = True
        self.state = "restarting"
        return True

    def begin_opening(self) -> str:
        """Begin an attempt; return the handle to resume with, or ""."""
        self.state = "opening"
        if self._fresh:
            self.handle = ""
        self._fresh = False
        self._resuming = bool(self.handle)
        return self.handle

    def on_opened(self, now: float, adapter: RealtimeProviderAdapter | None = None, session: str = "") -> None:
        """Take the connection whose setup was accepted; the gate is still closed.

        `session` is the server's id of its session.
        """
        self.state, self.leaving, self.session = "gated", "", session
        self.adapter = adapter
        if adapter is not None:
            adapter.backlog = self.outbox
        self.connection += 1
        self.opened_at = self.sign_at = now
        self._known = self._in_handle if self._resuming else []
        self._connection_mark = self.mark()
        if not self._resuming:
            # A handle that there may still be is of the session before this one.
            self.handle = ""

    def open_gate(self) -> bool:
        """Let everything pass; False when there was no closed gate."""
        if self.state != "gated":
            return False
        self.state = "open"
        self._plan_rotation()
        return True

    def close_gate(self) -> None:
        """Let nothing more pass on the present connection, which is left at once."""
        if self.state == "open":
            self.state = "gated"
        self.rotate_at = None

    def on_ended(self, end: LinkEnd, now: float, *, code: int = 0, keeps_handle: bool = True) -> Retry:
        """Note that a connection ended or was not made; return what follows.

        `code` is its close code, 0 for none. Without `keeps_handle` the handle is of no more use.
        """
        self.adapter = None
        was_ready = self.state in ("gated", "open")
        if was_ready:
            resumed = self._resuming and end is not LinkEnd.MOVED
            self.schedule.connected(now - self.opened_at, resumed=resumed)
        self.end, self.leaving, self.rotate_at = end, "", None
        if not keeps_handle:
            self.handle = ""
        if not self.connection and end is not LinkEnd.HANDLE and end is not LinkEnd.CONTEXT:
            # The very first one: whoever started the session is there, and is told.
            retry = Retry(None)
        else:
            retry = self.schedule.after(end, now, code=code, attached=self.is_attached)
        self.retry, self._fresh = retry, retry.fresh
        if end is LinkEnd.DORMANT:
            self.state, self._dormant_since = "dormant", now
            # The newest sound is kept for the case that a word begins; what passes was said to nobody.
            self.outbox.audio.counts_losses = False
        else:
            self.state = "failed" if retry.delay_s is None else "restarting"
        return retry

    def ask_to_connect(self) -> bool:
        """Take the user's wish to connect now; False when there is nothing to do."""
        if self.state not in ("failed", "restarting"):
            return False
        self.schedule.begin_anew()
        self.schedule.failures = 0
        self.state = "restarting"
        return True

    def on_attached(self, attached: bool) -> bool:
        """Note that a console is there, or none; True when an attempt is due for it."""
        self.is_attached = attached and not self.policy.headless
        given_up_for_time = self.state == "failed" and self.connection > 0 and self.end in PATIENT
        return self.is_attached and given_up_for_time and self.ask_to_connect()

    def on_pong(self, now: float) -> None:
        """Note that the server answered a ping."""
        self.sign_at, self._answers_pings = now, True

    def may_be_dead(self, since: float) -> bool:
        """Return True when a server that answers pings has shown no life since a time."""
        return self._answers_pings and self.sign_at < since

    def leave(self, reason: Literal["old", "stalled"]) -> None:
        """Note that the present connection is being left."""
        if self.leaving != "stalled":
            self.leaving = reason
        self.rotate_at = None

    def _plan_rotation(self) -> None:
        can_move = self.is_open and self.handle and not self.leaving
        limit_s = self.age_limit_s if can_move else None
        self.rotate_at = None if limit_s is None else self.opened_at + limit_s - self.policy.early_s

    def close(self) -> None:
        """End: no connection follows.

        The present one takes what is still to be said, until it is let go.
        """
        self.state = "closed"

    def let_go(self) -> None:
        """Let go of the connection, which was closed."""
        self.adapter = None
