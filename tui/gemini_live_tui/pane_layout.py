"""Arrange panes by the terminal's size and the operator's use. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from textual.geometry import Region

from gemini_live_runtime.records import record


class PaneName(NamedTuple):
    """Pane's id, the key that goes to it, its title, and its word on a narrow tab."""

    id: str
    key: str
    title: str
    tab: str


PANES: tuple[PaneName, ...] = (
    PaneName("transcript", "1", "Transcript", "Talk"),
    PaneName("phase", "2", "Phase", "Phase"),
    PaneName("watchers", "3", "Watchers", "Watch"),
    PaneName("state", "4", "State", "State"),
    PaneName("timeline", "5", "Timeline", "Time"),
    PaneName("latency", "6", "Latency", "Lat"),
    PaneName("tools", "7", "Tools", "Tools"),
    PaneName("events", "8", "Events", "Events"),
    PaneName("logs", "9", "Logs", "Logs"),
    PaneName("tasks", "T", "Tasks", "Tasks"),
)
"""Panes in the order of their keys."""

SHORT_FIRST = ("logs", "events")
"""Panes that are the first to be named by their key alone; the last ones follow."""

BRIEF_TABS: Mapping[str, str] = {"events": "Evt", "logs": "Log"}
"""Words of tabs where there is less room."""

FOLLOWING = "following"
"""Word of a pane's note that the newest line stays in sight."""

BY_PANE: Mapping[str, PaneName] = {pane.id: pane for pane in PANES}


@lru_cache
def tab_rows(panes: tuple[PaneName, ...], shown: str) -> Sequence[Sequence[str]]:
    """Return the texts of the panes' tabs, from the longest row to the shortest.

    The pane `shown` is in brackets and always has its word: colour alone must not tell it. First the spaces between
    the tabs become fewer, then words shorter, then tabs are keys alone.
    """
    spaced = [f"{pane.key} {pane.tab}" for pane in panes]
    brief = [f"{pane.key} {BRIEF_TABS.get(pane.id, pane.tab)}" for pane in panes]
    names = [pane.id for pane in panes]
    order = list(dict.fromkeys((*(name for name in SHORT_FIRST if name in names), *reversed(names))))
    own = [text if name == shown else short for name, text, short in zip(names, spaced, brief, strict=True)]
    rows = [_bracketed(names, spaced, shown, " "), *(_bracketed(names, texts, shown) for texts in (spaced, own, brief))]
    for count in range(1, len(panes) + 1):
        alone = {name for name in order[:count] if name != shown}
        texts = [pane.key if pane.id in alone else text for pane, text in zip(panes, brief, strict=True)]
        rows.append(_bracketed(names, texts, shown))
    return rows


def _bracketed(names: Sequence[str], texts: Sequence[str], shown: str, end: str = "") -> list[str]:
    """Return texts with a space before and `end` behind, that of `shown` in brackets."""
    found = []
    for at, (name, text) in enumerate(zip(names, texts, strict=True)):
        before = " " if end or at else ""
        if name != shown:
            found.append(f"{before}{text}{end}")
        else:
            found.append(f"[{text}]" if end else f"{before}[{text}]")
    return found


Kind = Literal["wide", "normal", "narrow", "talk", "zoom"]

WIDE = (150, 36)
NORMAL = (100, 26)
"""Least columns and rows of the grid for an arrangement.

The grid is the screen without header, meters, prompt and key bar.
"""

MAX_TAKEN = 6
"""Most rows that may be taken from the grid for a while before it is arranged for what is left."""


@record
class PaneLayout:
    """Layout that the operator chose.

    `recent` are panes by last use, newest first; `zoom` is the pane that fills the grid. `talk`: only the transcript is
    shown, where there would be room for more.
    """

    recent: tuple[str, ...] = ()
    zoom: str = ""
    talk: bool = False

    def used(self, pane: str) -> PaneLayout:
        """Return the layout after going to `pane`."""
        zoom = pane if self.zoom else ""
        talk = self.talk and pane == "transcript"
        return replace(self, recent=(pane, *(p for p in self.recent if p != pane)), zoom=zoom, talk=talk)

    def at_start(self) -> PaneLayout:
        """Return the layout for a start: the same panes, the transcript in front."""
        return replace(self, zoom="").used("transcript")

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {"recent": list(self.recent), "zoom": self.zoom, "talk": self.talk}

    @classmethod
    def from_json(cls, value: object) -> PaneLayout:
        """Restore a layout; invalid parts keep their defaults."""
        if not isinstance(value, Mapping):
            return cls()
        recent, zoom = value.get("recent"), value.get("zoom")
        known = [p for p in recent if isinstance(p, str) and p in BY_PANE] if isinstance(recent, list) else []
        return cls(
            tuple(dict.fromkeys(known)),
            zoom if isinstance(zoom, str) and zoom in BY_PANE else "",
            value.get("talk") is True,
        )


