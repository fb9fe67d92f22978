"""Finding out on copies: at once where nothing but the runtime decides, else in a thread and not for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import hold_time
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.text import redactor
from gemini_live_runtime.threads import call_in_thread

FoundT = TypeVar("FoundT", bound=ev.Payload)

LIMIT_S = 1.0
"""Seconds that the functions of an agent's author may take on a copy."""

MAX_ASKING = 4
"""Questions under way at once: a function that hangs keeps its thread."""


class PreviewRunner:
    """Answers with an event each."""

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._asking: set[asyncio.Task[None]] = set()
        self._threads = 0

    def ask(
        self, find_out: Callable[[], FoundT], trouble: Callable[[str], FoundT], *, runs_code: bool
    ) -> asyncio.Future[FoundT]:
        """Tell what `find_out` finds, or the trouble it had; the same as a result.

        Raises `AgentError` when too much is being asked already.
        """
        if not runs_code:
            return self.say(_found(find_out, trouble))
        if self._threads >= MAX_ASKING:
            raise AgentError(
                f"{MAX_ASKING} previews wait for the agent's code", remedy="Try again when one of them has been told"
            )
        answer: asyncio.Future[FoundT] = asyncio.get_running_loop().create_future()
        self._threads += 1
        task = asyncio.create_task(self._ask(find_out, trouble, answer), name="preview")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        return answer

    def say(self, found: FoundT) -> asyncio.Future[FoundT]:
        """Tell what is known already."""
        answer: asyncio.Future[FoundT] = asyncio.get_running_loop().create_future()
        self._tell(found, answer)
        return answer

    async def _ask(
        self, find_out: Callable[[], FoundT], trouble: Callable[[str], FoundT], answer: asyncio.Future[FoundT]
    ) -> None:
        try:
            with hold_time(LIMIT_S):
                thread = call_in_thread(lambda: _found(find_out, trouble), "preview")
                thread.add_done_callback(self._free)
                await asyncio.wait((thread,), timeout=LIMIT_S)
            late = f"The agent's code takes longer than {LIMIT_S:g} s to say"
            self._tell(thread.result() if thread.done() else trouble(late), answer)
        finally:
            answer.cancel()

    def _tell(self, found: FoundT, answer: asyncio.Future[FoundT]) -> None:
        self._emit(found)
        if not answer.done():
            answer.set_result(found)

    def _free(self, thread: asyncio.Future[FoundT]) -> None:
        self._threads -= 1

    async def close(self) -> None:
        """Nobody wants to know any more."""
        for task in list(self._asking):
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)


def _found(find_out: Callable[[], FoundT], trouble: Callable[[str], FoundT]) -> FoundT:
    try:
        return find_out()
    except (Exception, SystemExit) as error:
        said = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
        return trouble(redactor.text(f"It cannot be told: {said}"))
