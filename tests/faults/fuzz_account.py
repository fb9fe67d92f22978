"""Account for what fuzzed frames cause, and for the work of each."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.fuzzed_frames import Frame

from gemini_live_runtime import events as ev

FEW, SHORT = 20, 500
"""Values and characters that a frame counts for besides its own."""

FAULTS = ("internal", "watchers", "event-lost", "meters-failed")
"""Codes of notices about faults of the session's own."""


@dataclass(slots=True)
class Work:
    """Work that one frame caused before the next was read."""

    frame: str = ""
    """Beginning of the frame."""
    size: int = 0
    """Length of the frame."""
    values: int = 0
    """Upper bound of the number of values in the frame."""
    events: int = 0
    cpu_ms: float = 0.0


@dataclass(slots=True)
class Account:
    """Findings of the sessions with fuzzed frames."""

    frames: int = 0
    unreadable: int = 0
    connections: int = 0
    probes: int = 0
    calls: int = 0
    turns: int = 0
    faults: list[str] = field(default_factory=list)
    most_events: Work = field(default_factory=Work)
    """Frame with the most events for each of its values."""
    chars_a_char: float = 0.0
    """Characters of the journal for each of a batch's, whose frames count for `SHORT` more each, at most."""
    slowest: Work = field(default_factory=Work)
    longest_step_ms: float = 0.0
    """CPU time of the longest callback of the event loop."""
    idle_kb: int = 0
    peak_kb: int = 0
    seconds: float = 0.0
    own_s: float = 0.0
    """CPU seconds of the present step of the event loop that are the test's own."""
    is_paused: bool = False
    """True when the present step of the event loop is not to be counted."""

    def add(self, work: Work) -> None:
        """Compare a frame's work with the largest so far."""
        self.most_events = max(self.most_events, work, key=lambda one: one.events / (one.values + FEW))
        self.slowest = max(self.slowest, work, key=lambda one: one.cpu_ms)

    def fault(self, text: str) -> None:
        """Note something that must not happen."""
        if len(self.faults) < 20:
            self.faults.append(f"frame {self.frames}: {text[:500]}")

    def take(self, payload: ev.Payload) -> None:
        """Count an event, and look for faults in it."""
        if isinstance(payload, ev.StateChanged):
            return
        if isinstance(payload, ev.WireMessage):
            self.unreadable += payload.direction == "received" and bool(payload.problems) and not payload.kinds
        elif isinstance(payload, ev.CodeFailed):
            self.fault(f"code failed: {payload.where}: {payload.error}")
        elif isinstance(payload, ev.Notice) and payload.code in FAULTS:
            self.fault(f"notice: {payload.text}")
        elif isinstance(payload, ev.Log) and payload.level == "error":
            self.fault(f"log: {payload.text}")
        elif isinstance(payload, ev.ToolCalled):
            self.calls += 1
        elif isinstance(payload, ev.TurnCompleted):
            self.turns += 1


class StepClock:
    """Measures the CPU time of each callback of an event loop."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._run = asyncio.Handle._run

    def __enter__(self) -> None:
        run, account, now = self._run, self._account, time.thread_time

        def measured(handle: asyncio.Handle) -> None:
            began = now()
            run(handle)
            took = (now() - began - account.own_s) * 1000
            if took > account.longest_step_ms and not account.is_paused:
                account.longest_step_ms = took
            account.is_paused, account.own_s = False, 0.0

        asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]

    def __exit__(self, *_: object) -> None:
        asyncio.Handle._run = self._run  # type: ignore[method-assign]


def separators(frame: Frame) -> int:
    """Return the number of commas and colons.

    A message of `n` values has at least `n - 1`.
    """
    text = frame if isinstance(frame, str) else frame.decode("latin-1")
    return text.count(",") + text.count(":")


def memory_kb(name: str) -> int:
    """Return this process's memory in kB: `VmRSS` of now, `VmHWM` at its peak.

    0 without /proc.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    return next((int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(name)), 0)
