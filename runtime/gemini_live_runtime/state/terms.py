"""Keys in expressions, which authors build guards and watch predicates from."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gemini_live_runtime.errors import TruthError
from gemini_live_runtime.json_values import is_number, same_value
from gemini_live_runtime.state.explanation import Explanation, read_key
from gemini_live_runtime.state.guards import Guard, GuardLike, KeyExpression, Test, WatchPredicate, as_guard
from gemini_live_runtime.state.protocols import Reader
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.values import MISSING, constant, format_value

CALLED_OK = "session:called_ok:"
"""Prefix of the counts of a tool's successful calls."""

_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Compare(Guard):
    """A key against a constant: `==`, `!=` or an ordering.

    Raises `TypeError` for a constant that is a key or a guard, and for an ordering with one that has no order;
    `StateError` for one that state cannot hold.
    """

    __slots__ = ("_compare", "_has_order", "_key", "_keys", "_text", "_value")

    def __init__(self, key: str, sign: str, value: Any) -> None:
        if isinstance(value, KeyExpression | Guard):
            raise TypeError(f"{key} {sign} {value!r}: a key is compared with a value; compare two keys in a function")
        self._has_order = sign in _ORDERINGS
        if self._has_order and not (is_number(value) or isinstance(value, str)):
            raise TypeError(f"{key} {sign} {value!r}: only numbers and texts have an order")
        self._key, self._value = key, constant(key, value)
        self._compare = _comparison(sign, self._value)
        self._keys, self._text = frozenset((key,)), f"{key} {sign} {format_value(self._value)}"

    @property
    def threshold(self) -> float | None:
        """Number that the key is ordered with; None for any other comparison."""
        return self._value if self._has_order and is_number(self._value) else None

    @property
    def text(self) -> str:
        """For example `app:anger > 0.7`."""
        return self._text

    @property
    def keys(self) -> frozenset[str]:
        """The key."""
        return self._keys

    def holds(self, reader: Reader, /) -> bool:
        """Return True when the comparison is true."""
        return self._compare(reader._raw(self._key))

    def explain(self, reader: Reader, /) -> Explanation:
        """Return the decision with the value read, and why it has no order if so."""
        read = read_key(reader, self._key)
        problem = ""
        if self._has_order:
            if not read.present:
                problem = f"{self._key} is missing"
            elif is_number(self._value) is not is_number(read.value) or isinstance(read.value, bool | list | dict):
                values = format_value(read.value), format_value(self._value)
                problem = f"{self._key} is {values[0]}, which has no order with {values[1]}"
        return Explanation(self.text, self._compare(read.value if read.present else MISSING), (read,), problem=problem)


def _comparison(sign: str, constant: Any) -> Callable[[Any], bool]:
    """Return the test of a value against a constant, with all decided that can be."""
    order = _ORDERINGS.get(sign)
    if order is None:
        wanted = sign == "=="
        return lambda value: same_value(None if value is MISSING else value, constant) is wanted
    if isinstance(constant, str):
        return lambda value: isinstance(value, str) and order(value, constant)
    return lambda value: is_number(value) and order(value, constant)


class Term(KeyExpression):
    """A key in an expression: its comparisons and tests are guards.

    The key itself is accepted as a guard, for "is true".
    """

    __slots__ = ()

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
        raise TruthError(f"key({self.key!r})")

    def __repr__(self) -> str:
        return f"key({self.key!r})"

    def is_set(self) -> Guard:
        """Return the guard that the key is present and not null."""
        return Test(self.key, "is set", lambda value: value is not MISSING and value is not None)

    def is_missing(self) -> Guard:
        """Return the guard that the key is absent, or null."""
        return Test(self.key, "is missing", lambda value: value is MISSING or value is None)

    def is_false(self) -> Guard:
        """Return the guard that the value is `false`, not merely missing."""
        return Test(self.key, "is false", lambda value: value is False)

    def one_of(self, *values: Any) -> Guard:
        """Return the guard that the value, null if missing, is one of `values`."""
        values = tuple(constant(self.key, value) for value in values)
        words = f"is one of {', '.join(map(format_value, values))}"
        null = None in values
        return Test(
            self.key, words, lambda value: null if value is MISSING else any(same_value(value, item) for item in values)
        )

    def contains(self, item: Any) -> Guard:
        """Return the guard that a list, an object's keys or a text contains `item`."""
        item = constant(self.key, item)

        def test(value: Any) -> bool:
            if isinstance(value, list):
                return any(same_value(member, item) for member in value)
            return isinstance(item, str) and isinstance(value, str | dict) and item in value

        return Test(self.key, f"contains {format_value(item)}", test)

    def changed(self) -> WatchPredicate:
        """Watch for any change."""
        return WatchPredicate.changed(self)

    def changed_to(self, value: Any) -> WatchPredicate:
        """Watch for a change to `value`."""
        return WatchPredicate.changed_to(self, value)

    def changed_from(self, value: Any) -> WatchPredicate:
        """Watch for a change away from `value`."""
        return WatchPredicate.changed_from(self, value)

    def crossed_above(self, threshold: float) -> WatchPredicate:
        """Watch for a number that was below `threshold` and now is at least that."""
        return WatchPredicate.crossed_above(self, threshold)

    def crossed_below(self, threshold: float) -> WatchPredicate:
        """Watch for a number that was at least `threshold` and now is below it."""
        return WatchPredicate.crossed_below(self, threshold)

    def became_true(self) -> WatchPredicate:
        """Watch for the value turning true."""
        return self.is_true().became_true()

    def became_false(self) -> WatchPredicate:
        """Watch for the value turning from true to anything else."""
        return self.is_true().became_false()


def key(name: str) -> Term:
    """Return the state key `name`, to build guards and watch predicates from.

    Raises `StateError` for an unknown scope.
    """
    return Term(check_key(name))


def called_ok(tool: str) -> Guard:
    """Return the guard that the tool has succeeded at least once in this session."""
    return Test(f"{CALLED_OK}{tool}", "counts a success", lambda value: is_number(value) and value > 0)
