"""Collect the actions of simulated sessions with the states that allow them."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import GeminiLiveError

if TYPE_CHECKING:
    from tests.simulation.world import World

Perform = Callable[["World", random.Random], Awaitable[None]]

ANY = ("open", "pending", "none")
OPEN = ("open",)
PENDING = ("pending",)


@dataclass(frozen=True, slots=True)
class Action:
    """`needs`: states of the wire (`open`, `pending`, `none`) in which it can happen."""

    name: str
    needs: tuple[str, ...]
    perform: Perform
    weights: dict[str, float]

    def fits(self, wire: str) -> bool:
        return wire in self.needs

    def weight(self, wire: str) -> float:
        return self.weights.get(wire, 1.0)


class ActionTable(dict[str, Action]):
    """Actions by their names, in the order of their definition."""

    def when(self, *needs: str, **weights: float) -> Callable[[Perform], Perform]:
        """Add the function below, under its name, as an action for these states."""

        def add(perform: Perform) -> Perform:
            name = perform.__name__.strip("_")
            self[name] = Action(name, needs, perform, weights)
            return perform

        return add


@contextlib.contextmanager
def refused_when_over(world: World) -> Iterator[None]:
    """Let the handle refuse what is done after the session's end."""
    try:
        yield
    except GeminiLiveError:
        if not world.is_over:
            raise
