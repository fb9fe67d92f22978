"""Tasks that are given up, replaced by others, or cut off with the session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.harness.test_inline_tasks import Nested, Payment, begins_task, finishes, paying
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    Agent,
    FsPersistence,
    InlineTask,
    Live,
    Phase,
    RunContext,
    Transition,
    UserTurn,
    key,
    tool,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.session_fold import fold


class Address(InlineTask[str]):
    """Ask for an address."""

    def __init__(self) -> None:
        super().__init__(instructions="Ask for the address.")

    @tool
    def give_address(self, street: str) -> str:
        """Take the address."""
        self.complete(street)
        return "thank you"


class Waiter(Agent):
    """Let the user pay."""

    def __init__(self) -> None:
        super().__init__(instructions="Be brief.")

    @tool
    async def check_out(self, context: RunContext) -> str:
        """Let them pay."""
        return await Payment()


@pytest.mark.parametrize("steps", range(6))
async def test_a_task_that_is_given_up_while_it_begins_leaves_the_conversation_to_its_agent(steps: int) -> None:
    @tool
    async def check_out(context: RunContext) -> str:
        """Let them pay, but not for long."""

        async def pay() -> str:
            return await Payment()

        paying_now = asyncio.create_task(pay())
        for _ in range(steps):
            await asyncio.sleep(0)
        paying_now.cancel()
        await asyncio.gather(paying_now, return_exceptions=True)
        return "later"

    async with talk(agent().tools(check_out)) as t:

        async def serve() -> None:
            while True:
                await t.connects_again()

        serving = asyncio.create_task(serve())
        await t.hears("I want to pay")
        await t.calls("check_out")
        await t.says("Later, then.")
        await t.ends()
        await t.passes(5)
        serving.cancel()
        assert t.stage.session.agent_session.current_agent.name == "test"
        assert t.stage.session.orchestrator.handoff.paused == ()


async def test_a_task_that_is_given_up_before_it_begins_is_reported() -> None:
    @tool
    async def check_out(context: RunContext) -> str:
        """Let them pay, at once."""
        try:
            async with asyncio.timeout(0):
                return await Payment()
        except TimeoutError:
            return "later"

    async with talk(agent().tools(check_out)) as t:
        await t.calls("check_out")
        refused = [asked.problem for asked in t.all(ev.HandoffRequested) if asked.problem]
        assert refused == ["payment was given up before it began"]
        assert t.all(ev.AgentHandedOff) == []


async def test_calls_that_await_the_same_task_at_once_all_end() -> None:
    seen: list[Any] = []
    async with talk(paying(seen=seen)) as t:
        await t.calls("check_out", "check_out")
        await t.connects_again()
        assert [str(error) for error in seen] == ["payment takes over in place of payment."]
        await t.says("How do you pay?")
        await t.ends()
        async with asyncio.timeout(60):
            await t.handle.until_quiet()
    assert [str(error).split(": ", 1)[1] for error in seen[1:]] == ["the session ended."]


async def test_an_agent_that_takes_over_from_nested_tasks_ends_all_of_them() -> None:
    seen: list[Any] = []
    left: list[str] = []
    async with talk(paying(Nested, seen=seen).on_exit(lambda: left.append("test"))) as t:
        await begins_task(t)
        await t.calls("wrap")
        await t.connects_again()
        await t.says("How do you pay?")
        await t.ends()
        t.stage.session.agent_session.update_agent(Live.builder("boss").instruction("Decide."))
        await t.connects_again()
        await t.passes(5)
        assert [str(error).split(": ", 1)[1] for error in seen] == ["boss took over."]
        assert [done.name for done in t.all(ev.ToolFinished)] == ["wrap", "check_out"]
        # Who waited for a task will not go on: it is left, too.
        assert left == ["test"]


async def test_an_agent_goes_on_after_any_number_of_tasks_in_a_row() -> None:
    async with talk(paying()) as t:
        for number in range(8):
            await t.calls("check_out")
            await t.connects_again()
            setup = await finishes(t, "give_card", number=str(number))
            assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."
            await t.says("Paid.")
            await t.ends()


async def test_no_time_limit_runs_while_one_of_two_tasks_of_a_call_is_awaited() -> None:
    @tool
    async def check_out(context: RunContext) -> str:
        """Ask for both at once, of which one is refused."""
        paid, address = await asyncio.gather(Payment(), Address(), return_exceptions=True)
        return f"{type(paid).__name__} {address}"

    async with talk(agent().tools(check_out)) as t:
        await t.calls("check_out")
        await t.connects_again()
        await t.passes(100)
        await finishes(t, "give_address", street="Main Street")
        assert t.all(ev.ToolFinished)[-1].result == {"output": "AgentError Main Street"}


async def test_an_agent_goes_on_after_a_task_that_began_when_another_was_done() -> None:
    @tool
    async def ask_address(context: RunContext) -> str:
        """Ask for the address, a little later."""
        await asyncio.sleep(5)
        return await Address()

    async with talk(paying().tools(ask_address)) as t:
        await t.calls("check_out", "ask_address")
        await t.connects_again()
        await t.calls("give_card", number="4")
        await t.says("Thank you, that was all I had to know.")
        # The agent that waits is to go on, but the answer is not over when the other task is awaited.
        await t.passes(6)
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Ask for the address."
        setup = await finishes(t, "give_address", street="Main Street")
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."


async def test_a_task_that_waits_for_another_and_is_given_up_does_not_go_on() -> None:
    async with talk(paying(Nested)) as t:
        await begins_task(t)
        await t.calls("wrap")
        await t.connects_again()
        # The program answers in place of the tool that awaits the outer task.
        assert t.stage.session.orchestrator.tools.answer_for("c1", {"paid": "in cash"})
        await t.rests()
        setup = await finishes(t, "give_card", number="7")
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."


async def test_an_agent_replaced_in_the_queue_is_reported() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        for name in ("first", "second"):
            t.stage.session.agent_session.update_agent(Live.builder(name).instruction("Help."))
        refused = [(asked.agent, asked.problem) for asked in t.all(ev.HandoffRequested) if asked.problem]
        assert refused == [("first", "second takes over in place of first")]


async def test_a_task_is_not_awaited_in_a_tool_that_has_ended() -> None:
    problems: list[str] = []
    kept: list[asyncio.Task[None]] = []

    @tool
    async def check_out(context: RunContext) -> str:
        """Let them pay after this call."""

        async def pay() -> None:
            await asyncio.sleep(1)
            try:
                await Payment()
            except Exception as error:
                problems.append(str(error))

        kept.append(asyncio.create_task(pay()))
        return "soon"

    async with talk(agent().tools(check_out)) as t:
        await t.calls("check_out")
        await t.says("Soon.")
        await t.ends()
        await t.passes(2)
    (problem,) = problems
    assert problem.startswith("The task payment is awaited in a tool or hook that has ended")


async def test_an_agent_that_was_updated_while_it_waited_goes_on_with_that() -> None:
    waiter = Waiter()
    async with talk(waiter) as t:
        await begins_task(t)
        await waiter.update_instructions("Be kind.")
        await waiter.update_tools([])
        setup = await finishes(t, "give_card", number="1")
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be kind."
        assert "tools" not in setup


async def test_a_task_is_completed_from_any_thread() -> None:
    loop = asyncio.get_running_loop()
    async with talk(paying()) as t:
        await begins_task(t)
        # In debug mode asyncio refuses what another thread does to its futures.
        loop.set_debug(True)
        await finishes(t, "give_card", number="3")
        loop.set_debug(False)
        assert t.state["app:paid"] == "card 3"


async def test_a_session_that_ended_during_a_task_goes_on_in_the_phase_of_the_agent_that_waited(
    tmp_path: Path,
) -> None:
    phases = (
        Phase("first", "One.", transitions=Transition("second", key("app:go"))),
        Phase("second", "Two.", terminal=True),
    )
    waiting = paying().phase(*phases).persistence(FsPersistence(tmp_path))
    async with talk(waiting) as t:
        await t.writes(go=True)
        await t.turn()
        await begins_task(t)
        await t.server.says(sessionResumptionUpdate={"newHandle": "of-the-task", "resumable": True})
        await t.turn("with a card", "Which number?")
    async with talk(waiting) as t:
        assert t.handle.phase == "second"
        assert "Two." in t.setup["systemInstruction"]["parts"][0]["text"]
        assert "handle" not in t.setup["sessionResumption"]


async def test_the_operator_hands_over_no_more_in_a_session_that_ends() -> None:
    async with talk(agent().hands_over_to(Live.builder("other").instruction("Help."))) as t:
        await t.hears("hello")
        t.stage.session.agent_session.shutdown()
        assert "other does not take over" in await t.commands(cmd.HandOff(agent="other"))


async def test_turns_stay_ours_while_an_agent_waits_that_needs_them() -> None:
    async def ended(turn: UserTurn) -> None:
        """Note nothing."""

    waiting = paying().turn_taking("client").on_user_turn_completed(ended)
    async with talk(waiting) as t:
        await begins_task(t)
        refused = await t.commands(cmd.SetOptions(turn_detection="server"))
        assert "on_user_turn_completed needs turns that this session ends" in refused


async def test_an_agent_that_was_to_go_on_does_after_a_task_that_displaced_what_had_displaced_it() -> None:
    @tool
    async def ask_address(context: RunContext) -> str:
        """Ask for the address, a little later."""
        await asyncio.sleep(5)
        return await Address()

    async with talk(paying().tools(ask_address)) as t:
        await t.calls("check_out", "ask_address")
        await t.connects_again()
        await t.calls("give_card", number="4")
        await t.says("Thank you.")
        t.stage.session.agent_session.update_agent(Live.builder("boss").instruction("Decide."))
        await t.connects_again()
        setup = await finishes(t, "give_address", street="Main Street")
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."


async def test_an_agent_that_was_to_go_on_does_when_the_other_cannot_take_over() -> None:
    async def ended(turn: UserTurn) -> None:
        """Note nothing."""

    unusable = Live.builder("boss").instruction("Decide.").turn_taking("client").on_user_turn_completed(ended)
    async with talk(paying()) as t:
        await begins_task(t)
        await t.calls("give_card", number="4")
        await t.says("Thank you.")
        t.stage.session.agent_session.update_agent(unusable)
        await t.ends()
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."
        assert "on_user_turn_completed is never called" in t.all(ev.HandoffRequested)[-2].problem


async def test_a_task_in_on_enter_waits_for_the_greeting() -> None:
    class Host(Agent):
        """Greet, then let the user pay."""

        paid = ""

        async def on_enter(self) -> None:
            self.paid = await Payment()

    host = Host(instructions="Be kind.", greeting="Greet the guest.")
    async with talk(host) as t:
        assert t.sent("user context") == [("user context", "[Context] Greet the guest.")]
        await t.says("Welcome.")
        assert t.all(ev.AgentHandedOff) == []
        await t.ends()
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Ask for the card."
        await finishes(t, "give_card", number="4")
        assert host.paid == "card 4"


async def test_a_view_shows_no_phase_of_the_agent_that_waits_and_its_phase_again_when_it_goes_on() -> None:
    asking = Phase("asking", "Ask.", needs="app:name")
    async with talk(paying().phase(asking).state(values={"app:name": None})) as t:
        await t.turn()
        await begins_task(t)
        during = fold(t.stage.sink.events)
        await finishes(t, "give_card", number="1")
        after = fold(t.stage.sink.events)
    assert (during.phase, during.agent_view.stay, during.agent_view.needs) == ("", None, ())
    assert after.phase == "asking"
    assert after.agent_view.stay is not None
    assert [need.key for need in after.agent_view.needs] == ["app:name"]
    assert [visit.seconds is None for visit in after.agent_view.path] == [False, True]
