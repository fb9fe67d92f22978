"""Count the tokens of a session's context window, compress it, report usage.

A second of audio is 25 tokens, an image 258 (Google's published rates), four characters of text are one. The whole
context is the prompt of every turn, as it is billed.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from gemini_live_runtime.records import record
from gemini_live_runtime.wire.messages import Modality, ModalityTokenCount, UsageMetadata

AUDIO_TOKENS_PER_SECOND = 25
IMAGE_TOKENS = 258
CHARACTERS_PER_TOKEN = 4
MAX_CONTEXT_TOKENS = 131_072
"""Size of the window. Without compression a session that exceeds it is closed."""

TRIGGER_SHARE = 0.8
"""Default trigger of compression, as a part of the window; half of the trigger is kept."""


def text_tokens(text: str) -> int:
    """Return the tokens of `text`."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def audio_tokens(seconds: float) -> int:
    """Return the tokens of `seconds` of audio."""
    return math.ceil(seconds * AUDIO_TOKENS_PER_SECOND)


@record
class Entry:
    """Entry of the history; `role` is user, model or tool."""

    role: str
    modality: Modality
    tokens: int
    text: str = ""


class Context:
    """Context window of a session: instruction, tools and history, in tokens.

    At `trigger` tokens the oldest entries are removed until at most `target` are left and the history begins with the
    user; None never compresses. Instruction and tools always stay.
    """

    def __init__(self, trigger: int | None = None, target: int | None = None) -> None:
        self._trigger = trigger
        self._target = target if target is not None else (trigger or 0) // 2
        self._entries: deque[Entry] = deque()
        self._counts: Counter[Modality] = Counter()
        self._fixed = 0
        self.dropped = 0

    def set_fixed(self, *texts: str) -> None:
        """Set instruction and tools."""
        self._fixed = sum(text_tokens(text) for text in texts)

    def add(self, entry: Entry) -> None:
        """Append `entry`, unless it has no tokens or the window is exceeded for good."""
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
        """Tokens in all."""
        return self._fixed + sum(self._counts.values())

    @property
    def full(self) -> bool:
        """True when the window is exceeded."""
        return self.total > MAX_CONTEXT_TOKENS

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The history, oldest first."""
        return tuple(self._entries)

    def prompt(self) -> Counter[Modality]:
        """Return the current tokens by modality."""
        counts = Counter({modality: count for modality, count in self._counts.items() if count > 0})
        if self._fixed:
            counts[Modality.TEXT] += self._fixed
        return counts

    def snapshot(self) -> list[list[Any]]:
        """Return the history as JSON."""
        return [[entry.role, str(entry.modality), entry.tokens, entry.text] for entry in self._entries]

    def restore(self, snapshot: Iterable[Iterable[Any]]) -> None:
        """Append the entries of a `snapshot`."""
        for role, modality, tokens, text in snapshot:
            self.add(Entry(role, Modality(modality), tokens, text))


def usage(
    prompt: Mapping[Modality, int], response: Mapping[Modality, int], tool_use: Mapping[Modality, int]
) -> UsageMetadata:
    """Return the usage of a turn; counts are sums of details, the total of counts."""
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
