"""Every public call returns, or refuses its arguments in a sentence.

The calls are found in the classes themselves, so that a new one is tested as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterator
from enum import Enum
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.session.talking import Talk, agent, talk, two_phases
from tests.support.any_arguments import arguments_of

import gemini_live_runtime
from gemini_live_runtime import AgentSession, Live, State, tool
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import GeminiLiveError

UNSHRUNK = (Phase.explicit, Phase.generate)
"""Examples are found and not made smaller, which would take minutes: each is a session with all of its calls."""

Call = tuple[str, Callable[..., Any]]

NOT_BUILDING = {"builder", "connect", "ignored_settings", "plan"}
BUILDING = [name for name, _ in inspect.getmembers(Live, inspect.isfunction) if name[0] != "_"]


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Take errors that are sentences."""
    try:
        yield
    except GeminiLiveError as error:
        if not str(error):
            raise AssertionError("an error without words") from error


def planned(of: Live) -> None:
    """Make the plan of an agent and what is read of it."""
    plan = of.plan()
    assert all(isinstance(text, str) for text in (*plan.warnings(), *plan.ignored_settings()))


@pytest.mark.parametrize("name", sorted(set(BUILDING) - NOT_BUILDING))
@given(data=st.data())
@settings(max_examples=8)
def test_every_call_of_the_builder_makes_an_agent_or_refuses(name: str, data: st.DataObject) -> None:
    base = agent().phase(*two_phases()) if data.draw(st.booleans()) else Live.builder("bare")
    call = getattr(base, name)
    args, named = arguments_of(call, data)
    with refusals():
        planned(call(*args, **named))


OF_RUNNING_SESSIONS = {
    *("AgentHandoff", "BackgroundAgentDispatcher", "BackgroundToolTracker", "ComputedRegistry", "ContextNote"),
    *("DeferredWriter", "ForwardOutcome", "FunctionToolsExecutedEvent", "Harness", "HarnessController"),
    *("HarnessRuntimeBridge", "HarnessToolRegistry", "HarnessToolRuntime", "InputVad", "LiveEffectExecutor"),
    *("LiveHandle", "LiveReactor", "PassiveNotificationPump", "PendingContext", "PhaseMachine", "RunContext"),
    *("RunResult", "SessionSignals", "SessionTelemetry", "SoftTurnDetector", "SpeechHandle", "TemporalRegistry"),
    *("TranscriptBuffer", "WatcherRegistry", "AgentSession.of", "PhaseTransition.from_json", "SessionSnapshot.take"),
    *("format_passive_notification_prompt", "run_virtual"),
}
"""Names that agents are not made of: the runtime makes them, or gives them to programs."""


def parts() -> Iterator[Call]:
    """Yield the functions, classes and class methods that agents are made of."""
    for name in sorted(set(gemini_live_runtime.__all__) - OF_RUNNING_SESSIONS):
        value = getattr(gemini_live_runtime, name)
        if not isinstance(value, type):
            if callable(value):
                yield name, value
            continue
        if issubclass(value, Enum):
            continue
        if not inspect.isabstract(value) and not getattr(value, "_is_protocol", False):
            yield name, value
        for method, _ in inspect.getmembers(value):
            is_of_class = isinstance(inspect.getattr_static(value, method), classmethod | staticmethod)
            if is_of_class and method[0] != "_" and f"{name}.{method}" not in OF_RUNNING_SESSIONS:
                yield f"{name}.{method}", getattr(value, method)


PARTS = dict(parts())


@pytest.mark.parametrize("name", PARTS)
@given(data=st.data())
@settings(max_examples=8)
def test_every_part_of_an_agent_is_made_or_refused(name: str, data: st.DataObject) -> None:
    args, named = arguments_of(PARTS[name], data)
    with refusals():
        PARTS[name](*args, **named)


ENDING = {"aclose", "disconnect", "drain", "shutdown"}
OF_THE_RUNTIME = {
    *("attach", "close", "place_of_call", "spawn_hook"),
    *("declare", "locked", "on_mutations", "provide", "redeclare", "remove_derived", "set_derived", "take_mutations"),
    "track",
}
"""Methods that other modules of the runtime call, and programs do not."""


CALLING = {"call", "modify"}
"""Methods that call a function of the program's, and raise what it raises."""


def calls_of(t: Talk) -> Iterator[Call]:
    """Yield each public method and property of a running session, with its name."""
    session = AgentSession.of(t.handle)
    owners: dict[str, Any] = {
        "handle": t.handle,
        "session": session,
        "harness": t.handle.harness,
        "agents": t.handle.agents,
        "state": t.handle.state,
    }
    # Code that decides gets none.
    with refusals():
        owners["writer"] = t.handle.writer()
    for owner, of in owners.items():
        for name in dir(type(of)):
            if name[0] == "_" or name in OF_THE_RUNTIME | CALLING:
                continue
            if isinstance(inspect.getattr_static(type(of), name), property):
                yield f"{owner}.{name}", partial(getattr, of, name)
            elif callable(getattr(of, name)):
                yield f"{owner}.{name}", getattr(of, name)


