"""Check parsed TOML of a dialogue script and convert it to a `Script`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.language.vocabulary import DENIALS, expand
from gemini_live_runtime.local.language.words import MAX_SPELLED, MAX_SPOKEN, folded, split_words
from gemini_live_runtime.local.scripts.alternatives import expanded
from gemini_live_runtime.local.scripts.meaning_reader import MeaningReader
from gemini_live_runtime.local.scripts.script_types import (
    KINDS,
    Cue,
    ExtractRule,
    Intent,
    Meaning,
    Pattern,
    Scalar,
    Script,
    ScriptedCall,
    Slot,
    SlotRef,
)
from gemini_live_runtime.local.scripts.template import Line, check_template

FORMAT = 1
_TOKEN = re.compile(r"\{([a-z_][a-z0-9_]*)(\?)?\}")
_PHONES = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
ARPABET = frozenset(_PHONES.split())
"""Phones allowed in pronunciations."""


class ScriptReader:
    """Reader of parsed TOML; its errors name `source` and the field."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._slots: dict[str, Slot] = {}
        self._extracted: frozenset[str] = frozenset()
        self._meanings = MeaningReader(self.fail, {})

    def fail(self, where: str, problem: str, remedy: str) -> ConfigError:
        """Return the error that the field `where` has `problem`."""
        return ConfigError(f"{self._source}: {where} {problem}", remedy=remedy, field=where)

    def script(self, data: dict[str, Any]) -> Script:
        """Return the script in `data`; raise `ConfigError`."""
        known = {
            "format", "name", "title", "about", "abilities", "everyday", "greeting", "fallback", "fallback_again",
            "unavailable", "timeout", "failed", "told", "prompted", "examples", "filler", "concepts", "slots",
            "intent", "cue", "extract", "facts", "pronunciations", "call_by_name", "listen_for",
        }  # fmt: skip
        self._only(data, known, "")
        if data.get("format") != FORMAT:
            raise self.fail("format", f"is {data.get('format')!r}", f"This program reads format = {FORMAT}")
        self._meanings = MeaningReader(self.fail, self._table(data, "concepts", ""))
        raw_slots = self._table(data, "slots", "")
        for name in raw_slots:
            self._slots[name] = Slot(name, "text", "", ())
        self._slots = {name: self._slot(name, raw) for name, raw in raw_slots.items()}
        self._extracted = frozenset(self._table(data, "extract", ""))
        raw_intents = self._tables(data, "intent", "")
        if not raw_intents:
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
                "unavailable": "For that I'd need the tool {tool}, which this session did not declare.",
                "timeout": "The tool {tool} hasn't answered, so I stopped waiting.",
                "failed": "That didn't work: {result.error}.",
                "told": "{tool} says: {result}.",
                "prompted": "I'm listening.",
                "about": "",
                "abilities": "",
            }.items()
        }
        return Script(
            name=self._text(data, "name", "", required=True),
            title=self._text(data, "title", ""),
            call_by_name=self._flag(data, "call_by_name", "", default=True),
            examples=self._texts(data, "examples", ""),
            listen_for=self._patterns(data, "listen_for", ""),
            filler=tuple(tuple(expand(split_words(item))) for item in self._texts(data, "filler", "")),
            slots=self._slots,
            intents=intents,
            pronunciations=self._pronunciations(self._table(data, "pronunciations", "")),
            cues=tuple(self._cue(index, raw) for index, raw in enumerate(self._tables(data, "cue", ""), 1)),
            facts=self._facts(self._table(data, "facts", "")),
            extract=self._extract(self._table(data, "extract", ""), {intent.name: intent for intent in intents}),
            fallback_again=self._fallbacks(data.get("fallback_again", [])),
            **texts,
        )

    def _fallbacks(self, raw: Any) -> tuple[str, ...]:
        """Return the templates of `fallback_again`, which is a text or a list of texts."""
        texts = [raw] if isinstance(raw, str) else raw
        if not isinstance(texts, list):
            raise self.fail("fallback_again", "is no text", 'Write fallback_again = "..." or ["...", "..."]')
        return tuple(self._template(text, "fallback_again") for text in texts)

    def _slot(self, name: str, raw: Any) -> Slot:
        where = f"slots.{name}"
        if not isinstance(raw, dict):
            raise self.fail(where, "is not a table", f"Write [slots.{name}]")
        known = {
            "ask",
            "answer",
            "kind",
            "values",
            "min",
            "max",
            "spoken",
            "synonyms",
            "before",
            "after",
            "others",
            "told",
            "spelled",
            "party",
        }
        self._only(raw, known, where)
        kind = raw.get("kind", "choice")
        if kind not in KINDS:
            raise self.fail(f"{where}.kind", f"is {kind!r}", f"Use one of {', '.join(KINDS)}")
        values = self._texts(raw, "values", where)
        if kind == "choice" and not values:
            raise self.fail(f"{where}.values", "is missing", "List at least one value")
        most = MAX_SPELLED if raw.get("spelled") is True else MAX_SPOKEN
        low, high = self._whole(raw, "min", where, 0, most), self._whole(raw, "max", where, MAX_SPOKEN, most)
        if low > high:
            raise self.fail(f"{where}.min", f"{low} is above max {high}", "Swap them")
        spoken = raw.get("spoken", [])
        said = range(low, min(high, MAX_SPOKEN) + 1)
        if not isinstance(spoken, list) or not all(type(item) is int and item in said for item in spoken):
            raise self.fail(f"{where}.spoken", "is not a list of numbers from min to max", "Correct it")
        answer = self._patterns(raw, "answer", where) or ((SlotRef(name),),)
        synonyms = {}
        for value, phrases in self._table(raw, "synonyms", where).items():
            is_number = kind == "number" and value.isdecimal() and low <= int(value) <= high
            if value not in values and not is_number:
                known_values = ", ".join(values) or f"the numbers from {low} to {high}"
                raise self.fail(f"{where}.synonyms.{value}", "is not one of values", f"Use one of {known_values}")
            synonyms[value] = self._phrases({value: phrases}, value, f"{where}.synonyms")
        before, after = self._phrases(raw, "before", where), self._phrases(raw, "after", where)
        ask = self._text(raw, "ask", where)
        flags = tuple(self._flag(raw, key, where) for key in ("told", "spelled", "party", "others"))
        return Slot(name, kind, ask, answer, values, low, high, tuple(spoken), synonyms, before, after, *flags)

    def _phrases(self, raw: dict[str, Any], key: str, where: str) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(expand(split_words(text))) for text in self._texts(raw, key, where))

    def _intent(self, index: int, raw: dict[str, Any]) -> Intent:
        name = self._text(raw, "name", f"intent {index}", required=True)
        where = f"intent {name!r}"
        known = {"name", "say", "typed", "means", "during", "after", "call", "calls", "reply", "tells", "known"}
        flags = {"acts", "again", "change", "counted", "each", "forget", "from_last_call", "reads", "remember"}
        self._only(raw, known | flags, where)
        say, typed = self._patterns(raw, "say", where), self._patterns(raw, "typed", where)
        means = self._means(raw, where, (*say, *typed))
        tells = self._texts(raw, "tells", where)
        if unknown := sorted(set(tells) - self._extracted):
            known_fields = ", ".join(sorted(self._extracted)) or "none"
            raise self.fail(f"{where}.tells", f"names {unknown[0]!r}", f"The fields of [extract] are: {known_fields}")
        if not say and not typed and not means and not tells:
            raise self.fail(f"{where}.say", "is missing", "List at least one phrase")
        replies = raw.get("reply")
        if not isinstance(replies, list) or not replies:
            raise self.fail(f"{where}.reply", "is missing", "List at least one line")
        lines = tuple(self._line(item, f"{where}.reply[{number}]") for number, item in enumerate(replies))
        calls = self._calls(raw, where)
        remember = self._flag(raw, "remember", where)
        in_patterns = any(map(_has_slot, (*say, *typed)))
        in_patterns = in_patterns or any(meaning.slots or meaning.optional for meaning in means)
        if remember and not in_patterns and not any(call.needs for call in calls):
            raise self.fail(f"{where}.remember", "has nothing to remember", "Put a {slot} into a phrase, or remove it")
        forget, during = self._flag(raw, "forget", where), self._folded(raw, "during", where)
        after = self._folded(raw, "after", where)
        again, change = self._flag(raw, "again", where), self._flag(raw, "change", where)
        last, reads = self._flag(raw, "from_last_call", where), self._flag(raw, "reads", where)
        each, counted = self._flag(raw, "each", where), self._flag(raw, "counted", where)
        if each and not calls:
            raise self.fail(f"{where}.each", "is true without a call", "Remove it: it makes a call for each value")
        if reads and not calls:
            raise self.fail(
                f"{where}.reads", "is true without a call", "Remove it: it says that a call changes nothing"
            )
        acts = self._flag(raw, "acts", where, default=bool(calls) and not reads)
        if acts == reads and calls:
            raise self.fail(
                f"{where}.acts", f"is {str(acts).lower()}", "Write reads = true for a call that changes nothing"
            )
        did = (again, last, acts, change, each)
        named = self._table(raw, "known", where)
        if unknown := sorted(str(slot) for slot in named.values() if slot not in self._slots):
            raise self.fail(f"{where}.known", f"names an unknown slot {unknown[0]!r}", self._known_slots())
        return Intent(
            name, say, typed, lines, calls, forget, during, remember, after, means, *did, named, tells, counted
        )

    def _means(self, raw: dict[str, Any], where: str, phrases: tuple[Pattern, ...] = ()) -> tuple[Meaning, ...]:
        """Return the meanings of an intent or rule.

        Words of its phrases stand against none of them, but for negations: "do not forget it" forgets nothing.
        """
        words = (word for phrase in phrases for word in phrase if isinstance(word, str))
        own = tuple(dict.fromkeys((word,) for word in words if word not in DENIALS))
        texts = self._texts(raw, "means", where)
        return tuple(self._meanings.read(text, f"{where}.means", self._slots, own) for text in texts)

    def _cue(self, index: int, raw: dict[str, Any]) -> Cue:
        where = f"cue {index}"
        self._only(raw, {"told", "say", "end"}, where)
        told = self._folded(raw, "told", where)
        if not told:
            raise self.fail(f"{where}.told", "is missing", 'Add told = "words of the instruction"')
        if not self._text(raw, "say", where, required=True).strip():
            raise self.fail(f"{where}.say", "holds no words", "Write what is said")
        return Cue(told, self._template(raw["say"], f"{where}.say"), self._template(raw.get("end", ""), f"{where}.end"))

    def _facts(self, raw: dict[str, Any]) -> dict[str, tuple[str, str]]:
        facts = {}
        for name, text in raw.items():
            before, mark, after = text.partition("{}") if isinstance(text, str) else ("", "", "")
            if not (mark and folded(before) and folded(after)):
                raise self.fail(
                    f"facts.{name}", f"is {text!r}", 'Write the words around the value: "pay the {} dollars"'
                )
            facts[name] = (folded(before), folded(after))
        return facts

    def _extract(self, raw: dict[str, Any], intents: Mapping[str, Intent]) -> dict[str, tuple[ExtractRule, ...]]:
        rules = {}
        for name, value in raw.items():
            where = f"extract.{name}"
            tables = [value] if isinstance(value, dict) else value
            if not isinstance(tables, list) or not tables or not all(isinstance(item, dict) for item in tables):
                raise self.fail(where, "is not a table", f"Write [{where}], or [[{where}]] for several rules")
            rules[name] = tuple(self._rule(item, where, intents) for item in tables)
        return rules

    def _rule(self, raw: dict[str, Any], where: str, intents: Mapping[str, Intent]) -> ExtractRule:
        self._only(raw, {"slot", "when", "means", "intent", "value", "after", "acts", "now"}, where)
        after = self._folded(raw, "after", where)
        if "slot" in raw:
            if len(raw.keys() - {"after", "means"}) > 1:
                raise self.fail(where, "has slot and when, intent or value", "Use slot alone, or when with value")
            slot = self._text(raw, "slot", where, required=True)
            if slot not in self._slots:
                raise self.fail(f"{where}.slot", f"names an unknown slot {slot!r}", self._known_slots())
            return ExtractRule(slot, after=after, means=self._means(raw, where))
        when, means = self._patterns(raw, "when", where), self._means(raw, where)
        phrases: tuple[Pattern, ...] = ()
        if "intent" in raw:
            means = (*means, *self._means_of(raw["intent"], where, intents))
            named = intents[raw["intent"]]
            # A single word answers many questions: without the phase it says nothing.
            phrases = tuple(
                phrase for phrase in (*named.say, *named.typed) if len(phrase) > 1 and not _has_slot(phrase)
            )
        if not when and not means:
            raise self.fail(f"{where}.when", "is missing", "List at least one phrase, or name a slot or an intent")
        value = raw.get("value")
        if not _is_scalar(value):
            raise self.fail(f"{where}.value", f"is {value!r}", "Use a text, a number, true or false")
        acts, now = self._flag(raw, "acts", where), self._flag(raw, "now", where)
        return ExtractRule("", when, value, after, means, acts, now, raw.get("intent", ""), phrases)

    def _means_of(self, name: Any, where: str, intents: Mapping[str, Intent]) -> tuple[Meaning, ...]:
        """Return the meanings of the intent that a rule names."""
        means = intents[name].means if isinstance(name, str) and name in intents else ()
        if not means:
            known = ", ".join(intent.name for intent in intents.values() if intent.means) or "none"
            raise self.fail(f"{where}.intent", f"is {name!r}", f"Name an intent that has means: {known}")
        return means

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

    def _calls(self, raw: dict[str, Any], where: str) -> tuple[ScriptedCall, ...]:
        if "calls" not in raw:
            return (self._call(raw["call"], f"{where}.call"),) if "call" in raw else ()
        if "call" in raw:
            raise self.fail(f"{where}.calls", "is given beside call", "Use one of them")
        calls = raw["calls"]
        if not isinstance(calls, list) or not calls:
            raise self.fail(f"{where}.calls", "is not a list of calls", 'Write calls = [{ tool = "name" }]')
        return tuple(self._call(item, f"{where}.calls[{number}]") for number, item in enumerate(calls))

    def _call(self, raw: Any, where: str) -> ScriptedCall:
        if not isinstance(raw, dict):
            raise self.fail(where, "is not a table", 'Write { tool = "name", args = { } }')
        self._only(raw, {"tool", "args"}, where)
        args = self._table(raw, "args", where)
        needs: list[str] = []
        for key, value in args.items():
            if not _is_scalar(value):
                raise self.fail(f"{where}.args.{key}", f"is {value!r}", "Use a text, a number, true or false")
            for slot, optional in _TOKEN.findall(value) if isinstance(value, str) else ():
                if slot not in self._slots:
                    raise self.fail(f"{where}.args.{key}", f"names an unknown slot {slot!r}", self._known_slots())
                if not optional and slot not in needs:
                    needs.append(slot)
        for slot in needs:
            if not self._slots[slot].ask:
                raise self.fail(f"slots.{slot}.ask", f"is missing, {where} needs it", "Add the question to ask for it")
        return ScriptedCall(self._text(raw, "tool", where, required=True), dict(args), tuple(needs))

    def _patterns(self, raw: dict[str, Any], key: str, where: str) -> tuple[Pattern, ...]:
        place = f"{where}.{key}".lstrip(".")
        return tuple(
            self._pattern(sentence, place)
            for text in self._texts(raw, key, where)
            for sentence in self._sentences(text, place)
        )

    def _sentences(self, text: str, where: str) -> Iterator[str]:
        try:
            return expanded(text)
        except ValueError as error:
            raise self.fail(where, f"{text!r} {error}", "Write alternatives as (one|other)") from error

    def _pattern(self, text: str, where: str) -> Pattern:
        parts: list[str | SlotRef] = []
        position = 0
        for match in _TOKEN.finditer(text):
            parts += expand(split_words(text[position : match.start()]))
            if match[1] not in self._slots:
                raise self.fail(where, f"{text!r} names an unknown slot {match[1]!r}", self._known_slots())
            parts.append(SlotRef(match[1]))
            position = match.end()
        rest = text[position:]
        if "{" in rest or "}" in rest:
            raise self.fail(where, f"{text!r} has a stray brace", "Write slots as {name}")
        parts += expand(split_words(rest))
        if not parts:
            raise self.fail(where, f"{text!r} holds no words", "Write a phrase")
        return tuple(parts)

    def _known_slots(self) -> str:
        return f"The slots are: {', '.join(sorted(self._slots)) or 'none'}"

    def _pronunciations(self, raw: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        result = {}
        for word, value in raw.items():
            options = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else ()
            if not options or not all(isinstance(o, str) and o.split() and set(o.split()) <= ARPABET for o in options):
                raise self.fail(f"pronunciations.{word}", f"is {value!r}", "Use ARPAbet phones without stress marks")
            result[word.lower()] = options
        return result

    def _template(self, value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise self.fail(where, "is not a text", "Write it in quotes")
        if problem := check_template(value):
            raise self.fail(where, problem, "Write placeholders as {name} or {result.field|other}")
        return value

    def _flag(self, raw: dict[str, Any], key: str, where: str, *, default: bool = False) -> bool:
        value = raw.get(key, default)
        if not isinstance(value, bool):
            raise self.fail(f"{where}.{key}".lstrip("."), f"is {value!r}", "Use true or false")
        return value

    def _folded(self, raw: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = raw.get(key, [])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(item, str) and folded(item) for item in texts):
            raise self.fail(f"{where}.{key}", f"is {value!r}", f'Write {key} = "text" or {key} = ["text", "text"]')
        return tuple(folded(item) for item in texts)

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

    def _tables(self, raw: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        value = raw.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.fail(f"{where}.{key}".lstrip("."), "is not a list of tables", f"Write [[{key}]]")
        return value

    def _table(self, raw: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        value = raw.get(key, {})
        if not isinstance(value, dict):
            raise self.fail(f"{where}.{key}".lstrip("."), "is not a table", "Write it as a table")
        return value

    def _whole(self, raw: dict[str, Any], key: str, where: str, default: int, most: int) -> int:
        value = raw.get(key, default)
        if type(value) is not int or not 0 <= value <= most:
            raise self.fail(f"{where}.{key}", f"is {value!r}", f"Use a whole number from 0 to {most}")
        return value


def _has_slot(pattern: Pattern) -> bool:
    return any(isinstance(part, SlotRef) for part in pattern)


def _is_scalar(value: Any) -> TypeGuard[Scalar]:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
