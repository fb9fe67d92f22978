"""Client-side turn taking: marks and audio in order, none lost, none twice."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.session.endpointing.activity import MAX_WAIT_S, PRE_ROLL_S, InputActivity
from gemini_live_runtime.session.endpointing.vad import InputVad
from gemini_live_runtime.session.link.mic_sound import MicSound

FRAME = 640
"""Bytes of 20 ms."""


class Wire:
    """Messages to the server: marks, and the audio between them as one piece."""

    def __init__(self, preset: Literal["immediate", "responsive", "conversational"] = "immediate") -> None:
        self.sent: list[str | bytes] = []
        self.heard = 0
        self.activity = InputActivity(
            preset,
            on_begin=lambda: self.sent.append("begins"),
            on_end=lambda: self.sent.append("ends"),
            vad=InputVad(detector=any, min_speech_frames=2, hangover_frames=3),
        )

    def hears(self, pcm: bytes, *, model_speaking: bool = False, near_end: bool = True) -> None:
        sound = MicSound.at(self.heard, pcm)
        self.heard = sound.end
        for piece in self.activity.filter(sound, model_speaking=model_speaking, near_end=near_end):
            before = self.sent.pop() if self.sent and isinstance(self.sent[-1], bytes) else b""
            self.sent.append(before + piece)  # type: ignore[operator]

    @property
    def marks(self) -> list[str]:
        return [item for item in self.sent if isinstance(item, str)]

    @property
    def audio(self) -> bytes:
        return b"".join(item for item in self.sent if isinstance(item, bytes))


def sound(pattern: str) -> bytes:
    """`#` is 20 ms of voice, `.` of silence; each frame is marked by its place."""
    return b"".join(bytes([at % 250 + 1]) * FRAME if sign == "#" else bytes(FRAME) for at, sign in enumerate(pattern))


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_nothing_is_sent_while_nobody_speaks(wire: Wire) -> None:
    wire.hears(sound("." * 100))
    assert wire.sent == []


def test_a_turn_begins_before_its_audio_and_ends_after_it(wire: Wire) -> None:
    wire.hears(sound("....#####.........."))
    assert [item if isinstance(item, str) else "audio" for item in wire.sent] == ["begins", "audio", "ends"]
    assert sound("....#####") in sound("....") + wire.audio


def test_an_utterance_in_one_piece_is_sent_whole() -> None:
    pieces, whole = Wire(), Wire()
    pcm = sound("." * 30 + "#" * 100 + "." * 60)
    whole.hears(pcm)
    for at in range(0, len(pcm), FRAME):
        pieces.hears(pcm[at : at + FRAME])
    assert whole.sent == pieces.sent
    assert whole.audio.count(b"\x1f" * FRAME) == 1
    assert len(whole.audio) >= 100 * FRAME


def test_what_was_sent_is_not_sent_again_with_the_next_turn(wire: Wire) -> None:
    pcm = sound("...####....####......")
    wire.hears(pcm)
    assert wire.marks == ["begins", "ends", "begins", "ends"]
    assert pcm.startswith(wire.audio)


def test_a_turn_begins_with_what_was_said_before_it_was_noticed(wire: Wire) -> None:
    wire.hears(sound("." * 200))
    wire.hears(b"\x07" * FRAME * 2)
    assert wire.sent[0] == "begins"
    assert len(wire.audio) == pytest.approx(PRE_ROLL_S * 32_000 + FRAME, abs=FRAME)
    assert wire.audio.endswith(b"\x07" * FRAME * 2)


def test_a_short_sound_over_the_model_is_no_turn() -> None:
    wire = Wire("conversational")
    wire.hears(sound("...###...................."), model_speaking=True)
    assert wire.sent == []


def test_an_interruption_begins_with_all_that_was_said_over_the_model() -> None:
    wire = Wire("conversational")
    speech = sound("#" * 200)
    wire.hears(speech, model_speaking=True)
    assert wire.marks == ["begins"]
    assert wire.audio == speech
    assert len(speech) / 32_000 > MAX_WAIT_S


def test_closing_the_microphone_ends_the_turn_and_forgets_what_was_kept(wire: Wire) -> None:
    wire.hears(sound("###"))
    wire.activity.finish()
    wire.activity.finish()
    assert wire.marks == ["begins", "ends"]
    wire.sent.clear()
    wire.hears(b"\x07" * FRAME * 3)
    assert wire.audio == b"\x07" * FRAME * 3


@given(st.text("#.", max_size=120), st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 5000))
def test_marks_alternate_and_audio_goes_out_at_most_once_and_in_order(
    pattern: str, speaking: list[bool], step: int
) -> None:
    wire = Wire("responsive")
    step *= 2
    pcm = sound(pattern)
    for count, at in enumerate(range(0, len(pcm), step)):
        wire.hears(pcm[at : at + step], model_speaking=speaking[count % len(speaking)])
    assert wire.marks == (["begins", "ends"] * len(pattern))[: len(wire.marks)]
    opened = False
    at = 0
    for item in wire.sent:
        if isinstance(item, str):
            opened = item == "begins"
            continue
        assert opened
        found = pcm.find(item, at)
        assert found >= 0
        at = found + len(item)


def test_what_the_canceller_takes_for_echo_begins_no_turn(wire: Wire) -> None:
    wire.hears(sound("#" * 60), model_speaking=True, near_end=False)
    wire.hears(sound("#" * 10), near_end=False)
    assert wire.sent == []
    wire.hears(sound("#" * 10), model_speaking=True)
    assert wire.marks == ["begins"]


def test_a_burst_over_the_model_is_no_turn_though_its_hang_over_lasts_long_enough() -> None:
    wire = Wire("responsive")
    wire.hears(sound("." * 10 + "#" * 8 + "." * 20), model_speaking=True)
    assert wire.sent == []
    wire.hears(sound("#" * 8 + ".."), model_speaking=True)
    wire.hears(sound(".."))  # The model falls silent in the hang-over.
    assert wire.sent == []
    wire.hears(sound("." * 20 + "#" * 11), model_speaking=True)
    assert wire.marks == ["begins"]


def test_the_last_of_the_models_words_in_the_room_begins_no_turn(wire: Wire) -> None:
    wire.hears(sound("." * 20), model_speaking=True)
    wire.hears(sound("..###...."))
    assert wire.sent == []
    wire.hears(sound("." * 20 + "##"))
    assert wire.marks == ["begins"]
