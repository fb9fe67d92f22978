"""Ask what a sentence means before it is acted on, and read the answer.

The question quotes a phrase of the script. A clear yes stands for that phrase, in the dialogue as in an extractor: both
read it from the question.
"""

from __future__ import annotations

import re
from typing import Protocol

from gemini_live_runtime.local.dialogue.consent_question import NO, YES
from gemini_live_runtime.local.language.words import split_words

_SURE = "Just to be sure: "
_ASKED = re.compile(r"do you mean: ([^?]+)\?\s*$", re.IGNORECASE)
_CHECKED = re.compile(r"just to be sure: [^?]+\?\s*$", re.IGNORECASE)

_YES = frozenset(map(tuple, map(split_words, (*YES, "yes I do", "yep", "yes that's right", "exactly", "correct"))))
_NO = frozenset(map(tuple, map(split_words, (*NO, "no I don't", "nope", "not at all"))))

_ALIKE = {
    "yes": ("yep", "yup", "yeah", "aye", "uh huh", "mhm", "mm hm", "oh yes", "yes yes", "yeah yeah", "yeah yes"),
    "no": (
        "nope", "nah", "not really", "no not really", "not quite", "not exactly", "not at all", "no not at all",
        "i don't think so", "no i don't think so",
    ),
}  # fmt: skip
_ANSWERS = {tuple(split_words(text)): answer for answer, texts in _ALIKE.items() for text in texts}
"""Yes and no in other words, where a question was asked."""


class Window(Protocol):
    """Turns that an extractor reads."""

    @property
    def asked(self) -> str:
        """The model's words before them."""
        ...

    @property
    def last_user(self) -> str:
        """The user's newest words."""
        ...

    @property
    def last_model(self) -> str:
        """The model's newest words."""
        ...


def question_of(phrase: str) -> str:
    """Return the question for a phrase."""
    return f"Do you mean: {phrase}?"


def check_of(question: str) -> str:
    """Return a question of consent, asked once more."""
    return f"{_SURE}{question.removeprefix(_SURE)}"


def asks_back(said: str) -> bool:
    """Return True when the model's words ask before something is done."""
    return _ASKED.search(said) is not None or _CHECKED.search(said) is not None


def phrase_asked(said: str) -> str:
    """Return the phrase that the model's words ask for, "" for none."""
    found = _ASKED.search(said)
    return found[1] if found else ""


def meant(text: str, asked: str) -> str:
    """Return the words that `text` stands for after the model's words `asked`."""
    said = tuple(split_words(text))
    if said in _YES and (phrase := phrase_asked(asked)):
        return phrase
    return _ANSWERS.get(said, text) if asked.rstrip().endswith("?") else text


def is_no(text: str) -> bool:
    """Return True for a clear no."""
    return tuple(split_words(text)) in _NO


def words_to_act_on(window: Window) -> str:
    """Return the words that an extractor may act on, "" while the model asks back."""
    return "" if asks_back(window.last_model) else meant(window.last_user, window.asked)
