"""Running tools: each call ends exactly once, in a result, an error, a timeout or a cancellation."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError

from gemini_live_runtime.clock import Clock, hold_time
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.declaration import BadArguments, Tool, ToolContext

Status = Literal["ok", "error", "timeout", "cancelled", "refused"]

MAX_CONCURRENT = 32
"""Calls running at once; one more is refused, so that a looping model cannot exhaust the machine."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call ended; `result` is always an object. `cause` is for the log, not for the model."""

    call_id: str
    name: str
    status: Status
    result: dict[str, Any]
    ms: float
    cause: str = ""
    trace: str = ""
    """The traceback of a tool that raised, for the journal."""


class ToolDispatcher:
    """Runs the tools of one session, concurrently, each with its own timeout."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        clock: Clock,
        on_finished: Callable[[Outcome], None],
        on_notify: Callable[[str, str], None],
    ) -> None:
        """`on_finished` gets each outcome; `on_notify(tool, text)` what a tool tells the operator."""
        self._clock = clock
        self._on_finished = on_finished
        self._on_notify = on_notify
        self._running: dict[str, asyncio.Task[Outcome]] = {}
        self.tools: Mapping[str, Tool] = _by_name(tools)

    @property
    def open_calls(self) -> int:
        """Calls that have not ended."""
        return len(self._running)

    def start(self, call_id: str, name: str, args: dict[str, Any]) -> None:
        """Run a call; its outcome arrives through `on_finished`. `call_id` must not be running."""
        declared = self.tools.get(name)
        if declared is None:
            known = ", ".join(self.tools) or "none"
            self._refuse(call_id, name, f"There is no tool {name}. Tools: {known}.")
        elif len(self._running) >= MAX_CONCURRENT:
            self._refuse(call_id, name, f"Too many tools are running ({MAX_CONCURRENT}).")
        else:
            started = self._clock.now()
            task = asyncio.create_task(self._run(declared, call_id, args, started), name=f"tool {name}")
            self._running[call_id] = task
            task.add_done_callback(lambda done: self._ended(call_id, name, started, done))

    def cancel(self, call_id: str) -> bool:
        """Cancel a running call; False when it is not running. The cancellation reaches an async tool."""
        task = self._running.get(call_id)
        return task is not None and task.cancel()

    async def close(self) -> None:
        """Cancel everything and wait for it to end."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _refuse(self, call_id: str, name: str, reason: str) -> None:
        self._on_finished(Outcome(call_id, name, "refused", {"error": reason}, 0.0, reason))

    async def _run(self, declared: Tool, call_id: str, args: dict[str, Any], started: float) -> Outcome:
        status: Status = "ok"
        cause = trace = ""
        scope = asyncio.timeout(declared.timeout_s)
        try:
            context = ToolContext(call_id, self._notifier(declared.name))
            bound = declared.bind(args, context)
            async with scope:
                result = _as_object(await _call(declared.function, bound, declared.timeout_s))
        except BadArguments as error:
            status, result, cause = "refused", {"error": str(error)}, str(error)
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # whatever a tool raises, the call has its one answer
            if scope.expired() and isinstance(error, TimeoutError):
                cause = f"{declared.name} took longer than {declared.timeout_s:g} s"
                status, result = "timeout", {"error": cause}
            else:
                cause = f"{type(error).__name__}: {error}"
                trace = "".join(traceback.format_exception(error))
                said = f"it called sys.exit({error})" if isinstance(error, SystemExit) else str(error)
                status, result = "error", {"error": said or type(error).__name__}
        return Outcome(call_id, declared.name, status, result, self._ms_since(started), cause, trace)

    def _notifier(self, name: str) -> Callable[[str], None]:
        """What passes a tool's words on, from the loop or from the thread that a plain function runs in."""
        loop = asyncio.get_running_loop()

        def notify(text: str) -> None:
            # Once the loop has ended there is nobody left to tell.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._on_notify, name, text)

        return notify

    def _ended(self, call_id: str, name: str, started: float, task: asyncio.Task[Outcome]) -> None:
        # A task cancelled before its first step never runs its body, so the one answer is made here.
        del self._running[call_id]
        if task.cancelled():
            self._on_finished(Outcome(call_id, name, "cancelled", {}, self._ms_since(started)))
        else:
            self._on_finished(task.result())

    def _ms_since(self, started: float) -> float:
        return (self._clock.now() - started) * 1000


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    table: dict[str, Tool] = {}
    for declared in tools:
        if declared.name in table:
            raise AgentError(
                f"Two tools are named {declared.name}",
                remedy="Give one another name",
                field="tools",
                value=declared.name,
            )
        table[declared.name] = declared
    return table


async def _call(function: Callable[..., Any], bound: dict[str, Any], timeout_s: float) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**bound)
    # A plain function may block; the conversation must not.
    with hold_time(timeout_s):
        result = await _in_thread(lambda: function(**bound))
    return await result if inspect.isawaitable(result) else result


def _in_thread(function: Callable[[], Any]) -> asyncio.Future[Any]:
    """What `function` returns, run in a thread of its own that nobody waits for: a call that never comes back must not
    keep the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result: Any = None
        fault: BaseException | None = None
        try:
            result = function()
        except (StopIteration, KeyboardInterrupt) as error:  # A future does not take these, or a loop obeys them.
            fault = RuntimeError(f"{type(error).__name__}: {error}")
        except BaseException as error:
            fault = error
        with contextlib.suppress(RuntimeError):  # The loop has ended: there is nobody left to tell.
            loop.call_soon_threadsafe(settle, result, fault)

    threading.Thread(target=work, name="tool", daemon=True).start()
    return future


def _as_object(value: Any) -> dict[str, Any]:
    """The JSON object of a tool's return value: an object as it is, anything else under `output`."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    try:
        plain = _ANY.dump_python(value, mode="json")
    except (PydanticSerializationError, RecursionError, ValueError) as error:
        raise TypeError(f"its result cannot be written as JSON: {error}") from None
    if isinstance(plain, dict):
        return {str(key): item for key, item in plain.items()}
    return {"output": plain}
