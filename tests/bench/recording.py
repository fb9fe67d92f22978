"""Make a recorded session of any length.

It has speech of both sides, state that changes all the time, sound, watchers and phases.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from gemini_live_runtime import events as ev

EVENTS_A_SECOND = 100
"""Half of them are changes of state."""

KEYS = 1000
BLOCK_EVERY = 20
"""Events a paragraph of the transcript: 5,000 in 100,000."""

_WORDS = ("the", "amount", "is", "due", "on", "Monday", "and", "you", "may", "pay", "it", "in", "three", "parts")
_EXPLANATION = {"text": "app:key1 > 3", "value": True, "reads": [{"key": "app:key1", "value": 4}], "children": []}
_PHASES = ("greet", "verify", "negotiate", "arrange", "close")


BLOCKS = 5000
"""Paragraphs that a full session begins with."""


def recording(count: int, *, keys: int = KEYS, full: bool = False, seed: int = 1) -> Iterator[ev.Event]:
    """`count` events of a session, the same for the same arguments.

    A `full` one has its 5,000 paragraphs and its keys soon, and nothing grows from then on: two of different lengths
    have views of the same size.
    """
    chance = random.Random(seed)
    turn = gen = 1
    heard = mutation = 0
    values: dict[str, int] = {}
    side: ev.Side = "user"
    for seq in range(1, count + 1):
        t = round(seq / EVENTS_A_SECOND, 6)
        place = seq % BLOCK_EVERY
        payload: ev.Payload
        if seq == 1:
            payload = ev.SessionStarted(
                session_id="bench", agent="bench", model="m", backend="local", wall=0.0, record="text", mode="voice",
                program="bench",
            )  # fmt: skip
        elif full and seq <= BLOCKS:
            payload = ev.TextSent(text=" ".join(chance.choices(_WORDS, k=20)))
        elif place == 0 and not full and seq % (4 * BLOCK_EVERY) == 0:
            turn, gen = turn + 1, gen + 1
            payload = ev.TurnStarted(by="voice")
        elif place in (1, 4, 7, 10, 13) and not full:
            if place == 1:
                side = "model" if side == "user" else "user"
            text = " " + " ".join(chance.choices(_WORDS, k=5)) + ("\n" if place == 13 else "")
            payload = ev.TranscriptDelta(side=side, text=text)
        elif place == 16 and not full:
            payload = ev.TurnCompleted(outcome="complete", latency_ms=chance.uniform(300, 900))
        elif place == 18 and seq % 100 == 18:
            payload = ev.Meters(
                mic_db=-30.0, clean_db=-40.0, out_db=-20.0, erle_db=20.0, buffer_ms=40.0, underruns=0, mic_dropped=0,
                loop_lag_ms=chance.random(),
            )  # fmt: skip
        elif place == 19:
            heard += 4800
            payload = ev.PlaybackHeard(of=gen, first=heard - 4800, count=4800)
        elif place == 17:
            payload = ev.WireMessage(
                direction="received",
                kinds=("serverContent",),
                frame={"serverContent": {"outputTranscription": {"text": " ".join(chance.choices(_WORDS, k=5))}}},
                size=120,
            )
        elif place == 15 and not full:
            kind = seq % 200
            if kind == 15:
                payload = ev.WatcherFired(watcher="due", key="app:key1", old=3, new=4, explanation=_EXPLANATION)
            elif kind == 115:
                phase = chance.choice(_PHASES)
                payload = ev.PhaseEntered(phase=phase, previous="greet", trigger="guard", explanation=_EXPLANATION)
            else:
                payload = ev.WireAudio(
                    direction="sent", track="user", rate=16_000, first=seq * 160, count=3200, frames=((320, 10),),
                    mime_type="audio/pcm;rate=16000",
                )  # fmt: skip
        else:
            mutation += 1
            key = f"app:key{mutation if mutation <= keys else chance.randrange(1, keys + 1)}"
            old, new = values.get(key), chance.randrange(1000)
            values[key] = new
            payload = ev.StateChanged(
                key=key,
                old=f"{old} EUR" if full and old is not None else old,
                new=f"{new} EUR" if full else new,
                mutation=mutation,
                origin="tool",
                by="note",
                added=old is None,
            )
        yield ev.Event(seq, t, turn, gen, payload)
