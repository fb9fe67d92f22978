"""Locate and create private files: config, sessions, engine sockets.

Folders are created with mode 0700, files with 0600. The engines' folders lie where other users may write, too (the
temporary folder), and an engine runs what it finds there: `own_folder` accepts one only when no other user can put
another in its place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

import platformdirs

from gemini_live_runtime.errors import UsageError

APP = "gemini-live-tui"
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
# A Unix socket address has room for 104 bytes on macOS and 108 on Linux, the terminator included.
_MAX_SOCKET_PATH = 100
_OTHER_FOLDER = "XDG_RUNTIME_DIR to a folder of your own"


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
    if path is not None and len(os.fsencode(path)) <= _MAX_SOCKET_PATH - 30 and _is_writable(path):
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
    return path / APP if path.is_absolute() and os.path.isdir(path) else None


def _is_writable(path: Path) -> bool:
    # Not `Path.exists`, which raises in a folder that this user may not enter: after `su` the other's runtime folder.
    existing = path
    while not os.path.exists(existing) and existing.parent != existing:
        existing = existing.parent
    return os.access(existing, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def expand_user(path: str | Path, *, field: str = "path") -> Path:
    """Return a path with `~` and `~user` expanded.

    Raises `UsageError` for a user that does not exist, and for what is no path.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{field} is {path!r:.60}, which is no path", remedy="Give a path", field=field, value=path)
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{field} is {str(path)[:60]!r}, which is no user's home folder",
            remedy="Write the path in full",
            field=field,
            value=str(path)[:80],
        ) from None


