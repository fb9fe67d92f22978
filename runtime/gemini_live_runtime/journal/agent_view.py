"""What an agent's mind looks like in a view: state, phases, guards, watchers, tools, turns and the timeline.

Items are frozen and replaced, never changed, so that views can share them. Values, keys and explanation trees are kept
as ASCII JSON text: everything is there, and nothing in it is obeyed by a terminal; the other texts are sanitised.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from gemini_live_runtime.records import record

MAX_KEYS = 5000
"""State keys shown; further ones are counted in `keys_beyond`."""

MAX_REMOVED = 1000
"""Removed keys whose remover is remembered, those that were removed last."""

MAX_PATH = 500
MAX_TOOLS = 500
MAX_TURNS = 2000
MAX_SPANS = 4000
MAX_TICKS = 4000
MAX_MARKS = 1000
MAX_NUMBERS = 32
"""Numbers kept of a key's history, and of a watcher's distances."""

MAX_JSON = 100_000
"""Characters of one value or tree; a longer one is replaced by a note, the event has it whole."""

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def pack(value: Any) -> str:
    """`value` as ASCII JSON text, or a note in its place when it is too long."""
    kind = type(value)
    if kind is int:  # most values are: an encoder of their own would take ten times as long
        text = int.__repr__(value)
    elif kind is bool:
        return "true" if value else "false"
    else:
        text = _encode(value)
    return text if len(text) <= MAX_JSON else _encode(f"(too long to show: {len(text):,} characters)")


def unpack(text: str) -> Any:
    """The value of a packed text; None for ""."""
    return json.loads(text) if text else None


def plain_key(key: str) -> str:
    """A key as the views' dictionaries spell it: what is not plain ASCII is escaped. `real_key` reverses it."""
    return key if key.isascii() and key.isprintable() and '"' not in key and "\\" not in key else _encode(key)[1:-1]


def real_key(key: str) -> str:
    """The key that `plain_key` spelled."""
    return str(json.loads(f'"{key}"')) if "\\" in key else key


@record
class KeyCell:
    """One key of state. `value` and `was` are packed, `was` is "" where there was none; `text` is fit to show.

    `kind` is `text`, `number`, `bool`, `null`, `list` or `object`. `seq` is the event that wrote it, `changes` counts
    them, `numbers` are the last numeric values, oldest first.
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
    """Who removed a key, by event `seq`."""

    origin: str
    by: str
    reason: str
    t: float
    turn: int
    seq: int


@record
class PhaseVisit:
    """A phase that was entered by event `seq`; `seconds` is how long it lasted, None while it does."""

    phase: str
    t: float
    turn: int
    seq: int
    trigger: str
    because: str = ""
    seconds: float | None = None


@record
class Need:
    """Something that a phase is there to find out; `by` is who wrote it."""

    key: str
    label: str
    met: bool
    by: str = ""


@record
class TransitionStatus:
    """A way out of the current phase. `guard` and `target_guard` are packed explanations, "" for none."""

    to: str
    outcome: str
    because: str
    guard: str = ""
    target_guard: str = ""
    missing: tuple[str, ...] = ()


@record
class WatcherCard:
    """A watcher. `last` is what it saw when it fired, `miss` why it did not the last time it was looked at.

    `share` says how near it came, 0 to 1, None where that is no question of numbers; `shares` are the last ones.
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

    # `replace` takes many times as long, and a turn may have a hundred of these.

    def after_firing(self, saw: str, t: float, seq: int) -> WatcherCard:
        """The card after event `seq`, at which it fired."""
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
        """The card after event `seq`, at which it did not fire."""
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
    """A temporal pattern and how far it has come."""

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
    """One call. `args` and `result` are packed; `end` is when it was answered, None while it runs."""

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
    """One turn. `stage_names` and `stage_ms` belong together, in order; `end` is None while it goes on."""

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

    @property
    def stages(self) -> dict[str, float | None]:
        """Milliseconds of each stage, None where it was not measured."""
        return dict(zip(self.stage_names, self.stage_ms, strict=False))


@record
class Span:
    """Somebody's sound on the timeline: `user` or `model`. `end` is None while it goes on; `cut`: interrupted."""

    lane: str
    t: float
    turn: int
    end: float | None = None
    cut: bool = False


@record
class Tick:
    """A moment on the timeline: `watch`, `typed`, `refused`, `fault` or `held`."""

    lane: str
    t: float
    seq: int
    text: str


@record
class Mark:
    """The operator's mark, set by event `seq` for the moment `t` after event `of`."""

    t: float
    seq: int
    of: int
    text: str


@record
class Breakpoint:
    """Where the agent is to be held."""

    id: str
    kind: str
    target: str
    enabled: bool = True
    hits: int = 0


@record
class Hold:
    """The agent is held since `t`; `of` is the event that set it off, `explanation` packed, `next` what waits first."""

    by: str
    at: str
    t: float
    seq: int
    of: int = 0
    explanation: str = ""
    answers: int = 0
    steps: int = 0
    next: str = ""


@dataclass(slots=True)
class AgentView:
    """Everything a display knows about an agent's mind. `shape` is the packed `agent.described`, "" before it came.

    `keys` and `removed` are by `plain_key`, in the order in which they were first written, or removed last; a key is in
    one of them only. `state_density` counts changes by second.
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
    """Tools that the phase allows; None is all."""
    terminal: bool = False
    blocked: str = ""
    """What the last refused transition waits for."""
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
    """Events that slow readers lost."""

    def copy(self) -> AgentView:
        """An equal view that later events do not change: lists and dicts are copied, the frozen items shared."""
        other = copy.copy(self)
        for name in _CONTAINERS:
            setattr(other, name, getattr(self, name).copy())
        return other

    def to_json(self) -> dict[str, Any]:
        """A JSON object from which `from_json` restores an equal view."""
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
        """Restore a view; fields this version does not know are ignored, missing ones take their defaults."""
        agent = cls()
        for name, item in value.items():
            if name not in _FIELDS:
                continue
            made = _ITEMS.get(name)
            if name in _DICTS:
                key_of = int if name in ("turns", "state_density") else str
                item = {key_of(key): _made(made, entry) if made else entry for key, entry in item.items()}
            elif made is not None and item is not None:
                item = _made(made, item) if name == "held" else [_made(made, entry) for entry in item]
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
_ITEM_FIELDS = {cls: tuple(f.name for f in fields(cls)) for cls in _ITEMS.values()}


def _flat(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in _ITEM_FIELDS[type(item)]}


def _made(cls: type[Any], value: Mapping[str, Any]) -> Any:
    known = {name: value[name] for name in _ITEM_FIELDS[cls] if name in value}
    for name, item in known.items():
        if isinstance(item, list):
            known[name] = tuple(tuple(part) if isinstance(part, list) else part for part in item)
    return cls(**known)
