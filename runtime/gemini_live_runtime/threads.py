"""Run calls that may never return in daemon threads.

A call into a sound system, a read from standard input or an agent's own function can block for ever and cannot be
cancelled. A daemon thread does not keep the process alive, unlike the threads of an executor, which are joined at exit.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

from gemini_live_runtime.author_code import error_text

T = TypeVar("T")


def start_daemon_thread(work: Callable[[], object], name: str) -> threading.Thread:
    """Run `work` in a new daemon thread and return the thread."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


def call_in_thread(function: Callable[[], T], name: str) -> asyncio.Future[T]:
    """Return a future of the running loop for `function()`, called in a daemon thread.

    The call sees the caller's context variables. Cancelling the future does not stop the thread.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result: Any = None
        fault: BaseException | None = None
        try:
            result = context.run(function)
        except (StopIteration, GeneratorExit, KeyboardInterrupt) as error:
            # A future refuses StopIteration. What awaits one with a GeneratorExit is closed, not told. A
            # KeyboardInterrupt raised in a task would end the loop.
            fault = RuntimeError(error_text(error))
        except BaseException as error:
            fault = error
        with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile.
            loop.call_soon_threadsafe(settle, result, fault)

    start_daemon_thread(work, name)
    return future
