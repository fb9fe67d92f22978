"""Keep the model's instruction and context in step with the agent.

`steer` runs as a step of the task queue. What cannot be sent at its moment is not lost:

- An instruction that could not go out is decided again at the next step, since `Steering` confirms only what was sent.
- Words of a phase's entering are said only once, so they wait in `_unsent` for the next step or the next setup.
- While the model waits for a tool's answer, nothing may come between but a `contextUpdate`: the rest waits.
- In a turn the first new instruction goes out at once. Later ones wait for its end, unless the phase has changed
  or a tool's answer follows.
- What waits only because much was sent goes out, by `flush`, ahead of a typed text or a prompt.
- Context about what holds that waits in the queue has told the model nothing: each step withdraws it and decides anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.instructions import render_modifiers
from gemini_live_runtime.conversation.needs import NO_REPAIR, RepairAction
from gemini_live_runtime.conversation.steering import (
    ContextDelivery,
    Steering,
    SteeringInput,
    SteeringMode,
    SteeringOutput,
    tool_advisory,
)
from gemini_live_runtime.conversation.transitions import TransitionResult
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.session.agent.answers_in_a_row import MAX_IN_A_ROW
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
from gemini_live_runtime.session.agent.steering.queued_steering import QueuedSteering
from gemini_live_runtime.session.agent.steering.steering_pace import SendPace
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.session.rules.effects import SendContext, UpdateInstruction
from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
from gemini_live_runtime.session.rules.reactor import PromptArmed

PHASES_TOLD = 8
"""Instructions in an open turn at most: one for any change, further ones for phases and tools."""

CONTEXTS_TOLD = 20
"""Messages with context in an open turn at most; then the newest waits for its end."""

Moment = Literal["connected", "turn", "tool", "answer", "between"]
"""Occasion of steering; `tool` is while the model waits for a tool, `answer` just ahead of the tool's answer."""


