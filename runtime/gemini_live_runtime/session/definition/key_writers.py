"""Find the state keys that an author's code may write, without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dis import get_instructions
from itertools import pairwise
from types import CodeType, FunctionType, MethodType
from typing import Any

from gemini_live_runtime.state.terms import Term

LIVE_KEYS = ("session:silence_ms", "session:elapsed_ms", "session:remaining_budget_ms")
"""Keys whose values are computed when they are read; their changes make no mutations."""

_MAX_FUNCTIONS = 2000

_WRITERS = frozenset(("set", "modify"))
"""Methods that write a key of the state."""

_NAMED = frozenset(("LOAD_CONST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"))
"""Instructions that load a key which `Mentions` finds."""


class Mentions:
    """Set of strings and state keys that functions mention.

    Code, closures and the functions they call are searched. A key is contained when its whole name, its name without
    scope, or a bare scope (`"user:"`, to which code appends a name) is mentioned. Only for a key that no function
    mentions is it certain that no code writes it.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self._texts: set[str] = set()
        self._seen: set[int] = set()
        self._writes = False
        for function in functions:
            self._take(function)

    @property
    def may_write_any(self) -> bool:
        """True when a function writes under a name that it computes, which may be any."""
        return self._writes or len(self._seen) >= _MAX_FUNCTIONS

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        scope, colon, name = key.partition(":")
        return key in self._texts or (colon == ":" and (name in self._texts or f"{scope}:" in self._texts))

    def _take(self, value: Any) -> None:
        if isinstance(value, str):
            self._texts.add(value)
        elif isinstance(value, Term):
            self._texts.add(value.key)
        elif isinstance(value, MethodType):
            self._take(value.__func__)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif callable(inner := getattr(value, "function", None)):
            self._take(inner)

    def _function(self, function: FunctionType) -> None:
        if id(function) in self._seen or len(self._seen) >= _MAX_FUNCTIONS:
            return
        self._seen.add(id(function))
        for cell in function.__closure__ or ():
            try:
                self._take(cell.cell_contents)
            except ValueError:  # an empty cell
                continue
        for name in self._code(function.__code__):
            used = function.__globals__.get(name)
            own = isinstance(used, FunctionType) and used.__module__ == function.__module__
            if isinstance(used, str | Term) or own:
                self._take(used)

    def _code(self, code: CodeType) -> set[str]:
        """Add the strings of a code object and return the global names it uses."""
        names = set(code.co_names)
        self._writes = self._writes or _writes_computed_key(code)
        for constant in code.co_consts:
            if isinstance(constant, str):
                self._texts.add(constant)
            elif isinstance(constant, tuple):
                self._texts.update(item for item in constant if isinstance(item, str))
            elif isinstance(constant, CodeType):
                names |= self._code(constant)
        return names


def _writes_computed_key(code: CodeType) -> bool:
    """Return True when code writes an item or a key whose name it computes."""
    for one, after in pairwise(get_instructions(code)):
        # A key is loaded right after its method, and right before an item is stored.
        if one.opname in ("LOAD_METHOD", "LOAD_ATTR") and one.argval in _WRITERS and after.opname not in _NAMED:
            return True
        if after.opname == "STORE_SUBSCR" and one.opname not in _NAMED:
            return True
    return False
