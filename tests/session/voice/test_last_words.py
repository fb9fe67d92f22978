"""Check that an agent says its last words before another one, or the end."""

from __future__ import annotations

from tests.session.agents.test_handing_over import handing, specialist
from tests.session.harness.test_awaited_tasks import Address
from tests.session.harness.test_inline_tasks import Payment, begins_task
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Agent, Live, RunContext, SpeechHandle, tool
from gemini_live_runtime import events as ev

GOODBYE = ("user context", "[Context] Say goodbye.")


class Polite(Agent):
    """Say goodbye when it is left."""

    def __init__(self) -> None:
        super().__init__(name="polite", instructions="Be polite.")
        self.said: list[SpeechHandle] = []

    async def on_exit(self) -> None:
        self.said.append(self.session.generate_reply(instructions="Say goodbye."))

    @tool
    async def pay(self, context: RunContext) -> str:
        """Let them pay."""
        return await Payment()


def handed(t: Talk) -> list[str]:
    """Return the agents that have taken over, in order."""
    return [done.agent for done in t.all(ev.AgentHandedOff)]


async def test_last_words_of_on_exit_are_spoken_before_the_other_agent_takes_over() -> None:
    polite = Polite()
    async with talk(polite) as t:
        await t.turn()
        t.stage.session.agent_session.update_agent(specialist())
        await t.rests()
        assert t.wire == [GOODBYE, ("prompt",)]
        assert handed(t) == []
        await t.says("Goodbye.")
        assert handed(t) == []
        await t.ends()
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "You repair."
        # The new agent is not asked for what the old one has said.
        assert t.sent("prompt") == []
        (said,) = polite.said
        assert (said.status, said.step_index, handed(t)) == ("done", 1, ["specialist"])


async def test_the_user_may_cut_last_words_and_is_answered_before_the_hand_off() -> None:
    polite = Polite()
    async with talk(polite) as t:
        await t.turn()
        t.stage.session.agent_session.update_agent(specialist())
        await t.rests()
        await t.says("Good")
        await t.types("One more thing")
        assert ([said.status for said in polite.said], handed(t)) == (["interrupted"], [])
        await t.says("Yes?")
        await t.ends()
        await t.connects_again()
        assert (len(polite.said), handed(t)) == (1, ["specialist"])


async def test_an_agent_that_takes_over_in_place_of_another_hears_the_same_last_words_once() -> None:
    polite = Polite()
    async with talk(polite) as t:
        session = t.stage.session.agent_session
        await t.turn()
        session.update_agent(specialist())
        await t.rests()
        session.update_agent(Live.builder("boss").instruction("Decide."))
        await t.says("Goodbye.")
        await t.ends()
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Decide."
        assert (len(polite.said), handed(t)) == (1, ["boss"])


async def test_an_agent_says_its_last_words_again_when_it_is_left_again() -> None:
    polite = Polite()
    async with talk(polite) as t:
        session = t.stage.session.agent_session
        for other in (specialist(), polite, specialist()):
            is_left = session.current_agent is polite
            session.update_agent(other)
            await t.rests()
            if is_left:
                await t.says("Goodbye.")
                await t.ends()
            await t.connects_again()
        assert (len(polite.said), handed(t)) == (2, ["specialist", "polite", "specialist"])


async def test_an_agent_that_waited_for_a_task_says_its_last_words_when_another_takes_over() -> None:
    polite = Polite()
    async with talk(polite) as t:
        await begins_task(t, "pay")
        await t.says("How do you pay?")
        await t.ends()
        t.stage.session.agent_session.update_agent(specialist())
        await t.rests()
        assert t.wire[-2:] == [GOODBYE, ("prompt",)]
        await t.says("Goodbye.")
        await t.ends()
        await t.connects_again()
        assert ([said.status for said in polite.said], handed(t)[-1]) == (["done"], "specialist")


async def test_last_words_are_spoken_before_a_session_that_drains_ends() -> None:
    polite = Polite()
    async with talk(polite) as t:
        await t.hears("hello")
        await t.says("fine")
        t.stage.session.agent_session.shutdown()
        await t.rests()
        # What is owed comes first.
        assert polite.said == []
        await t.ends()
        assert t.wire == [GOODBYE, ("prompt",)]
        assert not t.stage.session.done.done()
        await t.says("Goodbye.")
        await t.ends()
        await t.passes(3)
        assert t.stage.session.done.done()
        assert [said.status for said in polite.said] == ["done"]
        assert t.failures() == []


async def test_last_words_of_a_session_that_is_hung_up_are_dropped_without_a_fault() -> None:
    polite = Polite()
    async with talk(polite) as t:
        await t.turn()
    (said,) = polite.said
    assert (said.status, said.done, t.failures()) == ("dropped", True, [])
    assert await said is said


async def test_all_replies_asked_for_before_a_hand_off_are_spoken_before_it_in_spite_of_a_gap() -> None:
    async with talk(agent().speech_gap(2.0)) as t:
        session = t.stage.session.agent_session
        replies = [session.generate_reply(instructions=text) for text in ("One.", "Two.")]
        session.update_agent(specialist())
        later = session.generate_reply(instructions="Three.")
        for text in ("One.", "Two."):
            await t.passes(2)
            assert t.sent("user context")[-1] == ("user context", f"[Context] {text}")
            await t.says(text)
            await t.ends()
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "You repair."
        assert [reply.status for reply in replies] == ["done", "done"]
        # What was asked for after the hand-off is the new agent's.
        await t.passes(2)
        assert (t.sent("user context"), later.status) == ([("user context", "[Context] Three.")], "asked")


async def test_a_hand_off_does_not_wait_for_replies_that_are_dropped() -> None:
    async with talk(agent().speech_gap(60.0)) as t:
        session = t.stage.session.agent_session
        await t.turn()
        session.generate_reply(instructions="One.")
        await t.says("One.")
        await t.ends()
        waiting = session.generate_reply(instructions="Two.")
        session.update_agent(specialist())
        await t.passes(1)
        assert handed(t) == []
        waiting.interrupt()
        await t.connects_again()
        assert handed(t) == ["specialist"]


async def test_words_of_a_task_are_no_part_of_the_speech_in_which_it_was_begun() -> None:
    handles: list[SpeechHandle] = []

    @tool
    async def ask_address(context: RunContext) -> str:
        """Ask for the address."""
        assert context.speech_handle is not None
        handles.append(context.speech_handle)
        return await Address()

    async with talk(agent().tools(ask_address)) as t:
        await t.hears("Where do you deliver?")
        await t.calls("ask_address")
        await t.connects_again()
        assert [handle.status for handle in handles] == ["dropped"]
        await t.types("Main Street")
        await t.says("Which number?")
        await t.ends()
        assert [handle.step_index for handle in handles] == [0]


async def test_a_tool_may_hand_over_while_last_words_are_spoken() -> None:
    said: list[SpeechHandle] = []
    reception = handing()

    def leave(session: object) -> None:
        said.append(t.stage.session.agent_session.generate_reply(instructions="Say goodbye."))

    async with talk(reception.on_exit(leave)) as t:
        await t.hears("I need a specialist")
        await t.calls("escalate")
        await t.says("One moment.")
        await t.ends()
        assert t.wire[-2:] == [GOODBYE, ("prompt",)]
        await t.calls("escalate")
        await t.says("Goodbye.")
        await t.ends()
        await t.connects_again()
        assert ([item.status for item in said], handed(t)) == (["done"], ["specialist"])
