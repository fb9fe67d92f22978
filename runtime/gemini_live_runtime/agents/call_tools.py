"""Tools of the call screener: Sam's address book, and messages for him."""

from __future__ import annotations

import asyncio
import re
from functools import cache

from gemini_live_runtime import State, StateKey, ToolContext, TranscriptWindow, tool
from gemini_live_runtime.local.language.name_corrections import corrected_name
from gemini_live_runtime.local.language.words import split_words
from gemini_live_runtime.local.scripts.script import bundled_script

CONTACTS = {"Anna Miller": "his sister", "John Smith": "his neighbour"}  # Sam's address book

_HOW_URGENT = frozenset(
    split_words("""
        it it's its is this that's that yes yeah no not really very super so quite rather pretty an a urgent
        urgently emergency important please hurry quick quickly fast be could might may can must need have
        want wants to just only speak talk with him sam now right away straight immediately asap as soon
        possible i we don't dont know sure maybe perhaps think guess suppose matter of life and or death
        wait cannot can't cant the phone put me through
    """)
)
"""Words that say how urgent it is, or that the caller wants to speak to Sam, and not what it is about."""

_ASKS_FOR_HIM = re.compile(
    r"\b(?:is (?:he|sam|she)|are you) (?:in|there|free|busy|available|around|about|home|at home|back|out)\b(?! to\b)",
    re.IGNORECASE,
)
"""Words that ask whether Sam can be reached."""

_CORRECTS = re.compile(
    r"\W*(?:no|nope|nah)\b(?!.*\b(?:about|because|regarding|concerning|calling|ringing|need|needs|want|wants|wanted"
    r"|ask|talk|speak|discuss|problem|deliver|delivery|pick|it'?s for|it is for|for him|for her|to)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Words that correct something, such as a name: "no, not Bill, Phil"."""

_AT_HOME = frozenset(
    {"um", "uh", "er", "oh", "hi", "a", "meeting", "then", "at", "moment", "today", "well", "by", "any", "chance"}
)
_IS_A_NAME = re.compile(r"(?i:it'?s|it is|this is) [A-Z][a-z]+")
"""Words such as "it's Jaz", with a capital."""

CALLER = StateKey("user:caller", str, description="who is calling")
REASON = StateKey("user:reason", str, description="what it is about")
CONTACT = StateKey("app:contact", str, description="what the caller is to Sam")


def correction(window: TranscriptWindow) -> dict[str, str]:
    """Extract the caller's name where they correct it."""
    name = corrected_name(window.last_user)
    return {"correction": name} if name not in ("", "Sam") else {}


@tool
def take_message(message: str, state: State, context: ToolContext) -> dict[str, str]:
    """Write down what the caller wants Sam to know, in their words."""
    state["app:message"] = message
    context.notify(f"A message from {state.get(CALLER, 'somebody')}: {message}")  # Sam sees this on his screen
    return {"message": message}


async def look_up(state: State) -> None:
    """Look for the caller in Sam's address book, which takes a moment."""
    await asyncio.sleep(0.05)
    if contact := CONTACTS.get(state[CALLER]):
        state[CONTACT] = contact


def is_the_same_caller(name: str, state: State) -> bool:
    """Return True for the first name, and for more of it: "Anna", then "Anna Miller"."""
    return f"{name} ".startswith(f"{state.get(CALLER, '')} ".lstrip())


def _only_asks_for_him(reason: str) -> bool:
    """Return True for "Julia, is he in", False for "football on sunday, is he in"."""
    if _ASKS_FOR_HIM.search(reason) is None:
        return False
    rest = [word for word in _ASKS_FOR_HIM.sub(" ", reason).split() if not word[:1].isupper()]
    return (_HOW_URGENT | _AT_HOME).issuperset(split_words(" ".join(rest)))


@cache
def _only_a_name() -> re.Pattern[str]:
    """Return the pattern of words that say who calls, not why: "Pete from the gym".

    The names are those of the dialogue, which is read for the first reason only.
    """
    names = "|".join(bundled_script("call_screening").slots["first"].values)
    return re.compile(
        rf"(?:(?:um|uh|er|well|oh|it'?s|it is|i'?m|i am|this is)\W+)*"
        rf"(?:(?:{names}|officer [a-z]+)"
        r"(?: (?:here|speaking|calling|i (?:guess|suppose)|from (?:(?:the|his|your) )?[a-z]+))?"
        r"|from (?:(?:the|his|your) )?[a-z]+)[.!]*",
        re.IGNORECASE,
    )


def is_a_reason(reason: str, state: State) -> bool:
    """Return False for no reason, and for more of the name: "Miller" from Anna."""
    if state.get("app:leaves") or "long story" in reason.lower():
        return False
    if _only_a_name().fullmatch(reason) or _HOW_URGENT.issuperset(split_words(reason)):
        return False
    if _only_asks_for_him(reason) or _CORRECTS.match(reason) or _IS_A_NAME.fullmatch(reason):
        return False
    caller = str(state.get(CALLER, ""))
    words = reason.split()
    is_name = bool(caller and words) and all(word[:1].isupper() and word.isalpha() for word in words)
    return not (is_name and (words[0] == caller.split()[0] or len(words) == len(caller.split()) == 1))
