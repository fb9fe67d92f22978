"""Answers that an agent's code asks for without a word of the user are bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import AgentSession, Live, Phase, SpeechHandle, Transition
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.answers_in_a_row import MAX_IN_A_ROW, PAUSE_S
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def answers(t: Talk) -> int:
    """Return how often the model was asked."""
    return sum(frame[0] in ("prompt", "text") for frame in t.wire)


@asynccontextmanager
async def answering(of: Live) -> AsyncIterator[Talk]:
    """Talk to a model that answers each request at once."""
    async with talk(of) as t:

        async def answer() -> None:
            seen = 0
            while True:
                await t.server.heard.wait()
                t.server.heard.clear()
                while answers(t) > seen:
                    await t.passes(0.05)
                    seen += 1
                    for said in ({"outputTranscription": {"text": "Yes."}}, {"generationComplete": True}):
                        await t.server.says(serverContent=said)
                    await t.server.says(serverContent={"turnComplete": True})

        model = asyncio.create_task(answer())
        try:
            yield t
        finally:
            model.cancel()


def on_item(t: Talk, ask: Callable[[AgentSession], Any]) -> None:
    session = t.stage.session.agent_session
    session.on("conversation_item_added", lambda event: ask(session))


def on_async_item(t: Talk, ask: Callable[[AgentSession], Any]) -> None:
    session = t.stage.session.agent_session

    async def listener(event: Any) -> None:
        ask(session)

    session.on("conversation_item_added", listener)


def on_done(t: Talk, ask: Callable[[AgentSession], Any]) -> None:
    session = t.stage.session.agent_session

    def again(speech: Any) -> None:
        ask(session).add_done_callback(again)

    def begin(event: Any) -> None:
        if event.item.role == "user":
            again(None)

    session.on("conversation_item_added", begin)


def reply(session: AgentSession) -> SpeechHandle:
    return session.generate_reply(instructions="Go on.")


def reply_to_text(session: AgentSession) -> SpeechHandle:
    return session.generate_reply("more")


def prompt(session: AgentSession) -> None:
    session.handle.prompt()


WAYS = [(on_item, reply), (on_async_item, reply), (on_done, reply), (on_done, reply_to_text), (on_item, prompt)]


@pytest.mark.parametrize(("attach", "ask"), WAYS)
async def test_a_listener_that_asks_for_the_next_answer_is_stopped_and_told(
    attach: Callable[[Talk, Callable[[AgentSession], Any]], None], ask: Callable[[AgentSession], Any]
) -> None:
    async with answering(agent()) as t:
        attach(t, ask)
        await t.turn()
        await t.passes(10)
        # Prompts of one moment are one.
        assert MAX_IN_A_ROW - 1 <= answers(t) <= MAX_IN_A_ROW
        told = {fault.error for fault in t.failures()}
        assert len(told) == 1
        assert f"asked for {MAX_IN_A_ROW} answers in a row without a word of the user" in told.pop()


async def test_texts_that_listeners_type_count_as_well() -> None:
    async with answering(agent()) as t:
        on_item(t, lambda session: asyncio.ensure_future(session.handle.send_text("more")))
        await t.turn()
        await t.passes(10)
        assert answers(t) <= MAX_IN_A_ROW


async def test_words_of_the_user_begin_another_row() -> None:
    async with answering(agent()) as t:
        on_item(t, reply)
        for _ in range(2):
            await t.turn()
            await t.passes(10)
        assert answers(t) == 2 * MAX_IN_A_ROW


async def test_what_the_program_itself_asks_for_has_no_bound() -> None:
    async with answering(agent()) as t:
        for _ in range(MAX_IN_A_ROW + 10):
            await t.stage.session.agent_session.generate_reply(instructions="Go on with the story.")
        assert answers(t) == MAX_IN_A_ROW + 10


async def test_listeners_that_ask_now_and_then_have_no_bound() -> None:
    async with answering(agent()) as t:
        session = t.stage.session.agent_session

        async def remind(event: Any) -> None:
            session.off("conversation_item_added", remind)
            for _ in range(MAX_IN_A_ROW + 10):
                await asyncio.sleep(PAUSE_S + 1.0)
                await session.generate_reply(instructions="Remind them.")

        session.on("conversation_item_added", remind)
        await t.turn()
        await t.passes((MAX_IN_A_ROW + 11) * (PAUSE_S + 2.0))
        assert answers(t) == MAX_IN_A_ROW + 10


async def test_phases_that_lead_to_each_other_and_prompt_the_model_are_stopped_and_told() -> None:
    phases = (
        Phase("a", "A.", prompt_on_enter=True, transitions=Transition("b", lambda state: True)),
        Phase("b", "B.", prompt_on_enter=True, transitions=Transition("a", lambda state: True)),
    )
    async with answering(agent().phase(*phases)) as t:
        await t.passes(10)
        assert answers(t) == MAX_IN_A_ROW
        told = [notice.text for notice in t.all(ev.Notice) if "is not asked to speak" in notice.text]
        assert told == [
            f"The model is not asked to speak: {MAX_IN_A_ROW} answers were asked for without a word of the user"
        ]


@pytest.mark.parametrize(
    "ask",
    [
        lambda writer: writer.prompt_model("again"),
        lambda writer: writer.send_text("more"),
        lambda writer: writer.send_context(["More."], prompt=True),
    ],
    ids=["prompt", "text", "context"],
)
async def test_a_callback_that_asks_with_its_writer_is_stopped_and_told(ask: Callable[[Any], None]) -> None:
    async with answering(agent().on("turn_boundary", lambda state, writer: ask(writer))) as t:
        await t.turn()
        await t.passes(10)
        assert answers(t) == MAX_IN_A_ROW
        assert "answers in a row without a word of the user" in t.failures()[0].error


@pytest.mark.parametrize("ask", [reply, reply_to_text, prompt])
@pytest.mark.parametrize("callback", ["on_phase", "on_output_transcript", "on_audio"])
async def test_a_callback_inside_a_message_that_asks_each_time_is_stopped_and_told(
    callback: str, ask: Callable[[AgentSession], Any]
) -> None:
    sessions: list[AgentSession] = []

    def again(told: Any, is_final: bool = False) -> None:
        for session in sessions:
            ask(session)

    async with answering(agent().on(callback, again)) as t:
        sessions.append(t.stage.session.agent_session)
        for _ in range(MAX_IN_A_ROW + 10):
            await t.server.sends(encode_model_audio(bytes(480)))
            await t.says("Well.")
            await t.ends()
        await t.passes(10)
        asked = [speech for speech in t.all(ev.SpeechChanged) if speech.status == "asked"]
        assert 0 < len(asked) <= MAX_IN_A_ROW
        assert "answers in a row without a word of the user" in t.failures()[0].error
