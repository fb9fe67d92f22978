"""Test the playback buffer: prebuffer, order, underruns, limits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.audio.playback.playback_buffer import PlaybackBuffer

MS = 24


def sound(milliseconds: float, value: int = 1000) -> np.ndarray:
    return np.full(round(milliseconds * MS), value, np.int16)


def pull_all(buffer: PlaybackBuffer) -> list[tuple[int, int, int]]:
    blocks = []
    while (block := buffer.pull()) is not None:
        blocks.append((block.gen, block.first, block.count))
    return blocks


def test_a_turn_waits_for_sixty_milliseconds() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, sound(59))
    assert buffer.pull() is None
    buffer.push(1, sound(1))
    block = buffer.pull()
    assert block is not None
    assert (block.gen, block.first, block.count) == (1, 0, 240)


def test_the_end_of_a_turn_releases_a_short_answer_at_once() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, sound(25))
    buffer.end_of_turn(1)
    assert pull_all(buffer) == [(1, 0, 240), (1, 240, 240), (1, 480, 120)]


def test_the_rest_of_a_short_last_block_is_silence() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, sound(4))
    buffer.end_of_turn(1)
    block = buffer.pull()
    assert block is not None
    assert (block.samples[:96] == 1000).all()
    assert not block.samples[96:].any()


def test_a_turn_begins_and_goes_on_after_a_gap_with_the_prebuffer_that_is_set() -> None:
    buffer = PlaybackBuffer()
    buffer.prebuffer_ms = 0
    buffer.push(1, sound(10))
    assert buffer.pull() is not None
    buffer.conceal()
    buffer.prebuffer_ms = 120
    buffer.push(1, sound(119))
    assert buffer.pull() is None
    buffer.push(1, sound(1))
    assert buffer.pull() is not None
    assert buffer.underruns == 1


def test_a_turn_that_is_over_before_its_end_is_told_is_no_underrun() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, sound(60))
    pull_all(buffer)
    assert buffer.conceal() is not None
    buffer.end_of_turn(1)
    assert buffer.conceal() is None
    assert buffer.underruns == 0
    assert buffer.drained_generations() == [1]


def voice(milliseconds: float) -> np.ndarray:
    at = np.arange(round(milliseconds * MS)) / 24_000
    return sum(8000 / n * np.sin(2 * np.pi * 140 * n * at) for n in (1, 2, 3, 5)).astype(np.int16)


def test_a_gap_is_concealed_by_the_voices_last_period_and_nothing_steps_where_it_begins_and_ends() -> None:
    buffer = PlaybackBuffer()
    spoken = voice(200)
    usual = int(np.abs(np.diff(spoken.astype(int))).max())
    buffer.push(1, spoken[: 100 * MS])
    blocks = []
    while (block := buffer.pull()) is not None:
        blocks.append(block.samples)
    for _ in range(2):
        block = buffer.conceal()
        assert block is not None
        assert block.count == 0
        blocks.append(block.samples)
    buffer.push(1, spoken[100 * MS :])
    while (block := buffer.pull()) is not None:
        blocks.append(block.samples)
    out = np.concatenate(blocks).astype(int)
    assert np.abs(np.diff(out)).max() <= 1.5 * usual
    gap = out[100 * MS : 115 * MS]
    assert np.abs(gap).max() > 0.5 * np.abs(spoken).max()


def test_a_gap_that_lasts_falls_silent_and_the_sound_fades_in_after_it() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, voice(100))
    pull_all(buffer)
    blocks = []
    while (block := buffer.conceal()) is not None:
        blocks.append(block.samples)
    assert len(blocks) == 4
    assert abs(int(blocks[-1][-1])) < 20
    buffer.push(1, sound(100))
    block = buffer.pull()
    assert block is not None
    assert block.samples[0] < 20
    assert (block.samples[119:] == 1000).all()


def test_audio_of_a_cut_generation_is_refused_and_counted_also_when_it_arrives_late() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, sound(100))
    assert buffer.cut(2) == 100 * MS
    assert buffer.push(1, sound(10)) == 10 * MS
    assert pull_all(buffer) == []
    assert (buffer.cut_samples, buffer.stale_samples, buffer.queued) == (2400, 240, 0)


def test_a_finished_turn_does_not_come_back() -> None:
    buffer = PlaybackBuffer()
    buffer.push(3, sound(20))
    buffer.end_of_turn(3)
    pull_all(buffer)
    buffer.forget(3)
    buffer.push(3, sound(80))
    assert pull_all(buffer) == []
    assert buffer.stale_samples == 80 * MS


def test_a_new_generation_ends_the_one_before() -> None:
    buffer = PlaybackBuffer()
    buffer.push(1, sound(15))
    buffer.push(2, sound(60))
    assert [gen for gen, _, _ in pull_all(buffer)] == [1, 1, 2, 2, 2, 2, 2, 2]


def test_beyond_the_limit_the_oldest_samples_are_dropped_counted_and_skipped_in_the_numbering() -> None:
    buffer = PlaybackBuffer(limit=1000)
    assert buffer.push(1, np.arange(900, dtype=np.int16)) == 0
    assert buffer.push(1, np.arange(900, 1500, dtype=np.int16)) == 500
    buffer.end_of_turn(1)
    block = buffer.pull()
    assert block is not None
    assert (block.first, block.samples[0]) == (500, 500)
    assert (buffer.over_limit_samples, buffer.queued) == (500, 760)


def test_of_twenty_minutes_of_speech_the_first_five_are_dropped_and_counted() -> None:
    buffer = PlaybackBuffer()
    for _ in range(20):
        buffer.push(1, sound(60_000))
    assert (buffer.over_limit_samples, buffer.queued) == (5 * 60_000 * MS, 15 * 60_000 * MS)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("push"), st.integers(1, 700)),
            st.tuples(st.just("pull"), st.integers(1, 8)),
            st.tuples(st.just("conceal"), st.just(0)),
        ),
        max_size=60,
    )
)
def test_whatever_the_order_of_arrival_a_turn_is_handed_out_once_and_in_order(moves: list[tuple[str, int]]) -> None:
    buffer = PlaybackBuffer()
    pushed, out = 0, []

    def pull(times: int) -> None:
        for _ in range(times):
            block = buffer.pull()
            if block is None:
                return
            assert block.first == len(out)
            out.extend(range(block.first, block.first + block.count))

    for move, number in moves:
        if move == "push":
            buffer.push(1, np.arange(number, dtype=np.int16))
            pushed += number
        elif move == "pull":
            pull(number)
        else:
            buffer.conceal()
    buffer.end_of_turn(1)
    pull(10_000)
    assert out == list(range(pushed))
    assert buffer.queued == 0
