"""Telling the model where the conversation stands: what `Steering` decides goes out here, or waits for its moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.instructions import render_modifiers
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
from gemini_live_runtime.session.agent.callback_runner import CallbackRunner
from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.session.io.wire_writer import WireWriter
from gemini_live_runtime.session.outbound.context_queue import PendingContext
from gemini_live_runtime.session.ports.messages import ContextNote
from gemini_live_runtime.session.rules.effects import SendContext, UpdateInstruction
from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
from gemini_live_runtime.state.store import State

Moment = Literal["connected", "turn", "tool", "between"]
"""When something is to be told: `tool` is while the model waits for an answer, where nothing may be put in between."""


class SteeringRunner:
    """Keeps the model's instruction and context in step with the agent's mind. Steps of the control lane."""

    def __init__(
        self,
        definition: Definition,
        state: State,
        director: PhaseRunner | None,
        callbacks: CallbackRunner,
        code: UserCode,
        writer: WireWriter,
        executor: LiveEffectExecutor,
        pending: PendingContext,
        *,
        emit: Callable[[ev.Payload], None],
        reconnect: Callable[[], None],
        prompt_armed: Callable[[], None],
    ) -> None:
        """`reconnect` makes a new connection with the new instruction, for models that take it no other way."""
        # Where context does not travel by itself, all that holds for now is part of the instruction.
        self.steering = Steering(definition.steering if writer.held is None else SteeringMode.INSTRUCTION_UPDATE)
        self._definition = definition
        self._state = state
        self._director = director
        self._callbacks = callbacks
        self._code = code
        self._writer = writer
        self._executor = executor
        self._pending = pending
        self._emit = emit
        self._reconnect = reconnect
        self._prompt_armed = prompt_armed
        self._unsaid: list[str] = []
        self._prompt_owed = False
        self._amendment: str | None = None
        self._template: str | None = None

    @property
    def immediate(self) -> bool:
        """Whether context goes out at once."""
        return self._definition.context_delivery is ContextDelivery.IMMEDIATE

    def replace_base(self, text: str) -> None:
        """The agent's own instruction is `text` from now on."""
        self._definition = replace(self._definition, instruction=text)

    def redefine(self, definition: Definition) -> None:
        """The agent's instruction and what is added to it are others from now on."""
        self._definition = definition

    async def setup_instruction(self) -> str:
        """The instruction that a connection begins with."""
        return self.steering.instruction_for(await self._input())

    def instruction_for_setup(self) -> str:
        """The same without asking callbacks again: what they said last stands. Called for each connection."""
        if self._writer.held is not None and self._unsaid:
            self._writer.send_context(self._unsaid, reason="phase entered")
            self._unsaid.clear()
        return self.steering.instruction_for(self._as_it_stands())

    def connected(self, instruction: str, *, resumed: bool) -> None:
        """A connection carries `instruction`; the server knows what it was told before only when it resumed."""
        if not resumed:
            self.steering.forget()
        self.steering.confirm_setup(instruction)

    def entered(self, result: TransitionResult) -> None:
        """A phase was entered: what it says then is part of the next setup where it does not travel by itself."""
        if self._writer.held is not None:
            self._unsaid += result.context

    async def steer(self, moment: Moment, result: TransitionResult | None = None, *, nudge: str = "") -> None:
        """Tell the model what has changed."""
        now = await self._input(result, nudge)
        output = self.steering.decide(now)
        if not output and not self._unsaid and not self._prompt_owed:
            self.steering.confirm(output)
            return
        if not self._writer.live or (output.instruction is not None and not self._instruct(output, moment)):
            # Nothing is confirmed, so it is decided again next time; what a phase says on entering is said only once.
            self._unsaid += [line for line in now.on_enter if line not in self._unsaid]
            self._prompt_owed = self._prompt_owed or now.prompt
            return
        self._tell(output, moment)

    def _tell(self, output: SteeringOutput, moment: Moment) -> None:
        context = (*self._unsaid, *output.context)
        self._unsaid.clear()
        reason = "; ".join(output.reasons)
        prompt = output.prompt or self._prompt_owed
        held = moment == "tool" or not self.immediate
        if context and self._writer.held is not None:
            self._hold(context, reason, moment, prompt=prompt)
        elif context and held:
            self._pending.extend(ContextNote(text, reason=reason) for text in context)
            self._emit(ev.ContextSent(texts=context, reasons=output.reasons, queued=True))
        elif context:
            try:
                self._executor.perform(SendContext(context, reason))
            except GeminiLiveError as error:
                self._pending.extend(ContextNote(text, reason=reason) for text in context)
                text = f"The model could not be given context: {error.message}"
                self._emit(ev.Notice(level="warning", code="steering", text=text))
        self.steering.confirm(output)
        self._prompt_owed = False
        if prompt and moment != "tool":
            # While the model waits for a tool's answer, that answer makes it speak.
            self.arm_prompt(reason or "asked to speak")

    def _hold(self, context: tuple[str, ...], reason: str, moment: Moment, *, prompt: bool) -> None:
        if moment == "tool":
            # A new connection now would lose the call.
            self._unsaid += context
            return
        self._writer.send_context(context, reason=reason)
        if not prompt:
            # Nobody knows when a text comes that it can go along with: who speaks does not type.
            self._reconnect()

    def arm_prompt(self, reason: str) -> None:
        """Have the model speak as soon as nobody else does."""
        self._pending.arm_prompt()
        self._emit(ev.PromptChanged(state="armed", reason=reason))
        self._prompt_armed()

    def _instruct(self, output: SteeringOutput, moment: Moment) -> bool:
        """Replace the instruction; False when that has to wait, so that nothing else is said before it."""
        assert output.instruction is not None
        route = self._writer.route
        if moment == "tool" and route != "context_update":
            return False
        if route == "reconnect":
            self._reconnect()
            return False
        try:
            self._executor.perform(UpdateInstruction(output.instruction, "; ".join(output.reasons)))
        except GeminiLiveError as error:
            text = f"The instruction could not be updated: {error.message}"
            self._emit(ev.Notice(level="warning", code="steering", text=text))
            return False
        return True

    async def _input(self, result: TransitionResult | None = None, nudge: str = "") -> SteeringInput:
        self._template = await self._callbacks.instruction_template(self._state)
        self._amendment = await self._callbacks.instruction_amendment(self._state)
        return self._as_it_stands(result, nudge)

    def _as_it_stands(self, result: TransitionResult | None = None, nudge: str = "") -> SteeringInput:
        definition, director = self._definition, self._director
        modifiers = definition.phase_defaults
        tools = None
        phase = ""
        if director is not None:
            current = director.machine.current_phase
            modifiers = (*modifiers, *current.modifiers)
            tools = current.tools if definition.tool_advisory else None
            phase = director.instruction()
        rendered = render_modifiers(modifiers, self._state)
        for fault in rendered.faults:
            text = f"A modifier was left out: {fault.error}"
            self._code.failed("modifier", "", fault.error, text, defined_at=fault.defined_at)
        apart = self._writer.held is None
        advised = () if tools is None else (tool_advisory(tools),)
        return SteeringInput(
            base=definition.instruction,
            phase=phase,
            modifiers=rendered.texts if apart else (*rendered.texts, *advised),
            amendment=self._amendment,
            template=self._template,
            transitioned=result is not None,
            tools=tools if apart else None,
            nudge=nudge,
            on_enter=result.context if result is not None and apart else (),
            prompt=result.prompt if result is not None else False,
        )
