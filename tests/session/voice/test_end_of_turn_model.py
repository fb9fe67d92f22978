"""Sessions in which a model tells a pause from the end of the user's turn."""

from __future__ import annotations

import math
import threading
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.session.talking import Talk, agent, talk
from tests.session.voice.test_client_turn_taking_in_a_session import SPOKEN, kinds

from gemini_live_runtime import Agent, EndOfTurnModel, Live, SmartTurn
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.installation import install_command

SAID = ["activityStart", "audio", "activityEnd"]


class Says:
    """Model that answers with the given probabilities, the last one again and again."""

    def __init__(self, *probabilities: object) -> None:
        self.probabilities = list(probabilities)
        self.heard: list[bytes] = []
        self.threads: set[int] = set()

    def predict(self, pcm: bytes) -> float:
        self.heard.append(pcm)
        self.threads.add(threading.get_ident())
        value = self.probabilities[0] if len(self.probabilities) == 1 else self.probabilities.pop(0)
        if isinstance(value, Exception):
            raise value
        return value  # type: ignore[return-value]


class Unreadable:
    """Object without a representation."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def with_pause(path: Path, pause_s: float) -> Callable[[], FileAudio]:
    """Return a microphone in which something is said twice, with a pause between."""
    with wave.open(str(SPOKEN)) as file:
        parameters, pcm = file.getparams(), file.readframes(file.getnframes())
    with wave.open(str(path), "wb") as file:
        file.setparams(parameters)
        file.writeframes(pcm + bytes(int(pause_s * parameters.framerate) * 2) + pcm)
    return lambda: FileAudio(path, None)


def listening(model: EndOfTurnModel, min_delay_s: float = 0.3, max_delay_s: float = 2.5) -> Live:
    """Return an agent that asks `model` about pauses."""
    return agent().endpointing(min_delay_s=min_delay_s, max_delay_s=max_delay_s, model=model)


def decisions(t: Talk) -> list[str]:
    return [told.decision for told in t.all(ev.EndOfTurnPredicted)]


async def test_a_pause_in_which_more_is_expected_does_not_end_the_turn(tmp_path: Path) -> None:
    model = Says(0.1, 0.9)
    async with talk(listening(model), audio=with_pause(tmp_path / "mic.wav", 0.8)) as t:
        (told,) = t.all(ev.TurnsChanged)
        assert (told.detection, told.min_delay_s, told.max_delay_s) == ("client", 0.3, 2.5)
        await t.passes(12)
        assert kinds(t) == SAID
        assert decisions(t) == ["continues", "ended"]
        assert len(model.heard[1]) > len(model.heard[0]) > 16_000
        assert threading.get_ident() not in model.threads


async def test_a_probability_may_be_a_number_of_another_library(tmp_path: Path) -> None:
    model = Says(np.float32(0.1), np.array(0.9))
    async with talk(listening(model), audio=with_pause(tmp_path / "mic.wav", 0.8)) as t:
        await t.passes(12)
        assert decisions(t) == ["continues", "ended"]


async def test_without_a_model_the_same_pause_ends_the_turn(tmp_path: Path) -> None:
    of = agent().endpointing(min_delay_s=0.3)
    async with talk(of, audio=with_pause(tmp_path / "mic.wav", 0.8)) as t:
        await t.passes(12)
        assert kinds(t) == SAID + SAID
        assert decisions(t) == []


async def test_the_longer_delay_ends_a_turn_of_which_more_was_expected_in_vain() -> None:
    lengths = {}
    for probability in (0.1, 0.9):
        async with talk(listening(Says(probability)), audio=lambda: FileAudio(SPOKEN, None)) as t:
            await t.passes(10)
            assert kinds(t) == SAID
        lengths[probability] = len(t.sent("audio"))
    # 2.2 s are 110 chunks of 20 ms.
    assert 105 <= lengths[0.1] - lengths[0.9] <= 115


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ValueError("no weights"), "ValueError: no weights"),
        (1.5, "predict returned 1.5, not a probability"),
        (None, "predict returned None"),
        (math.nan, "predict returned nan"),
        (Unreadable(), "RuntimeError: no text"),
    ],
    ids=["raises", "too high", "nothing", "not a number", "unreadable"],
)
async def test_a_model_that_fails_leaves_the_turn_to_the_plain_rule(answer: object, words: str) -> None:
    async with talk(listening(Says(answer)), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(8)
        assert kinds(t) == SAID
        assert decisions(t) == ["failed"]
        (failed,) = t.failures()
        assert (failed.where, words in failed.error) == ("end-of-turn model", True)


async def test_a_model_that_hangs_holds_neither_the_turn_nor_the_next(tmp_path: Path) -> None:
    goes_on = threading.Event()

    class Hangs:
        def predict(self, pcm: bytes) -> float:
            goes_on.wait()
            return 0.1

    try:
        async with talk(listening(Hangs()), audio=with_pause(tmp_path / "mic.wav", 0.8)) as t:
            await t.passes(12)
            assert kinds(t) == SAID + SAID
            assert decisions(t) == ["late"]
    finally:
        goes_on.set()


async def test_the_delays_of_a_model_can_change_in_the_call(tmp_path: Path) -> None:
    async with talk(listening(Says(0.1)), audio=with_pause(tmp_path / "mic.wav", 0.8)) as t:
        await t.handle.update_options(max_endpointing_delay=0.4)
        assert t.all(ev.TurnsChanged)[-1].max_delay_s == 0.4
        await t.passes(12)
        assert kinds(t) == SAID + SAID


def test_delays_and_models_that_cannot_be_used_are_refused_when_the_plan_is_made() -> None:
    for of, words in (
        (agent().endpointing(min_delay_s=-1), "min_endpointing_delay cannot be -1. Use seconds from 0 to 60"),
        (agent().endpointing(min_delay_s=3, max_delay_s=1), "min_endpointing_delay 3 is above max_endpointing_delay 1"),
        (agent().endpointing(model=object()), "cannot be used as end-of-turn model: it has no predict"),  # type: ignore[arg-type]
        (agent().endpointing(model=SmartTurn), "is a class and cannot be used as end-of-turn model"),  # type: ignore[arg-type]
    ):
        with pytest.raises(AgentError) as caught:
            of.plan()
        assert words in str(caught.value)
    (ignored,) = agent().endpointing(max_delay_s=2).ignored_settings()
    assert ignored == "endpointing's max_delay_s has no effect: there is no model that could expect more"
    (ignored,) = agent().turn_taking("server").endpointing(model=Says(1)).ignored_settings()
    assert ignored == "endpointing's model has no effect: with server our detector does not decide"
    of_class = Agent(name="test", instructions="Be brief.", min_endpointing_delay=0.2, end_of_turn_model=Says(1))
    assert of_class.plan().turn_options.min_delay_s == 0.2


def test_the_bundled_model_says_how_to_install_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.session.endpointing.smart_turn.find_spec", lambda name: None)
    with pytest.raises(AgentError, match="needs onnxruntime") as caught:
        SmartTurn()
    assert install_command("turns") in str(caught.value)
