"""Know the place in which the author's code runs: a tool, or a hook."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.handoff import HandoffRunner


def _do_nothing() -> None:
    return None


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


place_of_code: ContextVar[Place | None] = ContextVar("place_of_code", default=None)
"""Place in which the code at work runs; None where it may not wait for an agent."""
