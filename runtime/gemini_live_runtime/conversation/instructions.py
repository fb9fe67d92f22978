"""Resolve instructions and the modifiers that add to them from state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text, is_text, plain_text
from gemini_live_runtime.conversation.needs import is_filled
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.records import record
from gemini_live_runtime.state.functions import check_decides, check_words, function_name
from gemini_live_runtime.state.guards import Guard, GuardLike, as_guard
from gemini_live_runtime.state.mutations import read_decision
from gemini_live_runtime.state.names import in_brackets
from gemini_live_runtime.state.scopes import as_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import Term

TextOf: TypeAlias = Callable[[State], str | None]
"""A function that gets a read-only view of the state."""


@dataclass(frozen=True, slots=True, eq=False)
class PhaseInstruction:
    """A fixed text, or a plain function of the state that returns one.

    Raises `AgentError` for anything else.
    """

    source: str | TextOf
    defined_at: str = field(default_factory=caller_place, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", exact_text(self.source))
        if not isinstance(self.source, str):
            check_plain_function(self.source, "An instruction", self.defined_at)

    def resolve(self, state: State) -> str:
        """Return the text; raise `AgentError` when the function fails or returns no text."""
        if isinstance(self.source, str):
            return self.source
        return _text(self.source, state, "The instruction", self.defined_at)


@dataclass(frozen=True, slots=True, eq=False)
class InstructionModifier:
    """A text for the model that depends on state, added to the instruction.

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
        """Add `[Context: plan="gold", score=0.8]`: the values of `keys` that are set."""
        names = tuple(key.key if isinstance(key, Term) else as_key(key) for key in keys)
        if not names:
            raise AgentError("A modifier with state names no key", remedy="Name at least one", field="keys")
        check_words("The label of a modifier", label, field="label")
        return cls("state", keys=names, label=exact_text(label))

    @classmethod
    def when(cls, guard: GuardLike, text: str) -> InstructionModifier:
        """Add `text` while the guard holds."""
        check_words("The text of a modifier", text, field="text")
        return cls("when", guard=to_guard(guard, "A modifier's guard", caller_place()), text=exact_text(text))

    @classmethod
    def custom(cls, function: TextOf) -> InstructionModifier:
        """Add the text that a plain function of the state returns; None adds nothing."""
        check_plain_function(function, "A modifier", caller_place())
        return cls("custom", function=function)

    def render(self, state: State) -> str:
        """Return the text, or ""; raise `AgentError` or `GuardError` for a failure."""
        if self.kind == "state":
            pairs = ", ".join(
                f"{name}={json_text(state.get_raw(key))}"
                for key, name in display_names(self.keys).items()
                if is_filled(state, key)
            )
            return f"[{self.label}: {pairs}]" if pairs else ""
        if self.guard is not None:
            return self.text if self.guard.holds(state) else ""
        assert self.function is not None
        return _text(self.function, state, "The modifier", self.defined_at)


@record
class ModifierFault:
    """A modifier that raised `error` and adds nothing."""

    error: BaseException
    defined_at: str


@record
class RenderedModifiers:
    """Texts that apply now, and modifiers that failed."""

    texts: tuple[str, ...] = ()
    faults: tuple[ModifierFault, ...] = ()


def render_modifiers(modifiers: Iterable[InstructionModifier], state: State) -> RenderedModifiers:
    """Return the texts of all modifiers in order, without those that fail."""
    texts: dict[str, None] = {}
    faults: list[ModifierFault] = []
    for modifier in modifiers:
        try:
            text = modifier.render(state)
        except USER_ERRORS as error:  # An author's function may raise anything.
            faults.append(ModifierFault(error, modifier.defined_at))
            continue
        if text.strip():
            texts[text] = None
    return RenderedModifiers(tuple(texts), tuple(faults))


def display_names(keys: Iterable[str]) -> dict[str, str]:
    """Return keys with their names without scope, or with it where they would clash."""
    short = {key: key.rpartition(":")[2] for key in keys}
    taken = list(short.values())
    return {key: name if taken.count(name) == 1 else key for key, name in short.items()}


def json_text(value: Any) -> str:
    """Return a state value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def check_plain_function(function: object, what: str, place: str, of: str = "state") -> None:
    """Raise `AgentError` unless `function` is plain; `what` and `place` describe it.

    `of` names its parameter.
    """
    if not callable(function):
        choices = f"{'a text or ' if of == 'state' else ''}a function of the {of}"
        raise AgentError(f"{what}{in_brackets(place)} is {function!r:.80}", remedy=f"Give {choices}")
    check_decides(f"{what}{in_brackets(place)}", function, f"({of})")


def to_guard(value: GuardLike, what: str, place: str) -> Guard:
    """Return `value` as a guard; raise `AgentError` naming its `place` otherwise."""
    if callable(value) and not isinstance(value, Guard | Term):
        check_plain_function(value, what, place)
    try:
        return as_guard(value)
    except TypeError as error:
        raise AgentError(f"{what}{in_brackets(place)} cannot be used: {error}", field="guard", value=value) from None


def _text(function: TextOf, state: State, what: str, place: str) -> str:
    name = function_name(function)
    try:
        text, problem = read_decision(_read_text, function, cast("State", state.read_only()))
    except USER_ERRORS as error:
        raise AgentError(f"{what} {name}{in_brackets(place)} failed: {error_text(error)}") from error
    if problem:
        raise AgentError(f"{what} {name}{in_brackets(place)} gave {problem}", remedy="Return a text")
    return text


def _read_text(value: object) -> tuple[str, str]:
    """Return the text that a function gave, or "" and what it gave in its place."""
    if value is None:
        return "", ""
    return (plain_text(value), "") if is_text(value) else ("", f"{value!r:.80}")
