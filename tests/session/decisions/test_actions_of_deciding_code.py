"""Code that decides can neither act through the handle nor start work."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.decisions.deciding_code import in_a_context_of_its_own, in_this_context, phases
from tests.session.talking import agent, talk

from gemini_live_runtime import LiveHandle, State


@pytest.mark.parametrize(
    "act",
    [
        lambda handle: handle.prompt(),
        lambda handle: handle.send_context("Again."),
        lambda handle: handle.update_instruction("Again."),
        lambda handle: handle.transition_to("two"),
        lambda handle: handle.writer().prompt_model("again"),
        lambda handle: handle.agents.cancel_all(),
    ],
    ids=["prompt", "context", "instruction", "phase", "writer", "agents"],
)
@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own])
async def test_code_that_decides_cannot_act_through_the_handle(act: Any, run: Any) -> None:
    held: list[LiveHandle] = []
    calls = []

    def amendment(state: State) -> str:
        calls.append(1)
        if held and len(calls) < 100:
            run(act, held[0])
        return "Yes."

    async with talk(agent().phase(*phases()).on("instruction_amendment", amendment)) as t:
        held.append(t.handle)
        await t.turn()
        assert (t.phases, len(calls) < 10) == (["one"], True)
        assert "Code that decides cannot" in t.failures()[0].error


class Failing:
    """A background agent that fails at once."""

    async def run(self, state: State) -> None:
        raise ConnectionError("the bureau is down")


@pytest.mark.parametrize("kept", [False, True], ids=["handle", "writer kept"])
async def test_a_guard_that_starts_work_fails_and_does_not_call_for_itself_again(kept: bool) -> None:
    held: list[Any] = []
    calls = []

    def checked(state: State) -> bool:
        calls.append(1)
        if held and len(calls) < 100:
            if kept:
                held[0].send_context(["again"])
            else:
                held[0].agents.dispatch("credit", Failing(), held[0].state)
        return False

    async with talk(agent().phase(*phases(checked))) as t:
        held.append(t.handle.writer() if kept else t.handle)
        await t.turn()
        assert len(calls) < 10
        assert "Code that decides cannot" in t.failures()[0].error
