"""Know the tasks that the author's code awaits, and the agents that wait for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.session.definition.plan import SessionPlan


@record
class SpokenBefore:
    """Agent that has handed over."""

    plan: SessionPlan
    phases: Mapping[str, Any] | None = None
    """Its phases as they were, for one that goes on later."""
    own_plan: SessionPlan | None = None
    """Plan of its object then; None for an agent without one."""

    @property
    def newest_plan(self) -> SessionPlan:
        """Plan to go on with: that of its object, if that was updated meanwhile."""
        now = own_plan(self.plan)
        return self.plan if now is None or now is self.own_plan else now


def own_plan(plan: SessionPlan) -> SessionPlan | None:
    """Return the plan of the agent's object as it is now; None without an object."""
    owner = plan.definition.owner
    return None if owner is None else owner.plan()


@dataclass(slots=True, eq=False)
class AwaitedTask:
    """Task that code awaits, until it is awaited no more."""

    plan: SessionPlan
    fail: Callable[[str], None]
    """Called with the problem when the task cannot end by itself any more."""
    place: object
    """Tool or hook whose code awaits it."""
    is_place_open: Callable[[], bool]
    is_called: bool
    """True in a tool, whose answer the model waits for."""
    before: SpokenBefore | None = None
    """Agent that waits; None until the task speaks."""
    is_given_up: bool = False
    """True when it is awaited no more, while another task speaks in its place."""


class AwaitedTasks:
    """Awaited tasks of one session."""

    def __init__(self) -> None:
        self._awaited: list[AwaitedTask] = []
        self._speaking: list[AwaitedTask] = []
        """Tasks that have begun, each awaited by the agent before it; the last one speaks."""

    @property
    def waiting_places(self) -> int:
        """Number of running tools and hooks that wait for a task."""
        return len({id(task.place) for task in self._awaited if task.is_place_open()})

    @property
    def paused(self) -> tuple[SpokenBefore, ...]:
        """Agents that wait, the first one first."""
        return tuple(task.before for task in self._speaking if task.before is not None)

    def add(self, task: AwaitedTask) -> None:
        """Note that a task is awaited."""
        self._awaited.append(task)

    def begin(self, task: AwaitedTask, before: SpokenBefore) -> None:
        """Note that a task speaks in place of `before`."""
        task.before = before
        self._speaking.append(task)

    def end(self, task: AwaitedTask) -> SpokenBefore | None:
        """Note that a task is awaited no more; return the agent that is to go on.

        None for a task that has not begun, or does not speak.
        """
        self._awaited.remove(task)
        if task not in self._speaking:
            return None
        if self._speaking[-1] is not task:
            task.is_given_up = True
            return None
        before = self._speaking.pop().before
        while self._speaking and self._speaking[-1].is_given_up:
            before = self._speaking.pop().before
        return before

    def replace(self, problem: str) -> None:
        """Fail the tasks that speak or wait for one: another agent has taken over."""
        speaking, self._speaking = self._speaking, []
        for task in reversed(speaking):
            if not task.is_given_up:
                task.fail(problem)

    def fail_all(self, problem: str) -> int:
        """Fail all tasks; return their number."""
        awaited = list(self._awaited)
        for task in awaited:
            task.fail(problem)
        return len(awaited)
