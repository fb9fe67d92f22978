"""Random talks in which input arrives late, with consent before and after.

Consent counts only when it was begun after the newest presentation. The script knows when the user began each
utterance; the session sees marks, words and texts as they arrive.
"""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import dataclass, field

import pytest
from tests.session.harness.test_consent_in_a_session import ordering
from tests.session.talking import Talk, talk

STEPS = 24
SEEDS = 60 if os.environ.get("SOAK") else 20
LATE_S = 2.0
"""Seconds between two voices of which the first may still wait for its words."""


@dataclass(slots=True)
class Utterance:
    """Utterance of the user, begun after so many presentations."""

    words: str
    presentations: int


@dataclass(slots=True)
class Script:
    """The user and the server of one talk."""

    t: Talk
    chance: random.Random
    presentations: int = 0
    speaking: bool = False
    connected: bool = True
    answered: bool = False
    """True when the model has completed a turn since the last voice."""
    since_voice_s: float = 99.0
    waiting: list[Utterance] = field(default_factory=list)
    """Spoken utterances whose words have not come, in order."""
    may_agree: bool = False
    """True when an utterance has arrived that is consent to the newest presentation."""

    def _utterance(self) -> Utterance:
        return Utterance(self.chance.choice(("yes", "hm", "")), self.presentations)

    def _arrives(self, said: Utterance) -> None:
        self.may_agree |= said.words == "yes" and 0 < said.presentations == self.presentations

    async def begin_voice(self) -> None:
        late = any(said.words for said in self.waiting) and (self.answered or self.since_voice_s > LATE_S)
        if self.connected and not self.speaking and not late:
            await self.t.voice(True)
            self.waiting = [said for said in self.waiting if said.words] + [self._utterance()]
            self.speaking, self.answered, self.since_voice_s = True, False, 0.0

    async def end_voice(self) -> None:
        if self.connected and self.speaking:
            await self.t.voice(False)
            self.speaking, self.since_voice_s = False, 0.0

    async def transcribe(self) -> None:
        if self.connected and self.waiting:
            said = self.waiting.pop(0)
            self._arrives(said)
            if said.words:
                await self.t.hears(said.words)

    async def answer(self) -> None:
        if self.connected and not self.speaking:
            await self.t.says("so")
            await self.t.ends()
            self.answered = True

    async def interrupt(self) -> None:
        if self.connected:
            await self.t.says("so")
            await self.t.server.says(serverContent={"interrupted": True})
            await self.t.rests()

    async def type_text(self) -> None:
        said = self._utterance()
        await self.t.types(said.words or "hm")
        self._arrives(said)

    async def present(self) -> None:
        if self.presentations:
            # Leaving the phase forgets consent to the old price.
            await self.t.writes(more=True)
            self.may_agree = False
        await self.t.writes(more=False)
        await self.t.writes(done=True)
        self.presentations += 1

    async def drop(self) -> None:
        if self.connected:
            await self.t.server.closes(1011, "bye")
            await self.t.rests()
            self.connected = self.speaking = False
            self.waiting.clear()

    async def connect(self) -> None:
        if not self.connected:
            await asyncio.wait_for(self.t.connects_again(), 60)
            self.connected = True

    async def wait(self) -> None:
        seconds = self.chance.choice((0.2, 1.0, 4.0))
        self.since_voice_s += seconds
        await self.t.passes(seconds)

    async def run(self) -> None:
        """Take random steps, present the price once or twice, and agree at the end."""
        steps = (
            self.begin_voice, self.begin_voice, self.end_voice, self.transcribe, self.transcribe, self.answer,
            self.answer, self.interrupt, self.type_text, self.drop, self.connect, self.connect, self.wait,
        )  # fmt: skip
        from_steps = (self.chance.randrange(STEPS), self.chance.randrange(STEPS))
        for number in range(STEPS):
            from_step = (*from_steps, STEPS)[self.presentations]
            is_due = number >= from_step and bool(self.waiting or number == STEPS - 1)
            await (self.present() if is_due else self.chance.choice(steps)())
            assert self.may_agree or "app:agreed" not in self.t.state, f"agreed too early, at step {number}"
        await self.connect()
        await self.end_voice()
        await self.answer()
        await self.t.passes(9)
        await self.t.voice(True)
        await self.t.hears("yes")
        await self.t.voice(False)
        await self.answer()
        assert self.t.state.get("app:agreed") is True, "consent is lost"


@pytest.mark.parametrize("window", [1, 3])
async def test_however_late_input_arrives_consent_counts_as_of_its_beginning(window: int) -> None:
    for seed in range(SEEDS):
        async with talk(ordering(window, 0)) as t:
            try:
                await Script(t, random.Random(seed)).run()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from None
