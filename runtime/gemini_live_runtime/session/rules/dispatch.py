"""Letting the reactor's rules answer what happens, at once, and keeping them from answering each other for ever."""

from __future__ import annotations

from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.agent.faults import RULE
from gemini_live_runtime.session.io.wire_writer import WireWriter
from gemini_live_runtime.session.ports.host import SessionHost
from gemini_live_runtime.session.rules.effects import (
    PromptModel,
    Reaction,
    SendContext,
    SignalUserActivityEnd,
    SignalUserActivityStart,
    TransitionPhase,
    UpdateInstruction,
)
from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
from gemini_live_runtime.session.rules.reactor import Live, LiveReactor, ReactorEvent
from gemini_live_runtime.state.store import State

MAX_REACTIONS = 4
"""Reactions inside of reactions after which the rules are not asked any more about what they have set off."""

AT_ONCE = (PromptModel, SignalUserActivityStart, SignalUserActivityEnd)
"""Effects that mean nothing while there is no connection."""

TOLD = (SendContext, UpdateInstruction, TransitionPhase)
"""Effects of rules that are told as reactions; the others tell of themselves, or happen all the time."""


class RuleDispatcher:
    """Asks the rules of one session and has their effects performed."""

    def __init__(
        self,
        reactor: LiveReactor,
        executor: LiveEffectExecutor,
        writer: WireWriter,
        body: SessionHost,
        state: State,
        clock: Clock,
        *,
        instruct: Callable[[str], None],
    ) -> None:
        """`instruct` replaces the agent's own instruction: what a rule wants there has to outlast the turn."""
        self.reactor = reactor
        self.executor = executor
        self._writer = writer
        self._body = body
        self._state = state
        self._clock = clock
        self._instruct = instruct
        self._depth = 0
        self._runaway = False

    def react(self, event: ReactorEvent) -> None:
        """Let the rules answer something, at once."""
        if isinstance(event, Live) and isinstance(event.event, ev.CodeFailed) and event.event.where == RULE:
            # A rule that fails at everything would fail at its own failure, for ever.
            return
        if self._depth >= MAX_REACTIONS:
            self._run_away()
            return
        self._depth += 1
        try:
            self._perform(event)
        finally:
            self._depth -= 1
            self._runaway = self._runaway and self._depth > 0

    def _run_away(self) -> None:
        if not self._runaway:
            self._runaway = True
            text = f"Reactor rules set each other off {MAX_REACTIONS} times in a row; they are not asked further"
            self._body.emit(ev.Notice(level="warning", code="reactor", text=text, remedy="Let one of them answer less"))

    def _perform(self, event: ReactorEvent) -> None:
        asked = self.reactor.react(event, now=self._clock.now(), state=self._state)
        reactions = [reaction for reaction in asked if self._has_its_moment(reaction)]
        if reactions:
            for reaction in reactions:
                if isinstance(reaction.effect, UpdateInstruction):
                    self._instruct(reaction.effect.text)
            self.executor.perform_reactions(r for r in reactions if not isinstance(r.effect, UpdateInstruction))
            for reaction in reactions:
                if isinstance(reaction.effect, TOLD):
                    effect = type(reaction.effect).__name__
                    self._body.emit(ev.ReactionPerformed(rule=reaction.source, effect=effect))

    def _has_its_moment(self, reaction: Reaction) -> bool:
        if not self._writer.live:
            # A prompt waits for the connection to be there again; what was being said ended with the old one.
            return not isinstance(reaction.effect, AT_ONCE)
        # A prompt now would cut off an answer that is owed, or that is still to be heard. Its end is the moment.
        return not (isinstance(reaction.effect, PromptModel) and (self._body.owes_answer or self._body.sounding))
