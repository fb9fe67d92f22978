"""Judge the probe that pauses the loudspeaker: echoes follow it, people do not."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.audio.echo.pause_probe import (
    DECAY_FRAMES,
    DECIDING_FRAMES,
    LEAD_FRAMES,
    LEAST_DELAY_FRAMES,
    MAX_LIKELY_WAIT_FRAMES,
    MAX_WAIT_FRAMES,
    NEEDED_FRAMES,
    ORDER_FRAMES,
    TALKING_FRAMES,
    WAIT_FRAMES,
    KeptSound,
    MicFrame,
    PauseProbe,
)
from gemini_live_runtime.audio.samples import FRAME

DELAYS = st.integers(3, 16)
"""Delays of an echo, 30 to 160 ms."""
SECOND = 100


class Room:
    """Room whose canceller takes for a person's all that exceeds a level of 1.

    Some of the echo is left, `delay` frames after it was played; `late` frames pass until an order is played.
    """

    def __init__(
        self, delay: int, left: float, person: float = 0.0, late: int = ORDER_FRAMES, *, likely: bool = False
    ) -> None:
        self._likely = likely
        self.suspects = self.plays = True
        self._silent = 0
        self.probe = PauseProbe()
        self._delay, self.left, self.person = delay, left, person
        self._orders = [False] * late
        self._played = [1.0] * delay

    def run(self, frames: int) -> list[str]:
        """Return the probe's state after each frame."""
        states: list[str] = []
        for _ in range(frames):
            self._orders.append(self.probe.pauses)
            plays = not self._orders.pop(0) and self.plays
            self._played.append(float(plays))
            self._silent = 0 if plays else self._silent + 1
            heard = self.left * self._played.pop(0) + self.person > 1.0
            self.probe.update(
                suspected=heard and self.suspects,
                likely=heard and self._likely,
                heard=heard,
                believed=heard,
                delay=self._delay,
                silent=self._silent,
            )
            states.append(self.probe.state)
        return states


@given(delay=DELAYS, left=st.floats(0.5, 100.0), late=st.integers(0, ORDER_FRAMES))
def test_an_echo_that_follows_its_loudspeaker_is_never_a_person(delay: int, left: float, late: int) -> None:
    room = Room(delay, left, late=late)
    states = room.run(6 * SECOND)
    assert "person" not in states
    assert ("paused" in states) == (left > 1.0)


@given(delay=DELAYS, left=st.floats(0.0, 100.0), person=st.floats(1.01, 10.0))
def test_a_steady_person_is_always_found_within_the_echos_delay_and_a_tenth_of_a_second(
    delay: int, left: float, person: float
) -> None:
    states = Room(delay, left, person).run(ORDER_FRAMES + max(LEAST_DELAY_FRAMES, delay) + DECAY_FRAMES + 4)
    assert states[0] == "paused"
    assert states[-1] == "person"


@given(delay=DELAYS, left=st.floats(0.5, 100.0), gap=st.integers(1, SECOND))
def test_an_echo_is_no_person_either_where_the_model_pauses_by_itself(delay: int, left: float, gap: int) -> None:
    room = Room(delay, left)
    room.suspects = False
    for frames in (SECOND, gap, SECOND, gap):
        assert set(room.run(frames)) == {""}
        room.plays = not room.plays


@given(delay=DELAYS, left=st.floats(0.0, 100.0), person=st.floats(1.01, 10.0))
def test_a_person_is_found_in_a_gap_of_the_model_though_nothing_was_suspected(
    delay: int, left: float, person: float
) -> None:
    room = Room(delay, left, person)
    room.suspects = False
    assert set(room.run(SECOND)) == {""}
    room.plays = False
    falls_after = max(LEAST_DELAY_FRAMES, delay) + DECAY_FRAMES
    assert room.run(falls_after + NEEDED_FRAMES - 1)[-2:] == ["", "person"]
    assert room.probe.pauses


def waits(states: list[str]) -> list[int]:
    """Return the frames from the beginning of each probe to the next one's."""
    begins = [at for at, (before, now) in enumerate(itertools.pairwise(["", *states])) if now == "paused" != before]
    return [later - sooner for sooner, later in itertools.pairwise(begins)]


def test_after_each_echo_the_next_probe_waits_twice_as_long_until_a_person_is_found() -> None:
    room = Room(8, 2.0)
    probe = ORDER_FRAMES + 8 + DECAY_FRAMES + DECIDING_FRAMES
    pauses = [probe + min(WAIT_FRAMES * doubled, MAX_WAIT_FRAMES) for doubled in (1, 2, 4, 8, 16)]
    assert waits(room.run(40 * SECOND))[:5] == pauses
    room.left, room.person = 0.0, 2.0
    while room.probe.state != "person":
        room.run(1)
    room.left, room.person = 2.0, 0.0
    assert waits(room.run(3 * SECOND))[0] == pauses[0]


