"""Let a call that takes longer than its budget go on as a task.

The call's way is decided once, when its budget is over: it is recorded as a task and answered with the task's id, and
its end becomes a notification. A tool that ends before that is answered with its result and leaves no record. Where
the disk refuses the record the call stays an ordinary one: the model waits, and gets the result.

A call in the background keeps its own answer, and has a record beside it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.commands import CancelTask
from gemini_live_runtime.errors import GeminiLiveError, HarnessError
from gemini_live_runtime.harness.paths import HarnessPaths, may_exist
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import HarnessTask, NewRunningTask, TaskStatus
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.harness.lost_tasks import claim_lost
from gemini_live_runtime.session.agent.harness.model_tasks import continues
from gemini_live_runtime.session.agent.harness.task_ends import TaskEnd, TaskEnds
from gemini_live_runtime.session.agent.harness.undecided_calls import UndecidedCalls, same_call
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.tools.dispatch import ToolDispatcher
from gemini_live_runtime.tools.progress import NO_PROGRESS, Progress
from gemini_live_runtime.tools.registry import HarnessToolRegistry
from gemini_live_runtime.tools.results import Outcome, ToolCall, outcome

PROGRESS_S = 0.5
"""Seconds between two records of progress; what comes faster replaces what waits."""

POLL_S = 5.0
"""Seconds between looks for requests of other programs to cancel a task."""

CLOSING_S = 1.5
"""Seconds to write how the tasks ended when the session ends; the next program writes what is missing then."""

MAX_SUMMARY = 500
"""Characters of a result in short."""


@dataclass(slots=True, eq=False)
class _Task:
    """Call that goes on, or is about to."""

    call: ToolCall
    key: str
    """Name and arguments, by which a second call for the same is recognised."""
    in_background: bool
    """True for a call with an open answer of its own, which a tool that replaces this one does not change."""
    started: float
    """Time at which the call began."""
    record: HarnessTask | None = None
    is_spilled: bool = False
    """True once the call has its answer and goes on."""
    ended: Outcome | None = None
    progress: Progress = NO_PROGRESS
    written: Progress = NO_PROGRESS
    """Progress that is recorded, or about to be."""
    timer: asyncio.TimerHandle | None = None
    reason: str = ""
    """Reason of its cancellation."""
    is_reported: bool = False
    """True once it was reported that the disk refuses progress."""

    @property
    def id(self) -> str:
        return "" if self.record is None else self.record.id


class HarnessToolRuntime:
    """Tasks of one session."""

    def __init__(
        self,
        agent: AgentContext,
        dispatcher: ToolDispatcher,
        harness: HarnessWorker,
        *,
        answer: Callable[[Outcome], None],
        end: Callable[[Outcome], None],
    ) -> None:
        """`answer` gets the outcome with which a call is answered.

        `end` gets the outcome of a call that was answered with its task's id before.
        """
        self.harness = harness
        self.undecided = UndecidedCalls(agent, dispatcher, harness)
        self.on_ended: Callable[[str], None] = lambda task_id: None
        """Called with the id of a task that has ended, and again once the disk has taken its end."""
        self._agent = agent
        self._dispatcher = dispatcher
        self._answer = answer
        self._end = end
        self._budgets: dict[str, asyncio.TimerHandle] = {}
        self._early: dict[str, _Task] = {}
        """Calls within their budgets, by their ids: what they tell of their progress counts once they are tasks."""
        self._tasks: dict[str, _Task] = {}
        """Tasks by the ids of their calls."""
        self._ends = TaskEnds(harness)
        self._running: set[asyncio.Task[None]] = set()
        self._poll: asyncio.TimerHandle | None = None
        self._session_ends = ""

    @property
    def is_idle(self) -> bool:
        """True when no task runs, and the disk was asked to record each end."""
        return not self._tasks

    @property
    def tools(self) -> HarnessToolRegistry:
        """Tools that the session has now."""
        return self._dispatcher.tools

    @property
    def answered_calls(self) -> set[str]:
        """Ids of the calls that go on after their last answer."""
        return {call_id for call_id, task in self._tasks.items() if task.is_spilled}

    # -- from the call to its task ----------------------------------------------------------------------------------

    def running_like(self, call: ToolCall) -> str:
        """Return the id of a running task for the same tool and arguments, or ""."""
        key = same_call(call)
        return next((task.id for task in self._tasks.values() if task.key == key and task.is_spilled), "")

    def on_started(self, call: ToolCall) -> None:
        """Note that a call runs."""
        mode = self._dispatcher.mode_of(call.name)
        task = _Task(call, same_call(call), mode.is_background, self._agent.clock.now())
        if mode.budget_ms is not None:
            loop = asyncio.get_running_loop()
            self._early[call.call_id] = task
            self.undecided.add(call)
            self._budgets[call.call_id] = loop.call_later(mode.budget_ms / 1000, self._on_budget_over, task)
        elif mode.is_background:
            self._begin(task)

    def _on_budget_over(self, task: _Task) -> None:
        call_id = task.call.call_id
        del self._budgets[call_id], self._early[call_id]
        if call_id in self._dispatcher.active_ids and self._dispatcher.continue_as_task(call_id):
            self._begin(task)

    def _begin(self, task: _Task) -> None:
        self._tasks[task.call.call_id] = task
        self._spawn(self._record(task), f"record {task.call.name}")

    async def _record(self, task: _Task) -> None:
        call = task.call
        declared = self._dispatcher.tools.get(call.name)
        metadata = {"toolCallId": call.call_id, "toolName": call.name, "toolArgs": call.args}
        key = self.undecided.key_of(call)
        # With other arguments than those that were recorded it would be another task.
        is_whole = key is not None
        new = NewRunningTask(
            title=f"Background tool: {call.name}",
            instructions=f"The call took longer than its time for an answer and goes on: {call.name}.",
            requested_by="model",
            tags=["tool-call", call.name],
            metadata=redactor.value(metadata),
            origin_call_id=call.call_id,
            limit_s=3600.0 if declared is None else declared.timeout_s,
            # The open answer of a background call tells the model its end.
            notifies=not task.in_background,
            restart=declared.restart or None if declared is not None and is_whole else None,
            agent=self._agent.plan.name,
            call_key=key,
        )
        try:
            task.record = await self.harness.call(lambda harness: harness.tasks.start(new))
        except Exception as error:
            # Whatever it is, the call must not be lost with its record.
            self._on_not_recorded(task, error)
            return
        self._tell(task, "running")
        if task.progress != task.written:
            self._write(task)
        if not task.in_background:
            task.is_spilled = True
            ms = (self._agent.clock.now() - task.started) * 1000
            self._answer(replace(outcome(call, "ok", continues(task.id, call.name)), task=task.id, ms=ms))
        self.undecided.decide(call.call_id)
        self._watch_requests()
        if task.ended is not None:
            if task.is_spilled:
                self._end(task.ended)
            await self._finish(task, task.ended)

    # -- tasks whose program died ------------------------------------------------------------------------------------

    def begin(self, may_run: Callable[[str], bool]) -> None:
        """Start the agent's lost tasks anew whose tools say so, and `may_run` does."""
        root = self.harness.root
        names = {name for name, declared in self._dispatcher.tools.items() if declared.restart and may_run(name)}
        if names and root and may_exist(HarnessPaths(Path(root)).header):
            self._spawn(self._restart_lost(names), "restart tasks")

    async def _restart_lost(self, names: set[str]) -> None:
        agent, now_ms = self._agent.plan.name, round(self._agent.clock.wall() * 1000)
        errors: list[HarnessError] = []
        try:
            claimed = await self.harness.call(lambda harness: claim_lost(harness, agent, names, now_ms, errors.append))
        except Exception as error:
            self._report("Lost tasks are not started anew", error)
            return
        for refused in errors:
            self._report("A lost task is not started anew", refused)
        for record, call in claimed:
            self._go_on(record, call)

    def _go_on(self, record: HarnessTask, call: ToolCall) -> None:
        """Run a task of which there is a record already."""
        task = _Task(call, same_call(call), in_background=False, started=self._agent.clock.now())
        task.record, task.is_spilled = record, True
        self._tasks[call.call_id] = task
        checkpoint = record.checkpoint
        how = "started anew" if checkpoint is None else "continued"
        self._tell(task, "running", f"{how}: the program of {record.restart_of} ended in the middle of it")
        self._dispatcher.start(call.call_id, call.name, call.args, checkpoint=checkpoint)
        if call.call_id in self._dispatcher.active_ids:
            self._dispatcher.continue_as_task(call.call_id)
            self._watch_requests()

    def _on_not_recorded(self, task: _Task, error: Exception) -> None:
        """Let a call whose record the disk refuses stay an ordinary one."""
        del self._tasks[task.call.call_id]
        self._dispatcher.continue_as_call(task.call.call_id)
        self._report(f"{task.call.name} is not recorded as a task", error)
        if task.ended is not None and not task.in_background:
            self._answer(task.ended)
            self.undecided.decide(task.call.call_id)
        self._agent.host.on_change()

    # -- progress ----------------------------------------------------------------------------------------------------

    def on_progress(self, call_id: str, progress: Progress) -> None:
        """Note how far a call is."""
        task = self._tasks.get(call_id) or self._early.get(call_id)
        if task is None or task.ended is not None:
            return
        text = redactor.text(progress.text)[:MAX_SUMMARY]
        task.progress = replace(progress, text=text).after(task.progress)
        if task.timer is None and task.record is not None:
            task.timer = asyncio.get_running_loop().call_later(PROGRESS_S, self._publish_progress, task)
            self._publish(task)

    def _publish_progress(self, task: _Task) -> None:
        task.timer = None
        if task.ended is None and task.record is not None and task.progress != task.written:
            task.timer = asyncio.get_running_loop().call_later(PROGRESS_S, self._publish_progress, task)
            self._publish(task)

    def _publish(self, task: _Task) -> None:
        now, before = task.progress, task.written
        if (now.fraction, now.text) != (before.fraction, before.text):
            self._tell(task, "running")
        self._write(task)

    def _write(self, task: _Task) -> None:
        now, before = task.progress, task.written
        task.written = now
        checkpoint = json.loads(now.checkpoint) if now.checkpoint and now.checkpoint != before.checkpoint else None

        def record(harness: Harness) -> object:
            return harness.tasks.progress(task.id, now.text, fraction=now.fraction, checkpoint=checkpoint)

        self._spawn(self._write_progress(task, record), "record progress")

    async def _write_progress(self, task: _Task, work: Callable[[Harness], object]) -> None:
        """Write progress to the disk; the first time that it refuses is reported."""
        try:
            await self.harness.call(work)
        except Exception as error:
            if not task.is_reported:
                task.is_reported = True
                self._report(f"Progress of the task {task.call.name} is not recorded", error)

    def _report(self, what: str, error: Exception) -> None:
        reason, remedy = error_text(error), ""
        if isinstance(error, GeminiLiveError):
            reason, remedy = error.message, error.remedy
        text = redactor.text(f"{what}: {reason}")
        self._agent.emit(ev.Notice(level="warning", code="harness", text=text, remedy=redactor.text(remedy)))

    # -- the end -----------------------------------------------------------------------------------------------------

    def take(self, ended: Outcome) -> bool:
        """Take the outcome of a call that is a task.

        Returns False when the caller has to answer the call.
        """
        self._early.pop(ended.call_id, None)
        timer = self._budgets.pop(ended.call_id, None)
        if timer is not None:
            timer.cancel()
        task = self._tasks.get(ended.call_id)
        if task is None:
            self.undecided.decide(ended.call_id)
            return False
        task.ended = ended
        # Until its record is written it is open whether the call is answered by the task's id, or by this outcome.
        if task.record is not None:
            if task.is_spilled:
                self._end(ended)
            self._spawn(self._finish(task, ended), f"end {ended.name}")
        return not task.in_background

    async def _finish(self, task: _Task, ended: Outcome) -> None:
        if task.timer is not None:
            task.timer.cancel()
        status, text = self._end_of(task, ended)
        output = redactor.value({"toolCallId": task.call.call_id, "toolName": task.call.name, "response": ended.result})
        if status is TaskStatus.SUCCEEDED and task.progress.fraction is not None:
            task.progress = replace(task.progress, fraction=1.0)

        def on_refused(error: Exception) -> None:
            self._report(f"The end of the task {task.call.name} is not recorded yet, and tried again", error)
            self._leave(task, status, text, is_recorded=False)

        error = await self._ends.record(TaskEnd(task.id, status, text, output), on_refused)
        if error is not None:
            self._report(f"The end of the task {task.call.name} is not recorded", error)
        if error is None or task.call.call_id in self._tasks:
            self._leave(task, status, text, is_recorded=error is None)

    def _leave(self, task: _Task, status: TaskStatus, text: str, *, is_recorded: bool) -> None:
        """Tell the end of a task, which runs no longer."""
        self._tasks.pop(task.call.call_id, None)
        self._tell(task, status.value, text, recorded=is_recorded)
        self.on_ended(task.id)
        self._agent.host.on_change()

    def _end_of(self, task: _Task, ended: Outcome) -> tuple[TaskStatus, str]:
        result = ended.result
        if ended.status == "ok":
            failed = isinstance(result, dict) and result.get("ok") is False
            return (TaskStatus.FAILED if failed else TaskStatus.SUCCEEDED), _summary(result)
        if ended.status == "cancelled":
            if self._session_ends:
                return TaskStatus.INTERRUPTED, self._session_ends
            return TaskStatus.CANCELLED, task.reason or "It was cancelled."
        return TaskStatus.FAILED, redactor.text(ended.cause or str(result.get("error", "")) or ended.status)

    def _tell(self, task: _Task, status: ev.TaskState, text: str | None = None, *, recorded: bool = True) -> None:
        self._agent.emit(
            ev.TaskChanged(
                task_id=task.id,
                tool=task.call.name,
                call_id=task.call.call_id,
                status=status,
                fraction=task.progress.fraction,
                text=task.progress.text if text is None else text,
                recorded=recorded,
            )
        )

    # -- cancelling --------------------------------------------------------------------------------------------------

    def cancel(self, task_id: str, reason: str = "") -> bool:
        """Cancel a task and its tool; return False when it does not run here."""
        for task in self._tasks.values():
            if task.id == task_id and task.ended is None:
                task.reason = redactor.text(reason)[:MAX_SUMMARY]
                return self._dispatcher.cancel(task.call.call_id)
        return False

    def cancel_by_operator(self, order: CancelTask) -> None:
        """Cancel a task; raise `HarnessError` for one that does not run here."""
        if not self.cancel(order.task_id, order.reason or "The operator cancelled it."):
            raise HarnessError(
                f"The task {order.task_id:.60} does not run in this session",
                remedy="See: gemini-live-tui tasks",
                field="task_id",
                value=order.task_id,
            )

    def _watch_requests(self) -> None:
        if self._poll is None:
            self._poll = asyncio.get_running_loop().call_later(POLL_S, self.look_for_requests)

    def look_for_requests(self) -> None:
        """Look for requests of other programs to cancel tasks.

        Now, and every `POLL_S` while a task runs.
        """
        if self._poll is not None:
            self._poll.cancel()
            self._poll = None
        ids = [task.id for task in self._tasks.values() if task.record is not None and task.ended is None]
        if ids and not self._session_ends:
            self._spawn(self._obey_requests(ids), "look for requests")
            self._watch_requests()

    async def _obey_requests(self, ids: list[str]) -> None:
        def requests(harness: Harness) -> dict[str, str]:
            found = {task_id: harness.tasks.cancel_request(task_id) for task_id in ids}
            return {task_id: reason for task_id, reason in found.items() if reason is not None}

        try:
            asked = await self.harness.call(requests)
        except GeminiLiveError:
            return  # the next look finds them
        for task_id, reason in asked.items():
            self.cancel(task_id, reason or "Another program cancelled it.")

    # -- the end of the session --------------------------------------------------------------------------------------

    def end(self, reason: str) -> None:
        """Count tasks whose calls are cancelled from now on as interrupted."""
        self._session_ends = self._session_ends or redactor.text(reason)
        self._ends.end_session()
        for timer in (*self._budgets.values(), *((self._poll,) if self._poll else ())):
            timer.cancel()
        self._budgets.clear()
        self._early.clear()
        self._poll = None

    async def close(self) -> None:
        """Wait until the ends of tasks are recorded, and close the harness."""
        if self._running:
            await asyncio.wait(set(self._running), timeout=CLOSING_S)
        self.undecided.decide_all()
        await self.harness.close()

    def _spawn(self, work: Any, name: str) -> None:
        running = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(running)
        running.add_done_callback(self._on_done)

    def _on_done(self, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        if not running.cancelled() and (error := running.exception()) is not None:
            self._report("A task is not recorded", error if isinstance(error, Exception) else RuntimeError(str(error)))


def _summary(result: dict[str, Any]) -> str:
    """Return a result in short, as one line."""
    value = next(iter(result.values())) if len(result) == 1 else result
    text = value if isinstance(value, str) else json.dumps(redactor.value(value), ensure_ascii=False)
    return sanitise_line(redactor.text(text), MAX_SUMMARY)
