"""Rules of turns that are an agent's own, and those that change in a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.session.agents.test_handing_over import handing, hands_over, specialist
from tests.session.harness.test_inline_tasks import begins_task, finishes, paying
from tests.session.link.test_error_budget import fails
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Agent, AgentSession, FsPersistence, InlineTask, Live, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import AgentError, GeminiLiveError


async def hears_silence(t: Talk) -> bool:
    """Return True when the server gets silence in place of the microphone's sound."""
    before = len(t.sound_sent())
    t.handle.send_audio(b"\x10\x10" * 320)
    await t.rests()
    sent = t.sound_sent()[before:]
    assert len(sent) == 640
    return set(sent) == {0}


@pytest.mark.parametrize(
    "protected", [agent().allow_interruptions(False), Agent(name="test", instructions="x", allow_interruptions=False)]
)
async def test_no_answer_of_an_agent_that_may_not_be_interrupted_hears_the_user(protected: Any) -> None:
    async with talk(protected, audio=ProgramAudio) as t:
        session = AgentSession.of(t.handle)
        await t.hears("hello")
        await t.says("Welcome.")
        assert await hears_silence(t)
        assert session.current_speech is not None
        assert not session.current_speech.allow_interruptions
        await t.ends()
        t.handle.prompt("greeting")
        await t.rests()
        await t.says("These are the terms.")
        assert await hears_silence(t)
        await t.ends()
        # One answer may differ.
        session.generate_reply(instructions="Chat.", allow_interruptions=True)
        await t.rests()
        await t.says("Nice weather.")
        assert not await hears_silence(t)


@pytest.mark.parametrize("is_protected", [False, True])
async def test_a_greeting_may_be_protected_alone_or_left_open_alone(is_protected: bool) -> None:
    greets = agent().greeting("Read the terms.", allow_interruptions=not is_protected)
    async with talk(greets.allow_interruptions(is_protected), audio=ProgramAudio) as t:
        await t.says("These are the terms.")
        assert await hears_silence(t) is is_protected
        await t.ends()
        await t.hears("hello")
        await t.says("Welcome.")
        assert await hears_silence(t) is not is_protected


def test_who_may_interrupt_a_greeting_is_true_false_or_none() -> None:
    with pytest.raises(AgentError, match="greeting's allow_interruptions cannot be 'no'"):
        agent().greeting("Hello.", allow_interruptions="no").plan()  # type: ignore[arg-type]


async def test_answers_may_be_protected_from_now_on_also_with_the_servers_detector() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        session = AgentSession.of(t.handle)
        assert session.options["allow_interruptions"] is True
        await session.update_options(allow_interruptions=False)
        (changed,) = t.all(ev.RulesChanged)
        assert changed.rules["allow_interruptions"] is False
        assert session.options["allow_interruptions"] is False
        await t.hears("hello")
        await t.says("Welcome.")
        assert await hears_silence(t)


async def test_the_agent_that_takes_over_has_rules_of_its_own() -> None:
    other = Live.builder("specialist").instruction("You repair.").allow_interruptions(False).speech_gap(1.5)
    async with talk(handing(other).user_away_timeout(30), audio=ProgramAudio) as t:
        options = AgentSession.of(t.handle).options
        assert (options["allow_interruptions"], options["min_consecutive_speech_delay"]) == (True, 0.0)
        await hands_over(t)
        options = AgentSession.of(t.handle).options
        assert (options["allow_interruptions"], options["min_consecutive_speech_delay"]) == (False, 1.5)
        assert options["user_away_timeout"] == 30  # the session's
        (changed,) = t.all(ev.RulesChanged)
        assert changed.rules["allow_interruptions"] is False
        await t.hears("it is broken")
        await t.says("I repair it.")
        assert await hears_silence(t)


async def test_a_task_has_rules_of_its_own_and_the_agent_that_waits_gets_its_rules_back() -> None:
    class Terms(InlineTask[str]):
        """Read the terms out."""

        def __init__(self) -> None:
            super().__init__(instructions="Read the terms.", allow_interruptions=False)

        @tool
        def agree(self) -> str:
            """Note that they agree."""
            self.complete("agreed")
            return "noted"

    async with talk(paying(Terms), audio=ProgramAudio) as t:
        session = AgentSession.of(t.handle)
        await begins_task(t)
        assert session.options["allow_interruptions"] is False
        await finishes(t, "agree")
        assert session.options["allow_interruptions"] is True
        assert [item.rules["allow_interruptions"] for item in t.all(ev.RulesChanged)] == [False, True]


async def test_a_session_that_is_taken_up_again_has_the_rules_of_the_agent_that_spoke(tmp_path: Path) -> None:
    other = specialist().allow_interruptions(False)
    first = handing(other).hands_over_to(other).persistence(FsPersistence(tmp_path))
    async with talk(first) as t:
        await hands_over(t)
        await t.turn()
    async with talk(first) as t:
        assert AgentSession.of(t.handle).options["allow_interruptions"] is False


async def test_the_gap_between_speeches_changes_in_the_session() -> None:
    async with talk(agent()) as t:
        session = AgentSession.of(t.handle)
        await session.update_options(min_consecutive_speech_delay=2.0, user_away_timeout=None)
        assert session.options["min_consecutive_speech_delay"] == 2.0
        assert session.options["user_away_timeout"] is None
        session.generate_reply(instructions="one")
        second = session.generate_reply(instructions="two")
        await t.rests()
        await t.says("One.")
        await t.ends()
        await t.passes(1.0)
        assert second.status == "queued"
        await t.passes(2.0)
        assert second.status == "asked"


async def test_the_number_of_failures_changes_in_the_session() -> None:
    async with talk(agent()) as t:
        await t.handle.update_options(max_unrecoverable_errors=1)
        await t.types("hello")
        await fails(t, 2)
        assert len(t.all(ev.LinkGivenUp)) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"allow_interruptions": "no"}, "allow_interruptions cannot be 'no'"),
        ({"min_consecutive_speech_delay": -1.0}, "min_consecutive_speech_delay cannot be -1.0"),
        ({"max_unrecoverable_errors": 0}, "max_unrecoverable_errors cannot be 0"),
    ],
)
async def test_values_that_cannot_be_are_refused_by_name(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(AgentError, match=says):
        Agent(name="a", instructions="x", **wrong)
    async with talk(agent()) as t:
        with pytest.raises(GeminiLiveError, match=says):
            await t.handle.update_options(**wrong)
        assert t.all(ev.RulesChanged) == []
