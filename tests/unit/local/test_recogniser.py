"""Test the recogniser on synthetic speech: accepted and rejected phrases."""

from __future__ import annotations

import asyncio
import importlib.util

import numpy as np
import pytest
from tests.support.synthetic_speech import have_voices, say

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.parts import RECOGNISER_RATE, Recognition
from gemini_live_runtime.local.recognition import recogniser
from gemini_live_runtime.local.recognition.recogniser import PocketsphinxRecogniser, prepare, shared_engine
from gemini_live_runtime.local.scripts.script import bundled_script

pytestmark = [
    pytest.mark.skipif(not have_voices(), reason="espeak-ng and flite are not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)"
    ),
]


def dialogue() -> ScriptedDialogue:
    return ScriptedDialogue(bundled_script("concierge"))


def recognise(pcm: bytes, talk: ScriptedDialogue | None = None) -> Recognition:
    return run_virtual(PocketsphinxRecogniser(talk or dialogue()).recognise(pcm))


def test_words_that_no_dictionary_has_are_recognised() -> None:
    talk = ScriptedDialogue(bundled_script("neutral"))
    talk.declare({"frobnicate_widget": {}})
    assert recognise(say("flite:slt", "frobnicate widget"), talk).text == "frobnicate widget"


def test_a_city_that_the_script_lacks_is_asked_about_in_place_of_the_nearest() -> None:
    talk = dialogue()
    talk.declare({"get_weather": {}})
    heard = recognise(say("flite:slt", "what is the weather in Naples"), talk)
    assert (heard.text, heard.is_doubtful) == ("what is the weather in Naples", True)


def test_a_city_of_the_script_is_heard_without_a_doubt() -> None:
    talk = dialogue()
    talk.declare({"get_weather": {}})
    heard = recognise(say("flite:slt", "what is the weather in Lisbon"), talk)
    assert (heard.text, heard.is_doubtful) == ("what is the weather in lisbon", False)


def test_an_answer_is_heard_only_while_its_question_is_open() -> None:
    talk = dialogue()
    talk.declare({"book_table": {}})
    answer = say("flite:slt", "for four people")
    assert recognise(answer, talk).text == ""
    talk.respond("book a table", typed=False)
    assert recognise(answer, talk).text == "for four people"


def test_the_same_sound_gives_the_same_result_whatever_came_before() -> None:
    pcm = say("espeak:en-us", "what time is it")
    first = recognise(pcm)
    recognise(say("flite:slt", "goodbye"))
    assert recognise(pcm) == first


@pytest.mark.parametrize(
    "pcm",
    [b"", b"\x00", bytes(32_000), bytes(100), b"\x00\x10" * RECOGNISER_RATE * 16],
    ids=["nothing", "half a sample", "digital silence", "a click", "above the longest"],
)
def test_what_cannot_be_a_phrase_is_refused_without_decoding(pcm: bytes) -> None:
    assert prepare(pcm) == b""
    assert recognise(pcm) == Recognition("", 0.0)


def test_noise_is_refused() -> None:
    noise = np.random.default_rng(1).normal(0, 2_000, RECOGNISER_RATE).astype("<i2").tobytes()
    assert recognise(noise).text == ""


def test_quiet_speech_is_brought_to_the_same_level() -> None:
    loud = np.frombuffer(say("flite:slt", "what time is it"), "<i2")
    assert recognise((loud // 50).astype("<i2").tobytes()).text == "what time is it"


def test_recognising_takes_no_virtual_time() -> None:
    async def main() -> float:
        await PocketsphinxRecogniser(dialogue()).recognise(say("flite:slt", "goodbye"))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 0.0


def test_compiled_grammars_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recogniser, "MAX_GRAMMARS", 2)
    talk = dialogue()
    for letter in "abc":
        talk.declare({f"tool_{letter}": {}})
        recognise(say("flite:slt", "goodbye"), talk)
    assert len(shared_engine()._compiled) <= 2


def test_without_pocketsphinx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(recogniser.importlib.util, "find_spec", lambda n: None if n == "pocketsphinx" else find(n))
    with pytest.raises(MissingExtraError, match=r"\[local\]"):
        PocketsphinxRecogniser(dialogue())
