"""Meters wake the console for steps that can be seen."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.support.manual_clock import ManualClock
from tests.support.noisy_link import DEVIATION_DB

from gemini_live_runtime.samples import MeterSample
from gemini_live_tui.session_data.meter_steps import look_different
from gemini_live_tui.session_data.store import Store

NOISE = MeterSample(mic_db=-52.0, mic_peak_db=-49.0, clean_db=-58.0)


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({"mic_db": -53.4}, False),
        ({"mic_db": -53.5}, True),
        ({"clean_db": -56.5}, True),
        ({"mic_db": None}, True),
        ({"out_db": -60.0}, True),
        ({"t": 9.0, "loop_lag_ms": 4.0, "events_per_s": 2.0}, False),
        ({"speech": True}, True),
        ({"underruns": 1}, True),
        ({"echo_filter": "proven"}, True),
    ],
)
def test_a_sample_looks_different_from_a_decibel_and_a_half_on(changes: dict[str, Any], differs: bool) -> None:
    values = {"mic_db": NOISE.mic_db, "mic_peak_db": NOISE.mic_peak_db, "clean_db": NOISE.clean_db, **changes}
    assert look_different(MeterSample(**values), NOISE) is differs


async def test_soft_noise_draws_no_frames_and_a_voice_does_at_once() -> None:
    frames: list[None] = []
    store = Store(ManualClock(), lambda: frames.append(None))
    store.view.meters = NOISE
    chance = random.Random(3)
    for _ in range(200):
        level = -52.0 + chance.uniform(-0.9, 0.9)
        await store.put(MeterSample(mic_db=level, mic_peak_db=-49.0, clean_db=level - 6.0))
    assert frames == []
    await store.put(MeterSample(mic_db=-30.0, mic_peak_db=-28.0, clean_db=-31.0, speech=True))
    assert len(frames) == 1


def test_a_shown_level_that_is_itself_noise_is_seldom_replaced_by_the_next() -> None:
    changes, chance, shown = 0, random.Random(3), NOISE
    for _ in range(1000):
        level = chance.gauss(-52.0, DEVIATION_DB)
        now = MeterSample(mic_db=level, mic_peak_db=-49.0, clean_db=level - 6.0)
        if look_different(now, shown):
            changes, shown = changes + 1, now
    # Of 50 seconds.
    assert changes < 10


async def test_what_moves_slowly_is_drawn_when_it_has_moved_a_step() -> None:
    frames: list[None] = []
    store = Store(ManualClock(), lambda: frames.append(None))
    store.view.meters = NOISE
    for tenth in range(1, 16):
        await store.put(MeterSample(mic_db=-52.0 + tenth / 10, mic_peak_db=-49.0, clean_db=-58.0))
    assert len(frames) == 1
