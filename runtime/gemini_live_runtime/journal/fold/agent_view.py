"""Plain data of an agent: state, phases, guards, watchers, tools, turns, timeline.

Items are frozen and replaced, never changed, so that views can share them. Values, keys and explanation trees are
packed (`packing`). The other texts are sanitised.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any

from gemini_live_runtime.records import mutable_record, record

MAX_KEYS = 5000
"""State keys in a view; further ones are counted in `keys_beyond`."""

MAX_REMOVED = 1000
"""Removed keys in a view, the last ones."""

MAX_PATH = 500
MAX_TOOLS = 500
MAX_TURNS = 2000
MAX_SPANS = 4000
MAX_TICKS = 4000
MAX_MARKS = 1000
MAX_NUMBERS = 32
"""Last numbers kept of a key's values, and of a watcher's shares."""


@record
class KeyCell:
    """Key of state with its value.

    `value` and `was` (the value before, "" for none) are packed; `text` is the value sanitised on one line. `kind` is
    `text`, `number`, `bool`, `null`, `list` or `object`. `seq` is the event that wrote it, `changes` counts writes,
    `numbers` are the last numeric values, oldest first.
    """

    value: str
    text: str
    kind: str
    was: str
    origin: str
    by: str
    reason: str
    t: float
    turn: int
    seq: int
    changes: int = 1
    numbers: tuple[float, ...] = ()


@record
class Removal:
    """Removal of a key by event `seq`, with its writer."""

    origin: str
    by: str
    reason: str
    t: float
    turn: int
    seq: int


@record
class PhaseVisit:
    """Stay in a phase, entered by event `seq`.

    `seconds` is how long it lasted, None for the current phase.
    """

    phase: str
    t: float
    turn: int
    seq: int
    trigger: str
    because: str = ""
    seconds: float | None = None


@record
class Need:
    """Key that a phase has to find out; `by` is its writer."""

    key: str
    label: str
    met: bool
    by: str = ""


@record
class TransitionStatus:
    """Status of a transition from the current phase.

    `guard` and `target_guard` are packed explanations, "" for none.
    """

    to: str
    outcome: str
    because: str
    guard: str = ""
    target_guard: str = ""
    missing: tuple[str, ...] = ()


@record
class WatcherCard:
    """Watcher with its counts and its last result.

    `last` is what it saw when it fired last, `miss` why it did not when it was evaluated last. `share` says how near it
    came, 0 to 1, None without a numeric threshold; `shares` are the last ones.
    """

    name: str
    when: str = ""
    keys: tuple[str, ...] = ()
    blocking: bool = False
    defined_at: str = ""
    muted: bool = False
    fired: int = 0
    suppressed: int = 0
    last: str = ""
    last_t: float | None = None
    last_seq: int = 0
    miss: str = ""
    miss_t: float | None = None
    miss_seq: int = 0
    share: float | None = None
    shares: tuple[float, ...] = ()

    # Spelled out, since `dataclasses.replace` takes many times as long and a turn may have a hundred of these.

    def after_firing(self, saw: str, t: float, seq: int) -> WatcherCard:
        """Return the card after event `seq`, at which the watcher fired."""
        return WatcherCard(
            self.name,
            self.when,
            self.keys,
            self.blocking,
            self.defined_at,
            self.muted,
            self.fired + 1,
            self.suppressed,
            saw,
            t,
            seq,
            self.miss,
            self.miss_t,
            self.miss_seq,
            None,
            self.shares,
        )

    def after_missing(self, why: str, t: float, seq: int, share: float | None) -> WatcherCard:
        """Return the card after event `seq`, at which the watcher did not fire."""
        return WatcherCard(
            self.name,
            self.when,
            self.keys,
            self.blocking,
            self.defined_at,
            self.muted,
            self.fired,
            self.suppressed,
            self.last,
            self.last_t,
            self.last_seq,
            why,
            t,
            seq,
            share,
            self.shares if share is None else (*self.shares[-MAX_NUMBERS + 1 :], share),
        )


@record
class PatternCard:
    """Temporal pattern with its progress."""

    name: str
    when: str = ""
    defined_at: str = ""
    progress: str = ""
    cooldown_left_s: float = 0.0
    fired: int = 0
    last: str = ""
    last_t: float | None = None
    last_seq: int = 0


@record
class ToolRun:
    """Tool call.

    `args` and `result` are packed; `end` is the session time of its answer, None while it runs.
    """

    name: str
    args: str
    t: float
    turn: int
    seq: int
    status: str = "running"
    result: str = ""
    ms: float | None = None
    end: float | None = None
    end_seq: int = 0
    delivered: bool = False
    acknowledged: bool = False


@record
class TurnCard:
    """Turn with its latency and tokens; `end` is None while it goes on.

    `latency_ms` is the sum of the stages; of journals without `first_byte_ms` it is that figure instead.
    """

    turn: int
    t: float
    seq: int
    by: str
    end: float | None = None
    end_seq: int = 0
    outcome: str = ""
    latency_ms: float | None = None
    source: str = ""
    stage_names: tuple[str, ...] = ()
    stage_ms: tuple[float | None, ...] = ()
    prompt_tokens: int = 0
    response_tokens: int = 0
    first_byte_ms: float | None = None

    @property
    def stages(self) -> dict[str, float | None]:
        """Milliseconds by name of stage, None where not measured."""
        return dict(zip(self.stage_names, self.stage_ms, strict=False))


@record
class Span:
    """Voice on the timeline, on the lane `user` or `model`.

    `end` is None while it goes on; `cut`: interrupted.
    """

    lane: str
    t: float
    turn: int
    end: float | None = None
    cut: bool = False


@record
class Tick:
    """Moment on a lane: watch, typed, away, refused, fault, held or handoff."""

    lane: str
    t: float
    seq: int
    text: str


@record
class Mark:
    """Mark of the operator, set by event `seq` for the moment `t` after event `of`."""

    t: float
    seq: int
    of: int
    text: str


@record
class Breakpoint:
    """Breakpoint with the number of its hits."""

    id: str
    kind: str
    target: str
    enabled: bool = True
    hits: int = 0


@record
class Hold:
    """Hold of the agent since `t`.

    `of` is the event that caused it, `explanation` packed. `answers` of tools and `steps` of decision wait, `next`
    first.
    """

    by: str
    at: str
    t: float
    seq: int
    of: int = 0
    explanation: str = ""
    answers: int = 0
    steps: int = 0
    next: str = ""


@mutable_record
class AgentView:
    """State of an agent at one event, as displays show it.

    `shape` is the packed `agent.described`, "" before it came. `keys` and `removed` are by `plain_key`, in the order in
    which they were first written, or removed last; a key is in one of them only. `state_density` counts changes by
    second. `ways` are the transitions from the current phase.
    """

    shape: str = ""
    shape_seq: int = 0
    keys: dict[str, KeyCell] = field(default_factory=dict)
    keys_beyond: int = 0
    removed: dict[str, Removal] = field(default_factory=dict)
    changes: int = 0
    path: list[PhaseVisit] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    ways: tuple[TransitionStatus, ...] = ()
    allowed: tuple[str, ...] | None = None
    """Names of the tools that the phase allows; None is all."""
    terminal: bool = False
    blocked: str = ""
    """Requirement that the last blocked transition waits for."""
    watchers: dict[str, WatcherCard] = field(default_factory=dict)
    patterns: dict[str, PatternCard] = field(default_factory=dict)
    tools: dict[str, ToolRun] = field(default_factory=dict)
    turns: dict[int, TurnCard] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)
    state_density: dict[int, int] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    instruction: str = ""
    breakpoints: tuple[Breakpoint, ...] = ()
    held: Hold | None = None
    undo: int = 0
    redo: int = 0
    dropped: int = 0
    """Number of events that slow subscribers lost."""

    @property
    def stay(self) -> PhaseVisit | None:
        """Stay in the current phase; None for an agent without phases."""
        return self.path[-1] if self.path and self.path[-1].seconds is None else None

    def copy(self) -> AgentView:
        """Return an equal view that later events do not change.

        Lists and dicts are copied, their frozen items shared.
        """
        other = copy.copy(self)
        for name in _CONTAINERS:
            setattr(other, name, getattr(self, name).copy())
        return other

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object from which `from_json` restores an equal view."""
        value: dict[str, Any] = {}
        for name in _FIELDS:
            item = getattr(self, name)
            if name in _DICTS:
                item = {str(key): _flat(entry) if name in _ITEMS else entry for key, entry in item.items()}
            elif name in _ITEMS and item is not None:
                item = _flat(item) if name == "held" else [_flat(entry) for entry in item]
            elif isinstance(item, tuple):
                item = list(item)
            value[name] = item
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> AgentView:
        """Restore a view: unknown fields are ignored, missing ones get their defaults."""
        agent = cls()
        for name, item in value.items():
            if name not in _FIELDS:
                continue
            cls_of_item = _ITEMS.get(name)
            if name in _DICTS:
                key_of = int if name in ("turns", "state_density") else str
                item = {
                    key_of(key): _restored(cls_of_item, entry) if cls_of_item else entry for key, entry in item.items()
                }
            elif cls_of_item is not None and item is not None:
                item = (
                    _restored(cls_of_item, item)
                    if name == "held"
                    else [_restored(cls_of_item, entry) for entry in item]
                )
            if name in _TUPLES and item is not None:
                item = tuple(item)
            setattr(agent, name, item)
        return agent


