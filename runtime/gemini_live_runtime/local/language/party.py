"""Count the people of a party: "my wife, me and the three kids" are five."""

from __future__ import annotations

import re

from gemini_live_runtime.local.language.words import parse_number, split_words

_NUMBER = (
    r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty)"
)
_MANY = (
    r"(?:adults?|grown[- ]?ups?|kids?|children|child|bab(?:y|ies)|toddlers?|infants?|teenagers?|teens|guests?|friends?"
    r"|grandparents|grandkids|grandchildren|boys?|girls?|ladies|women|men|colleagues?|seniors?|sons?|daughters?"
    r"|brothers?|sisters?|cousins?|in-laws|others)"
)
_ONE = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|missus|mother|father|mum|mom|dad|son|daughter|brother"
    r"|sister|friend|mate|boss|colleague|uncle|aunt|cousin|nephew|niece|baby|toddler|child|kid|grandmother|grandfather|granny"
    r"|grandma|grandpa|gran|neighbou?r)"
)
_OWN = r"(?:my|our|the|her|his|their)"
_YOUNG = r"(?:little |small |young |older |other )*"


def _counted(number: str) -> str:
    return rf"(?:(?:{_OWN}|another|other) )*{number} (?:of )?(?:{_OWN} )?{_YOUNG}{_MANY}"


_ITEM = rf"(?:{_counted(_NUMBER)}|(?:{_OWN}|an?|one) {_YOUNG}{_ONE}|{_OWN} parents|myself|me|i)"
_JOINT = r"(?:\s*,\s*(?:and\s+)?|\s+(?:and|plus|with|&)\s+)"
_PARTY = re.compile(
    rf"\b(?:(?P<total>{_NUMBER}) (?:of us|people|persons|guests|in total|altogether)\s*[,:;-]*\s*(?:that is |so )?)?"
    rf"(?P<items>{_ITEM}(?:{_JOINT}{_ITEM})+)(?!\w)",
    re.IGNORECASE,
)
_LATER = re.compile(
    rf"[\s,]+(?:and|plus) (?P<items>{_ITEM}(?:{_JOINT}{_ITEM})*)\s*(?:too|as well)?[\s.!]*$", re.IGNORECASE
)
"""People who are named at the end, behind the time: "for my wife and me at seven, and our daughter"."""
_ITEMS = re.compile(_ITEM, re.IGNORECASE)
_COUNT = re.compile(_counted(rf"(?P<n>{_NUMBER})"), re.IGNORECASE)


_IS_FOR_A_PARTY = re.compile(
    r"^(?!.*\b(?:note|remind|write|remember|timer)\b).*\b(?:table|book|reserv\w+|seats?)\b", re.IGNORECASE
)


def is_for_a_party(text: str) -> bool:
    """Return True for words that ask for places: those listed there are guests."""
    return _IS_FOR_A_PARTY.search(text) is not None


def with_people_counted(text: str) -> str:
    """Return `text` with the people of a party as their number: "five people".

    Two who are not counted stay as they are, as does a party that does not add up to the total told before it.
    """
    found = _PARTY.search(text)
    if found is None:
        return text
    later = _LATER.search(text, found.end())
    text = text[: later.start()] if later is not None else text
    counts = [_people_in(item[0]) for item in _ITEMS.finditer(found["items"])]
    counts += [] if later is None else [_people_in(item[0]) for item in _ITEMS.finditer(later["items"])]
    if len(counts) == 2 and sum(counts) == 2:
        return text
    if found["total"] and _number(found["total"]) != sum(counts):
        return text
    return f"{text[: found.start()]}{sum(counts)} people{text[found.end() :]}"


def _people_in(item: str) -> int:
    counted = _COUNT.fullmatch(item)
    if counted is not None:
        return _number(counted["n"])
    return 2 if item.lower().endswith("parents") else 1


def _number(text: str) -> int:
    found = parse_number(split_words(text), 0)
    return int(found[0]) if found is not None else 0
