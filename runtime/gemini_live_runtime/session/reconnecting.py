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

MAX_ATTEMPTS = 5
"""Attempts in a row before the connection is given up."""

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0
STABLE_S = 30.0
"""A connection that lasted so long begins the count of attempts anew; one that is closed at once does not."""

RESUMES = 2
"""Attempts with the resumption handle; after these a fresh session is begun, since a handle may be what fails."""

_PASSING = frozenset((1001, 1006, 1011, 1012, 1013, 1014))
"""Close codes that say nothing against trying again (RFC 6455, 7.4.1; 1011 is the Live API's own "try later")."""


@dataclass(slots=True)
class Reconnecting:
    """The attempts of one session. `jitter` is seedable; delays are random below a doubling bound ("full jitter")."""

    jitter: random.Random = field(default_factory=random.Random)
    attempts: int = 0

    def connected(self, lasted_s: float) -> None:
        """A connection ended that had lasted so long."""
        if lasted_s >= STABLE_S:
            self.attempts = 0

    def delay(self, error: GeminiLiveError, *, unresumable: bool = False) -> float | None:
        """Seconds to wait before the next attempt, or None to give up.

        `unresumable`: the server refused to take the session up again; a fresh one may still be begun.
        """
        if self.attempts >= MAX_ATTEMPTS or not (unresumable or retryable(error)):
            return None
        self.attempts += 1
        if self.attempts == 1:
            return 0.0
        return self.jitter.uniform(0, min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (self.attempts - 1)))

    @property
    def resumes(self) -> bool:
        """Whether the next attempt should bring the resumption handle."""
        return self.attempts <= RESUMES


def retryable(error: GeminiLiveError) -> bool:
    """Whether trying again may help: not for what the server refuses for good."""
    cause = error if isinstance(error, ConnectionClosedError) else error.__cause__
    if isinstance(cause, ConnectionClosedError):
        return cause.close_code in _PASSING
    if isinstance(error, UpgradeRefusedError | CredentialError):
        return False
    return isinstance(error, UnreachableError | WireError)
