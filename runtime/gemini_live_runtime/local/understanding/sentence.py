"""Read the words of an utterance, and which of them a meaning has used.

Words that a script names, and those that any sentence has, are not taken for mistyped ones or for names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gemini_live_runtime.local.language.idioms import in_plain_words
from gemini_live_runtime.local.language.polite_conditions import POLITE_IFS
from gemini_live_runtime.local.language.vocabulary import (
    ASKING_IF,
    COMMON_WORDS,
    EVERYDAY_WORDS,
    NEGATIONS,
    OPINIONS,
    WEIGHING,
    as_name,
    asks,
    base_forms,
    is_mistyped,
    is_name_like,
)
from gemini_live_runtime.local.language.words import parse_number
from gemini_live_runtime.local.understanding.utterance_words import Words

_TITLES = frozenset({"doctor", "dr", "mr", "mrs", "ms", "miss", "professor", "sir", "madam"})
_INTRODUCTIONS = (("name", "is"), ("this", "is"), ("call", "me"))
_PRESENCE = frozenset({"here", "calling", "speaking", "rang", "called", "phoned", "ringing"})
"""Words after a name that make it the speaker's."""

_WONDERING = tuple(
    (who, *text.split())
    for who in ("i", "we")
    for text in ("was wondering", "were wondering", "was hoping", "were hoping", "do not suppose")
)
"""Words of the past that ask for something now."""
_MAX_NAME = 3


