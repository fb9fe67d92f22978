"""Show watchers and temporal patterns as rows: status, values seen, distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_tui.painting.formatting import age_text, seconds_text, share_bar
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run, filled, fitted

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import AgentView, PatternCard, WatcherCard

EMPTY = ("This agent watches nothing.", "Live.builder().watch(...) and .pattern(...) add watchers.")
NO_AGENT = ("No watcher yet.", "The agent's watchers are listed when the session starts.")

BAR = 8
"""Cells of a distance bar."""

ROOMY = 64
"""Width in cells from which a row has words for its signs."""


def rows_of(agent: AgentView, *, is_started: bool = True) -> list[str]:
    """Return row ids `watcher:NAME` and `pattern:NAME`, in the agent's order.

    Before the session has started the agent is not known.
    """
    rows = [*(f"watcher:{name}" for name in agent.watchers), *(f"pattern:{name}" for name in agent.patterns)]
    return rows or (["empty:0", "empty:1"] if is_started else ["empty:2", "empty:3"])


def empty_row(row: str, width: int, glyphs: Glyphs) -> list[Run]:
    """Return the sentence in place of watchers."""
    number = int(row.removeprefix("empty:"))
    return fitted([(f" {(*EMPTY, *NO_AGENT)[number]}", "quiet" if number % 2 else "said")], width, glyphs.ellipsis)


def watcher_row(
    card: WatcherCard, elapsed: float, width: int, glyphs: Glyphs, *, room: int, broken: bool = False
) -> list[Run]:
    """Return a watcher's row; `room` is the width of the longest name."""
    if card.muted:
        kept = f"{card.suppressed} kept quiet" if card.suppressed else "kept quiet"
        return _row(
            glyphs.muted, "muted", "quiet", card.fired, card.name, [(kept, "quiet")], width, glyphs, room, broken
        )
    fired = bool(card.fired)
    rest: list[Run] = []
    missed_since = card.miss_t is not None and (card.last_t is None or card.miss_t > card.last_t)
    if fired and card.last_t is not None:
        rest.append((f"{age_text(elapsed - card.last_t)}  ", "said"))
        if not missed_since or width >= ROOMY:
            rest.append((f"{_arrows(card.last, glyphs)}  ", "quiet"))
    if missed_since:
        rest += near(card, width, glyphs)
    if not rest:
        rest.append((f"when {card.when}" if card.when and card.when != card.name else _watched(card), "quiet"))
    sign, style = (glyphs.dot, "watch") if fired else (glyphs.open, "said")
    word = "fired" if fired else "armed"
    return _row(sign, word, style, card.fired, card.name, rest, width, glyphs, room, broken)


def near(card: WatcherCard, width: int, glyphs: Glyphs) -> list[Run]:
    """Return a watcher's distance at its last evaluation, and what was missing."""
    runs: list[Run] = []
    if card.share is not None:
        words = " of the way" if width >= ROOMY else ""
        runs += [*share_bar(card.share, BAR, glyphs), (f" {card.share * 100:.0f} %{words}  ", "said")]
    return [*runs, (card.miss, "quiet")]


def pattern_row(
    card: PatternCard, elapsed: float, width: int, glyphs: Glyphs, *, room: int, broken: bool = False
) -> list[Run]:
    """Return a pattern's row with its progress; `room` fits the longest name."""
    rest: list[Run] = []
    if card.last_t is not None:
        rest.append((f"{age_text(elapsed - card.last_t)}  ", "said"))
    if card.cooldown_left_s > 0:
        rest.append((f"rests {seconds_text(card.cooldown_left_s)} more", "quiet"))
    else:
        rest.append((card.progress or card.when, "quiet"))
    sign, style = (glyphs.dot, "watch") if card.fired else (glyphs.open, "said")
    word = "fired" if card.fired else "armed"
    return _row(sign, word, style, card.fired, card.name, rest, width, glyphs, room, broken)


def _row(
    sign: str, word: str, style: str, fired: int, name: str, rest: list[Run], width: int, glyphs: Glyphs,
    room: int, broken: bool,
) -> list[Run]:  # fmt: skip
    runs: list[Run] = [(f" {sign} {word} ", style)]
    runs.append((f"x{fired} ".ljust(4) if fired else "    ", "said"))
    runs.append((f"{filled(name, min(room, max(8, width * 2 // 5)), glyphs.ellipsis)} ", "said"))
    if broken:
        runs.append((f"{glyphs.stop} break ", "break"))
    return fitted([*runs, (" ", ""), *rest], width, glyphs.ellipsis)


def _watched(card: WatcherCard) -> str:
    return f"watches {', '.join(card.keys)}" if card.keys else "not looked at yet"


def _arrows(text: str, glyphs: Glyphs) -> str:
    return text.replace("→", glyphs.arrow)
