"""Sessions with a model that takes no context and waits for its tools.

Client content after the setup would end such a session, or be ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import (
    ContextDelivery,
    InstructionModifier,
    Live,
    Need,
    Phase,
    SteeringMode,
    Transition,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError
from gemini_live_runtime.wire.transport import TransportClosed

MODEL = "gemini-3.1-flash-live-preview"
GO_ON = "[Please go on]"
ANGRY = InstructionModifier.when(key("app:angry"), "Stay calm.")


def sync_only() -> Live:
    """Return the agent of the other tests, with this model."""
    return agent().model(MODEL)


def phased(**more: Any) -> Live:
    """Return two phases; `app:go` leads to the second, its removal back."""
    return sync_only().phase(
        Phase("first", "One.", transitions=Transition("second", key("app:go")), modifiers=ANGRY),
        Phase(
            "second",
            "Two.",
            transitions=Transition("first", key("app:go") == False),  # noqa: E712 - a guard
            modifiers=ANGRY,
            **more,
        ),
    )


def texts(t: Talk) -> list[str]:
    """Return the texts sent on the current connection."""
    return [frame["realtimeInput"]["text"] for frame in t.server.frames if "text" in frame.get("realtimeInput", {})]


def instruction(setup: dict[str, Any]) -> str:
    """Return the system instruction of a setup."""
    return "\n\n".join(part["text"] for part in setup["systemInstruction"]["parts"])


async def can_be_resumed(t: Talk) -> None:
    """Send a resumption handle as the server."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h", "resumable": True})
    await t.rests()


async def test_a_greeting_and_a_prompt_are_texts_that_are_answered() -> None:
    async with talk(sync_only().greeting("Greet the caller.")) as t:
        assert texts(t) == [f"[Context] Greet the caller.\n{GO_ON}"]
        await t.says("Hello!")
        await t.ends()
        t.handle.prompt()
        await t.rests()
        assert texts(t)[1:] == [GO_ON]
    assert [sent.queued for sent in t.all(ev.ContextSent)] == [True, False]
    assert [prompt.state for prompt in t.all(ev.PromptChanged)] == ["armed", "sent"] * 2
    assert t.all(ev.TextSent) == []


async def test_context_goes_out_in_front_of_what_the_user_types_next_and_is_not_said_to_be_typed() -> None:
    async with talk(sync_only(), mode="text") as t:
        t.handle.send_context("It rains.", "It is late.")
        await t.rests()
        assert t.wire == []
        await t.types("and now?")
        await t.says("Stay.")
        await t.ends()
        await t.types("thanks")
        assert texts(t) == ["[Context] It rains.\n[Context] It is late.\n\nand now?", "thanks"]
        assert t.stage.agent.transcript.window(1).turns[0].user == "and now?"
    assert [sent.text for sent in t.all(ev.TextSent)] == ["and now?", "thanks"]
    assert [sent.queued for sent in t.all(ev.ContextSent)] == [True, False]


async def test_context_goes_out_with_the_next_prompt() -> None:
    async with talk(sync_only()) as t:
        t.handle.send_context("It rains.")
        t.handle.prompt()
        await t.rests()
        assert texts(t) == [f"[Context] It rains.\n{GO_ON}"]


async def test_context_that_waits_is_part_of_the_next_setup_and_of_those_after_it() -> None:
    async with talk(phased()) as t:
        await can_be_resumed(t)
        t.handle.send_context("It rains.")
        await t.writes(go=True)
        setup = await t.connects_again()
        assert instruction(setup) == "Be brief.\n\nTwo.\n\n[Context] It rains."
        assert setup["sessionResumption"]["handle"] == "h"
        await can_be_resumed(t)
        await t.writes(go=False)
        assert instruction(await t.connects_again()) == "Be brief.\n\nOne.\n\n[Context] It rains."
        await t.types("hello")
        assert texts(t) == ["hello"]


