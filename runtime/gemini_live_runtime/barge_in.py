"""Brake interruptions that turn out to have no words.

An echo or a noise that is taken for the user cuts the model off; where its next answer is cut as well, the model
interrupts itself for ever. So after a cut without words the next one needs more voice.
"""

from __future__ import annotations

FIRST_MS = 500
"""Voice in ms that an interruption needs after one without words."""
MAX_MS = 1500
"""Most voice in ms that an interruption needs, however many had no words."""


class BargeInBrake:
    """Count of interruptions since the user was last understood."""

    __slots__ = ("_cuts",)

    def __init__(self) -> None:
        self._cuts = 0

    @property
    def needed_ms(self) -> int:
        """Voice in ms that the next interruption needs at least.

        0 while the last one had words.
        """
        return min(MAX_MS, FIRST_MS << min(self._cuts - 1, 8)) if self._cuts else 0

    def on_interruption(self) -> None:
        """Note that a voice cut the model off."""
        self._cuts += 1

    def on_words(self) -> None:
        """Note that the user was understood."""
        self._cuts = 0
