"""Long and busy session, the same every time, for benchmarks and manual trials.

Ten minutes have 5,000 lines of transcript and 1,000 state keys that change 50 times a second, with phases, guards,
watchers, tools and meters as in an agent's session.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.samples import MeterSample

TICK_S = 0.05
"""Session time between two ticks: the console draws at most so often."""

KEYS = 1000
CHANGES_A_TICK = 2.5
"""50 a second."""

TURN_TICKS = 60
"""A turn lasts 3 s: in ten minutes there are 200, each of 25 lines with what stands between them."""

PHASES = ("greeting", "verify", "inform", "negotiate", "arrange", "close")
SCOPES = ("app", "user", "session", "turn", "temp", "bg")
_TEXT = """
The harbour is quiet this morning and the light comes in low over the water so if you want to see the boats leave you
had better be there before eight bring a coat and perhaps something warm to drink
"""
WORDS = tuple(_TEXT.split())


def key_name(number: int) -> str:
    """Return the name of key `number`."""
    return f"{SCOPES[number % len(SCOPES)]}:figure_{number:04d}"


def _tree(number: int, value: bool) -> dict[str, Any]:
    key = key_name(number % KEYS)
    read = {"key": key, "value": number % 97, "present": True, "by": "tool: figures"}
    return {"text": f"{key} > 90", "value": value, "reads": [read]}


def described() -> ev.AgentDescribed:
    """Return the event that describes the session's agent."""
    phases = tuple(
        {
            "name": name,
            "goal": f"Do what belongs to {name}.",
            "needs": [key_name(at)],
            "requires": [],
            "tools": ["figures"],
            "terminal": at == len(PHASES) - 1,
            "ways": [{"to": PHASES[(at + 1) % len(PHASES)], "when": f"{key_name(at)} > 90", "because": "it is time"}],
            "defined_at": f"agent.py:{20 + at}",
        }
        for at, name in enumerate(PHASES)
    )
    watchers = tuple(
        {"name": f"watch_{at}", "when": f"{key_name(at)} crosses above 90", "keys": [key_name(at)], "blocking": False}
        for at in range(12)
    )
    return ev.AgentDescribed(agent="harbour", phases=phases, initial_phase=PHASES[0], watchers=watchers)


