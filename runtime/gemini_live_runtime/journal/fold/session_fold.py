"""Fold a sequence of events into a `SessionView`.

`apply` is the only function that changes a view. Live, replay, attach and export all use it, so they cannot disagree.
It must stay a pure function of the view and the event: no clock, no randomness, no I/O. An event that two modules
handle (a phase's notice and its path, say) runs the notice's handler first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold import link_blocks, resumption, spoken_blocks
from gemini_live_runtime.journal.fold.agent_fold import HANDLERS as AGENT_HANDLERS
from gemini_live_runtime.journal.fold.agent_notices import HANDLERS as AGENT_NOTICES
from gemini_live_runtime.journal.fold.blocks import (
    change,
    finish,
    forget_oldest,
    interrupted,
    not_understood,
    open_block,
    open_call,
    recent,
    streaming,
)
from gemini_live_runtime.journal.fold.consent_fold import HANDLERS as CONSENT_HANDLERS
from gemini_live_runtime.journal.fold.debugger_fold import HANDLERS as DEBUGGER_HANDLERS
from gemini_live_runtime.journal.fold.fold_parts import Handler, Handlers
from gemini_live_runtime.journal.fold.harness_fold import HANDLERS as HARNESS_HANDLERS
from gemini_live_runtime.journal.fold.session_notices import HANDLERS as SESSION_NOTICES
from gemini_live_runtime.journal.fold.sound_fold import HANDLERS as SOUND_HANDLERS
from gemini_live_runtime.journal.fold.turn_fold import HANDLERS as TURN_HANDLERS
from gemini_live_runtime.journal.fold.view import (
    MAX_ACCEPTED,
    MAX_BLOCK_CHARS,
    MAX_EVENT_TYPES,
    MAX_LATENCIES,
    NOT_UNDERSTOOD,
    BlockKind,
    Dirty,
    SessionView,
)
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.speech_map import add_text
from gemini_live_runtime.text import sanitise, sanitise_line, sanitise_next

_REF_CHARS = 200
"""Characters of the reference of a text that the link has taken."""

_handlers = Handlers({**SESSION_NOTICES, **AGENT_NOTICES, **SOUND_HANDLERS})
_on = _handlers.on


def apply(view: SessionView, event: ev.Event) -> Dirty:
    """Fold one event into `view` and return what changed.

    Events must come in order, each once.
    """
    view.seq, view.t, view.turn, view.gen = event.seq, event.t, event.turn, event.gen
    counts, name = view.events_by_type, event.type
    if name not in counts:
        name = sanitise_line(name, 80)
        name = "other" if name not in counts and len(counts) >= MAX_EVENT_TYPES else name
        counts.setdefault(name, 0)
    counts[name] += 1
    handler = _handlers.get(type(event.payload))
    return handler(view, event, event.payload) if handler is not None else Dirty.NONE


def fold(events: Iterable[ev.Event], view: SessionView | None = None) -> SessionView:
    """Return the view after `events`, starting from `view` or from an empty one."""
    view = SessionView() if view is None else view
    for event in events:
        apply(view, event)
    return view


def apply_sample(view: SessionView, sample: MeterSample) -> Dirty:
    """Put a meter sample into the view.

    Samples are not journaled: a replay shows the `meters` events instead.
    """
    view.meters = sample
    view.t = max(view.t, sample.t)
    return Dirty.METERS


# -- session and connection ------------------------------------------------------------------------------------------


@_on(ev.SessionStarted)
def _started(view: SessionView, event: ev.Event, p: ev.SessionStarted) -> Dirty:
    view.session_id, view.agent, view.model = (
        sanitise_line(p.session_id),
        sanitise_line(p.agent),
        sanitise_line(p.model),
    )
    view.backend, view.wall, view.program = sanitise_line(p.backend), p.wall, sanitise_line(p.program)
    view.record, view.mode = p.record, p.mode
    view.phrases = [sanitise_line(phrase) for phrase in p.phrases]
    view.tools = [sanitise_line(tool) for tool in p.tools]
    return Dirty.HEADER | Dirty.CONTROLS | Dirty.TRANSCRIPT


@_on(ev.SessionState)
def _state(view: SessionView, event: ev.Event, p: ev.SessionState) -> Dirty:
    view.word, view.word_reason = p.word, sanitise_line(p.reason)
    return Dirty.HEADER


@_on(ev.SessionEnded)
def _ended(view: SessionView, event: ev.Event, p: ev.SessionEnded) -> Dirty:
    view.ended, view.exit_code = sanitise_line(p.reason) or "ended", p.exit_code
    view.playing, view.next_agent = False, ""
    view.speeches.clear()
    view.harness.consent = None
    finish(view, "user", "model", "thought")
    spoken_blocks.stop(view, event)
    return Dirty.HEADER | Dirty.TRANSCRIPT | Dirty.METERS


_on(ev.SessionResumed)(resumption.resumed)


@_on(ev.ConnectionOpening)
def _opening(view: SessionView, event: ev.Event, p: ev.ConnectionOpening) -> Dirty:
    view.url, view.connected_ms, view.go_away_at = sanitise_line(p.url), None, None
    view.retry_at, view.link_failed = None, False
    return Dirty.HEADER


@_on(ev.ConnectionReady)
def _ready(view: SessionView, event: ev.Event, p: ev.ConnectionReady) -> Dirty:
    view.connected_ms = p.ms
    return Dirty.HEADER | link_blocks.connected_again(view, event, p)


_on(ev.ConnectionClosed)(link_blocks.closed)
_on(ev.ConnectionGoAway)(link_blocks.go_away)
_on(ev.LinkRestarting)(link_blocks.restarting)
_on(ev.LinkGivenUp)(link_blocks.given_up)
_on(ev.OutboxChanged)(link_blocks.outbox_changed)
_on(ev.SendSettled)(link_blocks.settled)


@_on(ev.SendIntended)
def _intended(view: SessionView, event: ev.Event, p: ev.SendIntended) -> Dirty:
    if p.kind == "text":
        view.accepted_texts.append(sanitise_line(p.ref, _REF_CHARS))
        del view.accepted_texts[:-MAX_ACCEPTED]
    return Dirty.NONE


@_on(ev.ConnectionResumable)
def _resumable(view: SessionView, event: ev.Event, p: ev.ConnectionResumable) -> Dirty:
    view.resumable = p.resumable
    return Dirty.HEADER


@_on(ev.WireAudio)
def _wire_audio(view: SessionView, event: ev.Event, p: ev.WireAudio) -> Dirty:
    if p.track == "user":
        view.sent_samples = max(view.sent_samples, p.first + p.count)
    else:
        view.received_samples = max(view.received_samples, p.first + p.count)
    return Dirty.NONE


# -- turns and transcript --------------------------------------------------------------------------------------------


@_on(ev.TranscriptDelta)
def _delta(view: SessionView, event: ev.Event, p: ev.TranscriptDelta) -> Dirty:
    kind: BlockKind = "user" if p.side == "user" else ("thought" if p.channel == "thought" else "model")
    # Without a loudspeaker the words are read.
    placed = kind == "model" and p.sample is not None and bool(view.output_device)
    index = streaming(view, kind, event.turn)
    if index is not None and view.blocks[index].interrupted:
        # Its end may be heard once the lost loudspeaker is back.
        placed = p.sample is not None and bool(view.blocks[index].places)
    if index is None:
        index = interrupted(view, kind, event.gen)
        placed = placed and index is None
    text = sanitise(p.text) if index is None else sanitise_next(view.blocks[index].text, p.text)
    if index is not None and len(view.blocks[index].text) + len(text) > MAX_BLOCK_CHARS:
        change(view, index, done=True)
        index = None
    if index is not None:
        block = view.blocks[index]
        places = block.places
        if placed:
            places = add_text(places, len(block.text), text, p.sample or 0, p.samples)
        change(view, index, text=block.text + text, places=places)
        view.block_chars += len(text)
        forget_oldest(view)
        return Dirty.TRANSCRIPT
    text = text.lstrip()
    if not text:
        return Dirty.NONE
    if kind == "model":
        finish(view, "user")
    elif kind == "user" and (late := not_understood(view, event.turn)) is not None:
        view.block_chars += len(text) - len(view.blocks[late].text)
        change(view, late, text=text, status="", done=False)
        view.open_blocks = None
        return Dirty.TRANSCRIPT
    open_block(view, event, kind, text=text, places=((0, p.sample or 0, p.samples),) if placed else ())
    return Dirty.TRANSCRIPT


@_on(ev.UserStateChanged)
def _user_state(view: SessionView, event: ev.Event, p: ev.UserStateChanged) -> Dirty:
    view.user_away = p.new == "away"
    return Dirty.HEADER


@_on(ev.SpeechNotUnderstood)
def _not_understood(view: SessionView, event: ev.Event, p: ev.SpeechNotUnderstood) -> Dirty:
    text = f"(not understood, {p.seconds:.1f} s)"
    open_block(view, event, "user", text=text, status=NOT_UNDERSTOOD, done=True)
    return Dirty.TRANSCRIPT


@_on(ev.TextSent)
def _text_sent(view: SessionView, event: ev.Event, p: ev.TextSent) -> Dirty:
    text = sanitise(p.text)
    link_blocks.sent_again(view, text)
    open_block(view, event, "user", text=text, typed=True, done=True)
    return Dirty.TRANSCRIPT


@_on(ev.GenerationCompleted)
def _generated(view: SessionView, event: ev.Event, p: ev.GenerationCompleted) -> Dirty:
    finish(view, "user")
    return Dirty.TRANSCRIPT | spoken_blocks.complete(view, event.gen, p.samples)


@_on(ev.TurnInterrupted)
def _interrupted(view: SessionView, event: ev.Event, p: ev.TurnInterrupted) -> Dirty:
    view.interruptions += 1
    view.playing = False
    heard = len(sanitise(p.heard_text).lstrip())
    parts = [part for part in recent(view, event.turn) if part[1].kind == "model" and part[1].turn == event.turn]
    # An answer may take several blocks, with calls between them: distribute the heard text over them in order.
    for index, block in reversed(parts):
        if block.gen == event.gen or block is parts[0][1]:
            part = block.heard if block.interrupted else min(heard, len(block.text))
            # The rest of an answer that lost its loudspeaker is still received, and may be heard.
            change(view, index, heard=part, interrupted=True, done=block.done or p.by != "device")
            heard = max(0, heard - len(block.text))
    spoken_blocks.stop(view, event, below=p.cut_below)
    return Dirty.TRANSCRIPT | Dirty.HEADER | Dirty.METERS


@_on(ev.TurnCompleted)
def _completed(view: SessionView, event: ev.Event, p: ev.TurnCompleted) -> Dirty:
    view.turns_completed += 1
    cut = streaming(view, "model", event.turn)
    if p.broke_off and cut is not None and not view.blocks[cut].interrupted:
        heard = len(view.blocks[cut].text) - len(sanitise(p.unspoken))
        change(view, cut, interrupted=True, heard=max(0, heard))
    finish(view, "user", "model", "thought")
    if p.latency_ms is not None:
        _add_latency(view, event.turn, p.latency_ms)
    return Dirty.TRANSCRIPT | Dirty.HEADER | Dirty.METERS


@_on(ev.TurnMeasured)
def _measured(view: SessionView, event: ev.Event, p: ev.TurnMeasured) -> Dirty:
    card = view.agent_view.turns.get(p.of_turn)
    # The sound of a turn may be played after its completion. In older journals this was another figure.
    if p.first_byte_ms is None or p.latency_ms is None or card is None or card.latency_ms is not None:
        return Dirty.NONE
    _add_latency(view, p.of_turn, p.latency_ms)
    return Dirty.TRANSCRIPT | Dirty.METERS


def _add_latency(view: SessionView, turn: int, ms: float) -> None:
    view.latencies.append(ms)
    del view.latencies[:-MAX_LATENCIES]
    for index, block in recent(view, turn):
        if block.kind == "model" and block.turn == turn:
            change(view, index, ms=ms)
            break


@_on(ev.ToolCalled)
def _tool_called(view: SessionView, event: ev.Event, p: ev.ToolCalled) -> Dirty:
    view.calls_open += 1
    finish(view, "user", "model", "thought")
    args = ", ".join(f"{sanitise_line(str(key))}={_short(value)}" for key, value in p.args.items())
    text = sanitise_line(f"{sanitise_line(p.name, 80)}({args})", 1000)
    open_block(view, event, "tool", text=text, call_id=call_key(p.call_id), status="running")
    return Dirty.TRANSCRIPT | Dirty.HEADER


@_on(ev.ToolFinished)
def _tool_finished(view: SessionView, event: ev.Event, p: ev.ToolFinished) -> Dirty:
    view.calls_open = max(0, view.calls_open - 1)
    index = open_call(view, call_key(p.call_id))
    if index is not None:
        detail = "goes on as a task" if p.task else _short(p.result, 200)
        view.block_chars += len(detail) - len(view.blocks[index].detail)
        change(view, index, status=p.status, ms=p.ms, done=True, detail=detail)
    return Dirty.TRANSCRIPT | Dirty.HEADER


def call_key(call_id: str) -> str:
    """Return `call_id`, or a digest of one that is long or not printable ASCII."""
    if len(call_id) <= 80 and call_id.isascii() and call_id.isprintable():
        return call_id
    return "#" + hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _short(value: Any, limit: int = 60) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return sanitise_line(json.dumps(text, ensure_ascii=False) if isinstance(value, str) else text, limit)


@_on(ev.UsageReported)
def _usage(view: SessionView, event: ev.Event, p: ev.UsageReported) -> Dirty:
    view.prompt_tokens += p.prompt_tokens
    view.response_tokens += p.response_tokens
    view.cost_usd, view.prices_as_of = p.cost_usd, sanitise_line(p.prices_as_of, 20)
    return Dirty.HEADER | Dirty.METERS


@_on(ev.ControlChanged)
def _control(view: SessionView, event: ev.Event, p: ev.ControlChanged) -> Dirty:
    view.mode, view.microphone, view.speaker = p.mode, p.microphone, p.speaker
    return Dirty.CONTROLS | Dirty.HEADER | Dirty.METERS


def _chained(first: Handler, second: Handler) -> Handler:
    unions: dict[tuple[Dirty, Dirty], Dirty] = {}

    def chained(view: SessionView, event: ev.Event, payload: Any) -> Dirty:
        parts = first(view, event, payload), second(view, event, payload)
        # Joining flags takes longer than looking them up.
        union = unions.get(parts)
        if union is None:
            union = unions[parts] = parts[0] | parts[1]
        return union

    return chained


for _cls, _handler in {
    **AGENT_HANDLERS,
    **TURN_HANDLERS,
    **DEBUGGER_HANDLERS,
    **HARNESS_HANDLERS,
    **CONSENT_HANDLERS,
}.items():
    _handlers[_cls] = _chained(_handlers[_cls], _handler) if _cls in _handlers else _handler
