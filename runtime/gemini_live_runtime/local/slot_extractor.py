"""Facts from a conversation by a dialogue script alone: what its patterns find in the user's words, as JSON.

It answers the same requests as a text model that is asked for JSON, so that extraction works offline. A field of the
schema is filled by the slot of its name, or by the script's `[extract.FIELD]`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.matching import Match, Matcher, SlotValue, Words
from gemini_live_runtime.local.script_types import Pattern, Scalar, Script, SlotRef
from gemini_live_runtime.local.words import folded

MAX_TURNS = 100
"""Turns of a request that are looked at, the newest."""


class Turn(Protocol):
    """What is read of a turn: what the user said, then what the model said; "" for nothing.

    `unheard`, if a turn has it, is what was cut off the model's words: somebody may answer before a question ends.
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
    """What is read of a request. Without turns `text` is what the user said.

    `asked`, if a request has it, is what the model had said before the first turn.
    """

    @property
    def text(self) -> str:
        """The question itself."""
        ...

    @property
    def turns(self) -> Sequence[Turn]:
        """The conversation, oldest turn first."""
        ...

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON schema of the object that is wanted."""
        ...


@dataclass(frozen=True, slots=True)
class _Utterance:
    words: Words
    asked: str
    """What the model said before it, folded."""


class SlotExtractor:
    """A text model that only extracts. One may serve many conversations: it remembers nothing."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._matcher = Matcher(script.slots, script.filler)
        phrases = (pattern for intent in script.intents for pattern in (*intent.say, *intent.typed))
        self._patterns = tuple(dict.fromkeys(pattern for pattern in phrases if self._tells_its_slots(pattern)))

    async def generate(self, request: Request) -> str:
        """A JSON object of `request.schema`; raises `UsageError` without a schema.

        The newest utterance that fills a field counts. A field that nothing was said about is absent, or null when the
        schema requires it; so is one whose value is not of the type, or not one of the enum, that the schema allows.
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
            # A look at an utterance takes milliseconds: others may go on in between.
            await asyncio.sleep(0)
            wanted = {name: schema for name, schema in properties.items() if name not in found}
            if not wanted:
                break
            found |= self._fields_in(utterance, wanted)
        fields = {name: found.get(name) for name in properties if name in found or name in required}
        return json.dumps(fields, ensure_ascii=False)

    def _fields_in(self, utterance: _Utterance, wanted: Mapping[str, Any]) -> dict[str, Scalar]:
        slots = self._slots_in(utterance)
        values = {name: self._value(name, utterance, slots) for name in wanted}
        fitted = {name: _fitted(value, _mapping(wanted[name])) for name, value in values.items() if value is not None}
        return {name: value for name, value in fitted.items() if value is not None}

    def _value(self, name: str, utterance: _Utterance, slots: Mapping[str, SlotValue]) -> Scalar | None:
        for rule in self._script.extract.get(name, ()):
            if not rule.fits(utterance.asked):
                continue
            if rule.slot and rule.slot in slots:
                return slots[rule.slot]
            if any(self._matcher.find(pattern, utterance.words) for pattern in rule.when):
                return rule.value
        return slots.get(name)

    def _slots_in(self, utterance: _Utterance) -> dict[str, SlotValue]:
        """As the dialogue understands it, but in any phase: the best phrase, else an answer to what was asked."""
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
        return slots

    def _best(self, patterns: Sequence[Pattern], words: Words) -> list[Match]:
        """The cheapest of the matches, all of them."""
        matches = [match for pattern in patterns if (match := self._matcher.match(pattern, words)) is not None]
        cheapest = min((match.cost for match in matches), default=0.0)
        return [match for match in matches if match.cost == cheapest]

    def _tells_its_slots(self, pattern: Pattern) -> bool:
        # A bare number or text says nothing of itself; it is an answer when it was asked for.
        slots = [self._script.slots[part.slot] for part in pattern if isinstance(part, SlotRef)]
        return len(slots) < len(pattern) or all(slot.kind == "choice" for slot in slots)


def _newest_first(request: Request) -> list[_Utterance]:
    turns = request.turns[-MAX_TURNS:]
    if not turns:
        return [_Utterance(Words(request.text), "")]
    utterances: list[_Utterance] = []
    asked = folded(getattr(request, "asked", ""))
    for turn in turns:
        if turn.user.strip():
            utterances.append(_Utterance(Words(turn.user), asked))
        asked = folded(turn.model + getattr(turn, "unheard", "")) or asked
    return utterances[::-1]


def _fitted(value: Scalar, schema: Mapping[str, Any]) -> Scalar | None:
    """`value` as the type and the enum of `schema` have it, None when it is neither."""
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
    """The types that a schema allows, lower case, without null; [] when it names none."""
    options = schema.get("anyOf")
    if isinstance(options, Sequence) and not isinstance(options, str):
        return [kind for option in options for kind in _kinds(_mapping(option))]
    kind = schema.get("type", ())
    names = [kind] if isinstance(kind, str) else kind
    return [str(name).lower() for name in names if str(name).lower() != "null"]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
