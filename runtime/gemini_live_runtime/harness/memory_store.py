"""Keep memory for later sessions: one file for each key of a scope."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.choices import check_text
from gemini_live_runtime.harness.listing import Listing
from gemini_live_runtime.harness.memory import MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.memory_files import MemoryFiles
from gemini_live_runtime.harness.memory_index import IndexUnusableError, MemoryIndex
from gemini_live_runtime.harness.memory_words import MemoryQuery, memory_words
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import Problem, RecordFiles, cleaned
from gemini_live_runtime.journal.files.whole_file import remove_leftovers
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import clip

MAX_VALUE = 64 * 1024
"""Characters of a memory's value and metadata."""

MAX_SUMMARY = 500
MAX_SOURCE = 500
"""Characters of a summary, and of the text that a memory comes from; what is longer is cut, with a mark."""

MAX_IN_SCOPE = 10_000
MAX_SCOPES = 1_000
MAX_MEMORIES = 100_000
"""Memories of a scope, scopes of a root, and memories of a root."""

FOUND = 10
"""Memories that a search returns unless told otherwise."""


class MemoryStore:
    """Memory of one root.

    The files are the truth; the index of the search is made from them. Any number of processes may use it: changes are
    serialised by a lock, and what other programs change in the files is noticed. Folders that are symbolic links are
    not followed.
    """

    def __init__(self, paths: HarnessPaths, files: RecordFiles, wall_ms: Callable[[], int]) -> None:
        self._paths = paths
        self._files = files
        self._wall_ms = wall_ms
        self._memories = MemoryFiles(paths, files)
        self._index = MemoryIndex(paths.memory_index, self._memories)

    def put(self, write: MemoryWrite) -> MemoryRecord:
        """Write a memory, replacing one of the same scope and key, and return it.

        The time of its creation stays, and secrets are removed. Raises `HarnessError` for a name that is no file name
        or a secret, a value that is too large, and a scope or root that is full.
        """
        return self._put(write, lambda old: None)

    def replace(self, known: MemoryRecord | None, write: MemoryWrite) -> MemoryRecord:
        """Write a memory unless it is another one than `known`, None for none.

        Raises `MemoryChangedError` then, which has the other one, and else what `put` raises.
        """

        def check(old: MemoryRecord | None) -> None:
            if old != known:
                raise MemoryChangedError(write.scope, write.key, old)

        return self._put(write, check)

    def _put(self, write: MemoryWrite, check: Callable[[MemoryRecord | None], None]) -> MemoryRecord:
        path = self._memories.file(write.scope, write.key)
        _check_names(write)
        _check_size(write)
        value, metadata = cleaned(write.value, "value"), cleaned(write.metadata, "metadata")
        with self._locked():
            old = self._replaced(write.scope, write.key)
            check(old)
            if old is None and not os.path.lexists(path):
                self._check_room(write.scope)
            is_new_scope = not path.parent.exists()
            self._files.folder(path.parent)
            now = self._wall_ms()
            origin = write.provenance
            if origin is not None and origin.text is not None:
                origin = replace(origin, text=clip(redactor.text(origin.text), MAX_SOURCE))
            memory = MemoryRecord(
                scope=write.scope,
                key=write.key,
                created_at_ms=now if old is None else old.created_at_ms,
                updated_at_ms=now if old is None else max(now, old.updated_at_ms),
                value=value,
                summary=write.summary and clip(redactor.text(check_text(write.summary, field="summary")), MAX_SUMMARY),
                metadata=metadata,
                provenance=origin,
            )
            self._files.write(path, memory)
            if is_new_scope:
                with self._files.errors(path):
                    self._files.disk.sync_folder(path.parent.parent)
        return memory

    def _replaced(self, scope: str, key: str) -> MemoryRecord | None:
        """Return the memory that a write replaces; None also for a damaged one."""
        try:
            return self._memories.read(scope, key)
        except HarnessError as error:
            if error.field == "version":  # a newer program's memory is not for us to replace
                raise
            return None

    def _check_room(self, scope: str) -> None:
        scopes = self._memories.scope_times()
        if scope not in scopes and len(scopes) >= MAX_SCOPES:
            raise _full(f"There are {len(scopes):,} scopes of memory, of at most {MAX_SCOPES:,}", scope)
        count = self._memories.count(scope)
        if count >= MAX_IN_SCOPE:
            raise _full(f"The scope {scope} has {count:,} memories, of at most {MAX_IN_SCOPE:,}", scope)
        if len(scopes) * MAX_IN_SCOPE >= MAX_MEMORIES:  # otherwise there is no need to count
            total = sum(map(self._memories.count, scopes))
            if total >= MAX_MEMORIES:
                raise _full(f"There are {total:,} memories, of at most {MAX_MEMORIES:,}", scope)

    def get(self, scope: str, key: str) -> MemoryRecord:
        """Return a memory; raise `HarnessError` for an unknown one."""
        found = self._memories.read(scope, key)
        if found is None:
            raise UnknownMemoryError(scope, key)
        return found

    def find(self, scope: str | None = None, *, limit: int | None = None) -> Listing[MemoryRecord]:
        """Return memories of a scope, or of all, newest change first.

        With the files that cannot be used. An unknown scope has no memories.
        """
        scopes = self.scopes() if scope is None else [scope]
        found = self._read((one, key) for one in scopes for key in self._memories.keys(one))
        found.records.sort(key=lambda one: (-one.updated_at_ms, one.scope, one.key))
        return found if limit is None else Listing(found.records[:limit], found.problems)

    def scopes(self) -> list[str]:
        """Return the names of the scopes, sorted."""
        return sorted(self._memories.scope_times())

    def delete(self, scope: str, key: str) -> bool:
        """Delete a memory; return False for an unknown one.

        Its words leave the index of the search, too.
        """
        path = self._memories.file(scope, key)
        with self._locked():
            existed = os.path.lexists(path)
            self._files.delete(path)
            with contextlib.suppress(OSError):
                self._files.disk.remove_folder(path.parent)  # succeeds for an empty scope
        if existed:
            with contextlib.suppress(IndexUnusableError):
                self._index.forget(scope, key)
        return existed

    def search(self, text: str, *, scope: str | None = None, limit: int = FOUND) -> Listing[MemoryRecord]:
        """Return memories with the words of `text`, best first.

        Those with all words, or else those with any. A word of three letters or more also finds longer words that
        begin with it. Every text is data: there is no query language. Raises `HarnessError` for a text without words.
        """
        query = MemoryQuery.of(text)
        if not isinstance(limit, int):
            raise HarnessError("limit is a number of memories", remedy="Give a whole number", field="limit")
        if scope is not None:
            self._memories.folder(scope)
        try:
            found = self._read(self._index.search(query, scope, max(1, limit)))
        except IndexUnusableError:
            return self._scan(query, scope, max(1, limit))
        return found

    def _scan(self, query: MemoryQuery, scope: str | None, limit: int) -> Listing[MemoryRecord]:
        """Search without an index: those with more of the words first, then the newest."""
        listing = self.find(scope)
        counted = [(query.count(memory_words(one)), one) for one in listing.records]
        best = max((count for count, _ in counted), default=0)
        least = best if best == len(query.words) else 1
        found = sorted((pair for pair in counted if pair[0] >= least), key=lambda pair: -pair[0])
        return Listing([one for _, one in found[:limit]], listing.problems)

    def _read(self, names: Iterable[tuple[str, str]]) -> Listing[MemoryRecord]:
        """Return the memories of these names in their order."""
        found: Listing[MemoryRecord] = Listing()
        for scope, key in names:
            try:
                memory = self._memories.read(scope, key)
            except HarnessError as error:
                found.problems.append(Problem(str(self._paths.memory_file(scope, key)), str(error)))
                continue
            if memory is not None:
                found.records.append(memory)
        return found

    def remove_leftovers(self) -> None:
        """Remove what writers that have died left behind."""
        for scope in self.scopes():
            remove_leftovers(self._files.disk, self._paths.memory / scope / "*")

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return self._files.locked(self._paths.lock(self._paths.memory))


