"""List the recorded sessions with a summary of each, and preview their last lines.

Summarising a session reads its whole journal, and its sizes and title take a look into its folder: both are cached
beside the sessions, in `.catalog.json`. A cached summary is valid while the journal's size, times and inode are
unchanged, the rest while the folder's times are; what changed within the last `_FRESH_S` is not cached, nor is a
running session's folder. Every string here is sanitised and ready to show.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.errors import JournalError, UsageError, write_remedy
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.sessions.retention import is_running, session_journals, track_files
from gemini_live_runtime.journal.sessions.session_summary import SessionSummary, number, summarise
from gemini_live_runtime.records import keyword_record, record
from gemini_live_runtime.text import sanitise_line

CACHE_FILE = ".catalog.json"
TITLE_FILE = "title.json"
DELETED_FILE = "deleted.json"
MAX_TITLE = 120
"""Characters of a title."""

_CACHE_VERSION = 4
_FRESH_S = 2.0
"""Age in seconds from which a journal's summary is cached.

A file may change twice within one tick of the file system's clock, without a change of its times.
"""

_PREVIEW_BYTES = (256 * 1024, 8 * 1024 * 1024)
_NOT_TALK = ("state: ", "log: ")


@keyword_record
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
    def is_broken_off(self) -> bool:
        """True when its engine died."""
        return self.ended == "broken off"

    @property
    def missing_parts(self) -> tuple[str, ...]:
        """Parts that its run lacks to be complete; none while it is running."""
        return tuple(self.missing.split(", ")) if self.missing else ()

    @property
    def flags(self) -> tuple[str, ...]:
        """Words for what is unusual about it, such as `errors`."""
        if self.problem:
            return ("unreadable",)
        words = ["damaged"] if self.damage else []
        if self.running:
            words.append("running")
        if self.is_broken_off:
            words.append("broken off")
        if self.errors or self.exit_code:
            words.append("errors")
        if self.audio_bytes:
            words.append("sound")
        if self.interruptions:
            words.append(f"{self.interruptions} interruption{'s' if self.interruptions > 1 else ''}")
        return tuple(words)


def list_entries(root: Path, *, wall: Callable[[], float] = time.time) -> list[Entry]:
    """Return all sessions under `root`, newest first.

    A session that cannot be read is listed with its `problem`. `wall` is the clock of file times, in Unix seconds.
    """
    cache = _read_cache(root)
    found: _Cache = {}
    entries = []
    fresh = wall() - _FRESH_S
    for folder, info in session_journals(root):
        try:
            place = folder.lstat()
        except OSError:
            continue
        stamp = (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        known = cache.get(folder.name)
        summary = known.summary if known is not None and known.stamp == stamp else summarise(folder)
        times = (place.st_mtime_ns, place.st_ctime_ns)
        facts = known.facts if known is not None and known.facts is not None and known.facts.times == times else None
        running = facts is None and is_running(folder)
        if facts is None:
            facts = _facts(folder, times)
        if info.st_mtime < fresh:
            lasting = not running and place.st_mtime < fresh
            found[folder.name] = _Known(stamp, summary, facts if lasting else None)
        entries.append(_entry(folder.name, summary, facts, running=running, modified=info.st_mtime))
    if found != cache:
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
    if len(clean) > MAX_TITLE:
        raise UsageError(
            f"The title has {len(clean)} characters, at most {MAX_TITLE} are kept",
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
        raise JournalError(
            f"The title cannot be written: {error.strerror or error}",
            remedy=write_remedy(error, folder),
            field="title",
        ) from None
    return clean


def title_of(folder: Path) -> str:
    """Return a session's title; "" for none."""
    value = small_object(folder / TITLE_FILE).get("title")
    return sanitise_line(value, MAX_TITLE) if isinstance(value, str) else ""


def small_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of at most 64 KiB; {} for anything else."""
    try:
        value = json.loads(paths.read_regular(path, 64 * 1024, follow=False))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@record
class _Facts:
    """Facts of a session's folder; sizes are bytes.

    `times` are those of the folder: names of files in it, but not their contents, change them.
    """

    times: tuple[int, ...]
    title: str
    audio_bytes: int
    total_bytes: int
    deleted_at: float | None


def _facts(folder: Path, times: tuple[int, ...]) -> _Facts:
    try:
        with os.scandir(folder) as items:
            total = sum(item.stat(follow_symlinks=False).st_size for item in items if not item.is_symlink())
    except OSError:
        total = 0
    deleted = small_object(folder / DELETED_FILE).get("when")
    audio = sum(size for _, size in track_files(folder))
    return _Facts(times, title_of(folder), audio, total, number(deleted) or None)


def _entry(name: str, summary: SessionSummary, facts: _Facts, *, running: bool, modified: float) -> Entry:
    values = {field: getattr(summary, field) for field in _TYPES}
    values["when"] = summary.when or modified
    if not summary.problem:
        values["ended"] = "running" if running else summary.ended or "broken off"
    if running:
        values["missing"] = ""
    return Entry(
        **values,
        id=name,
        title=facts.title,
        audio_bytes=facts.audio_bytes,
        total_bytes=facts.total_bytes,
        deleted_at=facts.deleted_at,
    )


# -- cache -----------------------------------------------------------------------------------------------------------


@record
class _Known:
    """Cached session with the stamp of its journal; `facts` may be None."""

    stamp: tuple[int, ...]
    summary: SessionSummary
    facts: _Facts | None


_Cache = dict[str, _Known]

MAX_CACHE_BYTES = 64 * 1024 * 1024


def _read_cache(root: Path) -> _Cache:
    try:
        value = json.loads(paths.read_regular(root / CACHE_FILE, MAX_CACHE_BYTES, follow=False))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("version") != _CACHE_VERSION:
        return {}
    sessions = value.get("sessions")
    return dict(_cached(sessions)) if isinstance(sessions, dict) else {}


def _cached(sessions: Mapping[str, Any]) -> Iterator[tuple[str, _Known]]:
    for name, item in sessions.items():
        if not (isinstance(item, list) and len(item) == 3 and isinstance(item[0], list) and isinstance(item[1], dict)):
            continue
        stamp, values, facts = item
        if all(type(part) is int for part in stamp) and _fits(values):
            yield name, _Known(tuple(stamp), SessionSummary(**values), _cached_facts(facts))


def _cached_facts(value: object) -> _Facts | None:
    if not isinstance(value, list) or len(value) != 6:
        return None
    mtime, ctime, title, audio, total, deleted = value
    if any(type(part) is not int for part in (mtime, ctime, audio, total)) or not isinstance(title, str):
        return None
    when = None if deleted is None else number(deleted) or None
    return _Facts((mtime, ctime), sanitise_line(title, MAX_TITLE), audio, total, when)


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
    sessions = {}
    for name, known in found.items():
        facts = known.facts
        sessions[name] = [
            known.stamp,
            {field: getattr(known.summary, field) for field in _TYPES},
            facts and [*facts.times, facts.title, facts.audio_bytes, facts.total_bytes, facts.deleted_at],
        ]
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
        with paths.open_regular(path, follow=False) as file:
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
