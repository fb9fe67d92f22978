"""The moments a watcher waits for: ways in which a value, or the truth of a guard, can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from inspect import iscoroutinefunction
from typing import Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_number, same
from gemini_live_runtime.state.explaining import MISSING, Explanation, Read, Reader, shown
from gemini_live_runtime.state.guards import (
    All,
    AnyOf,
    Compare,
    Guard,
    GuardLike,
    Not,
    as_guard,
    function_name,
    has_function,
)
from gemini_live_runtime.state.keys import check_key
from gemini_live_runtime.state.reading import copied
from gemini_live_runtime.state.terms import Term

Decide = Callable[[Any, Any], bool]
"""Whether a change from old to new is the one waited for. A missing value is null (None)."""

Missing = Callable[[Any, Any], str]
"""What a change from old to new lacked to be it."""


class WatchPredicate:
    """A kind of change. Made by its class methods, or by `key(...)` and guards: `key("app:anger").crossed_above(0.7)`.

    `guard` is set for those that watch the truth of a guard; all others watch one key and see missing values as null.
    """

    __slots__ = ("_decide", "_missing", "always", "guard", "key", "keys", "plain", "text", "threshold", "wanted")

    def __init__(
        self,
        text: str,
        keys: frozenset[str],
        decide: Decide,
        missing: Missing,
        guard: Guard | None = None,
        wanted: bool = True,
        threshold: float | None = None,
    ) -> None:
        """For the class methods; `wanted` is the truth a guard has to turn to, `threshold` what is to be crossed."""
        self.text = text
        self.keys = keys
        self.key = next(iter(keys)) if len(keys) == 1 else ""
        self.guard = guard
        self.wanted = wanted
        self.threshold = guard.threshold if isinstance(guard, Compare) and wanted else threshold
        """The number that the key's value has to get past; None where it is about something else."""
        self.always = guard is not None and has_function(guard)
        """It has to be looked at after every change: nobody knows what its functions read."""
        self.plain = not self.always
        """No function of an author decides."""
        self._decide = decide
        self._missing = missing

    def __repr__(self) -> str:
        return f"<watch {self.text}>"

    @classmethod
    def changed(cls, key: str | Term) -> WatchPredicate:
        """Any change."""
        name = _name(key)
        return cls(f"{name} changed", frozenset((name,)), lambda old, new: True, lambda old, new: "")

    @classmethod
    def changed_to(cls, key: str | Term, value: Any) -> WatchPredicate:
        """A change to `value`."""
        name = _name(key)

        def missing(old: Any, new: Any) -> str:
            return f"it is {shown(new)}, not {shown(value)}"

        return cls(
            f"{name} changed to {shown(value)}",
            frozenset((name,)),
            lambda old, new: same(new, value) and not same(old, value),
            missing,
        )

    @classmethod
    def changed_from(cls, key: str | Term, value: Any) -> WatchPredicate:
        """A change away from `value`."""
        name = _name(key)

        def missing(old: Any, new: Any) -> str:
            return f"it was {shown(old)}, not {shown(value)}"

        return cls(
            f"{name} changed from {shown(value)}",
            frozenset((name,)),
            lambda old, new: same(old, value) and not same(new, value),
            missing,
        )

    @classmethod
    def crossed_above(cls, key: str | Term, threshold: float) -> WatchPredicate:
        """To at least `threshold` from below it, or from no value at all. True and false are no numbers."""
        return cls._crossed(key, threshold, "above", lambda value: value >= threshold)

    @classmethod
    def crossed_below(cls, key: str | Term, threshold: float) -> WatchPredicate:
        """To below `threshold` from at least it, or from no value at all. True and false are no numbers."""
        return cls._crossed(key, threshold, "below", lambda value: value < threshold)

    @classmethod
    def _crossed(cls, key: str | Term, threshold: float, way: str, beyond: Callable[[float], bool]) -> WatchPredicate:
        name = _name(key)
        if not is_number(threshold):
            raise AgentError(
                f"{name} cannot cross {shown(threshold)}",
                remedy="Give a number as the threshold",
                field="threshold",
                value=threshold,
            )

        def missing(old: Any, new: Any) -> str:
            for when, value in (("was", old), ("is", new)):
                if not (is_number(value) or (when == "was" and _absent(value))):
                    return f"it {when} {shown(value)}, not a number"
            if beyond(new) and not _absent(old):
                return f"it was {old:g} before, which is past {threshold:g} already"
            return _distance(new, threshold)

        return cls(
            f"{name} crossed {way} {threshold:g}",
            frozenset((name,)),
            lambda old, new: is_number(new) and beyond(new) and (_absent(old) or (is_number(old) and not beyond(old))),
            missing,
            threshold=threshold,
        )

    @classmethod
    def became_true(cls, guard: GuardLike | str) -> WatchPredicate:
        """The guard, or the value of a key, turned true."""
        return cls._became(guard, True)

    @classmethod
    def became_false(cls, guard: GuardLike | str) -> WatchPredicate:
        """The guard turned false, or the value of a key from true to anything else."""
        return cls._became(guard, False)

    @classmethod
    def _became(cls, given: GuardLike | str, wanted: bool) -> WatchPredicate:
        guard = Term(check_key(given)).is_true() if isinstance(given, str) else as_guard(given)
        word = "true" if wanted else "false"

        def missing(old: Any, new: Any) -> str:
            return f"it was {word} already" if new is wanted else f"it is not {word}"

        return cls(
            f"{guard.text} became {word}",
            guard.keys,
            lambda old, new: old is not wanted and new is wanted,
            missing,
            guard,
            wanted,
        )

    @classmethod
    def custom(cls, key: str | Term, decide: Decide, text: str = "") -> WatchPredicate:
        """A change of which `decide(old, new)` says yes; a missing value is None."""
        name = _name(key)
        if not callable(decide) or iscoroutinefunction(decide):
            raise AgentError(
                f"The predicate of a watcher on {name} is not a plain function",
                remedy="Give a function of (old, new) that returns true or false at once",
                field="decide",
                value=decide,
            )
        words = text or function_name(decide)
        made = cls(
            f"{name}: {words}",
            frozenset((name,)),
            lambda old, new: bool(decide(copied(old), copied(new))),
            lambda old, new: f"{words} said no",
        )
        made.plain = False
        return made

    def matches(self, old: Any, new: Any) -> bool:
        """Whether this change is the one: of the key's value (None for missing), or of the guard's truth.

        Raises what a custom function raises.
        """
        return self._decide(old, new)

    def missing(self, old: Any, new: Any, reader: Reader) -> str:
        """What was missing when it was not, for example `0.65 is 0.05 below 0.7`. Guards give their truths."""
        guard = self.guard
        if guard is None or new is self.wanted:
            return self._missing(old, new)
        if self.key and not isinstance(guard, All | AnyOf | Not):
            return _obstacle(guard.text, (self.key,), reader, self.wanted)
        return "; ".join(dict.fromkeys(_obstacles(guard, reader, self.wanted)))

    def share(self, reader: Reader) -> float | None:
        """How near the key's value is to the threshold: 1 at it, 0 far off. None where that cannot be measured."""
        if self.threshold is None:
            return None
        value = reader.get_raw(self.key)
        if not is_number(value):
            return None
        scale = max(abs(value), abs(self.threshold))
        return 1.0 if scale == 0 else round(max(0.0, 1 - abs(value - self.threshold) / scale), 4)

    def explain(self, key: str, old: Any, new: Any, reader: Reader, value: bool | None = None) -> Explanation:
        """The change with its values and who made it; for guards, the guard explained. Guards give their truths.

        `value` is what `matches` said, where it has been asked.
        """
        value = self.matches(old, new) if value is None else value
        if self.guard is not None:
            return Explanation(self.text, value, children=(self.guard.explain(reader),))
        read = Read(key, copied(new), reader.get_raw(key) is not MISSING, reader.written_by(key))
        return Explanation(self.text, value, (read,), (Explanation("before", copied(old)),))


