"""Ask for speeches of a session, and stop them, as its agents and programs do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.choices import as_choice, as_member
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_number
from gemini_live_runtime.session.agent.handover.lifecycle import busy_hook
from gemini_live_runtime.session.core.speech_queue import SpeechPriority
from gemini_live_runtime.session.io.speech_handle import SpeechHandle, SpeechHandles
from gemini_live_runtime.session.ports.messages import check_text
from gemini_live_runtime.session.rules.reactor import PromptArmed

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.core.speech_queue import Speech

ToolChoice = Literal["auto", "none"]

MAX_PRIORITY = 1000
"""Highest priority of a speech; the lowest is the same below zero."""


class SpeechRequests:
    """Requests for speeches of one session, and the handles that follow them."""

    def __init__(self, agent: AgentContext, call: Callable[[Any, SpeechHandle], None]) -> None:
        """`call(callback, handle)` calls the author's code."""
        self._agent = agent
        self.handles = SpeechHandles(agent.host.speeches, agent.bus, self._interrupt, call, agent.transcript)

    def request(
        self,
        user_input: str,
        instructions: str,
        *,
        tool_choice: ToolChoice,
        allow_interruptions: bool | None,
        priority: int | str,
    ) -> SpeechHandle:
        """Have the model speak as soon as the floor is free; return a handle of it.

        Raises `AgentError` as `AgentSession.generate_reply` describes.
        """
        if user_input:
            check_text(user_input, "What the user says", field="user_input")
        if instructions:
            check_text(instructions, "Instructions", field="instructions")
        tool_choice = as_choice(tool_choice, ("auto", "none"))
        if tool_choice not in ("auto", "none"):
            raise AgentError(
                f"tool_choice cannot be {tool_choice!r:.60}: the Live API cannot make a model call a tool",
                remedy='Use "auto" or "none"',
                field="tool_choice",
                value=tool_choice,
            )
        priority = as_member(SpeechPriority, priority)
        if not (is_number(priority) and abs(priority) <= MAX_PRIORITY):
            raise AgentError(
                f"priority cannot be {priority!r:.60}",
                remedy="Use SpeechPriority.LOW, NORMAL or HIGH",
                field="priority",
                value=priority,
            )
        agent = self._agent
        agent.answers.check()
        speeches = agent.host.speeches
        speech = speeches.new("reply", "generate_reply")
        speech.user_input, speech.instructions = user_input, instructions
        speech.uses_tools = tool_choice == "auto"
        if allow_interruptions is not None:
            speech.allow_interruptions = bool(allow_interruptions)
        speech.priority = int(priority)
        if agent.host.is_over and busy_hook.get() == "on_exit":
            # Who hangs up wants no last words, and an agent's code is not at fault for them.
            speech.status = "dropped"
            return self.handles.of(speech)
        # What keeps one speech waiting keeps all of them: its end asks the rules.
        is_alone = not speeches.has_waiting
        speeches.add(speech)
        handle = self.handles.of(speech)
        agent.emit(speech.event())
        if is_alone or agent.plan.definition.rules:
            agent.react(PromptArmed())
        return handle

    def interrupt(self, *, force: bool) -> asyncio.Future[None]:
        """Stop the present speech and drop what waits; return a future of that.

        Raises `AgentError` when the one that is going on may not be interrupted, unless `force`.
        """
        current, waiting = self.handles.current, self.handles.waiting
        handles = [] if current is None else [current]
        if current is not None:
            current.check_interruptible(force=force)
        # First: the end of the present one lets the next begin.
        for speech in self._agent.host.speeches.drop_until_protected():
            handles += [handle for handle in waiting if handle.id == speech.id]
            self._agent.emit(speech.event())
        if current is not None:
            current.interrupt(force=force)

        async def wait() -> None:
            for handle in handles:
                await handle

        stopped = asyncio.ensure_future(wait())
        # In a tool of that speech it fails, which concerns only code that awaits it.
        stopped.add_done_callback(lambda future: future.cancelled() or future.exception())
        return stopped

    def _interrupt(self, speech: Speech, force: bool) -> None:
        agent, speeches = self._agent, self._agent.host.speeches
        if speeches.drop(speech):
            agent.emit(speech.event())
        elif speech.status == "asked":
            agent.host.cancel(speech)
        else:
            agent.host.interrupt()
