"""Redact personal data in a session before it is exported.

Events are redacted, so that every format made of them lacks the same values. It takes two passes over a session. The
first learns what is private: values of the scope `user:`, what is in memory, and values under names such as `phone`,
`card` or `address` in state, in arguments and in results of tools, also where these are JSON in a text. The second
replaces them there, and wherever the same words occur in a text: transcripts, notices, logs, instructions. E-mail
addresses, telephone numbers, account numbers, long numbers and what is spoken digit by digit or spelled letter by
letter are replaced in every text, known or not. Wire messages are left out whole, since a word may be spread over
several of them. A transcript comes in deltas: they are joined before the search and the spans cut apart again, so that
a value may span deltas.

It errs on the side of replacing too much, and it is no proof: a name that was never stored stays in the transcript.
"""

from __future__ import annotations

import re
import typing
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.privacy.json_in_text import private_values
from gemini_live_runtime.journal.privacy.private_names import (
    PrivateKind,
    is_memory_tool,
    is_state_key,
    kind_in_memory,
    kind_of,
    kind_of_reads,
    kind_of_record,
)
from gemini_live_runtime.journal.privacy.split_secrets import CONTEXT, ends_in_private_key, without_words
from gemini_live_runtime.redactor import REDACTED, Spans, joined_spans, redacted_part, redactor
from gemini_live_runtime.text import sanitise

_COMMON = frozenset(
    (
        *("yes", "no", "true", "false", "none", "null", "unknown", "okay", "unset", "and", "the", "not", "for"),
        *("with", "you", "are", "was", "have", "will", "can"),
    )
)
"""Words that are values of many things: replaced as a value, not in every text."""

_SHORTEST = 3
"""Letters and digits that a value needs to be searched for in texts."""

_CHUNK = 8
"""Words of a value that are searched for together."""

_MAX_OVERLAPS = 64
"""Number of places within a found value at which the same value is searched again."""

_DIGITS_AT_LEAST = 7
_DIGIT_RUN = 6
_PART_OF_NUMBER = 4

_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")
_SPOKEN = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|[0-9])"
# Every repetition has a bound: a text that is one long word must not take quadratic time.
_SHAPES = re.compile(
    # international account numbers
    r"\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{3,4}){3,8}\b"
    # digit by digit
    rf"|(?i:\b{_SPOKEN}(?:[\s,.-]{{1,4}}{_SPOKEN}){{3,}}\b)"
    # spelled letter by letter, as keys and names are
    r"|\b[0-9A-Za-z](?:[\s,._-]{1,3}[0-9A-Za-z]){5,}\b"
)
# Written addresses are searched by their sign, spoken ones only in texts with the word: tried at every character, these
# two take a hundred times as long as all others.
_MAX_LOCAL_PART = 100
_LOCAL_PART_BACKWARDS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+")
_HOST = re.compile(r"[\w.-]{1,200}")
_SAID_DOT = re.compile(r"(?i:\sdot\s)")
_SPOKEN_ADDRESS = re.compile(
    r"(?i:\b[\w+-]{1,64}(?:\s{1,3}(?:dot|underscore|dash)\s{1,3}\w{1,64}){0,6}\s{1,3}at\s{1,3}\w{1,64}"
    r"(?:\s{1,3}(?:dot|dash)\s{1,3}\w{1,64}){0,4}\s{1,3}dot\s{1,3}[a-z]{2,20}\b)"
)
_NUMBER = re.compile(r"\+?\(?\d(?:[\s\-–—()/.·]{0,3}\d)+")
_MEMORY_LINE = re.compile(r"^- [^\"\n]{1,400}: \"(?P<value>(?>(?:[^\"\\\n]|\\.)*))\" \(by ", re.MULTILINE)
"""Memory as `conversation/memory_text.py` tells it to the model, with escapes between the words."""

_UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff]")
"""Scripts without spaces between words: values in them are searched as substrings."""

_WHOLE = (ev.WireAudio, ev.Meters, ev.TurnMeasured, ev.UsageReported, ev.TelemetryReported, ev.AgentDescribed)
"""Payloads of figures and of the author's texts: left as they are."""

_NOT_SEARCHED = frozenset(
    ("session_id", "call_id", "command_id", "saved_at", "prices_as_of", "mime_type", "defined_at", "program")
)
"""Fields that identify things: left as they are, numbers included."""

_OF_AUTHORS = (ev.InstructionUpdated, ev.Log)
"""Payloads of texts whose JSON is often an example or a line of a log: it is redacted there, but nothing is learned."""