async def waited(result: Awaitable[Any]) -> None:
    """Wait a little for a result, as it may never come."""
    await asyncio.wait_for(asyncio.ensure_future(result), 0.1)


async def on_the_loop(call: Callable[[], Any]) -> None:
    """Call on the session's own thread."""
    result = call()
    if inspect.isawaitable(result):
        await waited(result)


async def on_a_thread(call: Callable[[], Any]) -> None:
    """Call on another thread, with a loop of its own for what is awaited."""

    def run() -> None:
        result = call()
        if inspect.iscoroutine(result):
            asyncio.run(waited(result))

    await asyncio.to_thread(run)


async def tried(run: Callable[[Callable[[], Any]], Awaitable[None]], t: Talk, data: st.DataObject, ends: bool) -> None:
    """Make each call of a session once, with drawn arguments."""
    for name, call in calls_of(t):
        if not ends and name.partition(".")[2] in ENDING:
            continue
        args, named = ([], {}) if isinstance(call, partial) else arguments_of(call, data)
        try:
            with refusals(), contextlib.suppress(TimeoutError):
                await run(partial(call, *args, **named))
        except Exception as error:
            raise AssertionError(f"{name}(*{args!r}, **{named!r}) raised {error!r}") from error


@pytest.mark.parametrize("moment", ["before it is connected", "while it runs", "after its end"])
@pytest.mark.parametrize("run", [on_the_loop, on_a_thread])
@given(data=st.data())
@settings(max_examples=3, phases=UNSHRUNK)
def test_every_call_of_a_session_returns_or_refuses(run: Any, moment: str, data: st.DataObject) -> None:
    async def main() -> None:
        async with talk(agent().phase(*two_phases()), begins=moment == "while it runs") as t:
            if moment == "after its end":
                t.stage.session.hang_up("the test is over")
                await t.handle.done
            await tried(run, t, data, ends=moment == "after its end")
            if moment == "while it runs":
                await t.turn()
                assert not t.stage.session.done.done()

    run_virtual(main())


@given(data=st.data())
@settings(max_examples=5, phases=UNSHRUNK)
def test_every_call_returns_or_refuses_in_a_tool_and_in_a_listener(data: st.DataObject) -> None:
    held: list[Talk] = []
    problems: list[BaseException] = []
    begun: list[str] = []

    async def use(where: str) -> None:
        if where in begun or not held:
            return
        begun.append(where)
        try:
            await tried(on_the_loop, held[0], data, ends=False)
        except Exception as error:
            problems.append(error)

    @tool(timeout_s=600)
    async def work() -> str:
        """Work."""
        await use("tool")
        return "done"

    async def listen(number: int) -> None:
        await use("listener")

    async def main() -> None:
        of = agent().phase(*two_phases()).tools(work).on("turn_complete", listen, concurrent=True)
        async with talk(of) as t:
            held.append(t)
            await t.turn()
            await t.passes(10)
            await t.calls("work")
            await t.passes(10)

    run_virtual(main())
    assert (problems, begun) == ([], ["listener", "tool"])


@given(data=st.data())
@settings(max_examples=5, phases=UNSHRUNK)
def test_nothing_that_a_guard_calls_changes_the_session(data: st.DataObject) -> None:
    held: list[Talk] = []
    found: list[Any] = []

    def decide(state: State) -> bool:
        if not held:
            return False
        t = held.pop()
        before = (t.state.snapshot(), t.state.sequence, len(t.wire), t.stage.session.orchestrator.agent.turn_count)
        for name, call in calls_of(t):
            if name.endswith(("events", "stream", "bridge")):
                continue
            args, named = ([], {}) if isinstance(call, partial) else arguments_of(call, data)
            with refusals(), contextlib.suppress(StopIteration):
                result = call(*args, **named)
                if inspect.iscoroutine(result):
                    result.send(None)
                    result.close()
            after = (t.state.snapshot(), t.state.sequence, len(t.wire), t.stage.session.orchestrator.agent.turn_count)
            if after != before:
                found.append(name)
        return False

    async def main() -> None:
        async with talk(agent().state(values={"app:x": [1]}).phase(*two_phases(decide))) as t:
            await t.turn()
            held.append(t)
            wire, phases = t.wire, t.phases
            await t.writes(other=1)
            await t.passes(5)
            assert not held
            assert (found, t.wire, t.phases) == ([], wire, phases)
            assert not t.stage.session.done.done()

    run_virtual(main())
