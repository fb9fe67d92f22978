"""Recorded sessions for tests, written by the program's own writer.

The session is a call about a debt, with sound on request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.export import pieces
from gemini_live_runtime.journal.formats.base import ExportSource, Range
from gemini_live_runtime.journal.recording.writer import JournalWriter

WALL = 1_795_000_000.0


@dataclass
class Recorder:
    """Recorder that makes events in order, as a session does.

    Each `emit` advances `t` by the given seconds.
    """

    t: float = 0.0
    turn: int = 0
    gen: int = 0
    events: list[ev.Event] = field(default_factory=list)

    def emit(self, *payloads: ev.Payload, after: float = 0.0) -> None:
        self.t = round(self.t + after, 6)
        for payload in payloads:
            self.events.append(ev.Event(len(self.events) + 1, self.t, self.turn, self.gen, payload))

    def start(self, name: str = "s1", *, record: ev.Record = "text", **changes: Any) -> None:
        values: dict[str, Any] = {
            "session_id": name,
            "agent": "debt_collection",
            "model": "local-debt_collection",
            "backend": "local",
            "wall": WALL,
            "record": record,
            "mode": "voice",
            "program": "test",
            **changes,
        }
        self.emit(ev.SessionStarted(**values))

    def begin_turn(self, by: Any = "voice") -> None:
        self.turn += 1
        self.emit(ev.TurnStarted(by=by))

    def user(self, *parts: str) -> None:
        for part in parts:
            self.emit(ev.TranscriptDelta(side="user", text=part), after=0.1)

    def model(self, *parts: str) -> None:
        for part in parts:
            self.emit(ev.TranscriptDelta(side="model", text=part), after=0.1)

    def complete(self, latency_ms: float | None = 600.0, *, outcome: Any = "complete") -> None:
        self.emit(ev.GenerationCompleted(), ev.TurnCompleted(outcome=outcome, latency_ms=latency_ms), after=0.5)
        self.gen += 1

    def interrupt(self, heard: str, unheard: str) -> None:
        cut = {"cut_below": self.gen + 1, "heard_samples": 100, "unheard_samples": 100}
        self.emit(ev.TurnInterrupted(by="server", heard_text=heard, unheard_text=unheard, **cut), after=0.1)

    def tool(self, name: str, args: dict[str, Any], result: dict[str, Any], *, status: Any = "ok") -> None:
        call = f"call-{len(self.events)}"
        self.emit(ev.ToolCalled(call_id=call, name=name, args=args), after=0.1)
        answer = {"result": result, "ms": 141.0, "delivered": True}
        self.emit(ev.ToolFinished(call_id=call, name=name, status=status, **answer), after=0.141)

    def state(self, key: str, new: Any, old: Any = None) -> None:
        made = sum(isinstance(event.payload, ev.StateChanged) for event in self.events)
        self.emit(ev.StateChanged(key=key, old=old, new=new, mutation=made + 1, origin="tool", added=old is None))

    def phase(self, phase: str, previous: str = "", because: str = "") -> None:
        trigger: Any = "guard" if previous else "initial"
        self.emit(ev.PhaseEntered(phase=phase, previous=previous, trigger=trigger, because=because))

    def end(self, reason: str = "the operator hung up") -> None:
        self.emit(ev.SessionEnded(reason=reason), after=0.2)

    def write(self, root: Path, name: str = "s1", *, tracks: dict[ev.Side, bytes] | None = None) -> Path:
        """Record it all as the session `name` under `root`; its folder."""
        writer = self.writer(root, name, tracks=tracks)
        writer.close()
        return writer.folder

    def writer(self, root: Path, name: str = "s1", *, tracks: dict[ev.Side, bytes] | None = None) -> JournalWriter:
        """Record the session and leave it running until the writer is closed."""
        writer = JournalWriter(root, name, audio=bool(tracks), report=[].append)
        for event in self.events:
            writer.append(event.to_line())
        for side, pcm in (tracks or {}).items():
            writer.audio(side, pcm)
        writer.flush()
        return writer


def debt_call(name: str = "s1", **changes: Any) -> Recorder:
    """Record three turns about a debt.

    They have a tool, a phase, a watcher, an interruption and personal data of Maria Ruiz.
    """
    made = Recorder()
    made.start(name, **changes)
    made.emit(ev.SessionState(word="connecting"), ev.ConnectionReady(ms=42.0), ev.SessionState(word="listening"))
    made.phase("greeting")
    made.emit(after=1.0)
    made.begin_turn()
    made.user("This is Maria ", "Ruiz, my mail is maria@", "example.org")
    made.model("Thank you, ", "Ms. Ruiz. How can I help?")
    made.state("user:name", "Maria Ruiz")
    made.complete(612.0)
    made.begin_turn()
    made.user("I got a letter about account 4471 ", "8820 1935")
    made.tool("verify_identity", {"dob": "9 March 1988", "account": "447188201935"}, {"ok": True, "balance": 2140.5})
    made.phase("negotiate", "greeting", "the caller is verified")
    made.emit(
        ev.WatcherFired(watcher="high_balance", key="app:balance", old=0, new=2140.5, explanation={"text": "> 1000"})
    )
    usage: dict[str, Any] = {"prompt": {}, "response": {}, "total_tokens": 3}
    made.emit(ev.UsageReported(prompt_tokens=4800, response_tokens=1200, cost_usd=0.0214, **usage))
    made.model("You have an outstanding balance of two thousand dollars. ", "Would you like to pay now?")
    made.interrupt("You have an outstanding balance", "of two thousand dollars. Would you like to pay now?")
    made.complete(480.0, outcome="interrupted")
    made.begin_turn("typed")
    made.emit(ev.TextSent(text="call me at +49 170 5550134"), after=0.3)
    made.model("I will.")
    made.complete(700.0)
    made.end()
    return made


def exported(folder: Path, fmt: Any, wanted: Range | None = None, *, redact: bool = False) -> str:
    """Return a session in a format that is text."""
    return b"".join(pieces(ExportSource(folder, redact=redact, wanted=wanted or Range()), fmt)).decode()


def tone(samples: int, hertz: float, rate: int) -> bytes:
    """Return a sine of `hertz` as s16le."""
    wave_ = 12000 * np.sin(np.arange(samples) * (2 * np.pi * hertz / rate))
    return wave_.astype("<i2").tobytes()


def sound_call(*, muted: bool = False) -> tuple[Recorder, dict[ev.Side, bytes]]:
    """Record speech of the user and two answers of the model.

    The user speaks from second 1 to 2. The model answers for 2 s from second 3, is interrupted at 4, and answers for
    1 s from 6.
    """
    recorder = Recorder()
    recorder.start(record="audio")
    sent = {"direction": "sent", "track": "user", "rate": 16000, "mime_type": "audio/pcm;rate=16000"}
    received = {"direction": "received", "track": "model", "rate": 24000, "mime_type": "audio/pcm;rate=24000"}
    recorder.turn, recorder.gen, recorder.t = 1, 1, 1.0
    recorder.emit(ev.TurnStarted(by="voice"), after=0.2)
    recorder.t = 2.0
    recorder.emit(ev.WireAudio(first=0, count=16000, frames=((320, 50),), **sent))
    recorder.emit(ev.WireAudio(first=0, count=48000, frames=((48000, 1),), **received), after=0.5)
    recorder.t = 3.5
    recorder.emit(ev.PlaybackHeard(of=1, first=0, count=12000, muted=muted))
    recorder.t = 4.0
    recorder.emit(ev.PlaybackHeard(of=1, first=12000, count=12000, muted=muted))
    recorder.interrupt("half", "of it")
    recorder.turn, recorder.gen = 2, 2
    recorder.emit(ev.TurnStarted(by="model"))
    frame = {"serverContent": {"inlineData": {"data": {"$audio": {"track": "model", "first": 48000, "count": 24000}}}}}
    recorder.emit(ev.WireMessage(direction="received", kinds=("serverContent",), frame=frame, size=1), after=1.0)
    recorder.t = 7.0
    recorder.emit(ev.PlaybackHeard(of=2, first=0, count=24000, muted=muted))
    recorder.end()
    return recorder, {
        "user": tone(16000, 500, 16000),
        "model": tone(48000, 700, 24000) + tone(24000, 900, 24000),
    }


def marked_call() -> Recorder:
    """Record the call with two marks, one of them in its past."""
    recorder = debt_call()
    end = recorder.events.pop()
    recorder.emit(ev.MarkSet(text="ask about the letter"), after=60.0)
    recorder.begin_turn()
    recorder.user("Much later")
    recorder.complete()
    recorder.emit(ev.MarkSet(of=5), end.payload, after=100.0)
    return recorder
