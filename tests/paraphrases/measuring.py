"""Say sentences of tests/data/paraphrases to the agents, and compare the outcome."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import synthetic_speech
from tests.support.hotel_clock import at_the_hotel
from tests.support.synthetic_speech import RATE

from gemini_live_runtime import Live, LiveHandle
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.times import minutes_since_midnight
from gemini_live_runtime.clock import run_virtual

SILENCE_S = 2
"""Seconds of silence after a spoken sentence: the server takes it for the end of a turn."""

FOLDER = Path(__file__).parents[1] / "data" / "paraphrases"

NAMES = tuple(
    f"{half}{number}"
    for number in ("", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "-10", "-11", "-12", "-13")
    for half in ("open", "held")
)
"""Files of sentences: thirteen sets, half of each held back."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Outcome of one sentence: calls, changed keys, state, answer and transcript."""

    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    changed: frozenset[str]
    state: Mapping[str, Any]
    answer: str
    heard: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdict on one sentence; `is_wrong` when a call was made unasked."""

    line: Mapping[str, Any]
    turn: Turn
    is_right: bool
    is_wrong: bool


def read(name: str) -> list[dict[str, Any]]:
    """Return the sentences of one of `NAMES`."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def measure(line: Mapping[str, Any], voice: str = "") -> Judged:
    """Type a sentence, after what has to be said before it, and judge what follows.

    With a `voice` it is spoken instead; what comes before it is typed.
    """
    with at_the_hotel():
        turn = run_virtual(_talk(line["agent"], line.get("before", ()), line["say"], voice))
    outcomes = line.get("any") or [line]
    right = any(_holds(outcome, turn) for outcome in outcomes)
    called = {call["tool"] for outcome in outcomes if (call := outcome.get("call"))}
    # A call that nobody asked for is worse than none.
    wrong = not right and any(tool not in called or _call_of(outcomes, tool, args) for tool, args in turn.calls)
    return Judged(line, turn, right, wrong)


def measure_all(name: str, voice: str = "", agent: str = "") -> list[Judged]:
    """Measure the sentences of one of `NAMES`, or those of one `agent`.

    With a `voice` those that can be spoken.
    """
    lines = [line for line in read(name) if agent in ("", line["agent"])]
    return [measure(line, voice) for line in lines if not voice or line.get("speakable", True)]


def figures(judged: Sequence[Judged]) -> tuple[float, int]:
    """Return the share that was understood, and the number of wrong actions."""
    return sum(one.is_right for one in judged) / len(judged), sum(one.is_wrong for one in judged)


def fits(wanted: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    """Return True when a call's `args` have the values `wanted`."""
    return all(name in args and _same(value, args[name]) for name, value in wanted.items())


def _call_of(outcomes: list[Any], tool: str, args: Mapping[str, Any]) -> bool:
    wanted = [outcome["call"]["args"] for outcome in outcomes if outcome.get("call", {}).get("tool") == tool]
    return not any(fits(value, args) for value in wanted)


async def _talk(agent: str, before: list[str], say: str, voice: str) -> Turn:
    made: Live = getattr(importlib.import_module(f"gemini_live_runtime.agents.{agent}"), agent)()
    options: dict[str, Any] = {"audio": "program", "mode": "voice"} if voice else {}
    async with made.connect(backend="local", fast=True, **options) as session:
        for text in before:
            await session.until_quiet()
            await session.send_text(text)
        await session.until_quiet()
        events = session.events()
        state_before = dict(session.state.snapshot())
        if voice:
            await _speak(session, synthetic_speech.say(voice, say))
        else:
            await session.send_text(say)
        await session.until_quiet()
        state = dict(session.state.snapshot())
    calls: list[tuple[str, Mapping[str, Any]]] = []
    answer = heard = ""
    async for event in events:
        if isinstance(event.payload, ev.ToolCalled):
            calls.append((event.payload.name, event.payload.args))
        elif isinstance(event.payload, ev.TranscriptDelta) and event.payload.side == "model":
            answer += event.payload.text
        elif isinstance(event.payload, ev.TranscriptDelta):
            heard += event.payload.text
    changed = frozenset(key for key in state.keys() | state_before.keys() if state.get(key) != state_before.get(key))
    return Turn(tuple(calls), frozenset(key for key in changed if _is_users(key)), state, answer, heard)


async def _speak(session: LiveHandle, pcm: bytes) -> None:
    """Say `pcm`, and be silent until the server takes it for the end of a turn."""
    pcm += bytes(2 * RATE * SILENCE_S)
    size = RATE // 50 * 2
    for start in range(0, len(pcm), size):
        session.send_audio(pcm[start : start + size])
        await asyncio.sleep(0.02)


def _is_users(key: str) -> bool:
    return key.partition(":")[0] in ("app", "user")


def _holds(outcome: Mapping[str, Any], turn: Turn) -> bool:
    call, state = outcome.get("call"), outcome.get("state")
    if call and not any(tool == call["tool"] and fits(call["args"], args) for tool, args in turn.calls):
        return False
    if state and not all(_same(value, turn.state.get(key)) for key, value in state.items()):
        return False
    if outcome.get("asks") and (turn.calls or "?" not in turn.answer):
        return False
    if outcome.get("refuses") and (turn.calls or turn.changed):
        return False
    answers = outcome.get("answers")
    if answers is None:
        return True
    said = f" {_plain(turn.answer)} "
    return not turn.calls and any(f" {_plain(words)} " in said for words in answers)


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict | list | bool):
        return bool(wanted == found)
    if isinstance(wanted, int | float) and not isinstance(found, bool) and _is_number(found):
        return float(wanted) == float(found)
    clock = minutes_since_midnight(str(wanted)) if re.search(r"\d:\d\d", str(wanted)) else None
    if clock is not None:
        return clock == minutes_since_midnight(str(found))
    return f" {_plain(str(wanted))}" in f" {_plain(str(found))} "


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower().replace("'", "").replace("\u2019", "")))
