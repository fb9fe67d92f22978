"""Generations: the server's messages carry no number, so they are given one here.

A model frame belongs to the current generation, which advances only at `turnComplete` or `interrupted`. Interrupting
stores a bound, `cut_below`; whatever belongs to a generation below it is dropped wherever it is found, including what
still arrives of the old answer. There is no flag that could be cleared too early.
"""

from __future__ import annotations

from dataclasses import dataclass, field

KEPT = 8
"""Generations remembered: only the last ones can still be playing."""


@dataclass(slots=True)
class Generation:
    """What is known of one answer. Samples are at 24 kHz."""

    number: int
    turn: int
    received: int = 0
    heard: int = 0
    text: list[str] = field(default_factory=list)
    opened: bool = False
    complete: bool = False
    drained: bool = False
    """Nothing of it will be played any more, heard or not."""

    @property
    def sounds(self) -> bool:
        """Whether more of it may be heard."""
        return not self.complete or (self.unheard > 0 and not self.drained)

    @property
    def unheard(self) -> int:
        """Samples received and not consumed by the device."""
        return max(0, self.received - self.heard)

    def split_text(self) -> tuple[str, str]:
        """The transcript as heard and as unheard, cut at a word, in proportion to the audio consumed.

        Transcript and audio travel in step but unaligned, so proportion is the best that holds for every server.
        """
        text = "".join(self.text)
        if self.received == 0 or self.heard >= self.received:
            return (text, "") if self.received else ("", text)
        at = len(text) * self.heard // self.received
        while 0 < at < len(text) and not text[at].isspace():
            at -= 1
        return text[:at], text[at:]


class GenerationLedger:
    """Numbers generations and knows which are cut."""

    def __init__(self) -> None:
        self.number = 1
        self.cut_below = 0
        self._known: dict[int, Generation] = {}

    def current(self, turn: int) -> Generation:
        """The generation that a frame arriving now belongs to."""
        return self._get(self.number, turn)

    def get(self, number: int) -> Generation | None:
        """A remembered generation."""
        return self._known.get(number)

    @property
    def current_opened(self) -> bool:
        """Whether anything of the current generation has arrived."""
        known = self._known.get(self.number)
        return known is not None and known.opened

    @property
    def current_is_cut(self) -> bool:
        """Whether what arrives now is to be dropped."""
        return self.number < self.cut_below

    def advance(self) -> None:
        """The current generation is over."""
        known = self._known.get(self.number)
        if known is not None:
            known.complete = True
        self.number += 1
        for number in [number for number in self._known if number <= self.number - KEPT]:
            del self._known[number]

    def cut(self) -> int:
        """Cut the current generation if it has begun, else all before it; the new bound. The bound never falls."""
        bound = self.number + 1 if self.current_opened else self.number
        self.cut_below = max(self.cut_below, bound)
        return self.cut_below

    def drain(self) -> None:
        """Nothing that is known will be played any more: the output is gone."""
        for generation in self._known.values():
            generation.drained = generation.complete

    def audible(self) -> Generation | None:
        """The newest generation that is not cut and has begun or still has unheard audio."""
        for number in sorted(self._known, reverse=True):
            generation = self._known[number]
            if number >= self.cut_below and generation.opened and generation.sounds:
                return generation
        return None

    def _get(self, number: int, turn: int) -> Generation:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = Generation(number, turn)
        return known
