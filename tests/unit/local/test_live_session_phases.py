"""Test instructions, notes and prompts in the middle of a session."""

from __future__ import annotations

from typing import Any

import pytest
from live_support import Client, TestParts, answer, hiss, join, server, session, tools, virtual, voice
from phased_script import SCRIPT

from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.parts import Dialogue


class Desk(TestParts):
    """The dialogue in phases, with the ear and the voice of the tests."""

    def dialogue(self, model: str) -> Dialogue:
        return ScriptedDialogue(SCRIPT)


def content(text: str, role: str | None) -> dict[str, Any]:
    return {"parts": [{"text": text}], **({"role": role} if role else {})}


def turns(*contents: dict[str, Any], complete: bool = False) -> dict[str, Any]:
    return {"clientContent": {"turns": list(contents), "turnComplete": complete}}


def by_update(text: str) -> dict[str, Any]:
    return {"contextUpdate": {"systemInstruction": content(text, None)}}


def by_role(text: str) -> dict[str, Any]:
    return turns(content(text, "system"))


PROMPT = turns(complete=True)
TELLING = {
    "contextUpdate": by_update,
    "role system": by_role,
    "role model": lambda text: turns(content(text, "model")),
    "a marked note of the user": lambda text: turns(content(f"[Instruction] {text}", "user")),
    "a marked note of no role": lambda text: turns(content(f"[Context] {text}", None)),
}


def desk(*heard: str, **fields: Any) -> Any:
    fields = {
        "tools": tools("confirm", "pay", "send_receipt"),
        "systemInstruction": content("Now chat.", None),
    } | fields
    return session(Desk(*heard), **fields)


async def said(client: Client, text: str) -> str:
    await client.text(text)
    return (await client.turn()).output


@pytest.mark.parametrize("way", TELLING)
@virtual
async def test_the_same_phrase_is_answered_otherwise_once_the_model_is_told_of_a_phase(way: str) -> None:
    async with desk() as client:
        assert await said(client, "yes") == "Good."
        await client.send(TELLING[way]("Settle the debt."))
        assert await said(client, "yes") == "How much can you pay?"


@pytest.mark.parametrize("tell", [by_update, by_role])
@virtual
async def test_a_new_instruction_replaces_the_one_before_with_its_notes(tell: Any) -> None:
    async with desk() as client:
        await client.send(tell("Read the disclosure."))
        await client.send(turns(content("[Context] Settle the debt.", "user")))
        await client.send(tell("Chat again."))
        assert await said(client, "yes") == "Good."


@virtual
async def test_an_instruction_in_the_same_message_as_notes_comes_before_them() -> None:
    async with desk() as client:
        await client.send(turns(content("Settle the debt.", "model"), content("Be brief.", "system")))
        assert await said(client, "yes") == "How much can you pay?"


@pytest.mark.parametrize("way", TELLING)
@virtual
async def test_being_told_something_is_never_answered(way: str) -> None:
    async with desk() as client:
        await client.send(TELLING[way]("Settle the debt."))
        await client.text("my name is Maria")
        turn = await client.turn()
        assert (turn.output, turn.contents("interrupted")) == ("Hello Maria.", [])


@pytest.mark.parametrize("way", TELLING)
@virtual
async def test_a_prompt_says_the_cue_for_what_was_told(way: str) -> None:
    async with desk() as client:
        await said(client, "yes")
        await client.send(TELLING[way]("First read the disclosure."))
        await client.send(PROMPT)
        assert (await client.turn()).output == "This call is recorded. Is that right?"


@virtual
async def test_what_was_said_on_an_earlier_connection_does_not_say_what_to_do_now() -> None:
    async with desk() as client:
        await said(client, "yes")
        await client.send(turns(content("[Conversation so far]\nModel: let me read the disclosure", "model")))
        await client.send(PROMPT)
        assert (await client.turn()).output != "This call is recorded. Is that right?"


@virtual
async def test_a_note_may_come_with_its_prompt() -> None:
    async with desk() as client:
        await client.send(turns(content("[Context] Read the disclosure.", "user"), complete=True))
        assert (await client.turn()).output == "This call is recorded. Is that right?"


@virtual
async def test_a_prompt_of_a_session_that_was_told_nothing_is_greeted() -> None:
    async with desk() as client:
        await client.send(PROMPT)
        assert (await client.turn()).output == "Welcome to the desk."
        await client.send(PROMPT)
        assert (await client.turn()).output == "Please go on."


