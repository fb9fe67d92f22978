"""Await an author's code without letting its exceptions out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any


async def result_or_error(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Await `work` and return its result and None, or None and its exception.

    Raises only when the current task is cancelled. A cancellation of something that `work` awaits is its exception.
    """
    try:
        return await work, None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None, error
    except (Exception, SystemExit) as error:
        return None, error
