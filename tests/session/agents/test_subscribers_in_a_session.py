"""Subscribers get every event, and learn what a slow one has lost."""

from __future__ import annotations

import asyncio

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Delivery, DeliveryConfig, LiveEvent, LiveHandle
from gemini_live_runtime import events as ev


async def test_a_subscriber_gets_every_event_from_then_on_until_the_end() -> None:
    got: list[LiveEvent] = []

    async def reads(handle: LiveHandle) -> None:
        got.extend([event async for event in handle.events()])

    tasks = []

    async with talk(agent()) as t:
        tasks.append(asyncio.create_task(reads(t.handle)))
        await t.turn()
        t.stage.session.hang_up("the test is over")
        await tasks[0]
    numbers = [event.seq for event in got]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert got[-1].type == t.events[-1] == "session.ended"


async def test_a_slow_subscriber_loses_the_oldest_of_a_class_and_it_is_told() -> None:
    config = DeliveryConfig(transcript=Delivery(2))

    async with talk(agent().delivery(config)) as t:
        slow = t.handle.events("slow")
        for word in ("a", "b", "c", "d"):
            await t.says(word)
        await t.ends()
        assert len(t.all(ev.DeliveryDropped)) == 1
        t.stage.orchestrator.subscribers.leave(slow)
        words = [event.payload.text async for event in slow if isinstance(event.payload, ev.TranscriptDelta)]
        assert words == ["c", "d"]
    assert [(drop.subscriber, drop.delivery, drop.count) for drop in t.all(ev.DeliveryDropped)] == [
        ("slow", "transcript", 2)
    ]


SMALL = DeliveryConfig(transcript=Delivery(2))


def drops(t: Talk) -> list[tuple[str, str, int]]:
    return [(drop.subscriber, drop.delivery, drop.count) for drop in t.all(ev.DeliveryDropped)]


async def test_what_a_slow_subscriber_loses_in_the_middle_of_a_turn_is_told_with_the_figures() -> None:
    async with talk(agent().delivery(SMALL).telemetry(5)) as t:
        t.handle.events("slow")
        for word in ("a", "b", "c"):
            await t.says(word)
        assert drops(t) == []
        await t.passes(5)
        assert drops(t) == [("slow", "transcript", 1)]
        await t.passes(5)
        assert drops(t) == [("slow", "transcript", 1)]


async def test_what_a_subscriber_has_lost_is_told_when_it_wants_no_more() -> None:
    async with talk(agent().delivery(SMALL)) as t:
        async with t.handle.events("slow"):
            for word in ("a", "b", "c"):
                await t.says(word)
        assert drops(t) == [("slow", "transcript", 1)]
        await t.ends()
        assert drops(t) == [("slow", "transcript", 1)]


async def test_what_a_subscriber_has_lost_is_told_before_the_session_ends() -> None:
    async with talk(agent().delivery(SMALL)) as t:
        t.handle.events("slow")
        for word in ("a", "b", "c"):
            await t.says(word)
    assert drops(t) == [("slow", "transcript", 1)]
    assert t.events[-1] == "session.ended"
