"""Show the last minute of every meter: sound, latency, tokens, the console's load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from gemini_live_runtime.journal.view import SessionView
from gemini_live_tui.painting.formatting import cost_text, duration_text
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.session_data.meter_history import SECONDS, MeterHistory, OwnCost, spark
from gemini_live_tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

LABEL, VALUE = 12, 11


class MetersScreen(ModalScreen[None]):
    """Screen that follows the session; escape closes it."""

    CSS_PATH = "meters.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,M", "dismiss", "Close", show=False)]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self._store = console.store
        self.sheet = MeterSheet(console.meter_history, console.cost, glyphs(console.settings.ascii))

    def compose(self) -> ComposeResult:
        """Yield one sheet."""
        with Container(id="meters-box") as box:
            box.border_title = "Meters"
            box.border_subtitle = "the last minute, esc closes"
            yield self.sheet

    def on_mount(self) -> None:
        """Show the present values."""
        self.show_view(self._store.view)

    def show_view(self, view: SessionView) -> None:
        """Show the meters of `view`."""
        self.sheet.show(view, self._store.missed)


class MeterSheet(Sheet):
    """Rows with name, value, last minute and remark of each meter."""

    def __init__(self, history: MeterHistory, cost: OwnCost, signs: Glyphs) -> None:
        super().__init__(id="meters-sheet")
        self._history, self._cost, self._signs = history, cost, signs
        self._view = SessionView()
        self._missed = 0

    def show(self, view: SessionView, missed: int) -> None:
        """Show another view; `missed` events never arrived."""
        self._view, self._missed = view, missed
        self.update_rows()

    def rows(self, width: int, height: int) -> Sequence[Sequence[Run]]:
        """Return a row for each meter."""
        view, meters = self._view, self._view.meters
        cost = self._cost
        peak = "" if meters.mic_peak_db is None else f"peak {meters.mic_peak_db:.0f}"
        marks = [peak, "CLIP" if meters.clipped else "", "voice" if view.voice or meters.speech else ""]
        mic = "muted" if not view.microphone else "  ".join(mark for mark in marks if mark)
        gaps = f"{meters.underruns} gaps" if meters.underruns else "no gaps"
        playback = f"jitter {meters.jitter_ms:.0f} ms, {gaps}"
        echo = "the model may hear itself" if view.echo_leaking else view.echo_canceller or "not cancelled"
        if meters.echo_filter and not view.echo_leaking:
            echo = f"AEC3, filter {meters.echo_filter}"
        latencies = view.latencies[-SECONDS:]
        rows = [
            self._row("microphone", _db(meters.mic_db), "mic", -60, 0, mic, width),
            self._row("cleaned", _db(meters.clean_db), "clean", -60, 0, "after echo cancelling", width),
            self._row("speaker", _db(meters.out_db), "out", -60, 0, "" if view.speaker else "muted", width),
            self._row("echo loss", _plain(meters.erle_db, "dB"), "erle", 0, 40, echo, width),
            self._row("playback", duration_text(meters.buffer_ms), "buffer", 0, 400, playback, width),
            self._row("engine lag", _plain(meters.loop_lag_ms, "ms", 1), "lag", 0, 50, "", width),
            self._line(
                "latency",
                duration_text(latencies[-1]) if latencies else "--",
                spark(latencies, self._cells(width), self._signs.levels, low=0, high=max([1000.0, *latencies])),
                f"{len(latencies)} turns",
                width,
            ),
            self._row("events", f"{meters.events_per_s:.0f} /s", "events", 0, 100, f"{view.seq:,} in all", width),
            self._row("console", _percent(cost.share), "cpu", 0, 50, "of a processor", width),
            self._row("frame", _plain(cost.frame_ms, "ms", 1), "frame", 0, 25, "the longest of a second", width),
            (),
            self._figures("tokens", f"{view.prompt_tokens:,} in, {view.response_tokens:,} out"),
            self._figures("cost", self._price()),
            self._dropped(),
            *self._health(),
            *([self._figures("audio", self._audio_process())] if meters.audio_priority else []),
        ]
        return rows[:height]

    def _audio_process(self) -> str:
        meters = self._view.meters
        times = meters.audio_restarts
        restarted = f", started again {times} time{'s' if times > 1 else ''}" if times else ""
        return f"a process of {meters.audio_priority} priority{restarted}"

    def _price(self) -> str:
        view = self._view
        if view.cost_usd is None:
            return "no price is known for this model"
        month = f", an estimate with the prices of {view.prices_as_of}" if view.prices_as_of else ", an estimate"
        return f"{cost_text(view.cost_usd)}{month}"

    def _dropped(self) -> list[Run]:
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self._view.meters.mic_dropped, "microphone frames"),
                (self._view.meters.far_missing, "late speaker frames"),
                (self._view.meters.far_dropped, "speaker frames without a microphone's"),
                (self._view.agent_view.dropped, "events of slow readers"),
                (self._missed, "events on the way here"),
            )
            if count
        ]
        if parts:
            return [(f" {'dropped':<{LABEL}}", "quiet"), (", ".join(parts), "alarm")]
        return [(f" {'dropped':<{LABEL}}", "quiet"), ("nothing", "good")]

    def _health(self) -> list[list[Run]]:
        """Return a row for each problem of the sound, or one that names none."""
        drift = self._view.meters.drift_ppm
        clocks = "" if drift is None else f", clocks {abs(drift):.0f} ppm apart"
        problems = [text for text, _ in self._view.health.values()]
        if not problems:
            return [[(f" {'sound':<{LABEL}}", "quiet"), (f"nothing wrong{clocks}", "good")]]
        return [[(f" {'sound':<{LABEL}}", "quiet"), (text, "alarm")] for text in problems]

    def _cells(self, width: int) -> int:
        return max(8, min(SECONDS, width - LABEL - VALUE - 28))

    def _row(self, label: str, value: str, name: str, low: float, high: float, note: str, width: int) -> list[Run]:
        values = list(self._history.values[name])
        cells = spark(values, self._cells(width), self._signs.levels, low=low, high=high)
        return self._line(label, value, cells, note, width)

    def _line(self, label: str, value: str, cells: str, note: str, width: int) -> list[Run]:
        style = "alarm" if note in ("muted", "the model may hear itself") or "CLIP" in note else "quiet"
        return [
            (f" {label:<{LABEL}}", "quiet"),
            (f"{value:>{VALUE}}  ", "strong"),
            (cells, "spark"),
            (f"  {note}"[: max(0, width - LABEL - VALUE - 3 - len(cells))], style),
        ]

    def _figures(self, label: str, text: str) -> list[Run]:
        return [(f" {label:<{LABEL}}", "quiet"), (text, "strong")]


def _db(level: float | None) -> str:
    return "--" if level is None else f"{level:.0f} dB"


def _plain(value: float | None, unit: str, digits: int = 0) -> str:
    return "--" if value is None else f"{value:.{digits}f} {unit}"


def _percent(share: float | None) -> str:
    return "--" if share is None else f"{share:.0%}"