_CONTAINERS = tuple(f.name for f in fields(AgentView) if hasattr(getattr(AgentView(), f.name), "copy"))
"""Fields that hold a list or a dict."""

_FIELDS = tuple(f.name for f in fields(AgentView))
_DICTS = frozenset(("keys", "removed", "visits", "watchers", "patterns", "tools", "turns", "state_density"))
_TUPLES = frozenset(("needs", "ways", "allowed", "breakpoints"))
_ITEMS: dict[str, type[Any]] = {
    "keys": KeyCell,
    "removed": Removal,
    "path": PhaseVisit,
    "needs": Need,
    "ways": TransitionStatus,
    "watchers": WatcherCard,
    "patterns": PatternCard,
    "tools": ToolRun,
    "turns": TurnCard,
    "spans": Span,
    "ticks": Tick,
    "marks": Mark,
    "breakpoints": Breakpoint,
    "held": Hold,
}
_LATER: dict[type[Any], tuple[str, ...]] = {TurnCard: ("first_byte_ms",)}
"""Fields that came later: they are in the JSON of items that have them, so that older views stay as they were."""
_ITEM_FIELDS = {cls: tuple(f.name for f in fields(cls)) for cls in _ITEMS.values()}


def _flat(item: Any) -> dict[str, Any]:
    value = {name: getattr(item, name) for name in _ITEM_FIELDS[type(item)]}
    for name in _LATER.get(type(item), ()):
        if value[name] is None:
            del value[name]
    return value


def _restored(cls: type[Any], value: Mapping[str, Any]) -> Any:
    known = {name: value[name] for name in _ITEM_FIELDS[cls] if name in value}
    for name, item in known.items():
        if isinstance(item, list):
            known[name] = tuple(tuple(part) if isinstance(part, list) else part for part in item)
    return cls(**known)
