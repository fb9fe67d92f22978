"""Random talks about consent, in which words come late and the model speaks.

The script knows when the user began each utterance, and what only the loudspeaker said; the session sees marks, words
and playback.
"""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import dataclass, field

import pytest
from tests.session.harness.spoken_consent_support import ORDERED, QUESTION, Conversation, Room, conversation
from tests.simulation.reference_consent import NO, YES, SpokenConsent
from tests.simulation.timeline import Timeline
from tests.unit.session.session_support import Sink

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.wire.audio_frame import encode_model_audio

STEPS = 30
PER_TEST = 25
PARTS = 6 if os.environ.get("SOAK") else 3
OTHER = ("what", "yes but later", "hm", "to the harbor")
LATE_S = 2.9
"""Seconds after a voice in which its words come, or never."""
MARKS_S = (0.05, 0.15, 0.24)
"""Seconds that the local detector needs."""


class Record(Sink):
    """Events with the time of the loop, in a timeline."""

    def __init__(self) -> None:
        super().__init__()
        self.timeline = Timeline()

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        super().emit(payload, turn=turn, gen=gen)
        event = ev.Event(len(self.events), asyncio.get_running_loop().time(), turn, gen, payload)
        self.events[-1] = event
        self.timeline.event(event.to_json())
        return event


@dataclass(slots=True)
class Script:
    """The user, the model and the room of one talk."""

    t: Conversation
    chance: random.Random
    timeline: Timeline
    words: list[str]
    """Answers that the user has not given yet, each once: so it is known which one counted."""
    speaking: str = ""
    waiting: list[tuple[float, str]] = field(default_factory=list)
    """Words of the user that have not come, in order, with the end of their voice."""
    playing: bool = False

    async def order(self) -> None:
        await self.t.asks(self.chance.choice(("the harbor", "the harbor", "x" * 100)))

    async def model(self) -> None:
        if self.playing:
            return
        text = self.chance.choice(
            (QUESTION, QUESTION, QUESTION, f"Sure. {QUESTION}", f"{QUESTION} Yes.", "Yes.", "All right.")
        )
        seconds = self.chance.choice((0.5, 2.0))
        await self.t.server.sends(encode_model_audio(bytes(round(seconds * 48_000))))
        late = self.chance.random() < 0.3
        if not late:
            await self.t.says(text)
        self.playing = True
        await self.t.server.says(serverContent={"generationComplete": True})
        await self.pass_on(seconds * self.chance.choice((0.3, 1.0)))
        if late:
            await self.t.says(text)
        if self.chance.random() < 0.7:
            await self.play()
        await self.t.server.says(serverContent={"turnComplete": True})
        await self.t.rests()

    async def leak(self) -> None:
        """Let the microphone hear the loudspeaker, and the server take it for the user."""
        if self.playing and not self.speaking:
            self.t.room.voice(True)
            await self.play()
            await self.t.passes(self.chance.choice((0.0, 0.3)))
            self.t.room.voice(False)
            self.waiting.append((self.t.now, self.chance.choice(("yes", "to the harbor"))))

    async def play(self) -> None:
        self.t.room.consume(10.0)
        self.playing = False
        await self.t.rests()

    async def pass_on(self, seconds: float) -> None:
        """Let time pass, in which the loudspeaker plays."""
        await self.t.passes(seconds)
        self.t.room.consume(seconds)
        await self.t.rests()

    async def begin(self) -> None:
        if self.speaking:
            return
        self.speaking = self.words.pop() if self.words and self.chance.random() < 0.8 else self.chance.choice(OTHER)
        self.timeline.note("spoke", t=self.t.now, words=self.speaking)
        await self.t.passes(self.chance.choice(MARKS_S))
        self.t.room.voice(True)
        if self.chance.random() < 0.3:
            await self.t.passes(0.1)
            await self.t.voice(True)
            await self.end()
            await self.t.voice(False)

    async def end(self) -> None:
        if self.speaking:
            await self.pass_on(self.chance.choice((0.2, 0.6)))
            self.t.room.voice(False)
            self.waiting.append((self.t.now, self.speaking))
            self.speaking = ""

    async def transcribe(self) -> None:
        self.waiting = [said for said in self.waiting if self.t.now - said[0] < LATE_S]
        if self.waiting:
            await self.t.hears(self.waiting.pop(0)[1])

    async def noise(self) -> None:
        if not self.speaking:
            self.t.room.voice(True)
            await self.t.passes(0.3)
            self.t.room.voice(False)

    async def wait(self) -> None:
        await self.pass_on(self.chance.choice((0.1, 0.5, 1.2, 2.5)))

    async def type_yes(self) -> None:
        await self.t.types("yes")

    async def switch(self) -> None:
        await self.t.commands(
            self.chance.choice((cmd.SetMicrophone(on=True), cmd.SetSpeaker(on=False), cmd.SetSpeaker(on=True)))
        )

    async def press(self) -> None:
        asked = self.t.all(ev.ConsentAsked)
        if asked:
            await self.t.commands(cmd.GiveConsent(id=asked[-1].id, yes=self.chance.random() < 0.5))

    async def proper(self) -> None:
        """Ask and answer as it should be, now and then with something in between."""
        asks = self.t.server.sends(encode_model_audio(bytes(48_000)))
        for step in (self.play, self.order, self.t.settles, asks, self.t.says(QUESTION), self.t.ends):
            await (step() if callable(step) else step)
        self.playing = True
        for step in (self.play, self.wait, self.begin, self.end, self.transcribe, self.t.settles):
            if self.chance.random() < 0.1:
                await self.chance.choice((self.model, self.leak, self.noise, self.transcribe, self.wait))()
            if self.chance.random() < 0.95:
                await step()

    async def run(self) -> None:
        steps = (
            *(self.order, self.model, self.model, self.leak, self.play, self.begin, self.begin, self.end, self.end),
            *(self.transcribe, self.transcribe, self.noise, self.wait, self.wait, self.wait, self.proper, self.proper),
            *(self.proper, self.type_yes, self.switch, self.press),
        )
        await self.proper()
        for _ in range(STEPS):
            await self.chance.choice(steps)()
            assert len(ORDERED) == sum(one.yes for one in self.t.all(ev.ConsentGiven))


async def held(seed: int) -> SpokenConsent:
    """Hold the talk of a seed; return its judge."""
    chance, record = random.Random(seed), Record()
    words = [*YES, *NO]
    chance.shuffle(words)
    room = chance.choice((Room(), Room("linear filter + WebRTC AEC3", "proven")))
    async with conversation(room, sink=record) as t:
        await Script(t, chance, record.timeline, words).run()
    judge = SpokenConsent()
    for entry in record.timeline.entries:
        if entry.kind == "event":
            judge.event(entry.data)
        else:
            judge.entry(entry.kind, entry.data)
    return judge


@pytest.mark.parametrize("part", range(PARTS))
async def test_whatever_is_said_when_only_an_answer_to_the_question_counts(part: int) -> None:
    answers = 0
    for seed in range(part * PER_TEST, (part + 1) * PER_TEST):
        ORDERED.clear()
        try:
            answers += (await held(seed)).answers
        except AssertionError as broken:
            raise AssertionError(f"seed {seed}: {broken}") from broken
    assert answers > 5, f"only {answers} answers counted"
