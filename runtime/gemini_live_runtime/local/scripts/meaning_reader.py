"""Read meanings of a dialogue script.

A meaning is a text of parts: `book|reserve` is a word that has to be said, in one of these ways; `[table]` is a list of
such words under `[concepts]`; `{city}` and `{city?}` are slots; `(nice|good)` may be said, `!cancel` may not. An
underscore joins words that follow each other: `what_time`. With `...` it may stand among many other words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.language.idioms import in_plain_words
from gemini_live_runtime.local.language.vocabulary import plainly
from gemini_live_runtime.local.language.words import split_words
from gemini_live_runtime.local.scripts.script_types import Meaning

_PART = re.compile(
    r"\{(?P<slot>[a-z_][a-z0-9_]*)(?P<optional>\??)\}|\((?P<also>[^()]*)\)|(?P<mark>!?)(?P<words>[^\s{}()]+)"
)

Phrases = tuple[tuple[str, ...], ...]
Fail = Callable[[str, str, str], ConfigError]
"""Maker of an error from a field, its problem and the remedy."""


class MeaningReader:
    """Reader of meanings with the lists of words that a script names."""

    def __init__(self, fail: Fail, concepts: Mapping[str, Any]) -> None:
        self._fail = fail
        self._concepts: dict[str, Phrases] = {}
        for name, texts in concepts.items():
            if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
                raise fail(f"concepts.{name}", "is not a list of texts", f'Write {name} = ["...", "..."]')
            self._concepts[name] = tuple(map(_phrase, texts))

    def read(self, text: str, where: str, slots: Mapping[str, Any], also: Phrases = ()) -> Meaning:
        """Return the meaning that `text` writes; `also` may be said as well."""
        needs: list[Phrases] = []
        without: Phrases = ()
        required: list[str] = []
        optional: list[str] = []
        among_others = "..." in text.split()
        text = " ".join(part for part in text.split() if part != "...")
        if _PART.sub("", text).strip():
            raise self._fail(where, f"{text!r} has a stray bracket", "Write {slot}, [concept], (may be said) or words")
        for part in _PART.finditer(text):
            if part["slot"]:
                if part["slot"] not in slots:
                    raise self._fail(where, f"{text!r} names an unknown slot", f"The slots are: {', '.join(slots)}")
                (optional if part["optional"] else required).append(part["slot"])
            elif part["also"] is not None:
                also = (*also, *self._phrases(part["also"].replace(" ", "|"), where))
            elif part["mark"]:
                without = (*without, *self._phrases(part["words"], where))
            else:
                needs.append(self._phrases(part["words"], where))
        if not needs and not required:
            raise self._fail(where, f"{text!r} asks for no word", "Name a word or a slot that has to be said")
        return Meaning(tuple(needs), tuple(required), tuple(optional), also, without, among_others)

    def _phrases(self, text: str, where: str) -> Phrases:
        phrases: Phrases = ()
        for option in filter(None, text.split("|")):
            if option.startswith("["):
                name = option.strip("[]")
                if name not in self._concepts:
                    known = ", ".join(self._concepts) or "none"
                    raise self._fail(where, f"names an unknown concept {name!r}", f"The concepts are: {known}")
                phrases = (*phrases, *self._concepts[name])
            else:
                words = _phrase(option.replace("_", " "))
                if not words:
                    raise self._fail(where, f"{option!r} is no word", "Write words of letters or digits")
                phrases = (*phrases, words)
        return phrases


def _phrase(text: str) -> tuple[str, ...]:
    """Return the words of a phrase as a sentence has them."""
    return tuple(filter(None, in_plain_words(plainly(split_words(text)))))
