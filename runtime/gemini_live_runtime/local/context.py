"""What a model remembers, counted: the context window of one session, its compression, and usage metadata.

Counting: 25 tokens a second of audio, 258 an image (Google's published rates), a token for four characters of text. The
whole context is the prompt of every turn, as it is billed.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gemini_live_runtime.wire.messages import Modality, ModalityTokenCount, UsageMetadata

AUDIO_TOKENS_PER_SECOND = 25
IMAGE_TOKENS = 258
CHARACTERS_PER_TOKEN = 4
MAX_CONTEXT_TOKENS = 131_072
"""The window. Without compression a session that fills it is closed."""

TRIGGER_SHARE = 0.8
"""Part of the window at which compression sets in when the client does not say; half of the trigger is kept."""


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def audio_tokens(seconds: float) -> int:
    """Tokens of a stretch of audio."""
    return math.ceil(seconds * AUDIO_TOKENS_PER_SECOND)


@dataclass(frozen=True, slots=True)
class Entry:
    """One contribution to the conversation. `role` is user, model or tool."""

    role: str
    modality: Modality
    tokens: int
    text: str = ""


class Context:
    """Instruction, tools and history of a session, in tokens.

    `trigger`: from how many tokens on the oldest entries go, until at most `target` are left and the history begins
    with the user; None never compresses. Instruction and tools always stay.
    """

    def __init__(self, trigger: int | None = None, target: int | None = None) -> None:
        self._trigger = trigger
        self._target = target if target is not None else (trigger or 0) // 2
        self._entries: deque[Entry] = deque()
        self._counts: Counter[Modality] = Counter()
        self._fixed = 0
        self.dropped = 0

    def set_fixed(self, *texts: str) -> None:
        """Instruction and tools, from now on."""
        self._fixed = sum(text_tokens(text) for text in texts)

    def add(self, entry: Entry) -> None:
        """Append; nothing of no tokens is kept, and nothing more once the window is exceeded for good."""
        if entry.tokens <= 0 or (self.full and self._trigger is None):
            return
        self._entries.append(entry)
        self._counts[entry.modality] += entry.tokens
        if self._trigger is not None and self.total >= self._trigger:
            while self._entries and (self.total > self._target or self._entries[0].role != "user"):
                oldest = self._entries.popleft()
                self._counts[oldest.modality] -= oldest.tokens
                self.dropped += oldest.tokens

    @property
    def total(self) -> int:
        """Tokens of everything."""
        return self._fixed + sum(self._counts.values())

    @property
    def full(self) -> bool:
        """Whether the window is exceeded."""
        return self.total > MAX_CONTEXT_TOKENS

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The history, oldest first."""
        return tuple(self._entries)

    def prompt(self) -> Counter[Modality]:
        """Tokens by modality, as they stand."""
        counts = Counter({modality: count for modality, count in self._counts.items() if count > 0})
        if self._fixed:
            counts[Modality.TEXT] += self._fixed
        return counts

    def snapshot(self) -> list[list[Any]]:
        """The history as JSON."""
        return [[entry.role, str(entry.modality), entry.tokens, entry.text] for entry in self._entries]

    def restore(self, snapshot: Iterable[Iterable[Any]]) -> None:
        """Continue from a `snapshot`."""
        for role, modality, tokens, text in snapshot:
            self.add(Entry(role, Modality(modality), tokens, text))


def usage(
    prompt: Mapping[Modality, int], response: Mapping[Modality, int], tool_use: Mapping[Modality, int]
) -> UsageMetadata:
    """Usage of one turn: counts are the sums of their details, the total is the sum of the counts."""
    counts = [sum(part.values()) for part in (prompt, response, tool_use)]
    return UsageMetadata(
        prompt_token_count=counts[0],
        response_token_count=counts[1],
        tool_use_prompt_token_count=counts[2] or None,
        total_token_count=sum(counts),
        prompt_tokens_details=_details(prompt),
        response_tokens_details=_details(response),
        tool_use_prompt_tokens_details=_details(tool_use),
    )


def _details(counts: Mapping[Modality, int]) -> tuple[ModalityTokenCount, ...]:
    return tuple(
        ModalityTokenCount(modality=modality, token_count=counts[modality])
        for modality in sorted(counts)
        if counts[modality]
    )
