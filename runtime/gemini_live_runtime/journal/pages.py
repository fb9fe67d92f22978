"""The sparse index of a history: runs of consecutive events, with what is needed to find one among them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from gemini_live_runtime.journal.blob_store import BlobRef
from gemini_live_runtime.journal.view import Block

MAX_TYPES = 500
"""Event types told apart in the index; those beyond share a mark and cost a look at their pages."""


@dataclass(slots=True)
class Page:
    """Consecutive events, `number` from 0 on. There is always one more, which is still open and may be empty.

    `begins_at` is the highest time stamped up to its first event, `t` and `turn` the highest up to its last. `types`
    has the bits of `TypeMarks`. `span` is where its lines stand in a recorded file, (offset, end) in bytes; otherwise
    they are on the shelf as `lines`.
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
    """The view before the first event. None: an earlier page's is folded on."""
    blocks: tuple[int, int] = (1, 1)
    """Ids of the keyframe's paragraphs: the first, and the one after the last."""
    late: dict[int, Block] = field(default_factory=dict)
    """Those of them that were different then, by id, and are not in the keyframe itself."""


class TypeMarks:
    """A bit for each event type."""

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}

    def bit(self, name: str) -> int:
        """The mark of a type, made when it is new."""
        bit = self._bits.get(name)
        if bit is None:
            bit = 1 << min(len(self._bits), MAX_TYPES)
            if len(self._bits) < MAX_TYPES:
                self._bits[name] = bit
        return bit

    def any_of(self, names: Collection[str]) -> int:
        """The marks that pages with any of these types have."""
        marks = 0
        for name in names:
            marks |= self._bits.get(name, 1 << MAX_TYPES)
        return marks
