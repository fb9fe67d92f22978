"""Running extractors beside the conversation: each run is a task with a deadline that ends in a result or a report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.conversation.extraction import (
    EXTRACTED,
    MAX_QUOTE,
    Ask,
    Extracted,
    ExtractionSchedule,
    Refusal,
    TriggerEvent,
    TurnExtractor,
    as_extracted,
)
from gemini_live_runtime.conversation.promotion import Decision, apply, promote
from gemini_live_runtime.conversation.text_model import TextModel
from gemini_live_runtime.errors import AgentError, GeminiLiveError, author_place
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.store import State
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transcript import TranscriptWindow

MAX_ERROR = 300
"""Characters of a failure's text."""

ENDING_S = 2.0
"""Seconds that closing waits for cancelled runs."""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """A run's findings, already in the state.

    `of_turn` is the one it was asked in. `fields` is the whole object (`temp:extracted:<name>`), `refused` what did not
    fit the schema, `decisions` what became state and what did not. `merged` asks before it were answered by it.
    """

    extractor: str
    of_turn: int
    event: TriggerEvent
    fields: dict[str, Any]
    refused: tuple[Refusal, ...]
    decisions: tuple[Decision, ...]
    duration_s: float
    merged: int = 0


@dataclass(frozen=True, slots=True)
class ExtractionFailure:
    """A run without findings: it raised, or took longer than its deadline (what it finds later is discarded).

    `raised_at` is the author's line that it came through, as `file.py:12`; "" for none, as at a deadline.
    """

    extractor: str
    of_turn: int
    event: TriggerEvent
    text: str
    duration_s: float
    raised_at: str = ""
    merged: int = 0


