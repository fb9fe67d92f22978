"""Record changes of state: each write with its writer, and net changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import get_ident
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    NoneType,
    coroutine,
)
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar

from gemini_live_runtime.author_code import deciding_threads
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.state.values import IMMUTABLE, MISSING

R = TypeVar("R")

OriginKind = Literal[
    "tool",
    "extractor",
    "phase",
    "watcher",
    "operator",
    "signal",
    "callback",
    "agent",
    "computed",
    "restored",
    "initial",
    "program",
]


@frozen_record
class Origin:
    """The writer of a value: its kind, its name among that kind, and its reason."""

    kind: OriginKind
    name: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


PROGRAM = Origin("program")
DECIDING = Origin("program", "", "deciding")
"""Writer while code that decides runs; the state refuses what it writes."""

_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_UNDECIDED = (CoroutineType, GeneratorType, AsyncGeneratorType, Awaitable, *_FUNCTIONS)
"""Types whose every object is true, and which come of a missing call, `await` or `return`."""

_DECIDED = frozenset((bool, int, float, str, list, tuple, dict, set, frozenset, NoneType))
"""Types of nearly all decisions: none of them awaits, and a look here is far quicker than at those."""

current_writer: ContextVar[Origin] = ContextVar("state_writer", default=PROGRAM)


def is_deciding() -> bool:
    """Return True in code that decides, and in tasks that it started.

    Its thread tells it, or the context, which tasks have from it.
    """
    return current_writer.get() is DECIDING or (bool(deciding_threads) and get_ident() in deciding_threads)


class writing_as:  # noqa: N801 - read as a statement
    """Attribute writes to any state in this context to `origin`.

    Tasks started in the context inherit it. Code that decides cannot write by another name either. Each turn has some:
    a context manager made of a generator takes three times as long.
    """

    __slots__ = ("_origin", "_token")

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def __enter__(self) -> None:
        self._token = current_writer.set(DECIDING if is_deciding() else self._origin)

    def __exit__(self, *_: object) -> None:
        current_writer.reset(self._token)


class noting_as:  # noqa: N801 - read as a statement
    """Attribute the session's own notes of an event to `origin`.

    Code that decides causes events, too: it fails, say.
    """

    __slots__ = ("_decisions", "_origin", "_token")

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def __enter__(self) -> None:
        self._token = current_writer.set(self._origin)
        thread = get_ident()
        self._decisions = deciding_threads.count(thread) if deciding_threads else 0
        for _ in range(self._decisions):
            deciding_threads.remove(thread)

    def __exit__(self, *_: object) -> None:
        if self._decisions:
            deciding_threads.extend([get_ident()] * self._decisions)
        current_writer.reset(self._token)


@contextmanager
def deciding() -> Iterator[None]:
    """Refuse writes in this block of deciding code, which must not await.

    Tasks started in it are refused as well.
    """
    token = current_writer.set(DECIDING)
    thread = get_ident()
    deciding_threads.append(thread)
    try:
        yield
    finally:
        deciding_threads.remove(thread)
        current_writer.reset(token)


def check_may_act(what: str = "use the session's handle to act") -> None:
    """Raise `AgentError` in code that decides.

    What it does may call for the same decision again, without end.
    """
    if is_deciding():
        raise AgentError(
            f"Code that decides cannot {what}",
            remedy="Act in a tool, a callback, a watcher or a hook of a phase; a rule returns effects",
        )


def check_may_wait(what: str, remedy: str) -> None:
    """Raise `AgentError` in an agent's code, which the session waits for."""
    if current_writer.get().kind != "program":
        raise AgentError(f"A tool, a hook or a listener cannot wait {what}, which waits for it", remedy=remedy)


@coroutine
def await_decision(work: Awaitable[R]) -> Generator[Any, Any, R]:
    """Await code that decides; what one of its steps writes is refused."""
    steps: Any = work.__await__()
    step, value = steps.send, None
    while True:
        try:
            with deciding():
                waits = step(value)
        except StopIteration as ended:
            found: R = ended.value
            return found
        try:
            step, value = steps.send, (yield waits)
        except BaseException as error:
            step, value = steps.throw, error


