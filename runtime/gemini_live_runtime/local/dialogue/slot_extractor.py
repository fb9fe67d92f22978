"""Extract facts from a conversation by the patterns of a dialogue script.

The extractor answers requests for JSON like a text model, so that extraction works offline. A field of the schema is
filled by the slot of its name, or by the script's `[extract.FIELD]`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.dialogue.confirmation import asks_back, meant
from gemini_live_runtime.local.dialogue.dialogue_state import last_question
from gemini_live_runtime.local.language.clauses import clauses_of, forbids, quotes
from gemini_live_runtime.local.language.idioms import asking_for_another
from gemini_live_runtime.local.language.name_corrections import corrected_name
from gemini_live_runtime.local.language.words import folded
from gemini_live_runtime.local.scripts.script_types import ExtractRule, Intent, Pattern, Scalar, Script, SlotRef
from gemini_live_runtime.local.understanding.accounting import Accounting
from gemini_live_runtime.local.understanding.matching import Match, Matcher, SlotValue, words_for_things
from gemini_live_runtime.local.understanding.meaning import MeaningMatcher
from gemini_live_runtime.local.understanding.mood import (
    asks_besides,
    is_general,
    is_of_the_past,
    is_open_wish,
    is_over,
    is_remark,
    only_speaks,
    takes_back,
)
from gemini_live_runtime.local.understanding.self_repair import SelfRepair
from gemini_live_runtime.local.understanding.tentative import broken_off
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record

_ARTICLES = frozenset({"a", "an", "the"})

_RESTRICTING = frozenset({"but", "though", "although", "except", "only"})
"""Words behind which an answer is restricted."""

_BUT = re.compile(r"\bbut\W*$", re.IGNORECASE)

_A_TYPING_ERROR = 0.3
"""Cost of a phrase below which it is one, with a text or an article besides."""

MAX_TURNS = 100
"""Number of newest turns of a request that are read."""


class Turn(Protocol):
    """Turn of a request: the user's words, then the model's; "" for none.

    `unheard`, if present, is the part cut off the model's words: a user may answer before a question ends.
    """

    @property
    def user(self) -> str:
        """The user's words."""
        ...

    @property
    def model(self) -> str:
        """The model's words."""
        ...


class Request(Protocol):
    """Request for extraction. Without turns, `text` is the user's words.

    `asked`, if present, is what the model had said before the first turn.
    """

    @property
    def text(self) -> str:
        """Text of the request."""
        ...

    @property
    def turns(self) -> Sequence[Turn]:
        """The conversation, oldest turn first."""
        ...

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON schema of the object to extract."""
        ...


@record
class _Utterance:
    words: Words
    asked: str
    """The model's words before it, folded."""
    clauses: tuple[str, ...] = ()
    only_speaks: bool = False
    """True when they ask for nothing to be done."""
    whole: Words | None = None
    """Words of the whole utterance, of which these are a clause."""
    is_quoted: bool = False
    """True when the whole utterance quotes words."""

    @property
    def sentence(self) -> Words:
        """Words of the whole utterance, or these if they are all of it."""
        return self.whole or self.words


