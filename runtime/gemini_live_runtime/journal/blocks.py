"""The transcript's blocks in a view: opening, finding, finishing, and forgetting the oldest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.view import MAX_BLOCKS, MAX_CHARS, Block, BlockKind, SessionView


def open_block(view: SessionView, event: Event, kind: BlockKind, **fields: Any) -> Block:
    """Add a block that begins with `event`; `fields` are those of `Block`."""
    block = Block(id=view.next_block, kind=kind, t=event.t, turn=event.turn, gen=event.gen, **fields)
    view.next_block += 1
    view.blocks.append(block)
    view.block_chars += len(block.text) + len(block.detail)
    forget_oldest(view)
    return block


def forget_oldest(view: SessionView) -> None:
    """Drop the oldest blocks, counted, until the bounds of `view` hold."""
    if len(view.blocks) <= MAX_BLOCKS and view.block_chars <= MAX_CHARS:
        return
    # Forgetting a twentieth at a time keeps the cost of a long session flat.
    least, batch = len(view.blocks) // 20, 0
    for block in view.blocks[:-1]:
        if batch > least and view.block_chars <= MAX_CHARS:
            break
        view.block_chars -= len(block.text) + len(block.detail)
        batch += 1
    del view.blocks[:batch]
    view.blocks_forgotten += batch


def recent(view: SessionView, turn: int) -> Iterator[Block]:
    """Blocks of `turn` and of the one before it, newest first."""
    for block in reversed(view.blocks):
        if block.turn < turn - 1:
            return
        yield block


def streaming(view: SessionView, kind: BlockKind, turn: int) -> Block | None:
    """The block of `kind` that is still growing in `turn`."""
    for block in recent(view, turn):
        if block.kind == kind and not block.done and block.turn == turn:
            return block
    return None


def interrupted(view: SessionView, kind: BlockKind, gen: int) -> Block | None:
    """The interrupted block of generation `gen`: what still arrives of a cut answer is its unheard rest."""
    for block in recent(view, view.turn):
        if block.kind == kind and block.interrupted and block.gen == gen:
            return block
    return None


def finish(view: SessionView, *kinds: BlockKind) -> None:
    """Mark blocks of `kinds` of this turn and the one before it as complete."""
    for block in recent(view, view.turn):
        if block.kind in kinds and not block.done:
            block.done = True
            block.rev += 1
