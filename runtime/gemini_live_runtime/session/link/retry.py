"""Decide whether and when to make a lost connection again."""

from __future__ import annotations

import random
from dataclasses import field

from gemini_live_runtime.records import mutable_record, record
from gemini_live_runtime.restarts import RestartLimit
from gemini_live_runtime.session.link.ends import ABOUT_SESSION, LEFT, PATIENT, LinkEnd
from gemini_live_runtime.session.link.policy import LinkPolicy

FREE_REPLACEMENTS = 5
"""Intended changes of connection in quick succession that happen without a delay."""

RESUMES = 2
"""Connections with a handle that end soon, after which a fresh session begins: the handle may be the cause."""

FRESH_STARTS = 5
"""Fresh sessions in a row, each refused or too long at once, after which there is no further attempt."""

SAME_MESSAGE_ENDS = 2
"""Ends of the same code in mid-talk for one attempt each: the second begins a fresh session."""


@record
class Retry:
    """Decision after an end: wait `delay_s` seconds, or give up (None)."""

    delay_s: float | None
    fresh: bool = False
    """True when the next attempt must not bring the resumption handle."""


@mutable_record
class RetrySchedule:
    """Attempts of one session to make its connection again.

    Delays are random below a doubling bound ("full jitter"); `jitter` can be seeded.
    """

    policy: LinkPolicy = field(default_factory=LinkPolicy)
    jitter: random.Random = field(default_factory=random.Random)
    attempts: int = 0
    faults: RestartLimit = field(default_factory=RestartLimit)
    """Limit of the restarts after faults in this program."""
    failures: int = 0
    """Failures of the server before it answered, in a row."""
    lost_at: float | None = None
    """Clock time (s) of the first end of this outage."""
    _replacements: int = 0
    _short_resumes: int = 0
    _fresh_starts: int = 0
    _message_ends: list[int] = field(default_factory=list)

    def connected(self, lasted_s: float, *, resumed: bool) -> None:
        """Note the end of a connection that lasted `lasted_s` seconds."""
        if lasted_s >= self.policy.stable_s:
            self.begin_anew()
        elif resumed:
            self._short_resumes += 1

    def begin_anew(self) -> None:
        """Forget the attempts so far: the link was stable, or the user asks for one."""
        self.attempts = self._replacements = self._short_resumes = self._fresh_starts = 0
        self.lost_at = None
        self._message_ends.clear()

    @property
    def is_spent(self) -> bool:
        """True when the server has failed so often that it is asked no more."""
        most = self.policy.max_unrecoverable_errors
        return most is not None and self.failures > most

    def after(self, end: LinkEnd, now: float, *, code: int = 0, attached: bool = False) -> Retry:
        """Return what follows an end of close code `code`; `attached`: a console is there."""
        if self.is_spent:
            return Retry(None)
        if end is LinkEnd.DORMANT:
            return Retry(None)
        if end in LEFT:
            return Retry(self._replacement_delay(), fresh=end is LinkEnd.STALLED and self._short_resumes >= RESUMES)
        if end is LinkEnd.REFUSED:
            return Retry(None)
        if end is LinkEnd.MESSAGE:
            return self._after_message(code)
        if end is LinkEnd.FAULT:
            # What brought the fault about may be in the server's session.
            return Retry(self._delay() if self.faults.allows(now) else None, fresh=self._short_resumes >= RESUMES)
        if self.lost_at is None:
            self.lost_at = now
        if end in ABOUT_SESSION:
            self._fresh_starts += 1
            if self._fresh_starts > FRESH_STARTS:
                return Retry(None, fresh=True)
            # The server is there, and the first fresh session is another question than the one that it has refused.
            return Retry(0.0 if self._fresh_starts == 1 else self._delay(), fresh=True)
        assert end in PATIENT
        delay = self._delay()
        if not attached:
            left = self.lost_at + self.policy.reconnect_for_s - now
            if left <= 0:
                return Retry(None)
            delay = min(delay, left)
        return Retry(delay, fresh=self._short_resumes >= RESUMES)

    def _after_message(self, code: int) -> Retry:
        self._message_ends.append(code)
        same = self._message_ends.count(code)
        if same > SAME_MESSAGE_ENDS:
            return Retry(None)
        return Retry(self._delay(), fresh=same == SAME_MESSAGE_ENDS)

    def _delay(self) -> float:
        self.attempts += 1
        if self.attempts == 1:
            return 0.0  # at once: each second without a connection is silence for the user
        bound = self.policy.first_delay_s * 2 ** min(self.attempts - 1, 20)
        return self.jitter.uniform(0, min(self.policy.longest_delay_s, bound))

    def _replacement_delay(self) -> float:
        """Return 0 for the first of a row, then a doubling delay.

        An agent may ask for a new connection after each.
        """
        self._replacements += 1
        if self._replacements <= FREE_REPLACEMENTS:
            return 0.0
        surplus = self._replacements - FREE_REPLACEMENTS
        return float(min(self.policy.longest_delay_s, self.policy.first_delay_s * 2 ** min(surplus, 10)))
