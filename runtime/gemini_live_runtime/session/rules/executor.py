"""Perform the effects of reactor rules.

No other module turns effects into wire messages. Effects run in order and synchronously, on the loop that calls the
executor. Only a transition may take longer: it continues in a task of its own. When it is blocking, the effects behind
it in the same batch run after it, in that task; effects of other batches do not wait. So two batches can interleave,
but the effects of one batch keep their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import assert_never

from gemini_live_runtime.author_code import USER_ERRORS, error_text, result_or_error, traceback_of
from gemini_live_runtime.events import Payload, PromptChanged
from gemini_live_runtime.records import record
from gemini_live_runtime.session.core.speech_queue import Speech
from gemini_live_runtime.session.outbound.context_queue import ContextNotSent, PendingContext, send_notes
from gemini_live_runtime.session.ports.messages import SessionWriter
from gemini_live_runtime.session.rules.effects import (
    CancelDeferredPrompt,
    EffectMode,
    EmitEvent,
    LiveEffect,
    PromptModel,
    Reaction,
    SendContext,
    SignalUserActivityEnd,
    SignalUserActivityStart,
    TransitionPhase,
    UpdateInstruction,
)

MAX_CONCURRENT = 64
"""Asynchronous effects that run at once; a further one is not started but reported."""

ASYNCHRONOUS = (TransitionPhase,)
"""Effects that may still run after `perform` has returned."""

ENDING_S = 2.0
"""Seconds that closing waits for cancelled effects."""


@record
class EffectFault:
    """Failure or timeout of an effect that the rule `source` returned.

    The effects after it were performed. `defined_at` is the rule's source location.
    """

    source: str
    effect: LiveEffect
    error: str
    trace: str = ""
    defined_at: str = ""


class LiveEffectExecutor:
    """Executor that performs effects in order on the running loop."""

    def __init__(
        self,
        writer: SessionWriter,
        pending: PendingContext,
        *,
        emit: Callable[[Payload], None],
        transition: Callable[[str, str], Awaitable[None] | None],
        report: Callable[[EffectFault | ContextNotSent], None],
        type_text: Callable[[str, str], None] | None = None,
        ask: Callable[[str], None] | None = None,
        may_speak: Callable[[], bool] = lambda: True,
        mark: Callable[[], int] = lambda: 0,
    ) -> None:
        """Create an executor that writes to `writer`.

        `type_text(id, text)` sends the text that a speech is to answer as the user's; `ask(reason)` prompts the model,
        by default with `writer`. `may_speak` returns False as long as the gap since the last speech is too short.
        `mark()` returns the link's mark of what was sent now.
        `transition(target, reason)` enters a phase and raises when it cannot.
        """
        self._writer = writer
        self._pending = pending
        self._emit = emit
        self._transition = transition
        self._report = report
        self._type_text = type_text
        self._prompt_model = writer.prompt_model if ask is None else ask
        self._may_speak = may_speak
        self._mark = mark
        self._running: dict[asyncio.Task[None], Reaction] = {}

    def perform(self, effect: LiveEffect) -> Awaitable[None] | None:
        """Perform one effect now; return the rest as an awaitable when it takes longer.

        Raises the errors of the writer, `emit` and `transition`.
        """
        match effect:
            case SendContext(contents, reason, role):
                if contents:
                    self._writer.send_context(contents, role, False, reason)
            case PromptModel(reason):
                self.flush_deferred_prompt(reason)
            case CancelDeferredPrompt():
                dropped = self._pending.speeches.drop_prompts()
                for speech in dropped:
                    self._emit(speech.event())
                if dropped:
                    self._emit(PromptChanged(state="cancelled", reason="the user has the floor"))
            case SignalUserActivityStart():
                self._writer.activity_start()
            case SignalUserActivityEnd():
                self._writer.activity_end()
            case UpdateInstruction(text, reason):
                self._writer.update_instruction(text, reason)
            case EmitEvent(payload):
                self._emit(payload)
            case TransitionPhase(target, reason):
                return self._transition(target, reason)
            case _:
                assert_never(effect)
        return None

    def perform_reactions(self, reactions: Iterable[Reaction]) -> None:
        """Perform all effects in order, now. Report those that fail and go on.

        An asynchronous effect continues in a task; when it is blocking, the effects after it follow in that task. At
        `MAX_CONCURRENT` running effects a further asynchronous one is reported instead of started.
        """
        waiting = iter(reactions)
        for reaction in waiting:
            if isinstance(reaction.effect, ASYNCHRONOUS) and len(self._running) >= MAX_CONCURRENT:
                self._fault(reaction, f"not started: {MAX_CONCURRENT} effects are running")
                continue
            try:
                rest = self.perform(reaction.effect)
            except USER_ERRORS as error:
                self._fault(reaction, error_text(error), error)
                continue
            if rest is None:
                continue
            if reaction.policy.mode is EffectMode.BLOCKING:
                # Consumes the iterator, so the loop ends here: the task performs the remaining effects.
                self._spawn(reaction, rest, tuple(waiting))
            else:
                self._spawn(reaction, rest)

    def _spawn(self, reaction: Reaction, rest: Awaitable[None], then: tuple[Reaction, ...] = ()) -> None:
        async def finish() -> None:
            scope = asyncio.timeout(reaction.policy.timeout_s)
            try:
                async with scope:
                    _, error = await result_or_error(rest)
            except TimeoutError:
                self._fault(reaction, f"took longer than {reaction.policy.timeout_s:g} s")
            else:
                if error is not None:
                    self._fault(reaction, error_text(error), error)
            self.perform_reactions(then)

        task = asyncio.create_task(finish(), name=f"effect of {reaction.source}")
        self._running[task] = reaction
        task.add_done_callback(self._running.pop)

    def _fault(self, reaction: Reaction, text: str, error: BaseException | None = None) -> None:
        trace = "" if error is None else traceback_of(error)
        self._report(EffectFault(reaction.source, reaction.effect, text, trace, reaction.defined_at))

    def flush_deferred_prompt(self, reason: str = "") -> None:
        """Post the queued context, then the prompt if one is armed.

        Nothing is awaited in between, so no other message can come between them.
        Context and prompt that fail are queued again: a prompt never goes out ahead of the context that it is about.
        Context that failed is reported; raises `GeminiLiveError` when the prompt itself cannot be posted.
        """
        if self._pending.has_prompt and not self._may_speak():
            return
        notes, speech = self._pending.drain_context(), self._pending.speeches.take()
        rest, failed = send_notes(self._writer, notes)
        self._pending.put_back(rest)
        for failure in failed:
            self._report(failure)
        if speech is None:
            return
        if rest:
            self._pending.speeches.put_back(speech)  # it waits with the context that it is about
            return
        try:
            self._ask(speech, reason)
        except BaseException:
            self._pending.speeches.put_back(speech)
            raise

    def _ask(self, speech: Speech, reason: str) -> None:
        """Ask the model for a speech."""
        if speech.instructions:
            self._writer.send_context((speech.instructions,), "user", False, f"instructions of {speech.id}")
            speech.mark = self._mark()
        # Before the request: what it sets off belongs to the speech.
        before = self._pending.speeches.current
        changed = self._pending.speeches.ask(speech)
        try:
            if speech.user_input and self._type_text is not None:
                self._type_text(speech.id, speech.user_input)
            else:
                self._prompt_model(reason)
        except BaseException:
            self._pending.speeches.current = before
            raise
        for item in changed:
            self._emit(item.event())

    async def close(self) -> None:
        """Cancel running effects, wait up to `ENDING_S`, report those that still run."""
        # A task that is cancelled before its first step would never await its effect.
        await asyncio.sleep(0)
        tasks = self._running.keys() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING_S)
        for task in tasks & self._running.keys():
            self._fault(self._running[task], "did not end when it was cancelled")
