"""Find and list living engines: one folder each under the runtime folder.

A lock that the process holds until it dies, not the process id, says that an engine lives: the system reuses ids. A
folder without a held lock is that of a dead engine, or of one that is just starting: it is removed when it is older
than `STARTING_S`, or when `engine.json`, written after the lock was taken, is in it.

The runtime folder and the engines' folders in it are this user's alone (`paths.own_folder`); of what is not, nothing is
listed, read, signalled or removed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import stat
import sys
import time
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.errors import EngineError, UsageError
from gemini_live_runtime.journal.files.disk import is_locked, lock_holder, sign_lock, try_lock
from gemini_live_runtime.json_values import strict_decoder
from gemini_live_runtime.records import keyword_record

SPEC_FILE = "spec.json"
ENGINE_FILE = "engine.json"
LOCK_FILE = "engine.lock"
SOCKET_FILE = "door"
"""Name of the Unix socket; consoles of other versions look for it, too."""

TOKEN_FILE = "door.json"  # noqa: S105 - a file name
"""Name of the file with port and token, where there are no Unix sockets."""

OUTPUT_FILE = "last-words.txt"
"""Name of the file with the engine's output before it sends events."""

STOPPED_FILE = "stopped"
"""Name of the file that says that the user ends this engine, which no console starts again."""

_FILES = (SPEC_FILE, ENGINE_FILE, SOCKET_FILE, TOKEN_FILE, OUTPUT_FILE, STOPPED_FILE, LOCK_FILE)

MAX_ENGINE_BYTES = 64 * 1024
MAX_TOKEN_BYTES = 4096

_LOCK_ATTEMPTS = 50
_LOCK_STEP_S = 0.02
"""Number of attempts to take the lock, and seconds between them: `is_alive` holds it for an instant."""

STARTING_S = 60.0
"""Longest time in seconds from the creation of an engine's folder to its lock."""


@keyword_record
class EngineInfo:
    """Living engine; `started` is Unix seconds."""

    session_id: str
    pid: int
    agent: str
    backend: str
    started: float
    program: str
    profile: str = ""
    """Name of the profile; "" for an engine of an older version."""


def engine_folder(session_id: str, root: Path | None = None) -> Path:
    """Return an engine's folder, which need not exist.

    Raises `UsageError` for an id that is no safe name, and for a runtime folder that another user can change.
    """
    name = paths.safe_name(session_id, field="session id")
    return _own_root(root) / name


def take_lock(folder: Path) -> int:
    """Mark `folder` as a living engine's; return the descriptor to keep open.

    Raises `EngineError` when another engine has it: waiting would begin a session long after it was asked for.
    """
    fd = paths.open_private(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT)
    for _ in range(_LOCK_ATTEMPTS):
        if try_lock(fd):
            sign_lock(fd)
            return fd
        time.sleep(_LOCK_STEP_S)
    os.close(fd)
    raise EngineError(f"An engine {folder.name} is running already", field="session id", value=folder.name)


def is_alive(folder: Path) -> bool:
    """Return True when the engine of `folder` lives."""
    if sys.platform == "win32":
        try:
            port = int(json.loads((folder / TOKEN_FILE).read_text())["port"])
            with socket.create_connection(("127.0.0.1", port), 0.5):
                return True
        except (OSError, ValueError, KeyError, TypeError):
            return False
    return _is_own(folder) and is_locked(folder / LOCK_FILE)


def proven_pid(folder: Path) -> int | None:
    """Return the id of the process that holds the lock of `folder`.

    The system tells it, since a file may name any process. None where the system does not.
    """
    return lock_holder(folder / LOCK_FILE) if _is_own(folder) else None


def list_engines(root: Path | None = None) -> list[EngineInfo]:
    """Return the living engines, oldest first, and remove the folders of dead ones.

    Raises `UsageError` for a runtime folder that another user can change.
    """
    found = []
    for folder in _folders(_own_root(root)):
        if is_alive(folder):
            info = read_info(folder)
            if info is not None:
                found.append(info)
        # Without a lock and young: it may be starting. With its engine file it has started, and died since.
        elif _age(folder) > STARTING_S or (folder / ENGINE_FILE).exists():
            remove_folder(folder)
    return sorted(found, key=lambda info: (info.started, info.session_id))


def remove_folder(folder: Path, *, keep_output: bool = False) -> None:
    """Remove an engine's folder and files; a folder with another file stays.

    `keep_output`: leave its output for the console that started it.
    """
    for name in _FILES:
        if keep_output and name == OUTPUT_FILE:
            continue
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _folders(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    found = []
    for name in names:
        with contextlib.suppress(UsageError):
            found.append(root / paths.safe_name(name))
    return [folder for folder in found if _is_own(folder)]


def _own_root(root: Path | None) -> Path:
    """Return the runtime folder; one that exists is checked."""
    root = root or paths.runtime_dir()
    try:
        return paths.own_folder(root)
    except FileNotFoundError:
        return root
    except OSError as error:
        raise UsageError(
            f"The runtime folder {root} cannot be used: {error.strerror or error}",
            remedy="Set XDG_RUNTIME_DIR to a folder of your own",
            field="runtime folder",
            value=str(root),
        ) from None


def _is_own(folder: Path) -> bool:
    if sys.platform == "win32":
        return True
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0.0


def read_info(folder: Path) -> EngineInfo | None:
    """Return what an engine wrote about itself; None when it cannot be read."""
    try:
        text = paths.read_regular(folder / ENGINE_FILE, MAX_ENGINE_BYTES, follow=False).decode("utf-8")
        value: Any = strict_decoder.decode(text)
        return EngineInfo(
            session_id=folder.name,
            pid=int(value["pid"]),
            agent=str(value["agent"]),
            backend=str(value["backend"]),
            started=float(value["started"]),
            program=str(value["program"]),
            profile=str(value.get("profile", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def read_token(folder: Path) -> tuple[int, str]:
    """Return port and token of an engine; raises `OSError`."""
    path = folder / TOKEN_FILE
    data = paths.read_regular(path, MAX_TOKEN_BYTES, follow=False)
    try:
        value: Any = strict_decoder.decode(data.decode())
        port, token = value["port"], value["token"]
        if not isinstance(port, int) or not 0 < port < 2**16 or not isinstance(token, str):
            raise ValueError("port or token")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise OSError(errno.EINVAL, "it is damaged", str(path)) from None
    return port, token
