"""Class why a connection ended or could not be made.

The class decides whether another attempt may help, and with which session. Close codes have many meanings, so reason
texts decide first (`wire.closes`).
"""

from __future__ import annotations

from enum import StrEnum

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    CredentialError,
    GeminiLiveError,
    ProtocolError,
    SetupRejectedError,
    UnreachableError,
    UpgradeRefusedError,
    WireError,
)
from gemini_live_runtime.wire.closes import CREDENTIAL_STATUS, CloseKind, CloseMeaning, classify


class LinkEnd(StrEnum):
    """Reason class of a connection that ended, or that was not made."""

    MOVED = "moved"
    """Left on purpose, for another connection."""
    DORMANT = "dormant"
    """Left because nothing goes on; another connection follows when something does."""
    STALLED = "stalled"
    """Left because the server owed an answer and kept silent."""
    NETWORK = "network"
    """The network, or a server that cannot be reached."""
    PASSING = "passing"
    """A state of the server that passes: busy, failing, at its time limit."""
    ORDERLY = "orderly"
    """An end of the server's without a fault, which it had not announced."""
    HANDLE = "handle"
    """The resumption handle was refused; a fresh session may begin."""
    CONTEXT = "context"
    """The conversation is too long to be resumed; a fresh session may begin."""
    MESSAGE = "message"
    """A message that one side could not take."""
    REFUSED = "refused"
    """The key, the model or the setup was refused: only the user can change that."""
    FAULT = "fault"
    """A fault in this program."""


LEFT = frozenset((LinkEnd.MOVED, LinkEnd.STALLED))
"""Ends that are ours: another connection follows at once."""

PATIENT = frozenset((LinkEnd.NETWORK, LinkEnd.PASSING, LinkEnd.ORDERLY))
"""Ends that pass by themselves, however often they come."""

ABOUT_SESSION = frozenset((LinkEnd.HANDLE, LinkEnd.CONTEXT))
"""Ends after which only a fresh session can succeed."""

_REFUSALS = frozenset((CloseKind.AUTH, CloseKind.QUOTA, CloseKind.LOCATION))
"""Kinds of close that are refusals at any moment."""

_PASSING = frozenset((CloseKind.UNAVAILABLE, CloseKind.INTERNAL, CloseKind.DEADLINE, CloseKind.UNKNOWN))

_ABOUT_SESSION = {CloseKind.HANDLE: LinkEnd.HANDLE, CloseKind.CONTEXT: LinkEnd.CONTEXT}


def end_of(error: GeminiLiveError, *, was_ready: bool) -> LinkEnd:
    """Return the class of `error`; `was_ready`: the server had accepted the setup."""
    close = _close(error)
    if isinstance(close, ConnectionClosedError):
        return _end_of_close(close, was_ready)
    if isinstance(error, UpgradeRefusedError | SetupRejectedError) and error.status:
        return LinkEnd.PASSING if error.status >= 500 else LinkEnd.REFUSED
    if isinstance(error, UnreachableError):
        return LinkEnd.NETWORK
    if isinstance(error, SetupRejectedError):
        return LinkEnd.PASSING
    if isinstance(error, ProtocolError):
        return LinkEnd.MESSAGE
    if isinstance(error, WireError) and not isinstance(error, CredentialError):
        return LinkEnd.NETWORK
    return LinkEnd.REFUSED


def _end_of_close(close: ConnectionClosedError, was_ready: bool) -> LinkEnd:
    kind = _meaning(close).kind
    if kind in _ABOUT_SESSION:
        return _ABOUT_SESSION[kind]
    if kind in _REFUSALS:
        return LinkEnd.REFUSED
    if kind is CloseKind.NETWORK:
        return LinkEnd.NETWORK
    if kind is CloseKind.NORMAL:
        return LinkEnd.ORDERLY
    if kind in _PASSING:
        return LinkEnd.PASSING
    # A model or an argument that is refused once the talk goes on may be about one message.
    return LinkEnd.MESSAGE if was_ready else LinkEnd.REFUSED


def keeps_handle(error: GeminiLiveError) -> bool:
    """Return True when the resumption handle may still work after this end."""
    close = _close(error)
    return not isinstance(close, ConnectionClosedError) or _meaning(close).keep_handle


def refuses_handle(error: GeminiLiveError) -> bool:
    """Return True when a server that refused to resume may still begin a new session.

    False for one that is only busy or slow, or refuses the credential: that says nothing about the handle.
    """
    if not isinstance(error, SetupRejectedError) or error.status in CREDENTIAL_STATUS:
        return False
    close = _close(error)
    if isinstance(close, ConnectionClosedError) and not (meaning := _meaning(close)).retryable:
        return not meaning.keep_handle
    return not (end_of(error, was_ready=False) in PATIENT and keeps_handle(error))


def close_code_of(error: GeminiLiveError) -> int:
    """Return the close code of `error`; 0 for an error without one."""
    close = _close(error)
    return close.close_code if isinstance(close, ConnectionClosedError) else 0


def _close(error: GeminiLiveError) -> BaseException | None:
    return error if isinstance(error, ConnectionClosedError) else error.__cause__


def _meaning(close: ConnectionClosedError) -> CloseMeaning:
    return classify(close.close_code, close.reason, by_us=close.by_us, status=close.status)
