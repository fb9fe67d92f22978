"""Guards: conditions over state; watch predicates: changes to wait for.

`key("app:plan") == "gold"` builds a guard; `&`, `|` and `~` combine them. `holds` decides quickly; `explain` gives the
same decision as a tree with every value that was read and its writer. A missing key counts as null; an ordering
between values that have none is false, never an error.

Guards build watch predicates (`became_true`) and watch predicates take guards, functions and keys, so both are here.
`terms` has what authors begin with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text
from gemini_live_runtime.errors import AgentError, GuardError, TruthError
from gemini_live_runtime.json_values import is_number
from gemini_live_runtime.state.change_kinds import (
    ChangeKind,
    Decide,
    any_change,
    change_from,
    change_to,
    crossing,
    custom_change,
    truth_change,
)
from gemini_live_runtime.state.explanation import Explanation, Read, read_key
from gemini_live_runtime.state.functions import check_takes, function_name, is_async
from gemini_live_runtime.state.mutations import decision_of
from gemini_live_runtime.state.protocols import Reader
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.values import MISSING, copy_value, format_value


class KeyExpression:
    """A key in an expression; `terms.Term` adds the operators that authors use."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = exact_text(key)

    def is_true(self) -> Guard:
        """Return the guard that the value is `true`, not merely something."""
        return Test(self.key, "is true", lambda value: value is True)


class Guard(ABC):
    """A condition over state. An author's own condition is a function of the state.

    Raises `AgentError` for a class of an author's, whose methods could write while they decide.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__module__.startswith(f"{__package__}."):
            raise AgentError(
                f"{cls.__name__} cannot be a class of guards",
                remedy="Give a function of the state where a guard is asked for",
                field="guard",
                value=cls.__name__,
            )

    @property
    @abstractmethod
    def text(self) -> str:
        """Condition as an author would write it."""

    @property
    @abstractmethod
    def keys(self) -> frozenset[str]:
        """Keys it reads, as far as they are known beforehand; empty for functions."""

    @property
    def has_function(self) -> bool:
        """True when some part is an author's function, whose keys are unknown."""
        return False

    @property
    def threshold(self) -> float | None:
        """Number that its key is ordered with; None for any other condition."""
        return None

    @abstractmethod
    def holds(self, reader: Reader, /) -> bool:
        """Return True when it is true now; raise `GuardError` when a function raised."""

    @abstractmethod
    def explain(self, reader: Reader, /) -> Explanation:
        """Return the decision with its reasons; never raise."""

    def obstacles(self, reader: Reader, wanted: bool) -> list[str]:
        """Describe the parts that keep it from being `wanted`, with their values."""
        found = [(key, reader._raw(key)) for key in sorted(self.keys)]
        values = ", ".join(
            [f"{key} is {'missing' if value is MISSING else format_value(value)}" for key, value in found]
        )
        return [f"{self.text} is {'false' if wanted else 'true'}{f' ({values})' if values else ''}"]

    def became_true(self) -> WatchPredicate:
        """Watch for the moment at which this turns true."""
        return WatchPredicate.became_true(self)

    def became_false(self) -> WatchPredicate:
        """Watch for the moment at which this turns false."""
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
        # `a and b` would silently keep b alone.
        raise TruthError(f"The guard {self.text!r}")

    def __repr__(self) -> str:
        return f"<guard {self.text}>"


class Test(Guard):
    """A named test of one key's value."""

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
        """Return True when the value passes."""
        return self._test(reader._raw(self._key))

    def explain(self, reader: Reader, /) -> Explanation:
        """Return the decision with the value read."""
        read = read_key(reader, self._key)
        return Explanation(self.text, self._test(read.value if read.present else MISSING), (read,))


