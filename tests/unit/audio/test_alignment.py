"""Loudspeaker and microphone stay aligned when either of them loses frames."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import Recorder, Shifts, tone
from tests.unit.audio.echo_support import RATE, cancel
from tests.unit.audio.test_capture import run

from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.processing.capture import FAR_SLACK_FRAMES, WAIT_FRAMES
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline


def test_the_microphone_waits_a_moment_for_what_is_played_so_that_render_stays_before_capture() -> None:
    order: list[str] = []

    class Order:
        has_near_end = True
        probe = None
        state = ""

        def render(self, frame: np.ndarray) -> None:
            order.append("silence" if not frame.any() else "sound")

        def capture(self, frame: np.ndarray) -> np.ndarray:
            order.append("capture")
            return frame

        def on_frames_lost(self, later: int = 0) -> None:
            pass

    pipeline = AudioPipeline(Recorder(), Order(), mic_rate=RATE, out_rate=RATE)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    for _ in range(3):
        pipeline.microphone.write(tone(RATE, 0.01), 0.0)
        pipeline.step(0.0)
    assert order == []
    pipeline.played.write(tone(RATE, 0.03), 0.0)
    pipeline.step(0.0)
    assert order == ["sound", "capture"] * 3


def test_a_loudspeaker_that_stalls_does_not_hold_up_the_microphone() -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, tone(RATE, 1.0))
    assert len(recorder.chunks) >= 47
    assert pipeline.capture.far_missing > 90


def test_a_microphone_that_lags_drops_old_reference_and_counts_it() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    assert pipeline.played is not None
    pipeline.played.write(tone(RATE, 0.5), 0.0)
    pipeline.step(0.0)
    assert pipeline.capture.far_dropped == 49


def test_when_microphone_samples_are_lost_render_stays_close_to_capture() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, tone(RATE, 0.5), tone(RATE, 0.5))
    assert pipeline.played is not None
    assert pipeline.capture.far_dropped == 0
    pipeline.played.write(tone(RATE, 0.08), 0.5)
    run(pipeline, tone(RATE, 1.2), tone(RATE, 1.2), start=0.5)
    assert pipeline.capture.far_dropped == 8


def test_a_few_frames_too_many_are_dropped_only_when_the_model_pauses() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, tone(RATE, 0.5), tone(RATE, 0.5))
    assert pipeline.played is not None
    pipeline.played.write(tone(RATE, 0.03), 0.5)
    run(pipeline, tone(RATE, 2.0), tone(RATE, 2.0), start=0.5)
    assert pipeline.capture.far_dropped == 0
    run(pipeline, tone(RATE, 0.5), np.zeros(RATE // 2, np.float32), start=2.5)
    assert pipeline.capture.far_dropped == 3


@pytest.mark.parametrize("lost", [2, 4, 6, 12])
@pytest.mark.parametrize("is_speaking", [True, False], ids=["in an answer", "in a pause"])
def test_after_the_loudspeaker_lost_samples_the_microphone_is_late_only_until_the_model_pauses(
    lost: int, is_speaking: bool
) -> None:
    recorder, shifts = Recorder(), Shifts()
    pipeline = AudioPipeline(recorder, shifts, mic_rate=RATE, out_rate=RATE)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    late = []
    for number in range(1_000):
        now = 0.01 * (number + 1)
        pipeline.microphone.write(np.zeros(160, np.float32), now)
        if not 300 <= number < 300 + lost:
            sound = tone(RATE, 0.01) if 200 <= number < 500 and is_speaking else np.zeros(160, np.float32)
            pipeline.played.write(sound, now)
        pipeline.step(now)
        late.append(round(1000 * (now - recorder.chunks[-1].captured_at)) if recorder.chunks else 0)
    assert max(late[:290]) <= 10
    assert max(late[700:]) <= 10
    assert pipeline.capture.far_missing == lost
    # Nothing was played from which the filter could have learned the longer delay in a pause.
    assert shifts.told == ([-lost] if is_speaking else [])


def aligned(shifts: Shifts, *, lost: range, side: str, speaks: range) -> AudioPipeline:
    """Run 10 s on which one side loses frames; the model speaks in those of `speaks`."""
    pipeline = AudioPipeline(Recorder(), shifts, mic_rate=RATE, out_rate=RATE)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    for number in range(1_000):
        now = 0.01 * (number + 1)
        if number not in lost or side != "microphone":
            pipeline.microphone.write(np.zeros(160, np.float32), now)
        if number not in lost or side != "loudspeaker":
            pipeline.played.write(tone(RATE, 0.01) if number in speaks else np.zeros(160, np.float32), now)
        pipeline.step(now)
    return pipeline


def test_while_the_loudspeaker_stalls_in_an_answer_the_delay_of_the_echo_is_unknown() -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=range(300, 330), side="loudspeaker", speaks=range(200, 500))
    assert pipeline.capture.far_missing == 30
    assert shifts.told == [0, -WAIT_FRAMES]


@pytest.mark.parametrize("lost", [range(3), range(550, 554), range(550, 558), range(550, 600)])
def test_no_echo_moves_where_the_microphone_loses_frames_in_a_pause(lost: range) -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=lost, side="microphone", speaks=range(200, 500))
    assert pipeline.capture.far_dropped >= len(lost) - FAR_SLACK_FRAMES
    assert shifts.told == []


@pytest.mark.parametrize("count", [3, 8])
def test_frames_of_the_microphone_that_are_lost_in_an_answer_move_the_echo_until_as_many_are_dropped(
    count: int,
) -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=range(300, 300 + count), side="microphone", speaks=range(200, 500))
    assert pipeline.capture.far_dropped == count
    assert shifts.told == [count]


def test_while_the_microphone_stalls_in_an_answer_the_delay_of_the_echo_is_unknown() -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=range(300, 325), side="microphone", speaks=range(200, 500))
    assert pipeline.capture.far_dropped >= 24
    assert shifts.told[0] == 0
    assert sum(shifts.told) == pipeline.capture.far_dropped - 20


def test_while_the_model_is_silent_the_microphone_passes_8_ms_later() -> None:
    mic = tone(RATE, 4.0) * 0.3
    clean = cancel(DualCanceller(), np.zeros(len(mic), np.float32), mic)
    late = clean[2 * RATE + 128 :]
    assert np.abs(late - mic[2 * RATE : 2 * RATE + len(late)]).max() < 1e-4


def test_frames_lost_in_a_silence_disturb_the_filter_only_for_a_moment() -> None:
    canceller = DualCanceller()
    silence = np.zeros(2 * RATE, np.float32)
    cancel(canceller, silence, silence)
    canceller.on_frames_lost(2)
    assert (canceller.state, canceller.has_near_end) == ("disturbed", True)  # No echo is to be expected.
    cancel(canceller, silence[:RATE], silence[:RATE])
    assert (canceller.state, canceller.has_near_end) == ("learning", True)


def test_what_was_played_before_the_microphone_opened_is_not_taken_for_what_is_played_now() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    assert pipeline.played is not None
    pipeline.played.write(np.zeros(RATE // 10, np.float32), 0.0)
    run(pipeline, tone(RATE, 0.15), tone(RATE, 0.15))
    assert pipeline.capture.far_dropped == 10
