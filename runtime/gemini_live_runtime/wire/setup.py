"""Messages of the setup: the model and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.wire.base import Message, message, wire
from gemini_live_runtime.wire.content import Content
from gemini_live_runtime.wire.declarations import Tool
from gemini_live_runtime.wire.enums import (
    ActivityHandling,
    EndSensitivity,
    HarmBlockMethod,
    HarmBlockThreshold,
    HarmCategory,
    MediaResolution,
    Modality,
    StartSensitivity,
    ThinkingLevel,
    TranscriptionMode,
    TurnCoverage,
)


@message
class PrebuiltVoiceConfig(Message):
    """Voice by name."""

    voice_name: str | None = None


@message
class VoiceConsentSignature(Message):
    """Proof that a speaker agreed to the replication of the voice."""

    signature: str | None = None


@message
class ReplicatedVoiceConfig(Message):
    """Voice replicated from a sample."""

    mime_type: str | None = None
    voice_sample_audio: bytes | None = None
    consent_audio: bytes | None = None
    voice_consent_signature: VoiceConsentSignature | None = None


@message
class VoiceConfig(Message):
    """Voice of the model; set one of the three."""

    prebuilt_voice_config: PrebuiltVoiceConfig | None = None
    replicated_voice_config: ReplicatedVoiceConfig | None = None
    voice: str | None = None


@message
class SpeechConfig(Message):
    """Voice and language of the model's speech. `language_code` is BCP 47."""

    voice_config: VoiceConfig | None = None
    language_code: str | None = None


@message
class ThinkingConfig(Message):
    """Thinking: a budget in tokens on older models, a level on newer ones.

    A budget of 0 is off, -1 automatic.
    """

    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: ThinkingLevel | str | None = None


@message
class TranslationConfig(Message):
    """Target of speech translation models."""

    target_language_code: str | None = None
    echo_target_language: bool | None = None


@message
class GenerationConfig(Message):
    """Sampling, modality and voice of the model."""

    response_modalities: tuple[Modality | str, ...] = ()
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    media_resolution: MediaResolution | str | None = None
    candidate_count: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stop_sequences: tuple[str, ...] = ()
    speech_config: SpeechConfig | None = None
    thinking_config: ThinkingConfig | None = None
    enable_affective_dialog: bool | None = None
    translation_config: TranslationConfig | None = None


@message
class SessionResumption(Message):
    """Request for resumption handles, or with `handle` to resume a session.

    `transparent` exists on Vertex only.
    """

    handle: str | None = None
    transparent: bool | None = None


@message
class SlidingWindow(Message):
    """Tokens of the context after compression."""

    target_tokens: int | None = None


@message
class ContextWindowCompression(Message):
    """Compression of the context from `trigger_tokens` on."""

    trigger_tokens: int | None = None
    sliding_window: SlidingWindow | None = None


@message
class LanguageHints(Message):
    """Expected languages; deprecated."""

    language_codes: tuple[str, ...] = ()


@message
class AudioTranscriptionConfig(Message):
    """Transcription, which the presence of the message turns on.

    The last three fields are deprecated.
    """

    language_codes: tuple[str, ...] = ()
    custom_vocabulary: tuple[str, ...] = ()
    word_timestamp: bool | None = None
    diarization: bool | None = None
    mode: TranscriptionMode | str | None = None
    source_text: str | None = None
    language_hints: LanguageHints | None = None
    language_auto: Mapping[str, Any] | None = None
    adaptation_phrases: tuple[str, ...] = ()


@message
class AutomaticActivityDetection(Message):
    """Voice activity detection of the server, unless `disabled`. Times in ms."""

    disabled: bool | None = None
    start_of_speech_sensitivity: StartSensitivity | str | None = None
    end_of_speech_sensitivity: EndSensitivity | str | None = None
    prefix_padding_ms: int | None = None
    silence_duration_ms: int | None = None


@message
class RealtimeInputConfig(Message):
    """Conversion of streamed input into turns."""

    automatic_activity_detection: AutomaticActivityDetection | None = None
    activity_handling: ActivityHandling | str | None = None
    turn_coverage: TurnCoverage | str | None = None
    interim_transcript_timestamp_enabled: bool | None = None


@message
class Proactivity(Message):
    """Permission of the model to stay silent, or to speak unprompted."""

    proactive_audio: bool | None = None
    proactive_video: bool | None = None


@message
class HistoryConfig(Message):
    """Treatment of the first client content as history without an answer."""

    initial_history_in_client_content: bool | None = None


@message
class SafetySetting(Message):
    """Safety threshold of one category."""

    category: HarmCategory | str | None = None
    method: HarmBlockMethod | str | None = None
    threshold: HarmBlockThreshold | str | None = None


@message
class CustomizedAvatar(Message):
    """Avatar made from an image."""

    image_mime_type: str | None = None
    image_data: bytes | None = None


@message
class AvatarConfig(Message):
    """Avatar of a model that answers in video. Bit rates in bits per second."""

    avatar_name: str | None = None
    customized_avatar: CustomizedAvatar | None = None
    audio_bitrate_bps: int | None = None
    video_bitrate_bps: int | None = None


@message
class Setup(Message):
    """Configuration of a connection. The keys of `labels` are not renamed."""

    model: str | None = None
    generation_config: GenerationConfig | None = None
    system_instruction: Content | None = None
    tools: tuple[Tool, ...] = ()
    session_resumption: SessionResumption | None = None
    context_window_compression: ContextWindowCompression | None = None
    input_audio_transcription: AudioTranscriptionConfig | None = None
    output_audio_transcription: AudioTranscriptionConfig | None = None
    realtime_input_config: RealtimeInputConfig | None = None
    proactivity: Proactivity | None = None
    history_config: HistoryConfig | None = None
    safety_settings: tuple[SafetySetting, ...] = ()
    avatar_config: AvatarConfig | None = None
    labels: Mapping[str, str] = wire(default_factory=dict)
    explicit_vad_signal: bool | None = None
