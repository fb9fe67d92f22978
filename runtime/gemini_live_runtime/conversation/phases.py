"""Describe the phases of a conversation and the transitions between them.

    greet = Phase(
        "greet",
        "Greet the caller and ask what it is about.",
        needs=("user:topic",),
        transitions=(Transition("booking", key("user:topic") == "booking", because="they want a table"),),
    )

These are descriptions only. `PhaseMachine` decides with them, and the session runs the authors' hooks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from gemini_live_runtime.author_code import exact_text
from gemini_live_runtime.conversation.instructions import (
    InstructionModifier,
    PhaseInstruction,
    TextOf,
    to_guard,
)
from gemini_live_runtime.conversation.needs import Need, NeedLike, as_needs
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.state.functions import check_action, check_flag, check_name, check_words
from gemini_live_runtime.state.guards import Guard, GuardLike
from gemini_live_runtime.state.terms import Term

if TYPE_CHECKING:
    from gemini_live_runtime.tools.declaration import Tool

__all__ = ["PRESENTED", "InstructionModifier", "Need", "Phase", "PhaseInstruction", "PhasePreparation", "Transition"]

PRESENTED = "session:presented:"
"""Prefix of the keys that are true once a phase has presented a concept."""

Hook: TypeAlias = Callable[..., Awaitable[Any] | Any]
"""An author's function, plain or async, called by the session with the state."""

ContextHook: TypeAlias = Callable[..., Any]
"""An author's function, plain or async, of the state and the last turns; returns a text, several or None."""

ToolLike: TypeAlias = "str | Tool | Callable[..., Any]"


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Transition:
    """A step to another phase, taken at the end of a turn when `when` holds.

    `because` gives the reason in words, for people and the model.
    """

    to: str
    when: Guard
    because: str
    defined_at: str = field(repr=False)

    def __init__(self, to: str, when: GuardLike, *, because: str = "", defined_at: str = "") -> None:
        """Take as `when` a guard, a key (for "is true"), a boolean, or a function."""
        place = defined_at or caller_place()
        check_name(f"The phase that a transition leads to ({place})", to, field="to")
        check_words(f"The reason of the transition to {to} ({place})", because, field="because")
        _set(self, to=to, when=to_guard(when, f"The transition to {to}", place), because=because, defined_at=place)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class PhasePreparation:
    """Work done before a phase is entered, to fill the keys it requires.

    `produces` names the keys it writes.
    """

    name: str
    run: Hook
    produces: tuple[str, ...]
    defined_at: str = field(repr=False)

    def __init__(self, name: str, run: Hook, produces: Keys = (), *, defined_at: str = "") -> None:
        """Without `produces`, it runs for any missing key."""
        place = defined_at or caller_place()
        check_name(f"A preparation ({place})", name)
        _check_hook(f"Preparation {name} ({place})", "run", run)
        keys = _listed(f"Preparation {name} ({place})", "produces", produces, str | Term)
        _set(self, name=name, run=run, produces=_keys(keys), defined_at=place)