@record
class Slot:
    """Part of the grid, the panes that share it in order, and the one that is shown."""

    region: Region
    panes: tuple[str, ...]
    shown: str


@record
class Arrangement:
    """Slots of a grid. `tabs`: a row above names the panes, which have no frames."""

    kind: Kind = "talk"
    slots: tuple[Slot, ...] = field(default_factory=tuple)
    tabs: bool = False


def arrange(width: int, height: int, state: PaneLayout, there: Collection[str], *, taken: int = 0) -> Arrangement:
    """Return the arrangement of the panes `there` in `width` x `height` cells.

    `taken` are the rows that a question or another row below has for a while: they make the panes smaller, and do not
    arrange them anew, up to `MAX_TAKEN`.
    """
    whole = Region(0, 0, max(1, width), max(1, height))
    everything = tuple(there)
    if len(everything) == 1:
        return Arrangement("talk", (Slot(whole, everything, everything[0]),))
    rows = height + min(taken, MAX_TAKEN)
    if width < NORMAL[0] or rows < NORMAL[1]:
        shown = next((pane for pane in (state.zoom, *state.recent) if pane in everything), everything[0])
        return Arrangement("narrow", (Slot(whole, everything, shown),), tabs=True)
    slots = _slots(width, height, whole, state, is_wide=width >= WIDE[0] and rows >= WIDE[1])
    kept = (replace(slot, panes=tuple(pane for pane in slot.panes if pane in there)) for slot in slots.slots)
    return replace(slots, slots=tuple(slot for slot in kept if slot.panes))


def _slots(width: int, height: int, whole: Region, state: PaneLayout, *, is_wide: bool) -> Arrangement:
    if state.zoom:
        return Arrangement("zoom", (Slot(whole, (state.zoom,), state.zoom),))
    if state.talk:
        return Arrangement("talk", (Slot(whole, ("transcript",), "transcript"),))
    if is_wide:
        return Arrangement("wide", _wide(width, height, state))
    return Arrangement("normal", _normal(width, height, state))


def _slot(x: int, y: int, width: int, height: int, state: PaneLayout, *panes: str, first: str = "") -> Slot:
    """Return a slot that shows the pane used last, else `first` or its first one."""
    shown = next((pane for pane in state.recent if pane in panes), first or panes[0])
    return Slot(Region(x, y, width, height), panes, shown)


def _wide(width: int, height: int, state: PaneLayout) -> tuple[Slot, ...]:
    bottom = 12
    top = height - bottom
    left = width * 2 // 5
    middle = (width - left) * 14 // 25
    right = width - left - middle
    phase = max(9, top * 2 // 5)
    time = width * 5 // 8
    return (
        _slot(0, 0, left, top, state, "transcript"),
        _slot(left, 0, middle, phase, state, "phase"),
        _slot(left, phase, middle, top - phase, state, "watchers", "tools", "logs", "tasks"),
        _slot(left + middle, 0, right, top, state, "state", "events"),
        _slot(0, top, time, bottom, state, "timeline"),
        _slot(time, top, width - time, bottom, state, "latency"),
    )


def _normal(width: int, height: int, state: PaneLayout) -> tuple[Slot, ...]:
    bottom = 6
    top = height - bottom
    left = width * 53 // 100
    right = width - left
    phase = 8
    rest = ("watchers", "state", "latency", "tools", "events", "logs", "tasks")
    return (
        _slot(0, 0, left, top, state, "transcript"),
        _slot(left, 0, right, phase, state, "phase"),
        _slot(left, phase, right, top - phase, state, *rest, first="state"),
        _slot(0, top, width, bottom, state, "timeline"),
    )
