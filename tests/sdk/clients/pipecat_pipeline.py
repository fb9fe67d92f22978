"""Hold a conversation as a pipeline of Pipecat, and print its results as JSON.

Usage: pipecat_pipeline.py ws://HOST:PORT UTTERANCE.wav
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version
from typing import Any

from local_address import MODEL, WEATHER, connect_to, utterance
from loguru import logger
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InputTextRawFrame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService
from pipecat.services.llm_service import FunctionCallParams
from pipecat.workers.runner import WorkerRunner


class Listener(FrameProcessor):
    """Processor that collects what passes it; `turns` has one report for each answer."""

    def __init__(self, turns: asyncio.Queue[dict[str, Any]]) -> None:
        super().__init__()
        self._turns = turns
        self._now: dict[str, Any] = {"said": "", "heard": [], "audio_s": 0.0}

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        now = self._now
        if isinstance(frame, TranscriptionFrame):
            now["heard"].append(frame.text)
        elif isinstance(frame, TTSTextFrame):
            now["said"] += frame.text
        elif isinstance(frame, TTSAudioRawFrame):
            now["audio_s"] += len(frame.audio) / 48_000
        elif isinstance(frame, LLMFullResponseEndFrame) and now["said"]:
            self._turns.put_nowait(dict(now))
            self._now = {"said": "", "heard": [], "audio_s": 0.0}
        await self.push_frame(frame, direction)


async def converse(url: str, path: str) -> dict[str, Any]:
    connect_to(url)
    calls: list[list[Any]] = []
    turns: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def get_weather(call: FunctionCallParams) -> None:
        calls.append([call.function_name, dict(call.arguments)])
        await call.result_callback(WEATHER)

    weather = FunctionSchema("get_weather", "The weather of a city.", {"city": {"type": "string"}}, ["city"])
    llm = GeminiLiveLLMService(
        api_key="no-key-needed",
        settings=GeminiLiveLLMService.Settings(model=MODEL, voice="Kore"),
        tools=ToolsSchema(standard_tools=[weather]),
    )
    llm.register_function("get_weather", get_weather)
    # The opening: a context that ends with the user, to be answered at once.
    user, assistant = LLMContextAggregatorPair(LLMContext([{"role": "user", "content": "goodbye"}]))
    # A transcription of the user travels upstream, everything else downstream.
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    before, after = Listener(heard), Listener(turns)
    worker = PipelineWorker(Pipeline([user, before, llm, after, assistant]))
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    report: dict[str, Any] = {"client": f"pipecat-ai {version('pipecat-ai')}"}

    await worker.queue_frames([LLMRunFrame()])
    report["typed"] = {**await turns.get(), "calls": []}
    await worker.queue_frames([InputTextRawFrame("what is the weather in Lisbon")])
    report["tool"] = {**await turns.get(), "calls": calls}
    sound = utterance(path)
    pieces = [sound[start : start + 640] for start in range(0, len(sound), 640)]
    await worker.queue_frames([InputAudioRawFrame(piece, 16_000, 1) for piece in pieces])
    report["spoken"] = {**await turns.get(), "calls": []}
    await worker.queue_frames([EndFrame()])
    await running
    report["spoken"]["heard"] += before._now["heard"]
    return report


if __name__ == "__main__":
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    print(json.dumps(asyncio.run(converse(*sys.argv[1:3]))))
