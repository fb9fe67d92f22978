"""Hold a conversation as LiveKit's realtime plugin, and print its results as JSON.

Usage: livekit_plugin.py ws://HOST:PORT UTTERANCE.wav
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version
from typing import Any

from livekit import rtc
from livekit.agents import function_tool, llm
from livekit.plugins.google.realtime import RealtimeModel
from local_address import MODEL, WEATHER, connect_to, utterance


@function_tool
async def get_weather(city: str) -> dict[str, Any]:
    """Return the weather of a city."""
    return WEATHER


class Session:
    """Realtime session whose generations are read one after the other."""

    def __init__(self, model: RealtimeModel) -> None:
        self.session = model.session()
        self._generations: asyncio.Queue[llm.GenerationCreatedEvent] = asyncio.Queue()
        self._heard: list[str] = []
        self.session.on("generation_created", self._generations.put_nowait)
        self.session.on("input_audio_transcription_completed", self._on_heard)

    def _on_heard(self, event: llm.InputTranscriptionCompleted) -> None:
        if event.is_final:
            self._heard.append(event.transcript)

    async def write(self, text: str) -> None:
        """Send a typed turn as an agent's session does: content, then a placeholder."""
        context = self.session.chat_ctx
        context.add_message(role="user", content=text)
        await self.session.update_chat_ctx(context)
        await self.session.generate_reply()

    async def turn(self) -> dict[str, Any]:
        """Return what was said until the model has said something; call its tools."""
        said, seconds, calls = "", 0.0, []
        self._heard.clear()
        while not said:
            generation = await self._generations.get()
            async for message in generation.message_stream:
                said += "".join([text async for text in message.text_stream])
                seconds += sum([frame.duration async for frame in message.audio_stream])
            async for call in generation.function_stream:
                calls.append([call.name, json.loads(call.arguments)])
                await self._answer(call)
        return {"said": said, "heard": list(self._heard), "calls": calls, "audio_s": seconds}

    async def _answer(self, call: llm.FunctionCall) -> None:
        context = self.session.chat_ctx
        # An agent's session sends the text of a result, which for a dict is its repr.
        output = str(await get_weather(**json.loads(call.arguments)))
        context.items.append(
            llm.FunctionCallOutput(call_id=call.call_id, name=call.name, output=output, is_error=False)
        )
        await self.session.update_chat_ctx(context)


async def converse(url: str, path: str) -> dict[str, Any]:
    connect_to(url)
    session = Session(RealtimeModel(model=MODEL, api_key="no-key-needed"))
    await session.session.update_tools([get_weather])
    report: dict[str, Any] = {"client": f"livekit-plugins-google {version('livekit-plugins-google')}"}
    await session.write("goodbye")
    report["typed"] = await session.turn()
    await session.write("what is the weather in Lisbon")
    report["tool"] = await session.turn()
    sound = utterance(path)
    for start in range(0, len(sound), 1600):
        data = sound[start : start + 1600]
        session.session.push_audio(rtc.AudioFrame(data, 16_000, 1, len(data) // 2))
    report["spoken"] = await session.turn()
    await session.session.aclose()
    return report


if __name__ == "__main__":
    print(json.dumps(asyncio.run(converse(*sys.argv[1:3]))))
