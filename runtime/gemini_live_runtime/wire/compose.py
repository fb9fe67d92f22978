"""Compose the client messages of a session, each by one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gemini_live_runtime.wire.messages import (
    ActivityEnd,
    ActivityStart,
    AudioTranscriptionConfig,
    AutomaticActivityDetection,
    Blob,
    ClientContent,
    ClientMessage,
    Content,
    ContextUpdate,
    ContextWindowCompression,
    FunctionDeclaration,
    FunctionResponse,
    GenerationConfig,
    Modality,
    Part,
    PrebuiltVoiceConfig,
    RealtimeInput,
    RealtimeInputConfig,
    Role,
    Scheduling,
    SessionResumption,
    Setup,
    SlidingWindow,
    SpeechConfig,
    Tool,
    ToolResponse,
    ToolsUpdate,
    VoiceConfig,
)


def text_content(*texts: str, role: Role | str | None = Role.USER) -> Content:
    """Return a content with one part for each text."""
    return Content(role=role, parts=tuple(Part(text=text) for text in texts))


def client_content(*turns: Content, turn_complete: bool = True) -> ClientMessage:
    """Return a message with turns for the history; `turn_complete` asks for an answer."""
    return ClientMessage(client_content=ClientContent(turns=turns, turn_complete=turn_complete))


def text_turn(text: str, *, role: Role | str = Role.USER, turn_complete: bool = True) -> ClientMessage:
    """Return a message with one typed turn."""
    return client_content(text_content(text, role=role), turn_complete=turn_complete)


def realtime_text(text: str) -> ClientMessage:
    """Return a message with typed text as streamed input."""
    return ClientMessage(realtime_input=RealtimeInput(text=text))


def realtime_video(data: bytes, mime_type: str = "image/jpeg") -> ClientMessage:
    """Return a message with one video frame as streamed input."""
    return ClientMessage(realtime_input=RealtimeInput(video=Blob(mime_type=mime_type, data=data)))


def activity_start() -> ClientMessage:
    """Return the start of the user's speech, for manual activity detection."""
    return ClientMessage(realtime_input=RealtimeInput(activity_start=ActivityStart()))


def activity_end() -> ClientMessage:
    """Return the end of the user's speech, for manual activity detection."""
    return ClientMessage(realtime_input=RealtimeInput(activity_end=ActivityEnd()))


def audio_stream_end() -> ClientMessage:
    """Return the end of the microphone stream, for automatic activity detection.

    The server then processes the audio in its buffer.
    """
    return ClientMessage(realtime_input=RealtimeInput(audio_stream_end=True))


def function_response(
    call_id: str | None,
    name: str,
    response: Mapping[str, Any],
    *,
    scheduling: Scheduling | str | None = None,
    will_continue: bool | None = None,
) -> FunctionResponse:
    """Return the result of one call; `response` must hold JSON values."""
    return FunctionResponse(
        id=call_id, name=name, response=response, scheduling=scheduling, will_continue=will_continue
    )


def tool_responses(*responses: FunctionResponse) -> ClientMessage:
    """Return a message with results of function calls."""
    return ClientMessage(tool_response=ToolResponse(function_responses=responses))


def instruction_content(instruction: str | Sequence[str] | Content) -> Content:
    """Return a system instruction from a text, from texts (a part each) or a content."""
    if isinstance(instruction, Content):
        return instruction
    return text_content(instruction) if isinstance(instruction, str) else text_content(*instruction)


def context_update(
    *, instruction: str | Sequence[str] | Content | None = None, tools: Iterable[Tool] | None = None
) -> ClientMessage:
    """Return an update of the system instruction, the tools, or both.

    None leaves them unchanged; an empty list clears the tools.
    """
    return ClientMessage(
        context_update=ContextUpdate(
            system_instruction=None if instruction is None else instruction_content(instruction),
            tools=None if tools is None else ToolsUpdate(tools=tuple(tools)),
        )
    )


def tool_list(declarations: Iterable[FunctionDeclaration], builtins: Iterable[Tool] = ()) -> tuple[Tool, ...]:
    """Return `tools`: the built-in ones, then one entry with all functions."""
    declared = tuple(declarations)
    return (*builtins, Tool(function_declarations=declared)) if declared else tuple(builtins)


def build_setup(
    model: str,
    *,
    instruction: str | Sequence[str] | Content | None = None,
    tools: Iterable[Tool] = (),
    modality: Modality | str = Modality.AUDIO,
    voice: str = "",
    language: str = "",
    transcribe: bool = True,
    resumption: bool = True,
    handle: str = "",
    compression: bool = True,
    manual_activity: bool = False,
) -> Setup:
    """Return the setup of a voice session; refine it with `dataclasses.replace`.

    `connect` completes `model` to a resource name. `resumption` asks for handles, `handle` resumes a session.
    `compression` lets a session go on past the context limit, with the server's default thresholds.
    """
    speech = None
    if voice or language:
        speech = SpeechConfig(
            voice_config=VoiceConfig(prebuilt_voice_config=PrebuiltVoiceConfig(voice_name=voice)) if voice else None,
            language_code=language or None,
        )
    return Setup(
        model=model,
        generation_config=GenerationConfig(response_modalities=(modality,), speech_config=speech),
        system_instruction=None if not instruction else instruction_content(instruction),
        tools=tuple(tools),
        session_resumption=SessionResumption(handle=handle or None) if resumption or handle else None,
        context_window_compression=ContextWindowCompression(sliding_window=SlidingWindow()) if compression else None,
        input_audio_transcription=AudioTranscriptionConfig() if transcribe else None,
        output_audio_transcription=AudioTranscriptionConfig() if transcribe else None,
        realtime_input_config=RealtimeInputConfig(
            automatic_activity_detection=AutomaticActivityDetection(disabled=True)
        )
        if manual_activity
        else None,
    )