def call_to_decide(function: Callable[..., R], *args: Any) -> R:
    """Return the result of code that decides.

    Its writes raise `StateError`, also to a `State` that it got elsewhere: they would call for the decision again.
    Raises `TypeError` when it returns a coroutine, another awaitable, a generator or a function: each counts as true.
    The result may be an object of the author's: `read_decision` reads one.
    """
    # `deciding` written out: a context manager would cost more than most decisions.
    token = current_writer.set(DECIDING)
    thread = get_ident()
    deciding_threads.append(thread)
    try:
        result = function(*args)
        if type(result) not in _DECIDED and isinstance(result, _UNDECIDED):
            _refuse(result)
    finally:
        deciding_threads.remove(thread)
        current_writer.reset(token)
    return result


def read_decision(read: Callable[[Any], R], function: Callable[..., object], *args: Any) -> R:
    """Return what `read` makes of the result of code that decides.

    Reading a value of the author's class runs code of that class, which decides too. Else as `call_to_decide`.
    """
    found: R = call_to_decide(_read, read, function, args)
    return found


def _read(read: Callable[[Any], R], function: Callable[..., object], args: tuple[Any, ...]) -> R:
    result = function(*args)
    if type(result) not in _DECIDED and isinstance(result, _UNDECIDED):
        _refuse(result)
    return read(result)


def decision_of(function: Callable[..., object], *args: Any) -> bool:
    """Return the truth of what code that decides returns; else as `call_to_decide`.

    An object's truth is code of its class, and decides too.
    """
    return call_to_decide(_truth, function, args)


def _truth(function: Callable[..., object], args: tuple[Any, ...]) -> bool:
    result = function(*args)
    if result is True or result is False:
        return result
    if isinstance(result, _UNDECIDED):
        _refuse(result)
    return bool(result)


def _refuse(result: object) -> NoReturn:
    if isinstance(result, CoroutineType):
        result.close()
        raise TypeError("it returned a coroutine, but code that decides has to decide at once")
    kind = "function" if isinstance(result, _FUNCTIONS) else type(result).__name__
    raise TypeError(f"it returned a {kind}, which is no decision: return its result")


class Mutation(NamedTuple):
    """A change of one key.

    `old` or `new` is `MISSING` where the key was or is absent; `sequence` is dense from 1 in a state.
    """

    sequence: int
    key: str
    old: Any
    new: Any
    origin: Origin
    turn: int


MutationRecord: TypeAlias = tuple[int, str, Any, Any, Origin, int]
"""Fields of a `Mutation`. A plain tuple is made three times as fast, and most are never read."""


class Changes:
    """Net changes since the last `take`, one old value a key. Made by `State.track`.

    The state writes `old_values` itself, at the first change of each key, while it holds its lock.
    """

    __slots__ = ("_lock", "_own", "old_values")

    def __init__(
        self,
        own: Callable[[str, Any], Any],
        lock: AbstractContextManager[Any],
        old_values: dict[str, Any],
    ) -> None:
        """`own(key, MISSING)` reads the value stored under `key` itself."""
        self._own = own
        self._lock = lock
        self.old_values = old_values

    def __len__(self) -> int:
        return len(self.old_values)

    def take(self) -> dict[str, tuple[Any, Any]]:
        """Return (old, new) of the keys whose value differs now, and begin anew.

        They are in the order of their first change, with `MISSING` for absent. A `derived:` value that readers of its
        bare name see is listed under both names.
        """
        own = self._own
        changed = {}
        aliased = False
        with self._lock:
            taken, self.old_values = self.old_values, {}
            for key, old in taken.items():
                new = own(key, MISSING)
                kind = type(new)
                if kind is type(old) and kind in IMMUTABLE:
                    if new == old:
                        continue
                elif same_value(old, new):
                    continue
                changed[key] = (old, new)
                # Only bare names and `derived:` keys, the one scope that begins with d, can show each other's values.
                if ":" not in key or key[0] == "d":
                    aliased = True
            return self._with_bare_names(taken, changed) if aliased else changed

    def _with_bare_names(
        self, taken: dict[str, Any], changed: dict[str, tuple[Any, Any]]
    ) -> dict[str, tuple[Any, Any]]:
        """Add changes of bare names, which show `derived:` unless stored themselves."""
        own = self._own
        seen: dict[str, tuple[Any, Any]] = {}
        for key in changed:
            bare = key.removeprefix("derived:")
            if bare != key:
                seen[key] = changed[key]
            if ":" not in bare:
                derived = f"derived:{bare}"
                new = own(bare, MISSING)
                old = taken.get(bare, new)
                if old is MISSING:
                    old = taken.get(derived, own(derived, MISSING))
                if new is MISSING:
                    new = own(derived, MISSING)
                if not same_value(old, new):
                    seen[bare] = (old, new)
            elif bare == key:
                seen[key] = changed[key]
        return seen
