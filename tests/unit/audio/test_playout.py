"""Test playout: from `play` to the device and back to `on_playback_heard`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.unit.audio.audio_support import Recorder, pcm, tone

from gemini_live_runtime.audio.playback.playout import Playout
from gemini_live_runtime.audio.ring import FADE_MS, PlayoutRing

FADE = 24 * FADE_MS
"""Samples of the fade to silence."""


class Device:
    """Steps a playout and reads its ring, 10 ms at a time."""

    def __init__(self, rate: int = 24_000, latency: float = 0.0, lead: int = 1) -> None:
        self.recorder = Recorder()
        self.ring = PlayoutRing(rate)
        self.playout = Playout(self.recorder, self.ring, lead=lead)
        self.latency = latency
        self.now = 0.0
        self.out: list[np.ndarray] = []

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.playout.step(self.now)
            block = np.zeros(self.ring.slot, np.float32)
            self.now += 0.01
            self.ring.read(block, self.now + self.latency)
            self.out.append(block)
        self.playout.step(self.now)

    @property
    def sound(self) -> np.ndarray:
        return np.concatenate(self.out)


def test_a_turn_is_started_heard_and_drained_in_this_order_and_counted_to_the_sample() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(24_123, 100)))
    device.playout.end_of_turn(1)
    device.run(120)
    kinds = [call[0] for call in device.recorder.calls]
    assert kinds[0] == "started"
    assert kinds[-1] == "drained"
    assert device.recorder.heard(1) == 24_123
    assert not device.playout.playing


def test_heard_spans_are_at_most_about_half_a_second() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(60_000, 100)))
    device.run(250)
    assert max(call[3] for call in device.recorder.of("heard")) <= 12_240


def test_a_turn_with_no_audio_drains_at_once() -> None:
    device = Device()
    device.playout.end_of_turn(5)
    device.run(1)
    assert device.recorder.calls == [("drained", 5)]


def test_playing_is_true_from_the_call_of_play_until_the_device_took_everything() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(2400, 100)))
    assert device.playout.playing
    device.run(9)
    assert device.playout.playing
    device.run(2)
    assert not device.playout.playing


def test_what_is_heard_lags_what_is_consumed_by_the_latency_of_the_device() -> None:
    device = Device(latency=0.1)
    device.playout.play(1, pcm(np.full(2400, 100)))
    device.playout.end_of_turn(1)
    device.run(12)
    assert device.recorder.calls == [("started", 1)]
    device.run(10)
    assert device.recorder.calls[1:] == [("heard", 1, 0, 2400), ("drained", 1)]


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_a_span_says_when_its_last_sample_is_heard_however_late_it_is_reported(rate: int) -> None:
    device = Device(rate, latency=0.1, lead=3)
    device.playout.play(1, pcm(np.full(2400 + 24, 100)))
    device.playout.end_of_turn(1)
    device.run(40)
    assert device.recorder.heard(1) == 2424
    # The device's first block is heard from 0.1 s on.
    assert device.recorder.heard_at == [pytest.approx(0.1 + 2424 / 24_000, abs=1e-4)]


def test_a_cut_reports_at_once_what_the_device_had_taken_whatever_the_latency() -> None:
    device = Device(latency=0.5)
    device.playout.play(1, pcm(np.full(24_000, 100)))
    device.run(20)
    device.playout.cut(2)
    device.playout.step(device.now)
    assert device.recorder.heard(1) == 4800
    assert not device.recorder.of("drained")


def test_after_a_cut_nothing_is_playing_within_two_blocks() -> None:
    device = Device(lead=3)
    device.playout.play(1, pcm(np.full(24_000, 100)))
    device.run(20)
    device.playout.cut(2)
    device.run(2)
    assert not device.playout.playing


def test_audio_that_arrives_after_its_cut_is_dropped_and_counted() -> None:
    device = Device()
    device.playout.cut(2)
    device.playout.play(1, pcm(np.full(2400, 100)))
    device.run(20)
    assert not device.sound.any()
    assert device.playout.buffer.stale_samples == 2400
    assert not device.playout.playing


def test_a_message_of_odd_length_loses_its_half_sample_and_says_so() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(2400, 100)) + b"\x01")
    device.playout.end_of_turn(1)
    device.run(12)
    assert device.recorder.heard(1) == 2400
    assert device.playout.odd_bytes == 1


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 44_100, 48_000, 96_000])
def test_the_devices_rate_changes_neither_the_sound_nor_the_count(rate: int) -> None:
    device = Device(rate=rate, lead=3)
    device.playout.play(1, pcm(tone(24_000, 1.0) * 32767))
    device.playout.end_of_turn(1)
    device.run(110)
    spectrum = np.abs(np.fft.rfft(device.sound * np.hanning(len(device.sound))))
    heard_hertz = int(spectrum.argmax()) * device.ring.slot * 100 / len(device.sound)
    assert heard_hertz == pytest.approx(440, abs=2)
    assert np.sqrt((device.sound**2).sum() / (device.ring.slot * 100)) == pytest.approx(0.354, abs=0.01)
    assert device.recorder.heard(1) == 24_000
    assert device.recorder.of("drained") == [("drained", 1)]


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_the_devices_rate_takes_no_high_tone_from_the_voice(rate: int) -> None:
    device = Device(rate=rate, lead=3)
    device.playout.play(1, pcm(tone(24_000, 0.5, hertz=10_000.0) * 32_767))
    device.run(40)
    assert np.sqrt((device.sound[rate // 10 :] ** 2).mean()) == pytest.approx(0.354, rel=0.03)


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_the_end_of_a_cut_turn_does_not_sound_before_the_next_one(rate: int) -> None:
    device = Device(rate=rate, lead=3)
    device.playout.play(1, pcm(np.full(4_800, 16_000)))
    device.run(5)
    device.playout.cut(2)
    device.playout.play(2, pcm(np.zeros(4_800)))
    device.run(20)
    assert device.recorder.of("started") == [("started", 1), ("started", 2)]
    assert not device.sound[6 * device.ring.slot :].any()


@pytest.mark.parametrize("rate", [24_000, 48_000])
def test_a_gap_within_a_turn_is_concealed_without_a_step_and_counted_to_nobody(rate: int) -> None:
    device = Device(rate, lead=3)
    spoken = (tone(24_000, 0.4, hertz=150.0, level=0.3) * 32_767).astype(np.int16)
    device.playout.play(1, pcm(spoken[:4800]))
    device.run(23)
    device.playout.play(1, pcm(spoken[4800:]))
    device.playout.end_of_turn(1)
    device.run(60)
    assert device.playout.buffer.underruns == 1
    assert device.recorder.heard(1) == len(spoken)
    sound = device.sound
    assert np.abs(np.diff(sound)).max() < 3 * 0.3 * 2 * np.pi * 150 / rate
    gap = sound[round(0.202 * rate) : round(0.215 * rate)]
    assert np.abs(gap).max() > 0.15


def test_the_prebuffer_follows_the_measured_lateness_and_stays_for_the_next_turn() -> None:
    device = Device()
    for gen, late in ((1, 0.15), (2, 0.0)):
        for number in range(4):
            device.playout.play(gen, pcm(np.full(1920, 100)))
            device.run(8)
            if number == 1:
                device.run(round(late * 100))
        device.playout.end_of_turn(gen)
        device.run(60)
    assert device.playout.jitter.target_ms == device.playout.buffer.prebuffer_ms == pytest.approx(160, abs=15)
    begun = device.recorder.of("started")
    assert [call[1] for call in begun] == [1, 2]


def test_a_lost_device_counts_what_it_took_and_turns_still_end() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(24_000, 100)))
    device.run(10)
    device.playout.lose_output()
    assert device.recorder.heard(1) == 2400
    assert not device.playout.playing
    device.playout.play(1, pcm(np.full(2400, 100)))
    device.playout.end_of_turn(1)
    device.playout.step(device.now)
    assert device.recorder.heard(1) == 2400
    assert device.recorder.of("drained") == [("drained", 1)]
    assert not device.playout.playing


def test_what_a_device_that_is_back_plays_keeps_its_place_in_the_turn() -> None:
    device = Device()
    samples = np.arange(1, 24_001)
    device.playout.play(1, pcm(samples[:12_000]))
    device.run(10)
    device.playout.lose_output()
    device.playout.play(1, pcm(samples[12_000:16_800]))
    device.playout.step(device.now)
    device.playout.move(PlayoutRing(24_000))
    assert device.playout.ring is not None
    device.ring, before = device.playout.ring, len(device.sound)
    device.playout.play(1, pcm(samples[16_800:]))
    device.playout.end_of_turn(1)
    device.run(60)
    assert device.recorder.of("heard") == [("heard", 1, 0, 2400), ("heard", 1, 16_800, 7200)]
    assert device.playout.played_samples(1) == 24_000
    assert np.array_equal(np.round(device.sound[before:][:7200] * 32_768), samples[16_800:])


def test_without_a_device_a_turn_drains_unheard() -> None:
    recorder = Recorder()
    playout = Playout(recorder, None)
    playout.play(1, pcm(np.full(2400, 100)))
    playout.end_of_turn(1)
    playout.step(0.0)
    assert recorder.calls == [("drained", 1)]
    assert not playout.playing


# Sample i of generation g has this value. Older generations are louder: a faded sample of a newer one can never be
# mistaken for an older one's, so whatever exceeds the newest allowed value is a sample that should not sound.
_STEP = 2500


def value(gen: int, index: int) -> int:
    return 30_000 - _STEP * gen + index % (_STEP - 1)


class PlayoutMachine(RuleBasedStateMachine):
    """Any order of messages, cuts and device blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.recorder = Recorder()
        self.ring = PlayoutRing(24_000)
        self.playout = Playout(self.recorder, self.ring, lead=3)
        self.gen = 0
        self.pushed: dict[int, int] = {}
        self.ended: set[int] = set()
        self.cut_below = 0
        self.sounded: set[int] = set()
        self.fade_left = 0
        self.decays = 0
        self.now = 0.0

    @rule(count=st.integers(1, 1200), late=st.integers(0, 2))
    def audio_arrives(self, count: int, late: int) -> None:
        gen = max(0, self.gen - late)
        if gen in self.ended or (gen != self.gen and gen >= self.cut_below):
            return
        start = self.pushed.get(gen, 0)
        if gen >= self.cut_below and start + count >= _STEP - 1:
            return
        self.playout.play(gen, pcm([value(gen, start + number) for number in range(count)]))
        if gen >= self.cut_below:
            self.pushed[gen] = start + count

    @precondition(lambda self: self.gen < 11)
    @rule()
    def the_turn_ends(self) -> None:
        self.playout.end_of_turn(self.gen)
        self.ended.add(self.gen)
        self.gen += 1

    @precondition(lambda self: self.gen < 11)
    @rule()
    def the_person_interrupts(self) -> None:
        self.gen += 1
        self.cut_below = self.gen
        self.playout.cut(self.cut_below)
        self.fade_left = 240

    @rule(ticks=st.integers(1, 12), size=st.sampled_from([64, 240, 300, 480]))
    def the_device_plays(self, ticks: int, size: int) -> None:
        for _ in range(ticks):
            self.playout.step(self.now)
            block = np.zeros(size, np.float32)
            self.ring.read(block, self.now)
            self.check(block)
            self.sounded.update((block * 32_768).round().astype(int).tolist())
            self.now += size / 24_000

    def check(self, block: np.ndarray) -> None:
        skip = min(self.fade_left, len(block))
        self.fade_left -= skip
        loudest = 30_000 - _STEP * self.cut_below + _STEP - 1
        assert (block[skip:] * 32_768 <= loudest).all(), "a sample of a cut generation sounded"

    @invariant()
    def nothing_is_heard_that_was_not_played(self) -> None:
        for gen in self.pushed:
            heard = self.recorder.heard(gen)
            assert heard <= self.pushed[gen]
            if heard:
                assert value(gen, heard - 1) in self.sounded

    def teardown(self) -> None:
        self.gen += 1
        for gen in self.pushed:
            self.playout.end_of_turn(gen)
        for _ in range(500):
            self.playout.step(self.now)
            block = np.zeros(240, np.float32)
            self.ring.read(block, self.now)
            self.check(block)
            self.now += 0.01
        self.playout.step(self.now)
        self.playout.finish()
        for gen, count in self.pushed.items():
            if gen >= self.cut_below:
                assert self.recorder.heard(gen) == count, "not everything was heard"
                assert ("drained", gen) in self.recorder.calls
        assert not self.playout.playing
        drained = [call[1] for call in self.recorder.of("drained")]
        assert drained == sorted(set(drained)), "drained in order, once each"


PlayoutMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestPlayoutMachine = PlayoutMachine.TestCase


def test_a_pause_goes_on_with_the_very_next_sample() -> None:
    device = Device()
    device.playout.play(1, pcm(np.arange(4_800)))
    device.playout.end_of_turn(1)
    device.run(5)
    device.playout.set_paused(True)
    device.run(30)
    paused_at = device.playout.played_samples(1)
    assert paused_at == 5 * 240 + FADE
    assert not device.sound[paused_at : 35 * 240].any()
    assert device.playout.playing
    device.playout.set_paused(False)
    device.run(30)
    # But for what is faded, the sound is what it would have been without the pause.
    heard = np.concatenate((device.sound[:paused_at], device.sound[35 * 240 :]))[:4_800] * 32_768
    whole = np.r_[0 : 5 * 240, paused_at + 240 : 4_800]
    assert np.allclose(heard[whole], np.arange(4_800)[whole], atol=1)
    assert device.recorder.heard(1) == 4_800
    assert device.recorder.of("drained")


def test_what_is_cut_in_a_pause_makes_no_sound_and_what_follows_does() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(4_800, 8_000)))
    device.run(5)
    device.playout.set_paused(True)
    device.run(5)
    device.playout.cut(2)
    device.playout.set_paused(False)
    device.run(5)
    assert not device.sound[5 * 240 + FADE :].any()
    assert device.recorder.heard(1) == 5 * 240 + FADE
    device.playout.play(2, pcm(np.full(4_800, 8_000)))
    device.playout.end_of_turn(2)
    device.run(30)
    assert device.recorder.heard(2) == 4_800


def test_a_pause_lasts_over_a_change_of_the_device() -> None:
    device = Device()
    device.playout.play(1, pcm(np.full(4_800, 8_000)))
    device.run(5)
    device.playout.set_paused(True)
    device.run(1)
    device.ring = PlayoutRing(48_000)
    device.playout.move(device.ring)
    before = device.playout.played_samples(1)
    device.run(10)
    assert device.playout.played_samples(1) - before <= 240
    device.playout.set_paused(False)
    device.playout.end_of_turn(1)
    device.run(30)
    assert device.recorder.heard(1) == 4_800
