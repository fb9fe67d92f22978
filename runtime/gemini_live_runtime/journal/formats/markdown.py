"""Format a session as Markdown: a table of figures, then its turns with notices.

Text of the session never becomes markup: characters with a meaning in Markdown or HTML are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.completion.missing_parts import Completion
from gemini_live_runtime.journal.fold.marks import marked_at
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.journal.formats.base import ExportSource
from gemini_live_runtime.latency import percentile
from gemini_live_runtime.text import sanitise, sanitise_line

_MARKUP = re.compile(r"[\\`*_\[\]<>#|~&$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_LINE_START = re.compile(r"^([+\-=]|\d+(?=[.)]))", re.MULTILINE)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LABELS = {
    "agent": "Agent",
    "phase": "Phase",
    "watch": "Watcher",
    "mark": "Mark",
    "edit": "Edit",
    "held": "Held",
    "refused": "Refused",
}


class _Figures:
    """Counts for the table at the top."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.latencies: dict[int, float] = {}
        """Latency of each turn in ms."""
        self.calls = 0
        self.failed = 0
        self.watchers = 0
        self.marks = 0

    def add(self, event: ev.Event) -> None:
        match event.payload:
            case ev.PhaseEntered(phase=phase):
                self.phases.append(sanitise_line(phase, 80))
            case ev.TurnCompleted(latency_ms=float() | int() as latency):
                self.latencies[event.turn] = latency
            case ev.TurnMeasured(latency_ms=float() | int() as latency, first_byte_ms=float() | int()):
                # Without a first byte it is an older journal's, and another figure.
                self.latencies[event.payload.of_turn] = latency
            case ev.ToolFinished(status=status):
                self.calls += 1
                self.failed += status != "ok"
            case ev.WatcherFired(muted=False) | ev.PatternFired():
                self.watchers += 1
            case ev.MarkSet():
                self.marks += 1


def markdown(material: ExportSource) -> Iterator[bytes]:
    """Yield the document as UTF-8."""
    view, figures = SessionView(), _Figures()
    covers = material.window.covers
    pending: dict[int, Block] = {}
    last_id, turn, settle_at = 0, -1, 64
    body: list[str] = []

    def write_finished(until: float) -> None:
        # Text still arrives for an interrupted answer that is done: write a turn once the one after it is over.
        nonlocal turn
        for ident in sorted(pending):
            index = ident - 1 - view.blocks_forgotten
            block = view.blocks[index] if index >= 0 else pending[ident]
            if index >= 0 and block.turn >= until:
                pending[ident] = block
                continue
            del pending[ident]
            if covers(block.t, block.turn):
                if block.turn != turn:
                    turn = block.turn
                    body.append(f"### Turn {turn} · {_clock(block.t)}\n" if turn else "### Before the first turn\n")
                body.append(_block(block))

    for event in material.events():
        apply(view, event)
        t = marked_at(event, event.payload) if isinstance(event.payload, ev.MarkSet) else event.t
        turn_of = event.payload.of_turn if isinstance(event.payload, ev.TurnMeasured) else event.turn
        if covers(t, turn_of):
            figures.add(event)
        if view.next_block - 1 > last_id:
            for block in reversed(view.blocks):
                if block.id <= last_id:
                    break
                pending[block.id] = block
            last_id = view.next_block - 1
            if len(pending) > settle_at:
                write_finished(view.turn - 1)
                settle_at = 2 * len(pending) + 64
    write_finished(float("inf"))
    yield _head(material, view, figures).encode("utf-8", "replace")
    yield b"## Transcript\n\n"
    for text in body:
        yield f"{text}\n".encode("utf-8", "replace")
    if not body:
        yield b"Nothing was said.\n"


