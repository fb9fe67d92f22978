"""Post to the model from any thread."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.outbound.context_queue import DeferredWriter
from gemini_live_runtime.session.ports.loop_calls import LoopCalls, on_loop
from gemini_live_runtime.session.ports.messages import ContextRole
from gemini_live_runtime.wire.messages import FunctionResponse


class LoopWriter:
    """`SessionWriter` whose methods run on the event loop of the session."""

    __slots__ = ("_writer", "loop_calls")

    def __init__(self, writer: DeferredWriter, loop_calls: LoopCalls) -> None:
        self._writer = writer
        self.loop_calls = loop_calls

    @on_loop
    def flush(self) -> None:
        """Send the queued context now; report failures instead of raising them."""
        self._writer.flush()

    @on_loop
    def send_audio(self, pcm: bytes) -> None:
        """Send queued context, then the audio (16 kHz s16le mono)."""
        self._writer.send_audio(pcm)

    @on_loop
    def send_text(self, text: str) -> None:
        """Send queued context, then the typed text."""
        self._writer.send_text(text)

    @on_loop
    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Send queued context, then the image."""
        self._writer.send_video(data, mime_type)

    @on_loop
    def send_context(
        self, texts: Sequence[str], role: ContextRole = "model", prompt: bool = False, reason: str = ""
    ) -> None:
        """Send queued context, then the texts.

        Raises `AgentError` for what is no list of texts, and for an unknown role.
        """
        self._writer.send_context(texts, role, prompt, reason)

    @on_loop
    def prompt_model(self, reason: str = "") -> None:
        """Send queued context, then the prompt."""
        self._writer.prompt_model(reason)

    @on_loop
    def update_instruction(self, text: str, reason: str = "") -> None:
        """Send the instruction alone; raises `AgentError` for one that is no text."""
        self._writer.update_instruction(text, reason)

    @on_loop
    def activity_start(self) -> None:
        """Send the activity mark alone."""
        self._writer.activity_start()

    @on_loop
    def activity_end(self) -> None:
        """Send the activity mark alone."""
        self._writer.activity_end()

    @on_loop
    def send_tool_answers(self, answers: Sequence[FunctionResponse]) -> None:
        """Send the answers alone; raises `AgentError` for what is no list of answers."""
        if not isinstance(answers, list | tuple) or not all(isinstance(one, FunctionResponse) for one in answers):
            raise AgentError(
                f"Answers of tools are a list of FunctionResponse, not {answers!r:.100}",
                remedy="Answer by the return value of a tool, or by the handle's answer_tool",
                field="answers",
                value=answers,
            )
        self._writer.send_tool_answers(answers)
