"""Stop an engine: over its socket, then by signals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from gemini_live_runtime import paths
from gemini_live_runtime.commands import Command, HangUp
from gemini_live_runtime.engine.link import Bye, LinkClosed
from gemini_live_runtime.engine.registry import STOPPED_FILE, engine_folder, is_alive, proven_pid, read_info
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.errors import EngineError, GeminiLiveError

GRACE_S = 5.0
"""Seconds to wait for a process to end after each step of stopping it."""

SILENCE_S = 5.0
"""Seconds for an engine's first answer; a frozen or blocked one gives none."""

TELL_S = 1.0
"""Seconds of waiting after which `stop_engine` tells about it."""

Tell = Callable[[str], None]


async def stop_engine(
    session_id: str, *, root: Path | None = None, patience_s: float = 15.0, tell: Tell = lambda text: None
) -> Literal["ended", "terminated", "killed"]:
    """Stop an engine and return how it ended: hang up, then SIGTERM, then SIGKILL.

    `patience_s` is the time for an orderly end; `tell` gets sentences about what is waited for. Only a process that the
    system names as the holder of the engine's lock is signalled. Raises `EngineError` for an unknown engine, or one
    that does not end.
    """
    folder = engine_folder(session_id, root)
    if not is_alive(folder):
        raise EngineError(
            f"There is no engine {session_id}", remedy="List engines with: gemini-live-tui ps", field="session id"
        )
    if await _hang_up(folder, patience_s, tell) and await _wait_until_dead(folder, GRACE_S):
        return "ended"
    pid = proven_pid(folder)
    if pid is None and not is_alive(folder):
        return "ended"
    if pid is None:
        info = read_info(folder)
        raise EngineError(
            f"The engine {session_id} does not answer, and the system does not tell which process it is",
            remedy=f"Look at process {info.pid}, and end it if it is the engine" if info is not None else "",
            field="session id",
        )
    tell(f"Sending SIGTERM to process {pid} of {session_id}; in {GRACE_S:g} s it is killed.")
    # A process that was stopped (Ctrl+Z, `kill -STOP`) takes the signal when it is continued.
    _signal(folder, pid, "SIGTERM", "SIGCONT")
    if await _wait_until_dead(folder, GRACE_S):
        return "terminated"
    tell(f"Process {pid} of {session_id} does not end; sending SIGKILL.")
    with contextlib.suppress(OSError):
        paths.write_private(folder / STOPPED_FILE, {})
    _signal(folder, pid, "SIGKILL")
    if await _wait_until_dead(folder, GRACE_S):
        return "killed"
    raise EngineError(f"The engine {session_id} (process {pid}) cannot be ended", field="session id")


def _signal(folder: Path, pid: int, *names: str) -> None:
    """Send those signals to the engine's process that the system has."""
    for name in names:
        number: int | None = getattr(signal, name, None)
        # Asked again: the engine may have ended, and the system may have given its id to another process.
        with contextlib.suppress(OSError):
            if number is not None and proven_pid(folder) == pid:
                os.kill(pid, number)


async def _hang_up(folder: Path, patience_s: float, tell: Tell) -> bool:
    """Send a hang-up command; return True when the engine said goodbye."""
    name, loop = folder.name, asyncio.get_running_loop()
    telling = loop.call_later(TELL_S, tell, f"{name} does not answer so far; waiting up to {SILENCE_S:g} s for it.")
    try:
        async with asyncio.timeout(patience_s), asyncio.timeout(SILENCE_S) as silence:
            link = await SocketLink.connect(folder)
            try:
                await link.send(Command("stop", HangUp(reason="stopped by gemini-live-tui stop")))
                message = await link.receive()
                silence.reschedule(None)
                telling.cancel()
                telling = loop.call_later(
                    TELL_S, tell, f"{name} was told to hang up; waiting up to {patience_s:g} s for its session to end."
                )
                while not isinstance(message, Bye):
                    message = await link.receive()
            finally:
                await link.close()
    except (OSError, LinkClosed, TimeoutError, GeminiLiveError):
        return False
    finally:
        telling.cancel()
    return True


async def _wait_until_dead(folder: Path, seconds: float) -> bool:
    # The system reports a process's end to its parent only: poll in growing steps.
    step, loop = 0.01, asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while is_alive(folder):
        if loop.time() >= deadline:
            return False
        await asyncio.sleep(step)
        step = min(step * 1.5, 0.2)
    return True