async def test_what_a_phase_says_on_entering_comes_with_the_connection_that_it_needs() -> None:
    async with talk(phased(on_enter_context="Welcome to two.", prompt_on_enter=True)) as t:
        await can_be_resumed(t)
        await t.writes(go=True)
        assert instruction(await t.connects_again()) == "Be brief.\n\nTwo.\n\n[Context] Welcome to two."
        await t.passes(30)
        assert texts(t) == [GO_ON]
        assert len(t.all(ev.ConnectionReady)) == 2


async def test_what_the_first_phase_says_on_entering_is_in_the_first_setup() -> None:
    async with talk(sync_only().phase(Phase("only", "One.", on_enter_context="Welcome.", terminal=True))) as t:
        assert instruction(t.setup) == "Be brief.\n\nOne.\n\n[Context] Welcome."
        await t.passes(30)
        assert len(t.all(ev.ConnectionReady)) == 1


async def test_a_nudge_comes_with_a_new_connection() -> None:
    of = sync_only().repair(nudge_after=1, escalate_after=9)
    of = of.phase(Phase("only", "One.", needs=Need("session:name", "the caller's name"), terminal=True))

    async with talk(of) as t:
        await can_be_resumed(t)
        await t.turn()
        nudged = "Be brief.\n\nOne.\n\n[Still needed] the caller's name. Ask for this next."
        assert instruction(await t.connects_again()).startswith(nudged)


async def test_no_connection_repeats_a_nudge_whose_need_is_met() -> None:
    ask = Phase("ask", "Ask.", needs=Need("app:name", "the name"), transitions=Transition("end", key("app:go")))
    of = sync_only().state(values={"app:name": None}).repair(nudge_after=1, escalate_after=9)
    async with talk(of.phase(ask, Phase("end", "End.", terminal=True))) as t:
        await can_be_resumed(t)
        await t.turn()
        assert "[Still needed]" in instruction(await t.connects_again())
        await t.says("The name, please?")
        await t.ends()
        await can_be_resumed(t)
        await t.writes(name="Ada", go=True)
        later = instruction(await asyncio.wait_for(t.connects_again(), 30))
        assert later.startswith("Be brief.\n\nEnd.\n\n[Latest part")
        assert "[Still needed]" not in later


@pytest.mark.parametrize("mode", list(SteeringMode))
@pytest.mark.parametrize("delivery", list(ContextDelivery))
async def test_phase_and_modifiers_are_part_of_the_instruction_in_every_mode(
    mode: SteeringMode, delivery: ContextDelivery
) -> None:
    async with talk(phased().steering(mode, delivery)) as t:
        assert instruction(t.setup) == "Be brief.\n\nOne."
        await can_be_resumed(t)
        await t.writes(angry=True)
        assert instruction(await t.connects_again()) == "Be brief.\n\nOne.\n\nStay calm."


async def test_the_tools_of_a_phase_are_named_in_the_instruction() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    def pay() -> str:
        """Pay."""
        return "paid"

    of = sync_only().tools(look, pay).phase(Phase("only", "One.", tools=["look"], terminal=True))

    async with talk(of) as t:
        told = instruction(t.setup)
        assert told == "Be brief.\n\nOne.\n\n[Tools] Only these may be used now: look."
        await t.turn()
        assert t.wire == []


async def test_a_fresh_session_is_told_what_was_said_in_its_setup_and_so_is_the_one_that_resumes_it() -> None:
    async with talk(phased()) as t:
        await t.turn("I am Ada", "Hello Ada")
        await t.server.closes(1011, "try later")
        said = instruction(await t.connects_again())
        assert said.startswith("Be brief.\n\nOne.\n\n[Conversation so far]\n")
        assert "I am Ada" in said
        await can_be_resumed(t)
        await t.writes(go=True)
        later = instruction(await t.connects_again())
        assert later == said.replace("One.", "Two.")
        assert t.wire == []


