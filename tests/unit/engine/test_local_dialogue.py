"""Test how an engine finds the embedded server's dialogue of an agent."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from gemini_live_runtime import FunctionExtractor, Live, LlmExtractor
from gemini_live_runtime.agents.catalogue import CATALOGUE
from gemini_live_runtime.agents.loader import bundled
from gemini_live_runtime.conversation.text_model import TextRequest
from gemini_live_runtime.engine.local_dialogue import LocalDialogue

SCHEMA = {"type": "object", "properties": {"people": {"type": "integer"}}}


def test_an_engine_for_the_default_demo_reads_no_dialogue() -> None:
    # The embedded server reads it, in its own process.
    code = """
import sys
from gemini_live_runtime.clock import run_virtual, LoopClock
from gemini_live_runtime.engine.assemble import make_session
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.spec import EngineSpec

async def main():
    spec = EngineSpec(session_id="s", backend="local", agent="concierge", audio="none", mode="text")
    make_session(spec, Hub("s", LoopClock(), program="test", pid=1), LoopClock())

run_virtual(main())
parts = ("default_parts", "parts", "scripts", "dialogue.slot_extractor", "understanding", "language.vocabulary")
print(*sorted(set(sys.modules) & {f"gemini_live_runtime.local.{name}" for name in parts}))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


@pytest.mark.parametrize("name", [agent.name for agent in CATALOGUE])
def test_a_bundled_agent_has_the_tools_that_its_dialogue_calls(name: str) -> None:
    plan = bundled(name)
    assert LocalDialogue("", bundled="").model_of(plan) == LocalDialogue("", bundled=name).model_of(plan)


def test_an_extractor_that_a_reload_adds_finds_a_text_model() -> None:
    def nothing(_: Any) -> dict[str, Any]:
        return {}

    def found_by(plan: Live) -> str:
        text_model = LocalDialogue("", bundled="").text_model(plan.plan(), "local-concierge")
        return asyncio.run(
            text_model.generate(TextRequest(system="", text="A table for four people, please.", schema=SCHEMA))
        )

    agent = Live.builder("reloaded").instruction("Test.")
    answers = {found_by(agent.extract(one)) for one in (FunctionExtractor(nothing), LlmExtractor(SCHEMA, name="x"))}
    assert answers == {'{"people": 4}'}
