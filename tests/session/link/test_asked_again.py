"""Check that replies are asked for again with their instructions, or given up."""

from __future__ import annotations

import pytest
from tests.session.agents.test_handing_over import handing, hands_over, specialist
from tests.session.talking import agent, talk

INSTRUCTIONS = ("user context", "[Context] Say hello.")


async def test_a_reply_is_asked_for_again_with_its_instructions_on_a_fresh_server_session() -> None:
    async with talk(agent()) as t:
        reply = t.stage.session.agent_session.generate_reply(instructions="Say hello.")
        await t.rests()
        for _ in range(2):
            await t.server.closes(1011)
            await t.connects_again()
            assert t.wire == [INSTRUCTIONS, ("prompt",)]
        await t.says("Hello.")
        await t.ends()
        assert (reply.status, reply.step_index) == ("done", 1)


async def test_the_text_of_a_reply_is_sent_again_behind_its_instructions() -> None:
    async with talk(agent()) as t:
        t.stage.session.agent_session.generate_reply("Hi", instructions="Say hello.")
        await t.rests()
        await t.server.closes(1011)
        await t.connects_again()
        assert t.wire == [INSTRUCTIONS, ("text", "Hi")]


@pytest.mark.parametrize("knows", [True, False])
async def test_a_resumed_server_session_is_told_instructions_that_it_does_not_know(knows: bool) -> None:
    async with talk(agent()) as t:
        handle = {"newHandle": "h-1", "resumable": True}
        if not knows:
            await t.server.says(sessionResumptionUpdate=handle)
        t.stage.session.agent_session.generate_reply(instructions="Say hello.")
        await t.rests()
        if knows:
            await t.server.says(sessionResumptionUpdate=handle)
        await t.server.closes(1011)
        setup = await t.connects_again()
        assert setup["sessionResumption"]["handle"] == "h-1"
        assert t.wire == [*([] if knows else [INSTRUCTIONS]), ("prompt",)]


async def test_instructions_of_a_reply_that_was_begun_are_not_told_again() -> None:
    async with talk(agent()) as t:
        t.stage.session.agent_session.generate_reply(instructions="Say hello.")
        await t.rests()
        await t.says("Hel")
        await t.server.closes(1011)
        await t.connects_again()
        assert INSTRUCTIONS not in t.wire


async def test_an_agent_that_took_over_greets_again_on_a_fresh_server_session() -> None:
    async with talk(handing(specialist().greeting("Ask what is broken."))) as t:
        await hands_over(t)
        greeting = [("user context", "[Context] Ask what is broken."), ("prompt",)]
        assert t.wire[-2:] == greeting
        await t.server.closes(1011)
        await t.connects_again()
        assert t.wire[-2:] == greeting
        await t.says("What is broken?")
        await t.ends()
        await t.server.closes(1011)
        await t.connects_again()
        assert ("prompt",) not in t.wire
