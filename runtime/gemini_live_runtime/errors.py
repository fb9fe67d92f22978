"""Typed errors: each names the field, the value and the remedy, and knows its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import ClassVar

_PACKAGE = os.path.dirname(__file__)
_AGENTS = os.path.join(_PACKAGE, "agents", "")
_LOADER = os.path.join(_AGENTS, "loader.py")
_STDLIB = os.path.dirname(os.__file__)


class GeminiLiveError(Exception):
    """Base of every error that a person may see.

    `str(error)` is one sentence fit for a person: what is wrong and what to do.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, remedy: str = "", field: str = "", value: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.field = field
        self.value = value

    def __str__(self) -> str:
        return " ".join(_sentence(part) for part in (self.message, self.remedy) if part)


class UsageError(GeminiLiveError):
    """The request itself is wrong: a flag, a file name, a config value."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A config file or environment variable holds something unusable."""

    code = "config"


class FileExistsAlreadyError(UsageError):
    """A file stands where one is to be written."""

    code = "file-exists"


class AgentError(UsageError):
    """An agent cannot be found, imported or used."""

    code = "agent"


class StateError(GeminiLiveError):
    """A state key or value that cannot be used."""

    code = "state"


class NotSetError(StateError, KeyError):
    """A state key that was read with `[]` and has no value."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is not set", remedy="Set it first, or read it with get()", field="key", value=key)


class GuardError(GeminiLiveError):
    """A guard written as a function raised."""

    code = "guard"


class CredentialError(UsageError):
    """No credential, one of the wrong shape, or one that may not be sent there."""

    code = "credential"


class AudioFileError(UsageError):
    """A WAV file that cannot be read or written."""

    code = "audio-file"


class DeviceError(GeminiLiveError):
    """A sound device that is absent, busy or gone."""

    code = "device"


class WireError(GeminiLiveError):
    """Anything that ends or prevents a connection to a model."""

    code = "wire"


class UnreachableError(WireError):
    """The host cannot be resolved or does not answer."""

    code = "unreachable"


class UpgradeRefusedError(WireError):
    """The HTTP upgrade was refused. `status` is the HTTP status."""

    code = "upgrade-refused"

    def __init__(self, message: str, *, status: int, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="status", value=status)
        self.status = status


class SetupRejectedError(WireError):
    """The server closed, or answered something else, instead of `setupComplete`."""

    code = "setup-rejected"


class ProtocolError(WireError):
    """A frame that is not what the protocol allows."""

    code = "protocol"


class FrameTooLargeError(ProtocolError):
    """A frame above the message limit."""

    code = "frame-too-large"


class ConnectionClosedError(WireError):
    """The connection ended. `close_code` and `reason` are the server's own (1006: none was given)."""

    code = "connection-closed"

    def __init__(self, message: str, *, close_code: int, reason: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="close_code", value=close_code)
        self.close_code = close_code
        self.reason = reason


class JournalError(GeminiLiveError):
    """A session file that cannot be read or written."""

    code = "journal"


class NewerFormatError(JournalError):
    """A session file, link or schema of a version newer than this program reads."""

    code = "newer-format"


class EngineError(GeminiLiveError):
    """The engine process cannot be started, found or talked to."""

    code = "engine"


class MissingExtraError(GeminiLiveError):
    """An optional part is not installed. The remedy names the extra."""

    code = "missing-extra"


def traceback_lines(error: BaseException) -> Iterator[str]:
    """The lines of an error's traceback, for a log. Redact and sanitise them like any text."""
    import traceback

    for block in traceback.format_exception(error):
        yield from block.rstrip().splitlines()


def _sentence(text: str) -> str:
    return text if text.endswith(("?", "!")) else f"{text.rstrip('.')}."


def caller_place() -> str:
    """Where an author's code called into this package, as `file.py:12`; "" when nobody else is on the stack.

    Bundled agents count as author's code.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_ours(file) and not file.startswith("<"):
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def author_place(error: BaseException) -> str:
    """The innermost line of an author's own code that `error` came through, as `file.py:12`; "" for none.

    Bundled agents count as author's code, installed packages and the standard library do not.
    """
    import traceback

    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_authors(frame.filename):
            return f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return ""


def _is_authors(file: str) -> bool:
    return not (file.startswith(("<", _STDLIB)) or "site-packages" in file.removeprefix(_PACKAGE) or _is_ours(file))


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE) and (not file.startswith(_AGENTS) or file == _LOADER)
