import asyncio
import shutil
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.local.parts import SPEECH_RATE, SpeechChunk
from gemini_live_runtime.local.speech import espeak as speech
from gemini_live_runtime.local.speech.espeak import (
    EspeakChild,
    EspeakProgram,
    EspeakSpeech,
    SpeechError,
    clauses,
    find_synthesiser,
    split_at_words,
)
from gemini_live_runtime.local.speech.voices import DEFAULT_VOICE, VOICES, EspeakVoice, voice_for


class Beep:
    """A synthesiser of 10 ms a character."""

    def __init__(self, rate: int = SPEECH_RATE) -> None:
        self.rate = rate
        self.asked: list[tuple[str, EspeakVoice]] = []

    def synthesise(self, text: str, voice: EspeakVoice) -> tuple[bytes, int]:
        self.asked.append((text, voice))
        return b"\x10\x00" * (self.rate // 100 * len(text)), self.rate

    def close(self) -> None:
        self.asked.append(("closed", voice_for("")))


async def collect(voice: EspeakSpeech, text: str) -> list[SpeechChunk]:
    return [spoken async for spoken in voice.speak(text, "Kore")]


def test_the_transcript_of_all_stretches_is_the_text() -> None:
    text = "Hello there, good friend. The weather is very fine today; shall we go out?"
    spoken = run_virtual(collect(EspeakSpeech(Beep()), text))
    assert "".join(item.text for item in spoken) == text


def test_speech_is_asked_for_clause_by_clause() -> None:
    beep = Beep()

    async def first_only() -> None:
        stream = EspeakSpeech(beep).speak("This is the first of two clauses. And this is the second one.", "")
        await anext(stream)
        await stream.aclose()

    run_virtual(first_only())
    assert [text for text, _ in beep.asked] == ["This is the first of two clauses."]


def test_speech_takes_no_virtual_time() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        await collect(EspeakSpeech(Beep()), "One, two, three.")
        return loop.time()

    assert run_virtual(main()) == 0.0


def test_other_rates_are_brought_to_24_khz() -> None:
    spoken = run_virtual(collect(EspeakSpeech(Beep(22_050)), "Hello world and all."))
    assert sum(len(item.pcm) for item in spoken) == pytest.approx(2 * SPEECH_RATE * 0.2, rel=0.01)


@given(st.text(min_size=1).filter(lambda text: text.split()), st.integers(0, 5_000))
def test_sharing_out_keeps_every_sample_and_word(clause: str, samples: int) -> None:
    pcm = bytes(range(256)) * (samples // 128 + 1)
    shared = split_at_words(clause, pcm[: samples * 2])
    assert b"".join(item.pcm for item in shared) == pcm[: samples * 2]
    assert "".join(item.text for item in shared).split() == clause.split()
    assert all(len(item.pcm) % 2 == 0 for item in shared)


@given(st.text(max_size=2_000))
def test_clauses_keep_the_words_and_are_short(text: str) -> None:
    found = clauses(text)
    assert all(0 < len(clause) <= 300 for clause in found)
    joined = "".join("".join(found).split())
    assert joined == "".join(speech.sanitise_line(text, speech.MAX_TEXT).split())


def test_the_second_half_of_an_endless_text_is_not_spoken() -> None:
    assert sum(map(len, clauses("word " * 10_000))) <= speech.MAX_TEXT


def test_double_brackets_are_not_read_as_phonemes() -> None:
    beep = Beep()
    run_virtual(collect(EspeakSpeech(beep), "Say [[h@'loU]] now"))
    assert "[[" not in beep.asked[0][0]


def test_every_gemini_voice_sounds_different() -> None:
    assert len(VOICES) == 30
    assert len(set(VOICES.values())) == 30


def test_voices_are_found_whatever_their_case_and_unknown_ones_become_the_default() -> None:
    assert voice_for("kore") == VOICES["Kore"]
    assert voice_for("Nobody") == voice_for("") == VOICES[DEFAULT_VOICE]


def test_without_program_and_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(speech.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[local\]"):
        find_synthesiser()


def test_without_the_program_the_library_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert isinstance(find_synthesiser(), EspeakChild)


def test_a_program_that_fails_is_a_sentence() -> None:
    with pytest.raises(SpeechError, match="espeak-ng failed"):
        EspeakProgram("/nowhere/espeak-ng").synthesise("Hello", voice_for(""))


def test_a_program_that_writes_no_wav_is_a_sentence() -> None:
    with pytest.raises(SpeechError, match="espeak-ng"):
        EspeakProgram(sys.executable).synthesise("print('hello')", voice_for(""))


@pytest.mark.parametrize("kind", ["program", "library"])
def test_real_speech_is_as_long_as_speech_and_not_silent(kind: str) -> None:
    program = shutil.which("espeak-ng")
    if kind == "program" and program is None:
        pytest.skip("espeak-ng is not installed")
    synthesiser = EspeakChild() if kind == "library" else EspeakProgram(str(program))

    async def main() -> list[SpeechChunk]:
        voice = EspeakSpeech(synthesiser)
        try:
            return await collect(voice, "What is the weather in Lisbon, and what in Rome?")
        finally:
            await voice.close()

    pcm = b"".join(item.pcm for item in run_virtual(main()))
    assert 1.5 < len(pcm) / 2 / SPEECH_RATE < 6.0
    assert max(pcm[1::2]) > 20


def test_the_library_never_enters_this_process() -> None:
    child = EspeakChild()
    child.synthesise("Hello", voice_for("Kore"))
    child.close()
    assert "espeakng_loader" not in sys.modules


def test_a_library_process_that_died_is_started_again() -> None:
    child = EspeakChild()
    child.synthesise("Hello", voice_for(""))
    assert child._process is not None
    child._process.kill()
    child._process.wait()
    assert child.synthesise("Hello", voice_for(""))[0]
    child.close()
