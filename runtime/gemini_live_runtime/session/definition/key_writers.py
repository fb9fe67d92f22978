"""Find the state keys that an author's code may write, without running it."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from inspect import getattr_static
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, is_text, plain_text
from gemini_live_runtime.state.terms import Term

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


class Mentions:
    """Set of strings and state keys that functions mention.

    Code, closures, and the author's functions, methods and constants they use are searched. A key is contained when its
    whole name, its name without scope, or a bare scope (`"user:"`, to which code appends a name) is mentioned.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self._texts: set[str] = set()
        self._seen: set[int] = set()
        for function in functions:
            self._take(function, "")

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
        names = self._code(function.__code__)
        for name in dict.fromkeys((*(name for name in sorted(names) if name in used), *held)):
            # A proxy of something that does not exist yet raises, for one.
            with suppress(USER_ERRORS):
                self._take(used[name], function.__module__, names)
        if owner is not None:
            self._take(owner, function.__module__, names)

    def _code(self, code: CodeType) -> set[str]:
        """Add the strings of a code object and return the global names it uses."""
        names = set(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, str):
                self._texts.add(constant)
            elif isinstance(constant, tuple):
                self._texts.update(item for item in constant if isinstance(item, str))
            elif isinstance(constant, CodeType):
                names |= self._code(constant)
        return names


def _is_authors(name: str | None, module: str | None) -> bool:
    """Return True for a module written beside `module`, not installed, and for none."""
    if not name or name == module:
        return True
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "gemini_live_runtime":
        return False
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file
