"""Builder for agents: `Live.builder(name)` and one call for each setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from gemini_live_runtime.author_code import exact_text
from gemini_live_runtime.choices import as_choice, as_member
from gemini_live_runtime.conversation.chat import ChatItem, as_chat
from gemini_live_runtime.conversation.needs import RepairConfig
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.session.core.turn_rules import FALSE_INTERRUPTION_TIMEOUT_S, InterruptionsBy
from gemini_live_runtime.session.definition.callbacks import CallbackMode
from gemini_live_runtime.session.definition.definition import (
    Definition,
    DeliveryConfig,
    Handler,
    InstructionRoute,
    TurnTaking,
)
from gemini_live_runtime.session.definition.server_detection import Coverage, Handling, Sensitivity, ServerDetection
from gemini_live_runtime.session.definition.turn_choice import as_turn_taking
from gemini_live_runtime.session.endpointing.policy import PRESETS
from gemini_live_runtime.state.functions import check_flag

if TYPE_CHECKING:
    from pathlib import Path

    from gemini_live_runtime.conversation.extraction import TurnExtractor
    from gemini_live_runtime.conversation.phases import InstructionModifier, Phase
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.endpointing.end_of_turn import EndOfTurnModel
    from gemini_live_runtime.session.persistence.stores import SessionPersistence
    from gemini_live_runtime.session.rules.reactor import ReactorRule
    from gemini_live_runtime.state.computed import ComputedVar
    from gemini_live_runtime.state.keys import StateKey
    from gemini_live_runtime.state.temporal import TemporalPattern
    from gemini_live_runtime.state.watchers import Watcher


class AgentBuilder:
    """Immutable builder of an agent: every call returns a new one.

    Each part checks itself when it is made. `plan` checks how the parts fit together and reports all faults at once;
    `Live.connect` calls it before it opens anything.
    """

    __slots__ = ("_plan", "definition")

    is_agent = True

    def __init__(self, definition: Definition | None = None, /, **options: Any) -> None:
        """Raise `AgentError` for what is no definition, such as a name, or an option."""
        if options or not isinstance(definition, Definition):
            given = ", ".join(f"{name}={value!r:.60}" for name, value in options.items()) or f"{definition!r:.60}"
            raise AgentError(
                f"{type(self).__name__} cannot be made of {given}",
                remedy=f'Begin with {type(self).__name__}.builder("name")',
                field="definition",
                value=options or definition,
            )
        self.definition = definition
        self._plan: SessionPlan | None = None

    @property
    def name(self) -> str:
        """Name of the agent."""
        return self.definition.name

    @classmethod
    def builder(cls, name: str) -> Self:
        """Begin an agent called `name`."""
        return cls(Definition(name=exact_text(name), built_at=caller_place()))

    def _with(self, **changes: Any) -> Self:
        exact = {name: exact_text(value) for name, value in changes.items()}
        return type(self)(replace(self.definition, **exact))

    # -- instruction and model -------------------------------------------------------------------------------------

    def description(self, text: str) -> Self:
        """Set the sentence that lists of agents show."""
        return self._with(description=text)

    def instruction(self, text: str) -> Self:
        """Set the instruction that applies in every phase."""
        return self._with(instruction=text)

    def greeting(self, prompt: str, *, allow_interruptions: bool | None = None) -> Self:
        """Let the model speak first, prompted by `prompt`.

        `allow_interruptions` says whether the user may interrupt that; None is as any answer of the agent.
        """
        return self._with(greeting=prompt, greeting_allow_interruptions=allow_interruptions)

    def model(self, name: str) -> Self:
        """Set the model on Google's servers."""
        return self._with(model=name)

    def local_model(self, name: str) -> Self:
        """Set the model on the embedded server; the default is `local-<agent's name>`."""
        return self._with(local_model=name)

    def voice(self, name: str) -> Self:
        """Set the voice that the model speaks with."""
        return self._with(voice=name)

    def phrases(self, *texts: str) -> Self:
        """Add examples of what the user can say; the console shows them."""
        return self._with(phrases=(*self.definition.phrases, *map(exact_text, texts)))

    # -- tools -----------------------------------------------------------------------------------------------------

    def tools(self, *tools: Any) -> Self:
        """Add tools: functions, those decorated with `@tool`, or a `ToolProvider`."""
        return self._with(tools=(*self.definition.tools, *tools))

    def memory(self, *scopes: str) -> Self:
        """Let the agent remember across sessions, in scopes such as "user".

        Its model gets the tools `memory_put`, `memory_get`, `memory_list`, `memory_delete` and `memory_search`, and
        `ContextBuilder.memory` tells it what is known at the start.
        """
        known = self.definition.memory_scopes
        return self._with(memory_scopes=(*known, *(exact_text(scope) for scope in scopes if scope not in known)))

    def task_tools(self) -> Self:
        """Let the model follow and cancel tasks: `task_list`, `task_get`, `task_cancel`."""
        return self._with(task_tools=True)

    def timer_tools(self) -> Self:
        """Let the model set timers: `timer`, `list_timers`, `cancel_timer`.

        A timer outlives session and engine: it is a notification with a time.
        """
        return self._with(timer_tools=True)

    def notify_tool(self) -> Self:
        """Let the model leave texts for when the user is back: `notify`."""
        return self._with(notify_tool=True)

    def workspace(
        self,
        folders: Mapping[str, str | Path] | None = None,
        programs: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Let the model read text beneath folders, and run listed programs.

        Its tools are `list_files`, `read_file` and, with programs, `run_program`, which asks each time. A program is a
        list of texts, run without a shell in one of the folders; in the place of an element `{args}` come arguments of
        the model. It is no sandbox.
        """
        return self._with(workspace=self.definition.workspace.with_more(folders, programs))

    def background_agents(self, at_most: int) -> Self:
        """Limit the background agents that run at once (at least 1)."""
        return self._with(background_agents=at_most)

    # -- state -----------------------------------------------------------------------------------------------------

    def state(self, *keys: StateKey[Any], values: Mapping[str, Any] | None = None) -> Self:
        """Declare typed keys and set initial values, or raise `AgentError`."""
        known = self.definition
        given: Any = values
        if given is not None and not isinstance(given, Mapping):
            raise AgentError(
                f".state(values=...) cannot be {given!r:.60}",
                remedy='Give an object, such as {"app:guests": 2}',
                field="values",
                value=given,
            )
        return self._with(
            state_keys=(*known.state_keys, *keys), initial_state={**known.initial_state, **(values or {})}
        )

    def computed(self, *variables: ComputedVar) -> Self:
        """Add values that are computed from other keys."""
        return self._with(computed=(*self.definition.computed, *variables))

    def watch(self, *watchers: Watcher) -> Self:
        """Add watchers, which act at the moment a value changes in a certain way."""
        return self._with(watchers=(*self.definition.watchers, *watchers))

    def pattern(self, *patterns: TemporalPattern) -> Self:
        """Add patterns over time, which act when a condition has lasted or recurred."""
        return self._with(patterns=(*self.definition.patterns, *patterns))

    def extract(self, *extractors: TurnExtractor) -> Self:
        """Add extractors, which turn facts of the transcript into state."""
        return self._with(extractors=(*self.definition.extractors, *extractors))

    def text_model(self, model: TextModel) -> Self:
        """Set the model that extractors ask; the default is the backend's own."""
        return self._with(text_model=model)

    # -- phases ----------------------------------------------------------------------------------------------------

    def phase(self, *phases: Phase) -> Self:
        """Add phases; the conversation begins in the first unless `initial_phase` is set."""
        return self._with(phases=(*self.definition.phases, *phases))

    def initial_phase(self, name: str) -> Self:
        """Set the phase in which the conversation begins."""
        return self._with(initial_phase=name)

    def in_every_phase(self, *modifiers: InstructionModifier) -> Self:
        """Add modifiers that apply in every phase, before the phase's own."""
        return self._with(phase_defaults=(*self.definition.phase_defaults, *modifiers))

    def repair(self, nudge_after: int = 3, escalate_after: int = 6) -> Self:
        """Nudge the model, then escalate, when a phase's needs stay unmet.

        Both numbers are turns in the phase without the needed values.
        """
        return self._with(repair=RepairConfig(nudge_after=nudge_after, escalate_after=escalate_after))

    # -- steering --------------------------------------------------------------------------------------------------

    def steering(self, mode: SteeringMode | str, delivery: ContextDelivery | str | None = None) -> Self:
        """Set how phases reach the model, by a member or its name: `"hybrid"`.

        `delivery` sends context at once or with the user's next input.
        """
        delivery = self.definition.context_delivery if delivery is None else as_member(ContextDelivery, delivery)
        return self._with(steering=as_member(SteeringMode, mode), context_delivery=delivery)

    def instruction_route(self, route: InstructionRoute) -> Self:
        """Set how a new instruction travels, instead of the model's default route.

        Connecting fails when the model does not support `route`.
        """
        return self._with(instruction_route=as_choice(route, get_args(InstructionRoute)))

    def tool_advisory(self, on: bool) -> Self:
        """Tell the model which tools a phase allows, or not; on by default."""
        check_flag(".tool_advisory(on)", on, field="on")
        return self._with(tool_advisory=on)

    def rule(self, *rules: ReactorRule) -> Self:
        """Add reactor rules; they run after the built-in rules of voice sessions."""
        return self._with(rules=(*self.definition.rules, *rules))

    def turn_taking(
        self,
        by: TurnTaking | Literal["push-to-talk"],
        preset: Literal["immediate", "responsive", "conversational"] | None = None,
    ) -> Self:
        """Set who decides that the user has finished speaking.

        "auto" is the server's detector, unless something of the agent works only with our own; "manual" (also
        "push-to-talk") is the microphone switch. `preset` sets the patience of our own detector; None is "responsive".
        """
        return self._with(turn_taking=as_turn_taking(by), turn_preset=as_choice(preset, PRESETS))

    def endpointing(
        self,
        *,
        min_delay_s: float | None = None,
        max_delay_s: float | None = None,
        model: EndOfTurnModel | None = None,
    ) -> Self:
        """Set the silence in seconds after which our own detector ends the user's turn.

        With a `model` that is `min_delay_s` where it finds the turn finished, else `max_delay_s` (3 s). By default
        `min_delay_s` is that of the preset.
        """
        return self._with(
            min_endpointing_delay_s=min_delay_s, max_endpointing_delay_s=max_delay_s, end_of_turn_model=model
        )

    def server_detection(
        self,
        *,
        start_sensitivity: Sensitivity | None = None,
        end_sensitivity: Sensitivity | None = None,
        prefix_padding_ms: int | None = None,
        silence_duration_ms: int | None = None,
        activity_handling: Handling | None = None,
        turn_coverage: Coverage | None = None,
    ) -> Self:
        """Set the server's voice activity detection; what is left out is the server's.

        `ServerDetection` describes each setting.
        """
        return self._with(
            server_detection=ServerDetection(
                start_sensitivity=start_sensitivity,
                end_sensitivity=end_sensitivity,
                prefix_padding_ms=prefix_padding_ms,
                silence_duration_ms=silence_duration_ms,
                activity_handling=activity_handling,
                turn_coverage=turn_coverage,
            )
        )

    def soft_turns(self, after_s: float = 2.0) -> Self:
        """Count a turn when the model stays silent for `after_s` after the user spoke."""
        return self._with(soft_turn_s=after_s)

    def user_away_timeout(self, after_s: float | None) -> Self:
        """Count the user as away after so much silence on both sides; None is never."""
        return self._rules(user_away_timeout_s=after_s)

    def interruptions(
        self,
        by: InterruptionsBy = "client",
        *,
        min_duration_s: float | None = None,
        min_words: int = 0,
        false_timeout_s: float | None = FALSE_INTERRUPTION_TIMEOUT_S,
    ) -> Self:
        """Set what interrupts the model, where our own detector finds the user's turns.

        `by` "server": the server stops as soon as a turn begins. "client": it goes on, and `min_words` of the user
        stop it. `min_duration_s` replaces the preset's least speech over the model. Speech is paused meanwhile, and
        goes on `false_timeout_s` after the user's voice when no words came; None pauses nothing.
        """
        return self._rules(
            interruptions_by=as_choice(by, get_args(InterruptionsBy)),
            min_interruption_s=min_duration_s,
            min_interruption_words=min_words,
            false_interruption_timeout_s=false_timeout_s,
        )

    def allow_interruptions(self, allowed: bool = True) -> Self:
        """Set whether the user may interrupt this agent's answers.

        Where not, the microphone's sound is replaced by silence while one is spoken. A reply may differ.
        """
        return self._rules(allow_interruptions=allowed)

    def max_tool_steps(self, at_most: int | None) -> Self:
        """Limit the rounds of calls in an answer (3 by default); None is any number."""
        return self._rules(max_tool_steps=at_most)

    def max_unrecoverable_errors(self, at_most: int | None) -> Self:
        """Limit the failures of the server in a row (3 by default); None is any number.

        Of those in which the model owed an answer and said no word; then the connection is given up.
        """
        return self._rules(max_unrecoverable_errors=at_most)

    def _rules(self, **changes: Any) -> Self:
        return self._with(turn_rules=replace(self.definition.turn_rules, **changes))

    def speech_gap(self, at_least_s: float) -> Self:
        """Leave at least so many seconds between two speeches that are asked for."""
        return self._rules(min_speech_gap_s=at_least_s)

    # -- callbacks, reports, persistence ---------------------------------------------------------------------------

    def on(self, callback: str, handler: Handler, *, concurrent: bool = False) -> Self:
        """Call `handler` on an event, for example `on("turn_complete", log_it)`.

        `callbacks.CALLBACKS` lists the events and their arguments.
        """
        check_flag("concurrent of a listener", concurrent, field="concurrent")
        mode = CallbackMode.CONCURRENT if concurrent else None
        callback = exact_text(callback)
        is_whole = not isinstance(callback, str) or callback.startswith(("on_", "before_", "instruction_"))
        name = callback if is_whole else f"on_{callback}"
        return self._with(callbacks=self.definition.callbacks.add(name, handler, mode=mode))

    def telemetry(self, every_s: float) -> Self:
        """Emit an event with the session's metrics every `every_s` seconds."""
        return self._with(telemetry_s=every_s)

    def delivery(self, config: DeliveryConfig) -> Self:
        """Set how many events may wait for a slow subscriber."""
        return self._with(delivery=config)

    def persistence(self, store: SessionPersistence, session: str = "") -> Self:
        """Save the session in `store` and restore it from there at the next start.

        `session` is the name it is saved under; the agent's name when empty. Raises `AgentError` for None, which would
        save nothing.
        """
        if store is None:
            raise AgentError(
                "None cannot be used as persistence",
                remedy="Give a store, or leave .persistence(...) out to save nothing",
                field="store",
            )
        return self._with(persistence=store, persistence_id=session)

    # -- other agents ----------------------------------------------------------------------------------------------

    def on_enter(self, hook: Handler) -> Self:
        """Call `hook(session)` each time this agent begins to speak.

        It gets the `AgentSession`, and may take its time.
        """
        return self._with(on_enter=hook)

    def on_exit(self, hook: Handler) -> Self:
        """Call `hook(session)` when another agent takes over, and at the end.

        It has 5 s.
        """
        return self._with(on_exit=hook)

    def on_user_turn_completed(self, hook: Handler) -> Self:
        """Call `hook(turn)`, or `hook(turn, session)`, when the user's turn has ended.

        It gets a `UserTurn` before the model does, may add context for it, and drops it by raising `StopResponse`. It
        has 5 s. The turn has to end here: by our detector or by hand.
        """
        return self._with(on_user_turn_completed=hook)

    def chat(self, choice: Literal["keep", "fresh"] | Iterable[ChatItem]) -> Self:
        """Set what the model knows when this agent takes over.

        "keep", the default: all that was said; "fresh": nothing, on a server session of its own; or messages, at most
        50, which are then all that was said. `update_agent` may choose otherwise. Raises `AgentError` for what are no
        messages.
        """
        return self._with(chat=as_chat(choice))

    def hands_over_to(self, *agents: Any) -> Self:
        """Name agents to which this one may hand over, or functions that return them.

        Operators can then choose them, and a session that is taken up again finds the one that was speaking.
        """
        return self._with(hands_over_to=(*self.definition.hands_over_to, *agents))

    # -- checking and running --------------------------------------------------------------------------------------

    def plan(self) -> SessionPlan:
        """Check everything, once, and return the plan that sessions are made from.

        Raises one `AgentError` that lists every fault with the place where the part was defined.
        """
        if self._plan is None:
            from gemini_live_runtime.session.definition.plan import make_plan

            self._plan = make_plan(self.definition)
        return self._plan

    def ignored_settings(self, model: str = "") -> list[str]:
        """Return a sentence for each setting that `model` ignores.

        An empty `model` is the agent's own.
        """
        return self.plan().ignored_settings(model)
