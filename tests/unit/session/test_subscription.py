"""Subscriptions of events: bounded by class, counted, ended with the session."""

from __future__ import annotations

import asyncio

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.listeners.subscription import Subscription, class_of
from gemini_live_runtime.session.definition.definition import Delivery, DeliveryConfig

SMALL = DeliveryConfig(transcript=Delivery(3), control=Delivery(5), telemetry=Delivery(1))


def word(seq: int) -> ev.Event:
    return ev.Event(seq, 0.0, 1, 1, ev.TranscriptDelta(side="user", text=str(seq)))


def control(seq: int) -> ev.Event:
    return ev.Event(seq, 0.0, 1, 1, ev.TurnStarted(by="voice"))


def figure(seq: int) -> ev.Event:
    return ev.Event(seq, 0.0, 1, 1, ev.TelemetryReported(figures={}))


async def test_a_flood_of_one_class_costs_the_others_nothing() -> None:
    reader = Subscription("r", SMALL)
    for seq in range(1, 10):
        reader.push(word(seq))
    reader.push(control(10))
    for seq in range(11, 14):
        reader.push(figure(seq))
    reader.end()
    assert [event.seq async for event in reader] == [7, 8, 9, 10, 13]
    assert dict(reader.dropped) == {"transcript": 6, "telemetry": 2}
    assert reader.newly_dropped() == {"transcript": 6, "telemetry": 2}
    assert reader.newly_dropped() == {}


async def test_events_come_in_their_order_whatever_their_class() -> None:
    reader = Subscription("r", DeliveryConfig())
    made = [(word, control, figure)[seq % 3](seq) for seq in range(1, 60)]
    for event in made:
        reader.push(event)
    reader.end()
    assert [event async for event in reader] == made
    assert {class_of(event) for event in made} == {"transcript", "control", "telemetry"}


async def test_a_reader_that_waits_is_woken_by_an_event_and_by_the_end() -> None:
    reader = Subscription("r", SMALL)
    seen: list[int] = []

    async def read() -> None:
        async for event in reader:
            seen.append(event.seq)  # noqa: PERF401 - it is looked at while it grows

    reading = asyncio.create_task(read())
    await asyncio.sleep(1)
    reader.push(control(1))
    await asyncio.sleep(1)
    assert seen == [1]
    reader.end()
    await asyncio.wait_for(reading, 1)


async def test_who_closes_it_is_let_go_once_and_gets_nothing_more() -> None:
    closed: list[Subscription] = []
    reader = Subscription("r", SMALL, closed.append)
    async with reader:
        reader.push(control(1))
    reader.close()
    reader.push(control(2))
    assert closed == [reader]
    assert [event async for event in reader] == []
    assert not reader.dropped
