"""Show where the agent is held, for how long, what waits, and the keys to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.painting.formatting import clock_text, until_next_second
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.row import Row

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import Hold

LEAST_PLACE = 16
"""Least cells of the place; other parts are dropped before it gets shorter."""

_RELEASES = (("step", "one decision", "step"), ("step-turn", "turn", "turn"), ("pause", "go on", "go on"))


class HeldRow(Row):
    """Row of a held agent.

    `HELD at watcher no_consent · 12 s · 1 answer, 3 decisions wait · F7 one decision · F8 turn · F6 go on`.
    """

    DEFAULT_CSS = """
    HeldRow { display: none; }
    HeldRow.-shown { display: block; }
    """

    def __init__(self, *, keymap: Mapping[str, str], glyphs: Glyphs, ascii_only: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self._separator = f" {glyphs.separator} "
        self._ellipsis = glyphs.ellipsis
        self._keys = {
            ident: key_label(keys[0], ascii_only=ascii_only)
            for ident, _, _ in _RELEASES
            if (keys := keys_of(BY_ID[ident], keymap))
        }
        self._held: Hold | None = None
        self._seconds = 0.0
        self._operable = True

    def show(self, held: Hold | None, elapsed: float, *, operable: bool) -> float | None:
        """Show the hold at `elapsed` seconds; return the seconds until the row changes.

        `operable`: the agent can be let go on, which is impossible in a recording.
        """
        self._held, self._operable = held, operable
        self.set_class(held is not None, "-shown")
        if held is None:
            return None
        self._seconds = max(0.0, elapsed - held.t)
        self.update_row()
        return until_next_second(self._seconds) if operable else None

    def runs(self, width: int) -> Sequence[Run]:
        """Return the longest form that fits: shorter words first, then a shorter place."""
        held = self._held
        if held is None:
            return ()
        # A paused agent waits for its first event, before which it is held.
        places = [f"{held.at}: {held.next}" if held.next and held.next != held.at else held.at]
        if held.by == "pause" and held.next:
            # The place is no breakpoint, and "the next decision" says nothing once that is known.
            places.append(held.next)
        full, brief, shortest = self._waits(held)
        forms = ((1, full), (2, full), (2, brief), (2, shortest), (2, ""), (0, ""))
        tails = [self._tail(words, waits) for words, waits in forms]
        widths = [width - len("  HELD  at ") - sum(cell_len(text) for text, _ in tail) for tail in tails]
        place = next((one for one in places if max(widths[:5]) >= cell_len(one)), places[0])
        whole = next((at for at in range(5) if widths[at] >= cell_len(place)), None)
        chosen = next((at for at in range(3, 6) if widths[at] >= LEAST_PLACE), 5) if whole is None else whole
        place = fit(place, max(1, widths[chosen]), self._ellipsis)
        return [(" ", ""), (" HELD ", "held"), (" at ", "quiet"), (place, "strong"), *tails[chosen]]

    def _tail(self, words: int, waits: str) -> list[Run]:
        """Return the runs behind the place; `words` picks the keys' titles, 0 for no keys."""
        seconds = f"{self._seconds:.0f} s" if self._seconds < 99.5 else clock_text(self._seconds)
        runs: list[Run] = [(f"{self._separator}{seconds}", "said")]
        if waits:
            runs.append((f"{self._separator}{waits}", "said"))
        if words and self._operable:
            for way in _RELEASES:
                if way[0] in self._keys:
                    runs += [(self._separator, "quiet"), (self._keys[way[0]], "key"), (f" {way[words]}", "quiet")]
        return runs

    @staticmethod
    def _waits(held: Hold) -> tuple[str, str, str]:
        """Return what waits: in full, shorter, and as short as possible."""
        count = held.answers + held.steps
        if not count:
            return "nothing waits", "nothing waits", ""
        parts = ", ".join(
            f"{number} {word}{'' if number == 1 else 's'}"
            for number, word in ((held.answers, "answer"), (held.steps, "decision"))
            if number
        )
        verb = "waits" if count == 1 else "wait"
        return f"{parts} {verb}", parts, f"{count} {verb}"
