"""Show which moment of the past is on screen, and the key to the present."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.session_data.cursor import Place
from gemini_live_tui.widgets.row import Row


class TimeTravelRow(Row):
    """`REPLAY  12.4 s behind live · event 4,812 of 5,130 · turn 14 · end: live`."""

    DEFAULT_CSS = """
    TimeTravelRow { display: none; }
    TimeTravelRow.-shown { display: block; }
    """

    def __init__(
        self, *, keymap: Mapping[str, str], glyphs: Glyphs, ascii_only: bool, recording: bool, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._separator = f" {glyphs.separator} "
        self._keys = {
            ident: key_label(keys[0], ascii_only=ascii_only)
            for ident in ("play", "live", "follow", "event-back", "event-on", "turn-back", "turn-on")
            if (keys := keys_of(BY_ID[ident], keymap))
        }
        self._recording = recording
        self._place: Place | None = None
        self._reading: float | None = None
        self._sound = ""

    def show(self, place: Place | None, *, reading: float | None = None, sound: str = "") -> None:
        """Show the cursor's place, nothing for the present.

        `reading` is the share of a file that was read so far, 0 to 1; `sound` is the state of the sound while playing.
        """
        self._place, self._reading, self._sound = place, reading, sound
        self.set_class(place is not None or reading is not None, "-shown")
        if place is not None or reading is not None:
            self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return word, place and keys; the keys are dropped first."""
        head: list[Run] = [(" ", ""), (" REPLAY ", "replay"), ("  ", "")]
        facts, keys = self._facts(), self._hints()
        used = sum(cell_len(text) for text, _ in head)
        while len(facts) + len(keys) > 1:
            size = sum(cell_len(self._separator) + sum(cell_len(text) for text, _ in part) for part in (*facts, *keys))
            if used + size - cell_len(self._separator) < width:
                break
            if len(keys) > 1:
                keys.pop(0)
            elif len(facts) > 1:
                facts.pop()
            else:
                keys.pop()
        runs = head
        for number, part in enumerate((*facts, *keys)):
            if number:
                runs.append((self._separator, "quiet"))
            runs.extend(part)
        return runs

    def _facts(self) -> list[list[Run]]:
        facts: list[list[Run]] = []
        if self._reading is not None:
            facts.append([(f"reading {self._reading:.0%}", "strong")])
        place = self._place
        if place is None:
            return facts
        if place.playing:
            sound = f", {self._sound}" if self._sound else ""
            facts.append([(f"playing {place.speed:g}x{sound}", "strong")])
        if self._recording:
            facts.append([(clock_text(place.t), "strong"), (f" of {clock_text(place.t + place.behind)}", "quiet")])
        else:
            facts.append([(behind_text(place.behind), "strong"), (" behind live", "strong")])
        facts.append([(f"event {place.seq:,} of {place.last:,}", "said")])
        facts.append([(f"turn {place.turn}", "said")])
        return facts

    def _hints(self) -> list[list[Run]]:
        keys, place = self._keys, self._place
        hints: list[list[Run]] = []
        if place is None:
            return hints
        if "event-back" in keys and "event-on" in keys:
            hints.append([(f"{keys['event-back']} {keys['event-on']}", "key"), (" event", "quiet")])
        if "turn-back" in keys and "turn-on" in keys:
            hints.append([(f"{keys['turn-back']} {keys['turn-on']}", "key"), (" turn", "quiet")])
        if "play" in keys and not place.playing:
            hints.append([(keys["play"], "key"), (" play", "quiet")])
        if place.behind and "follow" in keys:
            hints.append([(keys["follow"], "key"), (": the end" if self._recording else ": live", "quiet")])
        if "play" in keys and place.playing:
            # Dropped last: playing sound must be easy to stop.
            hints.append([(keys["play"], "key"), (" pause", "quiet")])
        return hints


def behind_text(seconds: float) -> str:
    """Return `12.4 s` below a minute, then `2:07`."""
    return f"{seconds:.1f} s" if seconds < 59.95 else clock_text(seconds)
