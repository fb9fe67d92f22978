"""Read the events before a console attached from the session's recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime.journal.history.live_history import LiveHistory
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory

WRITER_BEHIND_S = 2.0
"""Seconds to wait for the recording to reach the first live event."""

_LOOK_EVERY_S = 0.05


async def load_earlier(history: LiveHistory, path: Path, progress: Callable[[float], None] | None = None) -> None:
    """Read the events before `history` from the recording at `path`.

    Reads in slices, between other tasks. `progress` gets the share that has been read, 0 to 1, after each slice.
    Afterwards `first_seq` is that of the recording; events before the first live one that a slow disk made it leave out
    are missing. Raises `JournalError` when the recording is another session's, or
    ends before the first live event.
    """
    if history.earlier is not None or history.first_seq <= 1:
        return
    earlier = RecordedHistory(path, until=history.first_seq - 1)
    try:
        await earlier.load_all(progress)
        # The engine sends an event to consoles before its writer thread has written it: the file may lag behind.
        waited = 0.0
        while not earlier.is_whole and earlier.last_seq < history.first_seq - 1 and waited < WRITER_BEHIND_S:
            await asyncio.sleep(_LOOK_EVERY_S)
            waited += _LOOK_EVERY_S
            earlier.load()
        history.join(earlier)
    except BaseException:
        earlier.close()
        raise