KeyLike: TypeAlias = str | Term
Keys: TypeAlias = KeyLike | Iterable[KeyLike]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Phase:
    """A part of a conversation, with an instruction for the model and transitions.

    `needs` are the keys that it has to fill. `tools` are those the model may use here, None for all. `guard` and
    `requires` (keys that must be set) have to hold before it is entered; `preparations` may fill what is missing.
    On entering, the keys of `clear_on_enter` are removed, `presents` are marked as presented and `on_enter` is run.
    Then the model gets `on_enter_context` and, with `prompt_on_enter`, speaks first; a text there is sent to it just
    before. A `terminal` phase has no transitions.
    """

    name: str
    instruction: PhaseInstruction
    transitions: tuple[Transition, ...]
    needs: tuple[Need, ...]
    tools: tuple[str, ...] | None
    guard: Guard | None
    requires: tuple[Need, ...]
    preparations: tuple[PhasePreparation, ...]
    presents: tuple[str, ...]
    modifiers: tuple[InstructionModifier, ...]
    on_enter: Hook | None
    on_exit: Hook | None
    on_enter_context: str | ContextHook | None
    prompt_on_enter: bool | str
    clear_on_enter: tuple[str, ...]
    terminal: bool
    defined_at: str = field(repr=False)

    def __init__(
        self,
        name: str,
        instruction: str | TextOf | PhaseInstruction,
        *,
        transitions: Transition | Iterable[Transition] = (),
        needs: NeedLike | Iterable[NeedLike] = (),
        tools: ToolLike | Iterable[ToolLike] | None = None,
        guard: GuardLike | None = None,
        requires: NeedLike | Iterable[NeedLike] = (),
        preparations: PhasePreparation | Iterable[PhasePreparation] = (),
        presents: str | Iterable[str] = (),
        modifiers: InstructionModifier | Iterable[InstructionModifier] = (),
        on_enter: Hook | None = None,
        on_exit: Hook | None = None,
        on_enter_context: str | ContextHook | None = None,
        prompt_on_enter: bool | str = False,
        clear_on_enter: Keys = (),
        terminal: bool = False,
        defined_at: str = "",
    ) -> None:
        """Accept a single value for every list; raise `AgentError` for unusable ones."""
        place = defined_at or caller_place()
        if name != "":
            check_name(f"A phase ({place})", name)
        for hook in ("on_enter", "on_exit", "on_enter_context"):
            value = locals()[hook]
            if value is not None and not (hook == "on_enter_context" and isinstance(value, str)):
                arguments = "(state, window)" if hook == "on_enter_context" else "(state)"
                _check_hook(f"Phase {name} ({place})", hook, value, arguments)
        check_flag(f"terminal of phase {name} ({place})", terminal, field="terminal")
        if not isinstance(prompt_on_enter, str):
            check_flag(f"prompt_on_enter of phase {name} ({place})", prompt_on_enter, field="prompt_on_enter")
        listed = partial(_listed, f"Phase {name} ({place})")
        if not isinstance(instruction, PhaseInstruction):
            instruction = PhaseInstruction(instruction, defined_at=place)
        _set(
            self,
            name=name,
            instruction=instruction,
            transitions=listed("transitions", transitions, Transition),
            needs=as_needs(listed("needs", needs, str | Term | Need)),
            tools=None if tools is None else _tool_names(tools, name, place),
            guard=None if guard is None else to_guard(guard, f"The guard of phase {name}", place),
            requires=as_needs(listed("requires", requires, str | Term | Need)),
            preparations=listed("preparations", preparations, PhasePreparation),
            presents=listed("presents", presents, str),
            modifiers=listed("modifiers", modifiers, InstructionModifier),
            on_enter=on_enter,
            on_exit=on_exit,
            on_enter_context=on_enter_context,
            prompt_on_enter=prompt_on_enter,
            clear_on_enter=_keys(listed("clear_on_enter", clear_on_enter, str | Term)),
            terminal=terminal,
            defined_at=place,
        )

    @property
    def presented_keys(self) -> tuple[str, ...]:
        """Keys that become true on entering."""
        return tuple(f"{PRESENTED}{concept}" for concept in self.presents)

    def preparations_for(self, missing: Iterable[str]) -> tuple[PhasePreparation, ...]:
        """Return the preparations that may fill one of the `missing` keys, in order."""
        wanted = set(missing)
        return tuple(item for item in self.preparations if not item.produces or wanted.intersection(item.produces))


def _check_hook(who: str, field: str, value: object, arguments: str = "(state)") -> None:
    if not callable(value):
        raise AgentError(
            f"{who} has {value!r:.60} as {field}", remedy="Give a function of the state", field=field, value=value
        )
    check_action(f"{field} of {who[0].lower()}{who[1:]}", value, arguments, field)


def _set(instance: object, **values: object) -> None:
    for name, value in values.items():
        exact = tuple(map(exact_text, value)) if isinstance(value, tuple) else exact_text(value)
        object.__setattr__(instance, name, exact)


def _listed(who: str, field: str, value: Any, kind: Any) -> tuple[Any, ...]:
    """Return one item or several as a tuple; raise `AgentError` for others."""
    items = tuple(value) if isinstance(value, Iterable) and not isinstance(value, kind) else (value,)
    for item in items:
        if not isinstance(item, kind):
            names = " or ".join(part.__name__ for part in getattr(kind, "__args__", (kind,)))
            raise AgentError(
                f"{who} has {item!r:.80} in {field}",
                remedy=f"Give {names}, one or a list, or leave {field} out",
                field=field,
                value=item,
            )
    return items


def _keys(keys: Keys) -> tuple[str, ...]:
    listed: Iterable[KeyLike] = (keys,) if isinstance(keys, str | Term) else keys
    return tuple(key.key if isinstance(key, Term) else key for key in listed)


def _tool_names(tools: ToolLike | Iterable[ToolLike], phase: str, place: str) -> tuple[str, ...]:
    single = isinstance(tools, str) or not isinstance(tools, Iterable)
    listed: Iterable[Any] = (tools,) if single else tools  # type: ignore[assignment]
    names: dict[str, None] = {}
    for item in listed:
        name = item if isinstance(item, str) else getattr(item, "name", None) or getattr(item, "__name__", None)
        if not isinstance(name, str):
            raise AgentError(
                f"Phase {phase} ({place}) lists {item!r:.80} as a tool",
                remedy="List names, tools or the functions they are made from",
                field="tools",
                value=item,
            )
        names[name] = None
    return tuple(names)
