"""Calls that send the frames captured from Google's own client, by case.

An entry is the setup and the messages after it, or a `Refusal`: a message that the client refused, as we do.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import (
    ActivityHandling,
    AudioTranscriptionConfig,
    AutomaticActivityDetection,
    AvatarConfig,
    Behavior,
    Blob,
    ClientContent,
    ClientMessage,
    Content,
    ContextWindowCompression,
    FunctionDeclaration,
    FunctionResponse,
    GenerationConfig,
    HistoryConfig,
    LanguageHints,
    Modality,
    Part,
    PrebuiltVoiceConfig,
    Proactivity,
    RealtimeInput,
    RealtimeInputConfig,
    Scheduling,
    Schema,
    SchemaType,
    SessionResumption,
    Setup,
    SlidingWindow,
    SpeechConfig,
    ThinkingConfig,
    ThinkingLevel,
    Tool,
    TurnCoverage,
    VoiceConfig,
)

MODEL = "gemini-3.8-live"
PCM = bytes.fromhex("fbffbf3e") * 4
CHUNK = bytes(range(256)) * 2 + bytes(128)
JPEG = bytes.fromhex("ffd8ffe0") + b"fakejpeg" + bytes.fromhex("ffd9")


@dataclass(frozen=True)
class Case:
    """Conversation: the setup, then messages, then `audio`, a microphone chunk."""

    setup: Setup
    messages: tuple[ClientMessage, ...] = ()
    audio: bytes = b""


@dataclass(frozen=True)
class Refusal:
    """Message that is refused before it is sent; `words` occur in the refusal."""

    message: ClientMessage
    words: str


def plain(**fields: object) -> Setup:
    """Return the setup of most captured cases, with further fields."""
    return Setup(model=MODEL, **{"generation_config": speaking(), **fields})  # type: ignore[arg-type]


def speaking(**fields: object) -> GenerationConfig:
    """Return a generation config with the modality audio, and further fields."""
    return GenerationConfig(response_modalities=(Modality.AUDIO,), **fields)  # type: ignore[arg-type]


def then(*messages: ClientMessage) -> Case:
    """Return a case of the plain setup, then `messages`."""
    return Case(plain(), messages)


def answer(**fields: object) -> Case:
    """Return a case of the plain setup, then one tool response."""
    return then(compose.tool_responses(FunctionResponse(**fields)))  # type: ignore[arg-type]


TIMER = FunctionDeclaration(
    name="set_timer",
    description="Start a timer",
    parameters=Schema(
        type=SchemaType.OBJECT,
        properties={
            "minutes": Schema(type=SchemaType.INTEGER, description="how long", minimum=1),
            "label": Schema(type=SchemaType.STRING, enum=("tea", "egg"), nullable=True),
            "steps": Schema(type=SchemaType.ARRAY, items=Schema(type=SchemaType.STRING)),
        },
        required=("minutes",),
    ),
    response=Schema(type=SchemaType.OBJECT, properties={"ok": Schema(type=SchemaType.BOOLEAN)}),
    behavior=Behavior.NON_BLOCKING,
)
ALARM = FunctionDeclaration(
    name="set_alarm",
    description="Set an alarm",
    parameters_json_schema={
        "type": "object",
        "properties": {"at": {"type": "string", "format": "date-time"}},
        "required": ["at"],
        "additionalProperties": False,
    },
    behavior=Behavior.BLOCKING,
)
WEATHER = FunctionDeclaration(
    name="get_weather",
    description="Look up the weather.\n\nArgs:\n  city: City name.\n  days: Number of days.\n"
    "  metric: Use metric units.\n  tags: Extra labels.",
    parameters_json_schema={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": 1},
            "metric": {"type": "boolean", "default": True},
            "tags": {"items": {"type": "string"}, "type": "array", "default": []},
        },
        "required": ["city"],
    },
    response_json_schema={"additionalProperties": True, "type": "object"},
)

HELLO = compose.text_turn("Hello")
FORMAL = compose.context_update(instruction="You are now formal.")
SINGLE_RESULT = compose.tool_responses(
    compose.function_response("call-1", "set_timer", {"output": {"snake_key": 1, "camelKey": 2}})
)
MISSING_ID = compose.tool_responses(compose.function_response(None, "a", {"ok": True}))
OK = {"id": "call-1", "name": "a", "response": {"result": "ok"}}
END_OF_TURN = ClientMessage(client_content=ClientContent(turn_complete=True))

CASES: dict[str, Case | Refusal] = {
    "setup_minimal_none": Case(Setup(model=MODEL)),
    "setup_minimal_audio": Case(plain()),
    "setup_lowercase_modality": Case(
        Setup(model=MODEL, generation_config=GenerationConfig(response_modalities=("audio",)))
    ),
    "setup_text_modality": Case(
        Setup(model=MODEL, generation_config=GenerationConfig(response_modalities=(Modality.TEXT,)))
    ),
    "setup_model_prefixed": Case(Setup(model=f"models/{MODEL}", generation_config=speaking())),
    "setup_generation_config_deprecated": Case(
        plain(
            generation_config=speaking(
                candidate_count=1,
                frequency_penalty=0.2,
                presence_penalty=0.1,
                temperature=0.2,
                stop_sequences=("END",),
                speech_config=SpeechConfig(
                    voice_config=VoiceConfig(prebuilt_voice_config=PrebuiltVoiceConfig(voice_name="Puck"))
                ),
            )
        )
    ),
    "setup_system_instruction_str": Case(plain(system_instruction=compose.instruction_content("Be brief."))),
    "setup_system_instruction_content": Case(
        plain(system_instruction=compose.text_content("One.", "Two.", role="system"))
    ),
    "setup_system_instruction_list": Case(plain(system_instruction=compose.instruction_content(["One.", "Two."]))),
    "setup_tools_declarations": Case(plain(tools=compose.tool_list([TIMER, ALARM]))),
    "setup_tools_dict": Case(plain(tools=compose.tool_list([FunctionDeclaration(name="turn_on_the_lights")]))),
    "setup_tools_builtin": Case(
        plain(
            tools=compose.tool_list(
                [], [Tool(google_search={}), Tool(code_execution={}), Tool(url_context={}), Tool(google_maps={})]
            )
        )
    ),
    "setup_resumption_empty": Case(plain(session_resumption=SessionResumption())),
    "setup_resumption_handle_none": Case(plain(session_resumption=SessionResumption(handle=None))),
    "setup_resumption_transparent": Refusal(
        ClientMessage(setup=plain(session_resumption=SessionResumption(transparent=True))), "transparent"
    ),
    "setup_compression_default": Case(
        plain(context_window_compression=ContextWindowCompression(sliding_window=SlidingWindow()))
    ),
    "setup_vad_disabled": Case(
        plain(
            realtime_input_config=RealtimeInputConfig(
                automatic_activity_detection=AutomaticActivityDetection(disabled=True)
            )
        )
    ),
    "setup_no_interruption_all_input": Case(
        plain(
            realtime_input_config=RealtimeInputConfig(
                activity_handling=ActivityHandling.NO_INTERRUPTION,
                turn_coverage=TurnCoverage.ALL_INPUT,
                interim_transcript_timestamp_enabled=True,
            )
        )
    ),
    "setup_turn_coverage_all_video": Case(
        plain(realtime_input_config=RealtimeInputConfig(turn_coverage=TurnCoverage.AUDIO_ACTIVITY_AND_ALL_VIDEO))
    ),
    "setup_transcription_empty": Case(
        plain(
            input_audio_transcription=AudioTranscriptionConfig(), output_audio_transcription=AudioTranscriptionConfig()
        )
    ),
    "setup_transcription_deprecated_hints": Case(
        plain(
            input_audio_transcription=AudioTranscriptionConfig(
                language_auto={},
                language_hints=LanguageHints(language_codes=("fr-FR",)),
                adaptation_phrases=("bonjour",),
            )
        )
    ),
    "setup_thinking_budget": Case(
        plain(generation_config=speaking(thinking_config=ThinkingConfig(thinking_budget=0, include_thoughts=False)))
    ),
    "setup_thinking_level": Case(
        plain(generation_config=speaking(thinking_config=ThinkingConfig(thinking_level=ThinkingLevel.HIGH)))
    ),
    "setup_speech_voice_only": Case(
        compose.build_setup(MODEL, voice="Zephyr", transcribe=False, resumption=False, compression=False)
    ),
    "setup_speech_voice_field": Case(
        plain(generation_config=speaking(speech_config=SpeechConfig(voice_config=VoiceConfig(voice="Kore"))))
    ),
    "setup_speech_language_only": Case(
        compose.build_setup(MODEL, language="de-DE", transcribe=False, resumption=False, compression=False)
    ),
    "setup_speech_multi_speaker": Refusal(
        ClientMessage(
            setup=plain(
                generation_config=speaking(
                    speech_config=SpeechConfig(extra={"multiSpeakerVoiceConfig": {"speakerVoiceConfigs": []}})
                )
            )
        ),
        "multiSpeakerVoiceConfig",
    ),
    "setup_proactive_audio": Case(plain(proactivity=Proactivity(proactive_audio=True, proactive_video=True))),
    "setup_affective": Case(plain(generation_config=speaking(enable_affective_dialog=True))),
    "setup_history": Case(plain(history_config=HistoryConfig(initial_history_in_client_content=True))),
    "setup_avatar": Case(
        plain(
            generation_config=GenerationConfig(response_modalities=(Modality.VIDEO,)),
            avatar_config=AvatarConfig(avatar_name="Kira", audio_bitrate_bps=64_000, video_bitrate_bps=1_000_000),
        )
    ),
    "setup_explicit_vad_signal": Refusal(ClientMessage(setup=plain(explicit_vad_signal=True)), "explicitVadSignal"),
    "setup_v1alpha": Case(plain()),
    "client_content_dict": then(HELLO),
    "client_content_turn_incomplete": then(compose.text_turn("part one", turn_complete=False)),
    "client_content_no_role": then(compose.client_content(compose.text_content("no role", role=None))),
    "client_content_empty": then(compose.client_content()),
    "client_content_inline_data": then(
        compose.client_content(
            Content(
                role="user",
                parts=(
                    Part(inline_data=Blob(mime_type="image/jpeg", data=JPEG + PCM)),
                    Part(text="what is it"),
                ),
            )
        )
    ),
    "realtime_audio_pcm": Case(plain(), audio=PCM),
    "realtime_audio_20ms": Case(plain(), audio=CHUNK),
    "realtime_audio_dict": then(
        ClientMessage(realtime_input=RealtimeInput(audio=Blob(mime_type="audio/pcm", data=PCM)))
    ),
    "realtime_text": then(compose.realtime_text("hi there")),
    "realtime_activity_start": then(compose.activity_start()),
    "realtime_activity_end": then(compose.activity_end()),
    "realtime_audio_stream_end": then(compose.audio_stream_end()),
    "realtime_media_deprecated": then(
        ClientMessage(realtime_input=RealtimeInput(media_chunks=(Blob(mime_type="audio/pcm;rate=16000", data=PCM),)))
    ),
    "realtime_two_args": Refusal(
        ClientMessage(realtime_input=RealtimeInput(text="x", audio_stream_end=True)), "text, audioStreamEnd"
    ),
    "tool_response_single": then(SINGLE_RESULT),
    "tool_response_list": then(
        compose.tool_responses(
            compose.function_response("call-1", "a", {"result": "ok"}),
            compose.function_response("call-2", "b", {"error": "boom"}),
        )
    ),
    "tool_response_dict": answer(**OK),
    "tool_response_interrupt": answer(**OK, scheduling=Scheduling.INTERRUPT),
    "tool_response_when_idle": answer(**OK, scheduling=Scheduling.WHEN_IDLE),
    "tool_response_silent": answer(**OK, scheduling=Scheduling.SILENT),
    "tool_response_will_continue_false": answer(id="call-1", name="a", response={}, will_continue=False),
    "tool_response_missing_id": Refusal(MISSING_ID, "id is missing"),
    "context_update_system": then(FORMAL),
    "context_update_tools": then(compose.context_update(tools=compose.tool_list([WEATHER]))),
    "legacy_send_text": then(HELLO),
    "legacy_send_end_of_turn": then(END_OF_TURN),
    "legacy_send_blob": then(
        ClientMessage(realtime_input=RealtimeInput(media_chunks=(Blob(mime_type="audio/pcm", data=PCM),)))
    ),
    "vertex_setup_minimal": Case(plain()),
    "vertex_client_content_dict": then(HELLO),
    "vertex_client_content_multi_turn": then(
        compose.client_content(
            compose.text_content("Capital of France?"),
            compose.text_content("Paris", role="model"),
            compose.text_content("And Germany?"),
        )
    ),
    "vertex_realtime_audio_pcm": Case(plain(), audio=PCM),
    "vertex_realtime_video_jpeg": then(compose.realtime_video(JPEG)),
    "vertex_realtime_text": then(compose.realtime_text("hi there")),
    "vertex_realtime_activity_start": then(compose.activity_start()),
    "vertex_realtime_audio_stream_end": then(compose.audio_stream_end()),
    "vertex_tool_response_single": then(SINGLE_RESULT),
    "vertex_tool_response_will_continue": answer(
        id="call-1", name="a", response={"progress": 0.5}, will_continue=True, scheduling=Scheduling.SILENT
    ),
    "vertex_tool_response_missing_id": then(MISSING_ID),
    "vertex_context_update_system": then(FORMAL),
}

REASONS: dict[str, str] = {}
"""Captured cases that we do not send, and why; the limit is 15."""
