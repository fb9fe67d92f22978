"""Guards: conditions over state that can explain themselves.

`key("app:plan") == "gold"` builds a guard; `&`, `|` and `~` combine them. `holds` decides quickly, `explain` gives the
same decision as a tree with every value that was read and who wrote it. A key that is missing counts as null; an
ordering between values that have none is false, never an error.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from gemini_live_runtime.errors import GuardError

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State
    from gemini_live_runtime.state.watchers import WatchPredicate

CALLED_OK = "session:called_ok:"
"""Prefix of the counts of a tool's successful calls."""


class _Missing:
    """The value of a key that is not there; false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __copy__(self) -> _Missing:
        return self

    def __deepcopy__(self, memo: object) -> _Missing:
        return self


MISSING: Final = _Missing()


class Reader(Protocol):
    """What guards are evaluated against: a `State`, one of its overlays, or a recorder around them."""

    def get_raw(self, key: str, /) -> Any:
        """The value, which must not be changed, or `MISSING`."""
        ...

    def written_by(self, key: str, /) -> str:
        """Who wrote the value last, in a few words; "" when nobody is known to have."""
        ...


@dataclass(frozen=True, slots=True)
class Read:
    """One value that was read. `by` names its last writer."""

    key: str
    value: Any
    present: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with its reasons: this node's own `reads`, and its parts. `problem` says what went wrong.

    `failed`: a function raised before the decision was made, so `value` is false and so would be its opposite.
    """

    text: str
    value: Any
    reads: tuple[Read, ...] = ()
    children: tuple[Explanation, ...] = ()
    problem: str = ""
    failed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The tree as JSON, without what is empty."""
        tree: dict[str, Any] = {"text": self.text, "value": self.value}
        if self.reads:
            tree["reads"] = [
                {"key": r.key, "value": r.value if r.present else None, "present": r.present, "by": r.by}
                for r in self.reads
            ]
        if self.children:
            tree["children"] = [child.to_json() for child in self.children]
        if self.problem:
            tree["problem"] = self.problem
        return tree

    def all_reads(self) -> Iterator[Read]:
        """Every value that was read, in order."""
        yield from self.reads
        for child in self.children:
            yield from child.all_reads()


class Guard(ABC):
    """A condition over state."""

    __slots__ = ()

    @property
    @abstractmethod
    def text(self) -> str:
        """The condition as one would write it."""

    @property
    @abstractmethod
    def keys(self) -> frozenset[str]:
        """The keys it reads as far as they are known beforehand; none for functions."""

    @abstractmethod
    def holds(self, reader: Reader, /) -> bool:
        """Whether it is true now. Raises `GuardError` only when a function in it raised."""

    @abstractmethod
    def explain(self, reader: Reader, /) -> Explanation:
        """The decision with its reasons; never raises."""

    def became_true(self) -> WatchPredicate:
        """Watch for the moment at which this turns true."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.became_true(self)

    def became_false(self) -> WatchPredicate:
        """Watch for the moment at which this turns false."""
        from gemini_live_runtime.state.watchers import WatchPredicate

        return WatchPredicate.became_false(self)

    def __and__(self, other: GuardLike) -> Guard:
        return All((*_parts(All, self), *_parts(All, as_guard(other))))

    def __rand__(self, other: GuardLike) -> Guard:
        return as_guard(other) & self

    def __or__(self, other: GuardLike) -> Guard:
        return AnyOf((*_parts(AnyOf, self), *_parts(AnyOf, as_guard(other))))

    def __ror__(self, other: GuardLike) -> Guard:
        return as_guard(other) | self

    def __invert__(self) -> Guard:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"The guard {self.text!r} has no value of its own: combine guards with &, | and ~, not and/or/not"
        )

    def __repr__(self) -> str:
        return f"<guard {self.text}>"


def _parts(kind: type[All] | type[AnyOf], guard: Guard) -> tuple[Guard, ...]:
    return guard.parts if isinstance(guard, kind) else (guard,)


def _read(reader: Reader, key: str) -> Read:
    value = reader.get_raw(key)
    present = value is not MISSING
    return Read(key, value if present else None, present, reader.written_by(key) if present else "")


