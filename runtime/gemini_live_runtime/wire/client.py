"""What a client sends: exactly one kind in a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gemini_live_runtime.wire.base import Message, wire
from gemini_live_runtime.wire.content import Blob, Content, FunctionResponse
from gemini_live_runtime.wire.declarations import Tool
from gemini_live_runtime.wire.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClientContent(Message):
    """Turns for the history. `turn_complete=True` asks for an answer and stops the one under way."""

    turns: tuple[Content, ...] = ()
    turn_complete: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ActivityStart(Message):
    """The user begins to speak; manual activity detection only."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ActivityEnd(Message):
    """The user has finished speaking; manual activity detection only."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RealtimeInput(Message):
    """Streamed input: one of its fields at a time. `media_chunks` is deprecated."""

    audio: Blob | None = None
    video: Blob | None = None
    text: str | None = None
    activity_start: ActivityStart | None = None
    activity_end: ActivityEnd | None = None
    audio_stream_end: bool | None = None
    media_chunks: tuple[Blob, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolResponse(Message):
    """Results of function calls."""

    function_responses: tuple[FunctionResponse, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolsUpdate(Message):
    """The tools from now on; an empty list clears them, so it is always written."""

    tools: tuple[Tool, ...] = wire(default=(), always=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ContextUpdate(Message):
    """Replaces the system instruction or the tools in mid-session, in order with everything else."""

    system_instruction: Content | None = None
    tools: ToolsUpdate | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClientMessage(Message):
    """One message of a client: exactly one field is set.

    `raw` is the JSON object it was read from, `problems` what was odd about it; both are empty on messages made here
    and count for nothing in comparisons.
    """

    setup: Setup | None = None
    client_content: ClientContent | None = None
    realtime_input: RealtimeInput | None = None
    tool_response: ToolResponse | None = None
    context_update: ContextUpdate | None = None
    problems: tuple[str, ...] = field(default=(), compare=False)
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
