"""Count the rounds of calls that an answer takes."""

from __future__ import annotations

from gemini_live_runtime.records import mutable_record


@mutable_record
class ToolSteps:
    """Rounds of calls since the model was last asked for something.

    The calls that the model makes before it has an answer to any of them are one round.
    """

    used: int = 0
    _is_open: bool = False

    def begin_again(self) -> None:
        """Note that the user, a program or the agent asks for something else."""
        self.used, self._is_open = 0, False

    def on_call(self) -> None:
        """Note that the model calls a tool."""
        if not self._is_open:
            self._is_open = True
            self.used += 1

    def on_answer(self) -> None:
        """Note that the model gets the answer of a call."""
        self._is_open = False

    def refusal(self, most: int | None) -> str:
        """Return why a call of the present round is refused, or ""."""
        if most is None or self.used <= most:
            return ""
        rounds = "1 round" if most == 1 else f"{most} rounds"
        return f"This answer has used its {rounds} of tools (max_tool_steps). Answer without a tool."
