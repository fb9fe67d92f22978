"""Follow which words of a view's blocks have been heard.

A block has places while some of its speech is still to be played. Sessions recorded without places have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.fold.blocks import change, open_block
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


def go_on(view: SessionView, event: Event, gen: int, sample: int) -> Dirty:
    """Open a block for the end of an answer whose lost loudspeaker is back.

    The end is heard from `sample` on.
    """
    index, block = next(_placed(view), (0, None)) if view.interruptions else (0, None)
    if block is None or not block.interrupted or block.gen != gen:
        return Dirty.NONE
    heard = whole_words(block.text, chars_at(block.places, len(block.text), sample))
    rest = block.text[max(heard, block.heard or 0) :].lstrip()
    at = len(block.text) - len(rest)
    if at == 0:
        change(view, index, interrupted=False, heard=None)
        return Dirty.TRANSCRIPT
    change(view, index, text=block.text[:at], places=(), done=True)
    view.block_chars -= len(rest)
    if rest:
        places = tuple((char - at, first, count) for char, first, count in block.places if char >= at)
        if not places or places[0][0] > 0:
            # A delta that was half heard.
            end = max(first + count for char, first, count in block.places if char < at)
            places = ((0, sample, max(1, end - sample)), *places)
        same_answer = replace(event, turn=block.turn, gen=gen)
        open_block(view, same_answer, "model", text=rest, places=places, done=block.done)
    return Dirty.TRANSCRIPT


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
        if below is None and block.interrupted:
            continue  # Its end may be heard when the loudspeaker is back.
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
