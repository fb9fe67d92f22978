"""Find the user at the other end of a Unix socket, as the system tells it."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Any

_LOCAL_PEERCRED = 1
"""Option LOCAL_PEERCRED at level 0 on macOS and BSD, from which getpeereid(3) reads."""

_XUCRED_BYTES = 76


def peer_uid(connection: Any) -> int | None:
    """Return the user id at the other end of a Unix socket; None when unknown.

    At the end that connected it is that of the process which listens.
    """
    if sys.platform == "win32" or connection is None or connection.family != socket.AF_UNIX:
        return None
    option = getattr(socket, "SO_PEERCRED", None)
    if option is not None:
        _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
        return int(uid)
    if sys.platform == "darwin" or "bsd" in sys.platform:
        # struct xucred begins with its version and the effective user id.
        _, uid = struct.unpack_from("2I", connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES))
        return int(uid)
    return None
