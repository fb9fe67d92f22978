"""Where a conversation stands, as rows: the phase, the path to it, its needs, the ways on, and its tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from gemini_live_runtime.journal.agent_view import unpack
from gemini_live_tui.painting.formatting import ordinal, seconds_text, whole_seconds_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run, cut, filled, fitted, spread, width_of
from gemini_live_tui.panes.explanations import live_value

if TYPE_CHECKING:
    from gemini_live_runtime.journal.agent_view import AgentView, PhaseVisit, TransitionStatus

HEAD = 7
"""Cells of the words at the left."""

NO_PHASES = (
    "This agent has no phases, only its instruction.",
    "Live.builder().phase(...) adds one.",
)

NEXT = {
    "end": "the conversation ends here",
    "closed": "no way leads on from here",
    "unread": "the ways on are read with the next turn",
}
"""What is said of the ways on where none can be shown."""


def rows_of(agent: AgentView) -> list[str]:
    """What there is to show: row ids, `way:N` for the Nth way on."""
    if not agent.path:
        return [f"empty:{number}" for number in range(len(NO_PHASES))]
    rows = ["now", "path"]
    if agent.blocked:
        rows.append("waits")
    if agent.needs:
        rows.append("needs")
    rows += [f"way:{number}" for number in range(len(agent.ways))]
    if not agent.ways:
        rows.append("end" if agent.terminal else "closed" if _leads_nowhere(agent) else "unread")
    return [*rows, "tools"]


def _leads_nowhere(agent: AgentView) -> bool:
    """Whether the agent's description has no way out of the phase."""
    shape = unpack(agent.shape) if agent.shape else None
    phases = shape.get("phases") if isinstance(shape, dict) else None
    here = agent.path[-1].phase
    return any(
        isinstance(item, dict) and item.get("name") == here and not item.get("ways")
        for item in (phases if isinstance(phases, list) else ())
    )


def now_row(agent: AgentView, elapsed: float, width: int, glyphs: Glyphs, *, broken: bool = False) -> list[Run]:
    """The phase, for how long, and how often it was entered."""
    stay = agent.path[-1]
    runs: list[Run] = [(f"{glyphs.here} ", "phase"), (stay.phase, "phase")]
    if broken:
        runs.append((f" {glyphs.stop} break", "break"))
    rest = f"  for {whole_seconds_text(elapsed - stay.t)}"
    visits = agent.visits.get(stay.phase, 1)
    if visits > 1:
        rest += f" {glyphs.separator} {ordinal(visits)} time"
    if agent.terminal:
        rest += f" {glyphs.separator} the last phase"
    runs.append((rest, "said"))
    how = {"initial": "", "guard": stay.because, "operator": "by the operator", "programmatic": "by the program"}
    because = how.get(stay.trigger, "taken up again")
    return spread(fitted(runs, width, glyphs.ellipsis), [(because, "quiet")] if because else [], width, glyphs.ellipsis)


def path_row(path: Sequence[PhaseVisit], width: int, glyphs: Glyphs) -> list[Run]:
    """The phases so far; where they do not all fit, the newest ones."""
    arrow = f" {glyphs.arrow} "
    runs: list[Run] = [(glyphs.here, "phase"), (f" {path[-1].phase}", "said")]
    left = width - 2 - width_of(runs)
    more = cell_len(glyphs.ellipsis)
    for number in range(len(path) - 2, -1, -1):
        stay = path[number]
        lasted = f" {seconds_text(stay.seconds)}" if stay.seconds is not None else ""
        step: list[Run] = [(f"{stay.phase} ", "said"), (glyphs.yes, "good"), (lasted, "quiet"), (arrow, "quiet")]
        reserve = 0 if number == 0 else more + len(arrow)
        if width_of(step) + reserve > left:
            runs[:0] = [(glyphs.ellipsis, "quiet"), (arrow, "quiet")]
            break
        left -= width_of(step)
        runs[:0] = step
    return fitted([("  ", ""), *runs], width, glyphs.ellipsis)


