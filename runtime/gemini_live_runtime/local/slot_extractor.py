"""Extract facts from a conversation by the patterns of a dialogue script.

The extractor answers requests for JSON like a text model, so that extraction works offline. A field of the schema is
filled by the slot of its name, or by the script's `[extract.FIELD]`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.clauses import clauses_of, forbids
from gemini_live_runtime.local.matching import Match, Matcher, SlotValue, Words
from gemini_live_runtime.local.meaning import MeaningMatcher
from gemini_live_runtime.local.mood import asks_besides, is_open_wish, is_remark, only_speaks, takes_back
from gemini_live_runtime.local.script_types import Intent, Pattern, Scalar, Script, SlotRef
from gemini_live_runtime.local.words import folded
from gemini_live_runtime.records import record

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


class SlotExtractor:
    """Stateless text model that only extracts."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._matcher = Matcher(script.slots, script.filler)
        self._meanings = MeaningMatcher(script)
        meanings = (meaning for intent in script.intents for meaning in intent.means)
        self._with_slots = tuple(meaning for meaning in meanings if meaning.slots)
        owners = {name: [intent for intent in script.intents if name in _slots_of(intent)] for name in script.slots}
        self._acted_on = {name for name, own in owners.items() if own and all(intent.acts for intent in own)}
        """Slots that only intents with `acts` have: what is only spoken of fills none of them."""
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
        for utterance in _newest_first(request):
            # Matching an utterance takes milliseconds: let other tasks run in between.
            await asyncio.sleep(0)
            wanted = {name: schema for name, schema in properties.items() if name not in found}
            if not wanted:
                break
            found |= self._fields_in(utterance, wanted)
        fields = {name: found.get(name) for name in properties if name in found or name in required}
        return json.dumps(fields, ensure_ascii=False)

    def _fields_in(self, utterance: _Utterance, wanted: Mapping[str, Any]) -> dict[str, Scalar]:
        plain, is_question = utterance.words.plain, utterance.words.is_question
        asks, remarks = asks_besides(plain), is_remark(plain, self._meanings.known) or takes_back(plain)
        utterance = replace(utterance, only_speaks=remarks or only_speaks(plain, is_question=is_question))
        found = self._told_in(utterance, wanted)
        for clause in utterance.clauses:
            if not forbids(clause):
                words = Words(clause)
                speaks = remarks or only_speaks(words.plain) or (asks and not is_open_wish(words.plain))
                part = _Utterance(words, utterance.asked, only_speaks=speaks)
                found = {**self._told_in(part, wanted), **found}
        return found

    def _told_in(self, utterance: _Utterance, wanted: Mapping[str, Any]) -> dict[str, Scalar]:
        slots = self._slots_in(utterance)
        if utterance.only_speaks:
            slots = {name: value for name, value in slots.items() if name not in self._acted_on}
        values = {name: self._value(name, utterance, slots) for name in wanted}
        fitted = {name: _fitted(value, _mapping(wanted[name])) for name, value in values.items() if value is not None}
        return {name: value for name, value in fitted.items() if value is not None}

    def _value(self, name: str, utterance: _Utterance, slots: Mapping[str, SlotValue]) -> Scalar | None:
        for rule in self._script.extract.get(name, ()):
            if not rule.fits(utterance.asked) or (rule.acts and utterance.only_speaks):
                continue
            if rule.slot and rule.slot in slots:
                return slots[rule.slot]
            if any(self._matcher.find(pattern, utterance.words) for pattern in rule.when):
                return rule.value
            meant = (self._meanings.match(meaning, utterance.words) for meaning in rule.means)
            if any(found is not None and found.is_sure and not found.is_denied for found in meant):
                return rule.value
        return slots.get(name)

    def _slots_in(self, utterance: _Utterance) -> dict[str, SlotValue]:
        """Return the slots that the best phrase of any phase, or an answer, fills."""
        phrases = self._best(self._patterns, utterance.words)
        cheapest = min((match.cost for match in phrases), default=None)
        if cheapest != 0:
            for slot in self._script.slots.values():
                if not slot.ask or folded(slot.ask) not in utterance.asked:
                    continue
                answers = self._best((*slot.answer, (SlotRef(slot.name),)), utterance.words)
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
        meant = self._slots_meant(utterance)
        return {**slots, **{name: value for name, value in meant.items() if self._script.slots[name].kind == "name"}}

    def _slots_meant(self, utterance: _Utterance) -> Mapping[str, SlotValue]:
        """Return the slots that meanings of any phase fill, the surest one's first.

        A bare number counts only as an answer to the question for it.
        """
        found = (self._meanings.match(meaning, utterance.words) for meaning in self._with_slots)
        sure = [meant for meant in found if meant is not None and meant.is_sure and not meant.is_denied]
        if not sure:
            return {}
        slots: dict[str, SlotValue] = {}
        for meant in sorted(sure, key=lambda meant: meant.cost):
            told = {name: value for name, value in meant.slots.items() if name not in meant.guessed}
            guessed = {name: meant.slots[name] for name in meant.guessed if self._asks(name, utterance)}
            slots = {**told, **guessed, **slots}
        return slots

    def _asks(self, name: str, utterance: _Utterance) -> bool:
        ask = folded(self._script.slots[name].ask)
        return bool(ask) and ask in utterance.asked

    def _best(self, patterns: Sequence[Pattern], words: Words) -> list[Match]:
        """Return all matches of the lowest cost."""
        matches = [match for pattern in patterns if (match := self._matcher.match(pattern, words)) is not None]
        cheapest = min((match.cost for match in matches), default=0.0)
        return [match for match in matches if match.cost == cheapest]

    def _tells_its_slots(self, pattern: Pattern) -> bool:
        # A number or text alone is no phrase; it counts only as an answer to a question.
        slots = [self._script.slots[part.slot] for part in pattern if isinstance(part, SlotRef)]
        return len(slots) < len(pattern) or all(slot.kind == "choice" for slot in slots)


def _slots_of(intent: Intent) -> set[str]:
    """Return the names of the slots in the phrases and meanings of `intent`."""
    parts = (part for pattern in (*intent.say, *intent.typed) for part in pattern)
    named = {part.slot for part in parts if isinstance(part, SlotRef)}
    return named.union(*((*meaning.slots, *meaning.optional) for meaning in intent.means))


def _newest_first(request: Request) -> list[_Utterance]:
    turns = request.turns[-MAX_TURNS:]
    if not turns:
        return [_Utterance(Words(request.text), "", tuple(clauses_of(request.text)))]
    utterances: list[_Utterance] = []
    asked = folded(getattr(request, "asked", ""))
    for turn in turns:
        if turn.user.strip():
            utterances.append(_Utterance(Words(turn.user), asked, tuple(clauses_of(turn.user))))
        asked = folded(turn.model + getattr(turn, "unheard", "")) or asked
    return utterances[::-1]


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
