"""Check an agent's definition as a whole and make the plan of its sessions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar

from gemini_live_runtime.author_code import is_text
from gemini_live_runtime.conversation.context import ContextBuilder
from gemini_live_runtime.conversation.extraction import EXTRACTED, ExtractionSchedule, as_extractor
from gemini_live_runtime.conversation.phase_check import Fault, check_phases, doubts_about, raise_faults
from gemini_live_runtime.conversation.phase_machine import PhaseMachine
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.harness.profile import ProfileTools
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.session.core.turn_options import TurnOptions
from gemini_live_runtime.session.definition import turn_choice
from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.session.definition.checks import check_settings, without_invalid_parts
from gemini_live_runtime.session.definition.definition import DEFAULT_PRESET, MAX_ENDPOINTING_DELAY_S, Definition
from gemini_live_runtime.session.definition.harness_tools import harness_tools, with_profile
from gemini_live_runtime.session.definition.key_writers import LIVE_KEYS, Mentions
from gemini_live_runtime.session.definition.plan_warnings import place_of, tool_warnings, unchecked_calls
from gemini_live_runtime.session.definition.turn_choice import as_turn_taking, decide
from gemini_live_runtime.session.definition.unknown_names import NameCheck, UnknownKey
from gemini_live_runtime.session.endpointing.policy import TurnCommitPolicy
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.state.computed import ComputedRegistry
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import TemporalRegistry, TurnCountDetector
from gemini_live_runtime.state.watchers import WatcherRegistry
from gemini_live_runtime.tools.declaration import Tool, tool
from gemini_live_runtime.tools.registry import ToolProvider, provided

_PLACE = re.compile(r"\(\S+\.py:\d+\)")


@frozen_record(kw_only=True)
class SessionPlan:
    """Checked definition of an agent; each session makes its own parts from it."""

    is_agent: ClassVar[bool] = True
    definition: Definition
    declared: tuple[Tool, ...]
    """Tools with their schemas."""
    doubts: tuple[Fault, ...] = ()
    """Needs, phases and names of which no part of the agent seems to make anything."""
    profile_tools: ProfileTools = field(default_factory=ProfileTools)
    """Tools of the profile, which an agent gets that this one hands over to."""
    before_profile: Definition | None = None
    """Definition without the tools of the profile; None for one that was never given any."""
    left_out: tuple[str, ...] = ()
    """Tools of the profile that this agent does not get, as sentences."""

    @property
    def name(self) -> str:
        """Name of the agent."""
        return self.definition.name

    @property
    def initial_phase(self) -> str:
        """Name of the first phase; "" for an agent without phases."""
        definition = self.definition
        return definition.initial_phase or (definition.phases[0].name if definition.phases else "")

    def with_turns(self, by: str) -> SessionPlan:
        """Return the plan with turns found by "server", "client" or "manual".

        "auto" leaves it to the agent.
        """
        if by == "auto":
            return self
        chosen = replace(self.definition, turn_taking=as_turn_taking(by))
        raise_faults(list(turn_choice.faults(chosen)))
        return replace(self, definition=chosen)

    def with_profile(self, tools: ProfileTools) -> SessionPlan:
        """Return the plan with the tools that a profile enables.

        They replace those that one enabled before. Raises `ConfigError` for programs and folders that cannot be used.
        """
        asked_for = {one.name for one in harness_tools(self.definition)}
        own = [one for one in self.declared if one.name not in asked_for]
        before = self.before_profile or self.definition
        definition, declared, left_out = with_profile(before, own, tools)
        return replace(
            self,
            definition=definition,
            declared=declared,
            profile_tools=tools,
            before_profile=before,
            left_out=left_out,
        )

    @property
    def needs_own_turns(self) -> str:
        """Name of what works only where this side ends the turns, or ""."""
        return "on_user_turn_completed" if self.definition.on_user_turn_completed is not None else ""

    @property
    def turn_options(self) -> TurnOptions:
        """Turn detection that a session begins with."""
        definition = self.definition
        detection, reason = decide(definition)
        auto, auto_reason = decide(definition, "auto")
        policy = TurnCommitPolicy.named(definition.turn_preset or DEFAULT_PRESET)
        shortest = _first(definition.min_endpointing_delay_s, policy.end_of_turn_hold_ms / 1000)
        longest = _first(definition.max_endpointing_delay_s, MAX_ENDPOINTING_DELAY_S)
        return TurnOptions(
            detection=detection,
            reason=reason,
            auto=auto,
            auto_reason=auto_reason,
            min_delay_s=shortest,
            max_delay_s=max(shortest, longest),
            has_model=definition.end_of_turn_model is not None,
        )

    def make_state(self) -> State:
        """Return a new state with the declared keys and the initial values."""
        state = State()
        for key in self.definition.state_keys:
            state.declare(key)
        # Records these changes until the session publishes them: its events have to show the initial values, too.
        state.on_mutations(lambda: None)
        with writing_as(Origin("initial", self.name)):
            for name, value in self.definition.initial_state.items():
                state.set(name, value)
        return state

    @property
    def non_blocking(self) -> tuple[str, ...]:
        """Names of the tools for whose calls a model with async tools does not wait."""
        return tuple(item.name for item in self.declared if not item.blocking)

    def make_machine(self) -> PhaseMachine | None:
        """Return a phase machine before its first phase, or None without phases."""
        return PhaseMachine(self.definition.phases, self.initial_phase) if self.definition.phases else None

    def ignored_settings(self, model: str = "", *, vertex: bool = False) -> list[str]:
        """Return a sentence for each setting that `model` ignores.

        An empty `model` is the agent's own.
        """
        definition = self.definition
        if not is_text(model):
            raise AgentError(
                f"A model cannot be {model!r:.60}", remedy="Give its name as a text", field="model", value=model
            )
        model = model or definition.model
        can = capabilities_of(model, vertex=vertex)
        ignored = []
        if not can.async_tools:
            slow = self.non_blocking
            if slow:
                ignored.append(
                    f"{model} waits for every tool: {', '.join(slow)} will block the model's turn, and their "
                    "scheduling is not sent"
                )
        if not can.context_mid_session:
            if definition.steering is not SteeringMode.INSTRUCTION_UPDATE:
                ignored.append(
                    f"{model} takes no context during a session: {definition.steering.name} steering works as "
                    "INSTRUCTION_UPDATE, by a new connection"
                )
            if definition.context_delivery is ContextDelivery.DEFERRED:
                ignored.append(
                    f"{model} takes no context during a session: DEFERRED delivery has no effect, context goes with a "
                    "prompt, a typed text or a new connection"
                )
        elif definition.steering is not SteeringMode.INSTRUCTION_UPDATE and not _has_steering_context(definition):
            ignored.append(
                f"{definition.steering.name} steering has no effect: the agent has no context beside its own "
                "instruction"
            )
        if definition.instruction_route != "auto" and definition.instruction_route not in can.instruction_routes:
            ignored.append(f"{model} takes no instruction by {definition.instruction_route}: connecting will fail")
        ignored += turn_choice.ignored(definition)
        if definition.repair is not None and not any(phase.needs for phase in definition.phases):
            ignored.append("repair has no effect: no phase has needs")
        if definition.soft_turn_s is not None and definition.turn_taking == "manual":
            ignored.append("soft_turns has no effect with manual turns: the user ends the turn")
        if model.startswith("local-") and definition.voice:
            ignored.append(f"the embedded server has its own voice, not {definition.voice}")
        return ignored

    def warnings(self) -> list[str]:
        """Return a sentence for each part that may not do what its author wants."""
        texts = [text for item in self.declared for text in tool_warnings(item)]
        texts += [str(fault) for fault in self.doubts] + list(self.left_out)
        return texts + list(unchecked_calls(self.definition))


def _first(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def make_plan(definition: Definition) -> SessionPlan:
    """Check everything; raise one `AgentError` that lists every fault with its place."""
    faults = check_settings(definition)
    original, definition = definition, without_invalid_parts(definition)
    if not isinstance(definition.name, str) or not definition.name.strip():
        faults.append(Fault("The agent has no name", definition.built_at, "Begin with Live.builder(name)"))
    if isinstance(definition.instruction, str) and not (definition.instruction.strip() or original.phases):
        faults.append(
            Fault(f"Agent {definition.name} has no instruction", definition.built_at, "Add .instruction(...) or phases")
        )
    tools = (*_declared(definition, faults), *harness_tools(definition))
    faults += _clashes("tools", ((item.name, item.defined_at) for item in tools))
    faults += _clashes("rules", ((item.name, item.defined_at) for item in definition.rules))
    faults += _clashes("state keys", ((item.key, item.defined_at) for item in definition.state_keys))
    faults += _state_faults(definition)
    for build in (
        lambda: ComputedRegistry(definition.computed),
        lambda: WatcherRegistry(definition.watchers),
        lambda: TemporalRegistry(definition.patterns),
        lambda: ExtractionSchedule(definition.extractors),
    ):
        _try(build, faults, definition.built_at)
    faults += _watched_live_keys(definition)
    faults += _unread_memory(definition)
    if not faults:
        faults += turn_choice.faults(definition)
    names = frozenset(item.name for item in tools)
    check = NameCheck(definition, names)
    faults += check.faults()
    doubts: list[Fault] = []
    if definition.phases or (definition.initial_phase and not original.phases):
        chosen: Any = definition.initial_phase
        initial = chosen if chosen and is_text(chosen) else next((phase.name for phase in definition.phases), "")
        faults += check_phases(definition.phases, initial, tools=names)
        code = Mentions(_code(definition, tools))
        state_keys = {key.key for key in definition.state_keys}
        # A rule or a callback that mentions a phase may enter it.
        reached = [phase.name for phase in definition.phases if phase.name in code]
        written = _producers(definition, code) | state_keys
        doubts += doubts_about(definition.phases, initial, written=written, reached_by_code=reached)
    raise_faults(list(dict.fromkeys(faults)))
    doubts += [*check.unknown_events(), *_without_written(check.unknown_keys(), definition, tools)]
    return SessionPlan(definition=original, declared=tools, doubts=tuple(dict.fromkeys(doubts)))


def _without_written(unknown: Iterable[UnknownKey], definition: Definition, tools: tuple[Tool, ...]) -> Iterator[Fault]:
    """Yield the warnings about keys that the agent's code does not mention."""
    found = list(unknown)
    if found:
        code = Mentions(_code(definition, tools))
        yield from (item.warning for item in found if item.key not in code)


