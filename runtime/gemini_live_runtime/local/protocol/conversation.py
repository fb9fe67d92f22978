"""Hold the model side of a session: instruction, tools, history and model parts.

Recogniser and speech are created when first needed, because a typed session needs neither. One that fails is made anew,
as often as `RestartLimit` allows; then the session goes on without it and reports the reason once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.local.parts import Dialogue, Parts, Recogniser, Recognition, Speech
from gemini_live_runtime.local.protocol.context import Context
from gemini_live_runtime.local.protocol.live_config import DeclaredTool, LiveConfig
from gemini_live_runtime.local.protocol.refusal import VIOLATION, Refusal
from gemini_live_runtime.records import record
from gemini_live_runtime.restarts import RestartLimit

log = logging.getLogger("gemini_live_runtime.local")

_NOT_FOUND = "models/{model} is not found for API version v1beta, or is not supported for bidiGenerateContent."


ATTEMPTS = 2
"""Times that an utterance is recognised, when the first time fails."""


@record
class WaitingContent:
    """User turns that wait for an answer, as text and audio (s16le mono 16 kHz)."""

    turns: tuple[tuple[str, bytes], ...] = ()
    of_history: bool = False
    """True when they end an initial history."""
    in_history: bool = False
    """True while an initial history goes on."""


@record
class Memory:
    """State that a resumption handle restores. Configuration comes with the new setup.

    An instruction that followed the setup is kept, unless the new setup has another instruction than the last one.
    """

    session_id: str
    model: str
    history: list[list[Any]]
    dialogue: Mapping[str, Any] = field(default_factory=dict)
    instruction: str = ""
    setup_instruction: str = ""
    waiting: WaitingContent = WaitingContent()


class Conversation:
    """Model side of a session; raises `Refusal` for an unknown model."""

    def __init__(self, config: LiveConfig, parts: Parts) -> None:
        self._config = config
        self._parts = parts
        self.context = Context(config.compress_at, config.compress_to)
        self.instruction = config.instruction
        self.tools: Mapping[str, DeclaredTool] = config.tools
        try:
            self.dialogue: Dialogue = parts.dialogue(config.model)
        except KeyError:
            raise Refusal(VIOLATION, _NOT_FOUND.format(model=config.model[:40])) from None
        self._recogniser: Recogniser | None = None
        self._speech: Speech | None = None
        self.dialogue.label(config.labels)
        self.dialogue.instruct(self.instruction)
        self.no_recogniser = ""
        """Reason for the missing recogniser; "" while it works or was not needed."""
        self.no_speech = ""
        self._recogniser_restarts, self._speech_restarts = RestartLimit(), RestartLimit()
        self._declare()

    def update(self, *, instruction: str | None = None, tools: Mapping[str, DeclaredTool] | None = None) -> None:
        """Replace instruction or tools."""
        if instruction is not None:
            self.instruction = instruction
            self.dialogue.instruct(instruction)
        if tools is not None:
            self.tools = tools
        self._declare()

    def _declare(self) -> None:
        self.dialogue.declare({name: tool.parameters for name, tool in self.tools.items()})
        self.context.set_fixed(self.instruction, *(tool.text for tool in self.tools.values()))
        self._tool_names: frozenset[str] = frozenset(self.tools)

    def blocking(self, name: str) -> bool:
        """Return True when the model waits for the function `name`."""
        tool = self.tools.get(name)
        return tool is None or tool.blocking

    def remember(self, session_id: str, waiting: WaitingContent) -> Memory:
        """Return the state for a resumption handle, with content that waits."""
        return Memory(
            session_id,
            self._config.model,
            self.context.snapshot(),
            self.dialogue.snapshot(),
            instruction=self.instruction,
            setup_instruction=self._config.instruction,
            waiting=waiting,
        )

    def restore(self, memory: Memory) -> None:
        """Restore the conversation of `memory`."""
        self.context.restore(memory.history)
        self.dialogue.restore(memory.dialogue)
        if self._config.instruction in (memory.instruction, memory.setup_instruction):
            self.instruction = memory.instruction
            self._declare()
        else:
            self.dialogue.instruct(self._config.instruction)

    async def recognise(self, pcm: bytes) -> Recognition | None:
        """Recognise an utterance; None without a recogniser (see `no_recogniser`)."""
        for _ in range(ATTEMPTS):
            await self.prepare_to_hear()
            if self.no_recogniser:
                return None
            if self._recogniser is not None:
                try:
                    return await self._recogniser.recognise(pcm)
                except Exception as error:
                    self._recogniser_failed(error)
                    await self._close_recogniser()
        # This utterance is beyond it, the next one may not be.
        return None if self.no_recogniser else Recognition("", 0.0)

    def _recogniser_failed(self, error: Exception) -> None:
        why = _why(error, "recogniser")
        if isinstance(error, GeminiLiveError) or not self._recogniser_restarts.allows(_now()):
            self.no_recogniser = why

    async def prepare_to_hear(self) -> None:
        """Create the recogniser, so that its models load while the user still speaks."""
        if self.no_recogniser or (self._recogniser is not None and self._recogniser_tools == self._tool_names):
            return
        await self._close_recogniser()
        self._recogniser_tools = self._tool_names
        try:
            self._recogniser = self._parts.recogniser(self.dialogue, self._tool_names)
        except Exception as error:
            self._recogniser_failed(error)

    _recogniser_tools: frozenset[str] = frozenset()

    def speech(self) -> Speech | None:
        """Return the speech synthesis; None without one (see `no_speech`)."""
        while self._speech is None and not self.no_speech:
            try:
                self._speech = self._parts.speech()
            except Exception as error:
                self._speech_failed(error)
        return None if self.no_speech else self._speech

    async def restart_speech(self, error: Exception) -> None:
        """Make speech anew after `error`, or go on without it."""
        self._speech_failed(error)
        speech, self._speech = self._speech, None
        await _close(speech, "speech")

    def _speech_failed(self, error: Exception) -> None:
        why = _why(error, "speech")
        if isinstance(error, GeminiLiveError) or not self._speech_restarts.allows(_now()):
            self.no_speech = why

    async def close(self) -> None:
        """Close the parts."""
        await self._close_recogniser()
        speech, self._speech = self._speech, None
        await _close(speech, "speech")

    async def _close_recogniser(self) -> None:
        recogniser, self._recogniser = self._recogniser, None
        await _close(recogniser, "recogniser")


async def _close(part: Recogniser | Speech | None, name: str) -> None:
    if part is not None:
        try:
            await part.close()
        except Exception:
            log.exception("The %s did not close", name)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _why(error: Exception, part: str) -> str:
    if isinstance(error, GeminiLiveError):
        return str(error)
    log.error("The %s failed", part, exc_info=error)
    return f"The {part} failed: {error or type(error).__name__}."