def shown(value: Any) -> str:
    """A JSON value as it stands in a guard's text."""
    if isinstance(value, str):
        return f'"{value}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: true is not 1, and neither is any part of a list or an object."""
    if left != right:  # most often decided here, at the speed of C; what follows is only stricter
        return False
    kind = type(left)
    if kind is not type(right):
        return kind is not bool and type(right) is not bool
    if kind is list:
        return all(map(same, left, right))
    if kind is dict:
        return all(same(value, right[name]) for name, value in left.items())
    return True


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Compare(Guard):
    """A key against a constant: `==`, `!=` or an ordering."""

    __slots__ = ("_key", "_order", "_sign", "_value")

    def __init__(self, key: str, sign: str, value: Any) -> None:
        if isinstance(value, Term | Guard):
            raise TypeError(f"{key} {sign} {value!r}: a key is compared with a value; compare two keys in a function")
        self._key, self._sign, self._value = key, sign, value
        self._order = _ORDER.get(sign)
        if self._order is not None and not (is_number(value) or isinstance(value, str)):
            raise TypeError(f"{key} {sign} {value!r}: only numbers and texts have an order")

    @property
    def text(self) -> str:
        """For example `app:anger > 0.7`."""
        return f"{self._key} {self._sign} {shown(self._value)}"

    @property
    def keys(self) -> frozenset[str]:
        """The key."""
        return frozenset((self._key,))

    def holds(self, reader: Reader, /) -> bool:
        """Whether the comparison is true."""
        return self._decide(reader.get_raw(self._key))

    def _decide(self, value: Any) -> bool:
        order = self._order
        if order is None:
            equal = same(None if value is MISSING else value, self._value)
            return equal if self._sign == "==" else not equal
        if isinstance(self._value, str):
            return isinstance(value, str) and order(value, self._value)
        return is_number(value) and order(value, self._value)

    def explain(self, reader: Reader, /) -> Explanation:
        """The comparison with the value read."""
        read = _read(reader, self._key)
        problem = ""
        if self._order is not None:
            if not read.present:
                problem = f"{self._key} is missing"
            elif is_number(self._value) is not is_number(read.value) or isinstance(read.value, bool | list | dict):
                problem = f"{self._key} is {shown(read.value)}, which has no order with {shown(self._value)}"
        return Explanation(self.text, self._decide(read.value if read.present else MISSING), (read,), problem=problem)


class Test(Guard):
    """A key that passes a named test."""

    __slots__ = ("_key", "_test", "_words")

    def __init__(self, key: str, words: str, test: Callable[[Any], bool]) -> None:
        """`words` follow the key in the text; `test` gets the value or `MISSING`."""
        self._key, self._words, self._test = key, words, test

    @property
    def text(self) -> str:
        """For example `user:name is set`."""
        return f"{self._key} {self._words}"

    @property
    def keys(self) -> frozenset[str]:
        """The key."""
        return frozenset((self._key,))

    def holds(self, reader: Reader, /) -> bool:
        """Whether the test passes."""
        return self._test(reader.get_raw(self._key))

    def explain(self, reader: Reader, /) -> Explanation:
        """The test with the value read."""
        read = _read(reader, self._key)
        return Explanation(self.text, self._test(read.value if read.present else MISSING), (read,))


class All(Guard):
    """Every part holds. Parts after the first that does not are still explained: a person wants to know them all."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Guard, ...]) -> None:
        self.parts = parts

    @property
    def text(self) -> str:
        """The parts joined by "and"."""
        return " and ".join(f"({p.text})" if isinstance(p, AnyOf) else p.text for p in self.parts)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all parts."""
        return frozenset().union(*(part.keys for part in self.parts))

    def holds(self, reader: Reader, /) -> bool:
        """Whether every part holds, up to the first that does not."""
        return all(part.holds(reader) for part in self.parts)

    def explain(self, reader: Reader, /) -> Explanation:
        """Every part explained."""
        return _joined(self.text, tuple(part.explain(reader) for part in self.parts), decisive=False)


class AnyOf(Guard):
    """At least one part holds."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Guard, ...]) -> None:
        self.parts = parts

    @property
    def text(self) -> str:
        """The parts joined by "or"."""
        return " or ".join(part.text for part in self.parts)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all parts."""
        return frozenset().union(*(part.keys for part in self.parts))

    def holds(self, reader: Reader, /) -> bool:
        """Whether a part holds, up to the first that does."""
        return any(part.holds(reader) for part in self.parts)

    def explain(self, reader: Reader, /) -> Explanation:
        """Every part explained."""
        return _joined(self.text, tuple(part.explain(reader) for part in self.parts), decisive=True)