_DATA = frozenset(("args", "result", "old", "new", "value", "data", "refused"))
"""Fields that hold an agent's or a tool's own data, whose names may be those of private values."""

_MAX_SPLIT = 8192
"""Characters of a text that may go on with a secret of the one before it."""


class Redaction:
    """Redactor of one session.

    Pass every event to `learn`, in order, and then each again to `event`.
    """

    def __init__(self) -> None:
        self.count = 0
        """Places replaced so far."""
        self._learning = True
        self._phrases: dict[str, set[tuple[str, ...]]] = {}
        self._unspaced: set[str] = set()
        self._numbers: set[str] = set()
        self._number_text = ""
        self._speech: dict[tuple[int, str, str], list[tuple[int, str]]] = {}
        self._cuts: list[tuple[int, int, str, str]] = []
        self._deltas: dict[int, str] = {}
        """Redacted text of each transcript delta, by event."""
        self._heard: dict[int, tuple[str, str]] = {}
        """Redacted heard and unheard text of each interruption, by event."""

    # -- first pass --------------------------------------------------------------------------------------------------

    def learn(self, event: ev.Event) -> None:
        """Remember the private values of `event`."""
        payload = event.payload
        if isinstance(payload, ev.TranscriptDelta):
            # Each answer of the model (a generation) is one text; the user's words of a turn are one text.
            part = (event.turn if payload.side == "user" else event.gen, payload.side, payload.channel)
            self._speech.setdefault(part, []).append((event.seq, sanitise(payload.text)))
        elif isinstance(payload, ev.TurnInterrupted):
            cut = (event.seq, event.gen, sanitise(payload.heard_text), sanitise(payload.unheard_text))
            self._cuts.append(cut)
        else:
            self._payload(payload)

    def _finish_learning(self) -> None:
        """Redact the texts that came in several events, once all values are known."""
        self._learning = False
        self._number_text = " ".join(sorted(self._numbers))
        answers: dict[int, tuple[str, Spans]] = {}
        for (number, side, channel), (whole, spans) in self._spans_of_speech().items():
            deltas = self._speech[number, side, channel]
            if side == "model" and channel != "thought":
                answers[number] = (whole, spans)
            at = 0
            for seq, text in deltas:
                self._deltas[seq] = redacted_part(text, at, spans)
                at += len(text)
        for seq, gen, heard, unheard in self._cuts:
            whole, spans = answers.get(gen, ("", []))
            if whole.startswith(heard):
                self._heard[seq] = self._cut(whole, spans, len(heard), len(unheard))
            else:
                self._heard[seq] = (_replaced(heard, self._spans(heard)), _replaced(unheard, self._spans(unheard)))
        self._speech.clear()
        self._cuts.clear()

    def _spans_of_speech(self) -> dict[tuple[int, str, str], tuple[str, Spans]]:
        """Return each text that came in deltas, and what is private in it.

        A credential may be split over deltas and over two texts in journals of versions that looked at each alone.
        """
        wholes = {part: "".join(text for _, text in deltas) for part, deltas in self._speech.items()}
        found = {part: self._spans(whole) + redactor.spans(whole) for part, whole in wholes.items()}
        last: dict[tuple[str, str], tuple[int, str, str]] = {}
        for part, whole in wholes.items():
            other = last.get(part[1:])
            last[part[1:]] = part
            if other is None or ends_in_private_key(wholes[other]):
                continue
            end = len(wholes[other])
            joined, border = wholes[other][-CONTEXT:] + whole[:_MAX_SPLIT], min(end, CONTEXT)
            for first, beyond in without_words(redactor.spans(joined), joined, border):
                if first < border < beyond:
                    found[other].append((end - border + first, end))
                if border < beyond:
                    found[part].append((max(0, first - border), beyond - border))
        return {part: (whole, joined_spans(found[part])) for part, whole in wholes.items()}

    def _cut(self, whole: str, spans: Spans, heard: int, unheard: int) -> tuple[str, str]:
        """Redact both sides of a cut like the whole answer.

        They must have as many characters as the words have in the redacted transcript.
        """
        return redacted_part(whole[:heard], 0, spans), redacted_part(whole[heard : heard + unheard], heard, spans)

    # -- second pass -------------------------------------------------------------------------------------------------

    def event(self, event: ev.Event) -> ev.Event:
        """Return `event` redacted."""
        if self._learning:
            self._finish_learning()
        payload = event.payload
        # Texts that came in several events were redacted as a whole by `_finish_learning`.
        if isinstance(payload, ev.TranscriptDelta):
            text = self._deltas.get(event.seq)
            text = self.text(payload.text) if text is None else text
            self.count += text.count(REDACTED)
            return replace(event, payload=replace(payload, text=text))
        if isinstance(payload, ev.TurnInterrupted):
            heard, unheard = self._heard.get(event.seq, ("", ""))
            return replace(event, payload=replace(payload, heard_text=heard, unheard_text=unheard))
        changed = self._payload(payload)
        return event if changed is payload else replace(event, payload=changed)

    def line(self, text: str) -> str:
        """Redact a text that is not part of an event, once all events were learned."""
        if self._learning:
            self._finish_learning()
        return self.text(text)

    def text(self, text: str) -> str:
        """Return `text` sanitised and redacted.

        While learning, private values of JSON in it are remembered, and it is returned unchanged.
        """
        if self._learning:
            self._remember_values(text)
            return text
        clean = redactor.text(sanitise(text))
        spans = self._spans(clean)
        self.count += len(spans)
        return _replaced(clean, spans) if spans else clean

    # -- walking -----------------------------------------------------------------------------------------------------

    def _payload(self, payload: ev.Payload) -> ev.Payload:
        if isinstance(payload, _WHOLE) or (self._learning and isinstance(payload, _OF_AUTHORS)):
            return payload
        if isinstance(payload, ev.WireMessage):
            if self._learning:
                return payload
            return replace(payload, frame=REDACTED, problems=tuple(self.text(text) for text in payload.problems))
        kind = _kind_of_data(payload)
        changes: dict[str, Any] = {}
        for name in _fields(type(payload)):
            before = getattr(payload, name)
            after = self._value(before, kind) if name in _DATA else self._record(before)
            if after is not before:
                changes[name] = after
        return replace(payload, **changes) if changes and not self._learning else payload  # type: ignore[type-var]

    def _record(self, value: Any) -> Any:
        """Redact data of the vocabulary: its names stay, values of private keys do not."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            kind = kind_of_record(value) or kind_of_reads(value)
            return {
                name: self._value(item, kind)
                if name in ("old", "new", "value")
                else item
                if name in _NOT_SEARCHED
                else self._record(item)
                for name, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return tuple(self._record(item) for item in value)
        return value

    def _value(self, value: Any, kind: PrivateKind) -> Any:
        if kind == "measure" and type(value) in (int, float):
            return value
        if kind in ("name", "yes"):
            return self._blank(value, name=kind == "name")
        return self._data(value, in_memory=kind == "memory")

    def _data(self, value: Any, *, in_memory: bool = False) -> Any:
        """Redact data of an agent or a tool, whose names may make values private."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            about = value.get("key")
            found: dict[Any, Any] = {}
            for name, item in value.items():
                kind = kind_of(name) if isinstance(name, str) else ""
                if isinstance(about, str):
                    if name == "key" and (in_memory or "value" in value or is_state_key(about)):
                        kind = ""
                    elif name == "value":
                        kind = kind_in_memory(about) if in_memory else kind_of(about)
                kind = kind or ("memory" if in_memory else "")
                found[self.text(name) if isinstance(name, str) else name] = self._value(item, kind)
            return found
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self._data(item, in_memory=in_memory) for item in value]
        if type(value) is int and abs(value) >= 10 ** (_DIGITS_AT_LEAST - 1):
            return self._blank(value)
        if type(value) in (int, float) and not self._learning and self._spans(_spelled(value)):
            return self._blank(value)
        return value

    def _blank(self, value: Any, *, name: bool = False) -> Any:
        """Replace a private value, or each part of one: names and nesting stay."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Mapping):
            return {
                self.text(key) if isinstance(key, str) else key: self._blank(item, name=name)
                for key, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
            return [self._blank(item, name=name) for item in value]
        if self._learning:
            self._remember(_spelled(value), name=name, number=not isinstance(value, str))
            if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
                self._remember_values(value, "name" if name else "yes")
        elif value == "":
            return value
        self.count += not self._learning
        return REDACTED

    # -- what is known -----------------------------------------------------------------------------------------------

    def _remember_values(self, text: str, kind: PrivateKind = "") -> None:
        """Remember the private values of JSON in a text; with a `kind`, all values."""
        for found in private_values(text, kind):
            self._remember(found.value, name=found.kind == "name", number=found.is_number)

    def _remember(self, value: str, *, name: bool, number: bool) -> None:
        value = sanitise(value)
        if _UNSPACED.search(value):
            self._unspaced.add(value.strip())
        words = tuple(map(_folded, _WORD.findall(value)))
        digits = "".join(char for char in value if char.isdecimal())
        if len(digits) >= _DIGIT_RUN:
            self._numbers.add("".join(str(int(char)) for char in digits))
        size = sum(map(len, words))
        if size < (_PART_OF_NUMBER if number else _SHORTEST) or (len(words) == 1 and words[0] in _COMMON):
            return
        for at in range(0, len(words), _CHUNK):
            # Search for a long value in pieces of equal length: the last one overlaps the one before.
            at = max(0, min(at, len(words) - _CHUNK))
            self._phrases.setdefault(words[at], set()).add(words[at : at + _CHUNK])
        if name and len(words) > 1:
            for word in words:
                if len(word) >= _SHORTEST and word not in _COMMON:
                    self._phrases.setdefault(word, set()).add((word,))

    def _spans(self, text: str) -> Spans:
        """Return the private spans of `text` as [first, beyond), sorted and disjoint."""
        found = [*_addresses(text), *(match.span() for match in _SHAPES.finditer(text))]
        found += [match.span() for match in _NUMBER.finditer(text) if self._is_private_number(match[0])]
        found += [(one.first, one.beyond) for one in private_values(text) if one.first < one.beyond]
        if '" (by ' in text:
            found += [match.span("value") for match in _MEMORY_LINE.finditer(text) if match["value"]]
        if self._phrases:
            words = [(match.start(), match.end(), _folded(match[0])) for match in _WORD.finditer(text)]
            for at, (start, _, word) in enumerate(words):
                phrases = self._phrases.get(word)
                if phrases is None:
                    continue
                here = tuple(part[2] for part in words[at : at + _CHUNK])
                found += [
                    (start, words[at + size - 1][1]) for size in range(1, len(here) + 1) if here[:size] in phrases
                ]
        for value in self._unspaced:
            at = text.find(value)
            while at >= 0:
                found.append((at, at + len(value)))
                # A long value that repeats itself is found so often that a search at each character takes hours.
                at = text.find(value, at + max(1, len(value) // _MAX_OVERLAPS))
        return joined_spans(found)

    def _is_private_number(self, text: str) -> bool:
        digits = "".join(str(int(char)) for char in text if char.isdecimal())
        if len(digits) >= _DIGITS_AT_LEAST or (len(digits) >= _DIGIT_RUN and text.strip("+(").isdecimal()):
            return True
        return len(digits) >= _PART_OF_NUMBER and digits in self._number_text


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of written and spoken e-mail addresses."""
    at = text.find("@")
    while at >= 0:
        local = _LOCAL_PART_BACKWARDS.match(text[max(0, at - _MAX_LOCAL_PART) : at][::-1])
        host = _HOST.match(text, at + 1)
        if local and host:
            yield at - local.end(), host.end()
        at = text.find("@", at + 1)
    if _SAID_DOT.search(text):
        yield from (match.span() for match in _SPOKEN_ADDRESS.finditer(text))


