"""Who carries out which of the operator's orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, Order
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import redactor

OrderT = TypeVar("OrderT", bound=Order)


class CommandRouter:
    """Hands each order to the one that took it on; what that raises is the refusal's reason."""

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._takers: dict[type[Order], Callable[[Any, str], None]] = {}

    def take(self, kind: type[OrderT], carry_out: Callable[[OrderT, str], None]) -> None:
        """`carry_out(order, command_id)` does orders of a kind; it raises `GeminiLiveError` for one it refuses."""
        self._takers[kind] = carry_out

    def carry_out(self, command: Command) -> bool:
        """Do it, or refuse it; False when nobody took on orders of its kind."""
        order = command.order
        taker = self._takers.get(type(order))
        if taker is None:
            return False
        try:
            taker(order, command.id)
        except GeminiLiveError as error:
            reason = redactor.text(str(error))
            self._emit(ev.CommandRefused(command_id=command.id, command=order.command, reason=reason))
        return True
