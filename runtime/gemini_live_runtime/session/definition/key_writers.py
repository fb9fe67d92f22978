"""Find the state keys that an author's code may write, without running it."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dis import Instruction, get_instructions, stack_effect
from functools import lru_cache, partial
from inspect import getattr_static
from itertools import pairwise
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, is_text, plain_text
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.tools.results import is_agent

LIVE_KEYS = ("session:silence_ms", "session:elapsed_ms", "session:remaining_budget_ms")
"""Keys whose values are computed when they are read; their changes make no mutations."""

SESSION_KEYS = frozenset(
    (
        "session:phase",
        "session:phase_needs",
        "session:phase_requires",
        "session:active_tools",
        "session:navigation_context",
        "session:presented:*",
        "session:called_ok:*",
        "session:memory:*",
        "session:repair:escalation",
        "session:repair:unfulfilled",
        "session:turn_count",
        "session:last_input_transcription",
        "session:last_output_transcription",
        "session:wire_phase",
        "session:is_user_speaking",
        "session:user_state",
        "session:is_model_speaking",
        "session:interrupt_count",
        "session:error_count",
        "session:last_error",
        "session:connected_at_ms",
        "session:disconnected",
        "session:resumable",
        "session:go_away_received",
        "session:go_away_time_left",
        "session:go_away_time_left_ms",
        "session:last_consumed_client_index",
        "session:session_type",
        "session:elapsed_ms",
        "session:remaining_budget_ms",
        "session:silence_ms",
        "session:prompt_token_count",
        "session:response_token_count",
        "session:total_token_count",
        "session:thoughts_token_count",
        "session:cached_content_token_count",
    )
)
"""Keys that a session itself writes; `*` stands for a name."""

_MAX_FUNCTIONS = 2000

_MAX_ITEMS = 1000
"""Items of a list or an object that are searched for names of keys."""

_WRITERS = frozenset(("set", "modify"))
"""Methods that write a key of the state."""

_INDIRECT = frozenset(("getattr", "setitem", "methodcaller", "eval", "exec"))
"""Functions by which code may write in a way that the search does not see."""


class Mentions:
    """Set of strings and state keys that functions mention.

    Code, closures, and the author's functions, methods and constants they use are searched. A key is contained when its
    whole name, its name without scope, or a bare scope (`"user:"`, to which code appends a name) is mentioned. Only for
    a key that no function mentions is it certain that no code writes it.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self._texts: set[str] = set()
        self._seen: set[int] = set()
        self._writes = False
        for function in functions:
            self._take(function, "")

    @property
    def may_write_any(self) -> bool:
        """True when a function writes under a name that it computes, or uses an agent.

        That agent may take over and write any key.
        """
        return self._writes or len(self._seen) >= _MAX_FUNCTIONS

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        scope, colon, name = key.partition(":")
        return key in self._texts or (colon == ":" and (name in self._texts or f"{scope}:" in self._texts))

    def _take(self, value: Any, module: str, names: Iterable[str] = ()) -> None:
        """Search what code of `module` uses; `names` are the members it may read of it."""
        if is_text(value):
            self._texts.add(plain_text(value))
        elif isinstance(value, Term):
            self._texts.add(value.key)
        elif isinstance(value, MethodType):
            self._function(value.__func__, value.__self__)
        elif isinstance(value, FunctionType):
            if not module or _is_authors(value.__module__, module):
                self._function(value)
        elif isinstance(value, partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                self._take(part, module)
        elif isinstance(value, dict | list | tuple | set | frozenset):
            parts = (*value.values(), *value) if isinstance(value, dict) else tuple(value)
            self._texts.update(part for part in parts[:_MAX_ITEMS] if isinstance(part, str))
        elif callable(inner := getattr(value, "function", None)):
            self._take(inner, module)
        elif isinstance(value, ModuleType):
            if _is_authors(value.__name__, module):
                self._members(value, names, module)
        elif _is_authors(type(value).__module__ if not isinstance(value, type) else value.__module__, module):
            kind = value if isinstance(value, type) else type(value)
            # An object's methods may be called by others, such as a background agent's `run`.
            methods = (name for name, item in vars(kind).items() if isinstance(item, FunctionType))
            self._members(kind, (*names, *methods), module)

    def _members(self, owner: Any, names: Iterable[str], module: str) -> None:
        for name in dict.fromkeys(names):
            member = getattr_static(owner, name, None)
            if isinstance(member, str | Term | FunctionType):
                self._take(member, module)

    def _function(self, function: Any, owner: object = None) -> None:
        if not isinstance(function, FunctionType) or id(function) in self._seen or len(self._seen) >= _MAX_FUNCTIONS:
            return
        self._seen.add(id(function))
        held: dict[str, Any] = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                held[name] = cell.cell_contents
            except ValueError:  # an empty cell
                continue
        used = ChainMap(held, function.__globals__)
        names = self._code(function.__code__, used)
        for name in dict.fromkeys((*(name for name in sorted(names) if name in used), *held)):
            try:
                self._writes = self._writes or _is_agent(used[name])
                self._take(used[name], function.__module__, names)
            except USER_ERRORS:
                # A proxy, say, of something that does not exist yet.
                self._writes = True
        if owner is not None:
            self._take(owner, function.__module__, names)

    def _code(self, code: CodeType, used: Mapping[str, Any]) -> set[str]:
        """Add the strings of a code object and return the global names it uses."""
        names = set(code.co_names)
        self._writes = self._writes or not _INDIRECT.isdisjoint(names) or _writes_computed_key(code, used)
        for constant in code.co_consts:
            if isinstance(constant, str):
                self._texts.add(constant)
            elif isinstance(constant, tuple):
                self._texts.update(item for item in constant if isinstance(item, str))
            elif isinstance(constant, CodeType):
                names |= self._code(constant, used)
        return names


def _is_agent(value: object) -> bool:
    return is_agent(value) or (isinstance(value, type) and getattr(value, "is_agent", False) is True)


def _is_authors(name: str | None, module: str | None) -> bool:
    """Return True for a module written beside `module`, not installed, and for none."""
    if not name or name == module:
        return True
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "gemini_live_runtime":
        return False
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file


def _writes_computed_key(code: CodeType, used: Mapping[str, Any]) -> bool:
    """Return True when code writes an item or a key whose name it computes."""
    return any(name is None or (name and not isinstance(used.get(name), str | Term)) for name in _names_written(code))


@lru_cache(maxsize=_MAX_FUNCTIONS)
def _names_written(code: CodeType) -> tuple[str | None, ...]:
    """Return the variables that name the items or keys which code writes.

    None stands for a name that it computes, "" for a constant.
    """
    found: list[str | None] = []
    instructions = list(get_instructions(code))
    for at, (one, after) in enumerate(pairwise(instructions)):
        # A key is loaded right after its method, and right before an item is stored.
        if one.opname in ("LOAD_METHOD", "LOAD_ATTR") and one.argval in _WRITERS:
            found.append(None if _is_part(instructions[at + 2 :]) else _variable(after))
        if after.opname == "STORE_SUBSCR":
            found.append(_variable(one))
    return tuple(found)


def _variable(instruction: Instruction) -> str | None:
    if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
        return str(instruction.argval)
    return "" if instruction.opname == "LOAD_CONST" else None


def _is_part(rest: Iterable[Instruction]) -> bool:
    """Return True when what was loaded ahead of `rest` becomes part of another value.

    As in `":".join(...)` or `"app:%s" % name`: then it alone is on the stack again, changed.
    """
    depth = 1
    for one in rest:
        depth += stack_effect(one.opcode, one.arg, jump=False)
        if depth < 1:
            return False
        if depth == 1 and one.opname.startswith(("BINARY", "BUILD", "CALL", "FORMAT")):
            return True
    return False