@virtual
async def test_what_the_user_said_is_answered_though_a_note_came_between() -> None:
    async with desk() as client:
        await client.send(turns(content("my name is Maria", "user")))
        await client.send(turns(content("[Context] It rains.", "user"), content("Be brief.", "system")))
        await client.send(PROMPT)
        assert (await client.turn()).output == "Hello Maria."


@virtual
async def test_a_note_is_only_what_begins_with_its_mark_in_client_content() -> None:
    async with desk() as client:
        await client.send(turns(content("my name is [Context] Maria", "user"), complete=True))
        assert (await client.turn()).output == "Hello Context Maria."
        await client.text("[Context] my name is John")
        assert "didn't catch that" in (await client.turn()).output


@virtual
async def test_a_spoken_phrase_means_what_the_phase_makes_of_it() -> None:
    async with desk("yes") as client:
        await client.send(by_update("Settle the debt."))
        await client.audio(hiss(0.3) + voice(1) + hiss(1))
        assert (await client.turn()).output == "How much can you pay?"


@virtual
async def test_a_tool_that_the_phase_refuses_is_told_and_one_it_allows_too() -> None:
    async with desk() as client:
        await client.send(by_update("Read the disclosure."))
        for response, told in (({"error": "not now"}, "I may not do that yet: not now."), ({}, "Thank you, caller.")):
            await client.text("yes")
            (call,) = (await client.until("toolCall"))["toolCall"]["functionCalls"]
            await client.send(answer(call, response=response))
            assert (await client.turn()).output == told


@virtual
async def test_calls_made_together_are_one_message_and_one_answer() -> None:
    async with desk() as client:
        await client.send(by_role("Settle the debt."))
        await said(client, "my name is Maria")
        await said(client, "yes")
        await client.text("50")
        calls = (await client.until("toolCall"))["toolCall"]["functionCalls"]
        assert [call["name"] for call in calls] == ["pay", "send_receipt"]
        for call in calls:
            await client.send(answer(call, response={"reference": "R1", "channel": "mail"}))
        assert (await client.turn()).output == "Maria pays 50, R1, sent by mail."


@virtual
async def test_a_phase_told_while_a_tool_runs_does_not_interrupt_it() -> None:
    async with desk() as client:
        await client.send(by_update("Read the disclosure."))
        await client.text("yes")
        (call,) = (await client.until("toolCall"))["toolCall"]["functionCalls"]
        await client.send(by_role("Settle the debt."))
        await client.send(answer(call, response={"ok": True}))
        assert (await client.turn()).output == "Thank you, caller."
        assert await said(client, "yes") == "How much can you pay?"


@virtual
async def test_marked_notes_of_an_initial_history_are_known_and_old_answers_are_not_notes() -> None:
    async with desk(historyConfig={"initialHistoryInClientContent": True}) as client:
        note, old = content("[Context] Settle the debt.", "user"), content("Read the disclosure.", "model")
        await client.send(turns(note, old, complete=True))
        assert await said(client, "yes") == "How much can you pay?"


@virtual
async def test_an_instruction_by_role_takes_the_place_of_the_one_before_in_the_context() -> None:
    async with desk() as client:
        prompts = []
        for text in ("x" * 4000, "y" * 4000, "z"):
            await client.send(by_role(text))
            await client.text("yes")
            prompts.append((await client.turn()).usage["promptTokenCount"])
    assert prompts[0] > 1000
    assert prompts[1] - prompts[0] < 100
    assert prompts[2] < prompts[0]


@pytest.mark.parametrize(
    ("setup_says", "answered"),
    [
        ("Now chat.", "How much can you pay?"),
        ("Be kind.", "How much can you pay?"),
        ("Something new.", "Good."),
    ],
)
@virtual
async def test_a_resumed_session_knows_what_it_was_told_until_a_setup_says_something_new(
    setup_says: str, answered: str
) -> None:
    fields = {"tools": tools("confirm", "pay", "send_receipt")}
    async with server(Desk()) as running:
        handle: dict[str, str] = {}
        for instruction in ("Now chat.", "Now chat."):
            client = await join(
                running, sessionResumption=handle, systemInstruction=content(instruction, None), **fields
            )
            if not handle:
                await client.send(by_update("Be kind."))
                await client.send(turns(content("[Context] Settle the debt.", "user")))
            await said(client, "my name is Maria")
            handle = {"handle": await client.handle()}
            await client.transport.close()
        client = await join(running, sessionResumption=handle, systemInstruction=content(setup_says, None), **fields)
        assert await said(client, "yes") == answered
