"""Route each command to the one part that carries it out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, Order
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.ports.event_bus import EventBus

OrderT = TypeVar("OrderT", bound=Order)

Handler = Callable[[OrderT, str], Awaitable[None] | None]
"""Carries out an order; the second argument is the command's id. Raises `GeminiLiveError` to refuse it."""


class CommandRouter:
    """Registry of a session's commands."""

    def __init__(self, bus: EventBus, is_over: Callable[[], bool]) -> None:
        """`is_over` returns True once the session has ended and takes no more commands."""
        self._bus = bus
        self._is_over = is_over
        self._handlers: dict[type[Order], Handler[Any]] = {}
        self._refusals: dict[str, str] = {}
        """Reasons of refusals by the id of a command that is being carried out."""
        bus.subscribe(self._on_refused, ev.CommandRefused)

    def register(self, kind: type[OrderT], handler: Handler[OrderT]) -> None:
        """Let `handler` carry out orders of this kind."""
        self._handlers[kind] = handler

    async def dispatch(self, command: Command) -> str:
        """Carry out a command; return why it was refused, or "".

        A refusal is published too; nothing is raised for it.
        """
        order = command.order
        handler = self._handlers.get(type(order))
        self._refusals[command.id] = ""
        try:
            if self._is_over():
                self._refuse(command, "The session is over")
            elif handler is None:
                self._refuse(command, f"This session cannot do {order.command}")
            else:
                pending = handler(order, command.id)
                if pending is not None:
                    await pending
        except GeminiLiveError as error:
            self._refuse(command, redactor.text(str(error)))
        finally:
            refusal = self._refusals.pop(command.id, "")
        return refusal

    def _refuse(self, command: Command, reason: str) -> None:
        self._bus.emit(ev.CommandRefused(command_id=command.id, command=command.order.command, reason=reason))

    def _on_refused(self, event: ev.Event) -> None:
        # The core refuses by an event of its own, in its place among the other effects.
        refused = event.payload
        if isinstance(refused, ev.CommandRefused) and refused.command_id in self._refusals:
            self._refusals[refused.command_id] = refused.reason
