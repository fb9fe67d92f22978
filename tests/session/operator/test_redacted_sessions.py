"""Redact whole sessions: what is remembered, and what a tool returned as a task."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import ContextBuilder, Live, Phase, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.journal.privacy.redaction import Redaction


def redacted(conversation: Talk) -> list[ev.Event]:
    events, redaction = conversation.stage.sink.events, Redaction()
    for event in events:
        redaction.learn(event)
    return [redaction.event(event) for event in events]


def events_with(conversation: Talk, *words: str) -> list[str]:
    """Return the types of the redacted events that have one of the words."""
    return [event.type for event in redacted(conversation) if any(word in event.to_line().casefold() for word in words)]


def remembering() -> Live:
    told = ContextBuilder().memory("user").as_modifier()
    return (
        Live.builder("test").instruction("Be brief.").memory("user").phase(Phase("help", "Help.")).in_every_phase(told)
    )


def test_memory_is_redacted_in_the_session_that_keeps_it_and_in_later_ones(tmp_path: Path) -> None:
    async def main() -> None:
        async with talk(remembering(), harness=HarnessWorker(tmp_path)) as first:
            await first.hears("my name is Adabert Quandt, i am vegetarian, my sister is called Xenobia")
            for key, value in (("name", "Adabert Quandt"), ("diet", "vegetarian"), ("sister", "Xenobia")):
                await first.calls("memory_put", key=key, value=value)
            await first.says("what a nice name and diet, Adabert; greetings to Xenobia")
            await first.ends()
            assert events_with(first, "adabert", "quandt", "vegetarian", "xenobia") == []
            assert "what a nice name and diet" in "\n".join(event.to_line() for event in redacted(first))
        async with talk(remembering(), harness=HarnessWorker(tmp_path)) as second:
            await second.hears("good morning")
            await second.says("welcome back Adabert, how is Xenobia")
            await second.ends()
            await second.calls("memory_list")
            assert events_with(second, "adabert", "quandt", "vegetarian", "xenobia") == []

    run_virtual(main())


@tool(spillable=True)
async def look_up(room: int) -> dict[str, Any]:
    """Look up a guest."""
    await asyncio.sleep(2)
    return {"customer_name": "Zacharias Quillfeather", "passport": "XQZTRW", "room": room}


def test_a_result_is_redacted_that_came_as_a_tasks(tmp_path: Path) -> None:
    async def main() -> None:
        async with talk(agent().tools(look_up), harness=HarnessWorker(tmp_path)) as conversation:
            await conversation.calls("look_up", room=3)
            await conversation.turn("who is it", "a moment")
            await conversation.passes(10)
            await conversation.says("It is Zacharias Quillfeather, passport XQZTRW.")
            await conversation.ends()
            await conversation.passes(2)
            assert any("Quillfeather" in one.text for one in conversation.all(ev.TaskChanged))
            assert events_with(conversation, "zacharias", "quillfeather", "xqztrw") == []

    run_virtual(main())
