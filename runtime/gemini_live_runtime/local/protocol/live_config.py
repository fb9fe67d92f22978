"""Check a client's `setup` as a Live server does and read its settings.

Accepted without effect, because a scripted dialogue has nothing they could change: sampling (temperature, topP, topK,
seed, penalties, candidateCount, maxOutputTokens, stopSequences), mediaResolution, thinkingConfig, languageCode,
enableAffectiveDialog, safetySettings, and the refinements of the transcriptions. Of the labels, a dialogue may say
`agent` and `phases`. Everything else works or is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from gemini_live_runtime.local.protocol.activity import MAX_PADDING_MS, ActivitySettings
from gemini_live_runtime.local.protocol.context import MAX_CONTEXT_TOKENS, TRIGGER_SHARE
from gemini_live_runtime.local.protocol.refusal import INVALID_ARGUMENT, Refusal, invalid
from gemini_live_runtime.local.speech.voices import known_voice
from gemini_live_runtime.records import record
from gemini_live_runtime.wire.codec import to_json
from gemini_live_runtime.wire.messages import (
    ActivityHandling,
    Behavior,
    Content,
    ContextWindowCompression,
    EndSensitivity,
    FunctionDeclaration,
    GenerationConfig,
    Modality,
    RealtimeInputConfig,
    Setup,
    StartSensitivity,
    Tool,
    TurnCoverage,
)

MAX_TOOLS = 512
"""Most functions that a client may declare."""

MAX_LABEL_CHARS = 1000
"""Characters of a label that are kept."""

_NON_BLOCKING_MODELS = "gemini-3.8-live"
"""Prefix of models that call functions without waiting by default."""

_SECOND_GENERATION = ("gemini-2", "gemini-live-2")
"""Prefixes of models that answer initial history, and that end a turn with its calls."""


@record
class DeclaredTool:
    """Function of the client, with the JSON schema of its parameters."""

    name: str
    parameters: Mapping[str, Any]
    blocking: bool
    text: str
    """The declaration as text, for counting tokens."""


@record
class LiveConfig:
    """Settings of a session, from a checked setup."""

    model: str
    """Model name without `models/` or a Vertex path."""
    modality: Modality = Modality.AUDIO
    voice: str = ""
    instruction: str = ""
    tools: Mapping[str, DeclaredTool] = field(default_factory=dict)
    handles: bool = False
    handle: str = ""
    transparent: bool = False
    compress_at: int | None = None
    compress_to: int | None = None
    input_transcription: bool = False
    output_transcription: bool = False
    activity: ActivitySettings | None = field(default_factory=ActivitySettings)
    """Activity detection; None when the client marks activity itself."""
    interrupts: bool = True
    coverage: TurnCoverage = TurnCoverage.ONLY_ACTIVITY
    initial_history: bool = False
    calls_end_turns: bool = False
    """True when a turn is complete with its calls and another one tells their results.

    Models before 3.x are so, and google-adk runs their calls at `turnComplete`."""
    proactive: bool = False
    """True when the model may stay silent; here, when it did not understand."""
    vad_signal: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


def check_setup(setup: Setup) -> LiveConfig:
    """Return the settings of `setup`; raise `Refusal`."""
    model = (setup.model or "").rsplit("/", 1)[-1]
    if not model:
        raise invalid("setup.model is missing")
    if setup.avatar_config is not None:
        raise invalid("avatarConfig needs a model that answers in video")
    generation = setup.generation_config or GenerationConfig()
    history = setup.history_config
    realtime = setup.realtime_input_config or RealtimeInputConfig()
    resumption = setup.session_resumption
    second_generation = model.startswith(_SECOND_GENERATION)
    compress_at, compress_to = _compression(setup.context_window_compression)
    proactivity = setup.proactivity
    return LiveConfig(
        model=model,
        modality=_modality(generation),
        voice=_voice(generation),
        instruction=instruction_text(setup.system_instruction),
        tools=declared_tools(setup.tools, model),
        handles=resumption is not None,
        handle=(resumption.handle or "") if resumption else "",
        transparent=bool(resumption and resumption.transparent),
        compress_at=compress_at,
        compress_to=compress_to,
        input_transcription=setup.input_audio_transcription is not None,
        output_transcription=setup.output_audio_transcription is not None,
        activity=_activity(realtime),
        interrupts=realtime.activity_handling != ActivityHandling.NO_INTERRUPTION,
        coverage=_coverage(realtime, model),
        initial_history=bool(history and history.initial_history_in_client_content) and not second_generation,
        calls_end_turns=second_generation,
        proactive=bool(proactivity and proactivity.proactive_audio),
        vad_signal=bool(setup.explicit_vad_signal),
        labels={name: str(value)[:MAX_LABEL_CHARS] for name, value in setup.labels.items()},
    )


def instruction_text(content: Content | None) -> str:
    """Return the text of a system instruction."""
    return "\n".join(part.text for part in content.parts if part.text) if content else ""


def declared_tools(tools: Iterable[Tool], model: str) -> dict[str, DeclaredTool]:
    """Return functions by name; raise `Refusal` for built-in tools and bad names."""
    declared: dict[str, DeclaredTool] = {}
    for tool in tools:
        for attribute in ("google_search", "code_execution", "url_context", "google_maps"):
            if getattr(tool, attribute) is not None:
                raise Refusal(1007, f"{INVALID_ARGUMENT}: the local model has no built-in tool {attribute}.")
        for declaration in tool.function_declarations:
            name = declaration.name or ""
            if not name or name in declared:
                raise invalid(f"function name {name[:40]!r} is {'declared twice' if name else 'empty'}")
            blocking = declaration.behavior != Behavior.NON_BLOCKING
            if declaration.behavior is None:
                blocking = not model.startswith(_NON_BLOCKING_MODELS)
            text = json.dumps(to_json(declaration), ensure_ascii=False)
            declared[name] = DeclaredTool(name, _parameters(declaration), blocking, text)
    if len(declared) > MAX_TOOLS:
        raise invalid(f"{len(declared)} functions are declared, at most {MAX_TOOLS} may be")
    return declared


def _parameters(declaration: FunctionDeclaration) -> Mapping[str, Any]:
    given = declaration.parameters_json_schema
    if declaration.parameters is not None and given is not None:
        raise invalid(f"function {declaration.name} has parameters and parametersJsonSchema")
    if given is None:
        given = _lower_types(to_json(declaration.parameters)) if declaration.parameters else {}
    if not isinstance(given, Mapping):
        raise invalid(f"parametersJsonSchema of function {declaration.name} is not an object")
    return given


def _lower_types(schema: dict[str, Any]) -> dict[str, Any]:
    result = dict(schema)
    if isinstance(result.get("type"), str):
        result["type"] = result["type"].lower()
    for key in ("properties", "defs"):
        if key in result:
            result[key] = {name: _lower_types(child) for name, child in result[key].items()}
    if "items" in result:
        result["items"] = _lower_types(result["items"])
    if "anyOf" in result:
        result["anyOf"] = [_lower_types(child) for child in result["anyOf"]]
    return result


def _modality(generation: GenerationConfig) -> Modality:
    wanted = generation.response_modalities or (Modality.AUDIO,)
    if len(wanted) > 1:
        raise invalid("responseModalities names more than one modality")
    if wanted[0] not in (Modality.AUDIO, Modality.TEXT):
        raise invalid(f"the local model cannot answer in {wanted[0][:20]}")
    if generation.translation_config is not None:
        raise invalid("translationConfig needs a translation model")
    return Modality(wanted[0])


def _voice(generation: GenerationConfig) -> str:
    voice = generation.speech_config.voice_config if generation.speech_config else None
    if voice is None:
        return ""
    if voice.replicated_voice_config is not None:
        raise invalid("the local model cannot replicate a voice")
    named = voice.prebuilt_voice_config.voice_name if voice.prebuilt_voice_config else None
    name = named or voice.voice or ""
    if name and not known_voice(name):
        raise invalid(f"there is no voice {name[:40]!r}")
    return name


def _compression(wanted: ContextWindowCompression | None) -> tuple[int | None, int | None]:
    if wanted is None:
        return None, None
    trigger = wanted.trigger_tokens if wanted.trigger_tokens is not None else int(MAX_CONTEXT_TOKENS * TRIGGER_SHARE)
    window = wanted.sliding_window
    target = window.target_tokens if window and window.target_tokens is not None else trigger // 2
    if not 0 < trigger <= MAX_CONTEXT_TOKENS:
        raise invalid(f"triggerTokens {trigger} is not within 1 and {MAX_CONTEXT_TOKENS}")
    if not 0 <= target < trigger:
        raise invalid(f"targetTokens {target} is not below triggerTokens {trigger}")
    return trigger, target


def _activity(realtime: RealtimeInputConfig) -> ActivitySettings | None:
    wanted = realtime.automatic_activity_detection
    if wanted is None:
        return ActivitySettings()
    if wanted.disabled:
        return None
    for name, value in (
        ("prefixPaddingMs", wanted.prefix_padding_ms),
        ("silenceDurationMs", wanted.silence_duration_ms),
    ):
        if value is not None and not 0 <= value <= MAX_PADDING_MS:
            raise invalid(f"{name} {value} is not within 0 and {MAX_PADDING_MS}")
    low_start = wanted.start_of_speech_sensitivity == StartSensitivity.LOW
    low_end = wanted.end_of_speech_sensitivity == EndSensitivity.LOW
    return ActivitySettings(
        start=StartSensitivity.LOW if low_start else StartSensitivity.HIGH,
        end=EndSensitivity.LOW if low_end else EndSensitivity.HIGH,
        prefix_ms=wanted.prefix_padding_ms,
        silence_ms=wanted.silence_duration_ms,
    )


def _coverage(realtime: RealtimeInputConfig, model: str) -> TurnCoverage:
    if isinstance(realtime.turn_coverage, TurnCoverage):
        return realtime.turn_coverage
    newest = model.startswith(_NON_BLOCKING_MODELS)
    return TurnCoverage.AUDIO_ACTIVITY_AND_ALL_VIDEO if newest else TurnCoverage.ONLY_ACTIVITY
