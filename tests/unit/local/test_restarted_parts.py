"""Make a recogniser or a voice that fails anew, and give up what always fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

import pytest
from live_support import TestParts, Tone, hiss, session, virtual, voice

from gemini_live_runtime.local.parts import Dialogue, Recogniser, Recognition, SpeechChunk
from gemini_live_runtime.restarts import MAX_RESTARTS


class Failing(TestParts):
    """Parts of which the first ones fail."""

    def __init__(self, *heard: str, faults: int) -> None:
        super().__init__(*heard)
        self.faults = faults
        self.made = 0

    def stumble(self) -> None:
        """Fail as long as faults are left."""
        if self.faults:
            self.faults -= 1
            raise RuntimeError("boom")


class FailingEar(Failing):
    """Parts whose recogniser fails."""

    def recogniser(self, dialogue: Dialogue, tools: Collection[str]) -> Recogniser:
        """Return one that may fail."""
        self.made += 1
        parts, ear = self, self.ear

        class FailingRecogniser:
            async def recognise(self, pcm: bytes) -> Recognition:
                parts.stumble()
                return await ear.recognise(pcm)

            async def close(self) -> None:
                pass

        return FailingRecogniser()


class FailingVoice(Failing):
    """Parts whose voice fails."""

    def speech(self) -> Tone:
        """Return one that may fail."""
        self.made += 1
        parts = self

        class FailingTone(Tone):
            async def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
                parts.stumble()
                async for chunk in super().speak(text, voice):
                    yield chunk

        return FailingTone()


@virtual
async def test_what_a_recogniser_failed_at_once_is_recognised_by_another() -> None:
    parts = FailingEar("hello", faults=1)
    async with session(parts) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        assert "hello" in (await client.turn()).output
    assert parts.made == 2


@virtual
async def test_an_utterance_that_no_recogniser_takes_costs_no_other() -> None:
    parts = FailingEar("hello", faults=2)
    async with session(parts) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        await client.turn()
        await client.audio(voice(1) + hiss(1))
        assert "hello" in (await client.turn()).output


@virtual
async def test_a_recogniser_that_always_fails_is_given_up_and_the_user_is_told() -> None:
    parts = FailingEar(faults=1000)
    answers = []
    async with session(parts) as client:
        for _ in range(4):
            await client.audio(hiss(0.5) + voice(1) + hiss(1))
            answers.append((await client.turn()).output)
    assert [("no speech recogniser" in answer and "boom" in answer) for answer in answers] == [
        False,
        False,
        True,
        False,
    ]
    assert 1000 - parts.faults == MAX_RESTARTS + 1


@pytest.mark.parametrize("faults", [1, MAX_RESTARTS])
@virtual
async def test_a_voice_that_fails_is_made_anew_and_speaks(faults: int) -> None:
    parts = FailingVoice(faults=faults)
    async with session(parts) as client:
        await client.text("one two")
        answer = await client.turn()
    assert answer.output == "You typed one two."
    assert answer.pcm
    assert parts.made == faults + 1


@virtual
async def test_a_voice_that_always_fails_is_given_up_and_answers_come_as_text() -> None:
    async with session(FailingVoice(faults=1000), outputAudioTranscription=None) as client:
        await client.text("one two")
        answer = await client.turn()
    assert "no voice" in answer.output
    assert answer.output.endswith("You typed one two.")
    assert answer.pcm == b""
