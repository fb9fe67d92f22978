"""List and read files beneath named folders, for a model that is not trusted.

A path of the model is never given to the system whole: each part of it is opened by the descriptor of the one before,
without following links, so that neither `..` nor a link, nor a folder that is replaced meanwhile, leads out. Parts on
another file system, such as `/proc` beneath `/`, are out of reach, and so are hidden names.
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import WorkspaceError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise, sanitise_line

MAX_READ = 64 * 1024
"""Bytes of a file that one call returns."""

MAX_LISTED = 200
"""Entries of a folder that one call returns, the first by name."""

MAX_SCANNED = 10_000
"""Entries of a folder that are looked at."""

MAX_PATH = 1000
MAX_PARTS = 40
"""Characters and parts of a path."""

_WORD = 512
"""Bytes of the longest word that is kept whole between two parts of a file."""

_SPACES = b" \t\r\n"

IS_SUPPORTED = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
"""True where the system opens files by the descriptor of their folder."""

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))
_SYSTEM = ("/proc", "/sys", "/dev")


class Folder:
    """Folder whose files a model may list and read. Its methods wait for the disk."""

    def __init__(self, name: str, path: str | Path) -> None:
        """`path` may begin with `~`; it need not exist yet."""
        self.name = name
        self.path = Path(path).expanduser().absolute()

    def list(self, path: str = "") -> dict[str, Any]:
        """Return the files and folders in a folder beneath, sorted by name.

        Links, devices and hidden names are left out. Raises `WorkspaceError`.
        """
        parts = _parts(path)
        with self._opened(parts) as fd, _errors(path), os.scandir(fd) as entries:
            seen, found = 0, []
            for entry in entries:
                seen += 1
                if seen > MAX_SCANNED:
                    break
                if (kind := _kind(entry)) and not entry.name.startswith(".") and _is_plain(entry.name):
                    found.append((entry.name, kind, entry))
            first = heapq.nsmallest(MAX_LISTED, found, key=lambda one: one[0])
            listed = [_listed(name, kind, entry) for name, kind, entry in first]
        left_out = len(found) - len(listed)
        more = {"more": f"{'at least ' if seen > MAX_SCANNED else ''}{left_out} further ones are left out"}
        return {"entries": listed, **(more if left_out or seen > MAX_SCANNED else {})}

    def read(self, path: str, offset: int = 0) -> dict[str, Any]:
        """Return text of a file beneath, at most `MAX_READ` bytes from `offset` on.

        Secrets and control characters are removed. Raises `WorkspaceError`, also for what is no text.
        """
        parts = _parts(path)
        if not parts:
            raise WorkspaceError("read_file needs the path of a file", remedy="See: list_files", field="path", value="")
        if offset < 0:
            raise WorkspaceError(f"offset cannot be {offset}", remedy="Give 0 or more", field="offset", value=offset)
        with self._opened(parts[:-1]) as fd, _errors(path):
            before, data, size = _read(fd, parts[-1], offset, path)
        if offset > size:
            raise WorkspaceError(
                f"offset {offset:,} is beyond the end of {_shown(path)}, which has {size:,} bytes",
                remedy="Give less",
                field="offset",
                value=offset,
            )
        is_whole = not data or offset + len(data) >= size
        begin, end = _whole_words(before, data, is_whole=is_whole)
        try:
            if b"\0" in data:
                raise _no_file(path)
            text = data[begin:end].decode("utf-8")
        except UnicodeDecodeError:
            raise _no_file(path) from None
        result = {"text": sanitise(redactor.text(text)), "size": size}
        return result if is_whole else {**result, "next_offset": offset + end}

    @contextlib.contextmanager
    def _opened(self, parts: Sequence[str]) -> Iterator[int]:
        """Open a folder beneath, part by part, and close it at the end."""
        if not IS_SUPPORTED:
            raise WorkspaceError("This system cannot open files safely beneath a folder", field="folder")
        fd = self._opened_root()
        try:
            device = os.fstat(fd).st_dev
            for part in parts:
                with _errors("/".join(parts)):
                    inner = os.open(part, os.O_RDONLY | _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = inner
                if os.fstat(fd).st_dev != device:
                    raise _elsewhere("/".join(parts))
            yield fd
        finally:
            os.close(fd)

    def _opened_root(self) -> int:
        try:
            # The folder itself was named by a person, and may be a link.
            real = os.path.realpath(self.path)
            if any(real == one or real.startswith(f"{one}/") for one in _SYSTEM):
                raise WorkspaceError(
                    f"The folder {self.name} is one of the system's: {_shown(real)}",
                    remedy="Name a folder with files of yours",
                    field="folder",
                    value=self.name,
                )
            return os.open(real, os.O_RDONLY | _FOLDER)
        except OSError as error:
            raise WorkspaceError(
                f"The folder {self.name} cannot be opened: {error.strerror or error}",
                remedy=f"Create {_shown(str(self.path))}, or name another one",
                field="folder",
                value=self.name,
            ) from None


def _parts(path: str) -> list[str]:
    """Return the parts of a path; raise `WorkspaceError` for one that leads out."""
    if len(path) > MAX_PATH or "\0" in path or "\\" in path:
        raise _refused(path, "is no path")
    if path.startswith(("/", "~")):
        raise _refused(path, "does not begin in the folder")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if len(parts) > MAX_PARTS:
        raise _refused(path, f"has more than {MAX_PARTS} parts")
    if ".." in parts:
        raise _refused(path, "leads out of the folder")
    if any(part.startswith(".") for part in parts):
        raise _refused(path, "is hidden, and hidden files are out of reach")
    return parts


def _refused(path: str, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"{_shown(path)} {why}",
        remedy="Give a path beneath the folder, as list_files shows them",
        field="path",
        value=path[:80],
    )


def _elsewhere(path: str) -> WorkspaceError:
    return WorkspaceError(
        f"{_shown(path)} is on another file system",
        remedy="Its place can be named as a folder of its own",
        field="path",
        value=path[:80],
    )


def _read(folder: int, name: str, offset: int, path: str) -> tuple[bytes, bytes, int]:
    """Return bytes of a regular file, those just before them, and its size."""
    # A look before opening it: opening a device can already do something.
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise _no_file(path)
    fd = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _no_file(path)
        if status.st_dev != os.fstat(folder).st_dev:
            raise _elsewhere(path)
        if offset > status.st_size:
            return b"", b"", status.st_size
        before = min(offset, _WORD)
        data = os.pread(fd, before + MAX_READ, offset - before)
        return data[:before], data[before:], status.st_size
    finally:
        os.close(fd)


def _no_file(path: str) -> WorkspaceError:
    return WorkspaceError(
        f"{_shown(path)} is no file with text", remedy="See: list_files", field="path", value=path[:80]
    )


def _whole_words(before: bytes, data: bytes, *, is_whole: bool) -> tuple[int, int]:
    """Return where the first whole word of some bytes begins, and the last one ends.

    Half a secret would not be recognised as one. Parts without a space in `_WORD` bytes are no words, and cut where
    their characters end; so no byte is lost from one part to the next.
    """
    begin, end = 0, len(data)
    if before and not before[-1:].isspace() and (len(before) < _WORD or any(one in before for one in _SPACES)):
        begin = next((at for at, one in enumerate(data[:_WORD]) if one in _SPACES), min(_WORD, end))
    if not is_whole:
        end = _end_of_character(data)
        spaces = [at for at in range(max(0, end - _WORD), end) if data[at] in _SPACES]
        end = spaces[-1] + 1 if spaces else end
    while begin < min(4, end) and data[begin] & 0xC0 == 0x80:
        begin += 1
    return min(begin, end), end


def _end_of_character(data: bytes) -> int:
    """Return where the last whole character of UTF-8 ends."""
    for back, one in enumerate(reversed(data[-4:]), 1):
        if one & 0xC0 != 0x80:
            length = 1 + (one >= 0xC0) + (one >= 0xE0) + (one >= 0xF0)
            return len(data) if back >= length else len(data) - back
    return len(data)


def _kind(entry: os.DirEntry[str]) -> str:
    """Return what an entry is; "" for what is left out."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else ""
    except OSError:
        return ""


