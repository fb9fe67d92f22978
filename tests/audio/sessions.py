"""Count self-interruptions in voice sessions of the demo on a PulseAudio loop.

    make sound
    .venv/bin/python -m tests.audio.sessions --count 10

In each session a second process asks for a story and falls silent: every interruption is the model's own. Then it asks
the time, has to be heard, and is silent during that answer, too. Echoes come at -6, 0 and +6 dB in turn. It needs
pulseaudio, pactl and flite.

Exit status: 1 when the model interrupted itself, did not hear the person or answered late.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.audio.conversation import ROOT, Conversation, is_a, say, set_echo
from tests.support.patience import PATIENCE_S

LEVELS = (-6.0, 0.0, 6.0)
VOICES = ("slt", "rms", "awb")
ANSWERED_S = 15.0
"""Time limit in seconds for a person to be understood.

On a busy machine the recogniser takes longer for what it has heard well: it is late only."""
LISTENED_S = 20.0
"""Length in seconds of the model's speech without a person's."""


@contextmanager
def loop(folder: Path) -> Iterator[dict[str, str]]:
    """Run a sound loop of its own; yields its environment."""
    script = str(ROOT / "tests" / "audio" / "pulse_loop.sh")
    homes = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    environment = {**os.environ, **homes, "GLT_PULSE_DIR": str(folder / "pulse")}
    started = subprocess.run(["sh", script, "start"], env=environment, capture_output=True, text=True, check=True)
    for word in started.stdout.removeprefix("export ").split():
        name, _, value = word.partition("=")
        environment[name] = value.strip("'")
    try:
        yield environment
    finally:
        subprocess.run(["sh", script, "stop"], env=environment, capture_output=True, check=False)


def is_either(event: dict[str, Any]) -> bool:
    """Return True for sound that was played, and for the end of the model's turn."""
    return event["type"] == "playback.heard" or is_a("session.state", word="listening")(event)


def is_waiting(events: list[dict[str, Any]]) -> bool:
    """Return True while a person who was noticed has no answer, not even an empty one."""
    waiting = False
    for event in events:
        if is_a("session.state", word="hearing")(event):
            waiting = True
        elif event["type"] == "turn.completed" and event["data"]["outcome"] != "interrupted":
            waiting = False
    return waiting


def wait_for_answer(session: Conversation, asked: int) -> float | None:
    """Return the seconds until the question was understood; None if it was not.

    It was asked at the event with the number `asked`.
    """
    began = session.events[-1]["t"]
    is_understood = is_a("tool.called", name="get_time")

    def is_over(event: dict[str, Any]) -> bool:
        passed = event["t"] - began
        return passed > PATIENCE_S or (passed > ANSWERED_S and not is_waiting(session.events[asked:]))

    event = session.until(lambda event: is_understood(event) or is_over(event))
    return event["t"] - began if is_understood(event) else None


def hold(environment: dict[str, str], number: int, folder: Path, turns: str) -> tuple[int, float, float | None]:
    """Hold one session; return its self-interruptions and seconds of speech.

    The third are the seconds in which the person was understood, None where that failed.
    """
    set_echo(environment, LEVELS[number % len(LEVELS)])
    voice = VOICES[number % len(VOICES)]
    story = say("tell me a story", folder / f"story-{voice}.wav", voice)
    question = say("what time is it", folder / f"question-{voice}.wav", voice)
    session = Conversation(environment, "--turns", turns)
    try:
        session.until(is_a("session.state", word="listening"))
        session.plays(story)
        session.until(is_a("playback.started"))
        cuts, spoken = listen(session)
        asked = len(session.events)
        session.plays(question)
        waited = wait_for_answer(session, asked)
        if waited is not None:
            session.until(is_a("playback.started"))
            more, longer = listen(session)
            cuts, spoken = cuts + more, spoken + longer
        else:
            tell(session.events[asked:])
        session.ends()
    finally:
        session.kill()
    return cuts, spoken, waited


def heard_in(waited: float | None) -> str:
    """Return in words whether, and how soon, the person was understood."""
    if waited is None:
        return "the person was not heard"
    return f"the person was heard within {waited:.1f} s" + (", late" if waited > ANSWERED_S else "")


def listen(session: Conversation) -> tuple[int, float]:
    """Hear an answer; return its self-interruptions and seconds of speech."""
    began = len(session.events)
    spoken = 0.0
    while spoken < LISTENED_S:
        event = session.until(is_either)
        if event["type"] == "playback.heard":
            spoken += event["data"]["count"] / 24_000
        elif spoken > 0:
            break
    during = session.events[began:]
    cuts = sum(map(is_a("turn.interrupted"), during))
    if cuts:
        tell(during)
    return cuts, spoken


def tell(events: list[dict[str, Any]]) -> None:
    """Print what may have led to an interruption."""
    kinds = ("turn.interrupted", "voice.marked", "notice", "audio.echo", "transcript.delta", "audio.health")
    for event in events:
        if event["type"] in kinds and event["data"].get("side") != "model":
            print(f"    {event['t']:8.2f} {event['type']} {str(event['data'])[:160]}")


def main() -> int:
    """Hold the sessions; print a line for each."""
    parser = argparse.ArgumentParser(description="Count self-interruptions on a sound loop.")
    parser.add_argument("--count", type=int, default=30, help="number of sessions")
    parser.add_argument("--turns", default="auto", help="who detects turns: server, client or auto")
    arguments = parser.parse_args()
    count = arguments.count
    cuts, seconds, unheard, late = 0, 0.0, 0, 0
    with tempfile.TemporaryDirectory() as name, loop(Path(name)) as environment:
        for number in range(count):
            began = time.monotonic()
            own, spoken, waited = hold(environment, number, Path(name), arguments.turns)
            cuts, seconds, unheard = cuts + own, seconds + spoken, unheard + (waited is None)
            late += waited is not None and waited > ANSWERED_S
            print(
                f"session {number}: echo {LEVELS[number % 3]:+g} dB, {own} self-interruptions in {spoken:.0f} s, "
                f"{heard_in(waited)} ({time.monotonic() - began:.0f} s)",
                flush=True,
            )
    print(
        f"{count} sessions: {cuts} self-interruptions in {seconds:.0f} s of speech, {unheard} persons not heard, "
        f"{late} understood late"
    )
    return 1 if cuts or unheard or late else 0


if __name__ == "__main__":
    sys.exit(main())
