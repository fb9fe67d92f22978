"""Work out previews: at once, or in a thread with a time limit.

A thread is used where functions of the agent's author take part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.clock import hold_time
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.threads import call_in_thread

PreviewT = TypeVar("PreviewT", bound=ev.Payload)

TIMEOUT_S = 1.0
"""Seconds that functions of the agent's author may take for one preview."""

MAX_THREADS = 4
"""Previews under way at once: a function that hangs keeps its thread."""


class PreviewRunner:
    """Runner of one session's previews. Each is answered with an event."""

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = 0

    def run(
        self, work_out: Callable[[], PreviewT], problem: Callable[[str], PreviewT], *, runs_code: bool
    ) -> asyncio.Future[PreviewT]:
        """Publish and return what `work_out` returns, or `problem` with a sentence.

        `runs_code`: functions of the agent's author take part. Raises `AgentError` when too many previews run.
        """
        if not runs_code:
            return self.publish(_work_out(work_out, problem))
        if self._threads >= MAX_THREADS:
            raise AgentError(
                f"{MAX_THREADS} previews wait for the agent's code", remedy="Try again when one of them is answered"
            )
        answer: asyncio.Future[PreviewT] = asyncio.get_running_loop().create_future()
        self._threads += 1
        task = asyncio.create_task(self._run_in_thread(work_out, problem, answer), name="preview")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return answer

    def publish(self, preview: PreviewT) -> asyncio.Future[PreviewT]:
        """Publish a preview that is known already, and return it."""
        answer: asyncio.Future[PreviewT] = asyncio.get_running_loop().create_future()
        self._publish(preview, answer)
        return answer

    async def _run_in_thread(
        self, work_out: Callable[[], PreviewT], problem: Callable[[str], PreviewT], answer: asyncio.Future[PreviewT]
    ) -> None:
        try:
            # In virtual time, the clock stands still while the thread works.
            with hold_time(TIMEOUT_S):
                thread = call_in_thread(lambda: _work_out(work_out, problem), "preview")
                thread.add_done_callback(self._on_thread_done)
                await asyncio.wait((thread,), timeout=TIMEOUT_S)
            late = f"The agent's code takes longer than {TIMEOUT_S:g} s to say"
            self._publish(thread.result() if thread.done() else problem(late), answer)
        finally:
            answer.cancel()

    def _publish(self, preview: PreviewT, answer: asyncio.Future[PreviewT]) -> None:
        self._emit(preview)
        if not answer.done():
            answer.set_result(preview)

    def _on_thread_done(self, thread: asyncio.Future[PreviewT]) -> None:
        self._threads -= 1

    async def close(self) -> None:
        """Cancel previews that still run."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _work_out(work_out: Callable[[], PreviewT], problem: Callable[[str], PreviewT]) -> PreviewT:
    try:
        return work_out()
    except USER_ERRORS as error:
        text = str(error) if isinstance(error, AgentError) else error_text(error)
        return problem(redactor.text(f"Can't preview: {text}"))
