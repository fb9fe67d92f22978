"""Guards: conditions over state that can explain themselves.

`key("app:plan") == "gold"` builds a guard; `&`, `|` and `~` combine them. `holds` decides quickly, `explain` gives the
same decision as a tree with every value that was read and who wrote it. A key that is missing counts as null; an
ordering between values that have none is false, never an error.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeAlias

from gemini_live_runtime.errors import GuardError
from gemini_live_runtime.json_values import is_number, same
from gemini_live_runtime.state.explaining import (
    MISSING,
    Explanation,
    Reader,
    read_of,
    shown,
)

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State
    from gemini_live_runtime.state.watchers import WatchPredicate


class KeyExpression:
    """A key in an expression; `terms.Term` is what authors use."""

    __slots__ = ("key",)

    key: str

    def is_true(self) -> Guard:
        """The value is true itself."""
        raise NotImplementedError


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
        if isinstance(value, KeyExpression | Guard):
            raise TypeError(f"{key} {sign} {value!r}: a key is compared with a value; compare two keys in a function")
        self._key, self._sign, self._value = key, sign, value
        self._order = _ORDER.get(sign)
        if self._order is not None and not (is_number(value) or isinstance(value, str)):
            raise TypeError(f"{key} {sign} {value!r}: only numbers and texts have an order")

    @property
    def threshold(self) -> float | None:
        """The number that the key is ordered with; None for any other comparison."""
        return self._value if self._order is not None and is_number(self._value) else None

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
        read = read_of(reader, self._key)
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
        read = read_of(reader, self._key)
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
        except (Exception, SystemExit) as error:
            raise GuardError(f"The guard {self._text} failed: {type(error).__name__}: {error}") from error

    def explain(self, reader: Reader, /) -> Explanation:
        """What it returned, and every key it read on the way."""
        from gemini_live_runtime.state.recorder import ReadRecorder

        recorder = ReadRecorder(reader)
        try:
            value, problem = bool(self.function(recorder)), ""
        except (Exception, SystemExit) as error:
            value, problem = False, f"it failed: {type(error).__name__}: {error}"
        reads = tuple(read_of(reader, key) for key in recorder.keys_read)
        return Explanation(self._text, value, reads, problem=problem, failed=bool(problem))


def has_function(guard: Guard) -> bool:
    """Whether some part of it is a function: then nobody knows what it reads."""
    if isinstance(guard, All | AnyOf):
        return any(map(has_function, guard.parts))
    return has_function(guard.part) if isinstance(guard, Not) else isinstance(guard, Function)


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


GuardLike: TypeAlias = "Guard | KeyExpression | bool | Callable[[State], Any]"
"""What is taken as a guard: a term stands for "is true", a function for the truth of what it returns."""


def as_guard(value: GuardLike) -> Guard:
    """`value` as a guard; raises `TypeError` for what cannot be one."""
    if isinstance(value, Guard):
        return value
    if isinstance(value, KeyExpression):
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
