"""Refuse messages that a backend does not support, before they are sent."""

from __future__ import annotations

from gemini_live_runtime.wire.codec import to_json
from gemini_live_runtime.wire.endpoints import Backend
from gemini_live_runtime.wire.messages import ClientMessage, Modality, RealtimeInput, Setup, ToolResponse


def refusals(message: ClientMessage, backend: Backend) -> tuple[str, ...]:
    """Return a sentence for each part of a message that the backend does not support.

    Other servers (`local`, `url`) may support anything, so nothing is refused for them.
    """
    if backend not in ("gemini", "vertex"):
        return ()
    if message.setup is not None:
        return _setup_refusals(message.setup, backend)
    if message.realtime_input is not None:
        return _realtime_refusals(message.realtime_input)
    if message.tool_response is not None and backend == "gemini":
        return _tool_refusals(message.tool_response)
    return ()


def _setup_refusals(setup: Setup, backend: Backend) -> tuple[str, ...]:
    found = []
    if backend == "gemini":
        if setup.explicit_vad_signal:
            found.append("setup.explicitVadSignal exists on Vertex only")
        if setup.session_resumption is not None and setup.session_resumption.transparent:
            found.append("setup.sessionResumption.transparent exists on Vertex only")
    elif setup.labels:
        found.append("setup.labels exists on the Developer API only")
    generation = setup.generation_config
    if generation is not None:
        if len(generation.response_modalities) > 1:
            found.append("setup.generationConfig.responseModalities must have one modality")
        speech = generation.speech_config
        if speech is not None and {"multiSpeakerVoiceConfig", "multi_speaker_voice_config"} & speech.extra.keys():
            found.append("setup.generationConfig.speechConfig.multiSpeakerVoiceConfig does not exist in live sessions")
        if setup.avatar_config is not None and generation.response_modalities != (Modality.VIDEO,):
            found.append("setup.avatarConfig needs the response modality VIDEO")
    return tuple(found)


def _realtime_refusals(realtime: RealtimeInput) -> tuple[str, ...]:
    names = list(to_json(realtime))
    if len(names) == 1:
        return ()
    return (f"realtimeInput must have exactly one kind of input, not {', '.join(names) or 'none'}",)


def _tool_refusals(response: ToolResponse) -> tuple[str, ...]:
    return tuple(
        f"toolResponse.functionResponses[{index}].id is missing; the Developer API matches results by it"
        for index, item in enumerate(response.function_responses)
        if not item.id
    )
