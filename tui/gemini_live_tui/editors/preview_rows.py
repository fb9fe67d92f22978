"""Show an edit's preview: values, watchers, patterns, transitions, phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Line, Run
from gemini_live_tui.panes.explanations import value_text

if TYPE_CHECKING:
    from gemini_live_runtime.events import EditPreviewed, PhasePreviewed

MAX_LINES = 6
"""Lines of one kind; further ones are counted."""


def edit_lines(preview: EditPreviewed, glyphs: Glyphs) -> Iterator[Line]:
    """Yield the lines of an edit's preview."""
    if preview.problem:
        yield 0, [(f"{glyphs.no} no  ", "error"), (sanitise_line(preview.problem, 600), "said")]
        return
    yield from _some([_changed(item, glyphs) for item in preview.values])
    yield from _some([[*_changed(item, glyphs), ("  computed", "quiet")] for item in preview.derived])
    yield from _some([_fires(item, glyphs) for item in preview.watchers])
    yield from _some([_pattern_change(item, glyphs) for item in preview.patterns])
    yield from _some([_transition(item, glyphs) for item in preview.guards])
    if preview.phase:
        yield 0, [(f"{glyphs.here} ", "phase"), ("the conversation goes to ", "said"), (_name(preview.phase), "phase")]
    yield from _unknown(preview.unknown)
    consequences = (preview.derived, preview.watchers, preview.patterns, preview.guards, preview.phase, preview.unknown)
    if not any(consequences):
        same = all(not item.get("removed") and item.get("old") == item.get("new") for item in preview.values)
        text = "Nothing changes: it has that value." if same and preview.values else "Nothing else changes."
        yield 0, [(text, "quiet")]


def _unknown(unknown: Sequence[str]) -> Iterator[Line]:
    for item in unknown[:MAX_LINES]:
        yield 0, [("? ", "alarm"), ("can't preview: ", "quiet"), (sanitise_line(item, 300), "said")]


def _some(lines: list[list[Run]]) -> Iterator[Line]:
    for line in lines[:MAX_LINES]:
        yield 0, line
    if len(lines) > MAX_LINES:
        yield 0, [(f"and {len(lines) - MAX_LINES} more", "quiet")]


def _changed(item: Mapping[str, Any], glyphs: Glyphs) -> list[Run]:
    old = "not set" if item.get("added") else value_text(item.get("old"), 60)
    new = "removed" if item.get("removed") else value_text(item.get("new"), 60)
    return [
        (f"{glyphs.changed} ", "key"),
        (_name(item.get("key")), "key"),
        (f"  {old}", "del"),
        (f" {glyphs.arrow} ", "quiet"),
        (new, "add"),
    ]


def _fires(item: Mapping[str, Any], glyphs: Glyphs) -> list[Run]:
    runs: list[Run] = [(f"{glyphs.dot} ", "watch"), ("watcher ", "quiet"), (_name(item.get("name")), "watch")]
    runs.append((" would fire, but is muted" if item.get("muted") else " fires", "said"))
    old, new = (value_text(item.get(name), 30) for name in ("old", "new"))
    return [*runs, (f"  {_name(item.get('key'))} {old} {glyphs.arrow} {new}", "quiet")]


_PATTERN_CHANGES = {
    "fires": " would fire now",
    "begins": " would start to hold",
    "ends": " would stop holding",
    "moves": " would progress",
}


def _pattern_change(item: Mapping[str, Any], glyphs: Glyphs) -> list[Run]:
    how = str(item.get("how"))
    runs: list[Run] = [(f"{glyphs.dot} ", "watch"), ("pattern ", "quiet"), (_name(item.get("name")), "watch")]
    runs.append((_PATTERN_CHANGES.get(how, " would be otherwise"), "said"))
    times, wait = item.get("times"), item.get("wait_s")
    if how == "fires":
        often = f", {times} times" if isinstance(times, int) and times > 1 else ""
        return [*runs, (f"{often}  {_text(item.get('because'))}", "quiet")]
    if how == "begins":
        then = f", fires in {wait:g} s if it stays so" if isinstance(wait, int | float) else ""
        return [*runs, (f"{then}  {_text(item.get('text'))}", "quiet")]
    before, after = (_text(item.get(name)) or "nothing" for name in ("before", "after"))
    return [*runs, (f"  {before} {glyphs.arrow} {after}", "quiet")]


_BLOCKED = {"guard is false": "blocked"}
"""Words on the screen for statuses of the engine; other statuses are shown as they are."""


def _transition(item: Mapping[str, Any], glyphs: Glyphs) -> list[Run]:
    opens = item.get("after") == "ready"
    sign, style = (glyphs.yes, "good") if opens else (glyphs.no, "warn")
    before, after = (_BLOCKED.get(status, status) for status in (_name(item.get("before")), _name(item.get("after"))))
    return [
        (f"{sign} ", style),
        ("transition to ", "quiet"),
        (_name(item.get("to")), "said"),
        (f": {before} {glyphs.arrow} {after}", "said"),
    ]


def phase_lines(preview: PhasePreviewed, glyphs: Glyphs) -> Iterator[Line]:
    """Yield the lines of a phase override's preview."""
    from gemini_live_tui.panes.explanations import outline

    if preview.problem:
        yield 0, [(f"{glyphs.no} no  ", "error"), (sanitise_line(preview.problem, 600), "said")]
        return
    for key in preview.missing:
        yield 0, [(f"{glyphs.open} lacks ", "alarm"), (_name(key), "key"), (", which it requires", "quiet")]
    for heading, tree in (("the transition", preview.way), ("its own guard", preview.guard)):
        if isinstance(tree, Mapping):
            yield 0, [(heading, "note")]
            for indent, runs in outline(tree, glyphs):
                yield indent + 2, runs
    if preview.way is None:
        yield 0, [("no transition leads there from here", "alarm")]
    for words, names in (
        ("tools added    ", preview.tools_added),
        ("tools removed  ", preview.tools_removed),
        ("keys removed   ", preview.clears),
        ("code that runs ", preview.runs),
    ):
        if names:
            yield 0, [(words, "quiet"), (", ".join(_name(name) for name in names), "said")]
    if preview.prompts:
        yield 0, [("the model speaks first", "said")]
    yield from _unknown(preview.unknown)
    if preview.instruction:
        yield 0, [("instruction    ", "quiet"), (sanitise_line(preview.instruction, 400), "said")]


def _text(text: Any) -> str:
    return sanitise_line(str(text or ""), 200)


def _name(text: Any) -> str:
    return sanitise_line(str(text or ""), 80)
