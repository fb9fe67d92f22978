"""List the dishes of the restaurant, and how guests end an order."""

from __future__ import annotations

import re

from gemini_live_runtime import TranscriptWindow
from gemini_live_runtime.local.dialogue.confirmation import words_to_act_on
from gemini_live_runtime.local.dialogue.dialogue_state import last_question
from gemini_live_runtime.local.language.clauses import clauses_of, quotes
from gemini_live_runtime.local.language.vocabulary import asks
from gemini_live_runtime.local.understanding.accounting import unaccounted
from gemini_live_runtime.local.understanding.mood import is_general, only_speaks
from gemini_live_runtime.local.understanding.utterance_words import Words

MENU = {"fish": 14, "pasta": 11, "salad": 8, "soup": 6, "coffee": 3, "water": 2}
"""Dishes and drinks, with their prices in dollars."""

UNCOUNTED = frozenset({"fish", "pasta"})
"""Dishes whose name is the same for one and for several."""

_DISHES = "|".join(f"{dish}(?:e?s)?" for dish in MENU)

WISHES = {
    "done": r"\b(that(s|ll be| is| will be| would be| should be) (all|it|everything|enough|the lot)"
    r"|that(ll| will| should) do|just that"
    r"|us done|nothing (else|more)(?! on\b)|(thats|that is) (our|my) lot"
    r"|all (done|set|for (now|today|the moment|the time being)|(i|we) need)|(?<!not )finished|settle up"
    r"|pay now|the (bill|check)|^(no |nah )*(that is|thats) (us|me)$"
    r"|(can (i|we)|want to|like to|ready to) pay(?! (with|by|in|using|card|cash|later|separately|apart|half|each)\b)"
    r"|(im|i am|were|we are) (done|good|fine|full))\b"
    r"|^(no|nothing)( else| more| thanks| thank you| for me)*$"
    r"|^((ok|okay|right|yes|yeah|well|so) )*done( ordering| thanks| thank you)*$",
    "agrees": r"^(?=.*\b(yes|yep|correct|perfect|exactly|absolutely|indeed|spot on|go (ahead|on)|yeah"
    r"|(right|ok|okay|sure|fine|good|great|lovely|brilliant|smashing|super)$"
    r"|(sounds|looks|thats|that is|its|is|all) (good|right|fine|it)|that will do)\b)"
    rf"(?!.*\b(no|not|wrong|but|add|cancel|{_DISHES})\b)",
    "cancels": rf"^(?!.*\b(not|never|{_DISHES})\b).*\b(cancel|scrap|call it off|changed (my|our) minds?"
    r"|forget (it|everything|the (order|whole))|drop the order)\b",
}
"""Pattern of each wish, for words in small letters without punctuation."""


_OF_A_CHANGE = re.compile(r"\b(?:add|change|take (?:off|the)|which|how many|instead)\b")
"""Questions to which a yes agrees to no order: "What should I take off?"."""

_IT_IS_RIGHT = re.compile(
    r"\b(?:(?:that|it|order|everything|all) (?:is|was) (?:all |quite )?(?:right|correct|fine|good|ok|okay)"
    r"|all (?:right|correct) as it is|as it is|leave it (?:as it is|like that)|correct)\b"
)
"""Words that agree to an order after any question: "no, that is right"."""

_GOES_ON = re.compile(r"\b(?:(?:no|but) (?:wait|sorry|actually)|hold on|hang on|wait|not yet|how (?:much|long|many))\b")
"""Words by which an end of the order is taken back, or put off by a question."""

_TAKEN_BACK = re.compile(r"\w (?:no wait|wait no|oh wait|wait|hold on|hang on|no)$")
"""The end of "cancel it, no wait"."""

_ORDER = frozenset({"order", "food", "meal", "table", "bill", "kitchen", "everything"})


def wishes(window: TranscriptWindow) -> dict[str, bool]:
    """Extract what the guest wants by regular expressions, without a model."""
    said = words_to_act_on(window)
    found = wishes_in(said)
    is_of_a_change = _OF_A_CHANGE.search(last_question(window.asked).lower()) is not None
    if is_of_a_change and not _IT_IS_RIGHT.search(" ".join(Words(said).plain)):
        found.pop("agrees", None)
    return found


def wishes_in(said: str) -> dict[str, bool]:
    """Return the `WISHES` that the words have.

    "Cancel my newspaper" has none: it speaks of another thing.
    """
    plain = Words(said).plain
    parts = [said, *(() if quotes(said) else clauses_of(said))]
    found = {
        "done": _has("done", said) and not (asks(plain) or is_general(plain) or _GOES_ON.search(" ".join(plain))),
        "agrees": _is_wish("agrees", said),
        "cancels": _has("cancels", said)
        and not _TAKEN_BACK.search(" ".join(plain))
        and any(_is_wish("cancels", part) for part in parts),
    }
    return {wish: True for wish, is_said in found.items() if is_said}


def _has(wish: str, said: str) -> bool:
    written_out = re.sub("n['\u2019]t", " not", said.lower())
    words = re.findall(r"[a-z]+", re.sub("['\u2019]", "", written_out))
    return re.search(WISHES[wish], " ".join(words)) is not None


def _is_wish(wish: str, said: str) -> bool:
    words = Words(said)
    if not _has(wish, said) or only_speaks(words.plain, is_question=said.rstrip().endswith("?")):
        return False
    return not unaccounted(words, _ORDER.union(re.findall("[a-z]+", WISHES[wish])))
