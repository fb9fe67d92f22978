"""Read events by their numbers from the recording of a session that goes on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import BinaryIO

from gemini_live_runtime import vocabulary
from gemini_live_runtime.errors import JournalError, ProtocolError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.files.lines import read_line
from gemini_live_runtime.journal.history.earlier_events import WRITER_BEHIND_S
from gemini_live_runtime.journal.recording.reader import MAX_LINE_BYTES, read_journal, regular

_LOOK_EVERY_S = 0.05
_NEAR_BYTES = 64 * 1024
"""Bytes before the first event that may be read in vain."""

_END_BYTES = 128 * 1024
"""Bytes of a recording that have its end."""

_SLICE = 64
"""Events read before other tasks run."""

_SEQ = re.compile(rb'^\{"seq":([0-9]+),')


async def missed_events(folder: Path, after: int, last: int | None) -> AsyncGenerator[Event, None]:
    """Yield the events after number `after` up to `last`, in order.

    None is the recording's end. Raises `JournalError` when one of them is not in the recording.
    """
    with regular(read_journal(folder).path) as file:
        offset, waited, seq = _offset_before(file, after), 0.0, after
        while last is None or seq < last:
            file.seek(offset)
            line, size, whole = read_line(file, MAX_LINE_BYTES)
            if not whole and size < MAX_LINE_BYTES:
                # The engine sends an event to consoles before its writer thread has written it.
                if last is None:
                    return
                if waited >= WRITER_BEHIND_S:
                    raise JournalError(f"The recording ends with event {seq}, needed is {last}", field="seq", value=seq)
                waited += _LOOK_EVERY_S
                await asyncio.sleep(_LOOK_EVERY_S)
                continue
            offset += size
            event = _event(line) if whole else None
            if event is None or event.seq <= seq:
                continue
            if event.seq != seq + 1:
                raise JournalError(f"The recording lacks event {seq + 1}", field="seq", value=seq + 1)
            seq = event.seq
            yield event
            if seq % _SLICE == 0:
                await asyncio.sleep(0)


def last_events(folder: Path) -> list[Event]:
    """Return the newest events of a recording, those in its last `_END_BYTES`.

    Raises `JournalError`.
    """
    with regular(read_journal(folder).path) as file:
        file.seek(max(0, file.seek(0, 2) - _END_BYTES))
        events = [_event(line) for line in file.read(_END_BYTES).splitlines()]
    return [event for event in events if event is not None]


def _offset_before(file: BinaryIO, seq: int) -> int:
    """Return the offset of a line not far before the first event after `seq`."""
    low, high = 0, file.seek(0, 2)
    while high - low > _NEAR_BYTES:
        middle = (low + high) // 2
        file.seek(middle)
        _, rest, _ = read_line(file, MAX_LINE_BYTES)
        line, _, _ = read_line(file, _NEAR_BYTES)
        found = _SEQ.match(line)
        if found is not None and int(found[1]) <= seq:
            low = middle + rest
        else:
            high = middle
    return low


def _event(line: bytes) -> Event | None:
    try:
        return vocabulary.event_from_line(line)
    except (ProtocolError, RecursionError):
        return None
