"""Check an agent's phases before a session starts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from gemini_live_runtime.conversation.phases import Phase, Transition
from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.records import record
from gemini_live_runtime.state.guards import Constant, Guard
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.terms import CALLED_OK


@record
class Fault:
    """A problem, its place of definition (`file.py:12`, "" if unknown) and a remedy."""

    text: str
    place: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.text}. {self.remedy}."


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raise one `AgentError` with a line for each fault, if there are any."""
    if len(faults) == 1:
        fault = faults[0]
        where = f"{fault.place}: " if fault.place else ""
        raise AgentError(f"The agent cannot be used: {where}{fault.text}", remedy=fault.remedy, field="agent")
    if faults:
        title = f"The agent has {len(faults)} faults:"
        raise AgentError("\n".join([title, *(f"- {fault}" for fault in faults)]), field="agent")


def check_phases(phases: Iterable[Phase], initial: str, *, tools: Collection[str] | None) -> list[Fault]:
    """Return every fault of these phases.

    `tools` are the names of all tools, None when they are not known yet.
    """
    phases = tuple(phases)
    faults = check_structure(phases, initial)
    faults += _keys(phases)
    if tools is not None:
        faults += _tools(phases, tools)
    faults += _unconditional_cycles(phases)
    return faults


def doubts_about(
    phases: Iterable[Phase], initial: str, *, written: Collection[str], reached_by_code: Collection[str] = ()
) -> Iterator[Fault]:
    """Yield what is a fault unless a program writes keys or goes to phases.

    `written` are the keys that the agent's parts may write, `reached_by_code` the phases that its code may enter.
    """
    phases = tuple(phases)
    yield from _reachability(phases, initial, reached_by_code)
    yield from _unfilled_needs(phases, set(written))


def check_structure(phases: Sequence[Phase], initial: str) -> list[Fault]:
    """Return the faults with which no machine can be built."""
    names = {phase.name: phase for phase in reversed(phases)}
    if not phases:
        return [Fault("There are no phases", "", "Give at least one")]
    faults = []
    known = ", ".join(dict.fromkeys(phase.name for phase in phases))
    if not initial:
        faults.append(Fault("No initial phase is named", phases[0].defined_at, f"Name one of {known}"))
    elif initial not in names:
        faults.append(
            Fault(f"The initial phase {initial} does not exist", phases[0].defined_at, f"Name one of {known}")
        )
    for phase in phases:
        first = names[phase.name]
        if not phase.name:
            faults.append(Fault("A phase has no name", phase.defined_at, "Give it one"))
        elif first is not phase:
            also = f"Two phases are called {phase.name}; the other is at {first.defined_at}"
            faults.append(Fault(also, phase.defined_at, "Rename one"))
        if phase.terminal and phase.transitions:
            faults.append(
                Fault(
                    f"The terminal phase {phase.name} has transitions",
                    phase.defined_at,
                    "Remove them, or terminal=True",
                )
            )
        for transition in phase.transitions:
            if transition.to == phase.name:
                text, remedy = f"The phase {phase.name} leads to itself", "Remove this transition; staying needs none"
            elif transition.to not in names:
                text, remedy = f"The phase {phase.name} leads to {transition.to}, which does not exist", f"Use {known}"
            else:
                continue
            faults.append(Fault(text, transition.defined_at, remedy))
    return faults


def _possible_transitions(phase: Phase) -> list[Transition]:
    """Return the transitions that can ever be taken."""
    return [item for item in phase.transitions if not _is_constant(item.when, False) and item.to != phase.name]


def _is_constant(guard: Guard, value: bool) -> bool:
    return isinstance(guard, Constant) and guard.value is value


