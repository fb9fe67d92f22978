"""Many sessions against the reference model; a failure prints its command."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.simulation.actions import ACTIONS
from tests.simulation.judging import SHARDS, covered, judged, shard
from tests.simulation.running import run


@pytest.mark.parametrize("number", range(SHARDS))
def test_sessions_keep_every_promise_whatever_happens_in_whatever_order(number: int) -> None:
    _, broken = shard(number)
    assert not broken, f"{len(broken)} sessions broke a promise\n" + "\n".join(broken[:10])


def test_every_action_and_every_possible_pair_of_actions_occurred(
    record_property: Callable[[str, object], None],
) -> None:
    whole = covered()
    for line in whole.report():
        record_property("summary", line)
    assert set(whole.actions) == set(ACTIONS)
    assert not whole.missing
    assert not whole.surprising


def test_a_seed_is_a_session() -> None:
    for seed in (3, 77, 512):
        first, second = run(seed), run(seed)
        assert [str(entry) for entry in first.timeline.entries] == [str(entry) for entry in second.timeline.entries]
        assert first.facts["state"] == second.facts["state"]


def test_an_armed_prompt_waits_for_the_end_of_the_newest_answer() -> None:
    # Two answers end within one report of the device: the prompt went out between them.
    assert judged(run(5342)) == ""
