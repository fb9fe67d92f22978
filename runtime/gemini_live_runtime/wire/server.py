"""What a server sends: any number of kinds in a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gemini_live_runtime.wire.base import Message, wire
from gemini_live_runtime.wire.content import Content, FunctionCall
from gemini_live_runtime.wire.enums import (
    InteractionStatus,
    Modality,
    TrafficType,
    TurnCompleteReason,
    UrlRetrievalStatus,
    VadSignalType,
    VoiceActivityType,
)
from gemini_live_runtime.wire.setup import VoiceConsentSignature


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SetupComplete(Message):
    """The setup was accepted."""

    session_id: str | None = None
    voice_consent_signature: VoiceConsentSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WordInfo(Message):
    """One word and when it was said."""

    word: str | None = None
    start_offset: str | None = None
    end_offset: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transcription(Message):
    """A piece of transcript: text to append, leading space included. `finished` may never come."""

    text: str | None = None
    finished: bool | None = None
    language_code: str | None = None
    speaker_label: str | None = None
    words: tuple[WordInfo, ...] = ()
    start_offset: str | None = None
    end_offset: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SearchEntryPoint(Message):
    """The search widget as HTML: hostile text like everything from outside."""

    rendered_content: str | None = None
    sdk_blob: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WebChunk(Message):
    """A page that an answer rests on."""

    uri: str | None = None
    title: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroundingChunk(Message):
    """A source; kinds other than `web` stay in `extra`."""

    web: WebChunk | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Segment(Message):
    """A stretch of the answer, in bytes of the part's text."""

    start_index: int | None = None
    end_index: int | None = None
    part_index: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroundingSupport(Message):
    """Which sources stand behind which stretch of the answer."""

    segment: Segment | None = None
    grounding_chunk_indices: tuple[int, ...] = ()
    confidence_scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroundingMetadata(Message):
    """Where a grounded answer comes from."""

    web_search_queries: tuple[str, ...] = ()
    search_entry_point: SearchEntryPoint | None = None
    grounding_chunks: tuple[GroundingChunk, ...] = ()
    grounding_supports: tuple[GroundingSupport, ...] = ()
    retrieval_queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UrlMetadata(Message):
    """One page that was fetched for the model."""

    retrieved_url: str | None = None
    url_retrieval_status: UrlRetrievalStatus | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UrlContextMetadata(Message):
    """Pages that were fetched for the model."""

    url_metadata: tuple[UrlMetadata, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerContent(Message):
    """The model's side of the conversation, and the marks of its turns."""

    model_turn: Content | None = None
    input_transcription: Transcription | None = None
    output_transcription: Transcription | None = None
    interim_input_transcription: Transcription | None = None
    generation_complete: bool | None = None
    interrupted: bool | None = None
    turn_complete: bool | None = None
    turn_complete_reason: TurnCompleteReason | str | None = None
    waiting_for_input: bool | None = None
    interaction_status: InteractionStatus | str | None = None
    grounding_metadata: GroundingMetadata | None = None
    url_context_metadata: UrlContextMetadata | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCall(Message):
    """Functions that the client shall run."""

    function_calls: tuple[FunctionCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCallCancellation(Message):
    """Calls whose results are no longer wanted; side effects should be undone."""

    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GoAway(Message):
    """The server will close soon; `time_left` is a duration."""

    time_left: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionResumptionUpdate(Message):
    """A new handle, or the news that the session cannot be resumed at this point."""

    new_handle: str | None = None
    resumable: bool | None = None
    last_consumed_client_message_index: int | None = wire(default=None, int64=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModalityTokenCount(Message):
    """Tokens of one modality; an absent count is 0."""

    modality: Modality | str | None = None
    token_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UsageMetadata(Message):
    """Tokens of one turn; an absent count is 0. Sums need not agree with the total."""

    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    response_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    thoughts_token_count: int | None = None
    total_token_count: int | None = None
    prompt_tokens_details: tuple[ModalityTokenCount, ...] = ()
    cache_tokens_details: tuple[ModalityTokenCount, ...] = ()
    response_tokens_details: tuple[ModalityTokenCount, ...] = ()
    tool_use_prompt_tokens_details: tuple[ModalityTokenCount, ...] = ()
    traffic_type: TrafficType | str | None = None
    service_tier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VoiceActivity(Message):
    """An edge of the user's speech as the server heard it; `audio_offset` is a duration."""

    type: VoiceActivityType | str | None = wire(  # noqa: RUF009 - a field, like all others
        default=None, aliases=("voiceActivityType", "voice_activity_type")
    )
    audio_offset: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VoiceActivityDetectionSignal(Message):
    """The older voice activity signal."""

    vad_signal_type: VadSignalType | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerMessage(Message):
    """One message of a server. Several fields may be set: handle all of them.

    `raw` is the JSON object it was read from, `problems` names what was unreadable in it (kept in `extra`); both are
    empty on messages made here and count for nothing in comparisons.
    """

    setup_complete: SetupComplete | None = None
    server_content: ServerContent | None = None
    tool_call: ToolCall | None = None
    tool_call_cancellation: ToolCallCancellation | None = None
    go_away: GoAway | None = None
    session_resumption_update: SessionResumptionUpdate | None = None
    usage_metadata: UsageMetadata | None = None
    voice_activity: VoiceActivity | None = None
    voice_activity_detection_signal: VoiceActivityDetectionSignal | None = None
    problems: tuple[str, ...] = field(default=(), compare=False)
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


class AudioFrame(NamedTuple):
    """A server message that holds one piece of the model's speech and nothing else: s16le mono PCM.

    `rate` is in Hz. A tuple instead of a dataclass: one is made for every 40 ms of speech.
    """

    data: bytes
    rate: int
    mime_type: str

    def __repr__(self) -> str:
        return f"AudioFrame({len(self.data)} bytes, {self.mime_type!r})"