def _folded(word: str) -> str:
    """Return a word without accents and case, as transcriptions differ in both."""
    if not word.isascii():
        word = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    return word.casefold()


def _replaced(text: str, spans: Spans) -> str:
    return redacted_part(text, 0, spans)


def _spelled(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _kind_of_data(payload: ev.Payload) -> PrivateKind:
    """Return the kind of the data in an event's fields."""
    if isinstance(payload, ev.MemoryChanged):
        return kind_in_memory(payload.key)
    if isinstance(payload, ev.ToolCalled | ev.ToolFinished) and is_memory_tool(payload.name):
        return "memory"
    if isinstance(payload, ev.ConsentAsked) and is_memory_tool(payload.tool):
        return "memory"
    return kind_of_record({name: getattr(payload, name, None) for name in ("key", "field")})


def _fields(cls: type[ev.Payload]) -> tuple[str, ...]:
    """Return the fields of a payload to redact: not its numbers, choices and ids."""
    known = _known_fields.get(cls)
    if known is None:
        hints = typing.get_type_hints(cls)
        known = _known_fields[cls] = tuple(
            field.name
            for field in fields(cls)  # type: ignore[arg-type]
            if field.name not in _NOT_SEARCHED
            and hints[field.name] not in (int, float, bool)
            and typing.get_origin(hints[field.name]) is not Literal
        )
    return known


_known_fields: dict[type[ev.Payload], tuple[str, ...]] = {}
