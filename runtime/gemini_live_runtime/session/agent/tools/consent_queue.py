"""Ask one question at a time, each for its own time, without I/O."""

from __future__ import annotations

from collections import deque

from gemini_live_runtime.records import record
from gemini_live_runtime.tools.results import ToolCall

PATIENCE_S = 30.0
"""Seconds without an answer after which a question is answered with no."""

MAX_QUESTIONS = 20
"""Questions that may be open or wait; what asks for more is looping."""


@record
class ConsentQuestion:
    """Question whether a call may run.

    `fingerprint` is that of the tool as it was when it was asked, `reason` a sentence.
    """

    id: str
    call: ToolCall
    reason: str
    fingerprint: str
    by_notification: bool = False
    """True for a call that follows from a notification."""


class ConsentQueue:
    """Queue of questions, of which the first is open.

    Its time rests while the agent is held.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._questions: deque[ConsentQuestion] = deque()
        self._patience_s = patience_s
        self._left_s = patience_s
        """Seconds that the open question has left, at `_since`."""
        self._since: float | None = None
        """Time since which its time runs; None while it rests."""
        self._held = False

    def __len__(self) -> int:
        return len(self._questions)

    @property
    def open(self) -> ConsentQuestion | None:
        """Question that is asked now."""
        return self._questions[0] if self._questions else None

    @property
    def all(self) -> tuple[ConsentQuestion, ...]:
        """Questions in the order in which they are asked."""
        return tuple(self._questions)

    @property
    def last(self) -> ConsentQuestion | None:
        """Question that was added last, or None."""
        return self._questions[-1] if self._questions else None

    @property
    def is_full(self) -> bool:
        """True when no further question may wait."""
        return len(self._questions) >= MAX_QUESTIONS

    def find(self, call_id: str) -> ConsentQuestion | None:
        """Return the question about a call, open or not."""
        return next((one for one in self._questions if one.call.call_id == call_id), None)

    def add(self, question: ConsentQuestion, now: float) -> None:
        """Add a question behind the others."""
        self._questions.append(question)
        if len(self._questions) == 1:
            self._begin(now)

    def remove(self, question: ConsentQuestion, now: float) -> bool:
        """Remove a question, open or not; return False without it.

        The next one is open then.
        """
        if question not in self._questions:
            return False
        was_open = question is self._questions[0]
        self._questions.remove(question)
        if was_open:
            self._begin(now)
        return True

    def renew(self, question: ConsentQuestion, now: float) -> None:
        """Let the time of a question begin anew, if it is open."""
        if self.open is question:
            self._begin(now)

    def hold(self, now: float) -> None:
        """Let the open question's time rest."""
        self._left_s, self._since, self._held = self.left_s(now), None, True

    def release(self, now: float) -> None:
        """Let the time go on."""
        self._left_s, self._since, self._held = self.left_s(now), now, False

    def left_s(self, now: float) -> float:
        """Return the seconds that the open question has left, 0 for none."""
        return self._left_s if self._since is None else max(0.0, self._left_s - (now - self._since))

    @property
    def is_resting(self) -> bool:
        """True while the agent is held."""
        return self._held

    def _begin(self, now: float) -> None:
        self._left_s, self._since = self._patience_s, None if self._held else now
