"""Programs that give an `AgentSession` what it cannot use."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import ChatMessage, Live
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.core.speech_queue import SpeechPriority
from gemini_live_runtime.session.io.speech_handle import SpeechHandle


@pytest.mark.parametrize("priority", [float("nan"), float("inf"), 10**400, -1e308, True, "5", None])
async def test_a_priority_that_cannot_be_is_refused(priority: Any) -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="priority cannot be"):
            t.stage.session.agent_session.generate_reply("hello", priority=priority)
        assert t.stage.session.agent_session.generate_reply("hello", priority=SpeechPriority.HIGH)


@pytest.mark.parametrize("text", [None, 5, b"hello", ["hello"]])
async def test_a_message_without_text_is_refused(text: Any) -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="A message's text cannot be"):
            t.stage.session.agent_session.update_chat_ctx([ChatMessage("user", text)])


async def test_a_chat_context_beyond_any_models_is_refused_before_it_is_read_to_its_end() -> None:
    endless = itertools.repeat(ChatMessage("user", "hello"))
    async with talk(agent()) as t:
        for messages in (endless, [ChatMessage("user", "x" * 1_000_001)]):
            with pytest.raises(AgentError, match="is too long"):
                t.stage.session.agent_session.update_chat_ctx(messages)


async def test_faults_of_a_speechs_callbacks_are_reported_and_the_others_are_called() -> None:
    called: list[str] = []

    def fail(speech: SpeechHandle) -> None:
        raise ValueError("no")

    async def fail_later(speech: SpeechHandle) -> None:
        raise ValueError("not now")

    async def note(speech: SpeechHandle) -> None:
        called.append(speech.id)

    async with talk(agent()) as t:
        speech = t.stage.session.agent_session.generate_reply("hello")
        for callback in (fail, fail_later, note, lambda handle: note(handle), lambda: called.append("without it")):
            speech.add_done_callback(callback)
        await t.says("Hello.")
        await t.ends()
        assert sorted(called) == [speech.id, speech.id, "without it"]
        assert [(fault.where, fault.error) for fault in t.failures()] == [
            (f"done callback of {speech.id}", "ValueError: no"),
            (f"done callback of {speech.id}", "ValueError: not now"),
        ]


async def test_agents_that_are_made_without_end_are_known_up_to_a_limit() -> None:
    numbers = itertools.count()

    def another() -> Live:
        return Live.builder(f"agent-{next(numbers)}").instruction("Help.").hands_over_to(another)

    async with talk(agent().hands_over_to(another)) as t:
        assert t.stage.session.orchestrator.agent.plan.name == "test"
    assert next(numbers) < 200
