"""Write dictated words as typed: names, years, and "four" for "for".

Names that are words as well, such as Mark, Rose and Will, are not among the names.
"""

from __future__ import annotations

import re

from gemini_live_runtime.local.language.words import parse_number, spoken_number

_NAMES = """
aaron abigail adam adrian alan albert alex alexander alexandra alice alison amanda amy andrea andrew angela ann anna
anne anthony antonio ashley barbara becky ben benjamin bernard beth betty brenda brian bruce cameron carl carlos
carol caroline catherine charles charlotte chloe chris christian christina christine christopher claire cynthia
daniel danielle dave david deborah debra denise dennis diana diane donald donna dorothy douglas edward eleanor
elizabeth ellen emily emma eric ethan evelyn fiona francis fred gareth gary george gerald graham greg hannah harold
harry heather helen henry howard ian isabella isabel jacob jacqueline james jane janet jason jean jeff jennifer
jeremy jessica jim joan joanna joe john jonathan jose joseph joshua juan judith judy julia julian julie justin karen
kate katherine kathleen keith kelly kenneth kevin kim laura lauren lawrence leo leonard lewis liam linda lisa louis
louise lucas lucy luis luke margaret maria marie martha martin mary matthew megan melissa michael michelle mike
miguel mohammed monica nancy natalie neil nicholas nicole nigel nora oliver olivia pamela patricia patrick paul
paula peter philip rachel ralph raymond rebecca richard robert roger ronald russell ruth ryan sam samantha samuel
sandra sara sarah scott sean sharon simon sofia sophia sophie stephanie stephen steve steven stuart susan sylvia
teresa theresa thomas tim timothy tina tom tony tracy tyler valerie vanessa veronica victor victoria vincent
virginia walter wayne wendy william yvonne zoe
"""

FIRST_NAMES = tuple(_NAMES.split())


_KNOWN = frozenset(FIRST_NAMES)
_CENTURY = "nineteen"


_FOUR = re.compile(
    r"\b((?:make|have|take|order|bring|add|get|want|like)(?: (?:it|that|those|them|me|us))?) for (?=\w+[^s\W]s\b)"
)
"""A "for" between a verb and a plural: "make it for salads" has the number that sounds so."""


def as_typed(text: str) -> str:
    """Return dictated `text` with names in capitals and years such as 1982 in digits.

    A number that was heard as another word becomes one: "make it four salads".
    """
    words = _FOUR.sub(r"\1 four ", text).split()
    written: list[str] = []
    at = 0
    while at < len(words):
        rest = parse_number(words, at + 1) if words[at] == _CENTURY else None
        if rest is not None and 10 <= rest[0] <= 99:
            written.append(f"19{rest[0]}")
            at += 1 + rest[1]
        else:
            written.append(words[at].capitalize() if words[at] in _KNOWN else words[at])
            at += 1
    return " ".join(written)


def spoken_year(digits: str) -> str:
    """Return how a year from 1910 to 1999 is said, "" for other digits."""
    is_year = len(digits) == 4 and digits.isascii() and digits.isdigit() and "1910" <= digits <= "1999"
    return f"{_CENTURY} {spoken_number(int(digits[2:]))}" if is_year else ""
