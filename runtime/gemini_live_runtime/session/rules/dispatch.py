"""Ask the reactor's rules about each event and perform their effects, at once.

Rules may set each other off: an effect publishes an event that another rule answers. The depth of that is bounded, and
rules are never asked about the failure of a rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import cast

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.outbound.wire_writer import WireWriter
from gemini_live_runtime.session.rules.effects import (
    EmitEvent,
    PromptModel,
    Reaction,
    SendContext,
    SignalUserActivityEnd,
    SignalUserActivityStart,
    TransitionPhase,
    UpdateInstruction,
)
from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
from gemini_live_runtime.session.rules.reactor import RULE_FAULT, VOICE_RULES, Live, LiveReactor, ReactorEvent
from gemini_live_runtime.state.store import State

MAX_DEPTH = 4
"""Reactions inside of reactions after which the rules are not asked about what they have set off."""

MAX_PER_TURN = 100
"""Contexts, instructions, phases and activity marks that a rule may ask for in a turn; beyond, it answers itself."""

MAX_EVENTS_PER_TURN = 1000
"""Events that a rule may emit in a turn; they are its answers to more than the turn itself."""

NEEDS_CONNECTION = (PromptModel, SignalUserActivityStart, SignalUserActivityEnd)
"""Effects that mean nothing without a connection."""

REPORTED = (SendContext, UpdateInstruction, TransitionPhase)
"""Effects that are published as reactions; the others publish events of their own, or happen all the time."""


BOUNDED = (*REPORTED, EmitEvent, SignalUserActivityStart, SignalUserActivityEnd)
"""Effects of which a rule of the agent has only so many in a turn."""


class RuleDispatcher:
    """Rules of one session at work."""

    def __init__(
        self,
        reactor: LiveReactor,
        executor: LiveEffectExecutor,
        writer: WireWriter,
        state: State,
        clock: Clock,
        *,
        emit: Callable[[ev.Payload], None],
        is_floor_taken: Callable[[], bool],
        on_prompt_withheld: Callable[[], None],
        replace_instruction: Callable[[str], None],
    ) -> None:
        """`on_prompt_withheld` is called for a prompt that would cut off an answer.

        `replace_instruction` replaces the agent's own, which outlasts the turn.
        """
        self.reactor = reactor
        self._executor = executor
        self._writer = writer
        self._state = cast("State", state.read_only())
        self._clock = clock
        self._emit = emit
        self._is_floor_taken = is_floor_taken
        self._on_prompt_withheld = on_prompt_withheld
        self._replace_instruction = replace_instruction
        self._depth = 0
        self._reported_depth = False
        self._counted_turn = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        """Bounded effects and events of each rule in the counted turn."""

    def react(self, event: ReactorEvent) -> None:
        """Let the rules answer an event, at once."""
        if isinstance(event, Live) and isinstance(event.event, ev.CodeFailed) and event.event.where == RULE_FAULT:
            # A rule that fails at everything would fail at its own failure, without end.
            return
        if self._depth >= MAX_DEPTH:
            self._report_depth()
            return
        self._depth += 1
        try:
            self._perform(event)
        finally:
            self._depth -= 1
            self._reported_depth = self._reported_depth and self._depth > 0

    def _report_depth(self) -> None:
        if not self._reported_depth:
            self._reported_depth = True
            text = f"Reactor rules set each other off {MAX_DEPTH} times in a row; they are not asked further"
            self._emit(ev.Notice(level="warning", code="reactor", text=text, remedy="Let one of them answer less"))

    def _perform(self, event: ReactorEvent) -> None:
        asked = self.reactor.react(event, now=self._clock.now(), state=self._state)
        reactions = [reaction for reaction in asked if self._is_possible(reaction) and not self._is_surplus(reaction)]
        if not reactions:
            return
        for reaction in reactions:
            if isinstance(reaction.effect, UpdateInstruction):
                self._replace_instruction(reaction.effect.text)
        self._executor.perform_reactions(r for r in reactions if not isinstance(r.effect, UpdateInstruction))
        for reaction in reactions:
            if isinstance(reaction.effect, REPORTED):
                effect = type(reaction.effect).__name__
                self._emit(ev.ReactionPerformed(rule=reaction.source, effect=effect))

    def _is_surplus(self, reaction: Reaction) -> bool:
        """Count the effect; return True when its rule has asked for too many in this turn."""
        if not isinstance(reaction.effect, BOUNDED) or reaction.source in VOICE_RULES:
            return False
        is_event = isinstance(reaction.effect, EmitEvent)
        limit, kind = (MAX_EVENTS_PER_TURN, "events") if is_event else (MAX_PER_TURN, "effects")
        if self._state.turn_number != self._counted_turn:
            self._counted_turn = self._state.turn_number
            self._counts.clear()
        rule = reaction.source
        self._counts[rule, kind] += 1
        if self._counts[rule, kind] == limit + 1:
            text = f"The rule {rule} asked for {limit} {kind} in a turn; the rest of the turn does without it"
            self._emit(ev.Notice(level="warning", code="reactor", text=text, remedy="Let it answer fewer events"))
        return self._counts[rule, kind] > limit

    def _is_possible(self, reaction: Reaction) -> bool:
        if not self._writer.live:
            # An armed prompt waits for the next connection; what was being said ended with the old one.
            return not isinstance(reaction.effect, NEEDS_CONNECTION)
        if isinstance(reaction.effect, PromptModel) and self._is_floor_taken():
            # It would cut off an answer that is owed or still to be heard.
            self._on_prompt_withheld()
            return False
        return True
