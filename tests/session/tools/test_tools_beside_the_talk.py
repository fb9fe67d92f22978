"""Calls that the model does not wait for: the talk goes on while they run."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import Live, RunContext, Tool, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.tools.dispatch import MAX_BACKGROUND

BESIDE: dict[str, dict[str, Any]] = {
    "not blocking": {"blocking": False},
    "not blocking, silent": {"blocking": False, "scheduling": "SILENT"},
    "in the background": {"background": True},
}

LATE_S = 100.0
"""Seconds that `search` takes: longer than any patience of a session."""


def search(**options: Any) -> Tool:
    @tool(name="search", timeout_s=600, **options)
    async def run() -> str:
        """Search for long."""
        await asyncio.sleep(LATE_S)
        return "found"

    return run


def searching(**options: Any) -> Live:
    return agent().tools(search(**options))


def words(sink_events: list[ev.SessionState]) -> list[tuple[str, str]]:
    return [(state.word, state.reason) for state in sink_events]


@pytest.mark.parametrize("what", BESIDE)
async def test_the_session_does_not_say_that_it_waits_for_the_tool(what: str) -> None:
    async with talk(searching(**BESIDE[what])) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.says("I'm looking.")
        await t.ends()
        await t.passes(10)
        assert not t.sent("answer") or what == "in the background"
        assert ("thinking", "running a tool") not in words(t.all(ev.SessionState))


async def test_a_model_without_async_tools_waits_for_every_tool() -> None:
    async with talk(searching(blocking=False).model("gemini-3.1-flash-live-preview")) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.passes(10)
        assert words(t.all(ev.SessionState))[-1] == ("thinking", "running a tool")


@pytest.mark.parametrize("what", BESIDE)
async def test_the_phase_moves_on_and_the_model_may_be_asked_to_speak(what: str) -> None:
    of = searching(**BESIDE[what]).phase(*two_phases(prompt_on_enter=True))
    async with talk(of) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.says("I'm looking.")
        await t.ends()
        await t.writes(go=True)
        assert t.phases == ["first", "second"]
        assert len(t.sent("prompt")) == 1


@pytest.mark.parametrize("what", BESIDE)
async def test_silence_to_a_later_text_is_noticed(what: str) -> None:
    async with talk(searching(**BESIDE[what])) as t:
        await t.turn()
        await t.calls("search")
        await t.says("I'm looking.")
        await t.ends()
        await t.types("and the time?")
        await t.passes(21)
        assert {notice.code for notice in t.all(ev.Notice)} & {"answer-late", "no-answer"}


@pytest.mark.parametrize("what", BESIDE)
async def test_an_answer_that_a_lost_connection_broke_off_goes_on(what: str) -> None:
    async with talk(searching(**BESIDE[what])) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.says("I'm looking, which may take")
        await t.server.closes(1011)
        await t.connects_again()
        assert [settled.outcome for settled in t.all(ev.SendSettled) if settled.kind == "reply"] == ["continued"]


async def test_a_text_whose_only_call_is_silent_is_answered_on_the_next_connection() -> None:
    async with talk(searching(blocking=False, scheduling="SILENT")) as t:
        await t.types("look it up")
        await t.calls("search")
        await t.server.closes(1011)
        await t.connects_again()
        assert len(t.sent("prompt")) == 1


@pytest.mark.parametrize("what", ["not blocking", "in the background"])
@pytest.mark.parametrize("ends", ["completes", "is interrupted"])
async def test_the_session_is_not_quiet_between_an_answer_and_the_telling_of_a_result(what: str, ends: str) -> None:
    async with talk(searching(**BESIDE[what])) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.ends()
        await t.passes(LATE_S - 1)
        await t.hears("and the time?")
        await t.says("It is")
        await t.passes(2)
        assert t.sent("answer")[-1][1] == "c1"
        if ends == "completes":
            await t.ends()
        else:
            await t.server.says(serverContent={"interrupted": True})
        quiet = asyncio.create_task(t.handle.until_quiet())
        await t.passes(1)
        assert not quiet.done()
        await t.turn("", "I have found it.")
        await t.passes(1)
        assert quiet.done()


async def test_a_tool_beside_the_talk_may_wait_for_what_it_has_the_model_say() -> None:
    said: list[object] = []

    @tool(blocking=False)
    async def work(context: RunContext) -> str:
        """Work."""
        said.append(await context.session.generate_reply(instructions="Say that it takes a while."))
        return "done"

    async with talk(agent().tools(work)) as t:
        await t.hears("do it")
        await t.calls("work")
        await t.says("I'm on it.")
        await t.ends()
        await t.rests()
        await t.turn("", "It takes a while.")
        await t.passes(1)
        assert [told[2] for told in t.sent("answer")] == [{"output": "done"}]


async def test_a_background_call_that_is_one_too_many_is_refused_and_not_acknowledged() -> None:
    async with talk(searching(background=True)) as t:
        await t.hears("look it up")
        await t.calls(*["search"] * (MAX_BACKGROUND + 1))
        refused = t.sent("answer")[MAX_BACKGROUND:]
        assert [(call_id, answer["status"]) for _, call_id, answer in refused] == [(f"c{MAX_BACKGROUND + 1}", "error")]
        assert len(t.all(ev.ToolAcknowledged)) == MAX_BACKGROUND


@pytest.mark.parametrize("problem", ["a field is missing", "a validator of the author's raises"])
@pytest.mark.parametrize("what", BESIDE)
async def test_bad_arguments_are_refused_in_one_answer_without_an_acknowledgement(what: str, problem: str) -> None:
    def checked(value: str) -> str:
        if problem != "a field is missing":
            raise TypeError("no city")
        return value

    @tool(name="search", **BESIDE[what])
    async def run(city: Annotated[str, AfterValidator(checked)]) -> str:
        """Search a city."""
        raise AssertionError("never run")

    async with talk(agent().tools(run)) as t:
        await t.hears("look it up")
        await t.calls("search", **({} if problem == "a field is missing" else {"city": "Rome"}))
        await t.passes(5)
        assert t.all(ev.ToolAcknowledged) == []
        ((_, call_id, answer),) = t.sent("answer")
        assert (call_id, "error" in answer) == ("c1", True)
        (ended,) = t.all(ev.ToolFinished)
        assert ended.status == ("refused" if problem == "a field is missing" else "error")
