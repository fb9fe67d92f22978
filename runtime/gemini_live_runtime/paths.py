"""Locate and create private files: config, sessions, engine sockets.

Folders are created with mode 0700, files with 0600.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

import platformdirs

from gemini_live_runtime.errors import UsageError

APP = "gemini-live-tui"
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
# A Unix socket address has room for 104 bytes on macOS and 108 on Linux, the terminator included.
_SOCKET_LIMIT = 100


def config_dir() -> Path:
    """Return the folder of `config.toml` and the user's themes; it may not exist."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False))


def data_dir() -> Path:
    """Return the folder of recorded data; it may not exist."""
    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def state_dir() -> Path:
    """Return the folder of what the console remembers; it may not exist."""
    return Path(platformdirs.user_state_dir(APP, appauthor=False))


def sessions_dir() -> Path:
    """Return the parent of the session folders; it may not exist."""
    return data_dir() / "sessions"


def runtime_dir() -> Path:
    """Return the folder of running engines' sockets; it may not exist.

    Falls back to a folder of this user in the temporary folder when the platform has no runtime folder, or one that
    is not writable or too long for the address of a socket.
    """
    path = _platform_runtime_dir()
    if path is not None and len(os.fsencode(path)) <= _SOCKET_LIMIT - 30 and _is_writable(path):
        return path
    # Imported here because every import delays the console's first paint.
    import hashlib

    digest = hashlib.sha256(os.fsencode(path or "")).hexdigest()[:8]
    uid = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"glt-{uid}-{digest}"


def _platform_runtime_dir() -> Path | None:
    """Return the platform's runtime folder, or None.

    Not left to platformdirs on Linux, which falls back to a folder in the shared temporary one.
    """
    if sys.platform != "linux":
        return Path(platformdirs.user_runtime_dir(APP, appauthor=False))
    configured = os.environ.get("XDG_RUNTIME_DIR", "").strip()
    path = Path(configured) if configured else Path(f"/run/user/{os.getuid()}")
    return path / APP if path.is_absolute() and path.is_dir() else None


def _is_writable(path: Path) -> bool:
    existing = path
    while not existing.exists() and existing.parent != existing:
        existing = existing.parent
    return os.access(existing, os.W_OK)


def private_dir(path: Path) -> Path:
    """Create a folder that only this user can read, with missing parents.

    Raises `UsageError` when the folder belongs to another user.
    """
    for missing in [parent for parent in reversed(path.parents) if not parent.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and {path.lstat().st_uid, path.stat().st_uid} != {os.getuid()}:
        raise UsageError(
            f"The folder {path} belongs to another user",
            remedy="Remove it or set XDG_RUNTIME_DIR / XDG_DATA_HOME to a folder of your own",
            field="folder",
            value=str(path),
        )
    with contextlib.suppress(OSError):
        path.chmod(0o700)
    return path


def open_private(path: Path, flags: int) -> int:
    """Open a file with mode 0600 from its creation on, and return the descriptor.

    Does not follow a symbolic link. Raises `OSError`.
    """
    return os.open(path, flags | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)


def write_private(path: Path, value: object) -> None:
    """Write `value` as JSON to `path` (mode 0600), atomically; raises `OSError`."""
    import json

    write_private_text(path, json.dumps(value))


def write_private_text(path: Path, text: str, *, sync: bool = False) -> None:
    """Write `text` to `path` (mode 0600), atomically; raises `OSError`.

    `sync` waits until the file is on the disk.
    """
    # Renaming is atomic, so a reader sees the old file or the whole new one.
    part = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as file:
        file.write(text)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)


def safe_name(name: str, *, field: str = "name") -> str:
    """Return `name` when it is safe as one part of a path, else raise `UsageError`.

    Safe are at most 80 letters, digits, `.`, `_`, `-` without `..`, starting with a letter or digit.
    """
    if not _SAFE_NAME.fullmatch(name) or ".." in name:
        raise UsageError(
            f"{field} {name[:60]!r} cannot be used as a file name",
            remedy="Use letters, digits, dots, dashes and underscores, at most 80",
            field=field,
            value=name,
        )
    return name
