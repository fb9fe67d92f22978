"""Count the answers that the server may be giving when a typed text reaches it.

Frames carry no number: sound that arrives after a text was sent may answer it, or what was said before. A server that
gets a text breaks off the answer that it is giving, and says so by `interrupted`. So what has arrived before that
message was of an earlier answer. A whole earlier answer that crosses the text looks like the text's own.
"""

from __future__ import annotations

from dataclasses import field

from gemini_live_runtime.records import mutable_record
from gemini_live_runtime.session.core.unanswered import UnansweredInput


@mutable_record
class OvertakenAnswers:
    """Answers to earlier input, of which nothing had arrived when a text was sent."""

    count: int = 0
    """Number of them that the server may still begin, and break off."""
    texts: list[UnansweredInput] = field(default_factory=list)
    """Texts that overtook one; what arrives before `interrupted` does not answer them."""

    broken_off: UnansweredInput | None = None
    """Newest input when the server broke off an answer of which nothing had arrived: it does not begin that again."""

    def add(self, text: UnansweredInput) -> None:
        """Note a text that may have overtaken an answer."""
        self.count += 1
        self.texts.append(text)

    def on_interrupted(self) -> bool:
        """Take one as broken off; return False when there was none."""
        if not self.count:
            return False
        self.count -= 1
        if not self.count:
            self.texts.clear()
        return True

    def clear(self) -> None:
        """Forget them: the server has answered, was interrupted by voice, or is gone."""
        self.count = 0
        self.texts.clear()
