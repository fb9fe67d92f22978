"""Hold a conversation through Google's SDK, and print its results as JSON.

Run by the SDK's own virtual environment.

Usage: conversation.py ws://HOST:PORT UTTERANCE.wav

The SDK is unmodified but for the address: it always connects to wss:// with TLS, so `plain` sets the two attributes of
its client that make the address.
"""

from __future__ import annotations

import asyncio
import json
import sys
import wave
from typing import Any

from google import genai
from google.genai import errors, types

MODEL = "gemini-3.8-live"
WEATHER = types.FunctionDeclaration(
    name="get_weather",
    description="The weather of a city.",
    parameters=types.Schema(type="OBJECT", properties={"city": types.Schema(type="STRING")}, required=["city"]),
    behavior="BLOCKING",
)


def config(**fields: Any) -> types.LiveConnectConfig:
    return types.LiveConnectConfig(
        response_modalities=["AUDIO"],
        system_instruction="You are a concierge.",
        speech_config=types.SpeechConfig(
            voice_config=types.VoiceConfig(prebuilt_voice_config=types.PrebuiltVoiceConfig(voice_name="Kore"))
        ),
        input_audio_transcription=types.AudioTranscriptionConfig(),
        output_audio_transcription=types.AudioTranscriptionConfig(),
        context_window_compression=types.ContextWindowCompressionConfig(sliding_window=types.SlidingWindow()),
        tools=[types.Tool(function_declarations=[WEATHER])],
        **fields,
    )


class Heard:
    """Result of one turn."""

    def __init__(self) -> None:
        self.said = self.input = self.handle = ""
        self.audio_bytes = 0
        self.calls: list[types.FunctionCall] = []
        self.interrupted = self.generation_complete = False
        self.total_tokens = 0

    def take(self, message: types.LiveServerMessage) -> None:
        content = message.server_content
        if content is not None:
            for part in (content.model_turn.parts or []) if content.model_turn else []:
                self.audio_bytes += len(part.inline_data.data or b"") if part.inline_data else 0
            self.said += (content.output_transcription.text or "") if content.output_transcription else ""
            self.input += (content.input_transcription.text or "") if content.input_transcription else ""
            self.interrupted |= bool(content.interrupted)
            self.generation_complete |= bool(content.generation_complete)
        if message.tool_call is not None:
            self.calls += message.tool_call.function_calls or []
        if message.usage_metadata is not None:
            self.total_tokens = message.usage_metadata.total_token_count or 0
        update = message.session_resumption_update
        if update is not None and update.resumable and update.new_handle:
            self.handle = update.new_handle

    def report(self) -> dict[str, Any]:
        return {
            "said": self.said,
            "input": self.input,
            "audio_s": self.audio_bytes / 48_000,
            "calls": [[call.name, call.args] for call in self.calls],
            "interrupted": self.interrupted,
            "generation_complete": self.generation_complete,
            "total_tokens": self.total_tokens,
        }


async def turn(session: Any) -> Heard:
    heard = Heard()
    async for message in session.receive():
        heard.take(message)
        for call in message.tool_call.function_calls if message.tool_call else []:
            response = {"temperature_c": 21, "conditions": "sunny"}
            await session.send_tool_response(
                function_responses=types.FunctionResponse(id=call.id, name=call.name, response=response)
            )
    return heard


async def handle_after(session: Any) -> str:
    heard = Heard()
    while not heard.handle:
        heard.take(await session._receive())
    return heard.handle


async def speak(session: Any, path: str) -> None:
    with wave.open(path) as file:
        rate = file.getframerate()
        sound = file.readframes(file.getnframes())
    size = rate // 50 * 2
    for start in range(0, len(sound), size):
        blob = types.Blob(data=sound[start : start + size], mime_type=f"audio/pcm;rate={rate}")
        await session.send_realtime_input(audio=blob)
    await session.send_realtime_input(audio_stream_end=True)


async def interrupt(session: Any) -> tuple[Heard, Heard]:
    await session.send_realtime_input(text="tell me a story")
    cut = Heard()
    asked = False
    async for message in session.receive():
        cut.take(message)
        if cut.audio_bytes and not asked:
            asked = True
            await session.send_client_content(
                turns=types.Content(role="user", parts=[types.Part(text="thank you")]), turn_complete=True
            )
    return cut, await turn(session)


def plain(client: genai.Client, url: str) -> genai.Client:
    """Let `client` connect to ws://."""
    client._api_client._websocket_base_url = lambda *_: url  # type: ignore[method-assign]
    client._api_client._websocket_ssl_ctx = {}
    return client


async def converse(url: str, utterance: str) -> dict[str, Any]:
    client = plain(genai.Client(api_key="no-key-needed"), url)
    report: dict[str, Any] = {"sdk": genai.__version__}

    async with client.aio.live.connect(
        model=MODEL, config=config(session_resumption=types.SessionResumptionConfig())
    ) as session:
        report["session_id"] = session.session_id
        await session.send_realtime_input(text="goodbye")
        report["text"] = (await turn(session)).report()
        await session.send_client_content(
            turns=types.Content(role="user", parts=[types.Part(text="what is the weather in Lisbon")])
        )
        report["tool"] = (await turn(session)).report()
        await speak(session, utterance)
        report["audio"] = (await turn(session)).report()
        cut, after = await interrupt(session)
        report["cut"], report["after_cut"] = cut.report(), after.report()
        handle = await handle_after(session)

    async with client.aio.live.connect(
        model=MODEL, config=config(session_resumption=types.SessionResumptionConfig(handle=handle))
    ) as session:
        await session.send_realtime_input(text="say that again")
        report["resumed"] = (await turn(session)).report()

    try:
        async with client.aio.live.connect(model="local-nobody", config=config()):
            pass
    except errors.APIError as error:
        report["refused"] = [error.code, str(error)]
    return report


async def vertex(url: str) -> dict[str, Any]:
    """Run one turn as Vertex: its path, its names of models, its own options."""
    path = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
    client = plain(genai.Client(vertexai=True, http_options=types.HttpOptions(base_url=url + path)), url)
    async with client.aio.live.connect(
        model=MODEL, config={"output_audio_transcription": {}, "explicit_vad_signal": True}
    ) as session:
        await session.send_realtime_input(text="never mind")
        return (await turn(session)).report()


async def main(url: str, utterance: str) -> None:
    report = await converse(url, utterance)
    report["vertex"] = await vertex(url)
    print(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
