"""Tell what a session did after the user said something."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import record


@record
class ToolUse:
    """Call of a tool with its result.

    `status` is "ok", "error", "timeout", "cancelled" or "refused".
    """

    name: str
    args: dict[str, Any]
    status: str
    result: dict[str, Any]


@record
class RunResult:
    """Answers, calls and hand-offs that followed a text of the user's, in order."""

    messages: tuple[str, ...]
    """Answers of the model."""
    tool_calls: tuple[ToolUse, ...]
    handoffs: tuple[str, ...]
    """Names of the agents that took over."""


def run_result(events: Iterable[ev.Event]) -> RunResult:
    """Return what happened in `events`."""
    messages: dict[int, list[str]] = {}
    calls: dict[str, ev.ToolCalled] = {}
    uses, handoffs = [], []
    for event in events:
        match event.payload:
            case ev.TranscriptDelta(side="model", channel=channel, text=text) if channel != "thought":
                messages.setdefault(event.turn, []).append(text)
            case ev.ToolCalled(call_id=call_id) as called:
                calls[call_id] = called
            case ev.ToolFinished(call_id=call_id, status=status, result=result):
                made = calls.get(call_id)
                if made is not None:
                    uses.append(ToolUse(made.name, dict(made.args), status, dict(result)))
            case ev.AgentHandedOff(agent=agent):
                handoffs.append(agent)
    return RunResult(tuple("".join(parts) for parts in messages.values()), tuple(uses), tuple(handoffs))
