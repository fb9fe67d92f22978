"""Read the outputs of tools, also those that clients send as text.

Clients wrap what is not an object in `output` or `result`, and some send text for every result: JSON, or the `repr` of
a Python value such as `{'temperature_c': 21}`.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from typing import Any

MAX_READ = 20_000
"""Most characters of a text that is read as a value; a longer one stays text."""

_MAX_LAYERS = 3
_LIKE_A_VALUE = re.compile(r"[\[{(\"']|[A-Za-z_][\w.]*\(|(True|False|None|true|false|null)$")


def output_of(response: Mapping[str, Any]) -> Any:
    """Return the output: a sole field `output` or `result`, else the whole response."""
    for key in ("output", "result"):
        if set(response) == {key}:
            return read_value(response[key])
    return response


def read_value(value: Any) -> Any:
    """Return the value that a text writes out as JSON or Python; other values as is."""
    for _ in range(_MAX_LAYERS):
        if not isinstance(value, str) or len(value) > MAX_READ or not _LIKE_A_VALUE.match(value.strip()):
            break
        text = value.strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            try:
                value = _read_python(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                break
    return value


def _read_python(text: str) -> Any:
    with warnings.catch_warnings():
        # A backslash in a text is not worth a warning on the server's terminal.
        warnings.simplefilter("ignore")
        return _value_of(ast.parse(text, mode="eval").body)


def _value_of(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | None):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value_of(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return {str(_value_of(key)): _value_of(item) for key, item in pairs if key is not None}
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name())):
            return _fields_of(node)
    raise ValueError("not a written-out value")


def _fields_of(call: ast.Call) -> Any:
    """Return the fields of a dataclass, or the value within `Decimal('3.5')`."""
    fields = {field.arg: _value_of(field.value) for field in call.keywords}
    if fields and None not in fields and not call.args:
        return fields
    if len(call.args) == 1 and not fields:
        return _value_of(call.args[0])
    raise ValueError("not a written-out value")
