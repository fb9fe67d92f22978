"""Messages of a client; each has exactly one kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from gemini_live_runtime.wire.base import Message, message, wire
from gemini_live_runtime.wire.content import Blob, Content, FunctionResponse
from gemini_live_runtime.wire.declarations import Tool
from gemini_live_runtime.wire.setup import Setup


@message
class ClientContent(Message):
    """Turns for the history.

    `turn_complete=True` asks for an answer, and interrupts the current one.
    """

    turns: tuple[Content, ...] = ()
    turn_complete: bool | None = None


@message
class ActivityStart(Message):
    """Start of the user's speech; manual activity detection only."""


@message
class ActivityEnd(Message):
    """End of the user's speech; manual activity detection only."""


@message
class RealtimeInput(Message):
    """Streamed input; set one field at a time. `media_chunks` is deprecated."""

    audio: Blob | None = None
    video: Blob | None = None
    text: str | None = None
    activity_start: ActivityStart | None = None
    activity_end: ActivityEnd | None = None
    audio_stream_end: bool | None = None
    media_chunks: tuple[Blob, ...] = ()


@message
class ToolResponse(Message):
    """Results of function calls."""

    function_responses: tuple[FunctionResponse, ...] = ()


@message
class ToolsUpdate(Message):
    """New tools; an empty list clears them, so it is always written."""

    tools: tuple[Tool, ...] = wire(default=(), always=True)


@message
class ContextUpdate(Message):
    """Replacement of the system instruction or the tools during a session.

    The server applies it in order with the other messages.
    """

    system_instruction: Content | None = None
    tools: ToolsUpdate | None = None


@message
class ClientMessage(Message):
    """Message of a client; exactly one field is set.

    `raw` is the JSON object it was read from, `problems` names its unreadable parts. Both are empty on messages created
    by this program, and comparisons ignore them.
    """

    setup: Setup | None = None
    client_content: ClientContent | None = None
    realtime_input: RealtimeInput | None = None
    tool_response: ToolResponse | None = None
    context_update: ContextUpdate | None = None
    problems: tuple[str, ...] = field(default=(), compare=False)
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
