"""Several agents in one conversation, and how one hands it over to another."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk
from tests.simulation.device import ScriptedDevice
from tests.simulation.timeline import Timeline

from gemini_live_runtime import Agent, FsPersistence, Live, Phase, State, Transition, key, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def specialist() -> Live:
    """Return another agent, with a tool of its own."""

    @tool
    def reset(device: str) -> str:
        """Reset a device."""
        return f"{device} was reset"

    return Live.builder("specialist").instruction("You repair.").tools(reset)


def handing(target: Any = None, result: Any = None) -> Live:
    """Return an agent whose tool `escalate` hands over."""

    @tool
    def escalate() -> Any:
        """Hand over to the specialist."""
        chosen = specialist() if target is None else target
        return chosen if result is None else (chosen, result)

    return agent().tools(escalate)


async def hands_over(t: Talk) -> dict[str, Any]:
    """Let the model call `escalate` and say so; the setup of the next connection."""
    await t.hears("I need a specialist")
    await t.calls("escalate")
    await t.says("One moment.")
    await t.ends()
    return await t.connects_again()


async def test_a_tool_that_returns_an_agent_hands_over_once_the_model_has_finished_speaking() -> None:
    async with talk(handing()) as t:
        await t.hears("I need a specialist")
        await t.calls("escalate")
        assert t.sent("answer") == [("answer", "c1", {"handed_over_to": "specialist"})]
        await t.says("One moment.")
        assert t.all(ev.AgentHandedOff) == []
        await t.ends()
        setup = await t.connects_again()
    (done,) = t.all(ev.AgentHandedOff)
    assert (done.previous, done.agent, done.by, done.reason) == ("test", "specialist", "tool", "escalate")
    assert setup["systemInstruction"]["parts"][0]["text"] == "You repair."
    assert [item["name"] for item in setup["tools"][0]["functionDeclarations"]] == ["reset"]


async def test_the_result_beside_an_agent_is_what_the_model_gets() -> None:
    async with talk(handing(result="The specialist knows printers.")) as t:
        await t.calls("escalate")
        assert t.sent("answer") == [("answer", "c1", {"output": "The specialist knows printers."})]


async def test_the_agent_that_has_taken_over_answers_with_its_own_tools() -> None:
    async with talk(handing()) as t:
        await hands_over(t)
        await t.calls("reset", device="printer")
        assert t.sent("answer") == [("answer", "c2", {"output": "printer was reset"})]
        await t.calls("escalate")
        assert "There is no tool escalate" in str(t.sent("answer")[-1])


async def test_state_is_kept_and_initial_values_of_the_other_agent_do_not_replace_it() -> None:
    other = specialist().state(values={"app:guests": 9, "app:new": 1})
    async with talk(handing(other).state(values={"app:guests": 2})) as t:
        await hands_over(t)
        assert (t.state["app:guests"], t.state["app:new"]) == (2, 1)


async def test_an_agent_without_phases_hands_over_to_one_with_phases_and_back() -> None:
    @tool
    def back() -> Any:
        """Hand back."""
        return plain

    phased = specialist().phase(Phase("asking", "Ask what is broken.")).tools(back)
    plain = handing(phased)
    async with talk(plain) as t:
        setup = await hands_over(t)
        assert "Ask what is broken." in setup["systemInstruction"]["parts"][0]["text"]
        assert (t.handle.phase, t.state["session:phase"]) == ("asking", "asking")
        await t.calls("back")
        await t.says("Back to reception.")
        await t.ends()
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief."
        assert (t.handle.phase, "session:phase" in t.state) == ("", False)
    assert [item.agent for item in t.all(ev.AgentHandedOff)] == ["specialist", "test"]


async def test_an_agent_that_takes_over_goes_at_once_to_the_phase_that_the_state_leads_to() -> None:
    entered: list[str] = []

    def phase(name: str, *transitions: Transition, **options: Any) -> Phase:
        return Phase(name, f"Be {name}.", transitions=transitions, on_enter=lambda s: entered.append(name), **options)

    phased = specialist().phase(
        phase("asking", Transition("trying", key("app:problem").is_set())),
        phase("trying", Transition("done", key("app:works"))),
        phase("done", terminal=True),
    )
    async with talk(handing(phased).state(values={"app:problem": "printer"})) as t:
        setup = await hands_over(t)
        assert "Be trying." in setup["systemInstruction"]["parts"][0]["text"]
        assert (t.handle.phase, entered) == ("trying", ["asking", "trying"])


async def test_phases_that_lead_to_each_other_do_not_hold_a_hand_off_up() -> None:
    always = key("app:go") | ~key("app:go")
    phased = specialist().phase(
        Phase("one", "One.", transitions=Transition("two", always)),
        Phase("two", "Two.", transitions=Transition("one", always)),
    )
    async with talk(handing(phased)) as t:
        await hands_over(t)
        assert t.handle.phase == "two"


async def test_a_fresh_server_session_learns_what_was_said_unless_the_agent_begins_anew() -> None:
    for chat, expected in (("keep", True), ("fresh", False)):
        async with talk(agent()) as t:
            await t.turn("my printer is broken", "Which one?")
            t.stage.session.agent_session.update_agent(specialist(), chat=chat)
            await t.connects_again()
            told = "my printer is broken" in str(t.wire)
        assert told is expected, chat


async def test_hooks_run_once_for_each_time_that_an_agent_speaks() -> None:
    ran: list[str] = []
    second = specialist().on_enter(lambda: ran.append("second in")).on_exit(lambda: ran.append("second out"))
    first = handing(second).on_enter(lambda: ran.append("first in")).on_exit(lambda: ran.append("first out"))
    async with talk(first) as t:
        assert ran == ["first in"]
        await hands_over(t)
        assert ran == ["first in", "first out", "second in"]
    assert ran[3:] == ["second out"]


async def test_what_an_old_connection_still_says_is_not_heard_after_the_hand_off() -> None:
    async with talk(handing()) as t:
        old, sent = t.server, []

        def say_more(event: ev.Event) -> None:
            # The message is under way while the connection is being left.
            sent.append(asyncio.create_task(old.says(serverContent={"outputTranscription": {"text": "Still here."}})))

        t.stage.session.bus.subscribe(say_more, ev.AgentHandedOff)
        await hands_over(t)
        await asyncio.gather(*sent)
        assert len(sent) == 1
    assert [item.text for item in t.all(ev.TranscriptDelta) if item.side == "model"] == ["One moment."]


async def test_an_agent_does_not_hand_over_to_itself() -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="Agent test speaks already"):
            t.stage.session.agent_session.update_agent(agent())
        assert t.all(ev.HandoffRequested)[-1].problem.startswith("Agent test speaks already")


async def test_agents_that_hand_over_in_a_circle_are_stopped() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        names = [f"agent-{number % 2}" for number in range(8)]
        for name in names:
            done = session.update_agent(Live.builder(name).instruction("Hand over."))
            await t.rests()
            assert done.done()
        with pytest.raises(AgentError, match="8 agents took over without a word of the user"):
            session.update_agent(specialist())
        await t.hears("stop that")
        session.update_agent(specialist())


async def test_a_tool_that_returns_two_agents_is_answered_with_an_error_and_nothing_changes() -> None:
    async with talk(handing([specialist(), Live.builder("third").instruction("x")])) as t:
        await t.calls("escalate")
        assert "returned 2 agents, specialist and third" in str(t.sent("answer"))
        await t.says("Sorry.")
        await t.ends()
        assert t.all(ev.HandoffRequested) == []


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (agent(), "Agent test speaks already"),
        (specialist().phase(Phase("one", "One.", transitions=Transition("two", key("app:go")))), "leads to two"),
    ],
    ids=["itself", "unusable"],
)
async def test_the_model_is_not_told_of_an_agent_that_cannot_take_over(target: Live, problem: str) -> None:
    async with talk(handing((target, "Putting you through."))) as t:
        await t.calls("escalate")
        ((_, _, answer),) = t.sent("answer")
        assert problem in answer["error"]
        assert [done.status for done in t.all(ev.ToolFinished)] == ["error"]
        assert t.handle.state.get("session:called_ok:escalate") is None
        await t.says("Sorry.")
        await t.ends()
        assert t.all(ev.AgentHandedOff) == []


async def test_what_is_no_agent_is_refused_by_name() -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="42 is no agent"):
            t.stage.session.agent_session.update_agent(42)


class Ordering(Agent):
    """Agent with tools among its methods."""

    def __init__(self) -> None:
        super().__init__(instructions="Take the order.")
        self.dishes: list[str] = []
        self.entered = 0

    @tool
    def add_dish(self, name: str, state: State) -> dict[str, int]:
        """Add a dish to the order."""
        self.dishes.append(name)
        state.set("app:dishes", len(self.dishes))
        return {"dishes": len(self.dishes)}

    async def on_enter(self) -> None:
        """Count."""
        assert self.session.current_agent is self
        self.entered += 1


async def test_tools_among_an_agents_methods_work_on_its_object() -> None:
    ordering = Ordering()
    async with talk(ordering) as t:
        await t.calls("add_dish", name="soup")
        assert t.sent("answer") == [("answer", "c1", {"dishes": 1})]
    assert (ordering.name, ordering.dishes, ordering.entered) == ("ordering", ["soup"], 1)
    assert "self" not in str(ordering.tools[0].parameters)


async def test_a_session_that_is_taken_up_again_goes_on_with_the_agent_that_was_speaking(tmp_path: Path) -> None:
    other = specialist().phase(Phase("asking", "Ask what is broken."))
    first = handing(other).hands_over_to(other).persistence(FsPersistence(tmp_path))
    async with talk(first) as t:
        await hands_over(t)
        await t.turn()
    async with talk(first) as t:
        assert "Ask what is broken." in t.setup["systemInstruction"]["parts"][0]["text"]
        assert t.handle.phase == "asking"
        (restored,) = t.all(ev.AgentHandedOff)
    assert (restored.previous, restored.agent, restored.by) == ("test", "specialist", "restored")


async def test_a_view_shows_who_speaks_and_who_is_next() -> None:
    async with talk(handing()) as t:
        await t.calls("escalate")
        await t.says("One moment.")
        waiting = fold(t.stage.sink.events)
        await t.ends()
        await t.connects_again()
        after = fold(t.stage.sink.events)
    assert (waiting.agent, waiting.next_agent) == ("test", "specialist")
    assert (after.agent, after.next_agent) == ("specialist", "")
    rows = [block.text for block in after.blocks if block.status == "agent"]
    assert rows == ["test → specialist: escalate returned it"]


async def test_what_is_typed_during_a_hand_off_goes_to_the_new_agent_which_answers_instead_of_greeting() -> None:
    other = specialist().greeting("Greet the user.")
    for typed, sent in (("hello?", [("text", "hello?")]), ("", [("prompt",)])):
        async with talk(agent()) as t:
            t.stage.session.agent_session.update_agent(other)
            await asyncio.sleep(0)
            await t.rests()
            if typed:
                await t.types(typed)
            await t.connects_again()
            assert [item[:2] for item in t.wire if item[0] in ("text", "prompt")] == sent
            assert t.all(ev.Notice) == []


async def test_an_agent_that_begins_anew_takes_up_no_server_session_of_another() -> None:
    for chat, resumes in (("keep", True), ("fresh", False)):
        async with talk(agent()) as t:
            await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
            await t.rests()
            t.stage.session.agent_session.update_agent(specialist(), chat=chat)
            setup = await t.connects_again()
            assert ("handle" in setup["sessionResumption"]) is resumes


async def test_needs_that_are_not_met_are_counted_anew_for_another_agent() -> None:
    def asking(name: str) -> Live:
        phase = Phase("ask", "Ask.", needs="user:name")
        return Live.builder(name).instruction("Ask.").phase(phase).repair(2, 9).state(values={"user:name": None})

    async with talk(asking("first")) as t:
        await t.turn()
        t.stage.session.agent_session.update_agent(asking("second"))
        await t.rests()
        await t.turn()
        assert t.all(ev.RepairActed) == []
        await t.turn()
        assert [acted.attempt for acted in t.all(ev.RepairActed)] == [1]


async def test_an_agent_that_differs_in_its_instruction_takes_over_on_the_same_connection() -> None:
    other = Live.builder("other").instruction("Be kind.").greeting("Greet the user.")
    async with talk(agent()) as t:
        await t.turn()
        t.stage.session.agent_session.update_agent(other)
        await t.rests()
        (done,) = t.all(ev.AgentHandedOff)
        assert done.via == "instruction"
        assert t.sent("instruction") == [("instruction", "Be kind.")]
        assert t.sent("prompt") == [("prompt",)]


async def test_the_connection_that_a_hand_off_needs_is_no_row_of_its_own() -> None:
    async with talk(handing()) as t:
        await hands_over(t)
        (restarting,) = t.all(ev.LinkRestarting)
        assert (restarting.reason, restarting.fresh) == ("moved", True)
        view = fold(t.stage.sink.events)
    notices = [block.text for block in view.blocks if block.kind == "notice"]
    assert notices == ["test → specialist: escalate returned it"]


async def test_the_operator_hands_over_to_an_agent_by_its_name() -> None:
    async with talk(agent().hands_over_to(specialist())) as t:
        assert t.all(ev.AgentDescribed)[0].hands_over_to == ("specialist",)
        assert "test knows no agent nobody" in await t.commands(cmd.HandOff(agent="nobody"))
        assert await t.commands(cmd.HandOff(agent="specialist")) == ""
        await t.connects_again()
        (handed,) = t.all(ev.AgentHandedOff)
        assert (handed.agent, handed.by) == ("specialist", "operator")


async def test_an_agent_that_takes_over_while_a_connection_is_made_has_its_tools_on_the_next_one() -> None:
    other = specialist().greeting("Greet the user.")
    async with talk(agent(), begins=False) as t:
        await t.server.hears_a("setup")
        t.stage.session.agent_session.update_agent(other)
        await t.rests()
        await t.server.says(setupComplete={"sessionId": "s-1"})
        setup = await t.connects_again()
        assert [item["name"] for item in setup["tools"][0]["functionDeclarations"]] == ["reset"]
        assert setup["systemInstruction"]["parts"][0]["text"] == "You repair."
        assert t.sent("prompt") == [("prompt",)]
        assert len(t.all(ev.ConnectionReady)) == 1


async def test_a_move_to_a_phase_of_an_agent_that_has_handed_over_is_a_warning() -> None:
    async def leave() -> None:
        await asyncio.sleep(0.1)

    phases = (Phase("one", "One.", transitions=Transition("two", key("app:go"))), Phase("two", "Two.", terminal=True))
    async with talk(agent().phase(*phases).on_exit(leave)) as t:
        t.stage.session.agent_session.update_agent(Live.builder("plain").instruction("Be plain."))
        await t.rests()
        t.handle.transition_to("two")
        await t.passes(1)
    assert [notice.text for notice in t.all(ev.Notice) if notice.code == "phase"] == ["Agent plain has no phases"]
    assert t.failures() == []


async def test_a_call_in_the_background_is_answered_after_its_agent_has_handed_over() -> None:
    @tool(background=True)
    async def order() -> str:
        """Order a part, slowly."""
        await asyncio.sleep(5)
        return "it comes tomorrow"

    async with talk(agent().tools(order)) as t:
        await t.calls("order")
        await t.says("I have ordered it.")
        await t.ends()
        t.stage.session.agent_session.update_agent(Live.builder("plain").instruction("Be plain."))
        await t.connects_again()
        await t.passes(6)
        (ended,) = t.all(ev.ToolFinished)
        assert (ended.name, ended.status) == ("order", "ok")
        assert "it comes tomorrow" in str(t.wire)


async def test_what_the_model_begins_to_say_while_an_agent_leaves_is_not_heard_after_the_hand_off() -> None:
    async def leave() -> None:
        await asyncio.sleep(0.5)

    device = ScriptedDevice(Timeline(), microphone=False)
    async with talk(agent().on_exit(leave), audio=lambda: device) as t:
        t.stage.session.agent_session.update_agent(Live.builder("plain").instruction("Be plain."))
        await t.rests()
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.passes(1)
        assert [event.agent for event in t.all(ev.AgentHandedOff)] == ["plain"]
        assert device.waiting_s == 0
        assert [(event.status) for event in t.all(ev.SpeechChanged)] == ["speaking", "interrupted"]
