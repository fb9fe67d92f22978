"""The second row: is the microphone heard, does the model hear itself, does the sound keep up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemini_live_runtime.journal.view import SessionView
from gemini_live_tui.formatting import bar, decibel_text, duration_text
from gemini_live_tui.glyphs import UNICODE, Glyphs
from gemini_live_tui.widgets.row import Row, Run

READOUT_S = 0.25
"""How long a number stands still: digits that change with every frame cannot be read."""


@dataclass(slots=True)
class MeterMemory:
    """The numbers on show, remembered between frames. Peak and clipping are held by the engine itself."""

    mic_readout: float | None = None
    out_readout: float | None = None
    readout_at: float = float("-inf")

    def observe(self, view: SessionView, now: float) -> None:
        """Take in the values of one frame."""
        meters = view.meters
        fresh = (self.mic_readout is None) != (meters.mic_db is None) or (self.out_readout is None) != (
            meters.out_db is None
        )
        if fresh or now - self.readout_at >= READOUT_S:
            self.mic_readout, self.out_readout, self.readout_at = meters.mic_db, meters.out_db, now

    def again_in(self, view: SessionView, now: float) -> float | None:
        """Seconds until something here changes by itself, or None."""
        if (self.mic_readout, self.out_readout) == (view.meters.mic_db, view.meters.out_db):
            return None
        return max(0.0, self.readout_at + READOUT_S - now) + 0.01


class MeterStrip(Row):
    """Microphone, speaker, echo, buffer and latency on one row, the last two left out where there is no room."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._view = SessionView()
        self._live = False
        self.memory = MeterMemory()

    def show(self, view: SessionView, now: float, *, live: bool) -> float | None:
        """Show the meters of `view`; seconds after which they want to be shown again by themselves, or None."""
        self._view, self._live = view, live
        self.memory.observe(view, now)
        self.update_row()
        return self.memory.again_in(view, now) if live else None

    def runs(self, width: int) -> Sequence[Run]:
        """The parts that fit into `width`."""
        cells = 6 if width < 76 else 8 if width < 96 else 12 if width < 136 else 20
        parts = [self._microphone(cells), self._speaker(cells)]
        gap = 2 if width < 96 else 3
        used = 1 + sum(_width(part) for part in parts) + gap
        # Offered room in the order of their worth, shown in the order of their places.
        chosen: list[tuple[int, list[Run]]] = []
        for place, part in ((0, self._echo(width)), (2, self._latency()), (1, self._buffer(width))):
            if part and used + gap + _width(part) <= width:
                chosen.append((place, part))
                used += gap + _width(part)
        parts.extend(part for _, part in sorted(chosen, key=lambda pair: pair[0]))
        runs: list[Run] = [(" ", "")]
        for number, part in enumerate(parts):
            if number:
                runs.append((" " * gap, ""))
            runs.extend(part)
        return runs

    def _level(
        self, name: str, level: float | None, readout: float | None, cells: int, peak: float | None
    ) -> list[Run]:
        runs: list[Run] = [(f"{name} ", "quiet")]
        runs.extend((text, style) for text, style in bar(level, cells, self._glyphs, peak=peak))
        return [*runs, (f" {decibel_text(readout)} dB", "strong")]

    def _word(self, name: str, word: str, style: str, cells: int) -> list[Run]:
        """A word in place of a bar, exactly as wide as the bar with its number."""
        return [(f"{name} ", "quiet"), (f"{word:<{cells + 7}}"[: cells + 7], style)]

    def _microphone(self, cells: int) -> list[Run]:
        view, memory = self._view, self.memory
        mark: Run = ("      ", "")
        if not self._live:
            part = self._word("MIC", "off", "quiet", cells)
        elif view.mode == "text":
            part = self._word("MIC", "off (text)", "quiet", cells)
        elif not view.microphone:
            part = self._word("MIC", "MUTED", "alarm", cells)
        elif not view.input_device:
            part = self._word("MIC", "none", "quiet", cells)
        else:
            part = self._level("MIC", view.meters.mic_db, memory.mic_readout, cells, view.meters.mic_peak_db)
            if view.meters.clipped:
                mark = (" CLIP ", "alarm")
            elif view.voice or view.meters.speech:
                mark = (" voice", "voice")
        return [*part, mark]

    def _speaker(self, cells: int) -> list[Run]:
        view = self._view
        if not self._live:
            return self._word("OUT", "off", "quiet", cells)
        if not view.speaker:
            return self._word("OUT", "MUTED", "alarm", cells)
        if not view.output_device:
            return self._word("OUT", "none", "quiet", cells)
        return self._level("OUT", view.meters.out_db, self.memory.out_readout, cells, None)

    def _echo(self, width: int) -> list[Run]:
        view = self._view
        if not self._live or not view.input_device or view.mode == "text" or not view.output_device:
            return []
        if view.echo_leaking:
            text = "model may hear itself, use headphones" if width >= 110 else "echo: use headphones"
            return [(text, "alarm")]
        if not view.echo_canceller:
            return [("ECHO ", "quiet"), ("not cancelled", "alarm")]
        erle = view.meters.erle_db
        value = "  --" if erle is None else f"{-erle:4.0f}"
        return [("ECHO", "quiet"), (f"{value} dB", "strong")]

    def _buffer(self, width: int) -> list[Run]:
        view = self._view
        if not self._live or not view.output_device:
            return []
        runs: list[Run] = [("BUF", "quiet"), (f"{duration_text(view.meters.buffer_ms):>7}", "strong")]
        if view.meters.underruns:
            count = view.meters.underruns
            word = f"{count} gap{'s' if count > 1 else ''}" if width >= 110 else f"{count}u"
            runs.append((f" {word}", "mid"))
        return runs

    def _latency(self) -> list[Run]:
        latencies = self._view.latencies
        if not latencies:
            return []
        return [("LAT ", "quiet"), (duration_text(latencies[-1]), "strong")]


def _width(part: Sequence[Run]) -> int:
    return sum(len(text) for text, _ in part)
