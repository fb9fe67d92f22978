"""A notification waits until the user can hear it, and until its time comes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.session.harness.notifications_support import (
    announced,
    delivery_lock,
    poked,
    queue,
    reasons,
    statuses,
)
from tests.session.talking import agent, talk
from tests.simulation.device import ScriptedDevice
from tests.simulation.timeline import Timeline

from gemini_live_runtime import events as ev
from gemini_live_runtime import tool
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.harness.notification_delivery import POLL_S
from gemini_live_runtime.session.agent.harness.silence import LULL_S
from gemini_live_runtime.session.core.status import OWED_PATIENCE_S


async def test_it_waits_while_the_user_speaks_and_until_the_answer(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.voice(True)
        queue(tmp_path)
        await poked(t)
        await t.passes(5.0)
        assert reasons(t) == ["the user is speaking"]
        await t.voice(False)
        await t.hears("what is for dinner?")
        await t.passes(1.9)
        assert reasons(t)[-1] == "the user is to be answered first"
        await t.says("Soup.")
        assert reasons(t)[-1] == "the model is speaking"
        await t.ends()
        assert announced(t) == []
        await t.passes(LULL_S + 0.1)
        assert announced(t) == ["the oven is ready"]


async def test_it_waits_for_an_answer_that_is_long_in_coming(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.voice(True)
        await t.voice(False)
        queue(tmp_path)
        await poked(t)
        await t.passes(15.0)
        assert reasons(t)[-1] == "the user may still be answered"
        await t.says("I did not catch that.")
        await t.ends()
        assert announced(t) == []
        await t.passes(LULL_S + 0.1)
        assert announced(t) == ["the oven is ready"]
        assert statuses(tmp_path) == ["delivered"]


async def test_the_models_own_echo_does_not_hold_it_back(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.turn()
        queue(tmp_path)
        bus = t.stage.session.bus
        bus.publish(ev.PlaybackStarted(), 1, 1)
        for event in (ev.VoiceMarked(speaking=True), ev.PlaybackDrained(of=1), ev.VoiceMarked(speaking=False)):
            bus.emit(event)
        await poked(t)
        assert announced(t) == ["the oven is ready"]


async def test_a_voice_that_gets_no_answer_holds_it_back_for_a_limited_time(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.voice(True)
        await t.voice(False)
        queue(tmp_path)
        await poked(t)
        await t.passes(OWED_PATIENCE_S - LULL_S - 1.0)
        assert announced(t) == []
        await t.passes(1.0)
        assert announced(t) == ["the oven is ready"]


async def test_it_waits_for_a_tool_that_the_model_waits_for(tmp_path: Path) -> None:
    @tool
    async def search() -> str:
        """Search."""
        await asyncio.sleep(20.0)
        return "found"

    async with talk(agent().tools(search), harness=HarnessWorker(tmp_path)) as t:
        await t.hears("search it")
        await t.calls("search")
        queue(tmp_path)
        await poked(t)
        await t.passes(10.0)
        assert announced(t) == []
        assert reasons(t)[-1] == "a tool is running"


async def test_it_waits_while_the_connection_is_lost(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        t.stage.refuses_until(20.0)
        await t.server.closes(1006)
        queue(tmp_path)
        await poked(t)
        await t.passes(5.0)
        assert reasons(t) == ["there is no connection"]
        await t.connects_again()
        await t.passes(LULL_S + 0.1)
        assert announced(t) == ["the oven is ready"]


async def test_a_second_one_is_announced_after_the_first(tmp_path: Path) -> None:
    queue(tmp_path, "oven")
    queue(tmp_path, "door")
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.passes(10.0)
        assert announced(t) == ["oven"]
        await t.says("The oven is ready.")
        await t.ends()
        await t.passes(LULL_S + 0.1)
        assert announced(t) == ["oven", "door"]
        assert "others are before it" in reasons(t)


async def test_where_nobody_would_hear_it_it_waits_for_a_console(tmp_path: Path) -> None:
    queue(tmp_path)
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        t.stage.session.on_watched(False)
        await t.passes(60.0)
        assert (announced(t), statuses(tmp_path)) == ([], ["queued"])
        t.stage.session.on_watched(True)
        await t.passes(LULL_S + 0.1)
        assert announced(t) == ["the oven is ready"]


async def test_an_engine_that_nobody_hears_lets_another_one_announce(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        queue(tmp_path)
        await t.passes(POLL_S + LULL_S)
        assert not delivery_lock(tmp_path).take()
        await t.says("The oven is ready.")
        await t.ends()
        await t.rests()
        t.stage.session.on_watched(False)
        await t.passes(1.0)
        other = delivery_lock(tmp_path)
        assert other.take()
        other.release()


async def test_what_another_engine_told_meanwhile_waits_no_longer_for_the_next_console(tmp_path: Path) -> None:
    name = queue(tmp_path)
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        t.stage.session.on_records_changed()
        await t.passes(0.1)
        assert [event.status for event in t.all(ev.NotificationChanged)] == ["queued"]
        t.stage.session.on_watched(False)
        await t.passes(1.0)
        with Harness.open(tmp_path) as harness:
            harness.notifications.acknowledge(name)
        t.stage.session.on_watched(True)
        await t.passes(1.0)
        assert [event.status for event in t.all(ev.NotificationChanged)] == ["queued", "acknowledged"]


async def test_one_whose_listener_left_in_the_middle_waits_again(tmp_path: Path) -> None:
    queue(tmp_path)
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.passes(LULL_S + 0.1)
        await t.says("The oven is")
        t.stage.session.on_watched(False)
        await t.ends()
        await t.rests()
        assert statuses(tmp_path) == ["queued"]


async def test_a_loudspeaker_is_enough_for_an_engine_without_a_console(tmp_path: Path) -> None:
    queue(tmp_path)
    device = ScriptedDevice(Timeline(), microphone=True)
    async with talk(agent(), harness=HarnessWorker(tmp_path), audio=lambda: device) as t:
        t.stage.session.on_watched(False)
        await t.passes(LULL_S + 0.1)
        assert announced(t) == ["the oven is ready"]
