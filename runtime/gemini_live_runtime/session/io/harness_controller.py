"""Give programs the tasks, notifications and memory of their session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryWrite
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.session.io.harness_bridge import HarnessRuntimeBridge
from gemini_live_runtime.session.ports.loop_calls import async_on_loop, on_loop

if TYPE_CHECKING:
    from gemini_live_runtime.harness.listing import Listing
    from gemini_live_runtime.harness.memory import MemoryRecord
    from gemini_live_runtime.harness.notifications import HarnessNotification, NotificationStatus
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.harness.tasks import HarnessTask, TaskDetail, TaskStatus
    from gemini_live_runtime.session.agent.harness.harness_tool_runtime import HarnessToolRuntime
    from gemini_live_runtime.session.agent.listeners.subscription import Subscription
    from gemini_live_runtime.session.ports.loop_calls import LoopCalls
    from gemini_live_runtime.tools.registry import ToolDescriptor

T = TypeVar("T")


class HarnessController:
    """Harness of a running session, `LiveHandle.harness`.

    Its methods may be called from any thread and raise `HarnessError`; the disk's work runs in a thread.
    """

    def __init__(
        self, runtime: HarnessToolRuntime, loop_calls: LoopCalls, subscribe: Callable[[str], Subscription]
    ) -> None:
        """`subscribe` returns the session's events, by the name of the reader."""
        self._runtime = runtime
        self._subscribe = subscribe
        self.loop_calls = loop_calls
        self.on_changed: Callable[[], None] = lambda: None
        """Called when records were changed that the session looks for."""

    @async_on_loop
    async def call(self, work: Callable[[Harness], T]) -> T:
        """Return the result of `work`, which gets the `Harness`, in its thread."""
        return await self._runtime.harness.call(work)

    @property
    def runtime(self) -> HarnessToolRuntime:
        """Calls of the session that go on as tasks, for code on its event loop."""
        return self._runtime

    @on_loop
    def bridge(self) -> HarnessRuntimeBridge:
        """Return an iterator of tool calls, each once its answer has gone out."""
        return HarnessRuntimeBridge(self._subscribe("harness bridge"))

    @on_loop
    def tools(self) -> tuple[ToolDescriptor, ...]:
        """Return the tools that the session has now, those of its own included."""
        return self._runtime.tools.descriptors()

    @async_on_loop
    async def tasks(self, status: TaskStatus | None = None) -> Listing[HarnessTask]:
        """Return the tasks of the root, newest change first."""
        return await self.call(lambda harness: harness.tasks.find(status))

    @async_on_loop
    async def task(self, task_id: str) -> TaskDetail:
        """Return a task with its result and its newest events."""
        return await self.call(lambda harness: harness.tasks.detail(task_id))

    @on_loop
    def cancel(self, task_id: str, reason: str = "") -> bool:
        """Cancel a task of this session and its tool; False when it does not run here."""
        return self._runtime.cancel(task_id, reason or "The program cancelled it.")

    @async_on_loop
    async def notify(self, notification: NewNotification | str) -> HarnessNotification:
        """Queue a notification, which the model announces in a pause.

        Raises `AgentError` for what is none.
        """
        if not isinstance(notification, NewNotification | str):
            raise AgentError(
                f"A notification is a text or a NewNotification, not {notification!r:.60}",
                remedy="Give a string",
                field="notification",
                value=notification,
            )
        new = NewNotification(title=notification) if isinstance(notification, str) else notification
        queued = await self.call(lambda harness: harness.notifications.queue(new))
        self.on_changed()
        return queued

    @async_on_loop
    async def notifications(self, status: NotificationStatus | None = None) -> Listing[HarnessNotification]:
        """Return the notifications of the root, oldest first."""
        return await self.call(lambda harness: harness.notifications.find(status))

    @async_on_loop
    async def acknowledge(self, notification_id: str) -> HarnessNotification:
        """Dismiss a notification: the model does not announce it any more."""
        done = await self.call(lambda harness: harness.notifications.acknowledge(notification_id))
        self.on_changed()
        return done

    @async_on_loop
    async def remember(self, write: MemoryWrite) -> MemoryRecord:
        """Put a memory, which other sessions find.

        Without a `provenance` its author is the program. Raises `AgentError` for what is no `MemoryWrite`.
        """
        if not isinstance(write, MemoryWrite):
            raise AgentError(
                f"A memory is a MemoryWrite, not {write!r:.60}",
                remedy="Write MemoryWrite(scope, key, value)",
                field="write",
                value=write,
            )
        if write.provenance is None:
            write = replace(write, provenance=MemoryProvenance(author=MemoryAuthor.PROGRAM))
        return await self.call(lambda harness: harness.memory.put(write))

    @async_on_loop
    async def recall(self, words: str, *, scope: str | None = None) -> Listing[MemoryRecord]:
        """Return memories that have these words, the best first."""
        return await self.call(lambda harness: harness.memory.search(words, scope=scope))