class SlotExtractor:
    """Stateless text model that only extracts."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._matcher = Matcher(script.slots, script.filler, words_for_things(script))
        self._meanings = MeaningMatcher(script)
        self._repair = SelfRepair(script.slots)
        meanings = (meaning for intent in script.intents for meaning in intent.means)
        self._with_slots = tuple(meaning for meaning in meanings if meaning.slots)
        owners = {name: [intent for intent in script.intents if name in _slots_of(intent)] for name in script.slots}
        self._acted_on = {name: own for name, own in owners.items() if any(intent.acts for intent in own)}
        """Slots of intents with `acts`, with all that have them: what is only spoken of fills none of them."""
        self._accounting = Accounting(script)
        phrases = (pattern for intent in script.intents for pattern in (*intent.say, *intent.typed))
        self._patterns = tuple(dict.fromkeys(pattern for pattern in phrases if self._tells_its_slots(pattern)))

    async def generate(self, request: Request) -> str:
        """Return a JSON object of `request.schema`; raise `UsageError` without a schema.

        The newest utterance that fills a field counts. An unfilled field is absent, or null if the schema requires it;
        so is a field whose value does not have the schema's type or enum.
        """
        if request.schema is None:
            raise UsageError(
                f"The script {self._script.name!r} extracts fields and cannot write text",
                remedy="Ask it for a JSON schema, or configure another text model",
                field="schema",
            )
        properties = _mapping(request.schema.get("properties"))
        required = request.schema.get("required") or ()
        found: dict[str, Scalar] = {}
        for utterance in self._newest_first(request):
            # Matching an utterance takes milliseconds: let other tasks run in between.
            await asyncio.sleep(0)
            wanted = {name: schema for name, schema in properties.items() if name not in found}
            if not wanted:
                break
            found |= self._fields_in(utterance, wanted)
        fields = {name: found.get(name) for name in properties if name in found or name in required}
        return json.dumps(fields, ensure_ascii=False)

    def _newest_first(self, request: Request) -> list[_Utterance]:
        turns = request.turns[-MAX_TURNS:]
        if not turns:
            return [_utterance(self._repair.resolve(request.text), "")]
        utterances: list[_Utterance] = []
        asked = getattr(request, "asked", "")
        for turn in turns:
            model = turn.model + getattr(turn, "unheard", "")
            if turn.user.strip() and not asks_back(model):
                utterances.append(_utterance(self._repair.resolve(meant(turn.user, asked)), asked))
            asked = model if model.strip() else asked
        return utterances[::-1]

    def facts(self, text: str, asked: str) -> dict[str, Scalar]:
        """Return the fields of the script's `[extract]` in `text`, said after `asked`."""
        utterance = _utterance(self._repair.resolve(text), asked)
        return self._fields_in(utterance, {name: {} for name in self._script.extract})

    def _fields_in(self, utterance: _Utterance, wanted: Mapping[str, Any]) -> dict[str, Scalar]:
        plain, is_question = utterance.words.plain, utterance.words.is_question
        if is_general(plain) or is_over(plain) or self._repair.is_unclear(utterance.words.text):
            return {}
        asks, remarks = (
            asks_besides(plain),
            is_remark(plain, self._meanings.known) or takes_back(plain, is_question=is_question),
        )
        remarks = remarks or broken_off(utterance.words.text) != ("", "")
        withdrawn, meant_instead = self._repair.withdrawn(utterance.words.text)
        if withdrawn:  # "It works! No, wait, it's gone again": what is done follows from the end alone.
            utterance = replace(utterance, clauses=(*clauses_of(meant_instead), meant_instead))
        is_spoken_of = remarks or bool(withdrawn) or only_speaks(plain, is_question=is_question)
        utterance = replace(utterance, only_speaks=is_spoken_of)
        found = self._told_in(utterance, wanted)
        parts: list[dict[str, Scalar]] = []
        for clause in utterance.clauses:
            if not forbids(clause):
                words = Words(clause)
                only = remarks or only_speaks(words.plain) or (asks and not is_open_wish(words.plain))
                part = replace(utterance, words=words, clauses=(), only_speaks=only, whole=utterance.words)
                parts.append(self._told_in(part, wanted))
        unsure = {name for told in parts for name, value in told.items() if _is_another(value, name, parts)}
        choices = (name for name, schema in wanted.items() if _is_choice(_mapping(schema)))
        torn = {name for name in choices if self._is_torn(name, parts)}
        settled = {name: parts[-1][name] for name in torn if name in parts[-1]} if _ends_with_but(utterance) else {}
        torn -= settled.keys()
        found = {name: value for name, value in {**found, **settled}.items() if name not in torn}
        unsure |= torn
        for told in parts:
            found = {**{name: value for name, value in told.items() if name not in unsure}, **found}
        if not found and (change := asking_for_another(utterance.words.text)):
            return self._fields_in(_utterance(change, utterance.asked), wanted)
        return found

    def _is_torn(self, name: str, parts: Sequence[Mapping[str, Scalar]]) -> bool:
        """Return True when clauses tell different values of a choice: "no. yes"."""
        named = {
            rule.value
            for rule in self._script.extract.get(name, ())
            if not rule.slot and isinstance(rule.value, str | bool)
        }
        return len({part[name] for part in parts if name in part} & named) > 1

    def _told_in(self, utterance: _Utterance, wanted: Mapping[str, Any]) -> dict[str, Scalar]:
        slots = self._slots_in(utterance)
        slots = {name: value for name, value in slots.items() if self._may_fill(name, slots, utterance)}
        values = {name: self._value(name, utterance, slots) for name in wanted}
        fitted = {name: _fitted(value, _mapping(wanted[name])) for name, value in values.items() if value is not None}
        return {name: value for name, value in fitted.items() if value is not None}

    def _may_fill(self, name: str, slots: Mapping[str, SlotValue], utterance: _Utterance) -> bool:
        """Return True unless something is done with the slot, and the words say more."""
        if name not in self._acted_on:
            return True
        words = utterance.sentence if utterance.is_quoted else utterance.words
        left = (self._accounting.unaccounted(intent, words, slots) for intent in self._acted_on[name])
        return not utterance.only_speaks and not all(left)

    def _may_act(self, rules: Sequence[ExtractRule], rule: ExtractRule, utterance: _Utterance) -> bool:
        """Return True unless the words say more than the rules of a field know.

        An answer to a question has to be the whole utterance.
        """
        words = utterance.sentence if rule.after or utterance.is_quoted else utterance.words
        question = last_question(utterance.asked) if rule.after else ""
        if rule.after and _is_restricted(rule, utterance.sentence):
            return False  # "Yes, but slow" is no yes.
        same = [other for other in rules if other.value == rule.value]
        return not (utterance.only_speaks or self._accounting.of_rules(same, words, question))

    def _value(self, name: str, utterance: _Utterance, slots: Mapping[str, SlotValue]) -> Scalar | None:
        rules = self._script.extract.get(name, ())
        for rule in rules:
            if not rule.fits(utterance.asked) or (rule.acts and not self._may_act(rules, rule, utterance)):
                continue
            if rule.now and is_of_the_past(utterance.sentence.plain):
                continue
            if rule.slot:
                if rule.slot in slots and (not rule.means or self._is_meant(rule, utterance)):
                    return slots[rule.slot]
                continue
            if any(self._matcher.find(pattern, utterance.words) for pattern in rule.when):
                return rule.value
            whole = (self._matcher.match(phrase, utterance.words) for phrase in rule.phrases)
            if any(found is not None and found.cost < _A_TYPING_ERROR for found in whole):
                return rule.value
            if self._is_meant(rule, utterance):
                return rule.value
        return slots.get(name)

    def _is_meant(self, rule: ExtractRule, utterance: _Utterance) -> bool:
        understood = (self._meanings.match(meaning, utterance.words) for meaning in rule.means)
        return any(found is not None and found.is_sure and not found.is_denied for found in understood)

    def _slots_in(self, utterance: _Utterance) -> dict[str, SlotValue]:
        """Return the slots that the best phrase of any phase, or an answer, fills."""
        phrases = self._best(self._patterns, utterance.words)
        cheapest = min((match.cost for match in phrases), default=None)
        if cheapest != 0:
            for slot in self._script.slots.values():
                if not slot.ask or folded(slot.ask) not in utterance.asked:
                    continue
                answers = self._best((*slot.answer, (SlotRef(slot.name),)), utterance.words)
                if phrases and slot.name in phrases[0].slots and answers and phrases[0].cost < answers[0].cost:
                    break  # "It is about the party" says which of its words are the answer.
                if answers and (cheapest is None or slot.kind == "text" or answers[0].cost <= cheapest):
                    return dict(answers[0].slots)
        slots: dict[str, SlotValue] = {}
        for match in phrases:
            slots = {**match.slots, **slots}
        is_whole = cheapest is not None and cheapest < _A_TYPING_ERROR
        if not is_whole:
            return {**slots, **self._slots_meant(utterance)}
        if any(self._script.slots[name].kind != "text" for name in slots):
            return slots
        # A text may tell a name, too: "tell him Dave rang".
        told = self._slots_meant(utterance)
        return {**slots, **{name: value for name, value in told.items() if self._script.slots[name].kind == "name"}}

    def _slots_meant(self, utterance: _Utterance) -> Mapping[str, SlotValue]:
        """Return the slots that meanings of any phase fill, the surest one's first.

        A bare number counts only as an answer to the question for it.
        """
        found = (self._meanings.match(meaning, utterance.words) for meaning in self._with_slots)
        sure = [one for one in found if one is not None and one.is_sure and not one.is_denied]
        if not sure:
            return {}
        slots: dict[str, SlotValue] = {}
        for one in sorted(sure, key=lambda one: one.cost):
            told = {name: value for name, value in one.slots.items() if name not in one.guessed}
            guessed = {name: one.slots[name] for name in one.guessed if self._asks(name, utterance)}
            slots = {**told, **guessed, **slots}
        return slots

    def _asks(self, name: str, utterance: _Utterance) -> bool:
        ask = folded(self._script.slots[name].ask)
        return bool(ask) and ask in utterance.asked

    def _best(self, patterns: Sequence[Pattern], words: Words) -> list[Match]:
        """Return all matches of the lowest cost that leave the least to texts."""
        matches = [match for pattern in patterns if (match := self._matcher.match(pattern, words)) is not None]
        least = min(map(self._matcher.cost_and_text, matches), default=(0.0, 0))
        return [match for match in matches if self._matcher.cost_and_text(match) == least]

    def _tells_its_slots(self, pattern: Pattern) -> bool:
        # A number or text alone, or with an article, is no phrase; it counts only as an answer to a question.
        slots = [self._script.slots[part.slot] for part in pattern if isinstance(part, SlotRef)]
        return len(slots) < sum(part not in _ARTICLES for part in pattern) or all(
            slot.kind == "choice" for slot in slots
        )


