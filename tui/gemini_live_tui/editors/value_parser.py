"""Parse the state editor's text: JSON values, objects for import. Pure functions."""

from __future__ import annotations

import json
import re
from typing import Any

from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise_line

MAX_JSON = 100_000
"""Characters of a value that can be edited here."""

_WORD = re.compile(r"[^\W\d][^\[\]{}\",:]*")


@record
class Read:
    """Parsed value, or `problem`: a sentence, with line and column if possible."""

    value: Any = None
    problem: str = ""


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number; write a number or null")


def read_value(text: str) -> Read:
    """Parse a JSON value."""
    if not text.strip():
        return Read(problem='Nothing is written: null clears a value, "" is an empty text.')
    if len(text) > MAX_JSON:
        return Read(problem=f"The value has {len(text):,} characters, {MAX_JSON:,} can be edited here.")
    try:
        return Read(json.loads(text, parse_constant=_no_number))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        bare = text.strip()
        if error.pos == len(text) - len(text.lstrip()) and _WORD.fullmatch(bare):
            return Read(problem=f"{where}: this is no JSON value; a text needs quotes: {_quoted(bare)}")
        if error.msg.startswith("Extra data") and _WORD.fullmatch(bare):
            return Read(problem=f"{where}: there is more than one value; a text needs quotes: {_quoted(bare)}")
        return Read(problem=f"{where}: {_WORDS.get(error.msg, error.msg)}")
    except RecursionError:
        return Read(problem="The value is nested too deeply.")
    except ValueError as error:
        return Read(problem=f"{error}.")


_WORDS = {
    "Expecting value": "a value is missing here",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing here",
    "Expecting ':' delimiter": "a colon is missing here",
    "Expecting property name enclosed in double quotes": 'a key in "double quotes" is missing here',
    "Illegal trailing comma before end of object": "there is a comma too many here",
    "Illegal trailing comma before end of array": "there is a comma too many here",
    "Extra data": "there is more than one value",
    "Unterminated string starting at": "this text has no closing quote",
    "Invalid control character at": "a line break or tab in a text is written \\n or \\t",
}


def _quoted(text: str) -> str:
    return sanitise_line(json.dumps(text, ensure_ascii=False), 60)


def key_problem(key: str) -> str:
    """Return a sentence about why a key cannot be written, or ""."""
    scope, colon, name = key.partition(":")
    if not key.strip():
        return "Write a key, e.g. app:plan."
    if key != key.strip() or not key.isprintable():
        return "A key has no spaces around it and no control characters."
    if colon and not name:
        return f"Write a name behind {scope}:"
    if scope == "derived" and colon:
        return "derived: keys are computed; edit what they are made of."
    return ""


def read_keys(text: str) -> Read:
    """Parse a JSON object of keys and values, for import."""
    read = read_value(text)
    if read.problem:
        return read
    if not isinstance(read.value, dict) or not read.value:
        return Read(problem='Write an object of keys and values, e.g. {"app:plan": "gold"}.')
    for key in read.value:
        if problem := key_problem(key):
            return Read(problem=f"{_quoted(key)}: {problem}")
    return read


def schema_words(schema: Any) -> str:
    """Return a JSON schema in words, e.g. `whole number from 0 to 10`, or ""."""
    if not isinstance(schema, dict):
        return ""
    if isinstance(schema.get("enum"), list):
        return sanitise_line("one of " + ", ".join(json.dumps(item) for item in schema["enum"][:8]), 200)
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        return " or ".join(dict.fromkeys(words for option in options if (words := schema_words(option))))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(schema_words({**schema, "type": one}) for one in kind[:6])
    words = _KINDS.get(str(kind), sanitise_line(str(kind), 30) if kind else "")
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None:
        words += f" from {low}"
    if above is not None:
        words += f" above {above}"
    if high is not None:
        words += f" to {high}"
    if below is not None:
        words += f" below {below}"
    if kind == "array" and (item := schema_words(schema.get("items"))):
        words += f" of {item}"
    if kind == "object" and isinstance(schema.get("properties"), dict):
        words += " with " + ", ".join(list(schema["properties"])[:8])
    return sanitise_line(words, 200)


_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "object",
}
