"""Call an author's code without letting its exceptions out.

A plain function may raise `CancelledError`, for example by `task.result()`; passed on, it would cancel our own task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import CO_ITERABLE_COROUTINE
from threading import get_ident
from types import GeneratorType
from typing import Any, TypeGuard, TypeVar, cast

T = TypeVar("T")

USER_ERRORS = BaseException
"""Exceptions that an author's plain function may raise; around an `await` use `result_or_error`.

All of them: one that is passed on would stop the task of ours that called the function, and with it the session.
"""


MAX_FRAMES = 50
"""Innermost calls in a traceback: that of an endless recursion has a thousand, which take long to write out."""

deciding_threads: list[int] = []
"""Threads in which an author's code decides, or describes itself, once for each such call: it cannot write state.

It does so at once, so its thread tells it also where it runs something in a context of its own.
"""

_NAME = type.__dict__["__name__"]


async def result_or_error(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Await `work` and return its result and None, or None and its exception.

    Raises only when the current task is cancelled or closed. A cancellation of something that `work` awaits is its
    exception, and so is a `KeyboardInterrupt`: Ctrl+C cancels the program's main task first.
    """
    task = asyncio.current_task()
    try:
        return await work, None
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise
        return None, error
    except GeneratorExit as error:
        if task is None or not _is_running(task):
            # Thrown in by `close`, which no code must stop.
            raise
        return None, error
    except BaseException as error:
        return None, error


def _is_running(task: asyncio.Task[Any]) -> bool:
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no loop runs any more
        return False


def error_text(error: BaseException | None) -> str:
    """Return the exception's class and text, also when its text cannot be read."""
    try:
        return _describe(lambda: f"{type(error).__name__}: {error}".removesuffix(": "))
    except USER_ERRORS:
        # Past the author's class, whose name may be code as well.
        return f"{_NAME.__get__(type(error))}: its text cannot be read"


def traceback_of(error: BaseException) -> str:
    """Return the exception with its innermost calls, as Python prints it."""
    import traceback

    first, calls = error.__traceback__, 0
    while first is not None:
        first, calls = first.tb_next, calls + 1
    first = error.__traceback__
    # `limit` alone would look at all of them.
    for _ in range(calls - MAX_FRAMES):
        first = None if first is None else first.tb_next
    return _describe(lambda: "".join(traceback.format_exception(type(error), error, first, limit=-MAX_FRAMES)))


def _describe(read: Callable[[], str]) -> str:
    """Return what `read` makes of an exception, whose class may be an author's code."""
    thread = get_ident()
    deciding_threads.append(thread)
    try:
        return read()
    finally:
        deciding_threads.remove(thread)


def text_alone(error: BaseException) -> str:
    """Return the exception's text without its class."""
    return error_text(error).partition(": ")[2]


def is_text(value: object) -> TypeGuard[str]:
    """Return True for a text, by its type: a mock says to be of another class."""
    return issubclass(type(value), str)


def is_awaitable(value: object) -> TypeGuard[Awaitable[Any]]:
    """Return True for what can be awaited, by its type: `__class__` may be code."""
    if type(value) is GeneratorType:
        return bool(value.gi_code.co_flags & CO_ITERABLE_COROUTINE)
    return issubclass(type(value), Awaitable)


def plain_text(text: str) -> str:
    """Return `text` as an exact `str`: methods of a subclass are an author's code."""
    return text if type(text) is str else str.__str__(text)


def exact_text(value: T) -> T:
    """Return a text of a subclass, such as a member of an enumeration, as plain text.

    Formatting a member gives its name. Members of our own enumerations and other values come back as they are.
    """
    if type(value) is str or not issubclass(type(value), str):
        return value
    is_ours = type(value).__module__.startswith(f"{__package__}.")
    return value if is_ours else cast("T", plain_text(cast("str", value)))
