"""Index the words of memory in SQLite, beside the files.

The index holds nothing that the files do not: one that is missing, damaged, foreign or of another version is made anew.
Each search first compares it with the files: the time of each scope's folder tells of files that came, went or were
replaced; of files that were changed in place, `SWEPT` are looked at, and the next ones in the next search.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gemini_live_runtime import paths
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory_files import MemoryFiles, Stamp
from gemini_live_runtime.harness.memory_words import MemoryQuery, finds_longer, memory_words
from gemini_live_runtime.harness.record_files import UnreadableRecordError

if TYPE_CHECKING:
    import sqlite3

R = TypeVar("R")

SWEPT = 2_000
"""Files that a search looks at for changes in place."""

COMMON = 5_000
"""Memories above which a word is common: it ranks nothing when there is a rarer one."""

_BUSY_S = 5.0
_SETTLED_NS = 2_000_000_000
"""Age from which on the time of a folder tells all changes: its clock may be coarse, so two can have one time."""

_APPLICATION = 0x474C_544D
_SCHEMA = 1
_TABLES = (
    "CREATE TABLE memories (id INTEGER PRIMARY KEY, scope TEXT, key TEXT, mtime_ns INTEGER, size INTEGER, "
    "inode INTEGER, UNIQUE (scope, key))",
    "CREATE TABLE scopes (scope TEXT PRIMARY KEY, mtime_ns INTEGER)",
    "CREATE VIRTUAL TABLE words USING fts5 (scope, text, tokenize = 'ascii', prefix = '3')",
    "CREATE VIRTUAL TABLE counts USING fts5vocab (words, row)",
)
_FOUND = (
    "SELECT memories.scope, memories.key FROM words JOIN memories ON memories.id = words.rowid WHERE words MATCH ? "
)
_RANKED = _FOUND + "ORDER BY rank, words.rowid DESC LIMIT ?"
_NEWEST = _FOUND + "ORDER BY words.rowid DESC LIMIT ?"
_UNFIXABLE = frozenset((5, 6, 8, 10, 13, 14))
"""SQLite's codes of errors that a new index has, too: busy, locked, read-only, I/O error, full, cannot open."""


class IndexUnusableError(Exception):
    """Index that cannot be used here: the memory has to be searched without it."""


