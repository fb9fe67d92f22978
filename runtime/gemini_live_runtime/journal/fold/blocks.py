"""Open, change, find, finish and drop transcript blocks of a view.

A block is never changed in place: a new one replaces it in the list, since snapshots of earlier views share the items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.fold.view import (
    MAX_BLOCKS,
    MAX_CHARS,
    NOT_UNDERSTOOD,
    Block,
    BlockKind,
    OpenBlocks,
    SessionView,
)

_VALUES = attrgetter(*(one.name for one in fields(Block)))

_MAX_ALTERNATING = 8
"""Last notices among which one of the same kind is looked for."""


def open_block(view: SessionView, event: Event, kind: BlockKind, **fields: Any) -> Block:
    """Add a block that begins with `event`; `fields` are those of `Block`."""
    block = Block(id=view.next_block, kind=kind, t=event.t, turn=event.turn, gen=event.gen, seq=event.seq, **fields)
    view.next_block += 1
    view.blocks.append(block)
    view.block_chars += len(block.text) + len(block.detail)
    if not block.done and view.open_blocks is not None:
        _add_open(view.open_blocks, block)
    forget_oldest(view)
    return block


def add_notice(
    view: SessionView, event: Event, group: str, *, text: str, status: str, detail: str = "", action: str = ""
) -> None:
    """Add a notice, or count it in one of its `group` among the last blocks.

    Without a group, notices with the same text are of one kind. A server can make thousands of them in a second: they
    would take the place of what was said.
    """
    for index, block in last_notices(view):
        if block.status == status and block.group == group and (group or block.text == text):
            view.block_chars += len(text) + len(detail) - len(block.text) - len(block.detail)
            change(view, index, text=text, detail=detail, action=action, count=block.count + 1)
            return
    open_block(view, event, "notice", text=text, status=status, detail=detail, action=action, done=True, group=group)


def last_notices(view: SessionView) -> Iterator[tuple[int, Block]]:
    """Yield the notices after everything else with their indices, newest first.

    At most `_MAX_ALTERNATING`.
    """
    blocks = view.blocks
    for index in range(len(blocks) - 1, max(-1, len(blocks) - 1 - _MAX_ALTERNATING), -1):
        if blocks[index].kind != "notice":
            return
        yield index, blocks[index]


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
    view.open_blocks = None


def change(view: SessionView, index: int, **values: Any) -> None:
    """Replace the block at `index` by one with other `values` and the next revision."""
    block = view.blocks[index]
    # Every delta of the transcript comes here, and `dataclasses.replace` would take three times as long.
    new = view.blocks[index] = Block(*_VALUES(block))
    for name, value in (("rev", block.rev + 1), *values.items()):
        setattr(new, name, value)
    if new.done and not block.done and view.open_blocks is not None:
        _remove_open(view.open_blocks, block)


def recent(view: SessionView, turn: int) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of `turn` and the turn before with their indices, newest first."""
    blocks = view.blocks
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if block.turn < turn - 1:
            return
        yield index, block


def not_understood(view: SessionView, turn: int) -> int | None:
    """Return the index of the row of `turn` for speech without words, or None."""
    for index, block in recent(view, turn):
        if block.kind == "user":
            return index if block.turn == turn and block.status == NOT_UNDERSTOOD else None
    return None


def streaming(view: SessionView, kind: BlockKind, turn: int) -> int | None:
    """Return the index of the block of `kind` that still grows in `turn`, or None."""
    for ident in reversed(_open(view).speech):
        index = _index(view, ident)
        block = view.blocks[index]
        if block.kind == kind and block.turn == turn:
            return index
    return None


def open_call(view: SessionView, call_id: str) -> int | None:
    """Return the index of the newest block of a call that has no result yet, or None."""
    found = _open(view).calls.get(call_id)
    return _index(view, found[-1]) if found else None


def interrupted(view: SessionView, kind: BlockKind, gen: int) -> int | None:
    """Return the index of the interrupted block of generation `gen`, or None.

    Text that still arrives of a cut answer is its unheard rest and belongs to that block.
    """
    if not view.interruptions:
        return None
    for index, block in recent(view, view.turn):
        if block.kind == kind and block.interrupted and block.gen == gen:
            return index
    return None


def finish(view: SessionView, *kinds: BlockKind) -> None:
    """Mark blocks of `kinds` in the current turn and the one before as complete."""
    for ident in list(_open(view).speech):
        index = _index(view, ident)
        block = view.blocks[index]
        if block.kind in kinds and block.turn >= view.turn - 1:
            change(view, index, done=True)


def _index(view: SessionView, ident: int) -> int:
    """Return the index of a block by its id: ids are dense."""
    return ident - 1 - view.blocks_forgotten


def _open(view: SessionView) -> OpenBlocks:
    """Return the index of the open blocks.

    Without it each event of a turn with thousands of calls would look at all of them.
    """
    if view.open_blocks is None:
        view.open_blocks = OpenBlocks()
        for block in view.blocks:
            if not block.done:
                _add_open(view.open_blocks, block)
    return view.open_blocks


def _add_open(index: OpenBlocks, block: Block) -> None:
    if block.kind == "tool":
        index.calls.setdefault(block.call_id, []).append(block.id)
    else:
        index.speech[block.id] = None


def _remove_open(index: OpenBlocks, block: Block) -> None:
    if block.kind == "tool":
        index.calls[block.call_id].remove(block.id)
        if not index.calls[block.call_id]:
            del index.calls[block.call_id]
    else:
        del index.speech[block.id]
