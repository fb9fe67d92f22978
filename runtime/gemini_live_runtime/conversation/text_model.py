"""Define text models, which answer written requests beside the conversation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Protocol

from gemini_live_runtime.author_code import is_text
from gemini_live_runtime.conversation.transcript import TranscriptTurn
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.records import frozen_record


@frozen_record(kw_only=True)
class TextRequest:
    """A request whose `text` is complete by itself.

    `turns` are the turns that `text` quotes, for models that work on turns rather than on prose, and `asked` is the
    model's text before them. With a `schema` (JSON Schema, no references) the reply must be JSON that fits it.
    """

    system: str
    text: str
    turns: tuple[TranscriptTurn, ...] = ()
    schema: dict[str, Any] | None = None
    asked: str = ""


class TextModel(Protocol):
    """A model that answers a request with a text."""

    async def generate(self, request: TextRequest, /) -> str:
        """Return the reply's text; raise `GeminiLiveError`. Cancelling ends the request."""
        ...


class ScriptedTextModel:
    """A model with prepared replies, for tests and examples. It keeps the requests.

    One reply needs no list. A reply that is an exception is raised; without a reply left it raises `GeminiLiveError`.
    """

    def __init__(self, replies: str | Exception | Iterable[str | Exception] = ()) -> None:
        if is_text(replies) or isinstance(replies, Exception):
            replies = (replies,)
        if not isinstance(replies, Iterable):
            raise AgentError(
                f"A model's replies cannot be {replies!r:.60}",
                remedy="Give a list of texts",
                field="replies",
                value=replies,
            )
        self._replies = deque(replies)
        self.requests: list[TextRequest] = []

    async def generate(self, request: TextRequest, /) -> str:
        """Return the next reply."""
        self.requests.append(request)
        if not self._replies:
            raise GeminiLiveError("The scripted text model has no reply left", remedy="Give it one more")
        reply = self._replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        return reply