def _has_steering_context(definition: Definition) -> bool:
    """Return True when the agent's steering sends anything as context."""
    if definition.phase_defaults or any(phase.modifiers for phase in definition.phases):
        return True
    called = any(definition.callbacks.of(name) for name in ("instruction_template", "instruction_amendment"))
    return definition.steering is SteeringMode.CONTEXT_INJECTION and (bool(definition.phases) or called)


def _watched_live_keys(definition: Definition) -> Iterator[Fault]:
    """Yield a fault for each watcher or pattern on a key that announces no changes."""
    remedy = "Use it in a transition's guard, or watch what it is about: VoiceMarked ends, turns, time in a phase"
    for watcher in definition.watchers:
        for name in sorted(watcher.predicate.keys.intersection(LIVE_KEYS)):
            yield Fault(
                f"A watcher waits for {name}, which is read live and never announced", watcher.defined_at, remedy
            )
    for pattern in definition.patterns:
        # A detector of turns reads its guard at the end of each.
        counts_turns = isinstance(pattern.detector, TurnCountDetector)
        guard = None if counts_turns else getattr(pattern.detector, "guard", None)
        for name in sorted(guard.keys.intersection(LIVE_KEYS)) if isinstance(guard, Guard) else ():
            text = f"The pattern {pattern.name} waits for {name}, which is read live and never announced"
            yield Fault(text, pattern.defined_at, remedy)


