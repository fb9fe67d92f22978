"""Read what a guest says about a table: how many people, when, or never mind."""

from __future__ import annotations

import re
from typing import Any

from gemini_live_runtime import TranscriptWindow
from gemini_live_runtime.local.dialogue.confirmation import words_to_act_on
from gemini_live_runtime.local.language.party import with_people_counted
from gemini_live_runtime.local.language.words import parse_number, parse_time, split_words

_TABLE = re.compile(r"\b(tables?|reservations?)\b(?!.*\b(?:at home|my (?:flat|house|room|kitchen))\b)")
_LET_GO = re.compile(r"\b(never ?mind|forget (it|about it|that)|leave it|cancel|no thanks|changed (my|our) minds?)\b")

_OTHER_THINGS = frozenset(
    {"taxi", "taxis", "cab", "timer", "timers", "alarm", "weather", "note", "notes", "room", "floor"}
)
_OTHER_DAYS = frozenset(
    {"yesterday", "ago", "tomorrow", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)
"""Words of days for which no table is booked: that is done for today."""
_UNITS = frozenset({"second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "degrees", "dollars"})
"""Words after numbers that are neither people nor a time."""

_BEFORE_PEOPLE = frozenset({"for", "of"})
_AFTER_PEOPLE = frozenset({"people", "persons", "guests", "of", "adults", "friends"})
_BEFORE_TIME = frozenset({"at", "around", "by"})


def table_request(window: TranscriptWindow) -> dict[str, Any]:
    """Extract `wants_table`, `people` and `time` from the guest's last words.

    They want one when they speak of it and the model asks on. Nothing is extracted from a turn in which the model
    called a tool: that has acted on the words. Nor is it from words about another thing, or that only speak of a table.
    """
    if any(turn.tool_calls for turn in window.turns):
        return {}
    # Imported here: an engine begins without the vocabulary of the embedded server's dialogues.
    from gemini_live_runtime.local.understanding.mood import only_speaks
    from gemini_live_runtime.local.understanding.tentative import leaves_open
    from gemini_live_runtime.local.understanding.utterance_words import Words

    said, asked = words_to_act_on(window).lower(), window.asked.lower()
    words = Words(said)
    if not _OTHER_THINGS.isdisjoint(words.plain):
        return {}
    if _LET_GO.search(said):
        return {"wants_table": False}
    if not _OTHER_DAYS.isdisjoint(words.plain) or only_speaks(words.plain, is_question=words.is_question):
        return {}
    asks_on = any("?" in turn.model + turn.unheard for turn in window.turns)
    if leaves_open(said):
        return {}
    said = with_people_counted(said)
    found = _numbers(split_words(said), "how many" in asked, "what time" in asked or "when" in asked)
    return found | {"wants_table": True} if asks_on and _TABLE.search(said) else found


def _numbers(words: list[str], people_asked: bool, time_asked: bool) -> dict[str, Any]:
    """Return `people` and `time` by the words around their numbers, or as answers."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(words):
        number, time = parse_number(words, at), parse_time(words, at)
        before = words[at - 1] if at else ""
        # More than a number: "half past seven", "7 pm", "19:30", "noon".
        is_clock = time is not None and (number is None or time[1] > number[1])
        counts = number is not None and not _AFTER_PEOPLE.isdisjoint(words[at + number[1] : at + number[1] + 1])
        is_answer = time_asked and not people_asked and not counts
        if time is not None and (is_clock or before in _BEFORE_TIME or is_answer):
            found["time"] = time[0]
            at += time[1]
        elif number is not None:
            at += number[1]
            if words[at : at + 1] and words[at] in _UNITS:
                continue
            if counts or people_asked or before in _BEFORE_PEOPLE:
                found["people"] = number[0]
        else:
            at += 1
    return found
