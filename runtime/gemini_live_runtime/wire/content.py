"""Messages of a conversation: a content has a role and parts.

A part is text, media, a function call or a function's result. Both sides send contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.wire.base import Message, message, wire
from gemini_live_runtime.wire.enums import CodeLanguage, CodeOutcome, MediaResolution, Role, Scheduling


@message
class Blob(Message):
    """Inline media: bytes and MIME type, such as `audio/pcm;rate=24000` (s16le, mono)."""

    mime_type: str | None = None
    data: bytes = wire(default=b"", always=True, strict=True)
    display_name: str | None = None


@message
class FileData(Message):
    """Media by URI."""

    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


@message
class VideoMetadata(Message):
    """Range of a video; offsets are durations."""

    start_offset: str | None = None
    end_offset: str | None = None
    fps: float | None = None


@message
class PartMediaResolution(Message):
    """Media resolution of one part."""

    level: MediaResolution | str | None = None
    num_tokens: int | None = None


@message
class PartialArg(Message):
    """Piece of a call's streamed arguments."""

    json_path: str | None = None
    string_value: str | None = None
    number_value: float | None = None
    bool_value: bool | None = None
    null_value: str | None = None
    will_continue: bool | None = None


@message
class FunctionCall(Message):
    """Function call by the model. The keys of `args` are not renamed."""

    id: str | None = None
    name: str | None = None
    args: Mapping[str, Any] = wire(default_factory=dict)
    partial_args: tuple[PartialArg, ...] = ()
    will_continue: bool | None = None


@message
class FunctionResponsePart(Message):
    """Media of a function's result."""

    inline_data: Blob | None = None
    file_data: FileData | None = None


@message
class FunctionResponse(Message):
    """Function's result. `response` is always written, and its keys are not renamed.

    Decoding also reads `scheduling` and `willContinue` inside `response`, where some of Google's guides show them.
    """

    id: str | None = None
    name: str | None = None
    response: Mapping[str, Any] = wire(default_factory=dict, always=True)
    scheduling: Scheduling | str | None = None
    will_continue: bool | None = None
    parts: tuple[FunctionResponsePart, ...] = ()


@message
class ExecutableCode(Message):
    """Code of the model that the server runs."""

    id: str | None = None
    language: CodeLanguage | str | None = None
    code: str | None = None


@message
class CodeExecutionResult(Message):
    """Result of the model's code."""

    id: str | None = None
    outcome: CodeOutcome | str | None = None
    output: str | None = None


@message
class ServerToolCall(Message):
    """Call of a built-in tool that the server runs."""

    id: str | None = None
    tool_type: str | None = None
    args: Mapping[str, Any] = wire(default_factory=dict)


@message
class ServerToolResponse(Message):
    """Result of a built-in tool that the server ran."""

    id: str | None = None
    tool_type: str | None = None
    response: Mapping[str, Any] = wire(default_factory=dict)


@message
class Part(Message):
    """Part of a content; usually exactly one kind is set."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: bytes | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    executable_code: ExecutableCode | None = None
    code_execution_result: CodeExecutionResult | None = None
    tool_call: ServerToolCall | None = None
    tool_response: ServerToolResponse | None = None
    video_metadata: VideoMetadata | None = None
    media_resolution: PartMediaResolution | None = None
    part_metadata: Mapping[str, Any] = wire(default_factory=dict)


@message
class Content(Message):
    """Parts by one role."""

    role: Role | str | None = None
    parts: tuple[Part, ...] = ()
