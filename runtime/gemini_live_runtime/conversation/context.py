"""Summarise state for the model, in labelled sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text, is_text, plain_text
from gemini_live_runtime.conversation.instructions import InstructionModifier, check_plain_function, json_text
from gemini_live_runtime.conversation.memory_text import memory_text
from gemini_live_runtime.conversation.needs import Need, NeedLike, as_needs
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.state.functions import check_words, function_name
from gemini_live_runtime.state.mutations import call_to_decide
from gemini_live_runtime.state.scopes import as_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.state.values import MISSING

PHASE_NEEDS = "session:phase_needs"
"""Key of the list of keys that the current phase needs."""

_Part: TypeAlias = Callable[[Any], str]
"""Returns the text for a value that is set, "" for none."""

_NO_MOOD = ("", "neutral", "unknown")


@record
class _Section:
    label: str
    parts: tuple[tuple[str, _Part], ...] = ()

    def render(self, state: State) -> str:
        pieces = []
        for key, part in self.parts:
            value = state.get_raw(key)
            if value is not MISSING and value is not None:
                pieces.append(part(value))
        body = " ".join(piece for piece in pieces if piece)
        head = f"[{self.label}] " if self.label else ""
        return f"{head}{body}" if body else ""


@frozen_record
class ContextBuilder:
    """Builder of lines like `[Caller] Name: Ada. Identity verified.` from state.

    Each method returns a new builder. Values that are missing, null or empty are left out, and so are sections without
    content.
    """

    sections: tuple[_Section, ...] = ()
    gathered: tuple[tuple[Need, ...], ...] = ()
    """Needs that `[Gathering]` lists; an empty tuple means those of the current phase."""
    remembered: tuple[str, ...] = ()
    """Scopes of memory whose facts the model learns."""

    def section(self, label: str) -> ContextBuilder:
        """Begin a section."""
        check_words("A section", label, field="label")
        return replace(self, sections=(*self.sections, _Section(exact_text(label))))

    def field(self, key: str | Term, label: str) -> ContextBuilder:
        """Add `Label: value.`"""
        check_words("A label", label, field="label")
        label = exact_text(label)
        return self._with(key, lambda value: f"{label}: {text}." if (text := _one_line(value)) else "")

    def flag(self, key: str | Term, label: str) -> ContextBuilder:
        """Add `Label.` while the value is true."""
        check_words("A label", label, field="label")
        label = exact_text(label)
        return self._with(key, lambda value: f"{label}." if value is True else "")

    def sentiment(self, key: str | Term, who: str = "Caller") -> ContextBuilder:
        """Add `Caller seems worried.`, unless the value is neutral, unknown or no text."""
        return self._with(key, lambda value: f"{who} seems {mood}." if (mood := _mood(value)) else "")

    def format(self, key: str | Term, function: Callable[[Any], str]) -> ContextBuilder:
        """Add the text that a plain function returns for the value."""
        place = caller_place()
        check_plain_function(function, "A format", place, of="value")

        def part(value: Any) -> str:
            try:
                text = call_to_decide(function, value) or ""
                text = plain_text(text) if is_text(text) else str(text)
            except USER_ERRORS as error:
                where = f"{function_name(function)} ({place})"
                raise AgentError(f"The format {where} failed: {error_text(error)}") from error
            return text

        return self._with(key, part)

    def gathering(self, *needs: NeedLike) -> ContextBuilder:
        """End with `[Gathering] name, date`: the `needs` that are not met.

        Without arguments, these are the needs of the current phase.
        """
        return replace(self, gathered=(*self.gathered, as_needs(needs)))

    def memory(self, *scopes: str) -> ContextBuilder:
        """Add what is remembered in these scopes, which the agent's `.memory(...)` names.

        It is marked as data, in the order of the scopes and of their keys, and stands before `[Gathering]`.
        """
        return replace(self, remembered=(*self.remembered, *map(exact_text, scopes)))

    def __add__(self, other: ContextBuilder) -> ContextBuilder:
        """Return a builder with the sections of both."""
        return ContextBuilder(
            (*self.sections, *other.sections),
            (*self.gathered, *other.gathered),
            (*self.remembered, *other.remembered),
        )

    def render(self, state: State) -> str:
        """Return the sections, a line each; raise `AgentError` when a format fails."""
        lines = [section.render(state) for section in self.sections]
        lines.append(memory_text(state, self.remembered))
        missing = {need.key: need.label for need in self._needs(state) if not need.is_met(state)}
        lines.append(f"[Gathering] {', '.join(missing.values())}" if missing else "")
        return "\n".join(line for line in lines if line)

    def _needs(self, state: State) -> Iterator[Need]:
        for needs in self.gathered:
            yield from needs or as_needs(_texts(state.get_raw(PHASE_NEEDS)))

    def as_modifier(self) -> InstructionModifier:
        """Return a modifier for phases that renders this builder."""
        return InstructionModifier.custom(self.render)

    def _with(self, key: str | Term, part: _Part) -> ContextBuilder:
        *before, last = self.sections or (_Section(""),)
        name = key.key if isinstance(key, Term) else as_key(key)
        return replace(self, sections=(*before, replace(last, parts=(*last.parts, (name, part)))))


def _one_line(value: Any) -> str:
    # One line, so that a caller's words cannot begin a section of their own.
    return " ".join(value.split()).rstrip(".") if isinstance(value, str) else json_text(value)


def _mood(value: Any) -> str:
    mood = " ".join(value.split()) if isinstance(value, str) else ""
    return "" if mood.lower() in _NO_MOOD else mood


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
