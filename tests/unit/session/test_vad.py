"""Voice activity: edges in audio time, for chunks of any size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.endpointing.vad import InputVad, VadEdge

FRAME = 640
"""Bytes of 20 ms."""


def loud(frame: bytes) -> bool:
    return any(frame)


def vad(**options: int) -> InputVad:
    return InputVad(detector=loud, **{"min_speech_frames": 2, "hangover_frames": 3, "pre_speech_frames": 2} | options)


@pytest.fixture
def detector() -> InputVad:
    return vad()


def frames(pattern: str) -> bytes:
    """`#` is 20 ms of voice, `.` of silence; each frame is marked by its place."""
    return b"".join(bytes([at % 250 + 1]) * FRAME if sign == "#" else bytes(FRAME) for at, sign in enumerate(pattern))


def test_speech_starts_when_enough_frames_are_voiced(detector: InputVad) -> None:
    assert detector.add(frames("#")) == []
    assert detector.snapshot().state == "pending_speech"
    assert not detector.speaking
    assert detector.add(frames("#")) == [VadEdge("start", 0.04, 0.0)]
    assert detector.speaking


def test_a_frame_may_come_in_parts(detector: InputVad) -> None:
    pcm = frames("##")
    assert detector.add(pcm[:200]) == []
    assert [edge.kind for edge in detector.add(pcm[200:])] == ["start"]


def test_silence_makes_no_edge(detector: InputVad) -> None:
    assert detector.add(frames("." * 10)) == []
    assert detector.snapshot().last_transition_s is None


def test_a_click_is_not_speech(detector: InputVad) -> None:
    assert detector.add(frames("..#.#..")) == []
    assert detector.snapshot().state == "silence"


def test_speech_ends_after_the_hang_over_and_says_when_the_voice_ended() -> None:
    assert vad().add(frames("..###...")) == [VadEdge("start", 0.08, 0.04), VadEdge("end", 0.16, 0.1)]


def test_voice_in_the_hang_over_goes_on_without_an_edge(detector: InputVad) -> None:
    edges = detector.add(frames("##..#.."))
    assert [edge.kind for edge in edges] == ["start"]
    assert detector.snapshot().state == "hangover"
    assert detector.speaking
    assert detector.add(frames(".")) == [VadEdge("end", 0.16, 0.1)]


def test_one_frame_can_be_enough_on_both_sides() -> None:
    edges = vad(min_speech_frames=1, hangover_frames=1).add(frames("#.#."))
    assert [edge.kind for edge in edges] == ["start", "end", "start", "end"]


@given(st.text("#.", max_size=40), st.lists(st.integers(0, 1500), max_size=60))
def test_chunking_never_changes_the_edges(pattern: str, cuts: list[int]) -> None:
    pcm = frames(pattern)
    chunked, at, found = vad(), 0, []
    for length in cuts:
        found += chunked.add(pcm[at : at + length])
        at += length
    found += chunked.add(pcm[at:])
    whole = vad()
    assert found == whole.add(pcm)
    assert [edge.kind for edge in found] == ["start", "end"] * (len(found) // 2) + ["start"] * (len(found) % 2)
    assert chunked.snapshot() == whole.snapshot()
    assert chunked.take_pre_speech() == whole.take_pre_speech()


def test_over_the_model_speech_needs_more_voice_but_not_in_one_piece(detector: InputVad) -> None:
    assert detector.add(frames("###..."), over_model=True) == []
    assert detector.add(frames(".#.###"), over_model=True) == [VadEdge("start", 0.24, 0.14)]
    assert len(detector.take_pre_speech()) == (2 + 5) * FRAME


def test_what_is_taken_for_echo_is_no_voice_and_ends_speech(detector: InputVad) -> None:
    assert detector.add(frames("####"), near_end=False) == []
    assert [edge.kind for edge in detector.add(frames("##"))] == ["start"]
    assert detector.voiced
    assert detector.add(frames("##"), near_end=False) == []
    assert not detector.voiced
    assert [edge.kind for edge in detector.add(frames("#"), near_end=False)] == ["end"]


def test_the_audio_before_a_start_is_kept_in_order(detector: InputVad) -> None:
    pcm = frames("......##")
    marked = bytearray(pcm)
    for at in range(6):
        marked[at * FRAME : (at + 1) * FRAME] = bytes(FRAME)
    detector.add(bytes(marked))
    assert detector.take_pre_speech() == bytes(marked[4 * FRAME :])
    assert detector.take_pre_speech() == b""


def test_audio_kept_for_one_start_is_not_given_for_the_next(detector: InputVad) -> None:
    detector.add(frames("##..."))
    detector.add(frames("."))
    assert detector.take_pre_speech() == bytes(FRAME)


def test_a_gap_ends_speech_and_time_goes_on(detector: InputVad) -> None:
    detector.add(frames("###.") + b"\1\1\1")
    assert detector.reset() == [VadEdge("end", 0.08, 0.06)]
    assert detector.reset() == []
    assert detector.take_pre_speech() == b""
    assert detector.add(frames("##")) == [VadEdge("start", 0.12, 0.08)]


def test_the_snapshot_tells_the_state() -> None:
    detector = InputVad(detector=loud, frame_ms=30)
    detector.add(bytes(960) + b"\1" * 960)
    snapshot = detector.snapshot()
    assert (snapshot.sample_rate, snapshot.frame_ms, snapshot.frames_processed) == (16_000, 30, 2)
    assert (snapshot.state, snapshot.speaking, snapshot.last_transition_s) == ("pending_speech", False, 0.06)
    assert detector.audio_s == 0.06


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"frame_ms": 25}, "frame_ms"),
        ({"min_speech_frames": 0}, "min_speech_frames"),
        ({"hangover_frames": 0}, "hangover_frames"),
        ({"pre_speech_frames": -1}, "pre_speech_frames"),
    ],
)
def test_what_cannot_be_is_refused_by_name(options: dict[str, int], field: str) -> None:
    with pytest.raises(AgentError) as error:
        InputVad(**options)  # type: ignore[arg-type]
    assert (error.value.field, error.value.value) == (field, options[field])
    assert error.value.remedy


@pytest.mark.parametrize("frame_ms", [10, 20, 30])
def test_the_default_detector_takes_every_allowed_frame(frame_ms: int) -> None:
    detector = InputVad(frame_ms=frame_ms)
    assert detector.add(bytes(32 * 60)) == []
    assert detector.snapshot().frames_processed == 60 // frame_ms
