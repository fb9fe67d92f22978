"""A filter's echo path is given up where it makes the microphone louder."""

from __future__ import annotations

import pytest

from gemini_live_runtime.audio.echo.path_judge import PathJudge


def verdicts(judge: PathJudge, frames: int, microphone: float, left: float, echo: float) -> list[str]:
    return [judge.update(microphone, left, echo) for _ in range(frames)]


def learned() -> PathJudge:
    """Return the judge of a filter that has removed 20 dB of the echo for a second."""
    judge = PathJudge(is_known=False)
    judge.proven = True
    assert set(verdicts(judge, 100, 1e6, 1e4, 1e6)) == {"right"}
    return judge


@pytest.mark.parametrize(("level", "given_up"), [(0.04, False), (1.0, True)])
def test_a_path_is_given_up_for_a_loud_sound_that_it_predicts_wrongly_not_for_a_quiet_one(
    level: float, given_up: bool
) -> None:
    found = verdicts(learned(), 25, level * 1e6, 2 * level * 1e6, level * 1e6)
    assert ("moved" in found) is given_up


def test_after_a_move_the_path_is_learned_before_it_is_judged_again() -> None:
    judge = learned()
    while judge.update(1e6, 2e6, 1e6) == "right":
        pass
    assert set(verdicts(judge, 50, 1e6, 1e4, 1e6)) == {"right"}


def test_a_filter_that_has_known_no_path_yet_is_not_given_up() -> None:
    assert set(verdicts(PathJudge(is_known=False), 50, 1e6, 2e6, 1e6)) == {"right"}


@pytest.mark.parametrize(("left", "echo"), [(1.4e6, 1e6), (0.4e6, 0.2e6)])
def test_a_known_path_that_adds_its_echo_or_removes_too_much_is_another_rooms(left: float, echo: float) -> None:
    judge = PathJudge(is_known=True)
    found = verdicts(judge, 20, 1e6, left, echo)
    assert found.index("another") == 9
    assert set(found[10:]) == {"right"}


@pytest.mark.parametrize(("left", "echo"), [(1e5, 1e6), (9e5, 1e5), (1e6, 1e6)])
def test_a_known_path_is_kept_that_removes_its_echo_whoever_speaks_over_it(left: float, echo: float) -> None:
    assert set(verdicts(PathJudge(is_known=True), 50, 1e6, left, echo)) == {"right"}
