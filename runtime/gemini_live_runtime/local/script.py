"""A dialogue file: what one can say, which tool that calls, what is answered.

TOML, `format = 1`. Top level: `name`, `title`, `greeting`, `fallback`, `unavailable`, `timeout`, `failed`, `told`
(templates, see template.py), `examples` (phrases to show; all as `{examples}`, three as `{some_examples}`), `filler`
(words that change nothing when typed).

`[slots.NAME]` has `ask` (the question when it is missing), `answer` (patterns that may answer it) and `kind`:
`choice` (default; `values`), `number` (`min`, `max`, `spoken`: the values a recogniser listens for), `time`, or `text`
(anything when typed, `values` when spoken).

`[[intent]]` has `name`, `say` (patterns with `{slot}`, spoken or typed), `typed` (typed only), `call` (`tool`, `args`:
values are texts in which `{slot}` stands for the slot's value, `{slot?}` is left out when missing), `reply` (lines,
the first that fits is said: text, or `when` and `say`), `forget = true` (drops a question that is open).

`[pronunciations]` adds ways in which a word may be spoken, in ARPAbet: a text or a list of texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.template import Line, check_template
from gemini_live_runtime.local.words import MAX_SPOKEN, split_words

FORMAT = 1
MAX_SCRIPT_BYTES = 1 << 20
KINDS = ("choice", "number", "time", "text")
Kind = Literal["choice", "number", "time", "text"]
_TOKEN = re.compile(r"\{([a-z_][a-z0-9_]*)(\?)?\}")
_PHONES = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
_ARPABET = frozenset(_PHONES.split())


@dataclass(frozen=True, slots=True)
class SlotRef:
    """A place in a pattern that a slot fills."""

    slot: str


Pattern = tuple[str | SlotRef, ...]
"""Words and slots in order."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Something to fill in. `values` are spelled as tools get them; `spoken` are numbers to listen for."""

    name: str
    kind: Kind
    ask: str
    answer: tuple[Pattern, ...]
    values: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = MAX_SPOKEN
    spoken: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call: `args` hold templates, `needs` the slots without which it cannot be made."""

    tool: str
    args: Mapping[str, str]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing a person can want."""

    name: str
    say: tuple[Pattern, ...]
    typed: tuple[Pattern, ...]
    reply: tuple[Line, ...]
    call: ScriptedCall | None = None
    forget: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A whole dialogue."""

    name: str
    title: str
    greeting: str
    fallback: str
    unavailable: str
    timeout: str
    failed: str
    told: str
    examples: tuple[str, ...]
    filler: tuple[tuple[str, ...], ...]
    slots: Mapping[str, Slot]
    intents: tuple[Intent, ...]
    pronunciations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def bundled_names() -> tuple[str, ...]:
    """Names of the scripts shipped with the package, sorted."""
    folder = resources.files("gemini_live_runtime.local") / "scripts"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def bundled_script(name: str) -> Script:
    """A shipped script; raises `KeyError` for an unknown name."""
    if name not in bundled_names():
        raise KeyError(name)
    source = resources.files("gemini_live_runtime.local") / "scripts" / f"{name}.toml"
    return parse_script(source.read_text("utf-8"), f"{name}.toml")


def load_script(path: Path) -> Script:
    """The script in a file; raises `ConfigError` naming file, field and remedy."""
    if path.exists() and not path.is_file():
        # A pipe would be waited on for ever.
        raise ConfigError(f"The dialogue script {path} is not a file", remedy="Check the path", field="script")
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"The dialogue script {path} cannot be read: {error.strerror}", remedy="Check the path", field="script"
        ) from None
    if len(raw) > MAX_SCRIPT_BYTES:
        raise ConfigError(f"The dialogue script {path} is above 1 MiB", remedy="Use a smaller one", field="script")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The dialogue script {path} is not UTF-8 at byte {error.start}", remedy="Save it as UTF-8", field="script"
        ) from None
    return parse_script(text, str(path))


def parse_script(text: str, source: str) -> Script:
    """The script in `text`; `source` names it in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: {error}", remedy="Correct the TOML there", field="script") from None
    return _Reader(source).script(data)


