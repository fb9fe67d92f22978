"""Tell which words of a block have been spoken at a moment.

Imports no events: a console paints a view before it imports them.
"""

from __future__ import annotations

from gemini_live_runtime.journal.fold.view import Block, Playhead
from gemini_live_runtime.speech_map import begun_at, begun_words, sample_of

RATE = 24_000

AHEAD_S = 0.75
"""Seconds for which playback is taken to go on after its last report; reports come twice a second."""


def lit_chars(block: Block, playhead: Playhead | None, t: float) -> int:
    """Return the characters of `block` whose words have begun to sound at `t` (s)."""
    samples = heard_samples(block, playhead, t)
    if samples is None:
        return len(block.text)
    return begun_words(block.text, begun_at(block.places, len(block.text), samples)) if samples else 0


def next_word_s(block: Block, playhead: Playhead | None, t: float) -> float | None:
    """Return the seconds until another word sounds, None while nothing plays."""
    samples, lit = heard_samples(block, playhead, t), lit_chars(block, playhead, t)
    if samples is None or lit >= len(block.text) or playhead is None or playhead.gen != block.gen:
        return None
    if playhead.is_paused or t - playhead.t >= AHEAD_S:
        return None
    return max(playhead.t - t, (sample_of(block.places, len(block.text), lit) - samples) / RATE)


def heard_samples(block: Block, playhead: Playhead | None, t: float) -> int | None:
    """Return the samples of a block's generation that were heard; None for all."""
    if not block.places or (playhead is not None and block.gen < playhead.gen):
        return None
    if playhead is None or block.gen > playhead.gen:
        return 0
    if playhead.is_paused:
        return playhead.samples
    return playhead.samples + round(min(max(0.0, t - playhead.t), AHEAD_S) * RATE)
