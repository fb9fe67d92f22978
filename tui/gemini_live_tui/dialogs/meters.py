"""Show the last minute of every meter: sound, latency, tokens, the console's load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, get_args

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from gemini_live_runtime.events import SoundProblem
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.dialogs.move_keys import MOVES
from gemini_live_tui.painting.formatting import cost_text, duration_text
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import wrap
from gemini_live_tui.session_data.meter_history import SECONDS, MeterHistory, OwnCost, spark
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

LABEL, VALUE = 12, 11
SOUND_PROBLEMS = frozenset(get_args(SoundProblem))
LEAST_HEIGHT = 18


class MetersScreen(TopModalScreen[None]):
    """Screen that follows the session; escape closes it.

    It grows with its rows, and the arrow keys scroll those that the terminal has no room for.
    """

    CSS_PATH = "meters.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,M", "dismiss", "Close", show=False),
        *MOVES,
    ]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self._store = console.store
        self.sheet = MeterSheet(
            console.meter_history, console.cost, glyphs(console.settings.ascii), on_rows=self._on_rows
        )
        self._box = Container(self.sheet, id="meters-box")
        self._box.border_title = "Meters"

    def compose(self) -> ComposeResult:
        """Yield one sheet."""
        yield self._box

    def on_mount(self) -> None:
        """Show the present values."""
        self.show_view(self._store.view)

    def show_view(self, view: SessionView) -> None:
        """Show the meters of `view`."""
        self.sheet.show(view, self._store.missed)

    def action_move(self, step: str) -> None:
        """Scroll the rows."""
        self.sheet.move(step)

    def _on_rows(self, count: int, height: int) -> None:
        """Make the box fit `count` rows, of which `height` have room now."""
        self._box.styles.height = max(LEAST_HEIGHT, count + 2)
        scrolls = ", arrow keys scroll" if count > height else ""
        self._box.border_subtitle = f"the last minute{scrolls}, esc closes"


class MeterSheet(Sheet):
    """Rows with name, value, last minute and remark of each meter.

    `on_rows` gets their number and that of the rows with room, when one of them changes.
    """

    is_movable: ClassVar[bool] = True

    def __init__(
        self, history: MeterHistory, cost: OwnCost, signs: Glyphs, *, on_rows: Callable[[int, int], None]
    ) -> None:
        super().__init__(id="meters-sheet")
        self._history, self._cost, self._signs = history, cost, signs
        self._view = SessionView()
        self._missed = 0
        self._on_rows = on_rows
        self._extent = (0, 0)
        self._top = 0

    def show(self, view: SessionView, missed: int) -> None:
        """Show another view; `missed` events never arrived."""
        self._view, self._missed = view, missed
        self.update_rows()

    def move(self, step: str) -> None:
        """Scroll the rows."""
        count, height = self._extent
        by = {"up": -1, "down": 1, "page_up": -height, "page_down": height, "home": -count, "end": count}[step]
        self._top += by
        self.update_rows()

    def rows(self, width: int, height: int) -> Sequence[Sequence[Run]]:
        """Return the rows in view."""
        rows = self._meters(width)
        if self._extent != (len(rows), height):
            self._extent = (len(rows), height)
            self._on_rows(len(rows), height)
        self._top = max(0, min(self._top, len(rows) - height))
        return rows[self._top : self._top + height]

    def _meters(self, width: int) -> list[Sequence[Run]]:
        """Return the rows of all meters."""
        view, meters = self._view, self._view.meters
        cost = self._cost
        peak = "" if meters.mic_peak_db is None else f"peak {meters.mic_peak_db:.0f}"
        marks = [peak, "CLIP" if meters.clipped else "", "voice" if view.voice or meters.speech else ""]
        mic = "muted" if not view.microphone else "  ".join(mark for mark in marks if mark)
        gaps = f"{meters.underruns} gaps" if meters.underruns else "no gaps"
        playback = f"jitter {meters.jitter_ms:.0f} ms, {gaps}"
        echo = "the model may hear itself" if view.echo_leaking else view.echo_canceller or "not cancelled"
        if meters.echo_filter and not view.echo_leaking:
            # Both states fit the narrow column.
            echo = f"{meters.echo_filter}, {meters.probe}" if meters.probe else f"filter {meters.echo_filter}"
        latencies = view.latencies[-SECONDS:]
        return [
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
            *_text("tokens", f"{view.prompt_tokens:,} in, {view.response_tokens:,} out", width),
            *_text("cost", self._price(), width),
            *self._dropped(width),
            *self._false_pauses(width),
            *self._health(width),
            *self._clocks(width),
            *(_text("audio", self._audio_process(), width) if meters.audio_priority else []),
        ]

    def _false_pauses(self, width: int) -> list[list[Run]]:
        count = self._view.meters.false_pauses
        times = "once" if count == 1 else f"{count:,} times"
        return _text("false pause", f"{times}, for an echo", width) if count else []

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

    def _dropped(self, width: int) -> list[list[Run]]:
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self._view.meters.mic_dropped, "microphone frames"),
                (self._view.meters.far_missing, "late speaker frames"),
                (self._view.meters.far_dropped, "speaker frames without a microphone's"),
                (self._view.meters.xruns, "blocks that a device skipped"),
                (self._view.agent_view.dropped, "events of slow readers"),
                (self._missed, "events on the way here"),
            )
            if count
        ]
        if parts:
            return _text("dropped", ", ".join(parts), width, "alarm")
        return _text("dropped", "nothing", width, "good")

    def _health(self, width: int) -> list[list[Run]]:
        """Return rows for each problem of sound and agent, or that the sound is well."""
        problems = [(kind in SOUND_PROBLEMS, text) for kind, (text, _) in self._view.health.items()]
        rows = [row for _, text in filter(itemgetter(0), problems) for row in _text("sound", text, width, "alarm")]
        rows = rows or _text("sound", "nothing wrong", width, "good")
        return rows + [row for of, text in problems if not of for row in _text("agent", text, width, "alarm")]

    def _clocks(self, width: int) -> list[list[Run]]:
        """Return a row with the difference of the devices' rates, if measured."""
        drift = self._view.meters.drift_ppm
        if drift is None:
            return []
        style = "alarm" if "drift" in self._view.health else "strong"
        return _text("clocks", f"microphone and speaker {abs(drift):.0f} ppm apart", width, style)

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


def _text(label: str, text: str, width: int, style: str = "strong") -> list[list[Run]]:
    """Return a label with its text, on as many rows as that needs."""
    lines = [text[start:end] for start, end in wrap(text, max(1, width - LABEL - 2))]
    return [
        [(f" {label if number == 0 else '':<{LABEL}}", "quiet"), (line, style)] for number, line in enumerate(lines)
    ]


def _db(level: float | None) -> str:
    return "--" if level is None else f"{level:.0f} dB"


def _plain(value: float | None, unit: str, digits: int = 0) -> str:
    return "--" if value is None else f"{value:.{digits}f} {unit}"


def _percent(share: float | None) -> str:
    return "--" if share is None else f"{share:.0%}"