def test_more_than_a_suspicion_waits_for_a_quarter_of_that_and_a_second_at_most() -> None:
    room = Room(8, 2.0, likely=True)
    probe = ORDER_FRAMES + 8 + DECAY_FRAMES + DECIDING_FRAMES
    pauses = [probe + min(WAIT_FRAMES * doubled // 4, MAX_LIKELY_WAIT_FRAMES) for doubled in (1, 2, 4, 8, 16)]
    assert waits(room.run(10 * SECOND))[:5] == pauses


def test_an_answer_that_is_not_cut_goes_on_beside_a_person() -> None:
    room = Room(4, 0.0, 2.0)
    paused = 0
    while room.probe.pauses or not paused:
        room.run(1)
        paused += room.probe.pauses
    assert paused == TALKING_FRAMES
    assert room.probe.state == "person"
    assert room.probe.is_open
    room.run(SECOND)
    assert room.probe.state == "person"
    assert not room.probe.pauses


def test_a_person_who_falls_silent_has_to_be_found_anew() -> None:
    room = Room(4, 0.0, 2.0)
    room.run(SECOND)
    room.person = 0.0
    room.run(1)
    assert room.probe.state == ""
    assert not room.probe.pauses


def frame(number: int) -> MicFrame:
    return MicFrame(np.full(FRAME, number, np.int16), number / SECOND, near_end=False, playing=True)


def test_frames_are_kept_while_it_is_decided_and_come_once_each_in_their_order() -> None:
    for person in (0.0, 2.0):
        room, kept = Room(5, 2.0, person), KeptSound()
        probe = room.probe
        came: list[MicFrame] = []
        for number in range(SECOND // 2):
            room.run(1)
            probe.frame = np.full(FRAME, 1000 + number, np.int16)
            came += kept.add(frame(number), probe)
            assert len(came) + len(kept) == number + 1
        assert [one.moment for one in came] == [number / SECOND for number in range(len(came))]
        of_probe = [one.sound[0] >= 1000 for one in came]
        assert any(of_probe) == (person > 0)
        assert [int(one.sound[0]) % 1000 for one in came] == list(range(len(came)))


def test_a_person_comes_with_what_was_said_before_the_suspicion() -> None:
    probe, kept = PauseProbe(), KeptSound()
    probe.is_listening = True
    came: list[MicFrame] = []
    for number in range(LEAD_FRAMES + 20):
        if number == LEAD_FRAMES + 10:
            probe.state = "paused"
        probe.frame = np.full(FRAME, 1000 + number, np.int16)
        came += kept.add(frame(number), probe)
    assert [int(one.sound[0]) for one in came] == list(range(10))
    probe.state = "person"
    lead = list(kept.add(frame(LEAD_FRAMES + 20), probe))
    assert [int(one.sound[0]) for one in lead[:-1]] == [1000 + number for number in range(10, LEAD_FRAMES + 20)]
    # Before the suspicion nothing was taken for a voice.
    assert [one.near_end for one in lead[:-1]] == [False] * LEAD_FRAMES + [True] * 10
    assert not len(kept)


def test_what_a_person_says_in_a_gap_of_the_model_is_taken_for_theirs() -> None:
    room, kept = Room(5, 0.0, 2.0), KeptSound()
    room.suspects = False
    room.probe.is_listening = True
    for number in range(LEAD_FRAMES):
        room.run(1)
        assert not list(kept.add(frame(number), room.probe))
    room.plays = False
    came: list[MicFrame] = []
    while room.probe.state != "person":
        room.run(1)
        came += kept.add(frame(0), room.probe)
    assert [one.near_end for one in came[-NEEDED_FRAMES:-1]] == [True] * (NEEDED_FRAMES - 1)
    assert not any(one.near_end for one in came[:-NEEDED_FRAMES])


def test_nothing_is_kept_once_the_model_is_not_heard_any_more() -> None:
    probe, kept = PauseProbe(), KeptSound()
    probe.is_listening = True
    for number in range(LEAD_FRAMES):
        assert not list(kept.add(frame(number), probe))
    probe.is_listening = False
    came = list(kept.add(frame(LEAD_FRAMES), probe))
    assert [int(one.sound[0]) for one in came] == list(range(LEAD_FRAMES + 1))
    assert all(one.playing for one in came)
