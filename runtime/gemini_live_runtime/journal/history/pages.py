"""Index a history sparsely: one entry per run of consecutive events."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field

from gemini_live_runtime.journal.fold.view import Block
from gemini_live_runtime.journal.history.blob_store import BlobRef
from gemini_live_runtime.records import mutable_record

MAX_TYPES = 500
"""Event types with a bit of their own; further ones share a bit, so that a search decodes pages without a match."""


@mutable_record
class Page:
    """Index entry of consecutive events, `number` from 0 on.

    The last page is still open and may be empty. `begins_at` is the highest time stamped up to its first event, `t` and
    `turn` the highest up to its last. `types` has the bits of `TypeBits`. `span` is the place of its lines in a
    recorded file, (offset, end) in bytes; a live history stores them as the blob `lines`.
    """

    number: int
    first: int
    last: int
    begins_at: float
    t: float
    turn: int
    count: int = 0
    size: int = 0
    types: int = 0
    lines: BlobRef | None = None
    span: tuple[int, int] = (0, 0)
    keyframe: BlobRef | None = None
    """View before the first event. None: folded on from an earlier page's."""
    blocks: tuple[int, int] = (1, 1)
    """Ids of the keyframe's blocks: the first, and the one after the last."""
    late: dict[int, Block] = field(default_factory=dict)
    """Earlier versions of blocks that changed since, by id; those found after the keyframe was encoded."""


class TypeBits:
    """Bit of each event type."""

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}

    def bit(self, name: str) -> int:
        """Return the bit of a type; a new type gets the next one."""
        bit = self._bits.get(name)
        if bit is None:
            bit = 1 << min(len(self._bits), MAX_TYPES)
            if len(self._bits) < MAX_TYPES:
                self._bits[name] = bit
        return bit

    def any_of(self, names: Collection[str]) -> int:
        """Return the bits of which a page with any of these types has at least one."""
        bits = 0
        for name in names:
            bits |= self._bits.get(name, 1 << MAX_TYPES)
        return bits
