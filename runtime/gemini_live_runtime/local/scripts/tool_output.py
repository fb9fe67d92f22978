"""Read the outputs of tools, also those that clients send as text.

Clients wrap what is not an object in `output`, `result` or `value`, some twice, and some send text for every result:
JSON, the `repr` of a Python value such as `{'temperature_c': 21}`, or the `str` of a Pydantic model. A server of the
Model Context Protocol gives a list of contents.
"""

from __future__ import annotations

import ast
import datetime
import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from gemini_live_runtime.local.language.written_out import in_words

MAX_READ = 20_000
"""Most characters of a text that is read as a value; a longer one stays text."""

_MAX_LAYERS = 3
_WRAPPERS = ("output", "result", "value")
_SETTINGS = frozenset({"scheduling", "willContinue", "will_continue"})
"""Fields of a response that some clients also write into its content."""

_WRAPPERS_OR_SETTINGS = frozenset(_WRAPPERS) | _SETTINGS

_SPOKEN_KINDS = {"image": "a picture", "audio": "a sound", "resource": "a file", "resource_link": "a link to a file"}
"""Kinds of content besides text, in words: their data cannot be said."""

_LIKE_A_VALUE = re.compile(
    r"[\[{(\"'<]|b['\"]|[A-Za-z_]\w*=|[A-Za-z_][\w.]*\(|(True|False|None|true|false|null|[\d.]+j)$"
)
_ENUM_MEMBER = re.compile(r"<[A-Za-z_][\w.|]*: ('[^'<>]*'|-?\d+)>")
_NUMPY_TRUTH = re.compile(r"\bnp\.(True|False)_")
_CLASS = re.compile(r"<(?:class|function|built-in function) [^<>]*>")
_CONTAINERS = frozenset({"dict", "frozenset", "list", "set", "tuple", "Counter", "OrderedDict", "deque"})
_LEADING = frozenset({"deque", "array", "ndarray", "matrix"})
_PAIRS = frozenset({"OrderedDict", "dict", "dict_items"})
"""Mappings that some versions of Python write as a list of pairs."""

