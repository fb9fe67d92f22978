"""Agents that are awaited inside a tool or a hook of another one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Agent, InlineTask, Live, Phase, RunContext, State, Transition, key, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError


class Payment(InlineTask[str]):
    """Ask for a card."""

    def __init__(self) -> None:
        super().__init__(instructions="Ask for the card.", greeting="Ask how they pay.")

    @tool
    def give_card(self, number: str) -> str:
        """Take the number of the card."""
        self.complete(f"card {number}")
        return "thank you"

    @tool
    def refuse(self) -> str:
        """Note that they do not want to pay."""
        self.complete(ValueError("they do not pay"))
        return "that is fine"


class Nested(InlineTask[str]):
    """Ask for a payment inside another task."""

    def __init__(self) -> None:
        super().__init__(instructions="Wrap the payment.")

    @tool
    async def wrap(self, context: RunContext) -> str:
        """Wrap."""
        self.complete(f"wrapped {await Payment()}")
        return "wrapped"


def paying(task: type[InlineTask[str]] = Payment, seen: list[Any] | None = None) -> Live:
    """Return an agent whose tool `check_out` awaits a task."""

    @tool
    async def check_out(context: RunContext) -> str:
        """Let them pay."""
        try:
            paid = await task()
        except Exception as error:
            if seen is not None:
                seen.append(error)
            raise
        context.userdata.set("app:paid", paid)
        return paid

    return agent().tools(check_out)


async def begins_task(t: Talk, name: str = "check_out") -> dict[str, Any]:
    """Let the model call the tool that awaits a task; return the next setup."""
    await t.hears("I want to pay")
    await t.calls(name)
    return await t.connects_again()


async def finishes(t: Talk, call: str, **args: Any) -> dict[str, Any]:
    """Let the model of the task call its last tool; return the next setup."""
    await t.calls(call, **args)
    await t.says("Thank you.")
    await t.ends()
    return await t.connects_again()


async def test_a_task_speaks_in_place_of_the_agent_and_its_result_is_that_of_the_await() -> None:
    async with talk(paying()) as t:
        setup = await begins_task(t)
        assert setup["systemInstruction"]["parts"][0]["text"] == "Ask for the card."
        assert t.sent("prompt") == [("prompt",)]
        await t.says("How do you pay?")
        await t.ends()
        setup = await finishes(t, "give_card", number="42")
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."
        assert t.state["app:paid"] == "card 42"
        # The model of this connection does not know the call: it is told what came of it.
        assert "card 42" in str(t.wire)
    handed = [(item.previous, item.agent, item.by) for item in t.all(ev.AgentHandedOff)]
    assert handed == [("test", "payment", "task"), ("payment", "test", "task")]
    assert [(done.name, done.status) for done in t.all(ev.ToolFinished)][-1] == ("check_out", "ok")


async def test_an_agent_that_waited_for_a_task_goes_on_in_its_phase_without_beginning_again() -> None:
    entered: list[str] = []
    phases = (
        Phase("first", "One.", transitions=Transition("second", key("app:go"))),
        Phase("second", "Two.", on_enter=lambda state: entered.append("second"), terminal=True),
    )
    waiting = paying().phase(*phases).on_enter(lambda: entered.append("agent")).greeting("Hello.")
    async with talk(waiting) as t:
        await t.writes(go=True)
        await t.turn()
        assert entered == ["agent", "second"]
        await begins_task(t)
        assert t.handle.phase == ""
        setup = await finishes(t, "give_card", number="1")
        assert "Two." in setup["systemInstruction"]["parts"][0]["text"]
        assert (t.handle.phase, t.state["session:phase"]) == ("second", "second")
    assert entered == ["agent", "second"]


async def test_an_error_that_a_task_is_completed_with_is_raised_where_it_is_awaited() -> None:
    seen: list[Any] = []
    async with talk(paying(seen=seen)) as t:
        await begins_task(t)
        await finishes(t, "refuse")
        assert [str(error) for error in seen] == ["they do not pay"]


async def test_a_task_may_await_another_one() -> None:
    async with talk(paying(Nested)) as t:
        await begins_task(t)
        await t.calls("wrap")
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Ask for the card."
        # The task that waited is complete with it, and has nothing more to say.
        setup = await finishes(t, "give_card", number="7")
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."
        assert t.state["app:paid"] == "wrapped card 7"


async def test_no_time_limit_runs_while_a_task_is_awaited() -> None:
    async with talk(paying()) as t:
        await begins_task(t)
        await t.passes(100)
        await finishes(t, "give_card", number="2")
        assert t.state["app:paid"] == "card 2"


async def test_the_end_of_the_session_fails_a_task() -> None:
    seen: list[Any] = []
    async with talk(paying(seen=seen)) as t:
        await begins_task(t)
    assert [str(error).split(": ", 1)[1] for error in seen] == ["the session ended."]


async def test_an_agent_that_takes_over_from_a_task_fails_it_and_goes_on_itself() -> None:
    seen: list[Any] = []
    async with talk(paying(seen=seen)) as t:
        await begins_task(t)
        await t.says("How do you pay?")
        await t.ends()
        t.stage.session.agent_session.update_agent(Live.builder("boss").instruction("Decide."))
        setup = await t.connects_again()
        await t.passes(5)
        assert setup["systemInstruction"]["parts"][0]["text"] == "Decide."
        assert [str(error).split(": ", 1)[1] for error in seen] == ["boss took over."]
    assert t.all(ev.AgentHandedOff)[-1].agent == "boss"


async def test_a_task_is_awaited_once_and_only_in_its_place() -> None:
    problems: list[str] = []

    class Asking(Agent):
        """Await a task in on_enter, twice."""

        async def on_enter(self) -> None:
            task = Payment()
            assert await task == "card 9"
            try:
                await task
            except AgentError as error:
                problems.append(error.message)

    with pytest.raises(AgentError, match="outside of an agent's tools and on_enter"):
        await Payment()
    with pytest.raises(AgentError, match="does not run"):
        Payment().complete("early")
    async with talk(Asking(instructions="Ask.")) as t:
        await t.connects_again()
        await finishes(t, "give_card", number="9")
        assert problems == ["The task payment was awaited already"]


async def test_a_task_cannot_be_awaited_in_on_exit() -> None:
    problems: list[str] = []

    async def leave() -> None:
        try:
            await Payment()
        except AgentError as error:
            problems.append(str(error))

    async with talk(agent().on_exit(leave)) as t:
        await t.rests()
    assert problems == [
        "The task payment is awaited in on_exit: another agent takes over, or the session ends. "
        "Await it in the tool, before it returns the other agent."
    ]


async def test_a_task_is_completed_once() -> None:
    class Twice(InlineTask[int]):
        """Complete twice."""

        def __init__(self) -> None:
            super().__init__(instructions="Count.")

        @tool
        def count(self, state: State) -> str:
            """Count."""
            self.complete(1)
            self.complete(2)
            return "never"

    @tool
    async def check_out(context: RunContext) -> int:
        """Count."""
        return await Twice()

    async with talk(agent().tools(check_out)) as t:
        await begins_task(t)
        await t.calls("count")
        assert "is completed already" in str(t.sent("answer"))


async def test_while_a_task_speaks_the_session_listens_and_is_no_tool_at_work() -> None:
    async with talk(paying()) as t:
        await begins_task(t)
        await t.says("How do you pay?")
        await t.ends()
        word = t.all(ev.SessionState)[-1]
        assert (word.word, word.reason) != ("thinking", "running a tool")
        # Whoever waits for the end of an answer, to type the next text, waits no longer.
        async with asyncio.timeout(60):
            await t.handle.until_quiet()
        await finishes(t, "give_card", number="42")
        assert [(done.name, done.status) for done in t.all(ev.ToolFinished)][-1] == ("check_out", "ok")


async def test_after_a_task_the_guards_of_the_phase_that_waited_are_told_again() -> None:
    phases = (
        Phase("first", "One.", transitions=Transition("second", key("app:go"))),
        Phase("second", "Two.", terminal=True),
    )
    async with talk(paying().phase(*phases)) as t:
        await t.passes(1)
        before = len(t.all(ev.GuardsRead))
        await begins_task(t)
        await finishes(t, "give_card", number="1")
        await t.passes(1)
        told = t.all(ev.GuardsRead)[before:]
        assert [read.phase for read in told] == ["first"]
