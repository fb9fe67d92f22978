"""Run extractors beside the conversation.

Each run is a task with a deadline, and ends in a result or a failure. A run past its deadline is reported and
cancelled, but counts as running until it has really ended: an extractor that ignores cancelling must not pile up.
Findings become state in one transaction: the whole result, and the fields that its rules accept.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, error_text, is_awaitable, result_or_error, text_alone
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.conversation.extraction import (
    EXTRACTED,
    MAX_QUOTE,
    ExtractedFields,
    ExtractionRequest,
    ExtractionSchedule,
    Refusal,
    TriggerEvent,
    TurnExtractor,
    as_extracted_fields,
)
from gemini_live_runtime.conversation.promotion import (
    PromotionDecision,
    apply_decisions,
    promote,
    said_since_presented,
)
from gemini_live_runtime.conversation.text_model import TextModel
from gemini_live_runtime.conversation.transcript import TranscriptWindow
from gemini_live_runtime.errors import AgentError, GeminiLiveError, author_place
from gemini_live_runtime.records import record
from gemini_live_runtime.restarts import FailureTracker
from gemini_live_runtime.state.mutations import Origin, decision_of
from gemini_live_runtime.state.store import State
from gemini_live_runtime.text import sanitise_line

MAX_ERROR = 300
"""Characters of a failure's text."""

ENDING_S = 2.0
"""Seconds that closing waits for cancelled runs."""


@record
class ExtractionResult:
    """Findings of a run, already in the state.

    `of_turn` is the turn of the request. `fields` is the whole object (`temp:extracted:<name>`), `refused` are fields
    that did not fit the schema, `decisions` say which fields became state. `merged` earlier requests were answered by
    this run as well.
    """

    extractor: str
    of_turn: int
    event: TriggerEvent
    fields: dict[str, Any]
    refused: tuple[Refusal, ...]
    decisions: tuple[PromotionDecision, ...]
    duration_s: float
    merged: int = 0


@record
class ExtractionFailure:
    """A run without findings: it raised, or took longer than its deadline.

    `raised_at` is the line of the author's code that raised, as `file.py:12`, or "".
    """

    extractor: str
    of_turn: int
    event: TriggerEvent
    text: str
    duration_s: float
    raised_at: str = ""
    merged: int = 0


