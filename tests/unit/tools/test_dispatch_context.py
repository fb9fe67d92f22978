"""Context of a running tool: state, cancellation, agents, limits."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.declaration import Tool, ToolContext, tool
from gemini_live_runtime.tools.dispatch import MAX_BACKGROUND, MAX_CONCURRENT, MAX_TASKS, Outcome, ToolDispatcher


class Bench:
    def __init__(self, *tools: Tool, state: State | None = None) -> None:
        self.outcomes: asyncio.Queue[Outcome] = asyncio.Queue()
        self.dispatcher = ToolDispatcher(
            tools, clock=LoopClock(), on_finished=self.outcomes.put_nowait, on_notify=lambda *_: None, state=state
        )

    async def call(self, name: str, **args: Any) -> Outcome:
        self.dispatcher.start("c1", name, args)
        return await self.outcomes.get()


def origin(state: State, key: str) -> Origin | None:
    found = state.evidence(key)
    return None if found is None else found.origin


def test_the_origin_of_a_tools_write_is_the_tool() -> None:
    state = State()

    @tool
    async def later(state: State) -> None:
        """Write."""
        await asyncio.sleep(1)
        state.set("app:later", 1)

    @tool
    def plain(ctx: ToolContext) -> None:
        """Write."""
        assert ctx.state is not None
        ctx.state.set("app:plain", 1)

    @tool
    def mixed() -> Any:
        """Write."""
        state.set("app:thread", 1)

        async def rest() -> None:
            state.set("app:loop", 1)

        return rest()

    async def main() -> None:
        bench = Bench(later, plain, mixed, state=state)
        for name in ("later", "plain", "mixed"):
            assert (await bench.call(name)).status == "ok"
        state.set("app:other", 1)

    run_virtual(main())
    assert origin(state, "app:later") == Origin("tool", "later")
    assert origin(state, "app:plain") == Origin("tool", "plain")
    assert origin(state, "app:thread") == origin(state, "app:loop") == Origin("tool", "mixed")
    assert origin(state, "app:other") == Origin("program")


def test_a_tool_with_a_state_parameter_needs_a_session_with_a_state() -> None:
    @tool
    def note(state: State) -> None:
        """Note."""

    with pytest.raises(AgentError, match=r"note \(test_dispatch_context.py:\d+\) has a State parameter"):
        Bench(note)


def test_a_cancellation_is_seen_by_a_plain_function() -> None:
    seen = threading.Event()

    @tool
    def long(ctx: ToolContext) -> None:
        """Take long."""
        if ctx.cancelled.wait(PATIENCE_S):
            seen.set()

    async def main() -> None:
        bench = Bench(long)
        bench.dispatcher.start("c1", "long", {})
        await asyncio.sleep(0)
        assert bench.dispatcher.cancel("c1")
        assert (await bench.outcomes.get()).status == "cancelled"

    run_virtual(main())
    assert seen.wait(PATIENCE_S)


def test_a_timeout_is_seen_by_a_plain_function_as_a_cancellation() -> None:
    seen = threading.Event()

    @tool(timeout_s=0.05)
    def long(ctx: ToolContext) -> None:
        """Take long."""
        if ctx.cancelled.wait(PATIENCE_S):
            seen.set()

    async def main() -> None:
        assert (await Bench(long).call("long")).status == "timeout"

    run_virtual(main())
    assert seen.wait(PATIENCE_S)


def test_the_outcome_keeps_the_arguments_of_its_own_call() -> None:
    @tool
    async def nap(seconds: int) -> None:
        """Nap."""
        await asyncio.sleep(seconds)

    async def main() -> None:
        bench = Bench(nap)
        bench.dispatcher.start("slow", "nap", {"seconds": 2})
        bench.dispatcher.start("fast", "nap", {"seconds": 1})
        ended = [await bench.outcomes.get() for _ in range(2)]
        assert [(one.call_id, one.args) for one in ended] == [("fast", {"seconds": 1}), ("slow", {"seconds": 2})]

    run_virtual(main())


def test_wrong_arguments_do_not_run_the_tool() -> None:
    ran = []

    @tool
    def count(n: int) -> None:
        """Count."""
        ran.append(n)

    async def main() -> None:
        outcome = await Bench(count).call("count", n="many")
        assert outcome.status == "refused"
        assert outcome.result["error"].startswith("Bad arguments for count: n: ")

    run_virtual(main())
    assert ran == []


def test_numbers_that_json_does_not_have_become_null() -> None:
    @tool
    def mean() -> Any:
        """Mean."""
        return {"mean": math.nan, "all": [math.inf, 1.5]}

    async def main() -> None:
        assert (await Bench(mean).call("mean")).result == {"mean": None, "all": [None, 1.5]}

    run_virtual(main())


def test_a_tool_that_calls_exit_answers_with_an_error() -> None:
    @tool
    async def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    async def main() -> None:
        outcome = await Bench(leave).call("leave")
        assert (outcome.status, outcome.result) == ("error", {"error": "it called sys.exit(3)"})

    run_virtual(main())


def test_a_tool_that_gives_up_by_itself_is_cancelled() -> None:
    @tool
    async def give_up() -> None:
        """Give up."""
        raise asyncio.CancelledError

    async def main() -> None:
        assert (await Bench(give_up).call("give_up")).status == "cancelled"

    run_virtual(main())


def test_background_calls_have_more_time_and_a_place_of_their_own() -> None:
    @tool(background=True)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(500)
        return "found"

    @tool
    async def nap() -> None:
        """Nap."""
        await asyncio.sleep(1)

    async def main() -> None:
        bench = Bench(search, nap)
        for number in range(MAX_BACKGROUND + 1):
            bench.dispatcher.start(f"b{number}", "search", {})
        refused = await bench.outcomes.get()
        assert (refused.call_id, refused.status) == (f"b{MAX_BACKGROUND}", "refused")
        for number in range(MAX_CONCURRENT):
            bench.dispatcher.start(f"s{number}", "nap", {})
        assert bench.dispatcher.background.active_count == MAX_BACKGROUND
        assert bench.dispatcher.open_calls == MAX_CONCURRENT + MAX_BACKGROUND
        ended = [await bench.outcomes.get() for _ in range(bench.dispatcher.open_calls)]
        assert {one.status for one in ended} == {"ok"}
        assert ended[-1].ms == 500_000

    run_virtual(main())


def test_background_calls_are_cancelled_by_id_and_at_the_end() -> None:
    @tool(background=True)
    async def search() -> None:
        """Search."""
        await asyncio.sleep(500)

    async def main() -> None:
        bench = Bench(search)
        bench.dispatcher.start("a", "search", {})
        bench.dispatcher.start("b", "search", {})
        assert bench.dispatcher.cancel("a")
        assert (await bench.outcomes.get()).call_id == "a"
        await bench.dispatcher.close()
        assert (await bench.outcomes.get()).status == "cancelled"
        assert bench.dispatcher.open_calls == 0

    run_virtual(main())


def test_the_mode_of_a_call_is_known_by_its_name() -> None:
    @tool(background=True)
    def search() -> None:
        """Search."""

    bench = Bench(search)
    assert bench.dispatcher.mode_of("search").is_background
    assert not bench.dispatcher.mode_of("unknown").is_background


def test_calls_without_an_id_get_one_each_even_when_refused() -> None:
    async def main() -> None:
        bench = Bench()
        assert [bench.dispatcher.start("", "nowhere", {}) for _ in range(2)] == ["unnumbered-1", "unnumbered-2"]
        assert (await bench.outcomes.get()).call_id == "unnumbered-1"

    run_virtual(main())


def test_so_many_calls_go_on_as_tasks_and_the_model_waits_for_a_further_one() -> None:
    @tool
    async def endless() -> None:
        """Wait."""
        await asyncio.sleep(math.inf)

    async def main() -> None:
        bench = Bench(endless)
        for number in range(MAX_TASKS + 1):
            bench.dispatcher.start(f"c{number}", "endless", {})
            assert bench.dispatcher.continue_as_task(f"c{number}") is (number < MAX_TASKS)
        await bench.dispatcher.close()

    run_virtual(main())
