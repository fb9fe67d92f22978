"""Tell an engine that records have changed, and ask it what it does.

An engine that gets no poke finds changes by its poll. So nothing here waits long, and nothing raises: a program that
queues a notification has done its part once the file is written.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from gemini_live_runtime.engine.peer import peer_uid
from gemini_live_runtime.engine.registry import SOCKET_FILE, TOKEN_FILE, engine_folder, is_alive, read_token
from gemini_live_runtime.engine.status import EngineStatus
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.harness.delivery import delivering_engine
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.journal.files.disk import is_locked

MAX_ANSWER = 64 * 1024
"""Bytes of the longest answer."""

POKE_S = 1.0
"""Seconds for the engine's answer."""


def poke(session_id: str, root: Path | None = None) -> bool:
    """Tell an engine that records have changed; return False when it does not answer."""
    try:
        folder = engine_folder(session_id, root)
        return is_alive(folder) and b'"poked"' in _exchange(folder, "poke")
    except (OSError, UsageError):
        return False


def status_of(session_id: str, root: Path | None = None) -> EngineStatus | None:
    """Return what an engine does; None without an answer, or from an earlier version."""
    try:
        return EngineStatus.from_json(json.loads(_exchange(engine_folder(session_id, root), "status"))["status"])
    except (OSError, UsageError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def poke_deliverer(paths: HarnessPaths) -> bool:
    """Tell the program that delivers notifications; return False without one.

    One that is no engine of its own, such as `talk`, finds the change within its poll.
    """
    name = delivering_engine(paths)
    return bool(name) and (poke(name) or is_locked(paths.delivery_lock))


def _exchange(folder: Path, word: str) -> bytes:
    """Return the engine's answer; b"" when another user listens."""
    token: dict[str, str] = {}
    address: tuple[str, int] | str = os.fspath(folder / SOCKET_FILE)
    family = getattr(socket, "AF_UNIX", socket.AF_INET)
    if (folder / TOKEN_FILE).exists() or sys.platform == "win32":
        port, secret = read_token(folder)
        token, address, family = {"token": secret}, ("127.0.0.1", port), socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(POKE_S)
        connection.connect(address)
        listener = peer_uid(connection)
        if listener is not None and listener != os.getuid():
            return b""
        connection.sendall(json.dumps({word: token}).encode() + b"\n")
        answer = b""
        while len(answer) < MAX_ANSWER and not answer.endswith(b"\n") and (part := connection.recv(4096)):
            answer += part
        return answer
