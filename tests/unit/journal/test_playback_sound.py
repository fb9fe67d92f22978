"""Read a recording's sound: heard samples at their time, unheard ones left out."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime import vocabulary
from gemini_live_runtime.journal.files.tracks import wav_header
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
from gemini_live_runtime.journal.sound.playback_sound import RATE, Sound, playback, sound_between, sound_map

MIC = 16_000


class Call:
    """Recorded call; the value of each sample of the model's track is its number."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[ev.Event] = []
        self.gen = 1
        self.received = 0

    def at(self, t: float, *payloads: ev.Payload, gen: int | None = None) -> None:
        for payload in payloads:
            self.events.append(ev.Event(len(self.events) + 1, t, 1, self.gen if gen is None else gen, payload))

    def model_sends(self, t: float, count: int) -> None:
        span = ev.WireAudio(
            direction="received", track="model", rate=RATE, first=self.received, count=count,
            frames=((count, 1),), mime_type="audio/pcm;rate=24000",
        )  # fmt: skip
        self.received += count
        self.at(t, span)

    def heard(self, t: float, of: int, first: int, count: int, *, muted: bool = False, late_ms: float = 0.0) -> None:
        self.at(t, ev.PlaybackHeard(of=of, first=first, count=count, muted=muted, late_ms=late_ms))

    def user_speaks(self, t: float, first: int, count: int) -> None:
        self.at(t, ev.WireAudio(
            direction="sent", track="user", rate=MIC, first=first, count=count, frames=((320, count // 320),),
            mime_type="audio/pcm;rate=16000",
        ))  # fmt: skip

    def model_track(self) -> np.ndarray:
        return (np.arange(self.received) % 30_000 + 1).astype("<i2")

    def recorded(self, user: np.ndarray | None = None) -> RecordedHistory:
        self.events.sort(key=lambda event: event.t)
        events = [ev.Event(seq, e.t, e.turn, e.gen, e.payload) for seq, e in enumerate(self.events, 1)]
        lines = [json.dumps({**vocabulary.header(), "session_id": "s1"}), *(event.to_line() for event in events)]
        (self.folder / "events.jsonl").write_text("\n".join(lines) + "\n")
        pcm = self.model_track().tobytes()
        (self.folder / "model.wav").write_bytes(wav_header(RATE, len(pcm)) + pcm)
        if user is not None:
            data = user.astype("<i2").tobytes()
            (self.folder / "user.wav").write_bytes(wav_header(MIC, len(data)) + data)
        found = RecordedHistory(self.folder)
        while found.load():
            pass
        return found


def right(heard: Sound) -> np.ndarray:
    return heard.samples[:, 1]


def test_an_answer_stands_where_it_was_played_and_not_where_it_came(tmp_path):
    call = Call(tmp_path)
    call.model_sends(1.0, RATE)
    call.heard(3.0, 1, 0, RATE // 2)
    call.heard(3.5, 1, RATE // 2, RATE // 2)
    call.at(5.0, ev.SessionEnded(reason="done"))
    heard = right(sound_between(call.recorded(), tmp_path, 0.0, 5.0))
    assert len(heard) == 5 * RATE
    assert np.array_equal(heard[round(2.5 * RATE) : round(3.5 * RATE)], call.model_track())
    assert np.count_nonzero(heard) == RATE


def test_an_answer_stands_where_it_was_heard_and_not_where_that_was_reported(tmp_path):
    call = Call(tmp_path)
    call.model_sends(1.0, RATE)
    call.heard(3.015, 1, 0, RATE // 2, late_ms=15.0)
    call.heard(3.48, 1, RATE // 2, RATE // 2, late_ms=-20.0)
    call.at(5.0, ev.SessionEnded(reason="done"))
    heard = right(sound_between(call.recorded(), tmp_path, 0.0, 5.0))
    assert np.array_equal(heard[round(2.5 * RATE) : round(3.5 * RATE)], call.model_track())


@pytest.mark.parametrize("first", [0, 1, 2, 3, 12_001, 24_000, 35_999])
def test_both_sides_lie_on_the_same_sample_from_any_moment_on(tmp_path, first):
    call = Call(tmp_path)
    call.model_sends(0.5, RATE)
    call.user_speaks(2.0, 0, MIC)
    call.heard(2.0, 1, 0, RATE)
    call.at(3.0, ev.SessionEnded(reason="done"))
    click = np.zeros(MIC, np.int16)
    click[12_000] = 20_000
    history = call.recorded(click)
    heard = sound_between(history, tmp_path, first / RATE, 3.0).samples
    # Three quarters of a second after second 1, on either side.
    assert int(np.abs(heard[:, 0]).argmax()) == RATE + 18_000 - first
    assert heard[RATE + 18_000 - first, 1] == call.model_track()[18_000]


def test_what_the_user_said_stands_where_it_was_captured_and_not_where_it_was_sent(tmp_path):
    call = Call(tmp_path)
    span = ev.WireAudio(
        direction="sent", track="user", rate=MIC, first=0, count=MIC, frames=((320, 50),),
        mime_type="audio/pcm;rate=16000", late_ms=40.0,
    )  # fmt: skip
    call.at(2.04, span)
    call.at(3.0, ev.SessionEnded(reason="done"))
    click = np.zeros(MIC, np.int16)
    click[8_000] = 20_000
    heard = sound_between(call.recorded(click), tmp_path, 0.0, 3.0).samples
    assert int(np.abs(heard[:, 0]).argmax()) == RATE + RATE // 2


def test_what_was_cut_off_or_muted_is_not_there(tmp_path):
    call = Call(tmp_path)
    call.model_sends(1.0, RATE)
    call.heard(2.0, 1, 0, 6000)
    call.gen = 2
    call.model_sends(3.0, 12_000)
    call.heard(4.0, 2, 0, 6000, muted=True)
    call.heard(4.25, 2, 6000, 6000)
    call.at(5.0, ev.SessionEnded(reason="done"))
    heard = right(sound_between(call.recorded(), tmp_path, 0.0, 5.0))
    track = call.model_track()
    assert np.array_equal(heard[2 * RATE - 6000 : 2 * RATE], track[:6000])
    assert np.array_equal(heard[round(4.25 * RATE) - 6000 : round(4.25 * RATE)], track[RATE + 6000 : RATE + 12_000])
    assert np.count_nonzero(heard) == 12_000


def test_sound_in_a_message_with_other_things_is_found(tmp_path):
    call = Call(tmp_path)
    call.model_sends(1.0, 2400)
    part = {"inlineData": {"data": {"$audio": {"track": "model", "first": 2400, "count": 2400}}}}
    frame = {"serverContent": {"modelTurn": {"parts": [part]}, "turnComplete": True}}
    call.received += 2400
    call.at(1.1, ev.WireMessage(direction="received", kinds=("serverContent",), frame=frame, size=1))
    call.heard(2.0, 1, 0, 4800)
    heard = right(sound_between(call.recorded(), tmp_path, 1.0, 2.0))
    assert np.array_equal(heard[-4800:], call.model_track())


@given(data=st.data())
def test_every_sample_that_was_heard_is_where_the_events_say(tmp_path_factory, data):
    call = Call(tmp_path_factory.mktemp("call"))
    t, expected = 0.0, np.zeros(20 * RATE, np.int16)
    for gen in range(1, data.draw(st.integers(1, 3)) + 1):
        call.gen, start = gen, call.received
        for count in data.draw(st.lists(st.integers(1, 20_000), min_size=1, max_size=4)):
            t = round(t + 0.01, 6)
            call.model_sends(t, count)
        played = data.draw(st.integers(0, call.received - start))
        while played > 0:
            count = min(played, data.draw(st.integers(100, 12_000)))
            first = call.received - start - played
            played -= count
            t = round(t + count / RATE + data.draw(st.sampled_from([0.0, 0.25])), 6)
            call.heard(t, gen, first, count)
            at = round((t - count / RATE) * RATE)
            numbers = np.arange(start + first, start + first + count) % 30_000 + 1
            expected[at : at + count] = numbers
    begin, end = sorted(data.draw(st.tuples(st.integers(0, 200), st.integers(0, 200))))
    history = call.recorded()
    heard = right(sound_between(history, call.folder, begin / 10, end / 10))
    wanted = expected[begin * RATE // 10 : end * RATE // 10]
    assert len(heard) == len(wanted)
    # Events say their time to a microsecond: a sample that is put into its place may fall into the one beside it.
    beside = [np.roll(wanted, shift) for shift in (-1, 0, 1)]
    elsewhere = ~np.logical_or.reduce([heard == shifted for shifted in beside])
    assert np.count_nonzero(elsewhere) <= 2 * len(call.events)
    history.close()


def test_the_microphone_is_heard_when_it_was_spoken_into(tmp_path):
    call = Call(tmp_path)
    user = np.zeros(3 * MIC)
    user[MIC : MIC + MIC // 2] = 8000 * np.sin(2 * np.pi * 440 * np.arange(MIC // 2) / MIC)
    for second in range(3):
        call.user_speaks(10.0 + second + 1 + 0.004 * second, second * MIC, MIC)
    history = call.recorded(user)
    heard = sound_between(history, tmp_path, 10.0, 13.0).samples[:, 0].astype(float)
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert abs(loud[0] / RATE - 1.0) < 0.02
    assert abs(loud[-1] / RATE - 1.5) < 0.02
    voiced = heard[RATE : RATE + RATE // 2]
    assert abs(float(np.argmax(np.abs(np.fft.rfft(voiced)))) * 2 - 440) <= 4


def test_spans_that_follow_one_another_are_heard_without_a_gap(tmp_path):
    call = Call(tmp_path)
    for second in range(5):
        call.user_speaks(1.0 + second + (0.03 if second % 2 else 0.0), second * MIC, MIC)
    history = call.recorded(np.full(5 * MIC, 5000))
    found = sound_map(history, 0.0, 10.0).user.pieces
    assert all(one.at + one.count == other.at for one, other in pairwise(found))
    heard = sound_between(history, tmp_path, 0.2, 4.8).samples[:, 0]
    assert heard.min() > 4900


def test_portions_are_the_whole_in_parts(tmp_path):
    call = Call(tmp_path)
    call.model_sends(1.0, 5 * RATE)
    for half in range(10):
        call.heard(2.0 + half / 2, 1, half * RATE // 2, RATE // 2)
    call.at(8.0, ev.SessionEnded(reason="done"))
    history = call.recorded(np.zeros(10))
    portions = list(playback(history, tmp_path, 0.5))
    assert [(portion.begin, portion.end) for portion in portions] == [(0.5, 2.5), (2.5, 4.5), (4.5, 6.5), (6.5, 8.0)]
    joined = np.frombuffer(b"".join(portion.pcm for portion in portions), "<i2")
    assert np.array_equal(joined, sound_between(history, tmp_path, 0.5, 8.0).mono())


@pytest.mark.parametrize("speed", [0.5, 2.0, 4.0])
def test_a_faster_playback_is_shorter(tmp_path, speed):
    call = Call(tmp_path)
    call.model_sends(0.0, 4 * RATE)
    for half in range(8):
        call.heard(0.5 + half / 2, 1, half * RATE // 2, RATE // 2)
    history = call.recorded()
    played = sum(len(portion.pcm) // 2 for portion in playback(history, tmp_path, 0.0, speed=speed))
    assert abs(played / RATE - 4 / speed) < 0.05


def test_a_track_that_is_not_there_is_named_and_silent(tmp_path):
    call = Call(tmp_path)
    call.model_sends(0.0, 4800)
    call.heard(1.0, 1, 0, 4800)
    history = call.recorded()
    heard = sound_between(history, tmp_path, history.view_at(1).t, history.view_at(2).t)
    assert heard.missing == ("user",)
    assert not heard.samples[:, 0].any()
    (tmp_path / "model.wav").write_bytes(b"not a track")
    (tmp_path / "user.wav").mkdir()
    heard = sound_between(history, tmp_path, history.view_at(1).t, history.view_at(2).t)
    assert heard.missing == ("user", "model")
    assert not heard.samples.any()


@pytest.mark.parametrize(("first", "count"), [(-5, 100), (10**15, 100), (0, -3), (0, 10**15)])
def test_numbers_that_cannot_be_true_are_no_sound_and_no_error(tmp_path, first, count):
    call = Call(tmp_path)
    call.model_sends(0.5, 2400)
    call.user_speaks(1.0, first, count)
    call.at(1.0, ev.WireAudio(
        direction="received", track="model", rate=RATE, first=first, count=count, frames=(), mime_type="",
    ))  # fmt: skip
    call.heard(1.0, 1, first, count)
    history = call.recorded(np.zeros(10))
    assert len(sound_between(history, tmp_path, 0.0, 2.0).samples) == 2 * RATE
