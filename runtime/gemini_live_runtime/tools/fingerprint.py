"""Bind a grant of consent to one version of a tool.

A grant that is remembered counts for the tool that was seen when it was given: its name, schema, description and code.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from types import CodeType
from typing import Any

from gemini_live_runtime.tools.declaration import Tool

_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...))

MAX_DEPTH = 6
"""Lists in lists whose values count."""


def fingerprint(tool: Tool) -> str:
    """Return a hash (SHA-256, in hex) of a tool's name, description, schema and code.

    The code is the function's with the functions that it wraps or closes over, as Python has compiled it. That of other
    functions which it calls is not part of it.
    """
    declared = json.dumps([tool.name, tool.description, tool.parameters], sort_keys=True, ensure_ascii=True)
    hashed = hashlib.sha256(declared.encode())
    for part in _code_parts(tool.function, set()):
        hashed.update(b"\0" + part)
    return hashed.hexdigest()


def _code_parts(function: Any, seen: set[int]) -> Iterator[bytes]:
    """Yield what makes up a function's code."""
    if id(function) in seen:
        return
    seen.add(id(function))
    if isinstance(function, functools.partial):
        yield b"partial"
        yield from _code_parts(function.func, seen)
        for value in (*function.args, *sorted(function.keywords.items())):
            yield _plain(value)
        return
    target = getattr(function, "__func__", function)
    code = getattr(target, "__code__", None)
    if code is None and callable(target):
        code = getattr(type(target).__call__, "__code__", None)
    name = getattr(target, "__qualname__", type(target).__qualname__)
    yield f"{getattr(target, '__module__', '')}.{name}".encode()
    if (wrapped := getattr(target, "__wrapped__", None)) is not None and not isinstance(code, CodeType):
        # Such as that of functools.cache, which is no function of Python.
        yield from _code_parts(wrapped, seen)
    if not isinstance(code, CodeType):
        return
    yield from _compiled(code)
    for value in (
        *(getattr(target, "__defaults__", None) or ()),
        *sorted((getattr(target, "__kwdefaults__", None) or {}).items()),
    ):
        yield _plain(value)
    for cell in getattr(target, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        if callable(value):
            yield from _code_parts(value, seen)
        else:
            yield _plain(value)


def _compiled(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _compiled(constant)
        else:
            yield _plain(constant)


def _plain(value: Any, depth: int = 0) -> bytes:
    """Return a value's text where each process has the same, or its type's name."""
    if isinstance(value, _PLAIN):
        return repr(value).encode()
    # A list may be in itself.
    inner = functools.partial(_plain, depth=depth + 1)
    if isinstance(value, tuple | list) and depth < MAX_DEPTH:
        return b"(" + b",".join(map(inner, value)) + b")"
    if isinstance(value, frozenset) and depth < MAX_DEPTH:
        return b"{" + b",".join(sorted(map(inner, value))) + b"}"
    return type(value).__qualname__.encode()
