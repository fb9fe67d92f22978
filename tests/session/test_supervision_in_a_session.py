"""A fault in the link's own code costs a connection, not the session."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.restarts import MOST


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
        for _ in range(MOST):
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
