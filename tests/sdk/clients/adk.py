"""Hold a conversation as an agent of google-adk, and print its results as JSON.

Usage: adk.py ws://HOST:PORT UTTERANCE.wav
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from google.adk.agents import Agent, LiveRequestQueue
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.genai import types
from local_address import MODEL, WEATHER, connect_to, utterance


async def get_weather(city: str) -> dict[str, Any]:
    """Return the weather of a city."""
    return WEATHER


async def turn(events: AsyncIterator[Event]) -> dict[str, Any]:
    """Return what the user and the model said until the model has said something."""
    said, heard, calls = "", [], []
    async for event in events:
        calls += [[call.name, call.args] for call in event.get_function_calls()]
        if event.input_transcription and event.input_transcription.finished:
            heard.append(event.input_transcription.text)
        if event.output_transcription and event.output_transcription.finished:
            said = event.output_transcription.text
        if event.turn_complete and said:
            break
    return {"said": said, "heard": heard, "calls": calls}


async def converse(url: str, path: str) -> dict[str, Any]:
    connect_to(url)
    runner = InMemoryRunner(Agent(name="concierge", model=MODEL, tools=[get_weather]), app_name="concierge")
    session = await runner.session_service.create_session(app_name="concierge", user_id="user")
    queue = LiveRequestQueue()
    config = RunConfig(
        streaming_mode=StreamingMode.BIDI,
        response_modalities=["AUDIO"],
        input_audio_transcription=types.AudioTranscriptionConfig(),
        output_audio_transcription=types.AudioTranscriptionConfig(),
    )
    events = runner.run_live(
        user_id="user", session_id=session.id, live_request_queue=queue, run_config=config
    ).__aiter__()
    report: dict[str, Any] = {"client": f"google-adk {version('google-adk')}"}

    def write(text: str) -> None:
        queue.send_content(types.Content(role="user", parts=[types.Part(text=text)]))

    write("goodbye")
    report["typed"] = await turn(events)
    write("what is the weather in Lisbon")
    report["tool"] = await turn(events)
    sound = utterance(path)
    for start in range(0, len(sound), 3200):
        queue.send_realtime(types.Blob(data=sound[start : start + 3200], mime_type="audio/pcm;rate=16000"))
    report["spoken"] = await turn(events)
    queue.close()
    return report


if __name__ == "__main__":
    print(json.dumps(asyncio.run(converse(*sys.argv[1:3]))))
