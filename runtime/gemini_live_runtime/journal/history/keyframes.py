"""Encode views as keyframes whose transcript is a range of an archive.

A transcript is nearly always that of the keyframe before with a few blocks more. So blocks are stored once, in a
`BlockArchive`, and a keyframe has the range of their ids and those blocks that were different then.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.journal.history.blob_store import BlobRef, BlobStore

CHUNK = 256
"""Blocks that are stored together, once the live view has dropped them."""

CACHED_CHUNKS = 20
"""Chunks kept decoded, about a transcript of 5,000 blocks."""

_NEVER_SEEN = Block(id=0, kind="notice", t=0.0, turn=0, gen=0)
_classes: list[type[Any]] = []
_getters: dict[type[Any], tuple[int, Callable[[Any], tuple[Any, ...]]]] = {}


def encode_view(view: SessionView, blocks: Iterable[Block]) -> bytes:
    """Encode `view` without its transcript but for `blocks`.

    `blocks` are those whose version the archive has no longer.
    """
    bare = view.snapshot()
    bare.blocks = list(blocks)
    return _dump(bare)


def decode_view(data: bytes) -> SessionView:
    """Decode what `encode_view` returned; the view's transcript is only `blocks`."""
    view = _load(data)
    assert isinstance(view, SessionView)
    return view


def _dump(value: Any) -> bytes:
    # An eighth of the time that JSON takes, and tuples stay tuples. Loading is safe: this process wrote the data.
    return marshal.dumps(_flat(value))


def _load(data: bytes) -> Any:
    return _restored(marshal.loads(data))  # noqa: S302


def _flat(value: Any) -> Any:
    """Convert `value` to types that `marshal` knows.

    Dataclasses become rows of their fields. The items of a container are assumed to be of one class.
    """
    kind = type(value)
    if kind is dict:
        items = list(value.values())
        return (_DICT, list(value), _flat(items)) if items and is_dataclass(items[0]) else value
    if kind is list or kind is tuple:
        if not value or not is_dataclass(value[0]):
            return value if kind is list else (_TUPLE, list(value))
        number, row = _row_of(type(value[0]))
        return (_ROWS, number, [row(item) for item in value]) if kind is list else (_TUPLE, _flat(list(value)))
    if is_dataclass(value):
        number, row = _row_of(kind)
        # Each field by itself, so that memory never holds a second copy of the whole view.
        return (_ONE, number, [marshal.dumps(_flat(item)) for item in row(value)])
    return value


_DICT, _TUPLE, _ROWS, _ONE = range(4)


def _restored(value: Any) -> Any:
    if type(value) is not tuple:
        return value
    kind, first = value[0], value[1]
    if kind == _DICT:
        return dict(zip(first, _restored(value[2]), strict=True))
    if kind == _TUPLE:
        return tuple(_restored(first))
    cls = _classes[first]
    if kind == _ROWS:
        return [cls(*row) for row in value[2]]
    parts = (_load(item) for item in value[2])
    return cls(**{field.name: part for field, part in zip(fields(cls), parts, strict=True)})


def _row_of(cls: type[Any]) -> tuple[int, Callable[[Any], tuple[Any, ...]]]:
    found = _getters.get(cls)
    if found is None:
        names = [field.name for field in fields(cls)]
        found = _getters[cls] = (len(_classes), attrgetter(*names))
        _classes.append(cls)
    return found


class BlockArchive:
    """Transcript blocks from some id on, each in its version at the last `sync`.

    Blocks that the live view still has are shared with it; older ones are in the `BlobStore`.
    """

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._first: int | None = None
        self._blocks: list[Block] = []
        self._since: list[int] = []
        self._chunks: dict[int, BlobRef] = {}
        self._cache: OrderedDict[int, list[Block]] = OrderedDict()

    def sync(self, view: SessionView, at: int, *, disk: bool) -> list[tuple[Block, int]]:
        """Take over the transcript of `view`, the view before page `at`.

        Return the replaced versions of changed blocks, each with the number of the first page whose keyframe has it.
        """
        begin = view.blocks_forgotten + 1
        if self._first is None:
            self._first = begin
        start = begin - self._first
        changed: list[tuple[Block, int]] = []
        known, blocks, since = self._blocks, view.blocks, self._since
        for place, (old, new) in enumerate(zip(known[start:], blocks, strict=False), start):
            if old is not new:
                changed.append((old, since[place]))
                known[place], since[place] = new, at
        if (gap := start - len(known)) > 0:
            # Opened and dropped since the last call: no keyframe has these blocks, but ids must stay dense.
            known += [_NEVER_SEEN] * gap
            since += [at] * gap
        new_blocks = blocks[len(known) - start :]
        known += new_blocks
        since += [at] * len(new_blocks)
        while begin - self._first >= CHUNK:
            self._put_away(disk=disk)
        return changed

    def blocks(self, first: int, end: int) -> list[Block]:
        """Return the blocks with ids from `first` to before `end`.

        Raises `OSError` when the file cannot be read.
        """
        assert self._first is not None
        found: list[Block] = []
        while first < min(end, self._first):
            ident, offset = divmod(first, CHUNK)
            chunk = self._chunk(ident)
            # The first chunk may lack blocks at its beginning: those before the archive's first id.
            missing = CHUNK - len(chunk)
            part = chunk[offset - missing : offset - missing + end - first]
            found += part
            first += len(part)
        return found + self._blocks[first - self._first : max(0, end - self._first)]

    def forget(self, before: int) -> None:
        """Drop chunks with only ids below `before`."""
        for ident in [ident for ident in self._chunks if (ident + 1) * CHUNK <= before]:
            self._store.drop(self._chunks.pop(ident))
            self._cache.pop(ident, None)

    def _put_away(self, *, disk: bool) -> None:
        assert self._first is not None
        ident, offset = divmod(self._first, CHUNK)
        count = CHUNK - offset
        data = _dump(self._blocks[:count])
        self._chunks[ident] = self._store.put(data, disk=disk)
        del self._blocks[:count], self._since[:count]
        self._first += count

    def _chunk(self, ident: int) -> list[Block]:
        chunk = self._cache.get(ident)
        if chunk is None:
            chunk = self._cache[ident] = _load(self._store.get(self._chunks[ident]))
            while len(self._cache) > CACHED_CHUNKS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(ident)
        return chunk