def _declared(definition: Definition, faults: list[Fault]) -> Iterator[Tool]:
    for item in definition.tools:
        if isinstance(item, Tool) and item.signature.is_method and not hasattr(item.function, "__self__"):
            text = f"The tool {item.name} is a method without its object"
            faults.append(Fault(text, item.defined_at, "Make it a method of an Agent, or declare the bound method"))
        elif isinstance(item, Tool):
            yield item
        elif isinstance(item, ToolProvider) or callable(item):
            try:
                yield from provided(item) if isinstance(item, ToolProvider) else [tool(item)]
            except GeminiLiveError as error:
                faults.append(Fault(error.message, place_of(item) or definition.built_at, error.remedy))
        else:
            faults.append(
                Fault(f"{item!r:.60} is not a tool", definition.built_at, "Use functions, or decorate them with @tool")
            )


def _unread_memory(definition: Definition) -> Iterator[Fault]:
    """Yield a fault for each scope that instructions tell and the agent does not read."""
    modifiers = [*definition.phase_defaults, *(one for phase in definition.phases for one in phase.modifiers)]
    for modifier in modifiers:
        builder = getattr(modifier.function, "__self__", None)
        for scope in builder.remembered if isinstance(builder, ContextBuilder) else ():
            if scope not in definition.memory_scopes:
                text = f"The memory of {scope!r:.60} is told, but the agent does not read it"
                yield Fault(text, modifier.defined_at, f"Add .memory({scope!r:.60}) to the agent")


