"""Test the rings between device callbacks and worker."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.audio.ring import PlayoutRing, SampleRing


@given(st.lists(st.tuples(st.integers(0, 70), st.integers(0, 90)), max_size=60))
def test_a_sample_ring_gives_back_what_was_written_in_order_and_counts_what_did_not_fit(
    moves: list[tuple[int, int]],
) -> None:
    ring = SampleRing(64)
    written, read, expected_drops = 0, [], 0
    expected: list[float] = []
    for write, take in moves:
        samples = np.arange(written + 1, written + 1 + write, dtype=np.float32)
        fits = min(write, 64 - ring.available)
        ring.write(samples, 0.0)
        expected += samples[:fits].tolist()
        expected_drops += write - fits
        written += write
        read += ring.read(take).tolist()
    read += ring.read().tolist()
    assert read == expected
    assert ring.dropped == expected_drops


def filled(ring: PlayoutRing, gen: int, slots: int, value: float = 0.5) -> None:
    for number in range(slots):
        ring.write(np.full(ring.slot, value, np.float32), gen, number * 240, 240)


def take(ring: PlayoutRing, count: int) -> np.ndarray:
    out = np.full(count, 9.0, np.float32)
    ring.read(out, 0.0)
    return out


def test_an_empty_ring_plays_silence_and_counts_nothing() -> None:
    ring = PlayoutRing(24_000)
    assert not take(ring, 240).any()
    assert ring.read_position == 0


def test_slots_are_played_whatever_the_size_of_the_device_block() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 4)
    assert np.array_equal(np.concatenate([take(ring, 100), take(ring, 333), take(ring, 527)]), np.full(960, 0.5))
    assert ring.played[:4] == [240, 240, 240, 240]


def test_a_cut_fades_over_three_milliseconds_then_nothing_of_it_sounds_again() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 10)
    take(ring, 240)
    ring.cut_below = 2
    faded = take(ring, 240)
    assert (np.diff(faded[:72]) < 0).all()
    assert faded[0] > 0.49
    assert not faded[71:].any()
    assert not take(ring, 2400).any()
    assert sum(ring.played) == 240


def test_after_a_cut_the_next_generation_follows_the_fade_at_full_level() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 4)
    take(ring, 240)
    filled(ring, 2, 1, 0.25)
    ring.cut_below = 2
    out = take(ring, 480)
    assert np.array_equal(out[72:312], np.full(240, 0.25))


def test_a_generation_cut_before_it_began_is_not_even_faded() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 3)
    ring.cut_below = 2
    assert not take(ring, 720).any()


def test_a_ring_that_runs_dry_falls_to_silence_within_five_milliseconds() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 1)
    out = take(ring, 480)
    assert (np.diff(out[240:360]) < 0).all()
    assert abs(out[240] - 0.5) < 0.01
    assert not out[360:].any()
    assert ring.played[0] == 240


@pytest.mark.parametrize("flag", ["held", "paused"])
def test_a_pause_is_silent_within_three_milliseconds_and_loses_no_sample(flag: str) -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 4)
    take(ring, 240)
    setattr(ring, flag, True)
    down, silence = take(ring, 240), take(ring, 240)
    setattr(ring, flag, False)
    up = np.concatenate((take(ring, 240), take(ring, 408)))
    assert not down[72:].any()
    assert not silence.any()
    assert np.allclose(up[240:], 0.5)
    assert np.abs(np.diff(np.concatenate((down, silence, up)))).max() < 0.015
    # A slot, the fade, and all the rest.
    assert ring.read_position == 240 + 72 + 648
    assert ring.played[:4] == [240, 240, 240, 240]


def test_a_ring_that_is_held_and_paused_goes_on_once_it_is_neither() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 4)
    ring.held = ring.paused = True
    take(ring, 240)
    ring.held = False
    assert not take(ring, 240).any()
    ring.paused = False
    assert take(ring, 240).any()


def test_a_muted_ring_lets_time_pass_in_silence_and_comes_back_without_a_step() -> None:
    ring = PlayoutRing(24_000)
    filled(ring, 1, 6)
    take(ring, 240)
    ring.muted = True
    assert abs(take(ring, 240)[0] - 0.5) < 0.01
    assert not take(ring, 240).any()
    ring.muted = False
    back = take(ring, 240)
    assert back[0] < 0.01
    assert abs(back[-1] - 0.5) < 0.001
    assert ring.played[:4] == [240, 240, 240, 240]
