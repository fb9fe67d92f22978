"""Conversations that people hold from the first word to the last."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime import Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual

FILE = Path(__file__).parents[1] / "data" / "conversations.toml"
CONVERSATIONS: list[dict[str, Any]] = tomllib.loads(FILE.read_text("utf-8"))["conversation"]
FALLBACKS = ("didn't catch that", "don't follow", "didn't understand")


async def talk(agent: str, said: Sequence[str]) -> list[str]:
    """Type each text once the answer to the one before has ended; return the answers."""
    made: Live = getattr(importlib.import_module(f"gemini_live_runtime.agents.{agent}"), agent)()
    async with made.connect(backend="local", fast=True) as session:
        await session.until_quiet()
        events = session.events()
        for text in said:
            await session.send_text(text)
            await session.until_quiet()
    answers = [""]  # The greeting.
    async for event in events:
        if isinstance(event.payload, ev.TextSent):
            answers.append("")
        elif isinstance(event.payload, ev.TranscriptDelta):
            answers[-1] += event.payload.text
    return answers[1:]


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: f"{one['agent']}, {one['turns'][0][0]}")
def test_each_sentence_gets_the_answer_that_it_asks_for(conversation: dict[str, Any]) -> None:
    turns = conversation["turns"]
    answers = run_virtual(talk(conversation["agent"], [said for said, _ in turns]))
    for (said, wanted), answer in zip(turns, answers, strict=True):
        assert wanted.lower() in answer.lower(), (said, answer)
        assert not any(words in answer for words in FALLBACKS), (said, answer)
