"""Call an author's code without letting its exceptions out.

A plain function may raise `CancelledError`, for example by `task.result()`; passed on, it would cancel our own task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar, cast

T = TypeVar("T")

USER_ERRORS = BaseException
"""Exceptions that an author's plain function may raise; around an `await` use `result_or_error`.

All of them: one that is passed on would stop the task of ours that called the function, and with it the session.
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
        return f"{type(error).__name__}: {error}"
    except USER_ERRORS:
        # Past the author's class, whose name may be code as well.
        return f"{_NAME.__get__(type(error))}: its text cannot be read"


def text_alone(error: BaseException) -> str:
    """Return the exception's text without its class."""
    return error_text(error).partition(": ")[2]


def plain_text(text: str) -> str:
    """Return `text` as an exact `str`: methods of a subclass are an author's code."""
    return text if type(text) is str else str.__str__(text)


def exact_text(value: T) -> T:
    """Return a text of a subclass, such as a member of an enumeration, as plain text.

    Formatting a member gives its name. Members of our own enumerations and other values come back as they are.
    """
    if type(value) is str or not isinstance(value, str):
        return value
    is_ours = type(value).__module__.startswith(f"{__package__}.")
    return value if is_ours else cast("T", plain_text(value))
