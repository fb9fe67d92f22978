"""Split text into words to search by, and compare memories with a query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.choices import check_text
from gemini_live_runtime.harness.memory import MemoryRecord, value_text
from gemini_live_runtime.records import record

MAX_QUERY = 1000
MAX_QUERY_WORDS = 16
"""Characters and words of a query that count."""

BEGINNING = 3
"""Letters from which on a word of a query also finds longer words."""

MAX_NAME_WORDS = 2
MAX_NAME_LETTERS = 24
"""Words, and letters of them, that the key of a memory in the user's words may have beside theirs."""

_WORD = re.compile(r"[^\W_]+")
# Chinese, Japanese and Korean are written without spaces: each sign counts as a word.
_UNSPACED = "([\u2e80-\u312f\u31a0-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003134f])"


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order, without case and accents."""
    if not text.isascii():
        # Composed again, so that a Korean syllable stays one sign.
        plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
        # Compiled at the first use: it takes 2 ms, more than any other expression of an engine.
        text = re.sub(_UNSPACED, r" \1 ", unicodedata.normalize("NFC", plain))
    return _WORD.findall(text.casefold())


def memory_words(memory: MemoryRecord) -> list[str]:
    """Return the words by which a memory is found: of key, summary and value."""
    return words_of(f"{memory.key} {memory.summary or ''} {value_text(memory.value)}")


def is_in_users_words(memory: MemoryRecord) -> bool:
    """Return True when the user said each word of a memory when it was written.

    Such a memory cannot carry the words of a stranger, such as a web page that a tool has read. Its key may have a few
    words that were not said, as `favorite-color` has. Signs that a model may read as letters, such as those of Braille
    and invisible ones, have to be the user's as well.
    """
    said = "" if memory.provenance is None else memory.provenance.text or ""
    told, words = value_text(memory.value), set(words_of(said))
    named = [word for word in words_of(memory.key) if word not in words]
    return (
        set(words_of(told)) <= words
        and _unread_signs(told) <= _unread_signs(said)
        and len(named) <= MAX_NAME_WORDS
        and sum(map(len, named)) <= MAX_NAME_LETTERS
    )


def _unread_signs(text: str) -> set[str]:
    """Return the signs beyond ASCII that are part of no word, but may be read as one."""
    if text.isascii():
        return set()
    signs = set(unicodedata.normalize("NFC", text))
    return {sign for sign in signs if not sign.isascii() and unicodedata.category(sign)[0] not in "LNPZ"}


@record
class MemoryQuery:
    """Words to search for, none twice."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> MemoryQuery:
        """Return the query that a text makes; raise `HarnessError` without a word."""
        words = tuple(dict.fromkeys(words_of(check_text(text, field="text")[:MAX_QUERY])))[:MAX_QUERY_WORDS]
        if not words:
            raise HarnessError(
                "There is no word to search for",
                remedy="Give a word that the memory contains",
                field="text",
                value=text[:80],
            )
        return cls(words)

    def count(self, words: Iterable[str]) -> int:
        """Return how many words of the query occur among `words`."""
        among = set(words)
        return sum(1 for word in self.words if word in among or (finds_longer(word) and _begins(word, among)))


def finds_longer(word: str) -> bool:
    """Return True when a word of a query also finds longer words."""
    return len(word) >= BEGINNING


def _begins(word: str, among: set[str]) -> bool:
    return any(other.startswith(word) for other in among)