def _head(material: ExportSource, view: SessionView, figures: _Figures) -> str:
    rows = [
        ("Session", material.name),
        ("Started", _when(view.wall)),
        ("Agent", view.agent),
        ("Model", f"{view.model or '?'} ({view.backend})"),
        ("Length", f"{_clock(material.extent.end)}, {_count(len(material.extent.turns), 'turn')}"),
        ("Ended", view.ended or ("still running" if material.journal.running else "broken off")),
        ("Complete", _completion(material.completion)),
        ("Phases", " → ".join(figures.phases)),
        ("Tools", _count(figures.calls, "call") + (f", {figures.failed} not ok" if figures.failed else "")),
        ("Watchers", f"fired {_count(figures.watchers, 'time')}" if figures.watchers else ""),
        ("Marks", str(figures.marks) if figures.marks else ""),
        ("Interruptions", str(view.interruptions) if view.interruptions else ""),
        ("Latency", _latency(list(figures.latencies.values()))),
        ("Tokens", f"{view.prompt_tokens:,} in, {view.response_tokens:,} out" if view.prompt_tokens else ""),
        ("Cost", "" if view.cost_usd is None else f"about ${view.cost_usd:.4f}"),
        ("Part", "" if material.window.whole else material.window.words),
        (
            "Redacted",
            "no: this holds personal data"
            if material.redaction is None
            else "yes: personal values found are replaced by [redacted], what was only said may remain",
        ),
    ]
    heading = escaped(material.title or view.agent or "Session")
    table = "".join(f"| {name} | {escaped(value)} |\n" for name, value in rows if value and value != "0 calls")
    return f"# {heading}\n\n| | |\n|---|---|\n{table}\n"


def _block(block: Block) -> str:
    text = block.text.strip()
    at = _clock(block.t)
    if block.kind == "tool":
        took = "" if block.ms is None else f", {block.ms:.0f} ms"
        status = block.status if block.done else "no answer"
        result = f"  \n  {escaped(block.detail)}" if block.detail else ""
        return f"- **Tool** {escaped(text)} → *{escaped(status)}*{took}{result}\n"
    if block.kind == "notice":
        label = _LABELS.get(block.status, f"Notice, {block.status}" if block.status != "log" else "Log")
        remedy = f" *{escaped(block.detail)}*" if block.detail else ""
        times = f" ({block.count:,} times)" if block.count > 1 else ""
        return f"- **{escaped(label)}** {at} {escaped(text)}{remedy}{times}\n"
    if block.kind == "user":
        return f"**User** {at}{' (typed)' if block.typed else ''}\n\n{quoted(text)}\n"
    who = "Thought" if block.kind == "thought" else "Model"
    notes = [at] + ([f"{block.ms:.0f} ms"] if block.ms is not None else []) + ([] if block.done else ["broken off"])
    head = f"**{who}** {', '.join(notes)}"
    if block.heard is not None and (block.interrupted or block.text[block.heard :].strip()):
        heard, unheard = block.text[: block.heard].strip(), block.text[block.heard :].strip()
        struck = "\n".join(f"~~{escaped(line.strip())}~~" for line in unheard.split("\n") if line.strip())
        lines = [quoted(heard)] if heard else []
        lines += ["> " + struck.replace("\n", "  \n> ")] if struck else []
        rest = "the rest was not heard" if struck else "all of it was heard"
        body = "  \n".join(lines) if lines else "> "
        return f"{head}, {'interrupted: ' if block.interrupted else ''}{rest}\n\n{body}\n"
    return f"{head}\n\n{quoted(text)}\n"


def quoted(text: str) -> str:
    """Return a paragraph as a block quote with the same lines."""
    lines = [escaped(line.strip()) for line in sanitise(text).split("\n")]
    return "  \n".join(f"> {line}" if line else ">" for line in lines)


def escaped(text: str) -> str:
    """Return Markdown on one line that shows exactly `text`."""
    line = sanitise_line(text)
    line = _MARKUP.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), line)
    return _LINE_START.sub(lambda match: f"\\{match[1]}" if match[1] in "+-=" else f"{match[1]}\\", line)


def _clock(t: float) -> str:
    minutes, seconds = divmod(int(t), 60)
    return f"{minutes}:{seconds:02d}"


def _when(wall: float) -> str:
    try:
        return datetime.fromtimestamp(wall).strftime("%Y-%m-%d %H:%M") if wall else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _completion(completion: Completion | None) -> str:
    if completion is None:
        return ""
    return "yes" if completion.is_complete else f"no: {completion.words}"


def _latency(values: list[float]) -> str:
    if not values:
        return ""
    return f"median {percentile(values, 50):.0f} ms, worst {max(values):.0f} ms ({_count(len(values), 'turn')})"
