"""Kinds of change of one value that a watcher can wait for.

A missing value counts as null (None). Each kind decides from the old and the new value, and says of other changes what
they lacked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_number, same_value
from gemini_live_runtime.records import record
from gemini_live_runtime.state.functions import check_decides, function_name
from gemini_live_runtime.state.mutations import decision_of
from gemini_live_runtime.state.values import MISSING, constant, copy_value, format_value

Decide = Callable[[Any, Any], bool]
"""Returns True for a change from old to new that is of the kind."""


@record
class ChangeKind:
    """A kind of change, by its text and its decision.

    `missing` describes what a change of another kind lacked. `threshold` is the number to cross, None for other kinds.
    """

    text: str
    matches: Decide
    missing: Callable[[Any, Any], str]
    threshold: float | None = None


def any_change(name: str) -> ChangeKind:
    """Return the kind of every change."""
    return ChangeKind(f"{name} changed", lambda old, new: True, lambda old, new: "")


def change_to(name: str, value: Any) -> ChangeKind:
    """Return the kind of changes to `value`."""
    value = constant(name, value)
    return ChangeKind(
        f"{name} changed to {format_value(value)}",
        lambda old, new: same_value(new, value) and not same_value(old, value),
        lambda old, new: f"it is {format_value(new)}, not {format_value(value)}",
    )


def change_from(name: str, value: Any) -> ChangeKind:
    """Return the kind of changes away from `value`."""
    value = constant(name, value)
    return ChangeKind(
        f"{name} changed from {format_value(value)}",
        lambda old, new: same_value(old, value) and not same_value(new, value),
        lambda old, new: f"it was {format_value(old)}, not {format_value(value)}",
    )


def crossing(name: str, threshold: float, *, above: bool) -> ChangeKind:
    """Return the kind of changes past `threshold`.

    Raises `AgentError` for a threshold that is no number. Above it: to at least `threshold`; below it: to less. The old
    value was on the other side, or there was none.
    """
    if not is_number(threshold):
        raise AgentError(
            f"{name} cannot cross {format_value(threshold)}",
            remedy="Give a number as the threshold",
            field="threshold",
            value=threshold,
        )
    threshold = constant(name, threshold)

    def is_beyond(value: float) -> bool:
        return (value >= threshold) is above

    def matches(old: Any, new: Any) -> bool:
        return (
            is_number(new)
            and (new >= threshold) is above
            and (_is_absent(old) or (is_number(old) and not is_beyond(old)))
        )

    def missing(old: Any, new: Any) -> str:
        if not is_number(old) and not _is_absent(old):
            return f"it was {format_value(old)}, not a number"
        if not is_number(new):
            return f"it is {format_value(new)}, not a number"
        if is_beyond(new) and not _is_absent(old):
            return f"it was {old:g} before, which is past {threshold:g} already"
        return _distance(new, threshold)

    return ChangeKind(f"{name} crossed {'above' if above else 'below'} {threshold:g}", matches, missing, threshold)


def truth_change(text: str, wanted: bool) -> ChangeKind:
    """Return the kind in which the truth of the guard `text` turns to `wanted`."""
    word = "true" if wanted else "false"
    return ChangeKind(
        f"{text} became {word}",
        lambda old, new: old is not wanted and new is wanted,
        lambda old, new: f"it was {word} already" if new is wanted else f"it is not {word}",
    )


def custom_change(name: str, decide: Decide, text: str) -> ChangeKind:
    """Return the kind of which an author's `decide(old, new)` is true.

    Raises `AgentError` unless `decide` is a plain function.
    """
    if not callable(decide):
        raise AgentError(
            f"The predicate of a watcher on {name} is not a plain function",
            remedy="Give a function of (old, new) that returns true or false at once",
            field="decide",
            value=decide,
        )
    check_decides(f"The predicate of a watcher on {name}", decide, "(old, new)")
    text = text or function_name(decide)
    return ChangeKind(
        f"{name}: {text}",
        lambda old, new: decision_of(decide, copy_value(old), copy_value(new)),
        lambda old, new: f"{text} returned false",
    )


def _is_absent(value: Any) -> bool:
    return value is None or value is MISSING


def _distance(value: float, threshold: float) -> str:
    if value == threshold:
        return f"it is {threshold:g} itself"
    return f"{value:g} is {abs(value - threshold):.3g} {'below' if value < threshold else 'above'} {threshold:g}"
