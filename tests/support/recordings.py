"""Recorded sessions for tests, written by the program's own writer.

The session is a call about a debt, with sound on request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gemini_live_runtime import events as ev
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
