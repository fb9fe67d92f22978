"""List the recorded sessions with a summary of each, and preview their last lines.

Summarising a session reads its whole journal, so summaries are cached beside the sessions, in `.catalog.json`. A cached
summary is valid while the journal's size, times and inode are unchanged; that of a file that changed within the last
`_FRESH_S` is not cached. Every string here is sanitised and ready to show.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.errors import JournalError, UsageError
from gemini_live_runtime.journal.lines import EVENTS_FILE
from gemini_live_runtime.journal.retention import is_running, regular_size, session_folders, track_files
from gemini_live_runtime.journal.session_summary import SessionSummary, number, summarise
from gemini_live_runtime.text import sanitise_line

CACHE_FILE = ".catalog.json"
TITLE_FILE = "title.json"
DELETED_FILE = "deleted.json"
LONGEST_TITLE = 120
"""Characters of a title."""

_CACHE_VERSION = 1
_FRESH_S = 2.0
"""Age in seconds from which a journal's summary is cached.

A file may change twice within one tick of the file system's clock, without a change of its times.
"""

_PREVIEW_BYTES = (256 * 1024, 8 * 1024 * 1024)
_NOT_TALK = ("state: ", "log: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(SessionSummary):
    """Recorded session; sizes are bytes.

    `ended` is also `running`, or `broken off` when the engine died.
    """

    id: str
    title: str
    audio_bytes: int
    total_bytes: int
    deleted_at: float | None = None
    """Unix time at which it was moved to the trash; None for one that was not."""

    @property
    def name(self) -> str:
        """Title of the session, else its agent."""
        return self.title or self.agent or "?"

    @property
    def running(self) -> bool:
        """True when an engine still writes it."""
        return self.ended == "running"

    @property
    def flags(self) -> tuple[str, ...]:
        """Words for what is unusual about it, such as `errors`."""
        if self.problem:
            return ("unreadable",)
        words = ["damaged"] if self.damage else []
        if self.running:
            words.append("running")
        if self.ended == "broken off":
            words.append("broken off")
        if self.errors or self.exit_code:
            words.append("errors")
        if self.interruptions:
            words.append("interrupted")
        if self.audio_bytes:
            words.append("sound")
        return tuple(words)


def list_entries(root: Path, *, wall: Callable[[], float] = time.time) -> list[Entry]:
    """Return all sessions under `root`, newest first.

    A session that cannot be read is listed with its `problem`. `wall` is the clock of file times, in Unix seconds.
    """
    cache = _read_cache(root)
    found: dict[str, tuple[tuple[int, ...], SessionSummary]] = {}
    entries = []
    changed = False
    for folder in session_folders(root):
        try:
            info = (folder / EVENTS_FILE).lstat()
        except OSError:
            continue
        stamp = (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        known = cache.get(folder.name)
        if known is not None and known[0] == stamp:
            summary = known[1]
        else:
            summary = summarise(folder)
            changed = True
        if info.st_mtime < wall() - _FRESH_S:
            found[folder.name] = (stamp, summary)
        entries.append(_entry(folder, summary, info.st_mtime))
    if changed or found.keys() != cache.keys():
        _write_cache(root, found)
    return sorted(entries, key=lambda entry: (entry.when, entry.id), reverse=True)


def matches(entry: Entry, text: str) -> bool:
    """Return True when a session's shown fields contain every word of `text`.

    Ignores case.
    """
    hay = " ".join(
        (entry.id, entry.title, entry.agent, entry.model, entry.backend, entry.phase, entry.ended, *entry.flags)
    ).casefold()
    return all(word in hay for word in text.casefold().split())


# -- titles ----------------------------------------------------------------------------------------------------------


def rename(folder: Path, title: str) -> str:
    """Set a session's title, or remove it with "", and return it sanitised.

    Raises `UsageError` for a title that is too long and `JournalError` when it cannot be written.
    """
    clean = sanitise_line(title)
    if len(clean) > LONGEST_TITLE:
        raise UsageError(
            f"The title has {len(clean)} characters, at most {LONGEST_TITLE} are kept",
            remedy="Shorten it",
            field="title",
        )
    path = folder / TITLE_FILE
    try:
        if clean:
            paths.write_private(path, {"title": clean})
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise JournalError(f"The title cannot be written: {error.strerror or error}", field="title") from None
    return clean


def title_of(folder: Path) -> str:
    """Return a session's title; "" for none."""
    value = small_object(folder / TITLE_FILE).get("title")
    return sanitise_line(value, LONGEST_TITLE) if isinstance(value, str) else ""


