"""Plain data of a session that the fold builds and every display reads.

Every string in a `SessionView` is sanitised and ready to show; raw text stays in the events.
"""

from __future__ import annotations

import copy
from dataclasses import field, fields
from enum import IntFlag, auto
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.harness_view import HarnessView
from gemini_live_runtime.records import mutable_record, record
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.speech_map import Place

if TYPE_CHECKING:
    # Only for annotations: a console paints a view before it imports the events.
    from gemini_live_runtime.events import Mode, Record, StateWord

BlockKind = Literal["user", "model", "thought", "tool", "notice"]

MAX_BLOCKS = 10_000
"""Transcript blocks kept in memory; older ones are counted in `blocks_forgotten` and stay in the journal."""

MAX_BLOCK_CHARS = 50_000
"""Characters of one block; longer text continues in a further block."""

MAX_CHARS = 2_000_000
"""Characters of all blocks; beyond it the oldest are dropped.

Keeps every snapshot far below a link's line limit.
"""

MAX_EVENT_TYPES = 500
NOT_UNDERSTOOD = "not understood"
"""Status of a user's block that stands for speech without words."""

MAX_LATENCIES = 64
MAX_ACCEPTED = 64
MAX_LOG_LINES = 500


class Dirty(IntFlag):
    """Parts of a view that an event changed."""

    NONE = 0
    HEADER = auto()
    METERS = auto()
    TRANSCRIPT = auto()
    CONTROLS = auto()
    NOTICES = auto()
    LOG = auto()
    STATE = auto()
    PHASE = auto()
    WATCHERS = auto()
    TOOLS = auto()
    TIMELINE = auto()
    LATENCY = auto()
    HELD = auto()
    HARNESS = auto()


@record
class Block:
    """Paragraph of the transcript at one event.

    `text` is what was said, typed, called or noticed. `heard` is how many characters of a model block were heard when
    its sound was cut or its device was lost (None: all of it). `turn` and `gen` are those of the event that opened it.
    `rev` grows with every change, so that a display can cache the wrapped text.
    """

    id: int
    kind: BlockKind
    t: float
    turn: int
    gen: int
    seq: int = 0
    """Number of the event that opened it."""
    text: str = ""
    typed: bool = False
    done: bool = False
    interrupted: bool = False
    heard: int | None = None
    rev: int = 0
    call_id: str = ""
    status: str = ""
    """Tools: running, ok, error, timeout, cancelled, refused.

    Notices: info, warning, error, log, phase, watch, refused, held, mark, edit. Speech without words: not understood.
    """
    detail: str = ""
    """Result in short of a tool, remedy of a notice."""
    ms: float | None = None
    """Duration of a tool call, or latency of a model's turn, in ms.

    The latency runs from the end of the user's input to the first sample played.
    """
    group: str = ""
    """Kind of a notice; the next one of the same kind is counted here instead of opening a block."""
    count: int = 1
    """Number of notices that this one stands for; `text` is that of the last."""
    places: tuple[Place, ...] = ()
    """Places of `text` in the sound of its generation, until that has been played.

    An interrupted block has some while a lost loudspeaker may come back for its end."""
    action: str = ""
    """Id of the console's action that helps, for a notice."""

    @property
    def is_ahead(self) -> bool:
        """True while some of its words are still to be spoken."""
        return bool(self.places) and not self.interrupted


@record
class Playhead:
    """Playback of a generation: `samples` of it were heard at session time `t` (s)."""

    gen: int
    samples: int
    t: float
    is_paused: bool = False


@mutable_record
class OpenBlocks:
    """Ids of the blocks of a view that are not done.

    `speech` are those of words, `calls` those of tool calls, by `call_id`.
    """

    speech: dict[int, None] = field(default_factory=dict)
    calls: dict[str, list[int]] = field(default_factory=dict)


@record
class LogLine:
    """Line of output of the agent, a library or the engine."""

    t: float
    seq: int
    source: str
    level: str
    text: str


@record
class WaitingSpeech:
    """Speech that the model was not asked for yet."""

    label: str
    """Its reason, or what made it."""
    priority: int
    since: float
    """Time in seconds from the session's start."""


