"""Hold what a turn of the model answers, and what it has said."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from gemini_live_runtime.local.parts import Recognition, ToolRequest
from gemini_live_runtime.local.protocol.context import audio_tokens, text_tokens
from gemini_live_runtime.local.protocol.function_calls import CallBatch, CallResults
from gemini_live_runtime.local.protocol.utterance import Utterance
from gemini_live_runtime.records import record
from gemini_live_runtime.wire.messages import Modality


@record
class UserTurn:
    """Turn of the user: text, audio (s16le mono 16 kHz), or both if marked manually."""

    text: str = ""
    pcm: bytes = b""
    counted: bool = False
    """True when the context already contains it."""
    interrupts: bool = False
    """True when it cut off an answer that could be heard."""
    is_short: bool = False
    """True when the voice was so short that without words it is taken for a cough."""


@record
class Prompt:
    """Request to speak without a user turn."""


Request: TypeAlias = UserTurn | Prompt | CallResults


class Turn:
    """Running turn: its request, its prompt's tokens and what it has said."""

    def __init__(self, request: Request, utterance: Utterance) -> None:
        self.request = request
        self.utterance = utterance
        self.recognition: asyncio.Future[Recognition | None] | None = None
        self.heard = ""
        self.is_read = False
        """True once the dialogue has the request."""
        self.batch: CallBatch | None = None
        """Calls whose results the dialogue does not have yet."""
        self.prompt: Counter[Modality] = Counter()
        self.is_counted = False
        self.tool_use: list[int] = []
        self.called = 0
        self.over = False

    def use_tools(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]]) -> None:
        """Count the tokens of `results`."""
        self.tool_use += [text_tokens(str(result)) for _, result in results]

    def response(self, modality: Modality) -> Counter[Modality]:
        """Return the tokens said, by modality; calls count as text."""
        counts: Counter[Modality] = Counter()
        if self.utterance.audio_s:
            counts[Modality.AUDIO] = audio_tokens(self.utterance.audio_s)
        elif self.utterance.text:
            counts[Modality.TEXT] = text_tokens(self.utterance.text)
        if self.called:
            counts[Modality.TEXT] += self.called
        return counts