def _joined(text: str, children: tuple[Explanation, ...], *, decisive: bool) -> Explanation:
    """The decision as `holds` makes it: by the first child with the `decisive` value, or undone by one that failed."""
    for child in children:
        if child.failed:
            return Explanation(text, False, children=children, failed=True)
        if child.value is decisive:
            return Explanation(text, decisive, children=children)
    return Explanation(text, not decisive, children=children)


class Not(Guard):
    """The opposite."""

    __slots__ = ("part",)

    def __init__(self, part: Guard) -> None:
        self.part = part

    @property
    def text(self) -> str:
        """The part after "not"."""
        return f"not ({self.part.text})"

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the part."""
        return self.part.keys

    def holds(self, reader: Reader, /) -> bool:
        """Whether the part does not hold."""
        return not self.part.holds(reader)

    def explain(self, reader: Reader, /) -> Explanation:
        """The part explained. Where it failed, the opposite is not taken to be true."""
        child = self.part.explain(reader)
        return Explanation(self.text, not child.value and not child.failed, children=(child,), failed=child.failed)

    def __invert__(self) -> Guard:
        return self.part


class Constant(Guard):
    """Always or never."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    @property
    def text(self) -> str:
        """`always` or `never`."""
        return "always" if self.value else "never"

    @property
    def keys(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def holds(self, reader: Reader, /) -> bool:
        """The constant."""
        return self.value

    def explain(self, reader: Reader, /) -> Explanation:
        """The constant."""
        return Explanation(self.text, self.value)


class Function(Guard):
    """A plain function of the state, explained by the keys it reads."""

    __slots__ = ("_text", "function")

    def __init__(self, function: Callable[[Any], Any], text: str = "") -> None:
        self.function = function
        self._text = text or function_name(function)

    @property
    def text(self) -> str:
        """The function's name, or where it stands when it has none."""
        return self._text

    @property
    def keys(self) -> frozenset[str]:
        """Unknown until it runs."""
        return frozenset()

    def holds(self, reader: Reader, /) -> bool:
        """The truth of what it returns; raises `GuardError` naming it when it raises."""
        try:
            return bool(self.function(reader))
        except Exception as error:
            raise GuardError(f"The guard {self._text} failed: {type(error).__name__}: {error}") from error

    def explain(self, reader: Reader, /) -> Explanation:
        """What it returned, and every key it read on the way."""
        from gemini_live_runtime.state.recorder import ReadRecorder

        recorder = ReadRecorder(reader)
        try:
            value, problem = bool(self.function(recorder)), ""
        except Exception as error:
            value, problem = False, f"it failed: {type(error).__name__}: {error}"
        reads = tuple(_read(reader, key) for key in recorder.keys_read)
        return Explanation(self._text, value, reads, problem=problem, failed=bool(problem))


def function_name(function: Callable[..., Any]) -> str:
    """A function's name; `lambda (file.py:12)` for one without."""
    name = getattr(function, "__name__", type(function).__name__)
    if name != "<lambda>":
        return str(name)
    code = getattr(function, "__code__", None)
    if code is None:
        return "lambda"
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"lambda ({file}:{code.co_firstlineno})"


class Term:
    """A key in an expression: its comparisons and tests are guards, and so is itself, for "is true"."""

    __slots__ = ("key",)

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


GuardLike: TypeAlias = "Guard | Term | bool | Callable[[State], Any]"
"""What is taken as a guard: a term stands for "is true", a function for the truth of what it returns."""


def key(name: str) -> Term:
    """The state key `name`, to build guards and watch predicates from. Raises `StateError` for an unknown scope."""
    from gemini_live_runtime.state.keys import check_key

    return Term(check_key(name))


def called_ok(tool: str) -> Guard:
    """The tool has succeeded at least once in this session."""
    return Test(f"{CALLED_OK}{tool}", "counts a success", lambda value: is_number(value) and value > 0)


def as_guard(value: GuardLike) -> Guard:
    """`value` as a guard; raises `TypeError` for what cannot be one."""
    if isinstance(value, Guard):
        return value
    if isinstance(value, Term):
        return value.is_true()
    if isinstance(value, bool):
        return Constant(value)
    if iscoroutinefunction(value):
        raise TypeError(
            f"The guard {function_name(value)} is async: a guard decides at once, so write it with plain def"
        )
    if callable(value):
        return Function(value)
    raise TypeError(f"{value!r} is not a guard: use key(...), a guard, or a function of the state")
