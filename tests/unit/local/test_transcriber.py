"""Moonshine on synthetic speech, and where it is missing."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.support.synthetic_speech import have_voices, say

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.local.default_parts import DefaultParts
from gemini_live_runtime.local.language.words import split_words
from gemini_live_runtime.local.parts import RECOGNISER_RATE, Recognition
from gemini_live_runtime.local.recognition import transcriber
from gemini_live_runtime.local.recognition.dialogue_recogniser import DialogueRecogniser
from gemini_live_runtime.local.recognition.recogniser import Opinion, PocketsphinxRecogniser
from gemini_live_runtime.local.recognition.transcriber import Transcriber, shared_transcriber

installed = pytest.mark.skipif(shared_transcriber() is None, reason="Moonshine is not installed (extra: local)")
speaks = pytest.mark.skipif(not have_voices(), reason="espeak-ng and flite are not installed")


def transcribe(pcm: bytes) -> list[str]:
    shared = shared_transcriber()
    assert shared is not None
    return split_words(run_virtual(shared.transcribe(pcm)))


class Phrases:
    """Recogniser of phrases that is sure of one phrase in any sound."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def listen(self, pcm: bytes) -> Opinion:
        return Opinion(Recognition(self._text, 0.9), True, (self._text,))

    async def close(self) -> None:
        pass


@installed
@speaks
@pytest.mark.parametrize("voice", ["flite:slt", "espeak:en-us"])
def test_words_that_no_dialogue_has_are_written_down(voice: str) -> None:
    assert transcribe(say(voice, "I would kill for a coffee")) == ["i", "would", "kill", "for", "a", "coffee"]


@installed
@speaks
def test_quiet_speech_is_brought_to_the_same_level() -> None:
    loud = np.frombuffer(say("flite:slt", "what time is it"), "<i2")
    assert transcribe((loud // 50).astype("<i2").tobytes()) == ["what", "time", "is", "it"]


@installed
@pytest.mark.parametrize(
    "pcm",
    [b"", b"\x00", bytes(32_000), bytes(100), b"\x00\x10" * RECOGNISER_RATE * 16],
    ids=["nothing", "half a sample", "digital silence", "a click", "above the longest"],
)
def test_what_cannot_be_speech_has_no_words(pcm: bytes) -> None:
    assert transcribe(pcm) == []


@installed
@speaks
def test_transcribing_takes_no_virtual_time() -> None:
    async def main() -> float:
        shared = shared_transcriber()
        assert shared is not None
        await shared.transcribe(say("flite:slt", "goodbye"))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 0.0


@installed
@speaks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_makes_a_transcriber_of_its_own() -> None:
    transcribe(say("flite:slt", "goodbye"))
    before = shared_transcriber()
    child = os.fork()
    if child == 0:
        os._exit(0 if shared_transcriber() is not before else 1)
    assert os.waitpid(child, 0)[1] == 0


SOUND = np.random.default_rng(1).normal(0, 2_000, RECOGNISER_RATE).astype("<i2").tobytes()
WHY = "The embedded model hears less: Moonshine cannot be loaded (libmoonshine.so: wrong ELF class)"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transcriber:
    tries = iter([OSError("libmoonshine.so: wrong ELF class")])

    def fail(folder: Path) -> None:
        raise next(tries)

    monkeypatch.setattr(transcriber, "_load_model", fail)
    return Transcriber(tmp_path)


def test_a_model_that_cannot_be_loaded_is_tried_once_and_says_why_each_time(broken: Transcriber) -> None:
    for _ in range(2):
        with pytest.raises(MissingExtraError, match=re.escape(WHY)):
            run_virtual(broken.transcribe(SOUND))


def test_without_a_loaded_model_the_phrases_go_on_and_the_log_says_so_once(
    broken: Transcriber, caplog: pytest.LogCaptureFixture
) -> None:
    ear = DialogueRecogniser(DefaultParts().dialogue(""), broken, Phrases("goodbye"))
    assert [run_virtual(ear.recognise(SOUND)).text for _ in range(2)] == ["goodbye", "goodbye"]
    assert [record.getMessage().partition(". ")[0] for record in caplog.records] == [WHY]


def test_without_any_loaded_model_the_recogniser_says_why(broken: Transcriber) -> None:
    ear = DialogueRecogniser(DefaultParts().dialogue(""), broken, None)
    with pytest.raises(MissingExtraError, match="wrong ELF class"):
        run_virtual(ear.recognise(SOUND))


def test_doctor_is_told_about_a_model_that_cannot_be_loaded(
    broken: Transcriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcriber, "shared_transcriber", lambda: broken)
    parts = DefaultParts()
    assert parts.recogniser_or_reason() is True
    assert WHY in str(parts.recogniser_or_reason(is_tried=True))


def test_without_moonshine_the_phrases_are_recognised_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcriber, "_folder", lambda: None)
    parts = DefaultParts()
    assert isinstance(parts.recogniser(parts.dialogue(""), ()), PocketsphinxRecogniser)
