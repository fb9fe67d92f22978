"""Word the question that asks a user aloud whether a call may run.

The author of a tool writes it, with the names of all parameters in braces: the user must hear what the call does.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.text import sanitise_line

ToolRisk = Literal["", "commands", "files", "money"]
"""Things that a tool touches for which no spoken consent counts; "" for none of them."""

RISKS: tuple[str, ...] = get_args(ToolRisk)

MAX_QUESTION = 300
"""Characters of the longest question, without its arguments."""

MAX_ARGUMENT = 80
"""Characters of the longest argument that is said: of a longer one the user would hear a part only."""

_DIGITS = re.compile(r"\d+(\.\d+)?", re.ASCII)
_MINUS = re.compile(r"(?<!\w)[-\u2010-\u2015\u2212]\s*\d")


class NotSayableError(ValueError):
    """Argument that cannot be said aloud; the text is the reason."""


def check_risk(risk: object, *, name: str) -> ToolRisk:
    """Return a risk of the tool `name`; raise `AgentError` for what is none."""
    choice = as_choice(risk, RISKS)
    if choice not in RISKS:
        raise AgentError(
            f"Tool {name}: risk cannot be {risk!r:.60}",
            remedy=f"Use one of {', '.join(filter(None, RISKS))}, or leave it out",
            field="risk",
            value=risk if isinstance(risk, str) else type(risk).__name__,
        )
    return cast("ToolRisk", choice)


def check_question(question: object, schema: Mapping[str, Any], *, name: str, risk: ToolRisk) -> str:
    """Return the question of the tool `name`, "" for none.

    `schema` is that of its arguments. Raises `AgentError` for a question that does not name all of them, and only them,
    in braces, and for a tool that touches what needs a key.
    """
    if question is None or question == "":
        return ""
    if not isinstance(question, str):
        raise _fault(name, f"voice_consent cannot be {question!r:.60}", 'Give the question, such as "Shall I book it?"')
    if risk:
        raise _fault(name, f"a tool that touches {risk} gets no spoken consent", "Leave out voice_consent")
    if len(question) > MAX_QUESTION or sanitise_line(question) != question or not question.strip():
        raise _fault(name, "voice_consent is not one line that can be said", f"Use at most {MAX_QUESTION} characters")
    named = _placeholders(question, name)
    properties = schema.get("properties", {})
    for unknown in sorted(named - set(properties)):
        raise _fault(name, f"voice_consent names {unknown!r:.60}, which is no parameter", _known(properties))
    for missing in properties:
        if missing not in named:
            remedy = f"Add {{{missing}}}: the user must hear all that they agree to"
            raise _fault(name, f"voice_consent leaves out the parameter {missing}", remedy)
    return question


def spoken_question(question: str, schema: Mapping[str, Any], args: Mapping[str, Any]) -> str:
    """Return the question about a call with its arguments.

    Those that the call leaves out have the defaults of `schema`. Raises `NotSayableError` for an argument that cannot
    be said in words.
    """
    properties = schema.get("properties", {})
    said = {}
    for name, declared in properties.items():
        if name not in args and "default" not in declared:
            raise NotSayableError(f"the call leaves out {name}")
        said[name] = _words(name, args.get(name, declared.get("default")))
    return question.format(**said)


def _words(name: str, value: object) -> str:
    if isinstance(value, list | tuple) and value:
        text = ", ".join(_words(name, item) for item in value)
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        raise NotSayableError(f"{name} cannot be said in words")
    else:
        text = sanitise_line(value).strip() if isinstance(value, str) else str(value).removesuffix(".0")
    # A minus is not heard, and digits that stand for a power of ten are not understood.
    is_number = not isinstance(value, str)
    if not any(map(str.isalnum, text)) or _MINUS.search(text) or (is_number and not _DIGITS.fullmatch(text)):
        raise NotSayableError(f"{name} cannot be said in words")
    if len(text) > MAX_ARGUMENT:
        raise NotSayableError(f"{name} is too long to be said")
    return text


def _placeholders(question: str, name: str) -> set[str]:
    try:
        parts = list(string.Formatter().parse(question))
    except ValueError as error:
        raise _fault(name, f"voice_consent cannot be read: {error}", "Write {{ for a brace that is said") from None
    for _, field, form, conversion in parts:
        if field is not None and (not field.isidentifier() or form or conversion):
            raise _fault(name, f"voice_consent has {{{field:.60}}}", "Put names of parameters in braces, nothing else")
    return {field for _, field, _, _ in parts if field is not None}


def _known(properties: Mapping[str, Any]) -> str:
    return f"Use {', '.join(properties)}" if properties else "The tool has no parameters: leave out the braces"


def _fault(tool: str, problem: str, remedy: str) -> AgentError:
    return AgentError(f"Tool {tool}: {problem}", remedy=remedy, field="voice_consent")
