"""Context that waits for a good moment, and the writer that sends it ahead of what the user says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from gemini_live_runtime.errors import GeminiLiveError, ProtocolError
from gemini_live_runtime.session.ports.messages import ContextNote, ContextRole, SessionWriter
from gemini_live_runtime.wire.messages import FunctionResponse

MAX_NOTES = 200
"""Notes that may wait. Beyond it the oldest is dropped, counted and told."""


class PendingContext:
    """Notes for the model that have not been sent, and whether the model is to be asked to speak after them."""

    __slots__ = ("_max_notes", "_notes", "_on_dropped", "_prompt", "dropped")

    def __init__(
        self,
        max_notes: int = MAX_NOTES,
        on_dropped: Callable[[tuple[ContextNote, ...]], None] = lambda notes: None,
    ) -> None:
        """`on_dropped` is told at once of the notes that are dropped because more than `max_notes` wait."""
        if max_notes < 1:
            raise ValueError(f"max_notes must be >= 1, not {max_notes}")
        self._max_notes = max_notes
        self._on_dropped = on_dropped
        self._notes: deque[ContextNote] = deque()
        self._prompt = False
        self.dropped = 0
        """Notes dropped because too many waited."""

    def push(self, note: ContextNote) -> None:
        """Queue a note; where there is no room the oldest is dropped."""
        self.extend((note,))

    def extend(self, notes: Iterable[ContextNote]) -> None:
        """Queue notes; where there is no room the oldest are dropped."""
        self._notes.extend(notes)
        self._within_bounds()

    def put_back(self, notes: Sequence[ContextNote]) -> None:
        """Queue notes that could not be sent, before all others; where there is no room the oldest are dropped."""
        self._notes.extendleft(reversed(notes))
        self._within_bounds()

    def arm_prompt(self) -> None:
        """The model is to be asked to speak when the floor is free."""
        self._prompt = True

    def drain(self) -> tuple[tuple[ContextNote, ...], bool]:
        """All notes and whether a prompt was armed; nothing is left."""
        return self.drain_context(), self.take_prompt()

    def drain_context(self) -> tuple[ContextNote, ...]:
        """All notes; an armed prompt stays."""
        notes = tuple(self._notes)
        self._notes.clear()
        return notes

    def take_prompt(self) -> bool:
        """Whether a prompt was armed; it is not any more."""
        armed, self._prompt = self._prompt, False
        return armed

    def clear_prompt(self) -> None:
        """Forget an armed prompt; the notes stay."""
        self._prompt = False

    @property
    def has_context(self) -> bool:
        """Whether notes wait."""
        return bool(self._notes)

    @property
    def has_prompt(self) -> bool:
        """Whether a prompt is armed."""
        return self._prompt

    @property
    def is_empty(self) -> bool:
        """Neither notes nor a prompt wait."""
        return not self._notes and not self._prompt

    def __len__(self) -> int:
        return len(self._notes)

    def _within_bounds(self) -> None:
        surplus = len(self._notes) - self._max_notes
        if surplus > 0:
            lost = tuple(self._notes.popleft() for _ in range(surplus))
            self.dropped += surplus
            self._on_dropped(lost)


@dataclass(frozen=True, slots=True)
class ContextNotSent:
    """Notes that did not go out. `kept`: they wait to be sent again; otherwise the message itself was refused."""

    notes: tuple[ContextNote, ...]
    error: GeminiLiveError
    kept: bool


def send_notes(
    writer: SessionWriter, notes: Sequence[ContextNote]
) -> tuple[tuple[ContextNote, ...], list[ContextNotSent]]:
    """Post `notes` in order, those in a row of one role in one message; what remains to be sent again, and what failed.

    A message that was refused for what it is would be refused for ever and block what is behind it, so it is given up.
    """
    failed: list[ContextNotSent] = []
    done = 0
    for role, group in groupby(notes, key=lambda note: note.role):
        run = tuple(group)
        reasons = dict.fromkeys(note.reason for note in run if note.reason)
        try:
            writer.send_context([note.text for note in run], role=role, prompt=False, reason="; ".join(reasons))
        except ProtocolError as error:
            failed.append(ContextNotSent(run, error, kept=False))
        except GeminiLiveError as error:
            rest = tuple(notes[done:])
            return rest, [*failed, ContextNotSent(rest, error, kept=True)]
        done += len(run)
    return (), failed


class DeferredWriter:
    """A `SessionWriter` that sends queued context ahead of user audio, typed text, video and prompts.

    Only the context: an armed prompt waits for its rule. Tool answers, explicit context, instructions and activity
    marks pass queued context by. What fails is reported and does not keep the user's own input from going out.
    """

    __slots__ = ("_failing", "_pending", "_report", "_writer")

    def __init__(
        self, writer: SessionWriter, pending: PendingContext, report: Callable[[ContextNotSent], None]
    ) -> None:
        """`report` gets every refused message, and the first of failures in a row that will be tried again."""
        self._writer = writer
        self._pending = pending
        self._report = report
        self._failing = False

    def flush(self) -> None:
        """Send the queued context now; never raises for the wire's faults."""
        rest, failed = send_notes(self._writer, self._pending.drain_context())
        self._pending.put_back(rest)
        for failure in failed:
            if not (failure.kept and self._failing):
                self._report(failure)
        self._failing = bool(rest)

    def send_audio(self, pcm: bytes) -> None:
        """Queued context, then the audio."""
        if self._pending.has_context:
            self.flush()
        self._writer.send_audio(pcm)

    def send_text(self, text: str) -> None:
        """Queued context, then the typed turn."""
        if self._pending.has_context:
            self.flush()
        self._writer.send_text(text)

    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Queued context, then the still."""
        if self._pending.has_context:
            self.flush()
        self._writer.send_video(data, mime_type)

    def send_context(
        self, texts: Sequence[str], role: ContextRole = "model", prompt: bool = False, reason: str = ""
    ) -> None:
        """The texts; after queued context only when the model is to speak."""
        if prompt and self._pending.has_context:
            self.flush()
        self._writer.send_context(texts, role, prompt, reason)

    def prompt_model(self, reason: str = "") -> None:
        """Queued context, then the prompt."""
        if self._pending.has_context:
            self.flush()
        self._writer.prompt_model(reason)

    def update_instruction(self, text: str, reason: str = "") -> None:
        """The instruction alone."""
        self._writer.update_instruction(text, reason)

    def activity_start(self) -> None:
        """The mark alone."""
        self._writer.activity_start()

    def activity_end(self) -> None:
        """The mark alone."""
        self._writer.activity_end()

    def send_tool_answers(self, answers: Sequence[FunctionResponse]) -> None:
        """The answers alone."""
        self._writer.send_tool_answers(answers)