class _Combination(Guard):
    """Guards joined by "and" or "or"; a part that is `_decisive` decides the whole."""

    __slots__ = ("parts",)

    _decisive: bool

    def __init__(self, parts: tuple[Guard, ...]) -> None:
        self.parts = parts

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all parts."""
        return frozenset().union(*(part.keys for part in self.parts))

    @property
    def has_function(self) -> bool:
        """True when some part has one."""
        return any(part.has_function for part in self.parts)

    def explain(self, reader: Reader, /) -> Explanation:
        """Explain every part, also those behind the decisive one."""
        children = tuple(part.explain(reader) for part in self.parts)
        for child in children:
            # `holds` would have raised here and never asked the parts that follow.
            if child.failed:
                return Explanation(self.text, False, children=children, failed=True)
            if child.value is self._decisive:
                return Explanation(self.text, self._decisive, children=children)
        return Explanation(self.text, not self._decisive, children=children)

    def obstacles(self, reader: Reader, wanted: bool) -> list[str]:
        """Describe the parts that are not `wanted` themselves."""
        return [
            text for part in self.parts if part.holds(reader) is not wanted for text in part.obstacles(reader, wanted)
        ]


class All(_Combination):
    """Guard that holds while every part does."""

    __slots__ = ()

    _decisive = False

    @property
    def text(self) -> str:
        """Texts of the parts, joined by "and"."""
        return " and ".join(f"({p.text})" if isinstance(p, AnyOf) else p.text for p in self.parts)

    def holds(self, reader: Reader, /) -> bool:
        """Ask the parts up to the first that does not hold."""
        return all(part.holds(reader) for part in self.parts)


class AnyOf(_Combination):
    """Guard that holds while at least one part does."""

    __slots__ = ()

    _decisive = True

    @property
    def text(self) -> str:
        """Texts of the parts, joined by "or"."""
        return " or ".join(part.text for part in self.parts)

    def holds(self, reader: Reader, /) -> bool:
        """Ask the parts up to the first that holds."""
        return any(part.holds(reader) for part in self.parts)


def _parts(kind: type[All] | type[AnyOf], guard: Guard) -> tuple[Guard, ...]:
    return guard.parts if isinstance(guard, kind) else (guard,)


class Not(Guard):
    """The opposite of a guard."""

    __slots__ = ("part",)

    def __init__(self, part: Guard) -> None:
        self.part = part

    @property
    def text(self) -> str:
        """Text of the part after "not"."""
        return f"not ({self.part.text})"

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the part."""
        return self.part.keys

    @property
    def has_function(self) -> bool:
        """True when the part has one."""
        return self.part.has_function

    def holds(self, reader: Reader, /) -> bool:
        """Return True when the part does not hold."""
        return not self.part.holds(reader)

    def explain(self, reader: Reader, /) -> Explanation:
        """Explain the part; where it failed, its opposite is false as well."""
        child = self.part.explain(reader)
        return Explanation(self.text, not child.value and not child.failed, children=(child,), failed=child.failed)

    def obstacles(self, reader: Reader, wanted: bool) -> list[str]:
        """Describe what keeps the part from the opposite."""
        return self.part.obstacles(reader, not wanted)

    def __invert__(self) -> Guard:
        return self.part


