"""Read the part of a live session that this console did not see from the session's recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime.journal.live_history import LiveHistory
from gemini_live_runtime.journal.recorded_history import RecordedHistory

WRITER_BEHIND_S = 2.0
"""Seconds to wait for the recording to reach the first live event."""

_LOOK_EVERY_S = 0.05


async def load_earlier(history: LiveHistory, path: Path, progress: Callable[[float], None] | None = None) -> None:
    """Read what was before `base` from the session's recording at `path`, in between other tasks.

    `progress` is told a share from 0 to 1 now and then. After it `first_seq` is that of the recording. Its writer
    may be a moment behind the link: that is waited for. Raises `JournalError` when the recording is not this
    session's, or does not reach up to what is here.
    """
    if history.earlier is not None or history.first_seq <= 1:
        return
    earlier = RecordedHistory(path, until=history.first_seq - 1)
    try:
        await earlier.load_all(progress)
        waited = 0.0
        while earlier.last_seq < history.first_seq - 1 and waited < WRITER_BEHIND_S:
            await asyncio.sleep(_LOOK_EVERY_S)
            waited += _LOOK_EVERY_S
            earlier.load()
        history.join(earlier)
    except BaseException:
        earlier.close()
        raise
