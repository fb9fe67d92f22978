"""Instruction texts that depend on state: a phase's own instruction, and the modifiers that add to it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gemini_live_runtime.conversation.needs import is_filled
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.guards import Guard, GuardLike, as_guard
from gemini_live_runtime.state.terms import Term

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State

TextOf: TypeAlias = "Callable[[State], str | None]"


@dataclass(frozen=True, slots=True, eq=False)
class PhaseInstruction:
    """A fixed text, or a plain function of the state that gives one. Raises `AgentError` for anything else."""

    source: str | TextOf
    defined_at: str = field(default_factory=caller_place, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.source, str):
            refuse_async(self.source, "An instruction", self.defined_at)

    def resolve(self, state: State) -> str:
        """The text for the state as it is now. Raises `AgentError` when the function fails or gives no text."""
        if isinstance(self.source, str):
            return self.source
        return _text(self.source, state, "The instruction", self.defined_at)


@dataclass(frozen=True, slots=True, eq=False)
class InstructionModifier:
    """Something the model is told in addition to the instruction, as the state is now.

    Make one with `with_state`, `when` or `custom`.
    """

    kind: Literal["state", "when", "custom"]
    keys: tuple[str, ...] = ()
    label: str = ""
    guard: Guard | None = None
    text: str = ""
    function: TextOf | None = None
    defined_at: str = field(default_factory=caller_place, kw_only=True, repr=False)

    @classmethod
    def with_state(cls, *keys: str | Term, label: str = "Context") -> InstructionModifier:
        """`[Context: plan="gold", score=0.8]`: the values of `keys` that are set, as JSON."""
        names = tuple(key.key if isinstance(key, Term) else key for key in keys)
        if not names:
            raise AgentError("A modifier with state names no key", remedy="Name at least one", field="keys")
        return cls("state", keys=names, label=label)

    @classmethod
    def when(cls, guard: GuardLike, text: str) -> InstructionModifier:
        """`text` while the guard holds."""
        return cls("when", guard=guard_of(guard, "A modifier's guard", caller_place()), text=text)

    @classmethod
    def custom(cls, function: TextOf) -> InstructionModifier:
        """What a plain function of the state returns; nothing for None or an empty text."""
        refuse_async(function, "A modifier", caller_place())
        return cls("custom", function=function)

    def render(self, state: State) -> str:
        """The text now, "" for none. Raises `AgentError` or `GuardError` when a function in it fails."""
        if self.kind == "state":
            pairs = ", ".join(
                f"{name}={as_json(state.get_raw(key))}"
                for key, name in display_names(self.keys).items()
                if is_filled(state, key)
            )
            return f"[{self.label}: {pairs}]" if pairs else ""
        if self.guard is not None:
            return self.text if self.guard.holds(state) else ""
        assert self.function is not None
        return _text(self.function, state, "The modifier", self.defined_at)


@dataclass(frozen=True, slots=True)
class ModifierFault:
    """A modifier said nothing because it raised `error`."""

    error: BaseException
    defined_at: str


@dataclass(frozen=True, slots=True)
class RenderedModifiers:
    """The texts that apply now, and what failed on the way."""

    texts: tuple[str, ...] = ()
    faults: tuple[ModifierFault, ...] = ()


def render_modifiers(modifiers: Iterable[InstructionModifier], state: State) -> RenderedModifiers:
    """Every modifier's text in order. One that fails says nothing and keeps no other from speaking."""
    texts: dict[str, None] = {}
    faults: list[ModifierFault] = []
    for modifier in modifiers:
        try:
            text = modifier.render(state)
        except (Exception, SystemExit) as error:  # an author's function: whatever it raises is reported
            faults.append(ModifierFault(error, modifier.defined_at))
            continue
        if text.strip():
            texts[text] = None
    return RenderedModifiers(tuple(texts), tuple(faults))


def display_names(keys: Iterable[str]) -> dict[str, str]:
    """Keys with their names without scope; those that would be called the same keep their scope."""
    short = {key: key.rpartition(":")[2] for key in keys}
    taken = list(short.values())
    return {key: name if taken.count(name) == 1 else key for key, name in short.items()}


def as_json(value: Any) -> str:
    """A state value on one line: texts are quoted and their line breaks escaped."""
    return json.dumps(value, ensure_ascii=False)


def refuse_async(function: object, what: str, place: str) -> None:
    """Raise `AgentError` for what is not a plain function."""
    if not callable(function):
        raise AgentError(f"{what}{_at(place)} is {function!r:.80}", remedy="Give a text or a function of the state")
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise AgentError(
            f"{what}{_at(place)} is the async function {function_name(function)}",
            remedy="Give a plain function of the state; put what takes time in on_enter or a preparation",
        )


def guard_of(value: GuardLike, what: str, place: str) -> Guard:
    """`value` as a guard; raises `AgentError` naming where it stands for what cannot be one."""
    if callable(value) and not isinstance(value, Guard | Term):
        refuse_async(value, what, place)
    try:
        return as_guard(value)
    except TypeError as error:
        raise AgentError(f"{what}{_at(place)} cannot be used: {error}", field="guard", value=value) from None


def _text(function: TextOf, state: State, what: str, place: str) -> str:
    name = function_name(function)
    try:
        text = function(state)
    except (Exception, SystemExit) as error:
        raise AgentError(f"{what} {name}{_at(place)} failed: {type(error).__name__}: {error}") from error
    if text is None:
        return ""
    if not isinstance(text, str):
        raise AgentError(f"{what} {name}{_at(place)} gave {text!r:.80}", remedy="Return a text", value=text)
    return text


def _at(place: str) -> str:
    return f" ({place})" if place else ""