def small_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of at most 64 KiB; {} for anything else."""
    try:
        size = regular_size(path)
        if size is None or size > 64 * 1024:
            return {}
        with os.fdopen(paths.open_private(path, os.O_RDONLY), "rb") as file:
            value = json.loads(file.read(64 * 1024))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _entry(folder: Path, summary: SessionSummary, modified: float) -> Entry:
    try:
        with os.scandir(folder) as items:
            total = sum(item.stat(follow_symlinks=False).st_size for item in items if not item.is_symlink())
    except OSError:
        total = 0
    when = summary.when or modified
    ended = summary.ended
    if not summary.problem:
        ended = "running" if is_running(folder) else ended or "broken off"
    deleted = small_object(folder / DELETED_FILE).get("when")
    values = {**asdict(summary), "when": when, "ended": ended}
    return Entry(
        **values,
        id=folder.name,
        title=title_of(folder),
        audio_bytes=sum(size for _, size in track_files(folder)),
        total_bytes=total,
        deleted_at=number(deleted) or None,
    )


# -- cache -----------------------------------------------------------------------------------------------------------

_Cache = dict[str, tuple[tuple[int, ...], SessionSummary]]


def _read_cache(root: Path) -> _Cache:
    try:
        with os.fdopen(paths.open_private(root / CACHE_FILE, os.O_RDONLY), "rb") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("version") != _CACHE_VERSION:
        return {}
    sessions = value.get("sessions")
    return dict(_cached(sessions)) if isinstance(sessions, dict) else {}


def _cached(sessions: Mapping[str, Any]) -> Iterator[tuple[str, tuple[tuple[int, ...], SessionSummary]]]:
    for name, item in sessions.items():
        if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], list) and isinstance(item[1], dict)):
            continue
        stamp, values = item
        if all(type(part) is int for part in stamp) and _fits(values):
            yield name, (tuple(stamp), SessionSummary(**values))


_TYPES: dict[str, tuple[type, ...]] = {
    field.name: {
        "float": (float, int),
        "int": (int,),
        "str": (str,),
        "float | None": (float, int, type(None)),
        "int | None": (int, type(None)),
    }[str(field.type)]
    for field in fields(SessionSummary)
}


def _fits(values: Mapping[str, Any]) -> bool:
    return values.keys() == _TYPES.keys() and all(type(value) in _TYPES[name] for name, value in values.items())


def _write_cache(root: Path, found: _Cache) -> None:
    sessions = {name: [list(stamp), asdict(summary)] for name, (stamp, summary) in found.items()}
    # The cache only saves time: a disk that refuses it is no reason to fail.
    with contextlib.suppress(OSError, ValueError):
        if sessions or (root / CACHE_FILE).exists():
            paths.write_private(root / CACHE_FILE, {"version": _CACHE_VERSION, "sessions": sessions})


# -- preview ---------------------------------------------------------------------------------------------------------


def preview(folder: Path, count: int = 20) -> list[str]:
    """Return the last `count` lines of a session's conversation; [] when unreadable.

    Reads only the end of a long file, and leaves out the connection's states and log lines.
    """
    for limit in _PREVIEW_BYTES:
        lines, whole = _last_lines(folder / EVENTS_FILE, limit)
        if whole or len(lines) >= count:
            break
    return lines[-count:]


def _last_lines(path: Path, limit: int) -> tuple[list[str], bool]:
    from gemini_live_runtime import vocabulary
    from gemini_live_runtime.errors import ProtocolError
    from gemini_live_runtime.journal.plain import PlainWriter

    try:
        with os.fdopen(paths.open_private(path, os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - limit))
            raw = file.read(limit)
    except OSError:
        return [], True
    writer = PlainWriter()
    lines: list[str] = []
    seq = 0
    for line in raw.split(b"\n")[1:]:  # the first is the header, or cut
        try:
            event = vocabulary.event_from_line(line)
        except (ProtocolError, RecursionError):
            continue
        if event.seq > seq:
            seq = event.seq
            lines += (line for line in writer.feed(event) if not line.startswith(_NOT_TALK))
    lines += writer.rest()
    return [part for line in lines for part in line.split("\n")], size <= limit
