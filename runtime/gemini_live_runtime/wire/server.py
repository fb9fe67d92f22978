"""Messages of a server; each may have several kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from gemini_live_runtime.wire.base import Message, message, wire
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


@message
class SetupComplete(Message):
    """Acceptance of the setup."""

    session_id: str | None = None
    voice_consent_signature: VoiceConsentSignature | None = None


@message
class WordInfo(Message):
    """Word of a transcript; offsets are durations."""

    word: str | None = None
    start_offset: str | None = None
    end_offset: str | None = None


@message
class Transcription(Message):
    """Piece of a transcript: text to append, leading space included.

    The server need not send `finished`.
    """

    text: str | None = None
    finished: bool | None = None
    language_code: str | None = None
    speaker_label: str | None = None
    words: tuple[WordInfo, ...] = ()
    start_offset: str | None = None
    end_offset: str | None = None


@message
class SearchEntryPoint(Message):
    """Search widget as HTML, untrusted."""

    rendered_content: str | None = None
    sdk_blob: bytes | None = None


@message
class WebChunk(Message):
    """Page that an answer is based on."""

    uri: str | None = None
    title: str | None = None
    domain: str | None = None


@message
class GroundingChunk(Message):
    """Source of an answer; kinds other than `web` are in `extra`."""

    web: WebChunk | None = None


@message
class Segment(Message):
    """Range of the answer, in bytes of the part's text."""

    start_index: int | None = None
    end_index: int | None = None
    part_index: int | None = None
    text: str | None = None


@message
class GroundingSupport(Message):
    """Sources of a range of the answer."""

    segment: Segment | None = None
    grounding_chunk_indices: tuple[int, ...] = ()
    confidence_scores: tuple[float, ...] = ()


@message
class GroundingMetadata(Message):
    """Sources of a grounded answer."""

    web_search_queries: tuple[str, ...] = ()
    search_entry_point: SearchEntryPoint | None = None
    grounding_chunks: tuple[GroundingChunk, ...] = ()
    grounding_supports: tuple[GroundingSupport, ...] = ()
    retrieval_queries: tuple[str, ...] = ()


@message
class UrlMetadata(Message):
    """Page that was fetched for the model."""

    retrieved_url: str | None = None
    url_retrieval_status: UrlRetrievalStatus | str | None = None


@message
class UrlContextMetadata(Message):
    """Pages that were fetched for the model."""

    url_metadata: tuple[UrlMetadata, ...] = ()


@message
class ServerContent(Message):
    """Content of the model, and the ends of its turns.

    `generation_complete` comes when the model has generated everything, `turn_complete` when the turn ends. After
    `interrupted` the server sends `turn_complete`, and no `generation_complete`.
    """

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


@message
class ToolCall(Message):
    """Functions that the client should run."""

    function_calls: tuple[FunctionCall, ...] = ()


@message
class ToolCallCancellation(Message):
    """Calls without need of a result; the client should undo side effects."""

    ids: tuple[str, ...] = ()


@message
class GoAway(Message):
    """Announcement that the server will close; `time_left` is a duration."""

    time_left: str | None = None


@message
class SessionResumptionUpdate(Message):
    """Resumption handle, or the note that the session cannot be resumed now."""

    new_handle: str | None = None
    resumable: bool | None = None
    last_consumed_client_message_index: int | None = wire(default=None, int64=True)


@message
class ModalityTokenCount(Message):
    """Tokens of one modality; an absent count is 0."""

    modality: Modality | str | None = None
    token_count: int | None = None


@message
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


@message
class VoiceActivity(Message):
    """Start or end of the user's speech; `audio_offset` is a duration."""

    type: VoiceActivityType | str | None = wire(default=None, aliases=("voiceActivityType", "voice_activity_type"))
    audio_offset: str | None = None


@message
class VoiceActivityDetectionSignal(Message):
    """Older signal of voice activity."""

    vad_signal_type: VadSignalType | str | None = None


@message
class ServerMessage(Message):
    """Message of a server. Several fields may be set: handle all of them.

    `raw` is the JSON object it was read from, `problems` names its unreadable parts, which are in `extra`. Both are
    empty on messages created by this program, and comparisons ignore them.
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
    """Server message with one piece of the model's speech alone, as s16le mono PCM.

    `rate` is in Hz. A tuple, because it is cheaper to create than a dataclass: there is one for every 40 ms of speech.
    """

    data: bytes
    rate: int
    mime_type: str

    def __repr__(self) -> str:
        return f"AudioFrame({len(self.data)} bytes, {self.mime_type!r})"
