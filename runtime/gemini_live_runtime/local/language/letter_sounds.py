"""Guess the pronunciation of words by English letter-to-sound rules.

Rules are tried longest first. They are rough, since they serve recognition, not speech: names of a client's tools and
slot values of a script that are in no dictionary.
"""

from __future__ import annotations

_GROUPS = {
    "ation": "EY SH AH N",
    "tion": "SH AH N", "sion": "ZH AH N", "ough": "OW", "augh": "AO", "eigh": "EY", "tch": "CH", "igh": "AY",
    "sch": "SH", "dge": "JH", "ear": "IY R", "air": "EH R", "oor": "AO R", "our": "AW ER", "ire": "AY ER",
    "ch": "CH", "sh": "SH", "th": "TH", "ph": "F", "wh": "W", "ck": "K", "ng": "NG", "qu": "K W", "gh": "",
    "kn": "N", "wr": "R", "ps": "P S", "sc": "S K", "ee": "IY", "ea": "IY", "oo": "UW", "ou": "AW", "ow": "OW",
    "oa": "OW", "oi": "OY", "oy": "OY", "ai": "EY", "ay": "EY", "au": "AO", "aw": "AO", "ei": "EY", "ey": "IY",
    "ie": "IY", "eu": "Y UW", "ew": "Y UW", "ue": "UW", "ui": "UW", "ar": "AA R", "er": "ER", "ir": "ER",
    "or": "AO R", "ur": "ER", "bb": "B", "cc": "K", "dd": "D", "ff": "F", "gg": "G", "kk": "K", "ll": "L",
    "mm": "M", "nn": "N", "pp": "P", "rr": "R", "ss": "S", "tt": "T", "zz": "Z",
}  # fmt: skip
_SHORT = {"a": "AE", "e": "EH", "i": "IH", "o": "AA", "u": "AH", "y": "IH"}
_LONG = {"a": "EY", "e": "IY", "i": "AY", "o": "OW", "u": "UW", "y": "AY"}
_CONSONANTS = {
    "b": "B", "c": "K", "d": "D", "f": "F", "g": "G", "h": "HH", "j": "JH", "k": "K", "l": "L", "m": "M", "n": "N",
    "p": "P", "q": "K", "r": "R", "s": "S", "t": "T", "v": "V", "w": "W", "x": "K S", "z": "Z",
}  # fmt: skip
_LETTER_NAMES = {
    "a": "EY", "b": "B IY", "c": "S IY", "d": "D IY", "e": "IY", "f": "EH F", "g": "JH IY", "h": "EY CH", "i": "AY",
    "j": "JH EY", "k": "K EY", "l": "EH L", "m": "EH M", "n": "EH N", "o": "OW", "p": "P IY", "q": "K Y UW",
    "r": "AA R", "s": "EH S", "t": "T IY", "u": "Y UW", "v": "V IY", "w": "D AH B AH L Y UW", "x": "EH K S",
    "y": "W AY", "z": "Z IY",
}  # fmt: skip
_DIGITS = dict(
    zip(
        "0123456789",
        ("Z IH R OW", "W AH N", "T UW", "TH R IY", "F AO R", "F AY V", "S IH K S", "S EH V AH N", "EY T", "N AY N"),
        strict=True,
    )
)


def guess_phones(word: str) -> str:
    """Return the ARPAbet phones of `word`, separated by spaces.

    A word without vowels is spelled out; other characters are ignored.
    """
    letters = "".join(char for char in word.lower() if char in _LETTER_NAMES or char in _DIGITS)
    if not any(char in _SHORT for char in letters):
        return " ".join(_LETTER_NAMES.get(char) or _DIGITS[char] for char in letters) or "AH"
    phones: list[str] = []
    at = 0
    while at < len(letters):
        group = next((letters[at : at + n] for n in (5, 4, 3, 2) if letters[at : at + n] in _GROUPS), None)
        if group is not None:
            phones += _GROUPS[group].split()
            at += len(group)
            continue
        phones += _one_letter(letters, at).split()
        at += 1
    return " ".join(phones) or "AH"


def _one_letter(word: str, at: int) -> str:
    letter, rest = word[at], word[at + 1 :]
    if letter in _DIGITS:
        return _DIGITS[letter]
    if letter == "e" and not rest and at > 1:
        return ""
    if letter == "y":
        if at == 0:
            return "Y"
        if not rest:
            return "IY"
    if letter in _SHORT:
        # A vowel, one consonant and a final e: the vowel is long, as in `note`. A final o or a keeps its own sound.
        if len(rest) == 2 and rest[1] == "e" and rest[0] in _CONSONANTS and rest[0] not in "xw":
            return _LONG[letter]
        if not rest:
            return {"a": "AH", "o": "OW", "i": "IY", "u": "UW"}.get(letter, _SHORT[letter])
        return _SHORT[letter]
    if letter == "c" and rest[:1] in tuple("eiy"):
        return "S"
    if letter == "g" and rest[:1] in tuple("eiy"):
        return "JH"
    return _CONSONANTS[letter]
