"""Follow one answer of the model, from its request to its last sample."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import ChatContext, ChatMessage, items_of
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.core.speech_queue import Speech
from gemini_live_runtime.session.io.place import place_of_code
from gemini_live_runtime.session.ports.loop_calls import LoopCalls, on_loop

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transcript import TranscriptBuffer
    from gemini_live_runtime.session.core.speech_queue import SpeechQueue, SpeechSource, SpeechStatus
    from gemini_live_runtime.session.ports.event_bus import EventBus


in_speech: ContextVar[str] = ContextVar("in_speech", default="")
"""Id of the speech in which the tool runs that is at work here; "" outside of tools."""


class SpeechHandle:
    """Handle of one speech; awaiting it waits for its end.

    In a tool that runs in this very speech that raises `AgentError`, because the speech waits for the tool: use
    `RunContext.wait_for_playout` there. It does, too, while the speech is queued, unless the tool runs in the
    background. Its plain methods may be called from any thread; it is awaited on the session's event loop.
    """

    def __init__(
        self,
        speech: Speech,
        interrupt: Callable[[Speech, bool], None],
        call: Callable[[Any, SpeechHandle], None],
        transcript: TranscriptBuffer,
        loop_calls: LoopCalls,
    ) -> None:
        """`interrupt(speech, force)` interrupts it.

        `call(callback, handle)` calls the author's code.
        """
        self._transcript = transcript
        self.loop_calls = loop_calls
        self._speech = speech
        self._interrupt = interrupt
        self._call = call
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._callbacks: list[Callable[[SpeechHandle], Any]] = []

    def __repr__(self) -> str:
        return f"<SpeechHandle {self.id} {self.status}>"

    @property
    def id(self) -> str:
        """Id of the speech, as in the events `speech.changed`."""
        return self._speech.id

    @property
    def source(self) -> SpeechSource:
        """Cause of the speech, such as "reply" or "user", as in `speech.changed`."""
        return self._speech.source

    @property
    def status(self) -> SpeechStatus:
        """Status: queued, asked, speaking, done, interrupted or dropped."""
        return self._speech.status

    @property
    def priority(self) -> int:
        """Priority while it waits."""
        return self._speech.priority

    @property
    def parent(self) -> str:
        """Id of the speech in which this one was asked for; "" for none."""
        return self._speech.parent

    @property
    def step_index(self) -> int:
        """Number of its parts so far: the answers of a round of tools begin another."""
        return self._speech.step

    @property
    def interrupted(self) -> bool:
        """True when it was cut, or dropped before it began."""
        return self._speech.status in ("interrupted", "dropped")

    @property
    @on_loop
    def chat_items(self) -> ChatContext:
        """Messages of the model, calls and answers of this speech so far.

        Of a cut message, what was heard. Empty before it begins, and once 50 turns have followed.
        """
        turn = self._transcript.turn(self._speech.turn) if self._speech.turn else None
        items = () if turn is None else items_of(turn)
        return ChatContext(item for item in items if not (isinstance(item, ChatMessage) and item.role == "user"))

    def exception(self) -> AgentError | None:
        """Return the fault for which the model never began it; None for one without.

        Awaiting it raises nothing.
        """
        problem = self._speech.problem
        if not problem:
            return None
        return AgentError(f"{self.id} was dropped: {problem}", remedy="Ask again", field="speech", value=self.id)

    @property
    def done(self) -> bool:
        """True when nothing more of it follows."""
        return self._speech.is_over

    @property
    def allow_interruptions(self) -> bool:
        """True when the user may interrupt it."""
        return self._speech.allow_interruptions

    @allow_interruptions.setter
    def allow_interruptions(self, allowed: bool) -> None:
        if (self.interrupted or self._speech.is_cancelled) and not allowed:
            raise AgentError(
                f"{self.id} was interrupted already", remedy="Set it before", field="allow_interruptions", value=allowed
            )
        self._speech.allow_interruptions = bool(allowed)

    @on_loop
    def interrupt(self, *, force: bool = False) -> SpeechHandle:
        """Stop or drop it; does nothing when it is over.

        Raises `AgentError` for one that may not be interrupted, unless `force`.
        """
        if not self.done:
            self.check_interruptible(force=force)
            self._interrupt(self._speech, force)
        return self

    def check_interruptible(self, *, force: bool = False) -> None:
        """Raise `AgentError` for a speech that may not be interrupted."""
        if not (self.allow_interruptions or force or self.done):
            raise AgentError(
                f"{self.id} may not be interrupted", remedy="Use force=True", field="allow_interruptions", value=False
            )

    @on_loop
    def add_done_callback(self, callback: Callable[[SpeechHandle], Any]) -> None:
        """Call `callback(handle)` at its end; soon, when it is over.

        It may be async; its faults are reported and change nothing.
        """
        if self._done.done():
            asyncio.get_running_loop().call_soon(self._call, callback, self)
        else:
            self._callbacks.append(callback)

    def remove_done_callback(self, callback: Callable[[SpeechHandle], Any]) -> None:
        """Forget a callback."""
        self._callbacks = [item for item in self._callbacks if item != callback]

    def settle(self) -> None:
        """Tell all that wait for it that it is over."""
        if not self._done.done():
            self._done.set_result(None)
            callbacks, self._callbacks = self._callbacks, []
            for callback in callbacks:
                asyncio.get_running_loop().call_soon(self._call, callback, self)

    async def wait_for_playout(self) -> None:
        """Wait for its end."""
        if not self.done and in_speech.get() == self.id:
            raise AgentError(
                f"A tool of {self.id} cannot wait for the end of {self.id}, which waits for the tool",
                remedy="Use RunContext.wait_for_playout",
                field="speech",
                value=self.id,
            )
        if self.status == "queued":
            self._check_may_begin()
        if self.loop_calls.is_own_thread:
            await asyncio.shield(self._done)
        else:
            await self.loop_calls.run(asyncio.wait((self._done,)))

    def _check_may_begin(self) -> None:
        """Raise `AgentError` in a tool that keeps it from being asked for."""
        place = place_of_code.get()
        # A task that the tool has started goes on when the tool has ended. A plain tool is on a thread of its own.
        is_tool = place is not None and (place.task is asyncio.current_task() or not self.loop_calls.is_own_thread)
        if place is not None and is_tool and place.is_awaited():
            raise AgentError(
                f"A tool cannot wait for the end of {self.id}, which begins only after the tool's answer",
                remedy="Return without waiting, or declare the tool with blocking=False",
                field="speech",
                value=self.id,
            )

    def __await__(self) -> Generator[Any, None, SpeechHandle]:
        async def wait() -> SpeechHandle:
            await self.wait_for_playout()
            return self

        return wait().__await__()

    async def wait_if_not_interrupted(self, *awaitables: Awaitable[Any]) -> list[Any]:
        """Wait for `awaitables`, or until the speech is interrupted; return their results.

        Those that are not done by then are cancelled, and their result is None. Raises what one of them raised.
        """
        tasks = [asyncio.ensure_future(item) for item in awaitables]
        everything = asyncio.gather(*tasks, return_exceptions=True)
        try:
            await asyncio.wait((everything, self._done), return_when=asyncio.FIRST_COMPLETED)
            while not everything.done() and not self.interrupted:
                await asyncio.wait((everything,))
        finally:
            for task in tasks:
                if not task.done():
                    task.cancel()
            await asyncio.gather(everything, return_exceptions=True)
        return [None if task.cancelled() else task.result() for task in tasks]


class SpeechHandles:
    """Handles of the speeches of one session that are not over."""

    def __init__(
        self,
        speeches: SpeechQueue,
        bus: EventBus,
        interrupt: Callable[[Speech, bool], None],
        call: Callable[[Any, SpeechHandle], None],
        transcript: TranscriptBuffer,
    ) -> None:
        """`interrupt` and `call` are those of the handles."""
        self._transcript = transcript
        self._speeches = speeches
        self._interrupt = interrupt
        self._call = call
        self._loop_calls = LoopCalls(asyncio.get_running_loop())
        self._handles: dict[str, SpeechHandle] = {}
        self._gone: dict[str, Speech] = {}
        """Speeches that were over before their first event was published, as their events tell of them."""
        bus.subscribe(self._on_changed, ev.SpeechChanged)

    def of(self, speech: Speech) -> SpeechHandle:
        """Return the handle of a speech; always the same one until its end."""
        handle = self._handles.get(speech.id)
        if handle is None:
            handle = SpeechHandle(speech, self._interrupt, self._call, self._transcript, self._loop_calls)
            if speech.is_over:
                handle.settle()
            else:
                self._handles[speech.id] = handle
        return handle

    def of_event(self, changed: ev.SpeechChanged) -> SpeechHandle:
        """Return the handle of the speech that an event is about, over or not."""
        if (handle := self._handles.get(changed.id)) is not None:
            return handle
        current = self._speeches.current
        known = (*self._speeches.waiting, *(() if current is None else (current,)))
        speech = next((speech for speech in known if speech.id == changed.id), None)
        if speech is None:
            # It began and ended in one message.
            speech = Speech(
                changed.id, changed.source, changed.reason, changed.priority, changed.parent, status=changed.status
            )
            if not speech.is_over:
                self._gone[changed.id] = speech
        return self.of(speech)

    @property
    def current(self) -> SpeechHandle | None:
        """Handle of the speech that was asked for, or is going on."""
        return None if self._speeches.current is None else self.of(self._speeches.current)

    @property
    def waiting(self) -> tuple[SpeechHandle, ...]:
        """Handles of the speeches that wait, in their order."""
        return tuple(map(self.of, self._speeches.waiting))

    def _on_changed(self, event: ev.Event) -> None:
        changed = event.payload
        assert isinstance(changed, ev.SpeechChanged)
        if (speech := self._gone.get(changed.id)) is not None:
            speech.status, speech.step = changed.status, changed.step
        handle = self._handles.get(changed.id)
        if handle is not None and handle.done:
            self._gone.pop(changed.id, None)
            del self._handles[changed.id]
            handle.settle()
