"""Know the place in which the author's code runs: a tool, or a hook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.handover.handoff import HandoffRunner


def _do_nothing() -> None:
    return None


def _is_not_awaited() -> bool:
    return False


@record
class Place:
    """Place of code that may wait for another agent, as long as it `is_open`.

    `suspend` and `resume` let the time limit of its call rest, and give it anew.
    """

    handoff: HandoffRunner
    is_open: Callable[[], bool]
    is_call: bool = False
    """True for a tool, whose answer the model waits for."""
    suspend: Callable[[], None] = _do_nothing
    resume: Callable[[], None] = _do_nothing
    task: asyncio.Task[Any] | None = None
    """Task of the call."""
    is_awaited: Callable[[], bool] = _is_not_awaited
    """Return True while the model waits for the call's answer."""


place_of_code: ContextVar[Place | None] = ContextVar("place_of_code", default=None)
"""Place in which the code at work runs; None where it may not wait for an agent."""
