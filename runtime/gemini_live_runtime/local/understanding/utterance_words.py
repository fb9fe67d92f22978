"""Take an utterance apart into words."""

from __future__ import annotations

from gemini_live_runtime.local.language.vocabulary import HESITATIONS, expand_in_place
from gemini_live_runtime.local.language.words import split_original, split_words


class Words:
    """Words of an utterance, written out (`plain`) and as they stand (`original`)."""

    __slots__ = ("is_question", "original", "plain", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_question = text.rstrip().endswith("?")
        self.plain: list[str] = []
        self.original: list[str] = []
        split = ((written, split_words(written)) for written in split_original(text))
        said = [(written, plain[0]) for written, plain in split if len(plain) == 1 and plain[0] not in HESITATIONS]
        for at, (written, word) in enumerate(said):
            before, after = (said[at - 1][1] if at else ""), (said[at + 1][1] if at + 1 < len(said) else "")
            meant = expand_in_place(word, before, after)
            self.plain += meant
            self.original += [written, *[""] * (len(meant) - 1)]

    def __len__(self) -> int:
        return len(self.plain)
