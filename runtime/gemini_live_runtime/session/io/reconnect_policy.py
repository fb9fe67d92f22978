"""Decide whether and when to reconnect after the connection was lost."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    CredentialError,
    GeminiLiveError,
    SetupRejectedError,
    UnreachableError,
    UpgradeRefusedError,
    WireError,
)
from gemini_live_runtime.wire.closes import CREDENTIAL_STATUS, CloseKind, CloseMeaning, classify

MAX_ATTEMPTS = 5
"""Attempts in a row before giving up."""

FREE_REPLACEMENTS = 5
"""Intended changes of connection in quick succession that happen without a delay."""

FIRST_DELAY_S = 0.5
"""Upper bound in seconds of the first random delay; it doubles with each attempt."""
LONGEST_DELAY_S = 15.0
"""Largest delay in seconds."""
STABLE_S = 30.0
"""Seconds after which a connection is stable and resets the number of attempts."""

RESUMES = 2
"""Attempts with the resumption handle; later ones begin a new session, because the handle may be the cause."""

_TRANSIENT = frozenset((1001, 1006, 1011, 1012, 1013, 1014))
"""Close codes after which a retry may succeed (RFC 6455, 7.4.1; 1011 is the Live API's own "try later")."""

_ORDERLY = frozenset((1000, 1005))
"""Close codes of an intended end: the session is over, unless the server had announced it by `goAway`."""

_NEEDS_NEW_SESSION = frozenset((CloseKind.HANDLE, CloseKind.CONTEXT))
"""Kinds of close after which only a new session can succeed, with any code."""


@dataclass(slots=True)
class ReconnectPolicy:
    """Attempts of one session to reconnect.

    Delays are random below a doubling bound ("full jitter"); `jitter` can be seeded.
    """

    jitter: random.Random = field(default_factory=random.Random)
    attempts: int = 0
    replacements: int = 0

    def connected(self, lasted_s: float) -> None:
        """Note the end of a connection that lasted `lasted_s` seconds."""
        if lasted_s >= STABLE_S:
            self.attempts = self.replacements = 0

    def delay(self, error: GeminiLiveError, *, unresumable: bool = False, announced: bool = False) -> float | None:
        """Return the seconds to wait before the next attempt, or None to give up.

        `unresumable`: the server refused to resume the session; a new one may still begin. `announced`: the server had
        announced that it would close.
        """
        may_succeed = unresumable or retryable(error) or (announced and _code(error) in _ORDERLY)
        if self.attempts >= MAX_ATTEMPTS or not may_succeed:
            return None
        self.attempts += 1
        if self.attempts == 1:
            return 0.0  # at once: each second without a connection is silence for the user
        return self.jitter.uniform(0, min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (self.attempts - 1)))

    def replacement_delay(self) -> float:
        """Return the seconds to wait before replacing a connection left on purpose.

        0 for the first `FREE_REPLACEMENTS` of a row, then a doubling delay: an agent may ask for a new one after each.
        """
        self.replacements += 1
        if self.replacements <= FREE_REPLACEMENTS:
            return 0.0
        return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(self.replacements - FREE_REPLACEMENTS, 10)))

    @property
    def resumes(self) -> bool:
        """True when the next attempt should send the resumption handle."""
        return self.attempts <= RESUMES


def retryable(error: GeminiLiveError) -> bool:
    """Return True when a retry may succeed: the server has not refused for good."""
    if isinstance(_close(error), ConnectionClosedError):
        meaning = _meaning(error)
        return meaning.retryable and (_code(error) in _TRANSIENT or meaning.kind in _NEEDS_NEW_SESSION)
    if isinstance(error, UpgradeRefusedError | SetupRejectedError) and error.status:
        return error.status >= 500
    return isinstance(error, UnreachableError | WireError) and not isinstance(error, CredentialError)


def keeps_handle(error: GeminiLiveError) -> bool:
    """Return True when the resumption handle may still work after this end."""
    return not isinstance(_close(error), ConnectionClosedError) or _meaning(error).keep_handle


def refuses_handle(error: GeminiLiveError) -> bool:
    """Return True when a server that refused to resume may still begin a new session.

    False for one that is only busy or slow, or refuses the credential: that says nothing about the handle.
    """
    if not isinstance(error, SetupRejectedError) or error.status in CREDENTIAL_STATUS:
        return False
    if isinstance(_close(error), ConnectionClosedError) and not (meaning := _meaning(error)).retryable:
        return not meaning.keep_handle
    return not (retryable(error) and keeps_handle(error))


def _close(error: GeminiLiveError) -> BaseException | None:
    return error if isinstance(error, ConnectionClosedError) else error.__cause__


def _code(error: GeminiLiveError) -> int:
    close = _close(error)
    return close.close_code if isinstance(close, ConnectionClosedError) else 0


def _meaning(error: GeminiLiveError) -> CloseMeaning:
    close = _close(error)
    if not isinstance(close, ConnectionClosedError):
        return classify(1006)
    return classify(close.close_code, close.reason, by_us=close.by_us)
