"""A fault in an agent's code as events: what failed and where it stands, then its traceback for who looks closer."""

from __future__ import annotations

from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import traceback_lines
from gemini_live_runtime.text import redactor

MAX_ERROR = 2000
"""Characters of a fault's text."""

MAX_TRACED = 500
"""Different faults that are known to have been told with their traceback."""


class CodeFaults:
    """Tells of faults; of those that are met again and again, as at every change of the state, one traceback."""

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._traced: set[tuple[str, str, str]] = set()

    def tell(
        self,
        where: str,
        name: str,
        error: str,
        *,
        defined_at: str = "",
        times: int = 1,
        cause: BaseException | str | None = None,
    ) -> None:
        """Emit a `code.failed` and, the first time, the traceback of `cause`: an error, or its traceback as text."""
        text = redactor.text(error)[:MAX_ERROR]
        self._emit(ev.CodeFailed(where=where, name=name, error=text, defined_at=defined_at, times=times))
        if cause and (where, name, text) not in self._traced:
            if len(self._traced) >= MAX_TRACED:
                self._traced.clear()
            self._traced.add((where, name, text))
            for line in cause.splitlines() if isinstance(cause, str) else traceback_lines(cause):
                self._emit(ev.Log(source="engine", level="debug", text=redactor.text(line)))
