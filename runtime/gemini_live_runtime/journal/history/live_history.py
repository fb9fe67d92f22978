"""Keep the events of a live session, as they arrive, for going back in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.journal.history.session_history import History

if TYPE_CHECKING:
    from gemini_live_runtime.journal.history.recorded_history import RecordedHistory


class LiveHistory(History):
    """History of a live session.

    `base` is the view of a `Snapshot` when attaching, None for a session seen from its start. While the session is not
    recorded this writes nothing to disk: events that fit into `MAX_MEMORY_BYTES` can be reached. Otherwise a nameless
    temporary file takes what is not in memory.
    """

    def __init__(self, base: SessionView | None = None) -> None:
        super().__init__(base)
        self._session_id = self.live.session_id

    def append(self, event: Event, line: str = "") -> Dirty:
        """Fold the next event into `live`, store it and return what changed.

        `line` is its wire form, if at hand. Skips an event that is not newer than the last. Takes microseconds, and
        once a page some milliseconds. Going back decodes the wire form: a value that the encoding changes is seen as
        encoded.
        """
        if event.seq <= self.live.seq:
            return Dirty.NONE
        line = line or event.to_line()
        self._open_lines.append(line)
        return self._add(event, len(line))

    def join(self, earlier: RecordedHistory) -> None:
        """Put a loaded recording in front; `close` closes it too.

        Its last events may be missing if it `is_whole`. Raises `JournalError` when it does not fit.
        """
        is_near = earlier.last_seq == self.first_seq - 1 or earlier.is_whole
        if earlier.live.session_id != self._session_id or not is_near:
            raise JournalError(
                f"The recording ends with event {earlier.last_seq} of session {earlier.live.session_id or 'unknown'}, "
                f"needed is event {self.first_seq - 1} of session {self._session_id or 'unknown'}",
                field="seq",
                value=earlier.last_seq,
            )
        self.earlier = earlier

    def _drop_oldest(self) -> None:
        super()._drop_oldest()
        if self.earlier is not None:
            # It would no longer reach up to the first event of this history.
            self.earlier.close()
            self.earlier = None