def _clashes(kind: str, named: Iterable[tuple[str, str]]) -> list[Fault]:
    items = list(named)
    counts = Counter(name for name, _ in items if name)
    return [
        Fault(
            f"Two {kind} are named {name}", " and ".join(p for n, p in items if n == name and p), "Rename one of them"
        )
        for name, count in counts.items()
        if count > 1
    ]


def _state_faults(definition: Definition) -> list[Fault]:
    state = State()
    for key in definition.state_keys:
        state.declare(key)
    faults: list[Fault] = []
    for name, value in definition.initial_state.items():
        _try(partial(state.set, name, value), faults, definition.built_at)
    for key in definition.state_keys:
        if key.default is not None:
            _try(partial(key.to_json, key.default), faults, key.defined_at)
    return faults


def _try(build: Callable[[], Any], faults: list[Fault], place: str) -> None:
    try:
        build()
    except GeminiLiveError as error:
        # A fault in several places comes as several sentences; those that name their place need no other.
        for part in error.message.split("; "):
            named = _PLACE.search(part) is not None
            faults.append(Fault(part, "" if named else place, error.remedy))


def _needed_keys(definition: Definition) -> set[str]:
    return {need.key for phase in definition.phases for need in (*phase.needs, *phase.requires)}


def _producers(definition: Definition, code: Mentions) -> set[str]:
    """Return the keys that an extractor, or code that names them, may write."""
    filled = {*definition.initial_state, *(f"derived:{item.name}" for item in definition.computed)}
    filled |= {item.name for item in definition.computed}
    for phase in definition.phases:
        filled |= {key for preparation in phase.preparations for key in preparation.produces}
        filled |= set(phase.presented_keys)
    for item in definition.extractors:
        try:
            extractor = as_extractor(item)
        except AgentError:
            continue
        filled |= {f"{EXTRACTED}{extractor.name}", *(rule.key for rule in extractor.promotions)}
        if not extractor.promotions:
            fields = getattr(extractor, "fields", None)
            # An extractor that does not list its fields may write any.
            names = {f"app:{name}" for name in fields or ()} if fields is not None else _needed_keys(definition)
            filled |= {name for name in names if name.startswith("app:")}
    return filled | {key for key in _needed_keys(definition) if key in code or key.startswith(("session:", "bg:"))}


def _code(definition: Definition, tools: tuple[Tool, ...]) -> list[Callable[..., Any]]:
    """Return the author's functions that may write state or change the phase."""
    code: list[Callable[..., Any]] = [item.function for item in tools]
    code += [watcher.then for watcher in definition.watchers]
    code += [pattern.then for pattern in definition.patterns]
    code += [listener.function for name in CALLBACKS for listener in definition.callbacks.of(name)]
    code += [rule.react for rule in definition.rules]
    for phase in definition.phases:
        code += [hook for hook in (phase.on_enter, phase.on_exit, phase.on_enter_context) if callable(hook)]
        code += [preparation.run for preparation in phase.preparations]
    hooks = (definition.on_enter, definition.on_exit, definition.on_user_turn_completed)
    return code + [hook for hook in hooks if callable(hook)]
