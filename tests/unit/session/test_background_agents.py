"""Text agents beside the conversation: permits, and results in the state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.agent.background_agents import MAX_TEXT, MAX_WAITING, BackgroundAgentDispatcher
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.store import State


class Script:
    """An agent that does what a test says."""

    def __init__(self, act: Callable[[State], Awaitable[Any]]) -> None:
        self._act = act

    async def run(self, state: State) -> str:
        result: str = await self._act(state)
        return result


def says(text: Any, after: float = 1) -> Script:
    async def act(state: State) -> Any:
        await asyncio.sleep(after)
        return text

    return Script(act)


def fails(error: BaseException) -> Script:
    async def act(state: State) -> str:
        raise error

    return Script(act)


class Harness:
    def __init__(self, max_concurrent: int = 2) -> None:
        self.state = State()
        self.told: list[tuple[str, bool, str]] = []
        self.agents = BackgroundAgentDispatcher(
            max_concurrent,
            clock=LoopClock(),
            timeout_s=60,
            on_finished=lambda name, ok, text: self.told.append((name, ok, text)),
        )

    def bg(self) -> dict[str, Any]:
        return {key: self.state.get(key) for key in self.state.keys("bg")}


def with_desk(scenario: Callable[[Harness], Awaitable[None]]) -> None:
    async def main() -> None:
        harness = Harness()
        await scenario(harness)
        await harness.agents.close()

    run_virtual(main())


def test_a_result_comes_to_the_state_as_the_agents() -> None:
    async def scenario(harness: Harness) -> None:
        harness.agents.dispatch("research", says("three rooms"), harness.state)
        assert harness.agents.is_running("research")
        await asyncio.sleep(2)
        assert harness.bg() == {"bg:research:result": "three rooms"}
        evidence = harness.state.evidence("bg:research:result")
        assert evidence is not None
        assert evidence.origin == Origin("agent", "research")
        assert harness.told == [("research", True, "three rooms")]
        assert (harness.agents.is_running("research"), harness.agents.active_count) == (False, 0)

    with_desk(scenario)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (fails(ValueError("no network")), "no network"),
        (fails(SystemExit(2)), "sys.exit"),
        (fails(KeyError()), "KeyError"),
        (says(7), "returned int, not a string"),
        (says("late", after=100), "longer than 60 s"),
    ],
)
def test_an_error_comes_to_the_state_and_stays_in_its_run(agent: Script, words: str) -> None:
    async def scenario(harness: Harness) -> None:
        harness.agents.dispatch("research", agent, harness.state)
        harness.agents.dispatch("other", says("fine"), harness.state)
        await asyncio.sleep(70)
        assert words in harness.state.get("bg:research:error")
        assert "bg:research:result" not in harness.state
        assert harness.state.get("bg:other:result") == "fine"

    with_desk(scenario)


def test_a_new_run_clears_what_the_last_one_left() -> None:
    async def scenario(harness: Harness) -> None:
        harness.agents.dispatch("research", fails(ValueError("no network")), harness.state)
        await asyncio.sleep(1)
        harness.agents.dispatch("research", says("found"), harness.state)
        assert harness.bg() == {}
        await asyncio.sleep(2)
        assert harness.bg() == {"bg:research:result": "found"}
        harness.agents.dispatch("research", fails(ValueError("gone")), harness.state)
        await asyncio.sleep(2)
        assert harness.bg() == {"bg:research:error": "gone"}

    with_desk(scenario)


def test_permits_bound_how_many_run_and_the_others_wait() -> None:
    async def scenario(harness: Harness) -> None:
        for name in "abc":
            harness.agents.dispatch(name, says(name, after=10), harness.state)
        assert (harness.agents.available_permits, harness.agents.active_count) == (0, 3)
        assert harness.agents.is_running("c")
        await asyncio.sleep(11)
        assert [name for name, _, _ in harness.told] == ["a", "b"]
        assert harness.agents.available_permits == 1
        await asyncio.sleep(10)
        assert harness.state.get("bg:c:result") == "c"
        assert (harness.agents.available_permits, harness.agents.active_count) == (2, 0)

    with_desk(scenario)


def test_waiting_for_a_permit_is_no_part_of_the_time_limit() -> None:
    async def scenario(harness: Harness) -> None:
        for name in "abcd":
            harness.agents.dispatch(name, says(name, after=50), harness.state)
        await asyncio.sleep(101)
        assert [ok for _, ok, _ in harness.told] == [True] * 4

    with_desk(scenario)


def test_a_name_that_is_running_is_refused() -> None:
    async def scenario(harness: Harness) -> None:
        harness.agents.dispatch("research", says("first"), harness.state)
        with pytest.raises(AgentError, match="research is already running"):
            harness.agents.dispatch("research", says("second"), harness.state)
        await asyncio.sleep(2)
        assert harness.state.get("bg:research:result") == "first"

    with_desk(scenario)


def test_cancelling_one_keeps_the_others_and_leaves_no_result() -> None:
    async def scenario(harness: Harness) -> None:
        for name in "abc":
            harness.agents.dispatch(name, says(name, after=5), harness.state)
        await asyncio.sleep(1)
        assert harness.agents.cancel("a")
        assert harness.agents.cancel("c")
        assert not harness.agents.cancel("nobody")
        await asyncio.sleep(10)
        assert harness.bg() == {"bg:b:result": "b"}
        assert sorted(harness.told) == [("a", False, "cancelled"), ("b", True, "b"), ("c", False, "cancelled")]

    with_desk(scenario)


def test_cancelling_all_leaves_nothing() -> None:
    async def scenario(harness: Harness) -> None:
        for name in "abc":
            harness.agents.dispatch(name, says(name, after=5), harness.state)
        assert sorted(harness.agents.cancel_all()) == ["a", "b", "c"]
        await asyncio.sleep(10)
        assert (harness.bg(), harness.agents.active_count, harness.agents.available_permits) == ({}, 0, 2)
        assert len(harness.told) == 3

    with_desk(scenario)


async def test_the_listener_may_dispatch_the_same_name_again() -> None:
    state = State()
    rounds: list[str] = []

    def again(name: str, ok: bool, text: str) -> None:
        rounds.append(text)
        if len(rounds) < 3:
            agents.dispatch(name, says(str(len(rounds))), state)

    agents = BackgroundAgentDispatcher(1, clock=LoopClock(), on_finished=again)
    agents.dispatch("research", says("0"), state)
    await asyncio.sleep(10)
    assert rounds == ["0", "1", "2"]


def test_too_many_waiting_are_refused() -> None:
    async def scenario(harness: Harness) -> None:
        for number in range(2 + MAX_WAITING):
            harness.agents.dispatch(f"a{number}", says("x"), harness.state)
        with pytest.raises(AgentError, match="Too many"):
            harness.agents.dispatch("more", says("x"), harness.state)

    with_desk(scenario)


def test_a_result_without_end_is_cut_and_says_so() -> None:
    async def scenario(harness: Harness) -> None:
        harness.agents.dispatch("research", says("x" * (MAX_TEXT + 5)), harness.state)
        await asyncio.sleep(2)
        assert harness.state.get("bg:research:result").endswith("x ... (5 more characters)")

    with_desk(scenario)


@pytest.mark.parametrize(
    "act",
    [
        lambda harness: harness.agents.dispatch("", says("x"), harness.state),
        lambda harness: harness.agents.dispatch("a:b", says("x"), harness.state),
        lambda harness: harness.agents.dispatch("a", says("x"), harness.state, timeout_s=0),
        lambda harness: BackgroundAgentDispatcher(0, clock=LoopClock()),
    ],
)
def test_what_cannot_be_used_is_refused(act: Callable[[Harness], Any]) -> None:
    async def scenario(harness: Harness) -> None:
        with pytest.raises(AgentError):
            act(harness)

    with_desk(scenario)


def test_an_agent_that_awaits_what_was_cancelled_has_failed() -> None:
    async def scenario(h: Harness) -> None:
        h.agents.dispatch("a", fails(asyncio.CancelledError()), h.state)
        await asyncio.sleep(1)
        assert h.bg() == {"bg:a:error": "CancelledError"}

    with_desk(scenario)


def test_who_outlives_the_loop_is_refused_an_agent() -> None:
    async def made() -> BackgroundAgentDispatcher:
        return BackgroundAgentDispatcher(clock=LoopClock())

    agents = asyncio.run(made())
    with ThreadPoolExecutor() as pool, pytest.raises(GeminiLiveError, match="The session has ended"):
        pool.submit(agents.dispatch, "late", says("x"), State()).result()
