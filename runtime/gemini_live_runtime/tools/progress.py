"""Bring the progress of a call to the loop, however often a thread tells it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from typing import Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.redactor import redactor

MAX_TEXT = 10_000
"""Characters of a sentence that are read; less is shown."""

MAX_CHECKPOINT = 64 * 1024
"""Characters of the largest checkpoint as JSON."""


@frozen_record
class Progress:
    """Progress of a call.

    A `fraction` of None, a `text` and a `checkpoint` of "" leave the former one as it is; a checkpoint is JSON.
    """

    fraction: float | None = None
    text: str = ""
    checkpoint: str = ""

    def after(self, former: Progress) -> Progress:
        """Return this progress, with the former one where this says nothing."""
        return Progress(
            former.fraction if self.fraction is None else self.fraction,
            self.text or former.text,
            self.checkpoint or former.checkpoint,
        )


NO_PROGRESS = Progress()


def as_checkpoint(value: Any) -> str:
    """Return a checkpoint as JSON; raise `AgentError` for a value that cannot be kept."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        fault = f"has more than {MAX_CHECKPOINT:,} characters" if len(text) > MAX_CHECKPOINT else ""
    except (TypeError, ValueError, RecursionError) as error:
        text, fault = "", f"is no JSON: {error}"
    if text and redactor.value(value) != value:
        fault = "has what looks like a key or a password"
    if fault:
        remedy = "Give what another program needs to go on"
        raise AgentError(f"A checkpoint {fault}", remedy=remedy, field="checkpoint", value=type(value).__name__)
    return text


class NewestProgress:
    """Newest progress of one call; `tell` may be called from any thread.

    What the loop has not taken is replaced, so that a tool which tells each of a million steps holds up nothing.
    """

    def __init__(self, take: Callable[[Progress], None]) -> None:
        """`take` is called on the running loop."""
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._newest = NO_PROGRESS
        self._waits = False

    def tell(self, progress: Progress) -> None:
        """Replace what waits, as far as `progress` says something."""
        told = Progress(progress.fraction, progress.text[:MAX_TEXT], progress.checkpoint)
        with self._lock:
            self._newest = told.after(self._newest)
            waited, self._waits = self._waits, True
        if not waited:
            # A thread may outlive the loop; its progress is then dropped.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._bring)

    def _bring(self) -> None:
        with self._lock:
            newest, self._newest, self._waits = self._newest, NO_PROGRESS, False
        self._take(newest)
