"""Errors that name the field, the value and the remedy, with exit codes."""

from __future__ import annotations

import errno
import os
import sys
from types import FrameType
from typing import ClassVar

_PACKAGE = os.path.dirname(__file__)
_AGENTS = os.path.join(_PACKAGE, "agents", "")
_LOADER = os.path.join(_AGENTS, "loader.py")
_STDLIB = os.path.dirname(os.__file__)


class GeminiLiveError(Exception):
    """Base of every error that a user may see.

    `str(error)` is the message and the remedy, as sentences. `code` names the class in events and JSON output;
    `exit_code` is the exit code of the command line.
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


_PERMISSION = frozenset((errno.EACCES, errno.EPERM))
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


def write_remedy(error: OSError, place: object) -> str:
    """Return what helps against the cause of a failed write in `place`."""
    if error.errno == errno.EROFS:
        return f"Mount the disk of {place} writable"
    if error.errno in _PERMISSION:
        return f"Give yourself the right to write in {place}"
    return f"{'Free some space on' if error.errno in _FULL else 'Check'} the disk of {place}"


class UsageError(GeminiLiveError):
    """Wrong request: a flag, a file name, a config value."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """Unusable value in a config file or an environment variable."""

    code = "config"


class FileExistsAlreadyError(UsageError):
    """Existing file at the path of an output file."""

    code = "file-exists"


class AgentError(UsageError):
    """Agent that cannot be found, imported or used."""

    code = "agent"


class TruthError(AgentError, TypeError):
    """Key or guard that was used as if it were true or false by itself."""

    code = "truth"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} has no value of its own", remedy="Combine guards with &, | and ~, not with and, or and not"
        )


class WorkspaceError(UsageError):
    """File or program that a model may not use, or that cannot be."""

    code = "workspace"


class StopResponse(Exception):  # noqa: N818 - it stops an answer, and is no fault
    """Drop the user's turn: the model does not answer it.

    Raised by `on_user_turn_completed`; `turn.cleared` has the reason.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)


class StateError(GeminiLiveError):
    """Unusable state key or value."""

    code = "state"


class NotSetError(StateError, KeyError):
    """State key without a value that was read with `[]`."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is not set", remedy="Set it first, or read it with get()", field="key", value=key)


class GuardError(GeminiLiveError):
    """Exception in a guard that is a function."""

    code = "guard"


class CredentialError(UsageError):
    """Missing or malformed credential, or one that must not be sent to a host."""

    code = "credential"


class AudioFileError(UsageError):
    """WAV file that cannot be read or written."""

    code = "audio-file"


class DeviceError(GeminiLiveError):
    """Audio device that is missing, busy or disconnected."""

    code = "device"


class WireError(GeminiLiveError):
    """Base of the errors that prevent or end a connection to a model."""

    code = "wire"


class UnreachableError(WireError):
    """Host that cannot be resolved or does not answer."""

    code = "unreachable"


class UpgradeRefusedError(WireError):
    """Refused HTTP upgrade. `status` is the HTTP status."""

    code = "upgrade-refused"

    def __init__(self, message: str, *, status: int, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="status", value=status)
        self.status = status


class SetupRejectedError(WireError):
    """Setup that the server did not answer with `setupComplete`.

    `status` is the HTTP status of an error object that came instead, or 0.
    """

    code = "setup-rejected"

    def __init__(
        self, message: str, *, status: int = 0, remedy: str = "", field: str = "setup", value: object = None
    ) -> None:
        super().__init__(message, remedy=remedy, field=field, value=value)
        self.status = status


class ProtocolError(WireError):
    """Frame or message that violates the protocol."""

    code = "protocol"


class FrameTooLargeError(ProtocolError):
    """Frame above the size limit."""

    code = "frame-too-large"


class ConnectionClosedError(WireError):
    """End of the connection.

    `close_code` and `reason` are the server's, unless this side closed (`by_us`); 1006 means that no close frame came,
    and the reason says what ended the connection. `status` is the HTTP status, 0 when unknown, of an error that the
    server sent just before, and None without one; `reason` is the error's then.
    """

    code = "connection-closed"

    def __init__(
        self,
        message: str,
        *,
        close_code: int,
        reason: str = "",
        remedy: str = "",
        by_us: bool = False,
        status: int | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, field="close_code", value=close_code)
        self.close_code = close_code
        self.reason = reason
        self.by_us = by_us
        self.status = status


class NotConnectedError(ConnectionClosedError):
    """Use of a connection before it is made or after its end: a caller's mistake."""

    code = "not-connected"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message, close_code=1006, remedy=remedy, by_us=True)


class JournalError(GeminiLiveError):
    """Session file that cannot be read or written."""

    code = "journal"


class NewerFormatError(JournalError):
    """Session file, link or schema of a newer version than this program reads."""

    code = "newer-format"


class EngineError(GeminiLiveError):
    """Engine process that cannot be started, found or reached."""

    code = "engine"


class MissingExtraError(GeminiLiveError):
    """Missing optional dependency. The remedy names the extra to install."""

    code = "missing-extra"


def _sentence(text: str) -> str:
    return text if text.endswith(("?", "!")) else f"{text.rstrip('.')}."


def caller_place() -> str:
    """Return the innermost caller outside this package, as `file.py:12`, or "".

    Bundled agents count as outside.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_package_file(file) and not file.startswith("<"):
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def author_place(error: BaseException) -> str:
    """Return the innermost line of agent code in a traceback, as `file.py:12`, or "".

    Bundled agents are agent code; installed packages and the standard library are not.
    """
    import traceback

    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        if _is_agent_file(file):
            return f"{os.path.basename(file)}:{line}"
    return ""


def _is_agent_file(file: str) -> bool:
    return not (
        file.startswith(("<", _STDLIB)) or "site-packages" in file.removeprefix(_PACKAGE) or _is_package_file(file)
    )


def _is_package_file(file: str) -> bool:
    return file.startswith(_PACKAGE) and (not file.startswith(_AGENTS) or file == _LOADER)


class HarnessError(GeminiLiveError):
    """Unusable record of a task, notification or memory, or change of one."""

    code = "harness"