def needs_row(agent: AgentView, width: int, glyphs: Glyphs) -> list[Run]:
    """What the phase is there to find out; with whom it has what it has, as far as there is room."""
    full = _needs(agent, glyphs, writers=True)
    if width_of(full) > width:
        full = _needs(agent, glyphs, writers=False)
    return fitted(full, width, glyphs.ellipsis)


def _needs(agent: AgentView, glyphs: Glyphs, *, writers: bool) -> list[Run]:
    runs: list[Run] = [(f"{'needs':<{HEAD}}", "quiet")]
    for need in sorted(agent.needs, key=lambda need: need.met):
        label = need.label or need.key
        if need.met:
            runs += [(glyphs.yes, "good"), (f" {label}", "said")]
            runs.append((f" by {need.by}  " if writers and need.by else "  ", "quiet"))
        else:
            runs += [(glyphs.open, "warn"), (f" {label}", "said"), (" open  ", "quiet")]
    return runs


_OUTCOMES = {
    "ready": ("yes", "ready", "good"),
    "blocked": ("muted", "waits", "alarm"),
    "guard is false": ("no", "no", "quiet"),
    "target's guard is false": ("no", "no", "quiet"),
    "requirement missing": ("open", "lacks", "alarm"),
}


def way_row(way: TransitionStatus, width: int, glyphs: Glyphs, *, room: int, broken: bool = False) -> list[Run]:
    """A way on: whether it is open, where it leads, and the value that decides. `room` is for the longest name."""
    sign, word, style = _OUTCOMES.get(way.outcome, ("open", way.outcome, "said"))
    open_now = word == "ready"
    runs: list[Run] = [(f" {getattr(glyphs, sign)} {word:<5} ", style), (f"{glyphs.arrow} ", "quiet")]
    runs.append(
        (f"{filled(way.to, min(room, max(8, width // 3)), glyphs.ellipsis)} ", "strong" if open_now else "said")
    )
    if broken:
        runs.append((f"{glyphs.stop} break ", "break"))
    runs.append((f" {_decides(way)}", "said" if open_now else "quiet"))
    return fitted(runs, width, glyphs.ellipsis)


def _decides(way: TransitionStatus) -> str:
    if way.outcome == "requirement missing" or (way.outcome == "blocked" and way.missing):
        return f"{', '.join(way.missing)} not set"
    packed = way.target_guard if way.outcome == "target's guard is false" else way.guard
    tree = unpack(packed)
    own = f"{way.to}'s own guard: " if way.outcome == "target's guard is false" else ""
    return own + (live_value(tree) if isinstance(tree, dict) else way.because)


def waits_row(agent: AgentView, width: int, glyphs: Glyphs) -> list[Run]:
    """What a transition that is wanted waits for."""
    return fitted([(f"{'waits':<{HEAD}}", "alarm"), (agent.blocked, "said")], width, glyphs.ellipsis)


def tools_row(agent: AgentView, width: int, glyphs: Glyphs) -> list[Run]:
    """The tools that may be called."""
    if agent.allowed is None:
        text = "all of the agent's"
    else:
        text = f" {glyphs.separator} ".join(agent.allowed) or "none in this phase"
    return fitted([(f"{'tools':<{HEAD}}", "quiet"), (text, "said")], width, glyphs.ellipsis)


def plain_row(row: str, width: int, glyphs: Glyphs) -> list[Run]:
    """The rows that are only words: an end, an agent without phases."""
    if row.startswith("empty:"):
        number = int(row.removeprefix("empty:"))
        return [(cut(f" {NO_PHASES[number]}", width, glyphs.ellipsis), "quiet" if number else "said")]
    text = NEXT.get(row, NEXT["unread"])
    return fitted([(f"{'next':<{HEAD}}", "quiet"), (text, "said")], width, glyphs.ellipsis)
