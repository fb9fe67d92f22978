"""Views of the calls of one generation, once all of them have ended."""

from __future__ import annotations

from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.transcript import TranscriptBuffer
from gemini_live_runtime.session.agent.listeners.event_views import EventViews
from gemini_live_runtime.session.agent.listeners.session_events import FunctionToolsExecutedEvent


def test_an_id_that_a_later_generation_uses_again_does_not_disturb_the_first() -> None:
    told: list[Any] = []
    views = EventViews(TranscriptBuffer(), lambda changed: None, told.append)

    def happens(gen: int, payload: ev.Payload) -> None:
        views.on_event(ev.Event(1, 0.0, 1, gen, payload))

    def calls(gen: int, call_id: str) -> None:
        happens(gen, ev.ToolCalled(call_id=call_id, name="look", args={}))

    def ends(gen: int, call_id: str) -> None:
        finished = ev.ToolFinished(call_id=call_id, name="look", status="ok", result={}, ms=1.0, delivered=True)
        happens(gen, finished)

    calls(1, "a")
    calls(1, "b")
    ends(1, "a")
    calls(2, "a")
    ends(2, "a")
    ends(2, "b")
    executed = [event for event in told if isinstance(event, FunctionToolsExecutedEvent)]
    assert [[call.call_id for call in event.function_calls] for event in executed] == [["a"], ["a", "b"]]