@mutable_record
class SessionView:
    """State of a session at one event, as displays show it."""

    seq: int = 0
    t: float = 0.0
    turn: int = 0
    gen: int = 0
    session_id: str = ""
    agent: str = ""
    """Agent that speaks: the last one that took over, else the one that the session was started with."""
    next_agent: str = ""
    """Agent that takes over once the model has finished speaking; "" for none."""
    speeches: dict[str, WaitingSpeech] = field(default_factory=dict)
    """Speeches that the model was not asked for yet, by id, in the order in which they came."""
    model: str = ""
    backend: str = ""
    wall: float = 0.0
    program: str = ""
    record: Record = "off"
    recording_fails: bool = False
    """True while the disk refuses the session file; its events wait in memory."""
    phrases: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    phase: str = ""
    """Current phase; "" for an agent without phases."""
    playhead: Playhead | None = None
    """Playback of blocks that have places."""
    word: StateWord = "offline"
    word_reason: str = ""
    mode: Mode = "voice"
    turn_detection: str = ""
    """Detector of the user's turns: `server`, `client` or `manual`; "" before the session tells it."""
    chosen_voice: str | None = None
    """Voice that the operator has chosen, "" for the agent's own; None before a choice."""
    microphone: bool = True
    speaker: bool = True
    url: str = ""
    connected_ms: float | None = None
    resumable: bool = False
    go_away_at: float | None = None
    """Session time (s) at which the server will close; None when not announced."""
    retry_at: float | None = None
    """Session time (s) of the next attempt to connect; None while none waits."""
    link_failed: bool = False
    """True when the connection is not made again by itself."""
    link_notice: int = 0
    """Id of the block that tells of the newest loss of the connection, or of its announcement; 0 for none."""
    link_parts: dict[str, str] = field(default_factory=dict)
    """Sentences of that block's detail, by what they tell of."""
    disk_notice: int = 0
    """Id of the block that tells what the disk refuses; 0 for none."""
    sound_not_sent: float = 0.0
    """Seconds of the microphone's sound that this engine has not sent so far."""
    sound_told: float = 0.0
    """Those of them of which notices before the newest loss tell."""
    lost_blocks: list[int] = field(default_factory=list)
    """Ids of the user's blocks that may not have arrived and were not sent again, oldest first."""
    accepted_texts: list[str] = field(default_factory=list)
    """Ids of the commands whose texts were accepted last, at most `MAX_ACCEPTED`."""
    resumed_after: int = 0
    """Number of the last event that an engine before this one has recorded; 0 for the first engine."""
    ended: str = ""
    exit_code: int | None = None
    input_device: str = ""
    output_device: str = ""
    echo_canceller: str = ""
    echo_leaking: bool = False
    health: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Problems of the sound: text and action that helps, by kind."""
    voice: bool = False
    user_away: bool = False
    """True when both sides were silent for longer than the agent allows for."""
    playing: bool = False
    meters: MeterSample = field(default_factory=MeterSample)
    """Last meter values."""
    latencies: list[float] = field(default_factory=list)
    turns_completed: int = 0
    interruptions: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    cost_usd: float | None = None
    calls_open: int = 0
    sent_samples: int = 0
    """Microphone samples (16 kHz) sent so far."""
    received_samples: int = 0
    """Model samples (24 kHz) received so far."""
    heard_samples: int = 0
    """Model samples (24 kHz) played so far."""
    events_by_type: dict[str, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    block_chars: int = 0
    """Characters held by `blocks`, see `MAX_CHARS`."""
    blocks_forgotten: int = 0
    next_block: int = 1
    log: list[LogLine] = field(default_factory=list)
    prices_as_of: str = ""
    """Month (`YYYY-MM`) of the prices behind `cost_usd`."""
    agent_view: AgentView = field(default_factory=AgentView)
    harness: HarnessView = field(default_factory=HarnessView)
    open_blocks: OpenBlocks | None = field(default=None, compare=False, repr=False)
    """Index of `blocks` for the fold, which makes it when it is None; not part of the JSON."""

    def snapshot(self) -> SessionView:
        """Return an equal view that later events do not change.

        Lists and dicts are copied, their frozen items shared.
        """
        other = copy.copy(self)
        for name in _CONTAINERS:
            setattr(other, name, getattr(self, name).copy())
        other.open_blocks = None
        return other

    def lost(self) -> list[Block]:
        """Return the user's blocks that may not have arrived, oldest first."""
        return [block for block in self.blocks if block.id in self.lost_blocks] if self.lost_blocks else []

    @property
    def next_speeches(self) -> list[WaitingSpeech]:
        """Speeches that wait, in the order in which the model will be asked for them."""
        return sorted(self.speeches.values(), key=lambda speech: -speech.priority)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object from which `from_json` restores an equal view."""
        # Copy by hand: `asdict` takes eight times as long, and a console's snapshot blocks the engine's event loop.
        value = {name: getattr(self, name) for name in _VIEW_FIELDS if name not in _WHEN_SAID}
        if self.health:
            value["health"] = {kind: list(texts) for kind, texts in self.health.items()}
        if self.speeches:
            value["speeches"] = {
                ident: [speech.label, speech.priority, speech.since] for ident, speech in self.speeches.items()
            }
        value["meters"] = {name: getattr(self.meters, name) for name in _METER_FIELDS}
        # Fields that came later are there when they say something, so that older views stay as they were.
        for name in _WHEN_SAID:
            if name not in ("health", "speeches") and (said := getattr(self, name)):
                value[name] = said.copy() if isinstance(said, dict | list) else said
        for name, rest in _LATER_METERS.items():
            if getattr(self.meters, name) != rest:
                value["meters"][name] = getattr(self.meters, name)
        if self.playhead is not None:
            head = self.playhead
            value["playhead"] = [head.gen, head.samples, head.t, *((True,) if head.is_paused else ())]
        value["blocks"] = [_block_json(block) for block in self.blocks]
        for name in ("phrases", "tools", "latencies", "accepted_texts"):
            value[name] = list(value[name])
        value["log"] = [{name: getattr(line, name) for name in _LOG_FIELDS} for line in self.log]
        value["mind"] = self.agent_view.to_json()
        if self.harness != HarnessView():
            value["harness"] = self.harness.to_json()
        value["events_by_type"] = dict(self.events_by_type)
        return value

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> SessionView:
        """Restore a view: unknown fields are ignored, missing ones get their defaults."""
        view = cls()
        known = set(_VIEW_FIELDS)
        for name, item in value.items():
            if name == "blocks":
                view.blocks = [_block(block) for block in item]
            elif name == "playhead":
                view.playhead = Playhead(*item)
            elif name == "meters":
                view.meters = MeterSample(**_only((*_METER_FIELDS, *_LATER_METERS), item))
            elif name == "log":
                view.log = [LogLine(**_only(_LOG_FIELDS, line)) for line in item]
            elif name == "health":
                view.health = {kind: (texts[0], texts[1]) for kind, texts in item.items()}
            elif name == "speeches":
                view.speeches = {ident: WaitingSpeech(*told) for ident, told in item.items()}
            elif name == "harness":
                view.harness = HarnessView.from_json(item)
            elif name == "mind":
                view.agent_view = AgentView.from_json(item)
            elif name in known:
                setattr(view, name, item)
        return view


_VIEW_FIELDS = tuple(
    f.name for f in fields(SessionView) if f.name not in ("agent_view", "open_blocks", "playhead", "harness")
)
"""Fields by their JSON names; `agent_view` is `mind` in JSON, and `playhead` is there while something plays."""

_WHEN_SAID = (
    "health",
    "speeches",
    "recording_fails",
    "link_notice",
    "link_parts",
    "disk_notice",
    "sound_not_sent",
    "sound_told",
    "lost_blocks",
    "user_away",
)
"""Fields that are in the JSON only when they say something."""

_CONTAINERS = tuple(f.name for f in fields(SessionView) if hasattr(getattr(SessionView(), f.name), "copy"))
"""Fields with a `copy` method: lists, dicts and the agent's view."""

