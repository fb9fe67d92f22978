"""Queue context for the model and send it ahead of the user's next input.

Context that is sent at once may interrupt the model's answer, so steering queues it here with an optional armed prompt.
`DeferredWriter` sends the queue ahead of everything that starts an answer: the model reads the context before the input
it concerns. A prompt leaves the queue only by a reactor rule, when neither side speaks. Notes that cannot be sent for a
fault of the connection go back to the front of the queue, so their order holds over a reconnect.

Texts that the user types while there is no connection wait in `session.link.outbox`, not here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from gemini_live_runtime.errors import GeminiLiveError, ProtocolError
from gemini_live_runtime.events import ContextSent, Payload, PromptChanged
from gemini_live_runtime.records import record
from gemini_live_runtime.session.core.speech_queue import Speech, SpeechQueue
from gemini_live_runtime.session.ports.messages import (
    CALL_IT,
    ContextNote,
    ContextRole,
    SessionWriter,
    check_context,
    check_text,
)
from gemini_live_runtime.state.mutations import check_may_act
from gemini_live_runtime.wire.messages import FunctionResponse

PROGRAM = "program"
"""Reason of context that the program has given."""

MAX_NOTES = 200
"""Limit of queued notes; beyond it the oldest is dropped, counted and reported."""


class PendingContext:
    """Queue of notes for the model, with an optional prompt to speak after them."""

    __slots__ = ("_max_notes", "_notes", "_on_dropped", "dropped", "speeches")

    def __init__(
        self,
        max_notes: int = MAX_NOTES,
        on_dropped: Callable[[tuple[ContextNote, ...]], None] = lambda notes: None,
        speeches: SpeechQueue | None = None,
    ) -> None:
        """Create an empty queue of at most `max_notes` (at least 1, else `ValueError`).

        `on_dropped` is called at once with the notes that exceed the limit.
        """
        if max_notes < 1:
            raise ValueError(f"max_notes must be >= 1, not {max_notes}")
        self._max_notes = max_notes
        self._on_dropped = on_dropped
        self._notes: deque[ContextNote] = deque()
        self.speeches = SpeechQueue() if speeches is None else speeches
        """Speeches that wait, armed prompts among them."""
        self.dropped = 0
        """Number of notes dropped at the limit."""

    def push(self, note: ContextNote) -> None:
        """Queue a note; drop the oldest at the limit."""
        self.extend((note,))

    def extend(self, notes: Iterable[ContextNote]) -> None:
        """Queue notes; drop the oldest beyond the limit."""
        self._notes.extend(notes)
        self._drop_surplus()

    def put_back(self, notes: Sequence[ContextNote]) -> None:
        """Queue unsent notes in front of all others; drop as `extend` does."""
        self._notes.extendleft(reversed(notes))
        self._drop_surplus()

    def arm_prompt(self, reason: str = "", *, allow_interruptions: bool | None = None) -> Speech | None:
        """Have the model asked to speak as soon as the floor is free.

        Returns the speech, or None when a prompt waits already.
        """
        return self.speeches.arm(reason, allow_interruptions=allow_interruptions)

    def drain(self) -> tuple[tuple[ContextNote, ...], bool]:
        """Empty the queue; return its notes and True when a prompt was armed."""
        return self.drain_context(), self.take_prompt()

    def drain_context(self) -> tuple[ContextNote, ...]:
        """Remove and return all notes; an armed prompt stays."""
        notes = tuple(self._notes)
        self._notes.clear()
        return notes

    def holds(self, notes: Sequence[ContextNote]) -> bool:
        """Return True when one of these notes, not only an equal one, is queued."""
        return any(queued is note for note in notes for queued in self._notes)

    def withdraw(self, notes: Sequence[ContextNote]) -> None:
        """Remove these notes, not others that are equal to them."""
        if notes:
            self._notes = deque(queued for queued in self._notes if not any(queued is note for note in notes))

    def take_prompt(self) -> bool:
        """Disarm the prompt; return True when one was armed."""
        return bool(self.speeches.drop_prompts())

    def clear_prompt(self) -> None:
        """Disarm the prompt; the notes stay, and replies that a program asked for."""
        self.speeches.drop_prompts()

    @property
    def has_context(self) -> bool:
        """True when notes are queued."""
        return bool(self._notes)

    @property
    def has_prompt(self) -> bool:
        """True when a speech waits to be asked for."""
        return self.speeches.has_waiting

    @property
    def is_empty(self) -> bool:
        """True when neither notes nor a prompt wait."""
        return not (self._notes or self.has_prompt)

    def __len__(self) -> int:
        return len(self._notes)

    def _drop_surplus(self) -> None:
        surplus = len(self._notes) - self._max_notes
        if surplus > 0:
            lost = tuple(self._notes.popleft() for _ in range(surplus))
            self.dropped += surplus
            self._on_dropped(lost)


@record
class ContextNotSent:
    """Failure to send notes.

    `kept`: they are queued again; otherwise the message itself was refused and the notes are lost.
    """

    notes: tuple[ContextNote, ...]
    error: GeminiLiveError
    kept: bool


def send_notes(
    writer: SessionWriter, notes: Sequence[ContextNote]
) -> tuple[tuple[ContextNote, ...], list[ContextNotSent]]:
    """Post `notes` in order; return those to send again and the failures.

    Consecutive notes of one role share a message, but for the program's own, which a later server may get again. A
    message that is itself invalid is given up: it would fail on every attempt and block the notes behind it.
    """
    failed: list[ContextNotSent] = []
    done = 0
    for (role, _), group in groupby(notes, key=lambda note: (note.role, note.reason == PROGRAM)):
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
    """`SessionWriter` that sends queued context ahead of the user's input.

    Input is audio, typed text, video and prompts. Explicit context follows queued context, which is older. An armed
    prompt stays queued: only a rule releases it. Tool answers, instructions and activity marks overtake queued context.
    Failures are reported and never keep the user's own input from going out.

    While the model waits for a tool's answer, context and prompts are queued: no message may come between a call and
    its answer.
    """

    __slots__ = (
        "_before_answer",
        "_emit",
        "_failing",
        "_holds_context",
        "_is_call_open",
        "_on_request",
        "_pending",
        "_report",
        "_writer",
    )

    def __init__(
        self,
        writer: SessionWriter,
        pending: PendingContext,
        report: Callable[[ContextNotSent], None],
        *,
        emit: Callable[[Payload], None] = lambda payload: None,
        is_call_open: Callable[[], bool] = lambda: False,
        before_answer: Callable[[], None] = lambda: None,
        on_request: Callable[[], None] = lambda: None,
        holds_context: bool = True,
    ) -> None:
        """Create a writer on top of `writer`.

        `on_request` is called ahead of all that code asks the model to answer, and may refuse it.
        `before_answer` is called ahead of each prompt, to send what the model has to know by then.
        `report` gets every refused message, and of consecutive failures that will be retried only the first.
        `holds_context` is False for a `writer` that posts context only with texts and setups.
        """
        self._writer = writer
        self._pending = pending
        self._report = report
        self._emit = emit
        self._is_call_open = is_call_open
        self._before_answer = before_answer
        self._on_request = on_request
        self._holds_context = holds_context
        self._failing = False

    def flush(self) -> None:
        """Send the queued context now; report failures instead of raising them."""
        if self._is_context_held():
            return
        rest, failed = send_notes(self._writer, self._pending.drain_context())
        self._pending.put_back(rest)
        for failure in failed:
            if not (failure.kept and self._failing):
                self._report(failure)
        self._failing = bool(rest)

    def send_audio(self, pcm: bytes) -> None:
        """Send queued context, then the audio."""
        self.flush()
        self._writer.send_audio(pcm)

    def send_text(self, text: str) -> None:
        """Send queued context, then the typed text."""
        check_may_act()
        check_text(text, "What the user types")
        self._on_request()
        self.flush()
        self._writer.send_text(text)

    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Send queued context, then the image."""
        check_may_act()
        self.flush()
        self._writer.send_video(data, mime_type)

    def send_context(
        self, texts: Sequence[str], role: ContextRole = "model", prompt: bool = False, reason: str = ""
    ) -> None:
        """Send queued context, then the texts.

        Raises `AgentError` for what is no list of texts, and for an unknown role.
        """
        check_may_act()
        texts, role = check_context(texts, role)
        if prompt:
            self._on_request()
        if self._is_context_held():
            self._pending.extend(ContextNote(text, role, reason) for text in texts)
            self._emit(ContextSent(texts=tuple(texts), reasons=(reason,) if reason else (), queued=True))
            if prompt:
                self._hold_prompt(reason)
            return
        speaks_later = prompt and self._is_call_open()
        if prompt and not speaks_later:
            self._before_answer()
        self.flush()
        self._writer.send_context(texts, role, prompt and not speaks_later, reason)
        if speaks_later:
            self._hold_prompt(reason)

    def prompt_model(self, reason: str = "") -> None:
        """Send queued context, then the prompt."""
        check_may_act()
        self._on_request()
        self.ask(reason)

    def ask(self, reason: str = "") -> None:
        """Prompt the model as `prompt_model` does, for a speech that was counted."""
        if self._is_call_open():
            self._hold_prompt(reason)
            return
        self._before_answer()
        self.flush()
        self._writer.prompt_model(reason)

    def _is_context_held(self) -> bool:
        return self._holds_context and self._is_call_open()

    def _hold_prompt(self, reason: str) -> None:
        prompt = self._pending.arm_prompt(reason)
        self._emit(PromptChanged(state="armed", reason=reason))
        if prompt is not None:
            self._emit(prompt.event())

    def update_instruction(self, text: str, reason: str = "") -> None:
        """Send the instruction alone; raises `AgentError` for one that is no text."""
        check_may_act()
        check_text(text, "An instruction", remedy=CALL_IT)
        self._writer.update_instruction(text, reason)

    def activity_start(self) -> None:
        """Send the activity mark alone."""
        check_may_act()
        self._writer.activity_start()

    def activity_end(self) -> None:
        """Send the activity mark alone."""
        check_may_act()
        self._writer.activity_end()

    def send_tool_answers(self, answers: Sequence[FunctionResponse]) -> None:
        """Send the answers alone."""
        self._writer.send_tool_answers(answers)