def _absent(value: Any) -> bool:
    return value is None or value is MISSING


def _name(key: str | Term) -> str:
    return check_key(key.key if isinstance(key, Term) else key)


def _distance(value: float, threshold: float) -> str:
    if value == threshold:
        return f"it is {threshold:g} itself"
    return f"{value:g} is {abs(value - threshold):.3g} {'below' if value < threshold else 'above'} {threshold:g}"


def _obstacles(guard: Guard, reader: Reader, wanted: bool) -> Iterator[str]:
    """The parts of a guard that keep it from being `wanted`, each with the values it reads."""
    if isinstance(guard, All | AnyOf):
        for part in guard.parts:
            if part.holds(reader) is not wanted:
                yield from _obstacles(part, reader, wanted)
    elif isinstance(guard, Not):
        yield from _obstacles(guard.part, reader, not wanted)
    else:
        yield _obstacle(guard.text, sorted(guard.keys), reader, wanted)


def _obstacle(text: str, keys: Iterable[str], reader: Reader, wanted: bool) -> str:
    found = [(key, reader.get_raw(key)) for key in keys]
    values = ", ".join([f"{key} is {'missing' if value is MISSING else shown(value)}" for key, value in found])
    return f"{text} is {'false' if wanted else 'true'}{f' ({values})' if values else ''}"
