"""Whether and when a lost connection is made again."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    CredentialError,
    GeminiLiveError,
    UnreachableError,
    UpgradeRefusedError,
    WireError,
)
from gemini_live_runtime.wire.closes import CloseKind, CloseMeaning, classify

MAX_ATTEMPTS = 5
"""Attempts in a row before the connection is given up."""

FREE_MOVES = 5
"""Moves of our own, one soon after the other, that are made without a delay."""

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0
STABLE_S = 30.0
"""A connection that lasted so long begins the count of attempts anew; one that is closed at once does not."""

RESUMES = 2
"""Attempts with the resumption handle; after these a fresh session is begun, since a handle may be what fails."""

_PASSING = frozenset((1001, 1006, 1011, 1012, 1013, 1014))
"""Close codes that say nothing against trying again (RFC 6455, 7.4.1; 1011 is the Live API's own "try later")."""

_ORDERLY = frozenset((1000, 1005))
"""Close codes of an end that was meant: the session is over, unless the server only wanted another connection."""

_FRESH = frozenset((CloseKind.HANDLE, CloseKind.CONTEXT))
"""Ends after which only a session that begins anew will do, whatever the code."""


@dataclass(slots=True)
class ReconnectPolicy:
    """The attempts of one session. `jitter` is seedable; delays are random below a doubling bound ("full jitter")."""

    jitter: random.Random = field(default_factory=random.Random)
    attempts: int = 0
    moves: int = 0

    def connected(self, lasted_s: float) -> None:
        """A connection ended that had lasted so long."""
        if lasted_s >= STABLE_S:
            self.attempts = self.moves = 0

    def delay(self, error: GeminiLiveError, *, unresumable: bool = False, announced: bool = False) -> float | None:
        """Seconds to wait before the next attempt, or None to give up.

        `unresumable`: the server refused to take the session up again; a fresh one may still be begun. `announced`: the
        server had said that it would close.
        """
        again = unresumable or retryable(error) or (announced and _code(error) in _ORDERLY)
        if self.attempts >= MAX_ATTEMPTS or not again:
            return None
        self.attempts += 1
        if self.attempts == 1:
            return 0.0
        return self.jitter.uniform(0, min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (self.attempts - 1)))

    def move_delay(self) -> float:
        """Seconds to wait before a connection that was left on purpose is replaced: none, unless that never ends."""
        self.moves += 1
        if self.moves <= FREE_MOVES:
            return 0.0
        return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(self.moves - FREE_MOVES, 10)))

    @property
    def resumes(self) -> bool:
        """Whether the next attempt should bring the resumption handle."""
        return self.attempts <= RESUMES


def retryable(error: GeminiLiveError) -> bool:
    """Whether trying again may help: not for what the server refuses for good."""
    if isinstance(_close(error), ConnectionClosedError):
        meaning = _meaning(error)
        return meaning.retryable and (_code(error) in _PASSING or meaning.kind in _FRESH)
    if isinstance(error, UpgradeRefusedError):
        return error.status >= 500
    return isinstance(error, UnreachableError | WireError) and not isinstance(error, CredentialError)


def keeps_handle(error: GeminiLiveError) -> bool:
    """Whether the resumption handle is still worth an attempt after this end."""
    return not isinstance(_close(error), ConnectionClosedError) or _meaning(error).keep_handle


def _close(error: GeminiLiveError) -> BaseException | None:
    return error if isinstance(error, ConnectionClosedError) else error.__cause__


def _code(error: GeminiLiveError) -> int:
    close = _close(error)
    return close.close_code if isinstance(close, ConnectionClosedError) else 0


def _meaning(error: GeminiLiveError) -> CloseMeaning:
    close = _close(error)
    return classify(close.close_code, close.reason) if isinstance(close, ConnectionClosedError) else classify(1006)