def _is_plain(name: str) -> bool:
    """Return True for a name that is shown as it is, so that it can be given back."""
    return sanitise_line(name) == name and "\\" not in name


def _listed(name: str, kind: str, entry: os.DirEntry[str]) -> dict[str, Any]:
    listed: dict[str, Any] = {"name": redactor.text(name), "kind": kind}
    if kind == "file":
        with contextlib.suppress(OSError):
            listed["bytes"] = entry.stat(follow_symlinks=False).st_size
    return listed


@contextlib.contextmanager
def _errors(path: str) -> Iterator[None]:
    """Turn an `OSError` into a sentence."""
    try:
        yield
    except OSError as error:
        # ELOOP is a link where O_NOFOLLOW is given, and ENOTDIR one where a folder is wanted, too.
        words = {
            errno.ENOENT: "does not exist",
            errno.ELOOP: "is a link, and links are not followed",
            errno.ENOTDIR: "is no folder, or a link, and links are not followed",
            errno.ENXIO: "is no file with text",
        }
        raise _refused(path, words.get(error.errno or 0, f"cannot be read: {error.strerror or error}")) from None
    except (ValueError, UnicodeError):
        raise _refused(path, "is no path") from None


def _shown(path: str) -> str:
    return repr(sanitise_line(path, 80))
