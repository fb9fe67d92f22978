"""Show the current phase as rows: phase, path, needs, transitions, tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_tui.painting.formatting import clock_text, ordinal, seconds_text, whole_seconds_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run, cut, filled, fitted, spread, width_of
from gemini_live_tui.panes.explanations import live_value

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import AgentView, Tick, TransitionStatus

HEAD = 7
"""Cells of the words at the left."""

NO_PHASES = (
    "This agent has no phases, only its instruction.",
    "Live.builder().phase(...) adds one.",
)
NO_AGENT = (
    "No phase yet.",
    "The agent enters its first when the session starts.",
)

NEXT = {
    "end": "the conversation ends here",
    "closed": "no transition leads on from here",
    "unread": "transitions are read with the next turn",
}
"""Words for the transitions where none can be shown."""


def rows_of(agent: AgentView, *, is_started: bool = True) -> list[str]:
    """Return row ids; `way:N` is the Nth transition.

    Before the session has started the agent is not known.
    """
    if not agent.path:
        return ["empty:0", "empty:1"] if is_started else ["empty:2", "empty:3"]
    if agent.stay is None:
        # The agent that speaks has no phases, those before it had.
        return ["agent", "path", "tools"]
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
    """Return True when the agent declares no transition out of the phase."""
    shape = unpack(agent.shape) if agent.shape else None
    phases = shape.get("phases") if isinstance(shape, dict) else None
    here = agent.path[-1].phase
    return any(
        isinstance(item, dict) and item.get("name") == here and not item.get("ways")
        for item in (phases if isinstance(phases, list) else ())
    )


def now_row(agent: AgentView, elapsed: float, width: int, glyphs: Glyphs, *, broken: bool = False) -> list[Run]:
    """Return the phase, its duration, and the number of its entries."""
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


def handoff_of(agent: AgentView) -> Tick | None:
    """Return the last hand-off."""
    return next((tick for tick in reversed(agent.ticks) if tick.lane == "handoff"), None)


def agent_row(agent: AgentView, name: str, width: int, glyphs: Glyphs) -> list[Run]:
    """Return the agent that speaks, which has no phases, and when it took over."""
    handoff = handoff_of(agent)
    took_over = "" if handoff is None else f"  took over at {clock_text(handoff.t)} {glyphs.separator}"
    runs: list[Run] = [(f"{glyphs.here} ", "phase"), (name, "phase"), (f"{took_over} has no phases", "said")]
    return fitted(runs, width, glyphs.ellipsis)


def path_row(agent: AgentView, width: int, glyphs: Glyphs) -> list[Run]:
    """Return the phases so far; the newest ones where not all fit.

    A hand-off between two of them, which may be of two agents, has a sign of its own.
    """
    path = agent.path
    handoffs = [tick.seq for tick in agent.ticks if tick.lane == "handoff"]
    runs: list[Run] = [] if agent.stay is None else [(glyphs.here, "phase"), (f" {path[-1].phase}", "said")]
    left = width - 2 - width_of(runs)
    more = cell_len(glyphs.ellipsis)
    for number in range(len(path) - (2 if runs else 1), -1, -1):
        stay = path[number]
        lasted = f" {seconds_text(stay.seconds)}" if stay.seconds is not None else ""
        step: list[Run] = [(f"{stay.phase} ", "said"), (glyphs.yes, "good"), (lasted, "quiet")]
        arrow = f" {glyphs.arrow} "
        if number < len(path) - 1:
            if any(stay.seq < seq < path[number + 1].seq for seq in handoffs):
                arrow = f" {glyphs.handoff} "
            step.append((arrow, "quiet"))
        reserve = 0 if number == 0 else more + len(arrow)
        if width_of(step) + reserve > left:
            runs[:0] = [(glyphs.ellipsis, "quiet"), (arrow, "quiet")]
            break
        left -= width_of(step)
        runs[:0] = step
    return fitted([("  ", ""), *runs], width, glyphs.ellipsis)


def needs_row(agent: AgentView, width: int, glyphs: Glyphs) -> list[Run]:
    """Return the phase's needs, with the values that fit."""
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


def transition_row(way: TransitionStatus, width: int, glyphs: Glyphs, *, room: int, broken: bool = False) -> list[Run]:
    """Return a transition: open or blocked, its target, and the decisive value.

    `room` is the width of the longest name in cells.
    """
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
    """Return the event that a pending transition waits for."""
    return fitted([(f"{'waits':<{HEAD}}", "alarm"), (agent.blocked, "said")], width, glyphs.ellipsis)


def tools_row(agent: AgentView, width: int, glyphs: Glyphs) -> list[Run]:
    """Return the tools that may be called."""
    if agent.allowed is None:
        text = "all of the agent's"
    else:
        text = f" {glyphs.separator} ".join(agent.allowed) or "none in this phase"
    return fitted([(f"{'tools':<{HEAD}}", "quiet"), (text, "said")], width, glyphs.ellipsis)


def plain_row(row: str, width: int, glyphs: Glyphs) -> list[Run]:
    """Return a row of words: an end, an agent without phases, or no agent yet."""
    if row.startswith("empty:"):
        number = int(row.removeprefix("empty:"))
        text = (*NO_PHASES, *NO_AGENT)[number]
        return [(cut(f" {text}", width, glyphs.ellipsis), "quiet" if number % 2 else "said")]
    text = NEXT.get(row, NEXT["unread"])
    return fitted([(f"{'next':<{HEAD}}", "quiet"), (text, "said")], width, glyphs.ellipsis)
