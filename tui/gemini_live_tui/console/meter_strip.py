"""Show microphone, speaker, echo, buffer and latency in the second row."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.records import mutable_record
from gemini_live_tui.messages import OpenScreen
from gemini_live_tui.painting.formatting import bar, decibel_text, duration_text
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.session_data.meter_history import OwnCost, spark
from gemini_live_tui.session_data.meter_steps import has_moved
from gemini_live_tui.widgets.row import Row

READOUT_S = 0.25
"""Seconds for which a number stays: digits that change with every frame cannot be read."""

HEALTH_WORDS = {
    "no-signal": "MIC SILENT",
    "echo": "HEARS ITSELF",
    "lost": "SOUND LOST",
    "clipping": "MIC CLIPS",
    "drift": "CLOCKS DIFFER",
}
"""Short names of the sound's problems, worst first."""

DEGRADED = "DEGRADED"
"""Word for an extractor or a tool that fails again and again."""


@mutable_record
class MeterMemory:
    """Numbers on show, kept between frames. The engine itself holds peak and clipping."""

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
        """Return the seconds until a held number changes, or None."""
        meters = view.meters
        if not has_moved(meters.mic_db, self.mic_readout) and not has_moved(meters.out_db, self.out_readout):
            return None
        return max(0.0, self.readout_at + READOUT_S - now) + 0.01


class MeterStrip(Row):
    """Meters on one row; the last two are dropped where they do not fit."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._view = SessionView()
        self._live = False
        self._cost: OwnCost | None = None
        self._missed = 0
        self.memory = MeterMemory()

    def show(
        self, view: SessionView, now: float, *, live: bool, cost: OwnCost | None = None, missed: int = 0
    ) -> float | None:
        """Show the meters of `view`; return the seconds until the next change, or None.

        `cost` is the console's own load, `missed` the number of events that never arrived.
        """
        self._view, self._live, self._cost, self._missed = view, live, cost, missed
        self.memory.observe(view, now)
        self.update_row()
        return self.memory.again_in(view, now) if live else None

    def runs(self, width: int) -> Sequence[Run]:
        """Return the parts that fit into `width`."""
        cells = 6 if width < 76 else 8 if width < 96 else 12 if width < 136 else 20
        parts = [self._microphone(cells), self._speaker(cells)]
        gap = 2 if width < 96 else 3
        used = 1 + sum(_width(part) for part in parts) + gap
        # Fit by importance, show by position.
        chosen: list[tuple[int, list[Run]]] = []
        for place, part in (
            (-1, self._answer()),
            (8, self._health()),
            (9, self._dropped()),
            (1, self._echo(width)),
            (3, self._latency(width)),
            (2, self._buffer(width)),
            (4, self._tokens()),
            (0, self._cleaned(cells)),
            (5, self._rate()),
            (6, self._own_cost()),
        ):
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
        """Return a word in place of a bar, as wide as the bar with its number."""
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

    def _answer(self) -> list[Run]:
        """Return a word for an answer that is protected, or paused by the user's voice."""
        word = self._view.meters.answer if self._live else ""
        return [(word.upper(), "held" if word == "paused" else "alarm")] if word else []

    def _echo(self, width: int) -> list[Run]:
        view = self._view
        if not self._live or not view.input_device or view.mode == "text" or not view.output_device:
            return []
        if view.echo_leaking and "echo" not in view.health:
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

    def _latency(self, width: int) -> list[Run]:
        latencies = self._view.latencies
        if not latencies:
            return []
        runs: list[Run] = [("LAT ", "quiet")]
        if width >= 110 and len(latencies) > 1:
            last = latencies[-10:]
            high = max(1000.0, *last)
            runs.append((spark(last, len(last), self._glyphs.levels, low=0.0, high=high) + " ", "spark"))
        return [*runs, (duration_text(latencies[-1]), "strong")]

    def _cleaned(self, cells: int) -> list[Run]:
        """Return the bar of the microphone after echo cancelling."""
        view = self._view
        if not self._live or not view.microphone or view.mode == "text" or not view.input_device:
            return []
        if not view.echo_canceller or view.meters.clean_db is None:
            return []
        return [("AEC ", "quiet"), *bar(view.meters.clean_db, max(6, cells // 2), self._glyphs)]

    def _tokens(self) -> list[Run]:
        view = self._view
        if not view.prompt_tokens and not view.response_tokens:
            return []
        return [("TOK ", "quiet"), (f"{_short(view.prompt_tokens)}/{_short(view.response_tokens)}", "strong")]

    def _rate(self) -> list[Run]:
        rate = self._view.meters.events_per_s
        return [(f"{rate:.0f}", "strong"), (" ev/s", "quiet")] if self._live and rate >= 0.5 else []

    def _health(self) -> list[Run]:
        """Return the worst problem in two words: of the sound, or of the agent's parts."""
        health = self._view.health
        if not self._live or not health:
            return []
        found = [word for kind, word in HEALTH_WORDS.items() if kind in health]
        return [(found[0] if found else DEGRADED, "alarm")]

    def _own_cost(self) -> list[Run]:
        cost = self._cost
        if cost is None or cost.share is None:
            return []
        frame = "" if cost.frame_ms is None else f" {cost.frame_ms:.0f} ms"
        return [("UI ", "quiet"), (f"{cost.share:.0%}{frame}", "strong")]

    def _dropped(self) -> list[Run]:
        meters = self._view.meters
        lost = meters.far_missing + meters.far_dropped + meters.xruns if "lost" in self._view.health else 0
        count = meters.mic_dropped + lost + self._view.agent_view.dropped + self._missed
        return [(f"{count:,} dropped", "alarm")] if count else []

    def on_click(self) -> None:
        """Open the screen of all meters."""
        self.post_message(OpenScreen("meters"))


def _short(count: int) -> str:
    """Return a count in at most four characters: `812`, `4.8k`, `12k`, `1.2M`."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 9950 else f"{count / 1000:.0f}k"
    return f"{count / 1e6:.1f}M" if count < 9_950_000 else f"{count / 1e6:.0f}M"


def _width(part: Sequence[Run]) -> int:
    return sum(len(text) for text, _ in part)