_LATER_METERS = {
    "jitter_ms": 0.0,
    "far_missing": 0,
    "far_dropped": 0,
    "xruns": 0,
    "drift_ppm": None,
    "heard_itself": 0,
    "probe": "",
    "false_pauses": 0,
    "answer": "",
}
_METER_FIELDS = tuple(f.name for f in fields(MeterSample) if f.name not in _LATER_METERS)
"""Fields of every sample's JSON; those of `_LATER_METERS` are there unless they have that value."""
_BLOCK_FIELDS = tuple(f.name for f in fields(Block))
_ALWAYS = tuple(name for name in _BLOCK_FIELDS if name not in ("group", "count", "places", "action"))
"""Fields of every block's JSON; the others are there for blocks that have them."""
_LOG_FIELDS = tuple(f.name for f in fields(LogLine))


def _block_json(block: Block) -> dict[str, Any]:
    value = {name: getattr(block, name) for name in _ALWAYS}
    if block.group:
        value["group"] = block.group
    if block.count > 1:
        value["count"] = block.count
    if block.places:
        value["places"] = block.places
    if block.action:
        value["action"] = block.action
    return value


def _block(value: dict[str, Any]) -> Block:
    given = _only(_BLOCK_FIELDS, value)
    if "places" in given:
        given["places"] = tuple((char, first, count) for char, first, count in given["places"])
    return Block(**given)


def _only(known: tuple[str, ...], value: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name in known}
