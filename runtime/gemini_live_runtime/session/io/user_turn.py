"""Give an agent the user's turn that has just ended."""

from __future__ import annotations

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.endpointing.activity import BYTES_PER_S
from gemini_live_runtime.session.ports.messages import check_text


class UserTurn:
    """Turn of the user that has ended and that the model was not told of yet."""

    def __init__(self, text: str, audio: bytes, *, takes_context: bool) -> None:
        """`takes_context`: the model takes context during a session."""
        self.text = text
        """Words that the server has sent so far; it may send more of them later."""
        self.audio = audio
        """Sound of the turn, s16le mono at 16 kHz; of a long one its last minute."""
        self._takes_context = takes_context
        self._context: list[str] = []

    @property
    def seconds(self) -> float:
        """Length of the sound."""
        return len(self.audio) / BYTES_PER_S

    def add_context(self, text: str) -> None:
        """Let the model know `text` when it answers this turn; raise `AgentError`.

        A model that takes no context during a session cannot.
        """
        check_text(text, "Context", field="text")
        if not self._takes_context:
            raise AgentError(
                "This model takes no context during a session",
                remedy="Leave add_context out, or use another model",
                field="text",
            )
        self._context.append(text)

    def take_context(self) -> list[str]:
        """Remove and return the context that was added."""
        taken, self._context = self._context, []
        return taken