class MemoryIndex:
    """Words of one root's memory; each method opens the database and closes it."""

    def __init__(self, path: Path, files: MemoryFiles) -> None:
        self._path = path
        self._files = files
        # Programs that search once each begin at different files. The module's numbers are the embedding program's.
        self._swept = random.Random().random()

    def search(self, query: MemoryQuery, scope: str | None, limit: int) -> list[tuple[str, str]]:
        """Return scope and key of memories with the words of the query, best first.

        Those with all words, or else those with any. Raises `IndexUnusableError`.
        """

        def found(database: sqlite3.Connection) -> list[tuple[str, str]]:
            self._refresh(database)
            counts = {word: _count(database, word) for word in query.words}
            known = [word for word, count in counts.items() if count]
            rare = [word for word in known if counts[word] <= COMMON]
            if len(known) == len(counts):
                names = _matching(database, " AND ", known, scope, limit, ranked=bool(rare))
                if names or len(known) == 1:
                    return names
            # Ranking the memories with a common word would take most of the time and change little.
            return _matching(database, " OR ", rare or known, scope, limit, ranked=bool(rare)) if known else []

        return self._with_database(found)

    def forget(self, scope: str, key: str) -> None:
        """Take a memory out, if there is an index.

        Its words leave the file, too. Raises `IndexUnusableError`.
        """

        def forget(database: sqlite3.Connection) -> None:
            with _transaction(database):
                _remove(database, scope, key)
            # Deleted words stay in the tables until they are merged.
            database.execute("INSERT INTO words (words) VALUES ('optimize')")

        if os.path.lexists(self._path):
            self._with_database(forget)

    # -- the files ---------------------------------------------------------------------------------------------------

    def _refresh(self, database: sqlite3.Connection) -> None:
        """Compare the index with the files, and bring it up to date."""
        known = dict(database.execute("SELECT scope, mtime_ns FROM scopes"))
        scopes = self._files.scope_times()
        changed = {scope: time_ns for scope, time_ns in scopes.items() if known.get(scope) != time_ns}
        gone = [scope for scope in known if scope not in scopes]
        stale: dict[tuple[str, str], Stamp | None] = {}
        for scope in changed:
            rows = database.execute("SELECT key, mtime_ns, size, inode FROM memories WHERE scope = ?", (scope,))
            indexed = {key: (time_ns, size, inode) for key, time_ns, size, inode in rows}
            present = self._files.stamps(scope)
            for key, _ in present.items() ^ indexed.items():
                stale[scope, key] = present.get(key)
        stale |= self._changed_in_place(database, changed)
        if not (changed or gone or stale):
            return
        # Read before the transaction: other programs may search meanwhile.
        texts = {name: self._text(*name) for name, stamp in stale.items() if stamp is not None}
        settled = time.time_ns() - _SETTLED_NS
        with _transaction(database):
            for scope in gone:
                names = database.execute("SELECT key FROM memories WHERE scope = ?", (scope,)).fetchall()
                for (key,) in names:
                    _remove(database, scope, key)
                database.execute("DELETE FROM scopes WHERE scope = ?", (scope,))
            # The newest get the highest row numbers.
            for (scope, key), stamp in sorted(stale.items(), key=lambda one: one[1] or ()):
                _remove(database, scope, key)
                if stamp is not None and (text := texts[scope, key]) is not None:
                    _add(database, scope, key, stamp, text)
            unread = {scope for (scope, _), text in texts.items() if text is None}
            for scope in {*changed, *unread}:
                time_ns = changed.get(scope, settled)
                is_known = time_ns < settled and scope not in unread
                database.execute("INSERT OR REPLACE INTO scopes VALUES (?, ?)", (scope, time_ns if is_known else None))

    def _changed_in_place(
        self, database: sqlite3.Connection, seen: Iterable[str]
    ) -> dict[tuple[str, str], Stamp | None]:
        """Return those of the next `SWEPT` files that are not as they were indexed."""
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM memories").fetchone()
        rows = "SELECT id, scope, key, mtime_ns, size, inode FROM memories WHERE id > ? ORDER BY id LIMIT ?"
        found = database.execute(rows, (int(self._swept * last), SWEPT)).fetchall()
        if len(found) < SWEPT:
            found += database.execute(rows, (0, SWEPT - len(found))).fetchall()
        self._swept = found[-1][0] / last if found else 0.0
        just_seen = frozenset(seen)
        changed: dict[tuple[str, str], Stamp | None] = {}
        for _, scope, key, *stamp in found:
            if scope not in just_seen and (present := self._files.stamp(scope, key)) != tuple(stamp):
                changed[scope, key] = present
        return changed

    def _text(self, scope: str, key: str) -> str | None:
        """Return the words of a memory as the index keeps them.

        "" for a damaged file; None for one that cannot be read now.
        """
        try:
            memory = self._files.read(scope, key)
        except UnreadableRecordError:
            return None
        except HarnessError:
            return ""
        return None if memory is None else " ".join(map(_token, memory_words(memory)))

    # -- the database ------------------------------------------------------------------------------------------------

    def _with_database(self, action: Callable[[sqlite3.Connection], R]) -> R:
        """Call `action` with the database, and again with a new one when it is damaged."""
        try:
            import sqlite3
        except ImportError:
            raise IndexUnusableError from None
        for is_last in (False, True):
            try:
                with contextlib.closing(self._opened()) as database:
                    return action(database)
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if is_last or code in _UNFIXABLE or "no such module" in str(error):
                    raise IndexUnusableError from error
                self._discard()
            except OSError as error:
                raise IndexUnusableError from error
        raise AssertionError  # the second attempt returns or raises

    def _opened(self) -> sqlite3.Connection:
        """Open the database; raise `sqlite3.Error` and `OSError`."""
        import sqlite3

        if self._path.is_symlink():
            self._path.unlink()
        os.close(paths.open_private(self._path, os.O_RDWR | os.O_CREAT))
        database = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
        try:
            if _version(database) == (0, 0):
                with _transaction(database):
                    if _version(database) == (0, 0):  # no other program has been quicker
                        for statement in _TABLES:
                            database.execute(statement)
                        database.execute(f"PRAGMA application_id = {_APPLICATION}")
                        database.execute(f"PRAGMA user_version = {_SCHEMA}")
            if _version(database) != (_APPLICATION, _SCHEMA):
                raise sqlite3.DatabaseError("it is not our index")
            database.execute("PRAGMA secure_delete = ON")
        except BaseException:
            database.close()
            raise
        return database

    def _discard(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(self._path.name + suffix).unlink()


@contextlib.contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _version(database: sqlite3.Connection) -> tuple[int, int]:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return application, version


def _remove(database: sqlite3.Connection, scope: str, key: str) -> None:
    found = database.execute("SELECT id FROM memories WHERE scope = ? AND key = ?", (scope, key)).fetchone()
    if found is not None:
        database.execute("DELETE FROM words WHERE rowid = ?", found)
        database.execute("DELETE FROM memories WHERE id = ?", found)


def _add(database: sqlite3.Connection, scope: str, key: str, stamp: Stamp, text: str) -> None:
    row = database.execute(
        "INSERT INTO memories (scope, key, mtime_ns, size, inode) VALUES (?, ?, ?, ?, ?)",
        (scope, key, *stamp),
    ).lastrowid
    database.execute("INSERT INTO words (rowid, scope, text) VALUES (?, ?, ?)", (row, _token(scope), text))


def _matching(
    database: sqlite3.Connection, join: str, words: Sequence[str], scope: str | None, limit: int, *, ranked: bool
) -> list[tuple[str, str]]:
    """Return scope and key of memories with all or any of some words.

    The newest change is first, unless they are ranked.
    """
    within = f"scope : {_quoted(_token(scope))} AND " if scope is not None else ""
    text = f"{within}text : ({join.join(map(_term, words))})"
    return database.execute(_RANKED if ranked else _NEWEST, (text, limit)).fetchall()


def _count(database: sqlite3.Connection, word: str) -> int:
    """Return the number of memories with a word."""
    token = _token(word)
    if not finds_longer(word):
        found = database.execute("SELECT doc FROM counts WHERE term = ?", (token,)).fetchone()
        return found[0] if found else 0
    (total,) = database.execute(
        "SELECT coalesce(sum(doc), 0) FROM counts WHERE term >= ? AND term < ?", (token, f"{token}{{")
    ).fetchone()
    return int(total)


def _token(word: str) -> str:
    """Return a word as ASCII letters and digits, which no version of SQLite splits.

    Words with a common beginning have tokens with one.
    """
    return word if word.isascii() and word.isalnum() else f"x{word.encode().hex()}"


def _term(word: str) -> str:
    return f"{_quoted(_token(word))}{'*' if finds_longer(word) else ''}"


def _quoted(token: str) -> str:
    return f'"{token}"'
