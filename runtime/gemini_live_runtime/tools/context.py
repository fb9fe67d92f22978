"""Give tools access to their session."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.tools.progress import Progress, as_checkpoint

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State


class Agents(Protocol):
    """Background agents of a session, as a tool may use them."""

    def dispatch(self, name: str, agent: Any, state: State, *, timeout_s: float | None = None) -> None:
        """Run `agent` in the background; its answer goes to `bg:<name>:result`.

        Raises `AgentError`.
        """
        ...


class Memory(Protocol):
    """Memory of a session, as a tool may use it: what later sessions know, too.

    Scopes are those of the agent. Values are JSON; each method raises `GeminiLiveError`.
    """

    async def put(self, scope: str, key: str, value: Any) -> dict[str, Any]:
        """Remember a value, replacing one of the same key."""
        ...

    async def get(self, scope: str, key: str) -> dict[str, Any]:
        """Return a memory with its origin."""
        ...

    async def list(self, scope: str) -> dict[str, Any]:
        """Return the newest memories of a scope."""
        ...

    async def delete(self, scope: str, key: str) -> dict[str, Any]:
        """Forget a memory."""
        ...

    async def search(self, scope: str, text: str) -> dict[str, Any]:
        """Return memories of a scope with words of `text`."""
        ...


class Tasks(Protocol):
    """Tasks of a session, as a tool may use them.

    Each method raises `GeminiLiveError`.
    """

    async def overview(self) -> dict[str, Any]:
        """Return the tasks that run, and the newest that have ended."""
        ...

    async def get(self, task_id: str) -> dict[str, Any]:
        """Return one task with its progress, its result or its error."""
        ...

    async def ask_to_cancel(self, task_id: str) -> dict[str, Any]:
        """Cancel a task, which another program may run."""
        ...


class Notifications(Protocol):
    """Notifications of a session, as a tool may use them.

    Each method raises `GeminiLiveError`.
    """

    async def set_timer(self, text: str, *, seconds: float | None = None, at: str = "") -> dict[str, Any]:
        """Have a text announced after so many seconds, or at a local time."""
        ...

    async def queue(self, title: str, body: str = "") -> dict[str, Any]:
        """Have a text announced once the user is back, or by another session."""
        ...

    async def timers(self) -> dict[str, Any]:
        """Return the timers that wait, the next one first."""
        ...

    async def cancel_timer(self, timer_id: str) -> dict[str, Any]:
        """Take a timer back."""
        ...


class ToolContext:
    """Session of a tool call: the call passes it to a parameter of this type.

    The parameter is not part of the schema. `state`, `agents`, `memory`, `tasks` and `notifications` are the session's,
    None outside a session. `cancelled` is set when the call was cancelled or timed out: a plain function that runs long
    should check `cancelled.is_set()`, or wait with `cancelled.wait(seconds)`. An async tool gets `CancelledError` too.
    """

    __slots__ = (
        "_notify",
        "_on_progress",
        "agents",
        "call_id",
        "cancelled",
        "checkpoint",
        "memory",
        "notifications",
        "state",
        "tasks",
    )

    def __init__(
        self,
        call_id: str,
        notify: Callable[[str], None],
        *,
        state: State | None = None,
        cancelled: threading.Event | None = None,
        agents: Agents | None = None,
        memory: Memory | None = None,
        tasks: Tasks | None = None,
        notifications: Notifications | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.call_id = call_id
        self.state = state
        self.agents = agents
        self.memory = memory
        self.tasks = tasks
        self.notifications = notifications
        self.cancelled = threading.Event() if cancelled is None else cancelled
        self.checkpoint = checkpoint
        """Newest checkpoint of the task that this call continues, whose program died; None at the beginning."""
        self._notify = notify
        self._on_progress = on_progress

    def progress(self, fraction: float | None = None, text: str = "", *, checkpoint: Any = None) -> None:
        """Tell how far the call is: a `fraction` of 0 to 1, a sentence, or both.

        It is shown, and kept with the call's task, once the call goes on as one. May be called from any thread, as
        often as you like: the newest counts. A `checkpoint`, any JSON, is kept as well: a tool with
        `restart="continue"` gets it back as `ToolContext.checkpoint` should its program die. Raises `AgentError` for a
        fraction that is no number, and for a checkpoint that is too large or has a secret.
        """
        if fraction is not None and not is_finite(fraction):
            raise AgentError(
                f"The progress of a tool cannot be {fraction!r:.60}",
                remedy="Give a number from 0 to 1",
                field="fraction",
                value=fraction,
            )
        kept = "" if checkpoint is None else as_checkpoint(checkpoint)
        if self._on_progress is not None:
            part = None if fraction is None else min(1.0, max(0.0, float(fraction)))
            self._on_progress(Progress(part, str(text), kept))

    def notify(self, text: str) -> None:
        """Show the operator a sentence.

        May be called from any thread, also after the tool has returned. Raises `AgentError` for what is no text.
        """
        if not isinstance(text, str):
            # Once it is on the event loop, nobody would hear that it failed.
            raise AgentError(
                f"What a tool tells the operator is text, not {type(text).__name__}: {text!r:.60}",
                remedy="Give a string",
                field="text",
                value=text,
            )
        self._notify(text)
