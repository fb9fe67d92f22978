"""A fault of our own costs a connection or a part, not the session."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.restarts import MAX_RESTARTS


def stumbles(t: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the session stumble over every message that says "boom"."""
    take = t.stage.core.server.on_message

    def on_message(now: float, message: Any) -> Any:
        if "boom" in str(message.raw):
            raise KeyError("boom")
        return take(now, message)

    monkeypatch.setattr(t.stage.core.server, "on_message", on_message)


async def test_a_fault_in_the_link_makes_another_connection_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent(), mode="text") as t:
        stumbles(t, monkeypatch)
        await t.types("hello")
        await t.says("boom")
        await t.connects_again()
        assert t.sent("text") == [("text", "hello")]
        await t.says("Hi.")
        await t.ends()
    assert t.stage.exit_code == 0
    assert [event.reason for event in t.all(ev.LinkRestarting)] == ["fault"]
    assert [(notice.level, notice.code) for notice in t.all(ev.Notice)] == [("error", "internal")]
    assert any("KeyError" in log.text for log in t.all(ev.Log))
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_a_fault_while_sending_makes_another_connection_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent(), mode="text") as t:
        recorder = t.stage.session._recorder
        record, faults = recorder.on_sent, [KeyError("boom")]

        def on_sent(message: Any, raw: Any, size: int) -> None:
            if faults:
                raise faults.pop()
            record(message, raw, size)

        monkeypatch.setattr(recorder, "on_sent", on_sent)
        await t.types("hello")
        await t.connects_again()
        assert t.sent("text") == [("text", "hello")]
    assert t.stage.exit_code == 0
    assert [event.reason for event in t.all(ev.LinkRestarting)] == ["fault"]


async def test_a_link_that_keeps_failing_is_given_up_and_the_session_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent(), mode="text") as t:
        stumbles(t, monkeypatch)
        for _ in range(MAX_RESTARTS):
            await t.says("boom")
            await t.connects_again()
        await t.says("boom")
        assert [event.reason for event in t.all(ev.LinkGivenUp)] == ["fault"]
        await t.passes(300)
        await t.types("still there?")
        assert await t.commands(cmd.Connect()) == ""
        await t.connects_again()
        assert t.sent("text") == [("text", "still there?")]
    assert t.stage.exit_code == 0


@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("autosave", "restore"),
        ("agent.phases", "begin"),
        ("settle", "settle"),
        ("steering", "prepare_setup"),
    ],
)
async def test_a_fault_at_the_start_of_the_agent_is_told_and_the_talk_begins(
    part: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk(agent().phase(*two_phases()), mode="text", begins=False) as t:
        faults = [KeyError("boom")]
        owner = attrgetter(part)(t.stage.orchestrator)
        works = getattr(owner, method)

        async def stumbles_once(*args: Any) -> Any:
            if faults:
                raise faults.pop()
            return await works(*args)

        monkeypatch.setattr(owner, method, stumbles_once)
        await t.begins()
        await t.types("hello")
        await t.says("Hi.")
        await t.ends()
        assert t.state["session:turn_count"] == 1
    assert t.stage.exit_code == 0
    assert [(notice.level, notice.code) for notice in t.all(ev.Notice)] == [("error", "internal")]


async def test_a_fault_where_the_end_of_a_connection_is_taken_in_makes_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talk(agent(), mode="text") as t:
        connection, faults = t.stage.core.connection, [KeyError("boom")]
        take = connection.on_disconnected

        def on_disconnected(*args: Any) -> Any:
            if faults:
                raise faults.pop()
            return take(*args)

        monkeypatch.setattr(connection, "on_disconnected", on_disconnected)
        await t.server.closes(1011)
        await t.connects_again()
        await t.types("hello")
        assert t.sent("text") == [("text", "hello")]
    assert t.stage.exit_code == 0
    assert [(notice.level, notice.code) for notice in t.all(ev.Notice)] == [("error", "internal")]


async def test_a_connection_that_cannot_be_closed_is_told_and_another_one_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talk(agent(), mode="text") as t:
        adapter = t.stage.core.state.link.adapter
        assert adapter is not None

        async def close(*args: Any) -> None:
            raise KeyError("boom")

        monkeypatch.setattr(adapter, "close", close)
        await t.server.closes(1011)
        await t.connects_again()
    assert t.stage.exit_code == 0
    assert [(notice.level, notice.code) for notice in t.all(ev.Notice)] == [("error", "internal")]


def fails_once(monkeypatch: pytest.MonkeyPatch, owner: Any, method: str) -> None:
    """Let a method raise the next time that it is called."""
    works, faults = getattr(owner, method), [KeyError("boom")]

    def stumbles_once(*args: Any, **kwargs: Any) -> Any:
        if faults:
            raise faults.pop()
        return works(*args, **kwargs)

    monkeypatch.setattr(owner, method, stumbles_once)


async def test_a_fault_in_the_timer_is_told_and_the_watchdogs_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent(), mode="text") as t:
        fails_once(monkeypatch, t.stage.core, "tick")
        await t.types("hello")
        await t.passes(15)
        assert [(notice.level, notice.code) for notice in t.all(ev.Notice)] == [
            ("error", "internal"),
            ("warning", "answer-late"),
        ]
        assert "boom" in t.all(ev.Notice)[0].text


async def test_a_timer_that_keeps_failing_is_told_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent(), mode="text") as t:
        ticks: list[float] = []

        def tick(now: float) -> Any:
            ticks.append(now)
            raise KeyError("boom")

        monkeypatch.setattr(t.stage.core, "tick", tick)
        await t.types("hello")
        await t.passes(100)
        assert 90 <= len(ticks) <= 105
        assert len(t.all(ev.Notice)) == 7
    assert t.stage.exit_code == 0


async def test_a_fault_in_a_timer_of_the_agent_is_told_and_its_reports_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent().telemetry(10.0), mode="text") as t:
        fails_once(monkeypatch, t.stage.orchestrator.reporter, "report_totals")
        await t.passes(35)
        assert [notice.code for notice in t.all(ev.Notice)] == ["internal"]
        assert len(t.all(ev.TelemetryReported)) == 2


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("on_voice", (True,)),
        ("on_playback_started", (1,)),
        ("on_playback_heard", (1, 0, 480)),
        ("on_playback_drained", (1,)),
        ("on_echo_warning", (True,)),
        ("on_device_lost", ("input", "It was unplugged.")),
    ],
)
async def test_a_fault_where_the_sound_is_heard_is_told_and_is_no_fault_of_the_sound(
    method: str, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk(agent()) as t:
        fails_once(monkeypatch, t.stage.core.audio, method)
        getattr(t.stage.session.audio_input, method)(*arguments)
        await t.turn()
    assert t.stage.exit_code == 0
    assert [(notice.level, notice.code) for notice in t.all(ev.Notice)] == [("error", "internal")]
    assert method in t.all(ev.Notice)[0].text
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_a_fault_in_falling_asleep_is_told_and_the_session_sleeps_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(agent(), dormant_after_s=60.0) as t:
        fails_once(monkeypatch, t.stage.session._connections.departure, "sleep")
        await t.turn()
        await t.passes(65)
        assert [notice.code for notice in t.all(ev.Notice)] == ["internal"]
        assert t.all(ev.SessionState)[-1].word != "dormant"
        await t.passes(120)
        assert t.all(ev.SessionState)[-1].word == "dormant"
    assert t.stage.exit_code == 0
