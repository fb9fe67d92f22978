"""Call unscripted tools by the words of their names, with arguments from speech."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gemini_live_runtime.local.language.words import name_words, parse_number, split_words, spoken_number, typos
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record

_CONNECTORS = frozenset({"a", "an", "the", "my", "with", "to", "for", "of", "at", "in", "on", "please", "is", "and"})
_VERBS = frozenset({"call", "run", "use", "try"})
MAX_DEPTH = 5
_SPOKEN_NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 60, 100)


@record
class NamedTool:
    """Declared tool whose name was said; `rest` are the other words."""

    name: str
    rest: tuple[str, ...]


@record
class TextQuestion:
    """Open question for the text `parameter` of a call of `tool` with `args`."""

    tool: str
    parameter: str
    args: Mapping[str, Any]
    misses: int = 0

    @property
    def text(self) -> str:
        """The question."""
        return f"What is the {' '.join(name_words(self.parameter)) or 'text'}?"

    def answered(self, words: Words) -> dict[str, Any]:
        """Return the arguments with the answer, or {} for an empty one."""
        text = _RemainingWords([word for word in words.original if word]).take_text(
            {*split_words(self.parameter.replace("_", " "))}
        )
        return {**self.args, self.parameter: text} if text else {}


def named_tools(words: Words, names: Sequence[str]) -> list[NamedTool]:
    """Return the tools whose names occur in the utterance, longest name first."""
    found = []
    for name in names:
        left = list(range(len(words)))
        for part in name_words(name):
            place = next((i for i in left if typos(words.plain[i], part) is not None), None)
            if place is None:
                break
            left.remove(place)
        else:
            if len(left) < len(words):
                found.append(NamedTool(name, tuple(words.original[i] for i in left)))
    return sorted(found, key=lambda tool: len(name_words(tool.name)), reverse=True)


def spoken_choices(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return words that may follow a tool's name: enum values and numbers."""
    properties = schema.get("properties")
    choices: list[str] = []
    for raw in properties.values() if isinstance(properties, Mapping) else ():
        if not isinstance(raw, Mapping):
            continue
        values = raw.get("enum")
        if isinstance(values, Sequence) and not isinstance(values, str):
            choices += [" ".join(split_words(str(value).replace("_", " "))) for value in values]
        elif str(raw.get("type", "")).lower() in ("integer", "number"):
            choices += [spoken_number(value) for value in _SPOKEN_NUMBERS]
    return tuple(dict.fromkeys(choice for choice in choices if choice))


def arguments_for(schema: Mapping[str, Any], rest: Sequence[str]) -> dict[str, Any]:
    """Return arguments for a tool's JSON schema from the remaining words.

    Enum values and numbers are found first, then one free text takes the rest. Missing required arguments get defaults
    of their type; a missing text is left out (see `missing_text`).
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    required = schema.get("required")
    wanted = set(required) if isinstance(required, Sequence) and not isinstance(required, str) else set()
    words = _RemainingWords(rest)
    args: dict[str, Any] = {}
    texts = []
    for name, raw in properties.items():
        kind = raw if isinstance(raw, Mapping) else {}
        value = words.take_enum(_enum(kind)) if _enum(kind) else None
        if value is None and _type(kind) in ("integer", "number"):
            value = words.take_number()
            if value is not None:
                value = _bounded(value, kind)
        if value is not None:
            args[name] = value
        elif _type(kind) == "string" and not _enum(kind):
            texts.append(name)
    for name in sorted(texts, key=lambda text: text not in wanted):
        text = words.take_text({*split_words(name.replace("_", " "))})
        if text:
            args[name] = text
            break
    for name in properties:
        if name in wanted and name not in args and not _is_open_text(properties[name]):
            args[name] = default_for(properties[name])
    return {name: args[name] for name in properties if name in args}


def missing_text(schema: Mapping[str, Any], args: Mapping[str, Any]) -> str:
    """Return the first required text that is not in `args`, or ""."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, Sequence) or isinstance(required, str):
        return ""
    missing = (name for name in properties if name in required and name not in args)
    return next((str(name) for name in missing if _is_open_text(properties[name])), "")


def _is_open_text(schema: Any) -> bool:
    """Return True for a text that nothing but a person can give."""
    kind = schema if isinstance(schema, Mapping) else {}
    told = any(kind.get(key) not in (None, []) for key in ("default", "example", "examples"))
    return _type(kind) == "string" and not _enum(kind) and not told


def default_for(schema: Any, depth: int = 0) -> Any:
    """Return a value for a JSON schema: default, example, enum value, or by type."""
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return ""
    for key in ("default", "example"):
        if schema.get(key) is not None:
            return schema[key]
    examples = schema.get("examples")
    if isinstance(examples, Sequence) and not isinstance(examples, str) and examples:
        return examples[0]
    if _enum(schema):
        return _enum(schema)[0]
    options = schema.get("anyOf")
    if isinstance(options, Sequence) and not isinstance(options, str) and options:
        return default_for(options[0], depth + 1)
    kind = _type(schema)
    if kind in ("integer", "number"):
        return _bounded(1, schema)
    if kind == "boolean":
        return True
    if kind == "array":
        return [default_for(schema.get("items"), depth + 1)] if _limit(schema, "minItems") else []
    if kind == "object":
        properties, required = schema.get("properties"), schema.get("required") or ()
        if not isinstance(properties, Mapping):
            return {}
        return {name: default_for(properties[name], depth + 1) for name in properties if name in required}
    return "anything"


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = next((item for item in kind if item != "null"), None)
    if kind is None:
        options = schema.get("anyOf")
        if isinstance(options, Sequence) and not isinstance(options, str):
            return next((_type(o) for o in options if isinstance(o, Mapping) and _type(o) != "null"), "string")
    return str(kind or "string").lower()


def _enum(schema: Mapping[str, Any]) -> Sequence[Any]:
    values = schema.get("enum")
    return values if isinstance(values, Sequence) and not isinstance(values, str) else ()


def _limit(schema: Mapping[str, Any], key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bounded(value: float, schema: Mapping[str, Any]) -> float:
    whole = _type(schema) == "integer"
    low, high = _limit(schema, "minimum"), _limit(schema, "maximum")
    above = _limit(schema, "exclusiveMinimum")
    if above is not None and value <= above:
        value = above + 1
    if low is not None:
        value = max(value, low)
    if high is not None:
        value = min(value, high)
    return int(value) if whole or value == int(value) else value


class _RemainingWords:
    """Words that are not used yet."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)

    def take_enum(self, values: Sequence[Any]) -> Any:
        plain = [word.lower() for word in self._words]
        for value in values:
            wanted = split_words(str(value).replace("_", " "))
            for start in range(len(plain) - len(wanted) + 1):
                if wanted and all(typos(plain[start + i], w) is not None for i, w in enumerate(wanted)):
                    del self._words[start : start + len(wanted)]
                    return value
        return None

    def take_number(self) -> int | None:
        plain = [word.lower() for word in self._words]
        for start in range(len(plain)):
            found = parse_number(plain, start)
            if found is not None:
                del self._words[start : start + found[1]]
                return found[0]
        return None

    def take_text(self, own_name: set[str]) -> str:
        words = self._words
        while words and words[0].lower() in _CONNECTORS | _VERBS | own_name:
            words.pop(0)
        while words and words[-1].lower() in _CONNECTORS:
            words.pop()
        text = " ".join(words)
        words.clear()
        return text
