"""Where things live on this machine: config, sessions, engine doors. Folders are 0700, files 0600."""

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
# A Unix socket address holds 104 bytes on macOS and 108 on Linux, the terminator included.
_SOCKET_LIMIT = 100


def config_dir() -> Path:
    """The folder of `config.toml` and of the user's themes; not created."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False))


def data_dir() -> Path:
    """The folder of recorded sessions; not created."""
    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def state_dir() -> Path:
    """The folder of what programs remember from one start to the next; not created."""
    return Path(platformdirs.user_state_dir(APP, appauthor=False))


def sessions_dir() -> Path:
    """The folder that holds one folder a session; not created."""
    return data_dir() / "sessions"


def runtime_dir() -> Path:
    """The folder of live engines' doors; not created.

    Where the platform has none, or one that is too deep for a socket's address or not writable, a private folder
    right under the temporary one.
    """
    path = _platform_runtime_dir()
    if path is not None and len(os.fsencode(path)) <= _SOCKET_LIMIT - 30 and _usable(path):
        return path
    # Only here: a console pays for every import before its first paint.
    import hashlib

    digest = hashlib.sha256(os.fsencode(path or "")).hexdigest()[:8]
    uid = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"glt-{uid}-{digest}"


def _platform_runtime_dir() -> Path | None:
    """The platform's folder, or None. On Linux platformdirs would offer one below the shared temporary folder."""
    if sys.platform != "linux":
        return Path(platformdirs.user_runtime_dir(APP, appauthor=False))
    given = os.environ.get("XDG_RUNTIME_DIR", "").strip()
    path = Path(given) if given else Path(f"/run/user/{os.getuid()}")
    return path / APP if path.is_absolute() and path.is_dir() else None


def _usable(path: Path) -> bool:
    existing = path
    while not existing.exists() and existing.parent != existing:
        existing = existing.parent
    return os.access(existing, os.W_OK)


def private_dir(path: Path) -> Path:
    """Create `path` and its missing parents, readable by this user alone; refuse one that belongs to somebody else."""
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
    """Open `path` with mode 0600 from its creation on, never through a symbolic link; return the descriptor."""
    return os.open(path, flags | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)


def write_private(path: Path, value: object) -> None:
    """Write `value` as JSON to `path` (0600), whole or not at all; raises `OSError`."""
    import json

    part = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as file:
        json.dump(value, file)
    part.replace(path)


def safe_name(name: str, *, field: str = "name") -> str:
    """`name` if it is harmless as one path part: letters, digits, `.`, `_`, `-`, at most 80, not hidden."""
    if not _SAFE_NAME.fullmatch(name) or ".." in name:
        raise UsageError(
            f"{field} {name[:60]!r} cannot be used as a file name",
            remedy="Use letters, digits, dots, dashes and underscores, at most 80",
            field=field,
            value=name,
        )
    return name