class Constant(Guard):
    """A guard that always or never holds."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    @property
    def text(self) -> str:
        """`always` or `never`."""
        return "always" if self.value else "never"

    @property
    def keys(self) -> frozenset[str]:
        """No keys."""
        return frozenset()

    def holds(self, reader: Reader, /) -> bool:
        """Return the constant."""
        return self.value

    def explain(self, reader: Reader, /) -> Explanation:
        """Return the constant."""
        return Explanation(self.text, self.value)


class Function(Guard):
    """A plain function of the state, explained by the keys it reads."""

    __slots__ = ("_text", "function")

    def __init__(self, function: Callable[[Any], Any], text: str = "") -> None:
        self.function = function
        self._text = text or function_name(function)

    @property
    def text(self) -> str:
        """Name of the function, or its file and line when it has none."""
        return self._text

    @property
    def keys(self) -> frozenset[str]:
        """No keys: they are unknown until it runs."""
        return frozenset()

    @property
    def has_function(self) -> bool:
        """Always true."""
        return True

    def holds(self, reader: Reader, /) -> bool:
        """Return the truth of its result; raise `GuardError` naming it when it raises."""
        try:
            return decision_of(self.function, reader.read_only())
        except USER_ERRORS as error:
            raise GuardError(f"The guard {self._text} failed: {error_text(error)}") from error

    def explain(self, reader: Reader, /) -> Explanation:
        """Return its truth with every key it read on the way."""
        recorder = reader.record_reads()
        try:
            value, problem = decision_of(self.function, recorder), ""
        except USER_ERRORS as error:
            value, problem = False, f"it failed: {error_text(error)}"
        reads = tuple(read_key(reader, key) for key in recorder.keys_read)
        return Explanation(self._text, value, reads, problem=problem, failed=bool(problem))


GuardLike: TypeAlias = Guard | KeyExpression | bool | Callable[[Any], Any]
"""A guard, a key for "is true", a constant, or a function of the `State` for the truth of its result."""


def as_guard(value: GuardLike) -> Guard:
    """Return `value` as a guard; raise `TypeError` for anything that cannot be one.

    Raises `AgentError` for a function that cannot be called with the state.
    """
    if isinstance(value, Guard):
        return value
    if isinstance(value, KeyExpression):
        return value.is_true()
    if isinstance(value, bool):
        return Constant(value)
    if callable(value):
        if is_async(value):
            raise TypeError(
                f"The guard {function_name(value)} is async: a guard decides at once, so write it with plain def"
            )
        check_takes(f"The guard {function_name(value)}", value, "(state)")
        return Function(value)
    raise TypeError(f"{value!r} is not a guard: use key(...), a guard, or a function of the state")


class WatchPredicate:
    """A change to wait for, such as `key("app:anger").crossed_above(0.7)`.

    Its class methods, keys and guards make them. `guard` is set for those that watch the truth of a guard: their `old`
    and `new` are truths. All others watch one key and see missing values as null.
    """

    __slots__ = (
        "_missing",
        "always",
        "guard",
        "is_declarative",
        "key",
        "keys",
        "matches",
        "text",
        "threshold",
        "wanted",
    )

    def __init__(self, kind: ChangeKind, keys: frozenset[str], guard: Guard | None = None, wanted: bool = True) -> None:
        """Take a kind of change; `wanted` is the truth that `guard` has to turn to."""
        if not isinstance(kind, ChangeKind):
            raise AgentError(
                f"A watcher cannot wait for {kind!r:.60}",
                remedy='Write key("app:x").changed(), or one of the class methods of WatchPredicate',
                field="kind",
                value=kind,
            )
        self.text = kind.text
        self.keys = keys
        self.key = next(iter(keys)) if len(keys) == 1 else ""
        self.guard = guard
        self.wanted = wanted
        self.threshold = guard.threshold if guard is not None and wanted else kind.threshold
        """Number that the key's value has to get past; None for anything else."""
        self.always = guard is not None and guard.has_function
        """True when it is evaluated after every change: the keys that its functions read are unknown."""
        self.is_declarative = not self.always
        """True when no author's function decides."""
        self.matches = kind.matches
        """Returns True when the change from `old` to `new` is the one; raises what an author's function raises."""
        self._missing = kind.missing

    def __repr__(self) -> str:
        return f"<watch {self.text}>"

    @classmethod
    def _of_key(
        cls, kind: Callable[..., ChangeKind], key: str | KeyExpression, *args: Any, **options: Any
    ) -> WatchPredicate:
        name = check_key(key.key if isinstance(key, KeyExpression) else key)
        return cls(kind(name, *args, **options), frozenset((name,)))

    @classmethod
    def changed(cls, key: str | KeyExpression) -> WatchPredicate:
        """Watch for any change."""
        return cls._of_key(any_change, key)

    @classmethod
    def changed_to(cls, key: str | KeyExpression, value: Any) -> WatchPredicate:
        """Watch for a change to `value`."""
        return cls._of_key(change_to, key, value)

    @classmethod
    def changed_from(cls, key: str | KeyExpression, value: Any) -> WatchPredicate:
        """Watch for a change away from `value`."""
        return cls._of_key(change_from, key, value)

    @classmethod
    def crossed_above(cls, key: str | KeyExpression, threshold: float) -> WatchPredicate:
        """Watch for a number that reaches `threshold` from below, or begins there."""
        return cls._of_key(crossing, key, threshold, above=True)

    @classmethod
    def crossed_below(cls, key: str | KeyExpression, threshold: float) -> WatchPredicate:
        """Watch for a number that falls below `threshold`, or begins there."""
        return cls._of_key(crossing, key, threshold, above=False)

    @classmethod
    def custom(cls, key: str | KeyExpression, decide: Decide, text: str = "") -> WatchPredicate:
        """Watch for a change of which `decide(old, new)` is true; a missing value is None."""
        predicate = cls._of_key(custom_change, key, decide, text)
        predicate.is_declarative = False
        return predicate

    @classmethod
    def became_true(cls, guard: GuardLike | str) -> WatchPredicate:
        """Watch for a guard, or a key's value, turning true."""
        return cls._of_guard(guard, True)

    @classmethod
    def became_false(cls, guard: GuardLike | str) -> WatchPredicate:
        """Watch for a guard turning false, or a key's value turning from true."""
        return cls._of_guard(guard, False)

    @classmethod
    def _of_guard(cls, value: GuardLike | str, wanted: bool) -> WatchPredicate:
        try:
            guard = KeyExpression(check_key(value)).is_true() if isinstance(value, str) else as_guard(value)
        except TypeError as error:
            raise AgentError(f"A watcher cannot wait for this: {error}", field="guard", value=value) from None
        return cls(truth_change(guard.text, wanted), guard.keys, guard, wanted)

    def missing(self, old: Any, new: Any, reader: Reader) -> str:
        """Describe what a change that does not match lacked: `0.65 is 0.05 below 0.7`."""
        if self.guard is None or new is self.wanted:
            return self._missing(old, new)
        return "; ".join(dict.fromkeys(self.guard.obstacles(reader, self.wanted)))

    def share(self, reader: Reader) -> float | None:
        """Return how near the key's number is to the threshold, 0 to 1, or None.

        1 is at the threshold; None means that there is no threshold or no number.
        """
        if self.threshold is None:
            return None
        value = reader._raw(self.key)
        if not is_number(value):
            return None
        scale = max(abs(value), abs(self.threshold))
        return 1.0 if scale == 0 else round(max(0.0, 1 - abs(value - self.threshold) / scale), 4)

    def explain(self, key: str, old: Any, new: Any, reader: Reader) -> Explanation:
        """Explain a change that matches: its values and writer, or its guard."""
        if self.guard is not None:
            return Explanation(self.text, True, children=(self.guard.explain(reader),))
        read = Read(key, copy_value(new), reader._raw(key) is not MISSING, reader.written_by(key))
        return Explanation(self.text, True, (read,), (Explanation("before", copy_value(old)),))