class Sentence:
    """Words of an utterance, written out, with the places that are not used yet.

    `free` are the places; `restart` makes all of them free again.
    """

    def __init__(self, words: Words, known: Collection[str] = ()) -> None:
        """Read `words`; `known` are those that the script names."""
        self.words: list[str] = []
        self.original: list[str] = []
        last = len(words) - 1
        meant = in_plain_words(words.plain)
        for at, (word, plain, written) in enumerate(zip(words.plain, meant, words.original, strict=True)):
            is_weight = word in WEIGHING and at < last and self.words[-1:] == ["not"]
            if plain is not None and not is_weight:
                self.words.append(plain)
                self.original.append(written if plain == word else "")
        self._forms = [base_forms(word) for word in self.words]
        self._is_known = [
            word in COMMON_WORDS or word in EVERYDAY_WORDS or word in NEGATIONS or not forms.isdisjoint(known)
            for word, forms in zip(self.words, self._forms, strict=True)
        ]
        self._at: dict[str, list[int]] = {}
        """Places of each form of a word."""
        for at, forms in enumerate(self._forms):
            for form in forms:
                self._at.setdefault(form, []).append(at)
        self._unknown = [at for at, known in enumerate(self._is_known) if not known]
        self._asks = asks(self.words)
        self.free = set(range(len(self.words)))
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._places_of_words: dict[str, list[int]] = {}
        self.named: dict[str, list[tuple[int, int, str]]] = {}
        """Places, counts of words and values that are named, by slot; found once for all meanings."""
        self._take_corrected()
        self._take_polite()
        self._free_at_first = frozenset(self.free)

    def restart(self) -> Sentence:
        """Make all words free again, and return the sentence."""
        self.free = set(self._free_at_first)
        return self

    def _take_polite(self) -> None:
        """Mark conditions that are only polite, as in "if you can", as used."""
        for phrase in (*POLITE_IFS, *_WONDERING):
            for at in self.places(phrase):
                self.take(at, len(phrase))

    def _take_corrected(self) -> None:
        """Mark words that say the opposite of their own negation as used.

        "Won't stop" goes on, and of "three, not two" the two does not count.
        """
        for at, word in enumerate(self.words[:-1]):
            if word != "not":
                continue
            if self.words[at + 1] in ("stop", "only"):
                self.take(at, 2)
            elif (number := parse_number(self.words, at + 1)) is not None and at > 0:
                self.take(at, 1 + number[1])

    def take(self, start: int, length: int) -> None:
        """Mark the words as used."""
        self.free -= set(range(start, start + length))

    def is_word(self, at: int, meant: str) -> bool:
        """Return True when the word at `at` is `meant`, a form of it, or mistyped."""
        return meant in self._forms[at] or (not self._is_known[at] and is_mistyped(self.words[at], meant))

    def places(self, phrase: tuple[str, ...]) -> list[int]:
        """Return all places of `phrase`, found once for all meanings."""
        found = self._places.get(phrase)
        if found is None:
            # A value of a slot may have no words at all.
            found = self._places_of(phrase[0]) if phrase else list(range(len(self.words)))
            if found and len(phrase) > 1:
                last = len(self.words) - len(phrase)
                for offset, meant in enumerate(phrase[1:], 1):
                    found = [at for at in found if at <= last and self.is_word(at + offset, meant)]
            self._places[phrase] = found
        return found

    def _places_of(self, meant: str) -> list[int]:
        """Return the places of a word, its forms and what is mistyped for it, in order."""
        found = self._places_of_words.get(meant)
        if found is None:
            found = self._at.get(meant, [])
            mistyped = [at for at in self._unknown if at not in found and is_mistyped(self.words[at], meant)]
            found = self._places_of_words[meant] = sorted((*found, *mistyped)) if mistyped else found
        return found

    def has_any(self, of: Collection[str]) -> bool:
        """Return True when one of the words `of` is not used.

        The "if" of a question sets no condition: "tell me if it rains", "do I need a coat if I go out".
        """
        return any(
            (word := self.words[at]) in of and (word != "if" or not (self._asks or self.words[at - 1] in ASKING_IF))
            for at in self.free
        )

    @property
    def is_opinion(self) -> bool:
        """True when it tells what the speaker thinks of something."""
        return any(self.places(phrase) for phrase in OPINIONS)

    def find_free(self, phrase: tuple[str, ...]) -> int | None:
        """Return the place of `phrase` among the words that are not used, or None."""
        for at in self.places(phrase):
            if self.free.issuperset(range(at, at + len(phrase))):
                return at
        return None

    def names(self) -> Iterator[tuple[int, int, str]]:
        """Yield place, count of words and text of the names that people give."""
        at, given = 0, set[str]()
        while at < len(self.words):
            length = self._name_at(at, is_given=self.words[at] in given)
            if length:
                given.add(self.words[at])
                yield at, length, as_name(self.original[at : at + length])
            at += length or 1

    def proper_names_after(self, leads: Collection[tuple[str, ...]]) -> Iterator[tuple[int, int, str]]:
        """Yield place, count of words and text of proper names after `leads`."""
        for at in sorted(self.free):
            if not any(tuple(self.words[max(0, at - len(lead)) : at]) == lead for lead in leads):
                continue
            length = 0
            while (
                at + length in self.free and self._may_be_name(at + length) and self.original[at + length][:1].isupper()
            ):
                length += 1
            if length:
                yield at, length, " ".join(self.original[at : at + length])

    def take_proper_names(self) -> None:
        """Mark words that are written as names, such as a company's, as used."""
        self.free -= {at for at in self.free if self.original[at][:1].isupper() and self._may_be_name(at)}

    def _name_at(self, at: int, *, is_given: bool) -> int:
        """Return the number of words of the name at `at`, 0 without one.

        `is_given`: it begins like a name before it.
        """
        length = 1 if self.words[at] in _TITLES and at + 1 < len(self.words) else 0
        if length and not self._may_be_name(at + 1):
            return 0
        while length < _MAX_NAME and at + length < len(self.words) and self._may_be_name(at + length):
            if self.words[at + length] in self.words[at : at + length]:
                break  # It is told again.
            length += 1
        introduced = any(tuple(self.words[max(0, at - len(lead)) : at]) == lead for lead in _INTRODUCTIONS)
        if not length or is_given or introduced:
            return length
        # "I am Dave", but not "I am ill": there, and after "it is", a name begins with a capital.
        follows = tuple(self.words[max(0, at - 2) : at]) in (("it", "is"), ("i", "am"))
        following = self.words[at + length] if at + length < len(self.words) else ""
        is_present = following in _PRESENCE
        if self.words[max(0, at - 1) : at] == ["its"] and following in (*_PRESENCE, "from", "tell"):
            return length  # Typed in haste.
        is_written_so = all(word[:1].isupper() for word in self.original[at : at + length])
        is_all = length == len(self.words) and length > 1  # "Gareth Pugh"
        return length if is_written_so and (follows or is_present or is_all) else 0

    def _may_be_name(self, at: int) -> bool:
        word = self.words[at]
        return bool(self.original[at]) and word.isalpha() and not self._is_known[at] and is_name_like(word)
