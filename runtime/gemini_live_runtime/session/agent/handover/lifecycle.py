"""Begin and end agents: context for the model, greeting, `on_enter`, `on_exit`.

Each connection begins with this: its model gets what the server does not know of the conversation, and what the phase
and the agent have to say. An agent that takes over begins in the same way, with another connection or without.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.outbound.context_queue import PROGRAM
from gemini_live_runtime.session.ports.messages import ContextNote
from gemini_live_runtime.session.rules.reactor import PromptArmed
from gemini_live_runtime.state.mutations import Origin

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transitions import TransitionResult
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
    from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
    from gemini_live_runtime.session.agent.steering.steering_runner import SteeringRunner
    from gemini_live_runtime.session.agent.turn_pipeline import TurnPipeline
    from gemini_live_runtime.session.agent.user_code import UserCode
    from gemini_live_runtime.session.debugger.pause_gate import PauseGate
    from gemini_live_runtime.session.definition.plan import SessionPlan

RECALLED = 20
"""Turns that a fresh server session gets after a loss."""

RETOLD = 20
"""Texts of the program's context that a server gets again which does not know them."""

BusyHook = Literal["", "on_exit", "on_user_turn_completed"]

busy_hook: ContextVar[BusyHook] = ContextVar("busy_hook", default="")
"""Hook that runs, and for whose end the conversation waits; "" in other code.

`on_exit` may ask for last words, also in a session that takes nothing more.
"""