def _is_restricted(rule: ExtractRule, words: Words) -> bool:
    """Return True for "yes, but slow", where no meaning of a rule may have "slow"."""
    if _RESTRICTING.isdisjoint(words.plain):
        return False
    said = f" {' '.join(words.plain)} "
    phrases = (" ".join(phrase) for meaning in rule.means for phrase in meaning.without)
    return any(f" {phrase} " in said for phrase in phrases if phrase not in _RESTRICTING)


def _ends_with_but(utterance: _Utterance) -> bool:
    """Return True for "I agree, but only once": what stands behind the "but" counts."""
    *_, end = utterance.clauses or ("",)
    text = utterance.words.text.rstrip(" .!?")
    return _BUT.search(text.removesuffix(end.rstrip(" .!?"))) is not None


def _is_another(value: Scalar, name: str, parts: Sequence[Mapping[str, Scalar]]) -> bool:
    """Return True when another clause tells another number: "a two, maybe a three"."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and any(part.get(name, value) != value for part in parts)


def _slots_of(intent: Intent) -> set[str]:
    """Return the names of the slots in the phrases and meanings of `intent`."""
    parts = (part for pattern in (*intent.say, *intent.typed) for part in pattern)
    named = {part.slot for part in parts if isinstance(part, SlotRef)}
    return named.union(*((*meaning.slots, *meaning.optional) for meaning in intent.means))


def _utterance(said: str, asked: str) -> _Utterance:
    # "No, it's Stan" is one thing: its end is no answer of its own.
    clauses = () if corrected_name(said) else tuple(clauses_of(said))
    return _Utterance(Words(said), folded(asked), clauses, is_quoted=quotes(said))


def _fitted(value: Scalar, schema: Mapping[str, Any]) -> Scalar | None:
    """Return `value` in the type or enum of `schema`; None if impossible."""
    allowed = schema.get("enum")
    if isinstance(allowed, Sequence) and not isinstance(allowed, str):
        return next((item for item in allowed if item is not None and folded(str(item)) == folded(str(value))), None)
    kinds = _kinds(schema)
    if not kinds:
        return value
    fitted = (_as_kind(value, kind) for kind in kinds)
    return next((item for item in fitted if item is not None), None)


def _as_kind(value: Scalar, kind: str) -> Scalar | None:
    if isinstance(value, bool) or kind == "boolean":
        word = folded(str(value))
        if kind == "boolean":
            return True if word in ("true", "yes") else False if word in ("false", "no") else None
        return word if kind == "string" else None
    if kind == "string":
        return str(value)
    if kind not in ("integer", "number"):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    whole = number.is_integer()
    return int(number) if whole else number if kind == "number" else None


def _is_choice(schema: Mapping[str, Any]) -> bool:
    """Return True for a boolean, a value of an enum, and where `schema` tells nothing."""
    options = schema.get("anyOf")
    if isinstance(options, Sequence) and not isinstance(options, str):
        return any(_is_choice(_mapping(option)) for option in options if option)
    return not schema or "enum" in schema or "boolean" in _kinds(schema)


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """Return the types a schema allows, lower case, without null; [] for any."""
    options = schema.get("anyOf")
    if isinstance(options, Sequence) and not isinstance(options, str):
        return [kind for option in options for kind in _kinds(_mapping(option))]
    kind = schema.get("type", ())
    names = [kind] if isinstance(kind, str) else kind
    return [str(name).lower() for name in names if str(name).lower() != "null"]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
