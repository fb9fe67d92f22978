"""Soft turns: the user spoke, the model kept silent, and the state moves on."""

from __future__ import annotations

from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import FunctionExtractor, SoftTurnDetector, key
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.rules import reactor
from gemini_live_runtime.session.rules.reactor import ReactorRule


async def heard(t: Talk, text: str) -> None:
    """Send the user's speech, as the server's detector and recogniser report it."""
    await t.voice(True)
    await t.hears(text)
    await t.voice(False)


async def test_a_turn_that_the_model_lets_pass_counts_after_the_silence() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await heard(t, "hold on")
        await t.passes(1.5)
        assert t.all(ev.TurnCompleted) == []
        await t.passes(1)
        assert [(turn.outcome, turn.reason) for turn in t.all(ev.TurnCompleted)] == [("empty", "soft turn")]
        assert t.state["session:turn_count"] == 1


async def test_a_soft_turn_is_read_and_moves_the_conversation_and_leaves_the_model_alone() -> None:
    reads = FunctionExtractor(function=lambda window: {"said": window.last_user}, name="said")
    phases = two_phases(key("app:said") == "hold on")

    async with talk(agent().phase(*phases).extract(reads).soft_turns(2.0)) as t:
        await heard(t, "hold on")
        await t.passes(2.5)
        assert t.handle.phase == "second"
        assert t.wire == []


async def test_an_answer_makes_it_an_ordinary_turn() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await heard(t, "hello")
        await t.passes(1)
        await t.says("Good day.")
        await t.passes(3)
        assert t.all(ev.TurnCompleted) == []
        await t.ends()
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_going_on_speaking_begins_the_wait_anew() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await heard(t, "well")
        await t.passes(1.5)
        await heard(t, "let me see")
        await t.passes(1.5)
        assert t.all(ev.TurnCompleted) == []


async def test_a_user_who_is_speaking_has_not_fallen_silent() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await heard(t, "well")
        await t.passes(1.5)
        await t.voice(True)
        await t.passes(2)
        assert t.all(ev.TurnCompleted) == []


async def test_a_model_that_thinks_aloud_is_about_to_answer() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await heard(t, "well")
        await t.passes(1.5)
        await t.server.says(serverContent={"modelTurn": {"parts": [{"text": "Hm.", "thought": True}]}})
        await t.passes(2)
        assert t.all(ev.TurnCompleted) == []


async def test_a_tool_call_is_an_answer() -> None:
    async def slow() -> None:
        """Take long."""
        import asyncio

        await asyncio.sleep(5)

    async with talk(agent().tools(slow).soft_turns(2.0)) as t:
        await heard(t, "do it")
        await t.calls("slow")
        await t.passes(3)
        assert t.all(ev.TurnCompleted) == []


async def test_rules_hear_of_a_soft_turn() -> None:
    heard_of: list[str] = []
    rule = ReactorRule("hears", lambda event, voice, state: heard_of.append(type(event).__name__))

    async with talk(agent().soft_turns(2.0).rule(rule)) as t:
        await heard(t, "hold on")
        await t.passes(2.5)
    assert heard_of.count(reactor.SoftTurnComplete.__name__) == 1


async def test_a_soft_turn_is_an_event_of_its_own() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await heard(t, "hold on")
        await t.passes(2.5)
    assert [round(taken.silence_s) for taken in t.all(ev.SoftTurnTaken)] == [2]


async def test_without_soft_turns_the_model_is_waited_for() -> None:
    async with talk(agent()) as t:
        assert t.stage.orchestrator.timers._soft is None
        await heard(t, "hold on")
        await t.passes(10)
        assert t.all(ev.TurnCompleted) == []


async def test_the_wait_is_the_one_that_was_asked_for() -> None:
    async with talk(agent().soft_turns(1.25)) as t:
        detector = t.stage.orchestrator.timers._soft
        assert isinstance(detector, SoftTurnDetector)
        assert detector.timeout_s == 1.25
