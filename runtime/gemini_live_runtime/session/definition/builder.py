"""`Live`: saying what an agent is, one call after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.conversation.needs import RepairConfig
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.errors import caller_place
from gemini_live_runtime.session.definition.callbacks import CallbackMode
from gemini_live_runtime.session.definition.definition import (
    Definition,
    DeliveryConfig,
    Handler,
    InstructionRoute,
    TurnTaking,
)

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.extraction import TurnExtractor
    from gemini_live_runtime.conversation.phases import InstructionModifier, Phase
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.persistence.stores import SessionPersistence
    from gemini_live_runtime.session.rules.reactor import ReactorRule
    from gemini_live_runtime.state.computed import ComputedVar
    from gemini_live_runtime.state.keys import StateKey
    from gemini_live_runtime.state.temporal import TemporalPattern
    from gemini_live_runtime.state.watchers import Watcher


class Live:
    """An agent in the making. Every call gives a new `Live`; the one it was called on stays as it was.

    Parts are checked when they are made; how they fit together is checked by `plan`, everything at once. `connect` does
    so before it opens anything.
    """

    __slots__ = ("definition",)

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    @classmethod
    def builder(cls, name: str) -> Live:
        """Begin an agent called `name`."""
        return cls(Definition(name=name, built_at=caller_place()))

    def _with(self, **changes: Any) -> Live:
        return Live(replace(self.definition, **changes))

    # -- what the model is told ------------------------------------------------------------------------------------

    def description(self, text: str) -> Live:
        """One sentence for people who choose between agents."""
        return self._with(description=text)

    def instruction(self, text: str) -> Live:
        """What the model is and how it behaves, in every phase."""
        return self._with(instruction=text)

    def greeting(self, prompt: str) -> Live:
        """Let the model speak first: `prompt` tells it what about."""
        return self._with(greeting=prompt)

    def model(self, name: str) -> Live:
        """The model on Google's servers."""
        return self._with(model=name)

    def local_model(self, name: str) -> Live:
        """The model on the embedded server, when it is not `local-<agent's name>`."""
        return self._with(local_model=name)

    def voice(self, name: str) -> Live:
        """The voice it speaks with."""
        return self._with(voice=name)

    def phrases(self, *texts: str) -> Live:
        """Things one can say, shown to the person."""
        return self._with(phrases=(*self.definition.phrases, *texts))

    # -- what it can do --------------------------------------------------------------------------------------------

    def tools(self, *tools: Any) -> Live:
        """Add tools: functions, or what `@tool` makes of them."""
        return self._with(tools=(*self.definition.tools, *tools))

    def background_agents(self, at_most: int) -> Live:
        """How many background agents may run at once."""
        return self._with(background_agents=at_most)

    # -- what it knows ---------------------------------------------------------------------------------------------

    def state(self, *keys: StateKey[Any], values: Mapping[str, Any] | None = None) -> Live:
        """Declare typed keys, and values that are there from the beginning."""
        known = self.definition
        return self._with(
            state_keys=(*known.state_keys, *keys), initial_state={**known.initial_state, **(values or {})}
        )

    def computed(self, *variables: ComputedVar) -> Live:
        """Add values that are computed from others."""
        return self._with(computed=(*self.definition.computed, *variables))

    def watch(self, *watchers: Watcher) -> Live:
        """Add watchers: something to do at the moment a value changes in a certain way."""
        return self._with(watchers=(*self.definition.watchers, *watchers))

    def pattern(self, *patterns: TemporalPattern) -> Live:
        """Add patterns over time: something to do when it has lasted, or happened too often."""
        return self._with(patterns=(*self.definition.patterns, *patterns))

    def extract(self, *extractors: TurnExtractor) -> Live:
        """Add extractors: what they find in the transcript becomes state."""
        return self._with(extractors=(*self.definition.extractors, *extractors))

    def text_model(self, model: TextModel) -> Live:
        """The model that extractors ask; without this the backend's own."""
        return self._with(text_model=model)

    # -- where it is in the conversation ---------------------------------------------------------------------------

    def phase(self, *phases: Phase) -> Live:
        """Add phases. The first one is where the conversation begins unless `initial_phase` says otherwise."""
        return self._with(phases=(*self.definition.phases, *phases))

    def initial_phase(self, name: str) -> Live:
        """Where the conversation begins."""
        return self._with(initial_phase=name)

    def in_every_phase(self, *modifiers: InstructionModifier) -> Live:
        """Add modifiers that every phase has before its own."""
        return self._with(phase_defaults=(*self.definition.phase_defaults, *modifiers))

    def repair(self, nudge_after: int = 3, escalate_after: int = 6) -> Live:
        """When a phase's needs stay unfulfilled for so many turns, nudge the model, then escalate."""
        return self._with(repair=RepairConfig(nudge_after=nudge_after, escalate_after=escalate_after))

    # -- how it is steered -----------------------------------------------------------------------------------------

    def steering(self, mode: SteeringMode, delivery: ContextDelivery | None = None) -> Live:
        """How phases reach the model, and whether context goes at once or with the user's next input."""
        return self._with(steering=mode, context_delivery=delivery or self.definition.context_delivery)

    def instruction_route(self, route: InstructionRoute) -> Live:
        """How a new instruction travels, in place of what suits the model. `connect` refuses one it does not take."""
        return self._with(instruction_route=route)

    def tool_advisory(self, on: bool) -> Live:
        """Whether the model is told which tools a phase allows."""
        return self._with(tool_advisory=on)

    def rule(self, *rules: ReactorRule) -> Live:
        """Add reactor rules, after those that every voice session has."""
        return self._with(rules=(*self.definition.rules, *rules))

    def turn_taking(
        self, by: TurnTaking, preset: Literal["immediate", "responsive", "conversational"] | None = None
    ) -> Live:
        """Who decides when the user speaks; `preset` is how patient our own detector is ("responsive" when None)."""
        return self._with(turn_taking=by, turn_preset=preset)

    def soft_turns(self, after_s: float = 2.0) -> Live:
        """Count a turn when the user spoke and the model kept silent for `after_s` seconds."""
        return self._with(soft_turn_s=after_s)

    # -- who listens -----------------------------------------------------------------------------------------------

    def on(self, callback: str, handler: Handler, *, concurrent: bool = False) -> Live:
        """Call `handler` on an event, for example `on("turn_complete", log_it)`; see `callbacks.CALLBACKS`."""
        mode = CallbackMode.CONCURRENT if concurrent else None
        name = callback if callback.startswith(("on_", "before_", "instruction_")) else f"on_{callback}"
        return self._with(callbacks=self.definition.callbacks.add(name, handler, mode=mode))

    def telemetry(self, every_s: float) -> Live:
        """Report the session's figures as an event every so many seconds."""
        return self._with(telemetry_s=every_s)

    def delivery(self, config: DeliveryConfig) -> Live:
        """How much may wait for a slow subscriber."""
        return self._with(delivery=config)

    def persistence(self, store: SessionPersistence, session: str = "") -> Live:
        """Keep the session in `store` under `session` (the agent's name when empty) and take it up again from there."""
        return self._with(persistence=store, persistence_id=session)

    # -- the end of the building -----------------------------------------------------------------------------------

    def plan(self) -> SessionPlan:
        """Check everything; raises one `AgentError` that lists every fault with the place it was defined."""
        from gemini_live_runtime.session.definition.plan import make_plan

        return make_plan(self.definition)

    def ignored_settings(self, model: str = "") -> list[str]:
        """Sentences on what `model` (this agent's when empty) cannot do of what was asked for."""
        return self.plan().ignored_settings(model)

    def connect(self, **options: Any) -> Any:
        """`async with agent.connect() as session:` runs it in this process; see `engine.embed.connect`."""
        # The engine is a layer above: it is looked up when asked for, so that the session can be used without it.
        from importlib import import_module

        return import_module("gemini_live_runtime.engine.embed").connect(self.plan(), **options)
