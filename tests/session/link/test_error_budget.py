"""Failures of the server in a row, and the limit of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Agent, Live
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError


async def fails(t: Talk, times: int) -> None:
    """Let the server fail at what it was asked, on one connection after the other."""
    for number in range(times):
        if number:
            await t.connects_again()
        await t.server.closes(1011, "Internal error encountered.")
        await t.rests()


async def test_the_fourth_failure_in_a_row_gives_the_connection_up_with_a_notice() -> None:
    async with talk(agent()) as t:
        await t.types("hello")
        await fails(t, 3)
        assert t.all(ev.LinkGivenUp) == []
        await t.connects_again()
        await t.server.closes(1011, "Internal error encountered.")
        await t.rests()
        assert [event.reason for event in t.all(ev.LinkGivenUp)] == ["passing"]
        (notice,) = (event for event in t.all(ev.Notice) if event.code == "unrecoverable-errors")
        assert notice.text == "The server has failed 4 times in a row before it answered"
        opened = len(t.all(ev.ConnectionOpening))
        await t.passes(60)
        assert len(t.all(ev.ConnectionOpening)) == opened


async def test_a_word_of_the_model_between_two_failures_begins_the_count_anew() -> None:
    async with talk(agent()) as t:
        await t.types("hello")
        await fails(t, 3)
        await t.connects_again()
        await t.says("Hello.")
        await t.ends()
        await t.types("and now?")
        await fails(t, 3)
        assert t.all(ev.LinkGivenUp) == []


async def test_failures_while_nothing_is_asked_are_made_good_as_before() -> None:
    async with talk(agent()) as t:
        await fails(t, 6)
        assert t.all(ev.LinkGivenUp) == []


async def test_who_connects_again_gets_the_whole_number_of_attempts() -> None:
    async with talk(agent()) as t:
        await t.types("hello")
        await fails(t, 4)
        assert len(t.all(ev.LinkGivenUp)) == 1
        assert await t.commands(cmd.Connect()) == ""
        await t.connects_again()
        await t.types("hello again")
        await fails(t, 3)
        assert len(t.all(ev.LinkGivenUp)) == 1


@pytest.mark.parametrize("at_most", [1, None])
async def test_the_number_is_the_agents(at_most: int | None) -> None:
    own = Agent(name="a", instructions="x", max_unrecoverable_errors=at_most)
    for of in (agent().max_unrecoverable_errors(at_most), own):
        async with talk(of) as t:  # type: ignore[arg-type]
            await t.types("hello")
            await fails(t, 2 if at_most else 6)
            assert bool(t.all(ev.LinkGivenUp)) == (at_most == 1)


@pytest.mark.parametrize("value", [0, 1.5, "many"])
def test_a_number_that_cannot_be_is_refused_by_name(value: Any) -> None:
    refused: Live = agent().max_unrecoverable_errors(value)
    with pytest.raises(AgentError, match="max_unrecoverable_errors cannot be"):
        refused.plan()
