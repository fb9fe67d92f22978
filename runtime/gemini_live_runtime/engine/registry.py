"""Which engines are alive: one folder each under the runtime folder, a lock held for as long as the process lives.

The lock, not the process id, says that an engine lives: ids are used again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gemini_live_runtime import paths
from gemini_live_runtime.errors import EngineError, GeminiLiveError, UsageError
from gemini_live_runtime.journal.disk import is_locked, lock

SPEC_FILE = "spec.json"
ENGINE_FILE = "engine.json"
LOCK_FILE = "engine.lock"
WORDS_FILE = "last-words.txt"
_FILES = (SPEC_FILE, ENGINE_FILE, "door", "door.json", WORDS_FILE, LOCK_FILE)

STARTING_S = 60.0
"""Seconds an engine may take from its folder's making to its lock."""


GRACE_S = 5.0
"""Seconds a process has to be gone after each step of being stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """A living engine. `started` is Unix seconds."""

    session_id: str
    pid: int
    agent: str
    backend: str
    started: float
    program: str


def engine_folder(session_id: str, root: Path | None = None) -> Path:
    """The folder of an engine's door; raises `UsageError` for an id that is no safe name."""
    return (root or paths.runtime_dir()) / paths.safe_name(session_id, field="session id")


def take_lock(folder: Path) -> int:
    """Mark `folder` as that of a living engine until this process ends; the descriptor to keep open."""
    fd = paths.open_private(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT)
    lock(fd)
    return fd


def is_alive(folder: Path) -> bool:
    """Whether the engine of `folder` lives."""
    if sys.platform == "win32":
        try:
            port = int(json.loads((folder / "door.json").read_text())["port"])
            with socket.create_connection(("127.0.0.1", port), 0.5):
                return True
        except (OSError, ValueError, KeyError, TypeError):
            return False
    return is_locked(folder / LOCK_FILE)


def list_engines(root: Path | None = None) -> list[EngineInfo]:
    """Living engines, oldest first; what dead ones left behind is removed."""
    root = root or paths.runtime_dir()
    found = []
    for folder in _folders(root):
        if is_alive(folder):
            info = _read(folder)
            if info is not None:
                found.append(info)
        elif _age(folder) > STARTING_S or (folder / ENGINE_FILE).exists():
            remove_folder(folder)
    return sorted(found, key=lambda info: (info.started, info.session_id))


def remove_folder(folder: Path, *, keep_words: bool = False) -> None:
    """Remove an engine's folder and the files an engine has; anything else keeps it there.

    `keep_words`: leave its last words for whoever started it.
    """
    for name in _FILES:
        if keep_words and name == WORDS_FILE:
            continue
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


async def stop_engine(
    session_id: str, *, root: Path | None = None, patience_s: float = 15.0
) -> Literal["ended", "terminated", "killed"]:
    """Hang up, then ask (SIGTERM), then force: how the engine ended. Raises `EngineError` when there is none."""
    folder = engine_folder(session_id, root)
    if not is_alive(folder):
        raise EngineError(
            f"There is no engine {session_id}", remedy="List engines with: gemini-live-tui ps", field="session id"
        )
    if await _hang_up(folder, patience_s) and await _gone(folder, GRACE_S):
        return "ended"
    info = _read(folder)
    if info is None:
        raise EngineError(f"The engine {session_id} does not answer and its process is unknown", field="session id")
    steps: tuple[tuple[int, Literal["terminated", "killed"]], ...] = (
        (signal.SIGTERM, "terminated"),
        (getattr(signal, "SIGKILL", signal.SIGTERM), "killed"),
    )
    for number, outcome in steps:
        with contextlib.suppress(OSError):
            os.kill(info.pid, number)
        if await _gone(folder, GRACE_S):
            return outcome
    raise EngineError(f"The engine {session_id} (process {info.pid}) cannot be ended", field="session id")


async def _hang_up(folder: Path, patience_s: float) -> bool:
    """Ask through the door; whether the engine said goodbye."""
    # Whoever only starts or lists engines needs no link.
    from gemini_live_runtime.commands import Command, HangUp
    from gemini_live_runtime.engine.link import Bye, LinkClosed
    from gemini_live_runtime.engine.socket_link import SocketLink

    try:
        async with asyncio.timeout(patience_s):
            link = await SocketLink.connect(folder)
            try:
                await link.send(Command("stop", HangUp(reason="stopped by gemini-live-tui stop")))
                while not isinstance(await link.receive(), Bye):
                    pass
            finally:
                await link.close()
    except (OSError, LinkClosed, TimeoutError, GeminiLiveError):
        return False
    return True


async def _gone(folder: Path, seconds: float) -> bool:
    # A process's end has no event for those who did not start it: look in growing steps.
    step, loop = 0.01, asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while is_alive(folder):
        if loop.time() >= deadline:
            return False
        await asyncio.sleep(step)
        step = min(step * 1.5, 0.2)
    return True


def _folders(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    found = []
    for name in names:
        with contextlib.suppress(UsageError):
            found.append(engine_folder(name, root))
    return found


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0.0


def _read(folder: Path) -> EngineInfo | None:
    try:
        with os.fdopen(paths.open_private(folder / ENGINE_FILE, os.O_RDONLY), encoding="utf-8") as file:
            value: Any = json.load(file)
        return EngineInfo(
            session_id=folder.name,
            pid=int(value["pid"]),
            agent=str(value["agent"]),
            backend=str(value["backend"]),
            started=float(value["started"]),
            program=str(value["program"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