class AgentLifecycle:
    """Beginnings and ends of the agents of one session."""

    def __init__(
        self,
        agent: AgentContext,
        *,
        steering: SteeringRunner,
        pipeline: TurnPipeline,
        callbacks: CallbackRunner,
        code: UserCode,
        gate: PauseGate,
    ) -> None:
        self._agent = agent
        self._steering = steering
        self._pipeline = pipeline
        self._callbacks = callbacks
        self._code = code
        self._gate = gate
        self.spawn_hook: Callable[[str, Callable[..., Any], Origin], None] = self._spawn_hook
        """Starts a hook that may take its time; the live session makes it know its place."""
        self.session: object = None
        """`AgentSession` that hooks get; the live session sets it."""
        self.handle: object = None
        """`LiveHandle` that `on_connected` listeners get; the live session sets it."""
        self._started: TransitionResult | None = None
        self._told: deque[tuple[int, str]] = deque(maxlen=RETOLD)
        """Context that the program has given, with the link's marks."""
        self._is_resumed = False
        """True when the present connection resumed the server's session."""
        self._is_recalled = False
        """True when its model knows the rest of the conversation."""
        self._recall_notes: list[ContextNote] = []
        """Notes about earlier connections for the model of the newest one, sent or waiting."""
        self._is_entering = True
        """True until the agent that is in place has begun."""
        self._takes_over = False
        """True until an agent has begun that took over from another."""
        self._greeting_mark = 0
        """Link's mark of the present agent's greeting; 0 before it."""
        self._greeting_turn = 0
        """Newest turn when the agent was to greet."""
        agent.bus.subscribe(self._on_resumable, ev.ConnectionResumable)
        agent.bus.subscribe(self._on_context_sent, ev.ContextSent)

    @property
    def has_entered(self) -> bool:
        """True once the agent that is in place has begun."""
        return not self._is_entering

    async def enter_first_phase(self, phases: PhaseRunner) -> None:
        """Enter the initial phase, of which the first connection tells the model."""
        self._started = await phases.begin()
        self._pipeline.on_entered(self._started)

    def setup_text(self, instruction: str, *, resuming: bool) -> str:
        """Return `instruction` with the context that this model takes in no other way."""
        writer = self._agent.writer
        if writer.deferred is None:
            return instruction
        so_far = self._agent.so_far(RECALLED, resumed=resuming)
        return writer.deferred.with_instruction(instruction, resuming=resuming, so_far=so_far)

    def on_connected(self, instruction: str, *, resumed: bool) -> None:
        """Tell the model what it has to know, now that a connection carries `instruction`.

        `resumed`: the server knows the conversation so far.
        """
        agent = self._agent
        is_first, agent.ever_connected = not agent.ever_connected, True
        self._steering.on_connected(instruction, resumed=resumed)
        agent.emit(ev.InstructionUpdated(text=instruction, via="setup"))
        agent.writer.confirm_setup()
        started, self._started = self._started, None
        self._is_resumed, self._is_recalled = resumed, False
        if self._gate.held:
            # What the user types must not wait for a held agent, nor find a model that knows nothing.
            self._recall()
            agent.host.release()
        agent.queue.put("connected", lambda: self._greet(started, is_first, resumed))

    def _on_resumable(self, event: ev.Event) -> None:
        if getattr(event.payload, "resumable", False):
            self._steering.on_resumable()

    def _on_context_sent(self, event: ev.Event) -> None:
        sent = event.payload
        assert isinstance(sent, ev.ContextSent)
        if PROGRAM in sent.reasons and not sent.queued:
            self._told.extend((self._agent.host.mark(), text) for text in sent.texts)

    def _recall(self) -> None:
        """Tell the model what it does not know, once on each connection."""
        agent, resumed = self._agent, self._is_resumed
        # Several connections may have been made, and the last one lost, before this step was reached.
        if self._is_recalled or not agent.writer.live:
            return
        self._is_recalled = True
        so_far = "" if agent.writer.deferred is not None else agent.so_far(RECALLED, resumed=resumed)
        reason = "the server resumed an earlier state" if resumed else "the connection was not resumed"
        notes = [ContextNote(so_far, reason=reason)] if so_far else []
        # What still waits for its moment is told anew, or goes on waiting.
        waiting = [note for note in self._recall_notes if agent.context_queue.holds((note,))]
        agent.context_queue.withdraw(waiting)
        notes += [note for note in waiting if note.reason == PROGRAM]
        told, knows = list(self._told), agent.host.server_knows
        # A later server may not know what this one does.
        self._told = deque((item for item in told if knows(item[0])), RETOLD)
        notes += [ContextNote(text, reason=PROGRAM) for mark, text in told if not knows(mark)]
        self._recall_notes = notes
        if notes:
            # Ahead of what waits, which is newer.
            agent.context_queue.put_back(notes)
            agent.user_writer.flush()

    async def _greet(self, started: TransitionResult | None, is_first: bool, resumed: bool) -> None:
        self._recall()
        await self._begin_speaking(started, is_due=self._is_greeting_due(is_first, resumed))
        if resumed:
            await self._callbacks.control("on_resumed")
        else:
            await self._callbacks.control("on_connected", self.handle)

    def _is_greeting_due(self, is_first: bool, resumed: bool) -> bool:
        """Return True when the agent greets on this connection.

        A server that does not know the greeting gets it again as long as no turn has begun since.
        """
        host, mark = self._agent.host, self._greeting_mark
        is_lost = mark > 0 and host.turn == self._greeting_turn and not host.server_knows(mark)
        # An agent that has just taken over greets, whatever the server knows of the one before.
        return is_lost or self._takes_over or (is_first and not resumed)

    async def leave(self, plan: SessionPlan) -> None:
        """Run what an agent does when another takes over."""
        hook = plan.definition.on_exit
        if hook is not None:
            origin = Origin("agent", plan.name, "on leaving")
            token = busy_hook.set("on_exit")
            try:
                await self._code.run(f"on_exit of {plan.name}", hook, self.session, origin=origin)
            finally:
                busy_hook.reset(token)

    async def arrive(self, entered: TransitionResult | None, in_place: bool, begins: bool) -> None:
        """Let the model and the code of the agent that is in place now begin, or go on."""
        if entered is not None:
            self._pipeline.on_entered(entered)
        self._is_entering = self._takes_over = begins
        self._greeting_mark = 0
        if in_place:
            await self._begin_speaking(entered, is_due=True)
        else:
            # The next connection does it.
            self._started = entered

    async def _begin_speaking(self, started: TransitionResult | None, *, is_due: bool) -> None:
        """Tell the model what it has to know; `is_due`: the agent greets."""
        # Who has said something meanwhile wants an answer, not a greeting.
        is_due = is_due and not (self._takes_over and self._agent.host.has_waiting_text)
        greeting = self._agent.plan.definition.greeting if is_due else ""
        if greeting:
            self._agent.host.forget_prompt()
        try:
            await self._steering.steer("connected", started, prompted=bool(greeting))
        finally:
            self._agent.host.release()
        if greeting:
            # Its prompt is that of the first phase, too: the model is to speak once.
            self._greeting_mark, self._greeting_turn = self._agent.host.mark(), self._agent.host.turn
            self._agent.context_queue.push(ContextNote(greeting, "user", "greeting"))
            allowed = self._agent.plan.definition.greeting_allow_interruptions
            self._steering.arm_prompt("greeting", allow_interruptions=allowed)
        elif self._agent.context_queue.has_prompt:
            # It was armed while there was no connection.
            self._agent.react(PromptArmed())
        entering, self._is_entering, self._takes_over = self._is_entering, False, False
        owner = self._agent.plan.definition.owner
        if owner is not None:
            owner.attach(self.session)
        hook = self._agent.plan.definition.on_enter
        if entering and hook is not None:
            name = self._agent.plan.name
            # Not a step: it may wait for what is said.
            self.spawn_hook(f"on_enter of {name}", hook, Origin("agent", name, "on entering"))
            # It begins before a step that follows may let another agent take over.
            await asyncio.sleep(0)

    def _spawn_hook(self, where: str, hook: Callable[..., Any], origin: Origin) -> None:
        self._code.spawn(where, hook, self.session, origin=origin)
