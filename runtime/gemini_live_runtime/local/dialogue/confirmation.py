"""Ask what a sentence means before it is acted on, and read the answer.

The question quotes a phrase of the script. A clear yes stands for that phrase, in the dialogue as in an extractor: both
read it from the question.
"""

from __future__ import annotations

import re
from typing import Protocol

from gemini_live_runtime.local.dialogue.consent_question import NO, YES
from gemini_live_runtime.local.language.idioms import naming_another
from gemini_live_runtime.local.language.words import parse_number, split_words

_SURE = "Just to be sure: "
_ASKED = re.compile(r"do you mean: ([^?]+)\?\s*$", re.IGNORECASE)
_CHECKED = re.compile(r"just to be sure: [^?]+\?\s*$", re.IGNORECASE)

_OF_COURSE = (
    "yes I do", "yep", "yes that's right", "exactly", "correct", "ok", "okay", "ok then", "okay then", "all right",
    "alright", "alright then", "ok please", "okay please", "fine",
)  # fmt: skip
_YES = frozenset(map(tuple, map(split_words, (*YES, *_OF_COURSE))))
_NO = frozenset(map(tuple, map(split_words, (*NO, "no I don't", "nope", "not at all"))))

_ALIKE = {
    "yes": (
        "ya", "y", "ye", "yea", "yep", "yup", "yeah", "aye", "uh huh", "mhm", "mm hm", "oh yes", "yes yes", "yeah yeah",
        "yeah yes",
    ),
    "no": (
        "n", "nope", "nah", "not really", "no not really", "not quite", "not exactly", "not at all", "no not at all",
        "i don't think so", "no i don't think so",
    ),
}  # fmt: skip
_ANSWERS = {tuple(split_words(text)): answer for answer, texts in _ALIKE.items() for text in texts}
"""Yes and no in other words, where a question was asked."""


_POSITIVE = r"(?:fine|good|great|perfect|ok|okay|lovely|all right|alright|ideal|grand|brilliant|works|suits(?: me)?|do)"
_CLEAR_YES = re.compile(
    r"(?=.*\b(?:yes|yeah|yep|yup|aye|sure|correct|exactly|absolutely|definitely|of course|go ahead|go for it"
    r"|do (?:it|that)|(?:take|charge|book|send) it|(?:that is|thats|that's) (?:right|it|correct|what i)|please do"
    r"|by all means)\b)"
    r"(?:(?:oh|well|yes|yeah|yep|yup|aye|sure|ok|okay|right|correct|exactly|absolutely|definitely|of course|please"
    r"|indeed|spot on|go ahead|go on|go for it|(?:please )?do(?: it| that| so)?|take it|charge it|book it|send it"
    r"|(?:that is|thats|that's) (?:right|it|correct|what i (?:mean|meant|said))|i (?:do|did)|thanks|thank you|then"
    r"|why not|by all means) ?)+"
)
"""A yes to "do you mean": of nothing but words that agree."""

_NO_THAT_IS_FINE = re.compile(
    rf"(?:(?:no|nah|oh|well) )+(?P<said>(?:that|it)(?:'s| is| will be|'ll be| sounds| would be|s|ll) {_POSITIVE}\b.*"
    rf"|(?:that|it) (?:works|suits)\b.*|that(?:'ll| will) do\b.*)"
)
"""An agreement that begins with a no: "no, that's fine then"."""

_AGREEING = frozenset({
    "yes", "yeah", "yep", "yup", "aye", "sure", "ok", "okay", "fine", "good", "great", "perfect", "lovely", "right",
    "alright", "all", "works", "work", "suits", "suit", "do", "does", "will", "would", "be", "it", "is", "that", "the",
    "at", "in", "on", "for", "me", "us", "a", "an", "then", "please", "thanks", "thank", "you", "go", "ahead", "let's",
    "lets", "make", "of", "course", "sounds", "can", "i", "we", "book", "take", "so",
})  # fmt: skip
"""Words that say nothing but yes around the value of an offer: "nine is fine then"."""

_NO_PROBLEM = re.compile(
    r"(?:(?:yes|yeah|ok|okay|oh|well|sure) )*(?:no (?:problem|worries)(?: at all)?|not a problem)\b"
    r"(?P<rest>.*)"
)
"""An agreement with a no in it: "no problem, book it"."""

_RUN = re.compile(r"(\W)\1{3,}")
"""A sign, such as a space, more than three times."""

_OFFERS = re.compile(r"\b(?:does that suit you|does the appointment suit you|do you agree)\?\s*$", re.IGNORECASE)


_OPEN_QUESTION = re.compile(r"(?:and )?(?:what|which|how|where|when|who|whom|at what|for how)\b", re.IGNORECASE)
"""The beginning of a question that no yes answers."""


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
    written = re.sub(r"\bi\b", "I", phrase).replace(" on tomorrow", " tomorrow")
    return f"Do you mean: {written}?"


def check_of(question: str) -> str:
    """Return a question of consent, asked once more; "" for one that no yes answers."""
    if _OPEN_QUESTION.match(question.removeprefix(_SURE)):
        return ""
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
    text = _without_runs(text)
    said = tuple(split_words(text))
    plain = " ".join(said)
    if (said in _YES or _CLEAR_YES.fullmatch(plain)) and (phrase := phrase_asked(asked)):
        return phrase
    if _OFFERS.search(asked) and (change := naming_another(text)):
        return change  # Its "no" denies the number, not the offer.
    if _OFFERS.search(asked) and (agrees := _NO_THAT_IS_FINE.fullmatch(plain)):
        return agrees["said"]
    if _OFFERS.search(asked) and (_is_no_problem(plain) or _repeats(text, asked)):
        return "yes"
    return _ANSWERS.get(said, text) if asked.rstrip().endswith("?") else text


def _without_runs(text: str) -> str:
    """Return `text` with few of a sign that is repeated.

    Patterns that allow any spaces would try each way to divide thousands of them.
    """
    return _RUN.sub(r"\1\1\1", text)


def _is_no_problem(plain: str) -> bool:
    """Return True for "no problem, book it", False for "no problem, but ten"."""
    found = _NO_PROBLEM.fullmatch(plain)
    return found is not None and _AGREEING.issuperset(found["rest"].split())


def _repeats(text: str, offer: str) -> bool:
    """Return True for "nine then", where nine was offered, with nothing else."""
    words, offered = [word.removesuffix("'s") for word in split_words(text)], split_words(offer)
    named = set[int | float]()
    for at in range(len(offered)):
        found = parse_number(offered, at)
        named |= {found[0]} if found is not None else set()
    at, is_named = 0, False
    while at < len(words):
        number = parse_number(words, at)
        if number is not None and number[0] in named:
            at, is_named = at + number[1], True
        elif number is None and (words[at] in _AGREEING or words[at] in offered):
            at += 1
        else:
            return False
    return is_named and not text.rstrip().endswith("?")


def is_no(text: str) -> bool:
    """Return True for a clear no."""
    return tuple(split_words(text)) in _NO


def words_to_act_on(window: Window) -> str:
    """Return the words that an extractor may act on, "" while the model asks back."""
    return "" if asks_back(window.last_model) else meant(window.last_user, window.asked)
