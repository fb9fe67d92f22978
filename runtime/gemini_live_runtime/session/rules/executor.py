"""The one place where effects touch the wire."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import assert_never

from gemini_live_runtime.events import ContextSent, Payload, PromptChanged
from gemini_live_runtime.session.outbound.context_queue import ContextNotSent, PendingContext, send_notes
from gemini_live_runtime.session.ports.messages import ContextNote, SessionWriter
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
"""Effects that take time, under way at once; one more is not begun but reported."""

TAKE_TIME = (TransitionPhase,)
"""Effects that may not be over when they have been performed."""

ENDING_S = 2.0
"""Seconds that closing waits for cancelled effects."""


@dataclass(frozen=True, slots=True)
class EffectFault:
    """An effect that the rule `source` wanted failed or took too long; the effects after it were performed.

    `defined_at` is the rule's place.
    """

    source: str
    effect: LiveEffect
    error: str
    trace: str = ""
    defined_at: str = ""


class LiveEffectExecutor:
    """Performs effects, in order, on the loop that it is used on."""

    def __init__(
        self,
        writer: SessionWriter,
        pending: PendingContext,
        *,
        emit: Callable[[Payload], None],
        transition: Callable[[str, str], Awaitable[None] | None],
        report: Callable[[EffectFault | ContextNotSent], None],
        hold: Callable[[], bool] = lambda: False,
    ) -> None:
        """`transition(target, reason)` takes the conversation to a phase and raises when it cannot.

        While `hold` says so, context waits with the rest: nothing may come between a call and its answer.
        """
        self._writer = writer
        self._pending = pending
        self._emit = emit
        self._transition = transition
        self._report = report
        self._hold = hold
        self._running: dict[asyncio.Task[None], Reaction] = {}

    def perform(self, effect: LiveEffect) -> Awaitable[None] | None:
        """Perform one effect now; what remains to be waited for, if anything.

        Raises what the writer, `emit` or `transition` raises.
        """
        match effect:
            case SendContext(contents, reason, role):
                if contents and self._hold():
                    self._pending.extend(ContextNote(text, role, reason) for text in contents)
                    self._emit(ContextSent(texts=contents, reasons=(reason,) if reason else (), queued=True))
                elif contents:
                    self._writer.send_context(contents, role, False, reason)
            case PromptModel(reason):
                self.flush_deferred_prompt(reason)
            case CancelDeferredPrompt():
                if self._pending.take_prompt():
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
        """Perform all, in order and now. One that fails is reported and the others go on.

        What takes longer goes on by itself; when it is blocking, what comes after it waits for it. With
        `MAX_CONCURRENT` under way another that may take longer is not begun but reported.
        """
        waiting = iter(reactions)
        for reaction in waiting:
            if isinstance(reaction.effect, TAKE_TIME) and len(self._running) >= MAX_CONCURRENT:
                self._fault(reaction, f"not begun: {MAX_CONCURRENT} effects are under way")
                continue
            try:
                rest = self.perform(reaction.effect)
            except (Exception, SystemExit) as error:
                self._fault(reaction, f"{type(error).__name__}: {error}", error)
                continue
            if rest is None:
                continue
            if reaction.policy.mode is EffectMode.BLOCKING:
                self._spawn(reaction, rest, tuple(waiting))
            else:
                self._spawn(reaction, rest)

    def _spawn(self, reaction: Reaction, rest: Awaitable[None], then: tuple[Reaction, ...] = ()) -> None:
        async def going_on() -> None:
            scope = asyncio.timeout(reaction.policy.timeout_s)
            try:
                async with scope:
                    await rest
            except (Exception, SystemExit) as error:
                if scope.expired() and isinstance(error, TimeoutError):
                    self._fault(reaction, f"took longer than {reaction.policy.timeout_s:g} s")
                else:
                    self._fault(reaction, f"{type(error).__name__}: {error}", error)
            self.perform_reactions(then)

        task = asyncio.create_task(going_on(), name=f"effect of {reaction.source}")
        self._running[task] = reaction
        task.add_done_callback(self._running.pop)

    def _fault(self, reaction: Reaction, text: str, error: BaseException | None = None) -> None:
        trace = "" if error is None else "".join(traceback.format_exception(error))
        self._report(EffectFault(reaction.source, reaction.effect, text, trace, reaction.defined_at))

    def flush_deferred_prompt(self, reason: str = "") -> None:
        """Post the queued context, then, if one was armed, the prompt. Nothing can come between: it does not wait.

        What fails waits again: a prompt never goes out ahead of the context that it is about. Context that failed is
        reported; raises `GeminiLiveError` when the prompt itself cannot be posted.
        """
        notes, armed = self._pending.drain()
        rest, failed = send_notes(self._writer, notes)
        self._pending.put_back(rest)
        for failure in failed:
            self._report(failure)
        if not armed:
            return
        if rest:
            self._pending.arm_prompt()
            return
        try:
            self._writer.prompt_model(reason)
        except BaseException:
            self._pending.arm_prompt()
            raise

    async def close(self) -> None:
        """Cancel what is under way and wait for it, at most `ENDING_S`; what still runs then is reported."""
        await asyncio.sleep(0)  # what was begun only now takes its first step
        tasks = self._running.keys() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING_S)
        for task in tasks & self._running.keys():
            self._fault(self._running[task], "did not end when it was cancelled")