class UnknownMemoryError(HarnessError):
    """Memory that does not exist."""

    def __init__(self, scope: str, key: str) -> None:
        super().__init__(
            f"There is no memory {scope}/{key}",
            remedy="See: gemini-live-tui memory list",
            field="memory",
            value=f"{scope}/{key}",
        )


class MemoryChangedError(HarnessError):
    """Write of a memory that another program has changed meanwhile; `found` is it."""

    def __init__(self, scope: str, key: str, found: MemoryRecord | None) -> None:
        """`found` is None for a deleted memory."""
        done = "deleted" if found is None else "written"
        super().__init__(
            f"Another program has {done} {scope}/{key} meanwhile",
            remedy="Keep yours, or take theirs",
            field="memory",
            value=f"{scope}/{key}",
        )
        self.found = found


def _check_names(write: MemoryWrite) -> None:
    """Refuse a secret as a name: names of files are shown and cannot be redacted."""
    for field, name in (("scope", write.scope), ("key", write.key)):
        if redactor.text(name) != name:
            raise HarnessError(
                f"The {field} of a memory looks like a secret",
                remedy="Give it a name that tells what is remembered",
                field=field,
                value=redactor.text(name)[:80],
            )


def _check_size(write: MemoryWrite) -> None:
    """Raise `HarnessError` for a memory that is too large.

    Without encoding it first: what is far too large would take the memory of the program.
    """
    size = 0
    rest: list[Any] = [write.value, write.metadata]
    while rest and size <= MAX_VALUE:
        one = rest.pop()
        size += len(one) + 2 if isinstance(one, str) else 1
        if isinstance(one, dict):
            size += len(one)
            if size <= MAX_VALUE:
                rest += (part for item in one.items() for part in item)
        elif isinstance(one, (list, tuple)):
            size += len(one)
            if size <= MAX_VALUE:
                rest += one
    if size > MAX_VALUE:
        raise HarnessError(
            f"The memory {write.scope}/{write.key} has more than {MAX_VALUE:,} characters",
            remedy="Remember where it is: keep the text in a file of your own, and its path here",
            field="value",
            value=MAX_VALUE,
        )


def _full(what: str, scope: str) -> HarnessError:
    return HarnessError(what, remedy="Delete some: gemini-live-tui memory delete SCOPE KEY", field="scope", value=scope)
