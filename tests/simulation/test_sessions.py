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


def test_a_call_of_a_tool_that_only_the_last_agent_had_is_waited_for() -> None:
    # The desk has no tool of this name, so its connection does not declare that the model goes on meanwhile.
    found = run(6067)
    assert judged(found) == ""
    heard = [entry.data["frame"] for entry in found.timeline.entries if entry.kind == "heard"]
    setups = [frame["setup"] for frame in heard if "setup" in frame]
    desks = [setup for setup in setups if "at the desk" in str(setup["systemInstruction"])]
    assert desks
    assert not any("'ticket'" in str(setup["tools"]) for setup in desks)


@pytest.mark.parametrize("seed", [750386, 750938])
def test_an_agent_enters_before_another_one_that_waits_takes_over(seed: int) -> None:
    # Both became possible with the connection: `on_enter` was begun after the hand-off that was the next step.
    assert judged(run(seed)) == ""
