"""Guards read what the session itself writes: in its turn, or at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import ComputedVar, Live, Phase, Transition, called_ok, key, tool
from gemini_live_runtime.audio.program_audio import ProgramAudio


@tool
def look(fails: bool = False) -> str:
    """Look."""
    if fails:
        raise ValueError("it is dark")
    return "ok"


def leaving(when: Any) -> Live:
    """Return an agent of three phases, which it leaves by the same guard."""
    third = Phase("third", "Three.", terminal=True)
    first, second = two_phases(when)
    return (
        agent()
        .tools(look)
        .phase(first, Phase("second", second.instruction, transitions=Transition("third", when)), third)
    )


async def hello(t: Talk) -> None:
    await t.turn()


async def usage_with_the_end(t: Talk) -> None:
    await t.hears("hello")
    await t.says("fine")
    usage = {"promptTokenCount": 5, "responseTokenCount": 7, "totalTokenCount": 12}
    await t.server.says(serverContent={"turnComplete": True}, usageMetadata=usage)
    await t.rests()


async def interrupted(t: Talk) -> None:
    await t.hears("hello")
    await t.says("fine")
    await t.server.says(serverContent={"interrupted": True})
    await t.server.says(serverContent={"turnComplete": True})
    await t.rests()


async def called(t: Talk) -> None:
    await t.hears("look")
    await t.calls("look")


async def called_in_vain(t: Talk) -> None:
    await t.hears("look")
    await t.calls("look", fails=True)


AT_ITS_END: dict[str, tuple[Any, Callable[[Talk], Awaitable[None]]]] = {
    "turn_count": (key("session:turn_count") >= 1, hello),
    "turn_count, by a function": (lambda s: s.get("session:turn_count", 0) >= 1, hello),
    "last_input_transcription": (key("session:last_input_transcription") == "hello", hello),
    "last_output_transcription": (key("session:last_output_transcription") == "fine", hello),
    "interrupt_count": (key("session:interrupt_count") >= 1, interrupted),
    "prompt_token_count": (key("session:prompt_token_count") == 5, usage_with_the_end),
    "response_token_count": (key("session:response_token_count") == 7, usage_with_the_end),
    "total_token_count": (key("session:total_token_count") == 12, usage_with_the_end),
    "called_ok": (called_ok("look"), called),
    "bg:_failed": (key("bg:look_failed"), called_in_vain),
}


@pytest.mark.parametrize("name", AT_ITS_END)
async def test_a_turn_is_judged_by_what_the_session_wrote_about_it_and_goes_on_by_one_phase(name: str) -> None:
    when, happens = AT_ITS_END[name]
    async with talk(leaving(when)) as t:
        await happens(t)
        assert t.phases == ["first", "second"]


async def loses_the_connection(t: Talk) -> None:
    await t.server.closes(1006)
    await t.rests()


async def is_told_to_go(t: Talk) -> None:
    await t.server.says(goAway={"timeLeft": "5s"})
    await t.rests()


async def may_resume(t: Talk) -> None:
    await t.server.says(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
    await t.rests()


async def goes_away(t: Talk) -> None:
    await t.passes(16)


BETWEEN_TURNS: dict[str, tuple[Any, Callable[[Talk], Awaitable[None]]]] = {
    "user_state": (key("session:user_state") == "away", goes_away),
    "disconnected": (key("session:disconnected"), loses_the_connection),
    "go_away_received": (key("session:go_away_received"), is_told_to_go),
    "go_away_time_left_ms": (key("session:go_away_time_left_ms") == 5000, is_told_to_go),
    "resumable": (key("session:resumable"), may_resume),
}


@pytest.mark.parametrize("name", BETWEEN_TURNS)
async def test_between_turns_a_guard_that_names_the_key_is_evaluated_at_once(name: str) -> None:
    when, happens = BETWEEN_TURNS[name]
    first, second = two_phases(when)
    async with talk(agent().phase(first, second), audio=ProgramAudio) as t:
        await t.turn()
        assert t.phases == ["first"]
        await happens(t)
        assert t.phases == ["first", "second"]


async def test_between_turns_a_guard_of_a_value_computed_from_the_key_is_evaluated_as_well() -> None:
    away = ComputedVar("away", key("session:user_state") == "away")
    async with talk(agent().computed(away).phase(*two_phases(key("derived:away"))), audio=ProgramAudio) as t:
        await t.turn()
        await t.passes(16)
        assert t.phases == ["first", "second"]


async def test_in_a_turn_what_the_session_writes_is_judged_at_its_end() -> None:
    async with talk(agent().phase(*two_phases(key("session:go_away_received")))) as t:
        await t.hears("hello")
        await is_told_to_go(t)
        assert t.phases == ["first"]
        await t.says("fine")
        await t.ends()
        assert t.phases == ["first", "second"]


async def test_a_guard_that_fails_does_not_call_for_its_own_evaluation_by_the_errors_it_counts() -> None:
    def broken(state: Any) -> bool:
        raise ValueError("on purpose")

    many = Transition("second", key("session:error_count") > 1_000)
    of = agent().phase(
        Phase("first", "One.", transitions=[many, Transition("second", broken)]), Phase("second", "Two.", terminal=True)
    )
    async with talk(of) as t:
        await t.turn()
        failed = len(t.failures())
        await t.passes(60)
        assert len(t.failures()) == failed