class _Reader:
    """Checks and converts; every complaint names the source and the field."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._slots: dict[str, Slot] = {}

    def fail(self, where: str, problem: str, remedy: str) -> ConfigError:
        return ConfigError(f"{self._source}: {where} {problem}", remedy=remedy, field=where)

    def script(self, data: dict[str, Any]) -> Script:
        known = {
            "format", "name", "title", "greeting", "fallback", "unavailable", "timeout", "failed", "told", "examples",
            "filler", "slots", "intent", "pronunciations",
        }  # fmt: skip
        self._only(data, known, "")
        if data.get("format") != FORMAT:
            raise self.fail("format", f"is {data.get('format')!r}", f"This program reads format = {FORMAT}")
        raw_slots = self._table(data, "slots", "")
        for name in raw_slots:
            self._slots[name] = Slot(name, "text", "", ())
        self._slots = {name: self._slot(name, raw) for name, raw in raw_slots.items()}
        raw_intents = data.get("intent", [])
        if not isinstance(raw_intents, list) or not raw_intents:
            raise self.fail("intent", "is missing", "Add at least one [[intent]]")
        intents = tuple(self._intent(index, raw) for index, raw in enumerate(raw_intents, 1))
        names = [intent.name for intent in intents]
        for name in names:
            if names.count(name) > 1:
                raise self.fail(f"intent {name!r}", "appears twice", "Give each intent its own name")
        texts = {
            key: self._template(data.get(key, default), key)
            for key, default in {
                "greeting": "",
                "fallback": "I didn't catch that. You can say, for example: {some_examples}.",
                "unavailable": "For that I would need the tool {tool}, which this session did not declare.",
                "timeout": "The tool {tool} has not answered, so I stopped waiting.",
                "failed": "That did not work: {result.error}.",
                "told": "{tool} says: {result}.",
            }.items()
        }
        return Script(
            name=self._text(data, "name", "", required=True),
            title=self._text(data, "title", ""),
            examples=self._texts(data, "examples", ""),
            filler=tuple(tuple(split_words(item)) for item in self._texts(data, "filler", "")),
            slots=self._slots,
            intents=intents,
            pronunciations=self._pronunciations(self._table(data, "pronunciations", "")),
            **texts,
        )

    def _slot(self, name: str, raw: Any) -> Slot:
        where = f"slots.{name}"
        if not isinstance(raw, dict):
            raise self.fail(where, "is not a table", f"Write [slots.{name}]")
        self._only(raw, {"ask", "answer", "kind", "values", "min", "max", "spoken"}, where)
        kind = raw.get("kind", "choice")
        if kind not in KINDS:
            raise self.fail(f"{where}.kind", f"is {kind!r}", f"Use one of {', '.join(KINDS)}")
        values = self._texts(raw, "values", where)
        if kind == "choice" and not values:
            raise self.fail(f"{where}.values", "is missing", "List at least one value")
        low, high = self._whole(raw, "min", where, 0), self._whole(raw, "max", where, MAX_SPOKEN)
        if low > high:
            raise self.fail(f"{where}.min", f"{low} is above max {high}", "Swap them")
        spoken = raw.get("spoken", [])
        if not isinstance(spoken, list) or not all(type(item) is int and low <= item <= high for item in spoken):
            raise self.fail(f"{where}.spoken", "is not a list of numbers from min to max", "Correct it")
        answer = self._patterns(raw, "answer", where) or ((SlotRef(name),),)
        return Slot(name, kind, self._text(raw, "ask", where), answer, values, low, high, tuple(spoken))

    def _intent(self, index: int, raw: Any) -> Intent:
        where = f"intent {index}"
        if not isinstance(raw, dict):
            raise self.fail(where, "is not a table", "Write [[intent]]")
        name = self._text(raw, "name", where, required=True)
        where = f"intent {name!r}"
        self._only(raw, {"name", "say", "typed", "reply", "call", "forget"}, where)
        say, typed = self._patterns(raw, "say", where), self._patterns(raw, "typed", where)
        if not say and not typed:
            raise self.fail(f"{where}.say", "is missing", "List at least one phrase")
        replies = raw.get("reply")
        if not isinstance(replies, list) or not replies:
            raise self.fail(f"{where}.reply", "is missing", "List at least one line")
        forget = raw.get("forget", False)
        if not isinstance(forget, bool):
            raise self.fail(f"{where}.forget", f"is {forget!r}", "Use true or false")
        lines = tuple(self._line(item, f"{where}.reply[{number}]") for number, item in enumerate(replies))
        return Intent(name, say, typed, lines, self._call(raw.get("call"), f"{where}.call"), forget)

    def _line(self, raw: Any, where: str) -> Line:
        if isinstance(raw, str):
            return Line("", self._template(raw, where))
        if not isinstance(raw, dict):
            raise self.fail(where, "is neither a text nor a table", 'Write "..." or { when = "...", say = "..." }')
        self._only(raw, {"when", "say"}, where)
        line = Line(self._text(raw, "when", where), self._template(raw.get("say"), f"{where}.say"))
        if problem := line.problem():
            raise self.fail(f"{where}.when", problem, "Use error, has SLOT, not X, X == V, X >= V or X <= V")
        return line

    def _call(self, raw: Any, where: str) -> ScriptedCall | None:
        if raw is None:
            return None
        if not isinstance(raw, dict):
            raise self.fail(where, "is not a table", 'Write call = { tool = "name", args = { } }')
        self._only(raw, {"tool", "args"}, where)
        args = self._table(raw, "args", where)
        needs: list[str] = []
        for key, value in args.items():
            if not isinstance(value, str):
                raise self.fail(f"{where}.args.{key}", f"is {value!r}", "Use a text; {slot} stands for a slot's value")
            for slot, optional in _TOKEN.findall(value):
                if slot not in self._slots:
                    raise self.fail(f"{where}.args.{key}", f"names an unknown slot {slot!r}", self._known_slots())
                if not optional and slot not in needs:
                    needs.append(slot)
        for slot in needs:
            if not self._slots[slot].ask:
                raise self.fail(f"slots.{slot}.ask", f"is missing, {where} needs it", "Add the question to ask for it")
        return ScriptedCall(self._text(raw, "tool", where, required=True), dict(args), tuple(needs))

    def _patterns(self, raw: dict[str, Any], key: str, where: str) -> tuple[Pattern, ...]:
        return tuple(self._pattern(text, f"{where}.{key}") for text in self._texts(raw, key, where))

    def _pattern(self, text: str, where: str) -> Pattern:
        parts: list[str | SlotRef] = []
        position = 0
        for match in _TOKEN.finditer(text):
            parts += split_words(text[position : match.start()])
            if match[1] not in self._slots:
                raise self.fail(where, f"{text!r} names an unknown slot {match[1]!r}", self._known_slots())
            parts.append(SlotRef(match[1]))
            position = match.end()
        rest = text[position:]
        if "{" in rest or "}" in rest:
            raise self.fail(where, f"{text!r} has a stray brace", "Write slots as {name}")
        parts += split_words(rest)
        if not parts:
            raise self.fail(where, f"{text!r} holds no words", "Write a phrase")
        return tuple(parts)

    def _known_slots(self) -> str:
        return f"The slots are: {', '.join(sorted(self._slots)) or 'none'}"

    def _pronunciations(self, raw: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        result = {}
        for word, value in raw.items():
            options = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else ()
            if not options or not all(isinstance(o, str) and o.split() and set(o.split()) <= _ARPABET for o in options):
                raise self.fail(f"pronunciations.{word}", f"is {value!r}", "Use ARPAbet phones without stress marks")
            result[word.lower()] = options
        return result

    def _template(self, value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise self.fail(where, "is not a text", "Write it in quotes")
        if problem := check_template(value):
            raise self.fail(where, problem, "Write placeholders as {name} or {result.field|other}")
        return value

    def _only(self, raw: dict[str, Any], known: set[str], where: str) -> None:
        for key in raw:
            if key not in known:
                raise self.fail(f"{where}.{key}".lstrip("."), "is unknown", f"Known here: {', '.join(sorted(known))}")

    def _text(self, raw: dict[str, Any], key: str, where: str, *, required: bool = False) -> str:
        value = raw.get(key, "")
        if not isinstance(value, str) or (required and not value):
            raise self.fail(f"{where}.{key}".lstrip("."), "is missing or not a text", f'Add {key} = "..."')
        return value

    def _texts(self, raw: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = raw.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fail(f"{where}.{key}".lstrip("."), "is not a list of texts", f'Write {key} = ["...", "..."]')
        return tuple(value)

    def _table(self, raw: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        value = raw.get(key, {})
        if not isinstance(value, dict):
            raise self.fail(f"{where}.{key}".lstrip("."), "is not a table", "Write it as a table")
        return value

    def _whole(self, raw: dict[str, Any], key: str, where: str, default: int) -> int:
        value = raw.get(key, default)
        if type(value) is not int or not 0 <= value <= MAX_SPOKEN:
            raise self.fail(f"{where}.{key}", f"is {value!r}", f"Use a whole number from 0 to {MAX_SPOKEN}")
        return value
