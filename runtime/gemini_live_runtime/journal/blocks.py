"""Open, change, find, finish and drop transcript blocks of a view.

A block is never changed in place: a new one replaces it in the list, since snapshots of earlier views share the items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.view import MAX_BLOCKS, MAX_CHARS, Block, BlockKind, SessionView


def open_block(view: SessionView, event: Event, kind: BlockKind, **fields: Any) -> Block:
    """Add a block that begins with `event`; `fields` are those of `Block`."""
    block = Block(id=view.next_block, kind=kind, t=event.t, turn=event.turn, gen=event.gen, seq=event.seq, **fields)
    view.next_block += 1
    view.blocks.append(block)
    view.block_chars += len(block.text) + len(block.detail)
    forget_oldest(view)
    return block


def forget_oldest(view: SessionView) -> None:
    """Drop the oldest blocks, counted, until the bounds of `view` hold."""
    if len(view.blocks) <= MAX_BLOCKS and view.block_chars <= MAX_CHARS:
        return
    # Drop a twentieth at a time: deleting from the front of the list for each new block would cost O(n) each.
    least, batch = len(view.blocks) // 20, 0
    for block in view.blocks[:-1]:
        if batch > least and view.block_chars <= MAX_CHARS:
            break
        view.block_chars -= len(block.text) + len(block.detail)
        batch += 1
    del view.blocks[:batch]
    view.blocks_forgotten += batch


def change(view: SessionView, index: int, **fields: Any) -> None:
    """Replace the block at `index` by one with other `fields` and the next revision."""
    block = view.blocks[index]
    view.blocks[index] = replace(block, rev=block.rev + 1, **fields)


def recent(view: SessionView, turn: int) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of `turn` and the turn before with their indices, newest first."""
    blocks = view.blocks
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if block.turn < turn - 1:
            return
        yield index, block


def streaming(view: SessionView, kind: BlockKind, turn: int) -> int | None:
    """Return the index of the block of `kind` that still grows in `turn`, or None."""
    for index, block in recent(view, turn):
        if block.kind == kind and not block.done and block.turn == turn:
            return index
    return None


def interrupted(view: SessionView, kind: BlockKind, gen: int) -> int | None:
    """Return the index of the interrupted block of generation `gen`, or None.

    Text that still arrives of a cut answer is its unheard rest and belongs to that block.
    """
    for index, block in recent(view, view.turn):
        if block.kind == kind and block.interrupted and block.gen == gen:
            return index
    return None


def finish(view: SessionView, *kinds: BlockKind) -> None:
    """Mark blocks of `kinds` in the current turn and the one before as complete."""
    for index, block in recent(view, view.turn):
        if block.kind in kinds and not block.done:
            change(view, index, done=True)
