"""Take an utterance apart into words."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.local.language.dictated_words import FIRST_NAMES
from gemini_live_runtime.local.language.vocabulary import HESITATIONS, expand_in_place
from gemini_live_runtime.local.language.words import parse_number, split_original, split_words

_PAUSES = (",", ";", ".", ":", "!", "?", "\u2026")
_GO_ON = frozenset({"hundred", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"})
"""Words of a number that goes on: a pause behind them ends it, as in "a hundred, and fifty a month"."""

_NAMES = frozenset(FIRST_NAMES)


class Words:
    """Words of an utterance, written out (`plain`) and as they stand (`original`)."""

    __slots__ = ("is_question", "original", "plain", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_question = text.rstrip().endswith("?")
        self.plain: list[str] = []
        self.original: list[str] = []
        said = list(_said(text))
        if text.islower():
            said = [(word.capitalize() if word in _NAMES else written, word, pause) for written, word, pause in said]
        for at, (written, word, has_pause) in enumerate(said):
            before, after = (said[at - 1][1] if at else ""), (said[at + 1][1] if at + 1 < len(said) else "")
            meant = expand_in_place(word, before, after)
            if has_pause and word in _GO_ON and _begins_number([word for _, word, _ in said[at + 1 : at + 3]]):
                meant = [*meant, "then"]
            self.plain += meant
            self.original += [written, *[""] * (len(meant) - 1)]

    def __len__(self) -> int:
        return len(self.plain)


def _said(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each word as it stands and in small letters, and True before a pause."""
    for piece in text.split():
        split = [(written, split_words(written)) for written in split_original(piece)]
        for at, (written, plain) in enumerate(split, 1):
            if len(plain) == 1 and plain[0] not in HESITATIONS:
                yield written, plain[0], at == len(split) and piece.endswith(_PAUSES)


def _begins_number(words: list[str]) -> bool:
    """Return True for "fifty" and "and fifty"."""
    return parse_number(words, words[:1] == ["and"]) is not None
