"""Keys in expressions: what guards and watch predicates are built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemini_live_runtime.json_values import is_number, same
from gemini_live_runtime.state.explaining import MISSING, shown
from gemini_live_runtime.state.guards import Compare, Guard, GuardLike, KeyExpression, Test, as_guard

if TYPE_CHECKING:
    from gemini_live_runtime.state.watchers import WatchPredicate

CALLED_OK = "session:called_ok:"
"""Prefix of the counts of a tool's successful calls."""


class Term(KeyExpression):
    """A key in an expression: its comparisons and tests are guards, and so is itself, for "is true"."""

    __slots__ = ()

    def __init__(self, key: str) -> None:
        self.key = key

    # Comparisons build guards, as in other expression libraries, so a term is compared by identity elsewhere.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Compare:  # type: ignore[override]
        return Compare(self.key, "==", other)

    def __ne__(self, other: object) -> Compare:  # type: ignore[override]
        return Compare(self.key, "!=", other)

    def __lt__(self, other: float | str) -> Compare:
        return Compare(self.key, "<", other)

    def __le__(self, other: float | str) -> Compare:
        return Compare(self.key, "<=", other)

    def __gt__(self, other: float | str) -> Compare:
        return Compare(self.key, ">", other)

    def __ge__(self, other: float | str) -> Compare:
        return Compare(self.key, ">=", other)

    def __and__(self, other: GuardLike) -> Guard:
        return self.is_true() & other

    def __rand__(self, other: GuardLike) -> Guard:
        return as_guard(other) & self.is_true()

    def __or__(self, other: GuardLike) -> Guard:
        return self.is_true() | other

    def __ror__(self, other: GuardLike) -> Guard:
        return as_guard(other) | self.is_true()

    def __invert__(self) -> Guard:
        return ~self.is_true()

    def __bool__(self) -> bool:
        raise TypeError(f"key({self.key!r}) has no value of its own: combine guards with &, | and ~, not and/or/not")

    def __repr__(self) -> str:
        return f"key({self.key!r})"

    def is_set(self) -> Guard:
        """The key is there and not null."""
        return Test(self.key, "is set", lambda value: value is not MISSING and value is not None)

    def is_missing(self) -> Guard:
        """The key is not there, or null."""
        return Test(self.key, "is missing", lambda value: value is MISSING or value is None)

    def is_true(self) -> Guard:
        """The value is true itself, not merely something."""
        return Test(self.key, "is true", lambda value: value is True)

    def is_false(self) -> Guard:
        """The value is false itself, not merely missing."""
        return Test(self.key, "is false", lambda value: value is False)

    def one_of(self, *values: Any) -> Guard:
        """The value is one of `values`."""
        words = f"is one of {', '.join(map(shown, values))}"
        null = None in values
        return Test(
            self.key, words, lambda value: null if value is MISSING else any(same(value, item) for item in values)
        )

    def contains(self, item: Any) -> Guard:
        """A list holds `item`, an object has that key, or a text has it as a part."""

        def test(value: Any) -> bool:
            if isinstance(value, list):
                return any(same(member, item) for member in value)
            return isinstance(item, str) and isinstance(value, str | dict) and item in value

        return Test(self.key, f"contains {shown(item)}", test)

    def changed(self) -> WatchPredicate:
        """Watch for any change."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.changed(self.key)

    def changed_to(self, value: Any) -> WatchPredicate:
        """Watch for a change to `value`."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.changed_to(self.key, value)

    def changed_from(self, value: Any) -> WatchPredicate:
        """Watch for a change away from `value`."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.changed_from(self.key, value)

    def crossed_above(self, threshold: float) -> WatchPredicate:
        """Watch for a number that was below `threshold` and now is at least that."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.crossed_above(self.key, threshold)

    def crossed_below(self, threshold: float) -> WatchPredicate:
        """Watch for a number that was at least `threshold` and now is below it."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.crossed_below(self.key, threshold)

    def became_true(self) -> WatchPredicate:
        """Watch for the value turning true."""
        return self.is_true().became_true()

    def became_false(self) -> WatchPredicate:
        """Watch for the value turning from true to anything else."""
        return self.is_true().became_false()


def key(name: str) -> Term:
    """The state key `name`, to build guards and watch predicates from. Raises `StateError` for an unknown scope."""
    from gemini_live_runtime.state.keys import check_key

    return Term(check_key(name))


def called_ok(tool: str) -> Guard:
    """The tool has succeeded at least once in this session."""
    return Test(f"{CALLED_OK}{tool}", "counts a success", lambda value: is_number(value) and value > 0)