def _reachability(phases: tuple[Phase, ...], initial: str, reached_by_code: Collection[str]) -> Iterator[Fault]:
    by_name = {phase.name: phase for phase in phases}
    if initial in by_name:
        reached = {initial, *reached_by_code}
        waiting = [name for name in reached if name in by_name]
        while waiting:
            for transition in _possible_transitions(by_name[waiting.pop()]):
                if transition.to not in reached and transition.to in by_name:
                    reached.add(transition.to)
                    waiting.append(transition.to)
        for phase in phases:
            if phase.name not in reached:
                text = f"No transition leads from {initial} to the phase {phase.name}"
                yield Fault(text, phase.defined_at, "Add one, or remove the phase, unless a program goes to it")
    for phase in phases:
        # A single phase needs no transition: it means an agent without phases.
        if not phase.terminal and not _possible_transitions(phase) and len(phases) > 1:
            text = f"The phase {phase.name} has no transition that can be taken"
            yield Fault(text, phase.defined_at, "Add one, or terminal=True, unless a program leaves it")


def _keys(phases: tuple[Phase, ...]) -> Iterator[Fault]:
    """Yield invalid keys; those of guards are checked where the guards are made."""
    for phase in phases:
        named: dict[str, str] = {}
        for key in (need.key for need in (*phase.needs, *phase.requires)):
            named.setdefault(key, phase.defined_at)
        for key in phase.clear_on_enter:
            named.setdefault(key, phase.defined_at)
        for preparation in phase.preparations:
            for key in preparation.produces:
                named.setdefault(key, preparation.defined_at)
        for modifier in phase.modifiers:
            for key in modifier.keys:
                named.setdefault(key, modifier.defined_at)
        for key, place in named.items():
            try:
                check_key(key)
            except StateError as error:
                yield Fault(f"The phase {phase.name}: {error.message}", place, error.remedy or "Correct the key")


def _tools(phases: tuple[Phase, ...], tools: Collection[str]) -> Iterator[Fault]:
    known = ", ".join(sorted(tools)) or "none; there are no tools"
    for phase in phases:
        for name in phase.tools or ():
            if name not in tools:
                text = f"The phase {phase.name} allows the tool {name}, which does not exist"
                yield Fault(text, phase.defined_at, f"The tools are {known}")
        guards = [] if phase.guard is None else [(phase.guard, phase.defined_at)]
        guards += [(transition.when, transition.defined_at) for transition in phase.transitions]
        for guard, place in guards:
            for key in sorted(guard.keys):
                name = key.removeprefix(CALLED_OK)
                if name != key and name not in tools:
                    text = f"The phase {phase.name} waits for a call of the tool {name}, which does not exist"
                    yield Fault(text, place, f"The tools are {known}")


def _unfilled_needs(phases: tuple[Phase, ...], written: set[str]) -> Iterator[Fault]:
    """Yield a fault for each needed key that nothing in `written` or a phase fills."""
    for phase in phases:
        written.update(key for preparation in phase.preparations for key in preparation.produces)
        written.update(phase.presented_keys)
    for phase in phases:
        for verb, needs in (("needs", phase.needs), ("requires", phase.requires)):
            for need in needs:
                # Other checks know the keys that the session itself writes, and those that are computed.
                key = need.key
                if key in written or key.startswith(("session:", "derived:")):
                    continue
                if ":" not in key and f"derived:{key}" in written:
                    continue
                yield Fault(
                    f"The phase {phase.name} {verb} {key}, which nothing seems to fill",
                    phase.defined_at,
                    "Let a tool, an extractor or a preparation write it, declare it with .state(...) if a program "
                    "does, or correct the key",
                )


def _unconditional_cycles(phases: tuple[Phase, ...]) -> Iterator[Fault]:
    """Yield cycles in which every transition is always taken, so that they never end."""
    by_name = {phase.name: phase for phase in phases}
    certain: dict[str, Transition] = {}
    for phase in phases:
        for transition in () if phase.terminal else phase.transitions:
            target = by_name.get(transition.to)
            if target is None or target is phase or not _is_constant(transition.when, True) or target.requires:
                continue
            if target.guard is None or _is_constant(target.guard, True):
                certain.setdefault(phase.name, transition)
    reported: set[str] = set()
    for start in certain:
        path = [start]
        while (step := certain.get(path[-1])) is not None and step.to not in path:
            path.append(step.to)
        if step is None or step.to != start or start in reported:
            continue
        reported.update(path)
        yield Fault(
            f"The phases {' -> '.join([*path, start])} follow each other without end",
            certain[start].defined_at,
            "Give one of these transitions a guard that can be false",
        )