async def test_what_comes_to_wait_while_a_tool_runs_comes_with_no_connection_that_would_lose_the_call() -> None:
    done = asyncio.Event()

    async def slow() -> str:
        """Take long."""
        t_state[0].set("app:go", True)
        await done.wait()
        return "done"

    t_state: list[Any] = []
    of = (
        sync_only()
        .tools(slow)
        .phase(
            Phase("first", "Same.", transitions=Transition("second", key("app:go"))),
            Phase("second", "Same.", on_enter_context="Welcome to two.", terminal=True),
        )
    )

    async with talk(of, begins=False) as t:
        t_state.append(t.state)
        await t.begins()
        await can_be_resumed(t)
        await t.hears("go")
        await t.calls("slow")
        await t.passes(30)
        assert len(t.all(ev.ConnectionReady)) == 1
        done.set()
        await t.rests()
        assert len(t.sent("answer")) == 1
        await t.says("Done.")
        await t.ends()
        later = instruction(await t.connects_again())
        assert later.startswith("Be brief.\n\nSame.\n\n[Latest part")
        assert later.endswith("\n\n[Context] Welcome to two.")


MOVES: dict[str, Callable[[Talk], Awaitable[None]]] = {}


def move(function: Callable[[Talk], Awaitable[None]]) -> Callable[[Talk], Awaitable[None]]:
    """Register a move of the generated sessions."""
    MOVES[function.__name__] = function
    return function


@move
async def the_user_types(t: Talk) -> None:
    await t.types("typed")


@move
async def a_turn(t: Talk) -> None:
    await t.turn()


@move
async def the_model_answers(t: Talk) -> None:
    await t.says("an answer")
    await t.ends()


@move
async def the_program_tells(t: Talk) -> None:
    t.handle.send_context("told")
    await t.rests()


@move
async def the_program_prompts(t: Talk) -> None:
    t.handle.prompt()
    await t.rests()


@move
async def the_program_prompts_with_context(t: Talk) -> None:
    t.handle.writer().send_context(["told"], "user", True, "test")
    await t.rests()


@move
async def another_phase(t: Talk) -> None:
    await t.writes(go=t.state.get("app:go") is not True)


@move
async def another_mood(t: Talk) -> None:
    await t.writes(angry=t.state.get("app:angry") is not True)


@move
async def another_instruction(t: Talk) -> None:
    t.handle.update_instruction("Be long.")
    await t.rests()


@move
async def a_loss(t: Talk) -> None:
    await t.server.closes(1011, "try later")


@move
async def a_handle(t: Talk) -> None:
    await can_be_resumed(t)


@move
async def time(t: Talk) -> None:
    await t.passes(40)


@settings(max_examples=40)
@given(
    moves=st.lists(st.sampled_from(sorted(MOVES)), max_size=12),
    mode=st.sampled_from(list(SteeringMode)),
    delivery=st.sampled_from(list(ContextDelivery)),
    spoken=st.booleans(),
)
async def test_nothing_is_ever_put_into_its_history(
    moves: list[str], mode: SteeringMode, delivery: ContextDelivery, spoken: bool
) -> None:
    need = Need("session:name", "the caller's name")
    of = phased(on_enter_context="Welcome.", prompt_on_enter=True, needs=need).greeting("Greet.")
    of = of.repair(nudge_after=1, escalate_after=9).steering(mode, delivery)
    frames: list[dict[str, Any]] = []
    connections = []

    async def serve(t: Talk) -> None:
        """Take every connection there is."""
        while True:
            server = await t.stage.next_server()
            await server.accepts()
            server.frames = frames
            t.server = server
            t._read(server)
            connections.append(server)

    async with talk(of, mode="voice" if spoken else "text") as t:
        t.server.frames = frames
        serving = asyncio.create_task(serve(t))
        for name in moves:
            await t.passes(1)
            with contextlib.suppress(TransportClosed, ConnectionClosedError):
                # The session may be moving to another connection.
                await MOVES[name](t)
        await t.passes(60)
        serving.cancel()
    kinds = {kind for frame in frames for kind in frame}
    assert kinds <= {"realtimeInput"}, frames
