"""Each command has its own refusal, even while others are carried out."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.session.session_support import Sink

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.control.command_router import CommandRouter
from gemini_live_runtime.session.core.generation import GenerationLedger
from gemini_live_runtime.session.core.turns import TurnLedger
from gemini_live_runtime.session.ports.event_bus import EventBus


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def router(sink: Sink) -> CommandRouter:
    return CommandRouter(EventBus(sink, TurnLedger(), GenerationLedger()), lambda: False)


async def test_a_slow_command_is_refused_in_its_own_words(router: CommandRouter, sink: Sink) -> None:
    answered = asyncio.Event()

    async def change(order: cmd.SetDevices, command_id: str) -> None:
        await answered.wait()
        raise AgentError("There is no such microphone")

    def interrupt(order: cmd.Interrupt, command_id: str) -> None:
        raise AgentError("There is nothing to interrupt")

    router.register(cmd.SetDevices, change)
    router.register(cmd.Interrupt, interrupt)
    slow = asyncio.ensure_future(router.dispatch(cmd.Command("slow", cmd.SetDevices(input="x"))))
    await asyncio.sleep(0)
    assert await router.dispatch(cmd.Command("quick", cmd.Interrupt())) == "There is nothing to interrupt."
    answered.set()
    assert await slow == "There is no such microphone."
    assert [refused.command_id for refused in sink.all(ev.CommandRefused)] == ["quick", "slow"]


async def test_an_unknown_command_is_refused(router: CommandRouter) -> None:
    assert "cannot do" in await router.dispatch(cmd.Command("c", cmd.Interrupt()))