class TenMinutes:
    """The session's events in order; `tick` gives those of the next `TICK_S` seconds."""

    def __init__(self) -> None:
        self.seq = 0
        self.t = 0.0
        self.turn = 0
        self.gen = 0
        self._tick = 0
        self._mutation = 0
        self._values: dict[str, int] = {}
        self._owed = 0.0

    def _event(self, payload: ev.Payload) -> ev.Event:
        self.seq += 1
        return ev.Event(self.seq, self.t, self.turn, self.gen, payload)

    def begin(self) -> Iterator[ev.Event]:
        """Yield the session's start and each key once."""
        yield self._event(
            ev.SessionStarted(
                session_id="20261120-120000-abcd",
                agent="harbour",
                model="local-harbour",
                backend="local",
                wall=1_795_000_000.0,
                record="text",
                mode="voice",
                program="test",
            )
        )
        yield self._event(described())
        yield self._event(
            ev.AudioOpened(
                input="Microphone", output="Speaker", input_rate=48000, output_rate=48000, echo_canceller="AEC3"
            )
        )
        yield self._event(ev.ConnectionReady(ms=40.0))
        yield self._event(ev.SessionState(word="listening"))
        yield self._event(ev.PhaseEntered(phase=PHASES[0], trigger="initial"))
        for number in range(KEYS):
            yield self._change(number)

    def tick(self) -> list[ev.Event]:
        """Yield the events of the next tick."""
        self._tick += 1
        self.t = round(self._tick * TICK_S, 6)
        events = list(self._speech(self._tick % TURN_TICKS))
        self._owed += CHANGES_A_TICK
        while self._owed >= 1:
            self._owed -= 1
            # Some keys change often, most seldom, as in an agent's state.
            number = self._mutation * 7 % 40 if self._mutation % 3 else self._mutation * 31 % KEYS
            events.append(self._change(number))
        if self._tick % 20 == 0:
            events += self._second(self._tick // 20)
        return events

    def _change(self, number: int) -> ev.Event:
        key = key_name(number)
        old = self._values.get(key)
        self._mutation += 1
        self._values[key] = new = (number * 13 + self._mutation * 7) % 97
        return self._event(
            ev.StateChanged(
                key=key,
                old=old,
                new=new,
                mutation=self._mutation,
                origin="tool",
                by="figures",
                added=old is None,
            )
        )

    def _speech(self, at: int) -> Iterator[ev.Event]:
        if at == 1:
            self.turn += 1
            yield self._event(ev.TurnStarted(by="voice"))
            yield self._event(ev.SessionState(word="hearing"))
            yield self._event(ev.VoiceMarked(speaking=True))
        elif at < 14:
            yield self._event(ev.TranscriptDelta(side="user", text=f"{WORDS[(self.turn + at) % len(WORDS)]} "))
        elif at == 14:
            yield self._event(ev.VoiceMarked(speaking=False))
            yield self._event(ev.SessionState(word="thinking"))
        elif 15 <= at < 25:
            # Twenty lines between question and answer: tools and what watchers and the agent's code have to say.
            ident = f"call-{self.turn}-{at}"
            yield self._event(ev.ToolCalled(call_id=ident, name="figures", args={"take": at, "turn": self.turn}))
            yield self._event(
                ev.ToolFinished(
                    call_id=ident, name="figures", status="ok", result={"wind": at}, ms=float(at), delivered=True
                )
            )
            number = self.turn * 10 + at
            yield self._event(
                ev.WatcherFired(
                    watcher=f"watch_{number % 12}",
                    key=key_name(number % 12),
                    old=80,
                    new=93,
                    explanation=_tree(number, True),
                )
            )
        elif at == 25:
            yield self._event(ev.SessionState(word="speaking"))
            yield self._event(ev.PlaybackStarted())
        elif 25 < at < 55:
            yield self._event(ev.TranscriptDelta(side="model", text=f"{WORDS[at % len(WORDS)]} "))
        elif at == 55:
            yield self._event(ev.GenerationCompleted())
            yield self._event(ev.PlaybackDrained(of=self.gen))
            latency = 450.0 + 11 * (self.turn % 37)
            yield self._event(ev.TurnCompleted(outcome="complete", latency_ms=latency))
            stages = {"hang_over": 180.0, "uplink": 30.0, "server": latency - 290, "downlink": 30.0, "buffer": 50.0}
            yield self._event(
                ev.TurnMeasured(
                    of_turn=self.turn,
                    latency_ms=latency,
                    source="server_vad",
                    stages={**stages, "speaker": None, "total": latency},
                    prompt_tokens=120,
                    response_tokens=80,
                )
            )
            self.gen += 1
            yield self._event(ev.SessionState(word="listening"))
            if self.turn % 5 == 0:
                here = PHASES[self.turn // 5 % len(PHASES)]
                yield self._event(
                    ev.PhaseEntered(
                        phase=here,
                        previous=PHASES[(self.turn // 5 - 1) % len(PHASES)],
                        trigger="guard",
                        because="it is time",
                        explanation=_tree(self.turn, True),
                        needs=(key_name(3),),
                        tools=("figures",),
                    )
                )

    def _second(self, second: int) -> Iterator[ev.Event]:
        way = {"to": "close", "outcome": "guard is false", "because": "", "guard": _tree(second, False)}
        yield self._event(ev.GuardsRead(phase=PHASES[self.turn // 5 % len(PHASES)], ways=(way,)))
        miss = {"watcher": f"watch_{second % 12}", "key": key_name(second % 12), "old": 1, "new": 2}
        yield self._event(
            ev.WatchersMissed(misses=({**miss, "missing": f"{second % 90} is below 90", "share": second % 90 / 90},))
        )

    def sample(self) -> MeterSample:
        """Return the meters at this tick."""
        wave = math.sin(self._tick * 0.7) * math.sin(self._tick * 0.11)
        level = -34 + 22 * wave
        return MeterSample(
            t=self.t,
            mic_db=level,
            mic_peak_db=min(0.0, level + 6),
            clean_db=level - 4,
            out_db=-20 + 12 * math.cos(self._tick * 0.5),
            erle_db=24 + 3 * wave,
            buffer_ms=62 + 8 * wave,
            speech=wave > 0.2,
            events_per_s=75.0,
        )