def private_dir(path: Path) -> Path:
    """Create a folder that only this user can read, with missing parents.

    Raises `UsageError` when the folder belongs to another user, or one of this program's folders above it does.
    """
    if not os.path.isdir(path):
        for missing in [parent for parent in reversed(path.parents) if not parent.exists()]:
            missing.mkdir(mode=0o700, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid"):
        variable, top = _our_folder(path)
        for folder in (path, *path.parents)[: len(path.parts) - len(top.parts) + 1]:
            if not is_own(folder):
                remedy = f"set {variable} to a folder of your own" if variable else "give a folder of your own"
                raise UsageError(
                    f"The folder {folder} belongs to another user",
                    remedy=f"Remove it, or {remedy}",
                    field="folder",
                    value=str(folder),
                )
    with contextlib.suppress(OSError):
        path.chmod(0o700)
    return path


def is_own(path: Path) -> bool:
    """Return True for this user's file; raise `OSError`.

    A link and what it points to are both this user's.
    """
    return not hasattr(os, "getuid") or {path.lstat().st_uid, path.stat().st_uid} == {os.getuid()}


def _our_folder(path: Path) -> tuple[str, Path]:
    """Return the variable that moves the folder `path` is in, and that folder.

    A path outside this program's folders has no variable.
    """
    named = (
        ("XDG_CONFIG_HOME", config_dir()),
        ("XDG_DATA_HOME", data_dir()),
        ("XDG_STATE_HOME", state_dir()),
        ("XDG_RUNTIME_DIR", runtime_dir()),
    )
    return next(((name, folder) for name, folder in named if path.is_relative_to(folder)), ("", path))


def own_folder(path: Path, *, create: bool = False) -> Path:
    """Return the folder `path`, which no other user can read, change or replace.

    The folder is this user's and no link; its mode becomes 0700. Those above are root's or this user's, and not
    writable by others unless sticky. `create` makes missing ones. Raises `UsageError` that names the folder at fault,
    and `OSError`.
    """
    if sys.platform == "win32":
        if create:
            path.mkdir(parents=True, exist_ok=True)
        return path
    _check_ancestors(path.absolute().parent, create)
    if create:
        path.mkdir(mode=0o700, exist_ok=True)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        if path.is_symlink():
            raise _unsafe(path, "is a link", _removal(path)) from None
        raise
    try:
        status = os.fstat(fd)
        if status.st_uid != os.getuid():
            raise _unsafe(path, "belongs to another user", _removal(path))
        if stat.S_IMODE(status.st_mode) != 0o700:
            os.fchmod(fd, 0o700)
    finally:
        os.close(fd)
    return path


def _check_ancestors(path: Path, create: bool) -> None:
    # From the root down: in a folder that was found safe no other user can replace what is checked next.
    for folder in [*reversed(path.parents), path]:
        if create and not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if _is_foreign(status):
            raise _unsafe(folder, "belongs to another user")
        if stat.S_ISLNK(status.st_mode):
            folder.stat()  # raises for links in a circle
            _check_ancestors(folder.parent / folder.readlink(), create)
        elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
            raise _unsafe(folder, "can be changed by other users", f"Run chmod go-w {folder}")


def _is_foreign(status: os.stat_result) -> bool:
    # In a user namespace the system's files, from "/" on, may show another owner than root.
    return status.st_uid not in (0, os.getuid(), Path("/").lstat().st_uid)


def _removal(path: Path) -> str:
    """Return the remedy of removing `path`.

    "" where the system lets only another user do so.
    """
    parent = path.absolute().parent.stat()
    may_remove = not parent.st_mode & stat.S_ISVTX or os.getuid() in (0, parent.st_uid, path.lstat().st_uid)
    return "Remove it" if may_remove else ""


def _unsafe(folder: Path, problem: str, remedy: str = "") -> UsageError:
    return UsageError(
        f"The folder {folder} {problem}",
        remedy=f"{remedy}, or set {_OTHER_FOLDER}" if remedy else f"Set {_OTHER_FOLDER}",
        field="runtime folder",
        value=str(folder),
    )


_PRIVATE = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


def open_private(path: str | Path, flags: int) -> int:
    """Open a file with mode 0600 from its creation on, and return the descriptor.

    Does not follow a symbolic link. Raises `OSError`.
    """
    return os.open(path, flags | _PRIVATE, 0o600)


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading; raise `OSError` for anything else.

    Never waits, as opening a named pipe for its writer would. `follow`: symbolic links are followed.
    """
    flags = os.O_CLOEXEC | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    fd = os.open(path, os.O_RDONLY | flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(fd, "rb")


def read_regular(path: Path, limit: int, *, follow: bool = True, trusted: bool = False) -> bytes:
    """Return the bytes of a regular file, at most `limit`; raise `OSError`.

    `trusted`: a file that is neither this user's nor root's is an error.
    """
    with open_regular(path, follow=follow) as file:
        if trusted and hasattr(os, "getuid") and _is_foreign(os.fstat(file.fileno())):
            raise OSError(errno.EPERM, "it belongs to another user", str(path))
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", str(path))
    return data


def write_private(path: Path, value: object) -> None:
    """Write `value` as JSON to `path` (mode 0600), atomically; raises `OSError`."""
    import json

    write_private_text(path, json.dumps(value))


def write_private_text(path: Path, text: str, *, sync: bool = False, new: bool = False) -> None:
    """Write `text` to `path` (mode 0600), atomically; raises `OSError`.

    `sync` waits until the file is on the disk, and its name where the folder can be synced. `new` replaces no file:
    `FileExistsError` is raised.
    """
    # Renaming is atomic, so a reader sees the old file or the whole new one.
    part = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    try:
        with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as file:
            file.write(text)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if new:
            os.link(part, path)
            # The file has its name: a second one that stays is no reason to tell that it was not written.
            with contextlib.suppress(OSError):
                part.unlink()
        else:
            part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    if sync and os.name == "posix":
        # The file has its name already: an error would tell of a file that was not written.
        with contextlib.suppress(OSError):
            fd = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def is_safe_name(name: str) -> bool:
    """Return True when `name` is safe as one part of a path."""
    return isinstance(name, str) and _SAFE_NAME.fullmatch(name) is not None and ".." not in name


def safe_name(name: str, *, field: str = "name") -> str:
    """Return `name` when it is safe as one part of a path, else raise `UsageError`.

    Safe are at most 80 letters, digits, `.`, `_`, `-` without `..`, starting with a letter or digit.
    """
    if not is_safe_name(name):
        raise UsageError(
            f"{field} {name[:60]!r} cannot be used as a file name",
            remedy="Use letters, digits, dots, dashes and underscores, at most 80",
            field=field,
            value=name,
        )
    return name
