"""Keep track of steering's context that waits in the queue.

The model has not read it. So it is withdrawn when something newer is decided, and confirmed only once it has left the
queue by itself, ahead of the user's input, of a prompt or of other context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.steering import SteeringOutput
from gemini_live_runtime.session.outbound.context_queue import PendingContext
from gemini_live_runtime.session.ports.messages import ContextNote


class QueuedSteering:
    """Steering's part of the queue: what holds, of the newest output only."""

    __slots__ = ("_emit", "_notes", "_output", "_queue")

    def __init__(self, queue: PendingContext, emit: Callable[[ev.Payload], None]) -> None:
        self._queue = queue
        self._emit = emit
        self._output: SteeringOutput | None = None
        self._notes: tuple[ContextNote, ...] = ()

    def take_told(self) -> SteeringOutput | None:
        """Return the output whose context has left the queue, once, or None."""
        output = self._output
        if output is None or self._queue.holds(self._notes):
            return None
        self._output, self._notes = None, ()
        return output

    def has_all_of(self, output: SteeringOutput) -> bool:
        """Return True when nothing of `output` is to be sent beside what waits."""
        is_context_only = output.instruction is None and not output.entered and not output.prompt
        return is_context_only and self._output is not None and self._output.context == output.context

    def withdraw(self) -> frozenset[str]:
        """Remove the context from the queue; return its texts."""
        texts = frozenset(note.text for note in self._notes)
        self._queue.withdraw(self._notes)
        self._output, self._notes = None, ()
        return texts

    def put(self, waiting: Sequence[str], output: SteeringOutput, known: frozenset[str]) -> None:
        """Queue lines of entering that were `waiting`, and the context of `output`.

        Lines of entering stay when the context is withdrawn: they are said once. `known` texts were queued before.
        """
        reason = "; ".join(output.reasons)
        self._notes = tuple(ContextNote(text, reason=reason) for text in output.context)
        self._output = output if self._notes else None
        earlier = (ContextNote(text, reason=reason) for text in waiting)
        entered = (ContextNote(text, reason=reason) for text in output.entered)
        self._queue.extend((*earlier, *self._notes, *entered))
        texts = (*waiting, *(text for text in output.context if text not in known), *output.entered)
        if texts:
            self._emit(ev.ContextSent(texts=texts, reasons=output.reasons, queued=True))
