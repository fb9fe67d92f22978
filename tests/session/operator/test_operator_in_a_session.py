"""Commands of the operator: phases, watchers, context and instruction."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.phased_agent import nothing, phased
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    Change,
    InstructionModifier,
    Phase,
    State,
    Transition,
    Watcher,
    key,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import GeminiLiveError

# -- phases ----------------------------------------------------------------------------------------------------------


async def test_the_operator_takes_the_conversation_to_a_phase_without_asking_guards() -> None:
    async with talk(phased()) as t:
        assert await t.commands(cmd.GoToPhase(phase="second", reason="to look")) == ""
        entered = t.all(ev.PhaseEntered)[-1]
        assert (entered.phase, entered.trigger, entered.because) == ("second", "operator", "to look")
        assert t.state["session:phase"] == "second"
        assert "app:draft" not in t.state


async def test_the_operator_leaves_even_a_terminal_phase() -> None:
    of = agent().phase(
        Phase("first", "One.", transitions=Transition("end", key("app:x"))), Phase("end", "Bye.", terminal=True)
    )

    async with talk(of) as t:
        await t.commands(cmd.GoToPhase(phase="end"))
        await t.commands(cmd.GoToPhase(phase="first"))
        assert t.phases == ["first", "end", "first"]


async def test_the_operator_goes_to_a_phase_when_the_turn_has_ended() -> None:
    async with talk(phased()) as t:
        await t.hears("hello")
        assert await t.commands(cmd.GoToPhase(phase="second", when="turn-end")) == ""
        assert t.phases == ["first"]
        assert [n.text for n in t.all(ev.Notice)] == ["The conversation goes to second when the turn has ended"]
        await t.says("hi")
        await t.ends()
        assert t.phases == ["first", "second"]
        assert t.events.index("phase.entered", t.events.index("turn.completed")) > 0
        # Nobody speaks: there is no end to wait for.
        await t.commands(cmd.GoToPhase(phase="first", when="turn-end"))
        assert t.phases == ["first", "second", "first"]


async def test_a_later_order_to_go_takes_the_place_of_one_that_waits() -> None:
    first = Phase("first", "1", transitions=(Transition("second", key("app:x")), Transition("third", key("app:y"))))
    async with talk(agent().phase(first, Phase("second", "2", terminal=True), Phase("third", "3", terminal=True))) as t:
        await t.hears("hello")
        await t.commands(cmd.GoToPhase(phase="second", when="turn-end"))
        await t.commands(cmd.GoToPhase(phase="third", when="now"))
        assert t.phases == ["first", "third"]
        (refused,) = t.all(ev.CommandRefused)
        assert (refused.command_id, refused.reason) == ("o1", "Another phase was asked for before second was entered")
        await t.ends()
        assert t.phases == ["first", "third"]


async def test_orders_about_phases_that_cannot_be_are_refused() -> None:
    async with talk(agent()) as t:
        assert await t.commands(cmd.GoToPhase(phase="x")) == "Agent test has no phases."
        await t.commands(cmd.PreviewPhase(phase="x"))
        assert t.all(ev.PhasePreviewed)[-1].problem == "Agent test has no phases."
    async with talk(phased()) as t:
        assert await t.commands(cmd.GoToPhase(phase="nowhere")) == (
            "There is no phase nowhere. Use one of first, second."
        )
        assert await t.commands(cmd.GoToPhase(phase="first")) == "The conversation is in phase first already."
        await t.commands(cmd.PreviewPhase(phase="first"))
        assert t.all(ev.PhasePreviewed)[-1].problem == "The conversation is in phase first already."


async def test_a_phase_is_previewed_with_all_that_going_there_would_do() -> None:
    async with talk(phased()) as t:
        await t.passes(1)
        before, state = list(t.events), t.state.snapshot()
        assert await t.commands(cmd.PreviewPhase(phase="second")) == ""
        assert t.events == [*before, "phase.previewed"]
        assert t.state.snapshot() == state
        found = t.all(ev.PhasePreviewed)[-1]
        # The draft is cleared before the instruction is written.
        assert (found.phase, found.problem, found.instruction) == ("second", "", "There are 1; draft none.")
        assert (found.missing, found.clears, found.runs) == (("app:menu",), ("app:draft",), ("on_enter of second",))
        assert found.guard is not None
        assert (found.guard["text"], found.guard["value"]) == ("app:open is true", True)
        assert found.way is not None
        assert (found.way["text"], found.way["value"]) == ("app:n > 5", False)
        assert (found.tools_added, found.tools_removed, found.prompts) == ((), ("cancel",), True)
        assert t.handle.phase == "first"
        await t.commands(cmd.GoToPhase(phase="second"))
        await t.commands(cmd.PreviewPhase(phase="first"))
        back = t.all(ev.PhasePreviewed)[-1]
        assert (back.instruction, back.tools_added, back.tools_removed) == ("One.", ("cancel",), ())
        assert (back.guard, back.prompts) == (None, False)


async def test_an_instruction_that_cannot_be_written_is_told_in_the_preview() -> None:
    def broken(state: State) -> str:
        raise ValueError("on purpose")

    of = agent().phase(*two_phases(key("app:x"), broken))

    async with talk(of) as t:
        await t.commands(cmd.PreviewPhase(phase="second"))
        found = t.all(ev.PhasePreviewed)[-1]
        assert (found.problem, found.instruction) == ("", "")
        assert found.unknown[0].startswith("instruction of second: ")
        assert "ValueError: on purpose" in found.unknown[0]
        assert t.failures() == []


# -- watchers --------------------------------------------------------------------------------------------------------


async def test_a_muted_watcher_only_counts_until_it_is_heard_again() -> None:
    fired: list[int] = []
    of = agent().watch(Watcher(key("app:n").changed(), lambda: fired.append(1), name="n"))

    async with talk(of) as t:
        assert await t.commands(cmd.SwitchWatcher(watcher="n", muted=True)) == ""
        await t.writes(n=1)
        assert fired == []
        assert await t.commands(cmd.SwitchWatcher(watcher="n", muted=False)) == ""
        await t.writes(n=2)
        assert fired == [1]
        assert [event.muted for event in t.all(ev.WatcherFired)] == [True, False]
        assert [(event.muted, event.actor) for event in t.all(ev.WatcherSwitched)] == [
            (True, "operator"),
            (False, "operator"),
        ]
        refused = await t.commands(cmd.SwitchWatcher(watcher="m", muted=True))
        assert refused == "There is no watcher 'm'. Watchers: n."


@pytest.mark.parametrize("blocking", [True, False])
async def test_the_operator_fires_a_watcher_and_what_it_writes_counts(blocking: bool) -> None:
    seen: list[Any] = []

    async def act(state: State, change: Change) -> None:
        seen.append((change.key, change.old, change.new))
        state.set("app:done", True)

    of = (
        agent()
        .watch(Watcher(key("app:n").crossed_above(5), act, name="many", blocking=blocking))
        .phase(*two_phases(key("app:done").is_true()))
        .state(values={"app:n": 1})
    )

    async with talk(of) as t:
        assert await t.commands(cmd.FireWatcher(watcher="many")) == ""
        assert seen == [("app:n", 1, 1)]
        (fired,) = t.all(ev.WatcherFired)
        assert (fired.watcher, fired.muted, fired.explanation["text"]) == ("many", False, "the operator fired it")
        assert [c.origin for c in t.all(ev.StateChanged) if c.key == "app:done"] == ["operator"]
        assert t.phases == ["first", "second"]
        (status,) = t.stage.session.orchestrator.settle.watchers.status
        assert status.fired == 1
        assert await t.commands(cmd.FireWatcher(watcher="few")) == "There is no watcher 'few'. Watchers: many."


# -- the model -------------------------------------------------------------------------------------------------------


async def test_the_operator_lets_the_model_know_something() -> None:
    async with talk(agent()) as t:
        assert await t.commands(cmd.GiveContext(text="The line is noisy.")) == ""
        assert t.sent("model context") == [("model context", "The line is noisy.")]
        assert t.all(ev.ContextSent)[-1].reasons == ("the operator",)
        assert "text is empty" in await t.commands(cmd.GiveContext(text=" "))
        assert "at most" in await t.commands(cmd.GiveContext(text="x" * (cmd.MAX_TEXT + 1)))


async def test_without_a_connection_the_model_cannot_be_told_and_the_operator_is() -> None:
    async with talk(agent(), begins=False) as t:
        assert "The context was not sent: There is no connection" in await t.commands(cmd.GiveContext(text="Hm."))
        await t.begins()


async def test_the_operator_replaces_the_instruction_and_what_is_added_to_it_stays() -> None:
    late = InstructionModifier.when(~key("app:x").is_set(), "It is late.")
    async with talk(agent().in_every_phase(late)) as t:
        assert await t.commands(cmd.SetInstruction(text="Be long.")) == ""
        (sent,) = t.sent("instruction")
        assert sent[1].startswith("Be long.")
        assert "It is late." in sent[1]
        assert t.all(ev.InstructionUpdated)[-1].text == sent[1]
        assert t.all(ev.AgentDescribed)[-1].instruction == "Be long."
        assert await t.commands(cmd.SetInstruction(text="Be long.")) == "That is the agent's instruction already."
        assert "needs an instruction" in await t.commands(cmd.SetInstruction(text=" "))


# -- the end, and programs -------------------------------------------------------------------------------------------


async def test_every_order_is_refused_once_the_session_has_ended() -> None:
    orders: list[cmd.Order] = [
        cmd.EditState(edits=({"key": "app:a", "value": 1},)),
        cmd.PreviewEdit(edits=({"key": "app:a", "value": 1},)),
        cmd.UndoEdit(),
        cmd.RedoEdit(),
        cmd.GoToPhase(phase="second"),
        cmd.PreviewPhase(phase="second"),
        cmd.SwitchWatcher(watcher="x", muted=True),
        cmd.FireWatcher(watcher="x"),
        cmd.GiveContext(text="x"),
        cmd.SetInstruction(text="x"),
    ]

    async with talk(phased()) as t:
        await t.handle.disconnect()
        for order in orders:
            assert await t.commands(order) == "The session is over"
        assert "app:a" not in t.state


async def test_a_program_edits_previews_and_steers_as_the_operator_does() -> None:
    of = phased().watch(Watcher(key("app:n").crossed_above(4), nothing, name="many"))

    async with talk(of) as t:
        handle = t.handle
        found = await handle.preview_edit({"key": "app:n", "value": 5})
        assert [w["name"] for w in found.watchers] == ["many"]
        await handle.edit_state({"key": "app:n", "value": 5})
        assert t.state["app:n"] == 5
        await handle.undo_edit()
        assert t.state["app:n"] == 1
        await handle.redo_edit()
        assert t.state["app:n"] == 5
        assert (await handle.preview_phase("second")).phase == "second"
        with pytest.raises(GeminiLiveError, match="There is no watcher"):
            await handle.fire_watcher("few")
        await handle.fire_watcher("many")
        await t.rests()
        assert len(t.all(ev.WatcherFired)) == 2
        handle.mute_watcher("many")
        assert t.all(ev.WatcherSwitched)[-1].actor == "agent"
        with pytest.raises(GeminiLiveError, match="no known scope"):
            await handle.edit_state({"key": "no:n", "value": 5})