_STRING_OR_NEXT_FIELD = re.compile(
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<![\s,(\[{])\s+(?=[A-Za-z_]\w*=)""", re.DOTALL
)
_FENCED = re.compile(r"```\w*[ \t]*\n(.*)```", re.DOTALL)
_TELLING = ("message", "detail", "error", "reason")
"""Fields of an error that say what is wrong, the best one first."""


def output_of(response: Mapping[str, Any]) -> Any:
    """Return the value within the wrappers of a response, else the whole response."""
    if set(response) <= _WRAPPERS_OR_SETTINGS:
        response = {key: value for key, value in response.items() if key not in _SETTINGS}
    value: Any = response
    for _ in range(_MAX_LAYERS):
        value = _content_of(value)
        key = next(iter(value)) if isinstance(value, Mapping) and len(value) == 1 else None
        if key not in _WRAPPERS:
            break
        value = read_value(value[key])
    return _with_error_in_words(value) if isinstance(value, Mapping) and value.get("error") else value


def _with_error_in_words(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result whose error is its message, where it is a written-out value."""
    error = read_value(value["error"])
    if isinstance(error, Mapping):
        error = next((error[key] for key in _TELLING if isinstance(error.get(key), str)), error)
    return {**value, "error": error}


def _content_of(value: Any) -> Any:
    """Return the text or structured content of a result of the Model Context Protocol."""
    if _is_text_block(value):
        value = [value]
    result = value if isinstance(value, Mapping) else {"content": value}
    blocks = result.get("content")
    if not isinstance(blocks, list) or not all(map(_is_block, blocks)):
        return value
    if result.get("structuredContent"):
        return result["structuredContent"]
    if not blocks and not (isinstance(value, Mapping) and ({"isError", "structuredContent"} & set(value))):
        return value
    text = " ".join(filter(None, map(_text_of, blocks)))
    return {"error": text or "it failed"} if result.get("isError") else {"result": text}


def _is_block(block: Any) -> bool:
    return _is_text_block(block) or (isinstance(block, Mapping) and block.get("type") in _SPOKEN_KINDS)


def _is_text_block(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _text_of(block: Mapping[str, Any]) -> str:
    """Return the text of a block, or a word for what cannot be said."""
    resource = block.get("resource")
    text = resource.get("text") if isinstance(resource, Mapping) else block.get("text")
    return text if isinstance(text, str) else f"({_SPOKEN_KINDS[block['type']]})"


def read_value(value: Any) -> Any:
    """Return the value that a text writes out as JSON or Python; other values as is."""
    for _ in range(_MAX_LAYERS):
        if not isinstance(value, str) or len(value) > MAX_READ:
            break
        text = value.strip("\ufeff \t\r\n")
        fenced = _FENCED.fullmatch(text)
        text = fenced[1].strip() if fenced else text
        if not _LIKE_A_VALUE.match(text):
            break
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            try:
                value = _read_python(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                break
    return in_words(value) if isinstance(value, str) and len(value) <= MAX_READ else value


def _read_python(text: str) -> Any:
    with warnings.catch_warnings():
        # A backslash in a text is not worth a warning on the server's terminal.
        warnings.simplefilter("ignore")
        text = _NUMPY_TRUTH.sub(r"\1", _CLASS.sub("None", _ENUM_MEMBER.sub(r"\1", text)))
        if re.match(r"[A-Za-z_]\w*=", text):
            text = f"Model({_STRING_OR_NEXT_FIELD.sub(lambda match: match[1] or ', ', text)})"
        return _value_of(ast.parse(text, mode="eval").body)


def _value_of(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | None):
            return node.value
        case ast.Constant(value=bytes() as data):
            return _text_in(data)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=complex() as right)):
            # As Python prints a complex number.
            return f"{_value_of(left)} {'plus' if isinstance(sign, ast.Add) else 'minus'} {right.imag:g} i"
        case ast.Constant(value=complex() as number):
            return f"{number.imag:g} i"
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
    name = ast.unparse(call.func)
    kind = name.rpartition(".")[2]
    if kind in _CONTAINERS and not (call.args or call.keywords):
        return []
    if kind == "Fraction" and len(call.args) == 2:
        return "/".join(str(_value_of(arg)) for arg in call.args)
    if kind.endswith(("Error", "Exception")) and len(call.args) > 1 and not call.keywords:
        return next((value for arg in call.args if isinstance(value := _value_of(arg), str)), "it failed")
    if kind == "array" and len(call.args) == 2 and isinstance(call.args[0], ast.Constant):
        return _value_of(call.args[1])
    if kind == "ChainMap" and all(isinstance(arg, ast.Dict) for arg in call.args):
        return {key: item for arg in reversed(call.args) for key, item in _value_of(arg).items()}
    if kind in _LEADING and len(call.args) == 1:
        return _value_of(call.args[0])  # Its kind or its greatest length follows.
    if name in ("datetime.datetime", "datetime.date", "datetime.time"):
        return _moment(call)
    fields = {field.arg: _value_of(field.value) for field in call.keywords}
    if fields and None not in fields and not call.args:
        return fields
    if len(call.args) == 2 and not fields and isinstance(call.args[1], ast.Dict):
        return _value_of(call.args[1])  # A `defaultdict`, after the maker of its values.
    if len(call.args) == 1 and not fields:
        value = _value_of(call.args[0])
        return _from_pairs(value) if kind in _PAIRS and isinstance(value, list) else value
    if call.args and not fields:
        return f"{kind} {', '.join(str(_value_of(arg)) for arg in call.args)}"
    raise ValueError("not a written-out value")


def _text_in(data: bytes) -> Any:
    try:
        return read_value(data.decode())
    except ValueError:
        return f"{len(data)} byte{'s' * (len(data) != 1)} of data"


def _from_pairs(pairs: list[Any]) -> dict[str, Any]:
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ValueError("not a list of pairs")
    return {str(key): item for key, item in pairs}


def _moment(call: ast.Call) -> str:
    """Return a date or time of the module `datetime` in ISO form, without its zone."""
    kinds: dict[str, Callable[..., datetime.date | datetime.time]] = {
        "datetime": datetime.datetime,
        "date": datetime.date,
        "time": datetime.time,
    }
    numbers = [_value_of(arg) for arg in call.args]
    assert isinstance(call.func, ast.Attribute)
    try:
        return kinds[call.func.attr](*numbers).isoformat()
    except (TypeError, OverflowError) as error:
        raise ValueError("not a date or time") from error
