"""Carry out the commands that concern the session itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import (
    MAX_TEXT,
    ClearTurn,
    CommitTurn,
    Connect,
    Order,
    SendText,
    SetOptions,
    SetVoice,
    Sleep,
)
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.control.command_router import CommandRouter
from gemini_live_runtime.session.core.effects import Effect

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.session.core.core import SessionCore
    from gemini_live_runtime.session.io.connections import ConnectionManager
    from gemini_live_runtime.session.io.dormancy import Dormancy
    from gemini_live_runtime.session.io.user_turns import UserTurns
    from gemini_live_runtime.session.orchestrator import Orchestrator
    from gemini_live_runtime.session.ports.event_bus import EventBus

NOT_ON_DISK = "A message was sent before the disk had it: should the program end now, it may not know of it."

CoreHandler = Callable[[float, Any, str], list[Effect]]
"""Core's part of a command: it gets the time, the order and the command's id."""


class SessionCommands:
    """Commands to the core, the connection and the user's turns."""

    def __init__(
        self,
        core: SessionCore,
        orchestrator: Orchestrator,
        connections: ConnectionManager,
        dormancy: Dormancy,
        turns: UserTurns,
        bus: EventBus,
        clock: Clock,
        *,
        perform: Callable[[list[Effect]], None],
    ) -> None:
        self._core = core
        self._orchestrator = orchestrator
        self._connections = connections
        self._dormancy = dormancy
        self._turns = turns
        self._bus = bus
        self._clock = clock
        self._perform = perform

    def make_router(self) -> CommandRouter:
        """Return a router for these commands and those of the orchestrator."""
        router = CommandRouter(self._bus, self._core.is_over)
        for kind, handler in self._core.commands.handlers().items():
            if kind is SendText:
                router.register(SendText, partial(self._send_text, handler))
            else:
                router.register(kind, self._through_core(handler))
        router.register(SetOptions, self._set_options)
        router.register(SetVoice, self._set_voice)
        router.register(CommitTurn, self._turns.commit)
        router.register(ClearTurn, self._turns.clear)
        router.register(Connect, self._connect)
        router.register(Sleep, self._sleep)
        self._orchestrator.register(router)
        return router

    def _through_core(self, handler: CoreHandler) -> Callable[[Order, str], None]:
        def carry_out(order: Order, command_id: str) -> None:
            self._perform(handler(self._clock.now(), order, command_id))

        return carry_out

    async def _send_text(self, handler: CoreHandler, order: SendText, command_id: str) -> None:
        """Send a typed text once the disk has it, so that no death of ours loses it."""
        self._orchestrator.agent.input_times.on_typed(command_id)
        if order.text.strip() and len(order.text) <= MAX_TEXT:
            self._bus.emit(ev.SendIntended(kind="text", ref=command_id, text=order.text))
            if not await self._bus.written():
                self._bus.emit(ev.Notice(level="warning", code="not-on-disk", text=NOT_ON_DISK))
        self._perform(handler(self._clock.now(), order, command_id))

    def _set_options(self, order: SetOptions, command_id: str) -> None:
        detection = self._core.turn_detection
        plans = (self._orchestrator.agent.plan, *(before.plan for before in self._orchestrator.handoff.paused))
        needs_own_turns = next((plan.needs_own_turns for plan in plans if plan.needs_own_turns), "")
        self._perform(detection.accept(self._clock.now(), order, needs_own_turns))
        if detection.is_due:
            self._perform(detection.leave(self._clock.now()))
            self._perform(detection.take(self._clock.now()))

    def _set_voice(self, order: SetVoice, command_id: str) -> None:
        state = self._core.state
        voice = order.voice.strip()
        if state.turn_options.fixed:
            raise AgentError(
                f"The voice cannot change in this session: {state.turn_options.fixed}", field="voice", value=voice
            )
        if voice == state.voice:
            return
        state.voice = voice
        self._bus.emit(ev.VoiceChanged(voice=voice))
        if state.link.has_adapter:
            self._connections.departure.renew()

    def _connect(self, order: Connect, command_id: str) -> None:
        self._connections.connect()

    def _sleep(self, order: Sleep, command_id: str) -> None:
        if not self._dormancy.sleep():
            raise GeminiLiveError("There is no connection to close, or the agent is held", field="session.sleep")
