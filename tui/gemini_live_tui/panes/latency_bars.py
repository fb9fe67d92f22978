"""Paint a turn's latency as rows of bars. Pure functions of a view."""

from __future__ import annotations

from gemini_live_runtime.journal.fold.agent_view import TurnCard
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.latency import STAGES, percentile, rounded_stages, stage_words
from gemini_live_tui.painting.formatting import clock_text, duration_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.wrapping import fit

Run = tuple[str, str]

SOURCES = {"server_vad": "server's voice mark", "local_voice": "local voice mark", "typed": "enter key"}
"""Names of the sources that detected the end of the user's input."""

LABEL_WIDTH = 10
NUMBER_WIDTH = 9
_STYLES = ("low", "mid")


def measured(view: SessionView) -> list[TurnCard]:
    """Return the turns that have a latency, oldest first."""
    return [card for card in view.agent_view.turns.values() if card.latency_ms is not None]


def worst(view: SessionView) -> TurnCard | None:
    """Return the turn with the longest latency, the first of equals."""
    return max(measured(view), key=lambda card: card.latency_ms or 0.0, default=None)


def stages_of(card: TurnCard) -> list[tuple[str, float | None]]:
    """Return (name, whole milliseconds or None) of each stage without the sum.

    Known stages come first, in their order, then others. They are rounded so that they add up.
    """
    rounded = rounded_stages(card.stages)
    stages = {name: rounded.get(name) for name in card.stage_names if name != "total"}
    return [(name, stages.pop(name, None)) for name in STAGES] + list(stages.items())


def title(card: TurnCard, glyphs: Glyphs, width: int) -> list[Run]:
    """Return the turn, its latency, its time, and the source of the end of input."""
    runs: list[Run] = [(" turn ", "quiet"), (str(card.turn), "strong")]
    if card.latency_ms is None:
        runs.append((f" {glyphs.separator} no answer measured yet", "quiet"))
    else:
        runs.append((f" {glyphs.separator} ", "quiet"))
        # In milliseconds like its parts, which add up to it.
        runs.append((f"{card.latency_ms:.0f} ms", "strong"))
        has_audio = card.stages.get("buffer") is not None
        runs.append((" to the first sound" if has_audio else " to the answer", "quiet"))
    parts = [] if card.first_byte_ms is None else [f"first byte {card.first_byte_ms:.0f} ms"]
    parts.append(clock_text(card.t))
    if card.source:
        parts.append(f"from the {SOURCES.get(card.source, card.source)}")
    if card.outcome and card.outcome != "complete":
        parts.append(card.outcome)
    used = sum(len(text) for text, _ in runs)
    rest = "".join(f" {glyphs.separator} {part}" for part in parts if part)
    runs.append((fit(rest, width - used, glyphs.ellipsis), "quiet"))
    return runs


def bars(card: TurnCard, width: int, glyphs: Glyphs) -> list[list[Run]]:
    """Return a row for each stage: name, bar, milliseconds.

    A bar begins at the end of the one before.
    """
    stages = stages_of(card)
    total = sum(ms for _, ms in stages if ms is not None)
    room = max(1, width - LABEL_WIDTH - NUMBER_WIDTH - 2)
    rows: list[list[Run]] = []
    at = 0.0
    for number, (name, ms) in enumerate(stages):
        label = f" {fit(stage_words(name, card.source), LABEL_WIDTH, glyphs.ellipsis):<{LABEL_WIDTH}}"
        if ms is None:
            rows.append([(label, "quiet"), (fit(" " * max(0, room - 3) + "not measured", room + 10), "quiet")])
            continue
        start = round(at / total * room) if total else 0
        at += ms
        end = round(at / total * room) if total else 0
        # A measured stage has at least one cell.
        size = max(1, end - start)
        start = min(start, room - size)
        style = "high" if total and ms > total / 2 and total > 1000 else _STYLES[number % 2]
        rows.append(
            [
                (label, "quiet"),
                (" " * start, ""),
                (glyphs.fill * size, style),
                (" " * (room - start - size), ""),
                (f"{fit(f'{ms:.0f} ms', NUMBER_WIDTH, glyphs.ellipsis):>{NUMBER_WIDTH}}", "strong"),
            ]
        )
    return rows


def summary(view: SessionView, glyphs: Glyphs) -> list[Run]:
    """Return the median, the 95th percentile, and the longest latency."""
    cards = measured(view)
    latencies = [card.latency_ms for card in cards if card.latency_ms is not None]
    median, most, longest = percentile(latencies, 50), percentile(latencies, 95), worst(view)
    if median is None or most is None or longest is None:
        return []
    gap = f" {glyphs.separator} "
    return [
        (" p50 ", "quiet"),
        (duration_text(median), "strong"),
        (f"{gap}p95 ", "quiet"),
        (duration_text(most), "strong"),
        (f"{gap}worst ", "quiet"),
        (duration_text(longest.latency_ms or 0.0), "strong"),
        (f" in turn {longest.turn}{gap}{len(cards)} turn{'s' if len(cards) > 1 else ''}", "quiet"),
    ]


def tokens(card: TurnCard, glyphs: Glyphs) -> list[Run]:
    """Return the turn's tokens and cost."""
    if not card.prompt_tokens and not card.response_tokens:
        return [(" tokens not reported", "quiet")]
    return [
        (" tokens ", "quiet"),
        (f"{card.prompt_tokens:,}", "strong"),
        (f" in {glyphs.separator} ", "quiet"),
        (f"{card.response_tokens:,}", "strong"),
        (" out", "quiet"),
    ]


def inline(card: TurnCard, glyphs: Glyphs, room: int) -> str:
    """Return stages in at most `room` cells: `612 ms |vad 180|net 96|model 288|`.

    The longest stages are kept.
    """
    if card.latency_ms is None:
        return ""
    stages = rounded_stages(card.stages)
    groups = (
        ("wait" if card.source == "typed" else "vad", ("hang_over",)),
        ("net", ("uplink", "downlink")),
        ("model", ("server",)),
        ("play", ("buffer", "speaker")),
    )
    text = f"{card.latency_ms:.0f} ms"
    parts = []
    for word, names in groups:
        values = [stages[name] for name in names if name in stages]
        if values:
            parts.append(f"{word} {sum(values):.0f}")
    line = f"{text} {glyphs.bar}{glyphs.bar.join(parts)}{glyphs.bar}" if parts else text
    text = duration_text(card.latency_ms)
    return line if len(line) <= room else text if len(text) <= room else ""
