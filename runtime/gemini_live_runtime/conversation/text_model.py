"""Text models: what answers a written request with a written reply, beside the conversation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from gemini_live_runtime.errors import GeminiLiveError

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transcript import TranscriptTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRequest:
    """One request. `text` is complete by itself.

    `turns` are the turns that `text` quotes, for models that work on them rather than on prose, and `asked` is what the
    model had said before them. With a `schema` (JSON Schema, no references) the reply must be JSON that fits it.
    """

    system: str
    text: str
    turns: tuple[TranscriptTurn, ...] = ()
    schema: dict[str, Any] | None = None
    asked: str = ""


class TextModel(Protocol):
    """A text model."""

    async def generate(self, request: TextRequest, /) -> str:
        """The text of the reply; raises `GeminiLiveError`. Cancelling gives the request up."""
        ...


class ScriptedTextModel:
    """A model that gives prepared replies in order, and keeps the requests: for tests and examples.

    A reply that is an exception is raised; asked more often than there are replies it raises `GeminiLiveError`.
    """

    def __init__(self, replies: Iterable[str | Exception] = ()) -> None:
        self._replies = deque(replies)
        self.requests: list[TextRequest] = []

    async def generate(self, request: TextRequest, /) -> str:
        """The next reply."""
        self.requests.append(request)
        if not self._replies:
            raise GeminiLiveError("The scripted text model has no reply left", remedy="Give it one more")
        reply = self._replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        return reply
