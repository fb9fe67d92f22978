"""Print an agent's state and decisions as lines, beside the transcript's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import Need, TransitionStatus
from gemini_live_runtime.journal.fold.packing import pack, unpack
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.latency import rounded_stages, stage_words
from gemini_live_runtime.state.explanation import decisive_leaves
from gemini_live_runtime.text import sanitise_line

HOUSEKEEPING = ("session:", "temp:")
"""Scopes that the session writes all the time: printed with `--detail all` only."""

_MAX_CHARS = 300


class AgentLines:
    """Lines of an agent's state and decisions.

    `everything` adds keys that the session writes for itself, and the meters. Labels are `set:`, `need:`,
    `transition:`, `why:`, `near:`, `pattern:`, `turn:`, `usage:`, `break:` and `meters:`. A need or a transition is
    printed when its status changes.
    """

    def __init__(self, *, everything: bool = False) -> None:
        self._everything = everything
        self._transitions: dict[tuple[str, str], str] = {}
        self._needs: dict[str, bool] = {}
        self._phase = ""

    def lines(self, event: ev.Event, view: SessionView) -> Iterator[str]:
        """Yield the lines of one event, which is folded into `view` already."""
        for label, text in self._labelled(event.payload, view):
            yield f"{label}: {sanitise_line(text, _MAX_CHARS)}"

    def _labelled(self, payload: ev.Payload, view: SessionView) -> Iterator[tuple[str, str]]:
        agent = view.agent_view
        match payload:
            case ev.StateChanged():
                if self._everything or not payload.key.startswith(HOUSEKEEPING):
                    yield "set", _change(payload)
            case ev.PhaseEntered():
                self._phase = payload.phase
                self._transitions.clear()
                self._needs.clear()
                for leaf in decisive_leaves(payload.explanation):
                    yield "why", leaf
            case ev.WatcherFired() if not payload.muted:
                for leaf in decisive_leaves(payload.explanation):
                    yield "why", leaf
            case ev.GuardsRead():
                yield from self._guards(agent.needs, agent.ways)
            case ev.WatchersMissed():
                for miss in payload.misses:
                    yield "near", f"{miss.get('watcher', '')}: {miss.get('missing', '')}"
            case ev.PatternsRead():
                for item in payload.patterns:
                    yield "pattern", f"{item.get('name', '')}: {item.get('progress', '')}"
            case ev.ToolAcknowledged():
                yield "tool", f"{payload.name} goes on in the background"
            case ev.TurnMeasured():
                yield "turn", _turn(payload)
            case ev.UsageReported() if payload.cost_usd is not None:
                prices = f" (prices of {payload.prices_as_of})" if payload.prices_as_of else ""
                yield (
                    "usage",
                    f"{view.prompt_tokens:,} tokens in, {view.response_tokens:,} out, "
                    f"about ${payload.cost_usd:.4f}{prices}",
                )
            case ev.BreakpointsChanged():
                listed = (
                    f"{item.kind} {item.target} ({'on' if item.enabled else 'off'}, {item.hits} hits)"
                    for item in agent.breakpoints
                )
                yield "break", ", ".join(listed) or "none"
            case ev.Meters() if self._everything:
                yield "meters", _meters(payload)

    def _guards(self, needs: tuple[Need, ...], transitions: tuple[TransitionStatus, ...]) -> Iterator[tuple[str, str]]:
        for need in needs:
            if self._needs.get(need.key) != need.met:
                self._needs[need.key] = need.met
                yield (
                    "need",
                    f"{need.label} is {'met by ' + need.by if need.met and need.by else 'met' if need.met else 'open'}",
                )
        for number, way in enumerate(transitions):
            missing = [f"{key} is not set" for key in way.missing]
            trees: tuple[Any, ...] = (unpack(way.guard), unpack(way.target_guard))
            reasons = [leaf for tree in trees for leaf in decisive_leaves(tree)]
            text = f"{self._phase} -> {way.to}: {way.outcome}, {'; '.join([*reasons, *missing]) or way.because}"
            if self._transitions.get((way.to, str(number))) != text:
                self._transitions[way.to, str(number)] = text
                yield "transition", text


def agent_lines(detail: str) -> AgentLines | None:
    """Return the writer for a `--detail`: None for `talk`, with every event for `all`."""
    return None if detail == "talk" else AgentLines(everything=detail == "all")


def _change(payload: ev.StateChanged) -> str:
    was = "" if payload.added else f" (was {pack(payload.old)})"
    what = "removed" if payload.removed else f"= {pack(payload.new)}"
    by = f" by {payload.origin}" + (f" {payload.by}" if payload.by else "")
    because = f": {payload.reason}" if payload.reason else ""
    return f"{payload.key} {what}{was}{by}{because}"


def _turn(payload: ev.TurnMeasured) -> str:
    latency = "no sound" if payload.latency_ms is None else f"{payload.latency_ms:.0f} ms"
    stages: Mapping[str, float | None] = payload.stages
    parts = [f"{stage_words(name, payload.source)} {ms:.0f}" for name, ms in rounded_stages(stages).items()]
    # Before `first_byte_ms` was recorded, the latency was that figure: not the sum of the stages.
    is_sum = payload.latency_ms is not None or payload.first_byte_ms is None
    equation = f" = {' + '.join(parts)}" if parts and is_sum else ""
    first_byte = "" if payload.first_byte_ms is None else f"; first byte {payload.first_byte_ms:.0f} ms"
    tokens = f"; {payload.prompt_tokens} tokens in, {payload.response_tokens} out"
    return f"{payload.of_turn}: {latency}{equation}{first_byte}{tokens}"


def _meters(payload: ev.Meters) -> str:
    levels = (("microphone", payload.mic_db), ("cleaned", payload.clean_db), ("speaker", payload.out_db))
    parts = [f"{name} {level:.0f} dB" for name, level in levels if level is not None]
    if payload.erle_db is not None:
        parts.append(f"echo less {payload.erle_db:.0f} dB")
    parts.append(f"buffer {payload.buffer_ms:.0f} ms")
    if payload.jitter_ms:
        parts.append(f"jitter {payload.jitter_ms:.0f} ms")
    parts.append(f"{payload.underruns} underruns, {payload.mic_dropped} dropped")
    return ", ".join(parts)
