"""Tell an engine that tasks or notifications have changed.

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
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.harness.delivery import delivering_engine
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.journal.disk import is_locked

POKE_S = 1.0
"""Seconds for the engine's answer."""


def poke(session_id: str, root: Path | None = None) -> bool:
    """Tell an engine that records have changed; return False when it does not answer."""
    try:
        folder = engine_folder(session_id, root)
        return is_alive(folder) and _exchange(folder)
    except (OSError, UsageError):
        return False


def poke_deliverer(paths: HarnessPaths) -> bool:
    """Tell the program that delivers notifications; return False without one.

    One that is no engine of its own, such as `talk`, finds the change within its poll.
    """
    name = delivering_engine(paths)
    return bool(name) and (poke(name) or is_locked(paths.delivery_lock))


def _exchange(folder: Path) -> bool:
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
            return False
        connection.sendall(json.dumps({"poke": token}).encode() + b"\n")
        return b'"poked"' in connection.recv(1024)