class ExtractionRunner:
    """Runner of the extractors of one session.

    `trigger` returns at once; `on_result` and `on_failure`, plain functions that do not raise, are called later on the
    same loop. Raises `AgentError` when an extractor needs the session's model and `model` is None. Use it on the
    running loop only.
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
        on_health: Callable[[str, bool], None] = lambda name, well: None,
    ) -> None:
        """Call `on_ended` when a run has really ended, maybe long after its deadline.

        Call `on_health(name, False)` when an extractor is degraded: then it rests (see `FailureTracker`), and
        `on_health(name, True)` when it is no more.
        """
        self._state, self._schedule, self._model, self._clock = state, schedule, model, clock
        self.check(schedule)
        self._on_result, self._on_failure, self._on_ended = on_result, on_failure, on_ended
        self._on_health = on_health
        self._health: defaultdict[str, FailureTracker] = defaultdict(FailureTracker)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def running(self) -> frozenset[str]:
        """Names of the extractors that run."""
        return frozenset(self._tasks)

    def check(self, schedule: ExtractionSchedule) -> None:
        """Raise `AgentError` when one of these extractors needs a model that is missing."""
        lacking = [name for name, each in schedule.extractors.items() if getattr(each, "needs_model", False)]
        if lacking and self._model is None:
            raise AgentError(
                f"There is no text model for {', '.join(lacking)}",
                remedy="Give the session a text model, or each extractor its own",
                field="model",
            )

    def replace(self, schedule: ExtractionSchedule) -> None:
        """Use these extractors from now on; finish running ones, drop waiting requests."""
        schedule.continue_from(self._schedule)
        self._schedule = schedule
        for name in list(self._health):
            self._worked(name)

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
        """Run the extractors that are due and return their names.

        `windows(n)` returns the last n ended turns and the open one, of which `said_since_presented` is read; empty
        windows start no run. `turn_number` counts the turns that are complete, for intervals; `of_turn` is the turn's
        number in the reports, by default the same.
        An extractor that still runs is run once more when it ends, on the newest window.
        """
        if self._closed:
            return []
        names = []
        for extractor in self._schedule.due(event, turn_number, tool=tool, phase=phase):
            if self._health[extractor.name].rests(self._clock.now()):
                continue
            window = said_since_presented(windows(extractor.window), extractor.promotions, self._state)
            if window.is_empty:
                continue
            read = turn_number if of_turn is None else of_turn
            request = ExtractionRequest(extractor, event, read, window)
            try:
                wanted = decision_of(extractor.should_extract, window)
            except USER_ERRORS as error:
                self._failed(request, error, self._clock.now())
                continue
            if wanted:
                names.append(extractor.name)
                if self._schedule.start_or_queue(request):
                    self._start(request)
        return names

    async def drain(self, grace_s: float | None = None) -> bool:
        """Wait at most `grace_s` for all runs to end; return True when they have."""
        end = None if grace_s is None else self._clock.now() + grace_s
        while self._tasks:
            left = None if end is None else end - self._clock.now()
            if left is not None and left <= 0:
                return False
            await asyncio.wait(self._tasks.values(), timeout=left)
        return True

    async def close(self, grace_s: float = 0.0) -> None:
        """Stop: give runs `grace_s` to end, cancel the rest without reports."""
        self._closed = True
        self._schedule.drop_waiting()
        if grace_s > 0:
            await self.drain(grace_s)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING_S)

    def _start(self, request: ExtractionRequest) -> None:
        name = request.extractor.name
        task = asyncio.create_task(self._run_all(request), name=f"extractor {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._on_done(name, done))

    def _on_done(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]
        if task.cancelled():
            self._schedule.finish(name)
        self._on_ended()

    async def _run_all(self, request: ExtractionRequest | None) -> None:
        while request is not None:
            try:
                await self._run(request)
            except Exception as error:  # A callback raised: that must not keep the extractor from running again.
                asyncio.get_running_loop().call_exception_handler(
                    {"message": f"A listener to the extractor {request.extractor.name} failed", "exception": error}
                )
            request = self._schedule.finish(request.extractor.name)

    async def _run(self, request: ExtractionRequest) -> None:
        began = self._clock.now()
        deadline_s = request.extractor.deadline_s
        work = asyncio.create_task(_call(request.extractor, request.window, self._model))
        try:
            await asyncio.wait((work,), timeout=deadline_s)
            if not work.done():
                # Reported at the deadline, although it may take long to end.
                text = f"{request.extractor.name} took longer than {deadline_s:g} s; what it finds is discarded"
                self._report(
                    ExtractionFailure(
                        request.extractor.name, request.of_turn, request.event, text, deadline_s, merged=request.merged
                    )
                )
                work.cancel()
                await asyncio.wait((work,))
                return
        except asyncio.CancelledError:
            # `wait` does not cancel the tasks it waits for.
            work.cancel()
            await asyncio.wait((work,), timeout=ENDING_S)
            raise
        outcome = _outcome(work)
        if isinstance(outcome, ExtractedFields):
            self._succeeded(request, outcome, began)
        else:
            self._failed(request, outcome, began)

    def _succeeded(self, request: ExtractionRequest, found: ExtractedFields, began: float) -> None:
        name = request.extractor.name
        try:
            decisions = promote(found.fields, request.extractor.promotions, self._state, name, request.window)
            with self._state.transaction() as transaction:
                with self._state.writing_as(Origin("extractor", name, "its whole result")):
                    transaction.set(f"{EXTRACTED}{name}", found.fields)
                apply_decisions(decisions, transaction)
        except USER_ERRORS as error:
            self._failed(request, error, began)
            return
        duration = self._clock.now() - began
        self._worked(name)
        self._on_result(
            ExtractionResult(
                name,
                request.of_turn,
                request.event,
                found.fields,
                found.refused,
                tuple(decisions),
                duration,
                request.merged,
            )
        )

    def _failed(self, request: ExtractionRequest, error: BaseException, began: float) -> None:
        if isinstance(error, GeminiLiveError):
            text = sanitise_line(str(error), MAX_ERROR)
        elif isinstance(error, asyncio.CancelledError):
            text = "It cancelled itself"
        else:
            text = sanitise_line(error_text(error), MAX_QUOTE)
        self._report(
            ExtractionFailure(
                request.extractor.name,
                request.of_turn,
                request.event,
                text,
                self._clock.now() - began,
                author_place(error),
                request.merged,
            )
        )

    def _report(self, failure: ExtractionFailure) -> None:
        self._on_failure(failure)
        if self._health[failure.extractor].on_failed(self._clock.now()):
            self._on_health(failure.extractor, False)

    def _worked(self, name: str) -> None:
        if self._health[name].on_worked():
            self._on_health(name, True)


async def _call(
    extractor: TurnExtractor, window: TranscriptWindow, model: TextModel | None
) -> ExtractedFields | BaseException:
    """Return what an extractor finds, or its error: some would end the event loop."""

    async def extract() -> ExtractedFields:
        found: Any = extractor.extract(window, model)
        return as_extracted_fields(await found if is_awaitable(found) else found)

    found, fault = await result_or_error(extract())
    if isinstance(fault, SystemExit):
        return RuntimeError(f"it called sys.exit({text_alone(fault)})")
    return found if fault is None else fault


def _outcome(work: asyncio.Task[ExtractedFields | BaseException]) -> ExtractedFields | BaseException:
    return asyncio.CancelledError() if work.cancelled() else work.result()
