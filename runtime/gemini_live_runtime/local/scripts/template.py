"""Fill the templates of a dialogue's lines from slots and tool results.

`{city}` is a slot, `{result.sky}` a field of the tool's response, `{result.a|result.b}` the first existing one,
`{result.notes.count}` the length of a list. A line with an unfilled placeholder is not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

from gemini_live_runtime.local.language.code_signs import without_code_signs
from gemini_live_runtime.local.language.markdown import without_markdown
from gemini_live_runtime.local.language.moments import with_moments_in_words
from gemini_live_runtime.local.language.written_out import in_words
from gemini_live_runtime.local.scripts.tool_output import read_value
from gemini_live_runtime.records import record

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PATH = re.compile(r"[A-Za-z_][\w]*(\.[A-Za-z_]\w*)*")
_COMPARISON = re.compile(r"(\S+)\s*(==|>=|<=)\s*(.+)")
_MAX_DESCRIBED = 12
_DECIMALS = 10


def check_template(text: str) -> str:
    """Return the problem of a template, "" for none."""
    for inner in _PLACEHOLDER.findall(text):
        for path in inner.split("|"):
            if not _PATH.fullmatch(path.strip()):
                return f"has an unreadable placeholder {{{inner}}}"
    rest = _PLACEHOLDER.sub("", text)
    return "has a stray brace" if "{" in rest or "}" in rest else ""


def fill(text: str, facts: Mapping[str, Any]) -> str | None:
    """Fill the placeholders of a line to say from `facts`; None if one is missing."""
    filled = _filled(text, facts, describe)
    return None if filled is None else _tidy(filled)


def fill_argument(text: str, facts: Mapping[str, Any]) -> str | None:
    """Fill the placeholders of an argument, with texts as they are written."""
    return _filled(text, facts, lambda value: value if isinstance(value, str) else describe(value))


def _filled(text: str, facts: Mapping[str, Any], worded: Callable[[Any], str]) -> str | None:
    missing = False

    def replace(match: re.Match[str]) -> str:
        nonlocal missing
        for path in match[1].split("|"):
            value = look_up(path.strip(), facts)
            if value not in (None, "", [], {}):
                return worded(value)
        missing = True
        return ""

    filled = _PLACEHOLDER.sub(replace, text)
    return None if missing else filled


def look_up(path: str, facts: Mapping[str, Any]) -> Any:
    """Return the value at a dotted path or None; `.count` is the length of a list."""
    value: Any = facts
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif name == "count" and isinstance(value, Sequence) and not isinstance(value, str):
            value = len(value)
        else:
            return None
    return value


_TASK = {"status", "task", "message"}
"""Fields of the answer of a call that goes on as a task: its message says all."""


def describe(value: Any) -> str:
    """Return a JSON value in spoken words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        if set(value) == _TASK:
            return str(value["message"]).replace("_", " ")
        shown = [f"{_spaced(str(key))} {describe(item)}" for key, item in list(value.items())[:_MAX_DESCRIBED]]
        return ", ".join(shown) or "nothing"
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = [describe(item) for item in value[:_MAX_DESCRIBED]]
        if len(value) > _MAX_DESCRIBED:
            items.append(f"{len(value) - _MAX_DESCRIBED} more")
        return f"{'; '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else (items[0] if items else "nothing")
    if isinstance(value, str) and value.startswith(("{", "[", "(")):
        # A field that a client has turned into text.
        read = read_value(value)
        return _spoken(read) if isinstance(read, str) else describe(read)
    return _spoken(in_words(str(value)))


def _spoken(text: str) -> str:
    return with_moments_in_words(without_code_signs(without_markdown(text)))


def _number(value: float) -> str:
    """Return all digits, rounded because 0.1 + 0.2 is not quite 0.3."""
    if not isfinite(value):
        return "not a number" if isnan(value) else "infinity" if value > 0 else "minus infinity"
    # Adding 0.0 turns -0.0 into 0.0.
    digits = f"{Decimal(repr(round(value, _DECIMALS) + 0.0)):f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _spaced(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").lower()


def _tidy(text: str) -> str:
    # A filled value may bring its own full stop.
    return re.sub(r"([.!?])\.(?=\s|$)", r"\1", text).strip()


@record
class Line:
    """Possible reply, used if its condition holds and its placeholders can be filled."""

    when: str
    say: str

    def problem(self) -> str:
        """Return the problem of the condition, "" for none."""
        condition = self.when.removeprefix("not ").removeprefix("has ").strip()
        if not condition:
            return "" if not self.when else f"{self.when!r} names nothing"
        comparison = _COMPARISON.fullmatch(condition)
        path = comparison[1] if comparison else condition
        return "" if _PATH.fullmatch(path) else f"{self.when!r} cannot be read"

    def fits(self, facts: Mapping[str, Any]) -> str | None:
        """Return the filled line, None when it cannot be used."""
        return fill(self.say, facts) if _holds(self.when, facts) else None


def _holds(condition: str, facts: Mapping[str, Any]) -> bool:
    condition = condition.strip()
    if not condition:
        return True
    if condition.startswith("not "):
        return not _holds(condition[4:], facts)
    if condition == "error":
        return bool(look_up("result.error", facts))
    comparison = _COMPARISON.fullmatch(condition)
    if comparison is None:
        return bool(look_up(condition.removeprefix("has ").strip(), facts))
    value, sign, wanted = look_up(comparison[1], facts), comparison[2], comparison[3].strip().strip("'\"")
    try:
        left, right = float(value), float(wanted)
    except (TypeError, ValueError):
        return sign == "==" and str(value) == wanted
    return left == right if sign == "==" else left >= right if sign == ">=" else left <= right
