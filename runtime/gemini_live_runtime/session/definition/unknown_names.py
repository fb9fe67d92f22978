"""Find names of tools, phases, events and keys that nothing in the agent has.

A wrong name is no error where it is used: what waits for it only never happens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gemini_live_runtime.choices import nearest
from gemini_live_runtime.conversation.extraction import TurnExtractor, as_extractor
from gemini_live_runtime.conversation.instructions import InstructionModifier
from gemini_live_runtime.conversation.phase_check import Fault
from gemini_live_runtime.conversation.phases import PRESENTED
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.events import PAYLOADS
from gemini_live_runtime.records import record
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.session.definition.key_writers import SESSION_KEYS
from gemini_live_runtime.session.rules.hidden_events import NOT_FOR_PATTERNS
from gemini_live_runtime.state.detectors import ConsecutiveFailureDetector, RateDetector
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.terms import CALLED_OK

_FAILED = "_failed"


@record
class UnknownKey:
    """Key that nothing in the agent seems to write, and the warning about it."""

    key: str
    warning: Fault


class NameCheck:
    """Check of the names that one agent uses."""

    def __init__(self, definition: Definition, tools: Collection[str]) -> None:
        self._definition = definition
        self._tools = tools
        self._phases = [phase.name for phase in definition.phases]
        self._concepts = {concept for phase in definition.phases for concept in phase.presents}
        self._extractors = list(_extractors(definition))

    def faults(self) -> Iterator[Fault]:
        """Yield a fault for each name that certainly does not exist."""
        for extractor in self._extractors:
            trigger, place = extractor.trigger, str(getattr(extractor, "defined_at", ""))
            waits = f"The extractor {extractor.name} waits for"
            for name in sorted(trigger.only):
                if trigger.event == "tool-call" and name not in self._tools:
                    yield _unknown(f"{waits} a call of the tool {name}", name, self._tools, place, "The tools are")
                elif trigger.event == "phase-change" and name not in self._phases:
                    yield _unknown(f"{waits} the phase {name}", name, self._phases, place, "The phases are")
        for pattern in self._definition.patterns:
            detector = pattern.detector
            waits = f"The pattern {pattern.name} waits for"
            if isinstance(detector, ConsecutiveFailureDetector) and detector.tool not in self._tools:
                text = f"{waits} failures of the tool {detector.tool}"
                yield _unknown(text, detector.tool, self._tools, pattern.defined_at, "The tools are")
            elif isinstance(detector, RateDetector) and detector.event in NOT_FOR_PATTERNS:
                remedy = "Count another event, or use a watcher for changes of state"
                yield Fault(f"{waits} {detector.event}, which patterns are not shown", pattern.defined_at, remedy)
        computed = [item.key for item in self._definition.computed]
        for key, place in self._read_keys():
            if key.startswith("derived:") and key not in computed:
                yield _unknown(f"{key} is read", key, computed, place, "Computed are")

    def unknown_events(self) -> Iterator[Fault]:
        """Yield a warning for each counted event that no session has by itself."""
        known = PAYLOADS.keys() - NOT_FOR_PATTERNS
        for pattern in self._definition.patterns:
            detector = pattern.detector
            if isinstance(detector, RateDetector) and detector.event and detector.event not in PAYLOADS:
                text = f"The pattern {pattern.name} waits for {detector.event}"
                yield _unknown(text, detector.event, known, pattern.defined_at, what="which is no event of a session")

    def unknown_keys(self) -> Iterator[UnknownKey]:
        """Yield each key of the session's scopes that neither session nor agent writes."""
        written = set(self._written_keys())
        own = {name for name in SESSION_KEYS if not name.endswith("*")}
        own |= {f"{PRESENTED}{concept}" for concept in self._concepts}
        own |= {name for tool in self._tools for name in (f"{CALLED_OK}{tool}", f"bg:{tool}{_FAILED}")}
        for key, place in self._read_keys(every=True):
            is_checked = key.startswith("session:") or (key.startswith("bg:") and key.endswith(_FAILED))
            if is_checked and key not in own and key not in written:
                warning = _unknown(f"{key} is read", key, own, place, what="which nothing seems to write")
                yield UnknownKey(key, warning)
        for extractor in self._extractors:
            for rule in extractor.promotions:
                for concept in (condition.concept for condition in rule.conditions):
                    key = f"{PRESENTED}{concept}"
                    if concept and concept not in self._concepts and key not in written:
                        text = f"The field {rule.field} is written after {concept} was presented"
                        what = "which no phase presents"
                        yield UnknownKey(key, _unknown(text, concept, self._concepts, rule.defined_at, what=what))

    def _read_keys(self, *, every: bool = False) -> Iterator[tuple[str, str]]:
        """Yield each key that a declared part reads, with the part's place.

        Inputs of computed values only with `every`: another check looks for their computed keys.
        """
        definition = self._definition
        for phase in definition.phases:
            for guard, place in ((phase.guard, phase.defined_at), *((w.when, w.defined_at) for w in phase.transitions)):
                yield from ((key, place) for key in sorted(guard.keys if guard is not None else ()))
            yield from ((need.key, phase.defined_at) for need in (*phase.needs, *phase.requires))
            yield from _modifier_keys(phase.modifiers)
        yield from _modifier_keys(definition.phase_defaults)
        for watcher in definition.watchers:
            yield from ((key, watcher.defined_at) for key in sorted(watcher.predicate.keys))
        for pattern in definition.patterns:
            guard = getattr(pattern.detector, "guard", None)
            yield from ((key, pattern.defined_at) for key in sorted(guard.keys if isinstance(guard, Guard) else ()))
        for rule in (rule for extractor in self._extractors for rule in extractor.promotions):
            yield from ((key, rule.defined_at) for key in sorted(rule.read_keys))
        for item in definition.computed if every else ():
            yield from ((key, item.defined_at) for key in item.inputs)

    def _written_keys(self) -> Iterator[str]:
        definition = self._definition
        yield from definition.initial_state
        yield from (item.key for item in definition.state_keys)
        yield from (rule.key for extractor in self._extractors for rule in extractor.promotions)
        yield from (key for phase in definition.phases for item in phase.preparations for key in item.produces)


def _extractors(definition: Definition) -> Iterator[TurnExtractor]:
    for item in definition.extractors:
        try:
            yield as_extractor(item)
        except AgentError:  # another check tells it
            continue


def _modifier_keys(modifiers: Iterable[InstructionModifier]) -> Iterator[tuple[str, str]]:
    for modifier in modifiers:
        keys = {*modifier.keys, *(modifier.guard.keys if modifier.guard is not None else ())}
        yield from ((key, modifier.defined_at) for key in sorted(keys))


def _unknown(
    text: str, name: str, known: Collection[str], place: str, listed: str = "", *, what: str = "which does not exist"
) -> Fault:
    near = nearest(name, known)
    names = f"{listed} {', '.join(sorted(known))}" if listed and known else "Correct the name, or remove it"
    return Fault(f"{text}, {what}", place, f"Use {near}" if near else names)
