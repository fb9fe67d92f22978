"""Turn taking: holds, back-channels, alternating starts and ends; times in ms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.endpointing.policy import (
    ActivityEnd,
    ActivityStart,
    BackChannel,
    Decision,
    InterruptionStart,
    TurnCommit,
    TurnCommitPolicy,
)


class Floor:
    """A `TurnCommit` told in ms; `did` is what came of each step."""

    def __init__(self, hold: float = 0, interruption: float = 0) -> None:
        self.commit = TurnCommit(TurnCommitPolicy(hold, interruption))

    def start(self, ms: float) -> list[str]:
        return names(self.commit.speech_started(ms / 1000))

    def end(self, ms: float) -> list[str]:
        return names(self.commit.speech_ended(ms / 1000))

    def tick(self, ms: float) -> list[str]:
        return names(self.commit.advance(ms / 1000))

    def model(self, speaking: bool, ms: float = 0) -> list[str]:
        return names(self.commit.model_speaking(speaking, ms / 1000))

    def finish(self, ms: float) -> list[str]:
        return names(self.commit.finish(ms / 1000))


def names(decisions: list[Decision]) -> list[str]:
    return [type(decision).__name__ for decision in decisions]


@pytest.fixture
def floor() -> Floor:
    return Floor(interruption=600)


def test_without_holds_edges_are_decisions() -> None:
    floor = Floor()
    assert floor.start(0) == ["ActivityStart"]
    assert floor.end(100) == ["ActivityEnd"]


def test_speech_within_the_hold_goes_on_with_the_turn() -> None:
    floor = Floor(hold=600)
    assert floor.start(0) == ["ActivityStart"]
    assert floor.end(100) == floor.start(400) == floor.end(500) == floor.tick(1099) == []
    assert floor.tick(1100) == ["ActivityEnd"]


def test_an_end_comes_exactly_when_the_hold_is_over() -> None:
    floor = Floor(hold=400)
    floor.start(0)
    assert floor.end(100) == []
    assert floor.commit.due_at == pytest.approx(0.5)
    assert floor.tick(499) == []
    assert floor.commit.advance(0.5) == [ActivityEnd(0.5, 0.1)]
    assert floor.tick(2000) == []
    assert floor.commit.due_at is None


def test_an_end_that_was_due_comes_before_the_next_start() -> None:
    floor = Floor(hold=600)
    floor.start(0)
    floor.end(100)
    assert floor.start(800) == ["ActivityEnd", "ActivityStart"]


def test_a_back_channel_begins_no_turn_and_is_told_with_what_it_lacked(floor: Floor) -> None:
    floor.model(True)
    assert floor.start(0) == []
    assert floor.commit.speech_ended(0.2) == [BackChannel(0.2, 0.2, 0.6)]
    assert floor.tick(5000) == []
    assert not floor.commit.active


def test_speech_that_lasts_interrupts_the_model(floor: Floor) -> None:
    floor.model(True)
    floor.start(0)
    assert floor.tick(599) == []
    assert floor.commit.advance(0.7) == [InterruptionStart(0.7, 0.0)]
    assert floor.commit.active


def test_long_speech_interrupts_even_when_no_tick_came_before_its_end(floor: Floor) -> None:
    floor.model(True)
    floor.start(0)
    assert floor.end(900) == ["InterruptionStart", "ActivityEnd"]


def test_a_free_floor_is_taken_at_once() -> None:
    assert Floor(hold=800, interruption=1400).start(50) == ["ActivityStart"]


def test_without_a_minimum_speech_interrupts_at_once() -> None:
    floor = Floor(interruption=0)
    floor.model(True)
    assert floor.start(10) == ["InterruptionStart"]


def test_after_interruptions_without_words_the_next_needs_more_speech_until_words_come() -> None:
    floor = Floor(hold=0, interruption=100)
    floor.model(True)
    needed = []
    for number in range(5):
        began = 10_000 * number
        assert floor.start(began) == []
        needed.append(next(ms for ms in range(0, 2000, 100) if floor.tick(began + ms) == ["InterruptionStart"]))
        floor.end(began + 3000)
    floor.commit.on_words()
    floor.start(60_000)
    assert needed == [100, 500, 1000, 1500, 1500]
    assert floor.tick(60_100) == ["InterruptionStart"]


def test_the_floor_is_free_when_the_model_falls_silent_meanwhile(floor: Floor) -> None:
    floor.model(True)
    floor.start(100)
    assert floor.commit.model_speaking(False, 0.3) == [ActivityStart(0.3, 0.1)]


def test_a_model_that_begins_during_the_users_turn_changes_nothing() -> None:
    floor = Floor(hold=400, interruption=600)
    floor.start(0)
    assert floor.model(True, 100) == []
    assert floor.end(200) == floor.start(300) == floor.end(350) == []
    assert floor.tick(750) == ["ActivityEnd"]


def test_no_more_audio_ends_the_turn_without_a_hold() -> None:
    floor = Floor(hold=400, interruption=600)
    floor.start(0)
    assert floor.finish(100) == ["ActivityEnd"]
    assert floor.finish(100) == []
    floor.model(True, 100)
    floor.start(200)
    assert floor.finish(300) == floor.tick(5000) == []


def test_time_does_not_go_back() -> None:
    floor = Floor(hold=100)
    floor.start(1000)
    assert floor.end(500) == floor.tick(1050) == []
    assert floor.tick(1100) == ["ActivityEnd"]


def test_presets_have_names() -> None:
    assert TurnCommitPolicy.named("immediate") == TurnCommitPolicy(0, 0) == TurnCommitPolicy.IMMEDIATE
    assert TurnCommitPolicy.named("responsive") == TurnCommitPolicy(400, 200) == TurnCommitPolicy.RESPONSIVE
    assert TurnCommitPolicy.named("conversational") == TurnCommitPolicy(800, 1400) == TurnCommitPolicy.CONVERSATIONAL
    with pytest.raises(AgentError, match="immediate, responsive, conversational"):
        TurnCommitPolicy.named("eager")


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_a_hold_that_cannot_be_is_refused(value: float) -> None:
    with pytest.raises(AgentError) as error:
        TurnCommitPolicy(value, 0)
    assert error.value.field == "end_of_turn_hold_ms"


STEPS = st.lists(
    st.tuples(st.integers(0, 900), st.sampled_from(["start", "end", "model", "silent", "tick", "finish"])), max_size=40
)


@given(STEPS, st.integers(0, 1000), st.integers(0, 1500))
def test_starts_and_ends_alternate_and_no_end_comes_before_its_hold(
    steps: list[tuple[int, str]], hold: int, interruption: int
) -> None:
    commit = TurnCommit(TurnCommitPolicy(hold, interruption))
    now = 0.0
    voice = model = active = False
    voice_since = quiet_since = 0.0
    for wait, step in steps:
        now += wait / 1000
        was_voice = voice
        if step == "start":
            decisions = commit.speech_started(now)
            voice, voice_since = True, voice_since if voice else now
        elif step == "end":
            decisions = commit.speech_ended(now)
            voice, quiet_since = False, now if voice else quiet_since
        elif step in ("model", "silent"):
            decisions = commit.model_speaking(step == "model", now)
        elif step == "finish":
            decisions = commit.finish(now)
        else:
            decisions = commit.advance(now)
        for decision in decisions:
            if isinstance(decision, BackChannel):
                assert not active
                continue
            assert isinstance(decision, ActivityEnd) == active
            active = not active
            assert decision.at_s == now
            if isinstance(decision, ActivityEnd) and step != "finish":
                assert now - quiet_since >= hold / 1000 - 1e-6 or (step == "end" and hold == 0)
            if isinstance(decision, InterruptionStart):
                assert model
                assert was_voice or step == "start"
                assert now - voice_since >= interruption / 1000 - 1e-6
        if step in ("model", "silent"):
            model = step == "model"
        if step == "finish":
            voice = False
        assert commit.active == active


@given(st.integers(1, 1400), st.data())
def test_speech_shorter_than_an_interruption_never_does_anything(interruption: int, data: st.DataObject) -> None:
    commit = TurnCommit(TurnCommitPolicy(0, interruption))
    commit.model_speaking(True, 0.0)
    now = 0.0
    for _ in range(data.draw(st.integers(1, 5))):
        now += data.draw(st.integers(0, 500)) / 1000
        assert commit.speech_started(now) == []
        now += data.draw(st.integers(0, interruption - 1)) / 1000
        assert all(isinstance(decision, BackChannel) for decision in commit.speech_ended(now))


def test_an_edge_told_twice_moves_nothing() -> None:
    floor = Floor(hold=400, interruption=600)
    floor.start(0)
    assert floor.end(100) == floor.end(300) == []
    assert floor.tick(500) == ["ActivityEnd"]
    floor.model(True, 500)
    assert floor.start(600) == floor.start(1000) == []
    assert floor.tick(1200) == ["InterruptionStart"]


def test_what_is_due_in_a_pause_waits_for_the_voice(floor: Floor) -> None:
    floor.model(True)
    floor.commit.speech_started(0.08, 0.02)
    floor.commit.voiced = False
    assert floor.tick(700) == floor.model(False, 720) == []
    floor.commit.voiced = True
    assert floor.commit.advance(0.74) == [ActivityStart(0.74, 0.02)]


def test_a_pause_at_the_end_does_not_make_speech_longer(floor: Floor) -> None:
    floor.model(True)
    floor.commit.speech_started(0.1, 0.02)
    floor.commit.voiced = False
    assert floor.commit.speech_ended(0.66, 0.42) == [BackChannel(0.66, pytest.approx(0.4), 0.6)]
