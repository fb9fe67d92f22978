"""Let agents say and do what is left to them before another one takes over.

An agent gives the speeches that were asked for before the hand-off, and those that its `on_exit` asks for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.awaited_tasks import SpokenBefore
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.core.speech_queue import Speech
    from gemini_live_runtime.session.definition.plan import SessionPlan


class LeaveTaking:
    """Ends of the agents of one session: their last words, and `on_exit` once."""

    def __init__(self, agent: AgentContext, leave: Callable[[SessionPlan], Awaitable[None]]) -> None:
        """`leave(plan)` runs `on_exit`."""
        self._agent = agent
        self._leave = leave
        self._owed: set[Speech] = set()
        """Speeches that the present agent is to give before another one takes over."""
        self._left: list[SpokenBefore | None] = []
        """Agents whose `on_exit` has run, while no other is in place yet; None is the present one."""

    def note_owed(self) -> None:
        """Note what was asked for so far; later speeches wait for the other agent."""
        self._owed = self._asked_for()

    @property
    def owes_speech(self) -> bool:
        """True while a speech is to come that the present agent gives."""
        # Where the link was given up, none comes.
        return not self._agent.host.is_given_up and not all(speech.is_over for speech in self._owed)

    def _asked_for(self) -> set[Speech]:
        """Return the prompts, and the replies that were asked for, that are not over."""
        speeches = self._agent.host.speeches
        current = () if speeches.current is None else (speeches.current,)
        # Notifications and questions of consent are the session's, not an agent's.
        return {speech for speech in (*speeches.waiting, *current) if speech.source in ("reply", "prompt")}

    async def leave(self, *agents: SpokenBefore | None) -> None:
        """Run `on_exit` where it has yet to run; None is the present agent."""
        before = self._asked_for()
        for plan in self.leaving(*agents):
            await self._leave(plan)
        self._owed |= self._asked_for() - before

    def leaving(self, *agents: SpokenBefore | None) -> Iterator[SessionPlan]:
        """Iterate over the plans of those of `agents` whose `on_exit` has yet to run.

        None is the present agent. Each is given once, until another agent is in place.
        """
        for one in agents:
            if not any(one is left for left in self._left):
                self._left.append(one)
                yield self._agent.plan if one is None else one.plan

    def on_taken_over(self) -> None:
        """Note that another agent is in place."""
        self._owed, self._left = set(), []
