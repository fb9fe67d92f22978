"""Stop an engine: over its socket, then by signals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Literal

from gemini_live_runtime.commands import Command, HangUp
from gemini_live_runtime.engine.link import Bye, LinkClosed
from gemini_live_runtime.engine.registry import engine_folder, is_alive, proven_pid, read_info
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.errors import EngineError, GeminiLiveError

GRACE_S = 5.0
"""Seconds to wait for a process to end after each step of stopping it."""


async def stop_engine(
    session_id: str, *, root: Path | None = None, patience_s: float = 15.0
) -> Literal["ended", "terminated", "killed"]:
    """Stop an engine and return how it ended: hang up, then SIGTERM, then SIGKILL.

    `patience_s` is the time for an orderly end. Only a process that the system names as the holder of the engine's lock
    is signalled. Raises `EngineError` for an unknown engine, or one that does not end.
    """
    folder = engine_folder(session_id, root)
    if not is_alive(folder):
        raise EngineError(
            f"There is no engine {session_id}", remedy="List engines with: gemini-live-tui ps", field="session id"
        )
    if await _hang_up(folder, patience_s) and await _wait_until_dead(folder, GRACE_S):
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
    steps: tuple[tuple[int, Literal["terminated", "killed"]], ...] = (
        (signal.SIGTERM, "terminated"),
        (getattr(signal, "SIGKILL", signal.SIGTERM), "killed"),
    )
    for number, outcome in steps:
        # Asked again: the engine may have ended, and the system may have given its id to another process.
        with contextlib.suppress(OSError):
            if proven_pid(folder) == pid:
                os.kill(pid, number)
        if await _wait_until_dead(folder, GRACE_S):
            return outcome
    raise EngineError(f"The engine {session_id} (process {pid}) cannot be ended", field="session id")


async def _hang_up(folder: Path, patience_s: float) -> bool:
    """Send a hang-up command; return True when the engine said goodbye."""
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
