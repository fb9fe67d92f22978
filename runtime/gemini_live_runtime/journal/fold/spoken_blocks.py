"""Follow which words of a view's blocks have been heard.

A block has places while some of its speech is still to be played. Sessions recorded without places have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.fold.blocks import change
from gemini_live_runtime.journal.fold.heard_words import heard_samples
from gemini_live_runtime.journal.fold.view import Block, Dirty, Playhead, SessionView
from gemini_live_runtime.speech_map import chars_at, stretched, whole_words

START_S = 0.1
"""Seconds from the first sample's way to the device until it is certainly heard; the first report is exact."""


def start(view: SessionView, event: Event) -> None:
    """Note that the generation of `event` began to play."""
    play(view, event.gen, 0, event.t + START_S)


def play(view: SessionView, gen: int, samples: int, t: float) -> None:
    """Note how much of a generation was heard at session time `t` (s)."""
    if view.playhead is not None or any(_placed(view)):
        # What was heard before a pause may be reported in it.
        is_paused = view.playhead is not None and view.playhead.is_paused and view.playhead.gen == gen
        view.playhead = Playhead(gen, samples, t, is_paused)


def pause(view: SessionView, gen: int, samples: int, t: float, *, paused: bool) -> None:
    """Note that the playback of a generation pauses at `samples`, or goes on there."""
    if view.playhead is not None:
        view.playhead = Playhead(gen, samples, t, paused)


def complete(view: SessionView, gen: int, total: int) -> Dirty:
    """Adapt the places of a generation to its number of samples."""
    placed = [(index, block) for index, block in _placed(view) if block.gen == gen]
    if not placed or not total:
        return Dirty.NONE
    # Those of several blocks, with calls between them, follow each other.
    places = stretched([place for _, block in reversed(placed) for place in block.places], total)
    for index, block in reversed(placed):
        change(view, index, places=places[: len(block.places)])
        places = places[len(block.places) :]
    return Dirty.TRANSCRIPT


def drain(view: SessionView, gen: int) -> Dirty:
    """Take all of a generation as heard."""
    dirty = Dirty.NONE
    for index, block in list(_placed(view)):
        if block.gen <= gen:
            change(view, index, places=())
            dirty = Dirty.TRANSCRIPT
    if view.playhead is not None and view.playhead.gen <= gen:
        view.playhead = None
    return dirty


def stop(view: SessionView, event: Event, *, below: int | None = None) -> Dirty:
    """Keep what was heard of generations below `below`; None means all."""
    dirty = Dirty.NONE
    for index, block in list(_placed(view)):
        if below is None or block.gen < below:
            heard = block.heard if block.interrupted else heard_chars(block, view.playhead, event.t)
            change(view, index, places=(), heard=heard)
            dirty = Dirty.TRANSCRIPT
    if view.playhead is not None and (below is None or view.playhead.gen < below):
        view.playhead = None
    return dirty


def heard_chars(block: Block, playhead: Playhead | None, t: float) -> int | None:
    """Return the characters of a block that were heard until `t` (s); None for all."""
    samples = heard_samples(block, playhead, t)
    if samples is None:
        return block.heard
    return whole_words(block.text, chars_at(block.places, len(block.text), samples))


def _placed(view: SessionView) -> Iterator[tuple[int, Block]]:
    """Yield the blocks that have places with their indices, newest first."""
    blocks, gen = view.blocks, None
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if block.kind != "model":
            continue
        if block.places:
            gen = block.gen
            yield index, block
        elif gen is None or block.gen < gen:
            # Generations are played in order: before one that was played there is nothing left to play.
            return
