"""Undo self-repairs: "a table for two, no, for three" asks for a table for three.

Speakers stop, say an editing term ("no", "I mean", "sorry", "or rather") and go on with what replaces their last words.
These begin with the same word, or name another value of the same kind. A repair of any other shape stays as it is
(Shriberg, Preliminaries to a Theory of Speech Disfluencies, 1994).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gemini_live_runtime.local.language.openings import OPENINGS
from gemini_live_runtime.local.language.spelled_names import as_spelled
from gemini_live_runtime.local.language.vocabulary import COMMON_WORDS, is_same
from gemini_live_runtime.local.language.words import (
    parse_duration,
    parse_number,
    parse_time,
    parse_year,
    split_words,
)
from gemini_live_runtime.local.scripts.script_types import Slot
from gemini_live_runtime.local.understanding.mood import is_call_off
from gemini_live_runtime.records import record

_TERM = (
    r"(?:(?:but )?i (?:mean|meant)(?: to say)?|or (?:rather|no)|(?:but )?make (?:that|it)|hold on|hang on"
    r"|(?:well|no|actually)[\s,]+(?:maybe|perhaps)|more like"
    r"|(?:scratch|scrap) that|correction|no|nope|sorry|wait|actually|rather|oops|whoops)"
)
_PADDING = r"(?:oh|well|uh|um|er|erm|hmm|hm|ah|or|please|and)"
_PROPOSES = (
    r"(?:(?:let'?s|let us|i'?d|i would|better|we could|could we) (?:say|do|go for|call it)|say|call it|how about"
    r"|what about)"
)
"""Words behind an editing term that lead to what is meant: "no, let's say sixty"."""
_GAP = r"[\s,;.:!?\u2026\u2013\u2014-]+"
_EDIT = re.compile(
    rf"(?P<pause>\s*[,;.!?\u2026\u2013\u2014-]\s*|\s+)(?<!\bas )(?P<term>(?:{_PADDING}{_GAP})*{_TERM}"
    rf"(?:{_GAP}(?:{_PADDING}{_GAP})*{_TERM})*(?:{_GAP}{_PROPOSES})?)\b(?P<gap>{_GAP})(?=\S)",
    re.IGNORECASE,
)
"""An editing term with the pauses around it; group `gap` ends where the repair begins."""

_CLEAR = re.compile(
    rf"\bi mean|\bi meant|\brather|\bmake|\bmaybe|\bperhaps|\bmore like|{_TERM}\b.*\b{_TERM}", re.IGNORECASE
)
"""Terms that need no pause around them."""

_INSTEAD = re.compile(
    r"^(?P<lead>\W*(?:(?:no|oh|well|uh|um|er|sorry|actually)\W+)*)not\s+(?P<wrong>[^,;.!?]{1,40}?)\s*"
    r"(?:\bbut\b(?! i (?:meant|said)\b)|,)\s*(?P<right>.+)$",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence such as "not the fish but the pasta"."""

_RATHER = re.compile(r"[\s,]+not\s+(?P<wrong>[^,;.!?]{1,30})[\s.!]*$", re.IGNORECASE)
"""The end of a sentence such as "thirty, not twenty"."""