class ExtractionRunner:
    """Runs the extractors of one session. `trigger` returns at once; reports come later, on the same loop.

    Raises `AgentError` when an extractor needs the session's model and `model` is None. `on_result` and `on_failure`
    are plain functions that do not raise. Use it on the running loop only.
    """

    def __init__(
        self,
        state: State,
        schedule: ExtractionSchedule,
        model: TextModel | None,
        clock: Clock,
        on_result: Callable[[ExtractionResult], None],
        on_failure: Callable[[ExtractionFailure], None],
        on_ended: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_ended` is told when a run is really over, which may be long after its deadline."""
        self._state, self._schedule, self._model, self._clock = state, schedule, model, clock
        self.check(schedule)
        self._on_result, self._on_failure, self._on_ended = on_result, on_failure, on_ended
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def running(self) -> frozenset[str]:
        """The names of extractors that run."""
        return frozenset(self._tasks)

    def check(self, schedule: ExtractionSchedule) -> None:
        """Raise `AgentError` when one of these extractors needs a model and there is none."""
        lacking = [name for name, each in schedule.extractors.items() if getattr(each, "needs_model", False)]
        if lacking and self._model is None:
            raise AgentError(
                f"There is no text model for {', '.join(lacking)}",
                remedy="Give the session a text model, or each extractor its own",
                field="model",
            )

    def replace(self, schedule: ExtractionSchedule) -> None:
        """Ask these extractors from now on. Runs under way are finished, those that wait are forgotten."""
        schedule.continue_from(self._schedule)
        self._schedule = schedule

    def trigger(
        self,
        event: TriggerEvent,
        turn_number: int,
        windows: Callable[[int], TranscriptWindow],
        *,
        tool: str = "",
        phase: str = "",
        of_turn: int | None = None,
    ) -> list[str]:
        """Ask the extractors that are due; their names. `windows(n)` gives the last n ended turns and the open one.

        `turn_number` counts the turns before this one, for intervals; `of_turn` is the turn's number in the reports,
        the same unless given.

        One that still runs is asked once more when it ends, about the newest window. Empty windows are not asked about.
        """
        if self._closed:
            return []
        asked = []
        for extractor in self._schedule.due(event, turn_number, tool=tool, phase=phase):
            window = windows(extractor.window)
            if window.is_empty:
                continue
            ask = Ask(extractor, event, turn_number if of_turn is None else of_turn, window)
            try:
                wanted = extractor.should_extract(window)
            except (Exception, SystemExit) as error:
                self._failed(ask, error, self._clock.now())
                continue
            if wanted:
                asked.append(extractor.name)
                if self._schedule.ask(ask):
                    self._start(ask)
        return asked

    async def drain(self, grace_s: float | None = None) -> bool:
        """Wait until nothing runs and nothing waits, at most `grace_s`; whether that came about."""
        end = None if grace_s is None else self._clock.now() + grace_s
        while self._tasks:
            left = None if end is None else end - self._clock.now()
            if left is not None and left <= 0:
                return False
            await asyncio.wait(self._tasks.values(), timeout=left)
        return True

    async def close(self, grace_s: float = 0.0) -> None:
        """Take no more triggers, give runs `grace_s` to end, cancel the rest. Cancelled runs are not reported."""
        self._closed = True
        self._schedule.forget_waiting()
        if grace_s > 0:
            await self.drain(grace_s)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING_S)

    def _start(self, ask: Ask) -> None:
        name = ask.extractor.name
        task = asyncio.create_task(self._chain(ask), name=f"extractor {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._over(name, done))

    def _over(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]
        if task.cancelled():
            self._schedule.ended(name)
        self._on_ended()

    async def _chain(self, ask: Ask | None) -> None:
        while ask is not None:
            try:
                await self._run(ask)
            except Exception as error:  # A listener raised: that must not keep the extractor from running again.
                asyncio.get_running_loop().call_exception_handler(
                    {"message": f"A listener to the extractor {ask.extractor.name} failed", "exception": error}
                )
            ask = self._schedule.ended(ask.extractor.name)

    async def _run(self, ask: Ask) -> None:
        began = self._clock.now()
        deadline_s = ask.extractor.deadline_s
        work = asyncio.create_task(_call(ask.extractor, ask.window, self._model))
        try:
            await asyncio.wait((work,), timeout=deadline_s)
            if not work.done():
                text = f"{ask.extractor.name} took longer than {deadline_s:g} s; what it finds is discarded"
                self._on_failure(
                    ExtractionFailure(ask.extractor.name, ask.of_turn, ask.event, text, deadline_s, merged=ask.merged)
                )
                # Until it has really ended it counts as running, or such runs would pile up.
                work.cancel()
                await asyncio.wait((work,))
                _outcome(work)
                return
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.wait((work,), timeout=ENDING_S)
            if work.done():
                _outcome(work)
            raise
        outcome = _outcome(work)
        if isinstance(outcome, Extracted):
            self._succeeded(ask, outcome, began)
        else:
            self._failed(ask, outcome, began)

    def _succeeded(self, ask: Ask, found: Extracted, began: float) -> None:
        name = ask.extractor.name
        try:
            decisions = promote(found.fields, ask.extractor.promotions, self._state, name)
            with self._state.transaction() as transaction:
                with self._state.writing_as(Origin("extractor", name, "its whole result")):
                    transaction.set(f"{EXTRACTED}{name}", found.fields)
                apply(decisions, transaction)
        except Exception as error:
            self._failed(ask, error, began)
            return
        duration = self._clock.now() - began
        self._on_result(
            ExtractionResult(
                name, ask.of_turn, ask.event, found.fields, found.refused, tuple(decisions), duration, ask.merged
            )
        )

    def _failed(self, ask: Ask, error: BaseException, began: float) -> None:
        if isinstance(error, GeminiLiveError):
            text = sanitise_line(str(error), MAX_ERROR)
        elif isinstance(error, asyncio.CancelledError):
            text = "It cancelled itself"
        else:
            text = f"{type(error).__name__}: {sanitise_line(str(error), MAX_QUOTE)}"
        self._on_failure(
            ExtractionFailure(
                ask.extractor.name,
                ask.of_turn,
                ask.event,
                text,
                self._clock.now() - began,
                author_place(error),
                ask.merged,
            )
        )


async def _call(extractor: TurnExtractor, window: TranscriptWindow, model: TextModel | None) -> Extracted:
    try:
        found: Any = extractor.extract(window, model)
        return as_extracted(await found if isawaitable(found) else found)
    except SystemExit as error:  # The loop would obey it.
        raise RuntimeError(f"it called sys.exit({error})") from error


def _outcome(work: asyncio.Task[Extracted]) -> Extracted | BaseException:
    if work.cancelled():
        return asyncio.CancelledError()
    return work.exception() or work.result()