class SteeringRunner:
    """Steering of one session's model."""

    def __init__(
        self,
        agent: AgentContext,
        callbacks: CallbackRunner,
        code: UserCode,
        executor: LiveEffectExecutor,
        is_held: Callable[[], bool],
    ) -> None:
        """`is_held`: the operator holds the agent, so nothing is decided."""
        # Where context does not travel by itself, everything that holds for now is part of the instruction.
        mode = agent.plan.definition.steering if agent.writer.deferred is None else SteeringMode.INSTRUCTION_UPDATE
        self._steering = Steering(mode)
        self._agent = agent
        self._callbacks = callbacks
        self._code = code
        self._executor = executor
        self._is_held = is_held
        self._at_handle: Mapping[str, Any] | None = None
        """Context that the model had got when the server gave the newest handle."""
        self._unsent: list[str] = []
        self._queued = QueuedSteering(agent.context_queue, agent.emit)
        self._nudge = NO_REPAIR
        """Newest action of the repair, until its line is sent."""
        self._prompt_owed = False
        self._is_withholding = self._is_context_withheld = False
        self._amendment: str | None = None
        self._template: str | None = None
        # Each instruction counts for both: what changes all the time leaves some for changes of phase.
        self._instructions = SendPace(burst=4, gap_s=1.0)
        self._phase_changes = SendPace(burst=PHASES_TOLD, gap_s=1.0)
        self._contexts = SendPace(burst=20, gap_s=1.0)
        self._reconnects = SendPace(burst=2, gap_s=10.0)
        self._is_reconnecting = False
        self._owes_reconnect = False
        self._timer: asyncio.TimerHandle | None = None
        agent.writer.on_instruction = self._steering.confirm_setup

    @property
    def immediate(self) -> bool:
        """True when context goes out at once."""
        return self._agent.plan.definition.context_delivery is ContextDelivery.IMMEDIATE

    @property
    def is_waiting(self) -> bool:
        """True when something will be sent a little later, after much was sent."""
        return self._timer is not None

    def close(self) -> None:
        """Send no more what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def replace_instruction(self, text: str) -> None:
        """Replace the agent's own instruction, and queue the step that tells the model."""
        agent = self._agent
        agent.plan = replace(agent.plan, definition=replace(agent.plan.definition, instruction=text))
        agent.queue.put("instruction replaced", self._steer_between)

    async def _steer_between(self) -> None:
        await self.steer("tool" if self._agent.host.awaits_tools else "between")

    async def prepare_setup(self) -> None:
        """Ask callbacks for what the first connection's instruction needs."""
        await self._input()

    def instruction_for_setup(self) -> str:
        """Return the instruction for the next connection.

        Callbacks are not asked again: their last answers count.
        """
        writer = self._agent.writer
        if writer.deferred is not None and self._unsent:
            writer.send_context(self._unsent, reason="phase entered")
            self._unsent.clear()
        return self._steering.instruction_for(self._current_input())

    def on_connected(self, instruction: str, *, resumed: bool) -> None:
        """Note that a connection carries `instruction`.

        A server that resumed knows what the model had got when it gave the handle, another one nothing else.
        """
        self._queued.withdraw()
        if resumed and self._at_handle is not None:
            self._steering.restore(self._at_handle)
        elif not resumed:
            self._steering.forget()
        if self._is_reconnecting:
            self._count(self._reconnects)
        self._is_reconnecting = self._owes_reconnect = False
        self._steering.confirm_setup(instruction)

    def on_resumable(self) -> None:
        """Note a handle of the server's, which stands for what the model has so far."""
        self._at_handle = self._told()

    def on_entered(self, result: TransitionResult) -> None:
        """Keep an entered phase's words for the next setup, where that is needed."""
        if self._agent.writer.deferred is not None:
            self._unsent += result.context

    def to_json(self) -> Mapping[str, Any]:
        """Return the context that the server's handle stands for, for a snapshot."""
        return self._told() if self._at_handle is None else self._at_handle

    def _told(self) -> dict[str, Any]:
        """Return the context that the model has got."""
        self._note_told()
        return self._steering.to_json()

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the result of `to_json`, for a server that resumes the session."""
        self._steering.restore(data)
        self._at_handle = data

    async def steer(
        self,
        moment: Moment,
        result: TransitionResult | None = None,
        *,
        nudge: RepairAction | None = None,
        prompted: bool = False,
    ) -> None:
        """Tell the model what has changed.

        `nudge` is the repair's action at the end of a user's turn. `prompted`: the caller has the model speak next, so
        a prompt of a phase is not needed.
        """
        if nudge is not None:
            self._nudge = nudge
        now = await self._input(result)
        if prompted:
            now = replace(now, prompt=False)
            self._prompt_owed = False
        output = self._steering.decide(now)
        self._is_withholding = self._is_context_withheld = False
        if not self._unsent and not self._prompt_owed and (not output or self._queued.has_all_of(output)):
            if not output:
                self._queued.withdraw()
                self._steering.confirm(output)
            if self._owes_reconnect:
                self._owes_reconnect = not self._reconnect(moment)
            return
        output = self._within_pace(output, now, moment)
        if moment == "answer":
            moment = "tool"
        if not self._agent.writer.live or not self._instruct(output, moment):
            self._is_withholding = True
            self._keep(now.on_enter)
            self._prompt_owed = self._prompt_owed or now.prompt
            return
        self._send(output, moment)

    def _note_told(self) -> None:
        """Confirm context that has left the queue: the model has got it."""
        told = self._queued.take_told()
        if told is not None:
            self._steering.confirm_context(told)
            if self._nudge.text in told.context:
                self._nudge = NO_REPAIR

    def _keep(self, lines: tuple[str, ...]) -> None:
        self._unsent += [line for line in lines if line not in self._unsent]

    # -- the pace ----------------------------------------------------------------------------------------------------

    def _within_pace(self, output: SteeringOutput, now: SteeringInput, moment: Moment) -> SteeringOutput:
        """Return the part of `output` that may be sent now.

        The rest is decided again at the next step or by `flush`, with all that has changed by then.
        """
        is_urgent = now.transitioned or moment == "answer"
        pace, limit = (self._phase_changes, PHASES_TOLD) if is_urgent else (self._instructions, 1)
        if output.instruction is not None and not self._may_send(pace, moment, limit):
            self._is_withholding = True
            output = self._steering.without_instruction(output)
        if (output.context or output.entered or self._unsent) and not self._may_send(
            self._contexts, moment, CONTEXTS_TOLD
        ):
            self._is_withholding = self._is_context_withheld = True
            self._keep(now.on_enter)
            output = self._steering.without_context(output)
        return output

    def _may_send(self, pace: SendPace, moment: Moment, limit: int) -> bool:
        """Return True when a message may be sent now.

        Otherwise the end of the turn tells it, or a timer when no turn is open.
        """
        turn = self._open_turn()
        if moment in ("turn", "connected"):
            return True
        if turn is not None:
            return pace.sent_in(turn) < limit
        wait = pace.wait_s(self._agent.clock.now())
        if wait > 0 and self._timer is None and not self._agent.closed:
            self._timer = asyncio.get_running_loop().call_later(wait, self._steer_later)
        return wait <= 0

    def flush(self) -> None:
        """Send what waits for its time, ahead of a typed text or a prompt."""
        writer = self._agent.writer
        if not self._is_withholding or self._is_held() or not writer.live or writer.route == "reconnect":
            return
        moment: Moment = "tool" if self._agent.host.awaits_tools else "between"
        output = self._steering.decide(self._current_input())
        if not self._instruct(output, moment):
            return
        self.close()
        self._is_withholding = self._is_context_withheld = False
        # The model speaks anyway.
        self._prompt_owed = False
        self._send(output, moment)
        # Callbacks may have more to say, and can only be asked in a step.
        self._agent.queue.put("steering", self._steer_between)

    def _steer_later(self) -> None:
        self._timer = None
        self._agent.queue.put("steering", self._steer_between)

    def _count(self, pace: SendPace) -> None:
        pace.count(self._open_turn(), self._agent.clock.now())

    def _open_turn(self) -> int | None:
        host = self._agent.host
        return host.turn if host.turn_open else None

    def _reconnect(self, moment: Moment) -> bool:
        """Have a new connection made, which begins with what the model has to know.

        Returns False when it has to wait.
        """
        # None in an open turn: it would end with its connection.
        may_reconnect = self._may_send(self._reconnects, moment, 0)
        if may_reconnect:
            self._is_reconnecting = True
            self._agent.host.reconnect()
        return may_reconnect

    # -- sending -----------------------------------------------------------------------------------------------------

    def _send(self, output: SteeringOutput, moment: Moment) -> None:
        agent = self._agent
        waiting: list[str] = []
        known: frozenset[str] = frozenset()
        if not self._is_context_withheld:
            waiting, self._unsent = self._unsent, []
            known = self._queued.withdraw()
        context = (*waiting, *output.context, *output.entered)
        if context:
            self._count(self._contexts)
        reason = "; ".join(output.reasons)
        prompt = output.prompt or self._prompt_owed
        is_call_open = moment == "tool" or agent.host.awaits_tools
        is_told = True
        if context and agent.writer.deferred is not None:
            is_told = self._defer((*waiting, *output.entered), output, moment, prompt=prompt)
        elif context and (is_call_open or not self.immediate):
            is_told = False
            self._queued.put(waiting, output, known)
        elif context:
            try:
                self._executor.perform(SendContext(context, reason))
            except GeminiLiveError as error:
                is_told = False
                self._queued.put(waiting, output, known)
                self._warn(f"The model could not be given context: {error.message}")
        if is_told and output.context:
            self._nudge = NO_REPAIR
        self._steering.confirm(output if is_told else self._steering.without_context(output))
        self._prompt_owed = False
        if prompt and moment != "tool":
            # A tool's answer makes the model speak by itself.
            self._prompt(reason or "asked to speak")

    def _prompt(self, reason: str) -> None:
        """Have the model speak for a phase, unless phases lead to each other without end."""
        if self._agent.answers.take():
            self.arm_prompt(reason)
            return
        text = f"The model is not asked to speak: {MAX_IN_A_ROW} answers were asked for without a word of the user"
        remedy = "Let a phase with prompt_on_enter wait for what the user says"
        self._agent.emit(ev.Notice(level="warning", code="steering", text=text, remedy=remedy))

    def _defer(self, once: tuple[str, ...], output: SteeringOutput, moment: Moment, *, prompt: bool) -> bool:
        """Have a text or a new connection carry the context; return False when it waits.

        `once` are lines of phases' entering.
        """
        if moment == "tool":
            # A new connection now would lose the call.
            self._unsent += once
            return False
        self._agent.writer.send_context((*output.context, *once), reason="; ".join(output.reasons))
        if not prompt:
            # A text for it to go along with may never come: a user who speaks does not type.
            self._owes_reconnect = not self._reconnect(moment)
        return True

    def arm_prompt(self, reason: str, *, allow_interruptions: bool | None = None) -> None:
        """Have the model speak as soon as the floor is free.

        `allow_interruptions` None is as any answer of the agent.
        """
        prompt = self._agent.context_queue.arm_prompt(reason, allow_interruptions=allow_interruptions)
        self._agent.emit(ev.PromptChanged(state="armed", reason=reason))
        if prompt is not None:
            self._agent.emit(prompt.event())
        self._agent.react(PromptArmed())

    def _instruct(self, output: SteeringOutput, moment: Moment) -> bool:
        """Send a new instruction; return False when it has to wait.

        Everything else waits with it.
        """
        if output.instruction is None:
            return True
        route = self._agent.writer.route
        if moment == "tool" and route != "context_update":
            return False
        if route == "reconnect":
            self._reconnect(moment)
            return False
        try:
            self._executor.perform(UpdateInstruction(output.instruction, "; ".join(output.reasons)))
        except GeminiLiveError as error:
            self._warn(f"The instruction could not be updated: {error.message}")
            return False
        self._count(self._instructions)
        self._count(self._phase_changes)
        return True

    def _warn(self, text: str) -> None:
        self._agent.emit(ev.Notice(level="warning", code="steering", text=text))

    async def _input(self, result: TransitionResult | None = None) -> SteeringInput:
        state = self._agent.state.read_only()
        self._template = await self._callbacks.instruction_template(state)
        self._amendment = await self._callbacks.instruction_amendment(state)
        return self._current_input(result)

    def _current_input(self, result: TransitionResult | None = None) -> SteeringInput:
        self._note_told()
        definition, phases = self._agent.plan.definition, self._agent.phases
        modifiers = definition.phase_defaults
        tools = None
        missing: tuple[str, ...] = ()
        phase = nudge = ""
        if phases is not None:
            current = phases.machine.current_phase
            modifiers = (*modifiers, *current.modifiers)
            tools = current.tools if definition.tool_advisory else None
            phase = phases.instruction()
            unmet = [need for need in current.needs if not need.is_met(self._agent.state)]
            missing = tuple(need.label for need in unmet)
            if self._nudge.kind == "nudge" and {need.key for need in unmet}.issuperset(self._nudge.keys):
                nudge = self._nudge.text
        rendered = render_modifiers(modifiers, self._agent.state)
        for fault in rendered.faults:
            text = f"A modifier was left out: {fault.error}"
            self._code.failed("modifier", "", fault.error, text, defined_at=fault.defined_at)
        # Context that travels by itself is sent apart from the instruction.
        apart = self._agent.writer.deferred is None
        advice = (*(() if tools is None else (tool_advisory(tools),)), *((nudge,) if nudge else ()))
        return SteeringInput(
            base=definition.instruction,
            phase=phase,
            modifiers=rendered.texts if apart else (*rendered.texts, *advice),
            amendment=self._amendment,
            template=self._template,
            transitioned=result is not None,
            tools=tools if apart else None,
            nudge=nudge if apart else "",
            missing=missing,
            on_enter=result.context if result is not None and apart else (),
            prompt=result.prompt if result is not None else False,
        )