_INSTEAD_OF = re.compile(
    r"(?P<before>(?:(?:could|can|would) (?:you|we|i) |(?:please|actually|no|just|sorry|oh),? )*"
    r"(?:(?:make|have|be|do|take|bring us|we are|we're|we'll be|change (?:it|that) to)(?: it| that)? )?\w+(?: \w+)?)"
    r"[\s,]+instead of (?P<wrong>(?:just |only )?\w+)\s*(?P<after>[.!?,;].*)?",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence such as "make it three instead of two? My brother is here"."""

_JOINT = re.compile(r"[,;!?]|\band\b")
"""The end of what a repair replaces: "one fish, no make that two, and a coffee"."""

_NO = re.compile(r"\bno\b", re.IGNORECASE)
_UNCLEAR = re.compile(
    rf"(?P<before>.*\w)\s*[,;.!?\u2026\u2013\u2014]+\s*(?:(?:{_PADDING}|wait|sorry|actually){_GAP})*no"
    rf"(?:\s+(?:wait|sorry|actually))?\s*[,;.!\u2026\u2013\u2014]+\s*(?P<after>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence with a "no" in its middle, between pauses."""

_OR_MAYBE = re.compile(
    r"(?P<before>.*)"
    r"(?:\bor(?: (?:maybe|perhaps|possibly|even))?|(?<!no)(?<!actually)(?<!well)[\s,]+(?:maybe|perhaps|possibly))\b"
    r"(?P<after>.*)",
    re.IGNORECASE | re.DOTALL,
)

_JEST = re.compile(
    r"^.+?(?:\bj/?k\b|[,;.!?(-]\s*(?:(?:(?:i'?m|i was|i am|only|just)\s+)+(?:joking|kidding|messing(?: with you)?)"
    r"|i take (?:it|that) back)\s*[,;.!?)-])\W*(?P<meant>\w+\W+\w.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence such as "my chest hurts, just kidding, I have a cough"."""

_REFUSES = (
    r"(?:no (?:way|chance)|no|nope|never|not a chance|come on|you(?:'re| are| must be) (?:joking|kidding)"
    r"|are you (?:joking|kidding|serious|mad)|that(?:'s| is) (?:far |way )?too (?:much|many|early|late|high|low))"
)
_ECHO = re.compile(
    rf"^[^?]*\?\W*(?:{_REFUSES}\b\W*)+"
    r"(?:(?:but|maybe|perhaps|more like|make it|say|how about|what about|i can do|let's say)\W+)*(?P<meant>\w.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""Words said again only to refuse them: "a hundred? no way, twenty"."""

_RESTATED = re.compile(
    r"^(?P<lead>(?:(?:no|nope|sorry|oh|but)\W+)*i (?:only |just )?(?:said|meant))"
    r"\W+for (?:me|us|him|her|my \w+)\W+(?P<rest>\w.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""Words said again for whom they are: "I said for me, one pasta" is "I said one pasta"."""

_DAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow"})

_WORD = re.compile(r"\d+[:.]\d+\w*|[^\W_]+(?:['\u2019][^\W_]+)*")
_BEFORE_TIMES = frozenset({"at", "by", "around", "in"})
_GOES_ON = frozenset({"and", "also", "plus", "with", "then", "so", "because", "but", "if", "when", "or"})
"""Words that add something, instead of replacing it."""
_AS_WELL = frozenset({"too", "also", "well"})
"""Last words of what is added: "a coffee too"."""
_LEADS = frozenset({"at", "in", "for", "to", "by", "on", "with", "about", "around", "a", "an", "the", "of", "it", "is"})
_PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "that", "this", "there", "is", "do", "can", "no"})
"""Words that begin too many sentences to show what is replaced."""

_SPELLING = re.compile(r"\W*(?<!\w)(?:[a-z](?:\W+(?=[a-z]\b)|\b)){4,}", re.IGNORECASE)
"""A word letter by letter: "s m i t h", "S-M-I-T-H"."""

_ARTICLES = frozenset({"a", "an", "the", "my", "our", "that", "of"})
_DENYING = frozenset({
    "no", "not", "without", "cancel", "forget", "drop", "remove", "scrap", "lose", "skip", "delete", "off", "out",
    "minus",
})  # fmt: skip
"""Words before a value that is not wanted."""
_SETS_INSTEAD = re.compile(r"\b(?:make|actually|rather|maybe|perhaps|more like)\b", re.IGNORECASE)
"""Terms that lead to what is wanted instead of a denied value: "no pasta, make it fish"."""

_MAX_REPAIRS = 3
"""Corrections that are undone in a sentence."""
_MAX_UNKNOWN = 3
"""Words behind a "no" that may name what is meant instead; more are another sentence."""
_MAX_BACK = 10
"""Words before a correction among which the one that it replaces is looked for."""


@record
class _Word:
    plain: str
    start: int
    end: int
    is_capital: bool


@record
class _Value:
    """Value that the words from `at` on name; `kind` is that of its slot."""

    kind: str
    at: int
    length: int


class SelfRepair:
    """Resolver of self-repairs in the words of a script's slots."""

    def __init__(self, slots: Mapping[str, Slot]) -> None:
        choices: list[tuple[tuple[str, ...], str]] = []
        for slot in slots.values():
            if slot.kind == "choice":
                named = [tuple(split_words(value)) for value in slot.values]
                phrases = (*named, *(phrase for known in slot.synonyms.values() for phrase in known))
                choices += [(phrase, slot.name) for phrase in phrases if phrase]
        self._choices = sorted(dict.fromkeys(choices), key=lambda item: -len(item[0]))

    def resolve(self, text: str) -> str:
        """Return `text` as its speaker meant it in the end."""
        text = _without_spelling(as_spelled(text))
        if (jest := _JEST.search(text)) is not None:
            text = f"no, {jest['meant']}"
        if (echo := _ECHO.search(text)) is not None and self._named(echo["meant"]):
            text = echo["meant"]
        if restated := _RESTATED.match(text):
            text = f"{restated['lead']} {restated['rest']}"
        text = self._without_denied(text)
        if (found := _RATHER.search(text)) is not None and self._are_numbers(text[: found.start()], found["wrong"]):
            text = text[: found.start()]
        if (found := _INSTEAD_OF.fullmatch(text)) is not None and self._is_number_of(found["before"], found["wrong"]):
            lead = "" if " " in found["before"].strip() else "make it "
            text = f"{lead}{found['before']}{found['after'] or ''}"
        for _ in range(_MAX_REPAIRS):
            resolved = next(filter(None, (self._repaired(text, edit) for edit in _EDIT.finditer(text))), "")
            if not resolved:
                break
            text = resolved
        return text

    def denial(self, text: str) -> str:
        """Return "not the fish but the pasta" without words before it.

        Return "" for a text from which `resolve` takes no denied value.
        """
        found = _INSTEAD.match(text)
        return "" if found is None or self._without_denied(text) == text else text[len(found["lead"]) :]

    def withdrawn(self, text: str) -> tuple[str, str]:
        """Return what stands before and after the "no" of "a taxi, no, a table".

        Two empty texts without one, and where `resolve` has put it right.
        """
        if _NO.search(text) is None:
            return "", ""
        found = _UNCLEAR.match(self.resolve(text))
        is_said = found is not None and not OPENINGS.issuperset(split_words(found["before"]))
        return (found["before"], found["after"]) if found and is_said else ("", "")

    def instead_of_all(self, text: str) -> str:
        """Return what is said instead of all before it, "" where it is not clear."""
        before, after = self.withdrawn(text)
        return "" if _JOINT.search(before) else after

    def is_unclear(self, text: str) -> bool:
        """Return True for "a coffee, no, tea", where tea is no known value."""
        before, rest = self.withdrawn(text)
        if not before or not self._named(before):
            return self.leaves_open(text)
        after = split_words(_JOINT.split(rest)[0])
        if not 0 < len(after) <= _MAX_UNKNOWN or is_call_off(after):
            return False
        return after[0] not in _GOES_ON | _PRONOUNS | OPENINGS | {"thanks", "thank"}

    def leaves_open(self, text: str) -> bool:
        """Return True for "two, or maybe three"."""
        found = _OR_MAYBE.match(text)
        if found is None:
            return False
        numbers = set[tuple[str, ...]]()
        before, after = _words_of(found["before"]), _words_of(found["after"])
        if not {word.plain for word in after[:1]} & _BEFORE_TIMES <= {word.plain for word in before}:
            return False  # "For four, maybe at eight" are a number and a time.
        for side in (before, after):
            value = next(iter(self._values(side)), None)
            if value is None or value.kind != "number":
                return False
            numbers.add(tuple(word.plain for word in side[value.at : value.at + value.length]))
        return len(numbers) > 1

    def _named(self, text: str) -> bool:
        """Return True when the words name a value of the script."""
        return next(iter(self._values(_words_of(text))), None) is not None

    def _without_denied(self, text: str) -> str:
        """Return "the pasta" for "not the fish but the pasta"."""
        found = _INSTEAD.match(text)
        if found is None:
            return text
        wrong, right = _words_of(found["wrong"]), _words_of(found["right"])
        named = next(iter(self._values(wrong, at_start=True)), None)
        meant = next(iter(self._values(right, at_start=True)), None)
        if named is None or meant is None or named.kind != meant.kind:
            return text
        counted = wrong[named.at + named.length :] if meant.length == len(right) else []
        return " ".join([found["lead"] + found["right"], *(word.plain for word in counted)])

    def _are_numbers(self, *texts: str) -> bool:
        """Return True when each text ends with a number."""
        for words in map(_words_of, texts):
            last = next(reversed(list(self._values(words))), None)
            if last is None or last.kind != "number" or last.at + last.length != len(words):
                return False
        return True

    def _is_number_of(self, before: str, wrong: str) -> bool:
        """Return True for "three" or "three soups", and a number said instead."""
        return self._are_numbers(before, wrong) or self._are_numbers(before.rpartition(" ")[0], wrong)

    def _repaired(self, text: str, edit: re.Match[str]) -> str:
        """Return `text` without what the words after `edit` replace, "" for no repair."""
        before, after = _words_of(text[: edit.start()]), _words_of(text[edit.end() :])
        if not before or not after or after[0].plain in _GOES_ON:
            return ""
        has_pause = bool(edit["pause"].strip())
        meant = next(iter(self._values(after, at_start=True)), None)
        is_clear = _CLEAR.search(edit["term"]) is not None
        ends_with_number = has_pause and meant is not None and meant.kind == "number" and meant.length == len(after)
        is_marked = (has_pause and edit["gap"].strip()) or _is_between_numbers(meant, before, self)
        if not (is_clear or is_marked or ends_with_number):
            return ""
        pause = _JOINT.search(text, edit.end())
        own = [word for word in after if pause is None or word.start + edit.end() < pause.start()]
        if own and own[-1].plain in _AS_WELL:
            return ""
        start, end = self._replaced(before, own or after, meant)
        if end < 0 or (_SETS_INSTEAD.search(edit["term"]) and _is_denied(before, start, text)):
            return ""
        kept = text[before[end].start : edit.start()] if end < len(before) else ""
        repair = text[edit.end() :]
        if kept:
            cut = after[meant.at + meant.length - 1].end if meant is not None else 0
            repair = f"{repair[:cut]} {kept}{repair[cut:]}"
        return text[: before[start].start] + repair

    def _replaced(self, before: Sequence[_Word], after: Sequence[_Word], meant: _Value | None) -> tuple[int, int]:
        """Return where the words that are replaced begin and end; end -1 for none.

        Words of `before` behind that end stay.
        """
        first = after[0].plain
        back = range(len(before) - 1, max(-1, len(before) - 1 - _MAX_BACK), -1)
        again = next((at for at in back if before[at].plain == first), None)
        values = list(self._values(before))
        if meant is not None:
            same = next((value for value in reversed(values) if value.kind == meant.kind), None)
            if again is not None and (same is None or again <= same.at):
                return again, len(before)
            if same is None:
                return 0, -1
            given = [value.kind for value in self._values(after)]
            if len(given) > 1 and [value.kind for value in values[-len(given) :]] == given:
                # "for two at seven, no, three at eight": all of them are replaced.
                return values[-len(given)].at, len(before)
            start = same.at
            if meant.at:  # "by card, no, in cash": the words before the value are replaced, too.
                while start and before[start - 1].plain in _LEADS:
                    start -= 1
                counts = [value for value in values if value.kind == "number" and value.at + value.length == start]
                if counts and first in ("a", "an"):  # "two fish, no, a salad"
                    start = counts[-1].at
                return start, len(before)
            if start and before[start - 1].plain in ("a", "an"):  # "a hundred, sorry, two hundred"
                start -= 1
            is_bare = meant.length == len(after)
            return start, (same.at + same.length if is_bare else len(before))
        if again is not None and first not in _PRONOUNS and len(after) > 1:
            return again, len(before)
        return 0, -1

    def _values(self, words: Sequence[_Word], *, at_start: bool = False) -> Iterable[_Value]:
        """Yield the values that `words` name, from left to right.

        With `at_start` only the one that they begin with.
        """
        plain = [word.plain for word in words]
        at = 0
        while at < len(plain):
            found = self._value_at(words, plain, at)
            if found is not None:
                yield found
            if at_start and (found is not None or plain[at] not in _LEADS):
                return
            at += found.length if found is not None else 1

    def _value_at(self, words: Sequence[_Word], plain: list[str], at: int) -> _Value | None:
        parsers = (parse_duration, parse_time, parse_year, parse_number)
        numbers = [found[1] for parse in parsers if (found := parse(plain, at)) is not None]
        if numbers:
            return _Value("number", at, max(numbers))
        for phrase, name in self._choices:
            named = plain[at : at + len(phrase)]
            if len(named) == len(phrase) and all(map(is_same, named, phrase)):
                return _Value(name, at, len(phrase))
        if plain[at] in _DAYS:
            return _Value("day", at, 1)
        length = 0
        while at + length < len(words) and words[at + length].is_capital and plain[at + length] not in COMMON_WORDS:
            length += 1
        return _Value("name", at, length) if length and at else None


def _without_spelling(text: str) -> str:
    """Return "smith" for "smith, s m i t h" and "Smith" for the letters alone."""
    found = _SPELLING.search(text)
    if found is None:
        return text
    word = "".join(re.findall(r"[a-z]", found[0], re.IGNORECASE)).lower()
    rest = f"{text[: found.start()]} {text[found.end() :]}".strip()
    if word in split_words(rest):
        return rest
    return text if rest.strip(" .!") else word.capitalize()


def _is_denied(before: Sequence[_Word], start: int, text: str) -> bool:
    """Return True when the word at `start` is not wanted: that of "no pasta"."""
    at = start - 1
    while at >= 0 and before[at].plain in _ARTICLES:
        at -= 1
    # In "no, a pasta" the no is an answer.
    return at >= 0 and before[at].plain in _DENYING and not text[before[at].end : before[at + 1].start].strip()


def _is_between_numbers(meant: _Value | None, before: Sequence[_Word], repair: SelfRepair) -> bool:
    """Return True for "two no three", which needs no pause."""
    if meant is None or meant.kind != "number":
        return False
    return any(value.kind == "number" and value.at + value.length == len(before) for value in repair._values(before))


def _words_of(text: str) -> list[_Word]:
    return [
        _Word(found[0].lower().replace("\u2019", "'"), found.start(), found.end(), found[0][:1].isupper())
        for found in _WORD.finditer(text)
    ]
