"""Patterns of secrets after names: of fields, arguments, options and headers."""

from __future__ import annotations

import re

from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.names import KEY_USES, PASS_OWNERS

# A word after "bearer" or "token" is a credential when it is long or has a digit: "token holders" is not.
_WORD = r"(?:(?=[A-Za-z_\-.~+/=]*+[0-9])[0-9A-Za-z_\-.~+/=]{12,}|[0-9A-Za-z_\-.~+/=]{24,})"

# What follows the name of an argument or a field, also in JSON within a string: `password="..."`, `\"token\": \"...`.
_NUMBER = r"(?:[_\-]?v?[0-9]{1,3})?"
_END = rf"{_NUMBER}\\{{0,7}}[\"'`]?\]?"
SEPARATOR = r"[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}"
# As in `**Password**: "..."`, with a type in `api_key: str = "..."`, as attributes in `key="Password" value="..."`.
_BEFORE_MARK = (
    rf"(?:[*_]{{0,3}}{SEPARATOR}(?:[*_]{{1,3}}[ \t]{{0,3}})?"
    r"|[ \t]{0,3}:[ \t]{0,3}[A-Za-z][0-9A-Za-z_.<>\[\]|?]{0,40}[ \t]{0,3}=[ \t]{0,3}"
    r"|[ \t]{1,3}value[ \t]?=[ \t]?)b?"
)
OPENING_MARK = _BEFORE_MARK + r"(?P<mark>(?P<sign>\\{0,7}[\"'`])(?:(?P=sign){2})?)"
WITHIN_MARKS = r"(?:[^\"'`\\]|(?!(?<!\\)(?P=mark))[\s\S])"
_QUOTED = (
    rf"{_END}{OPENING_MARK}"
    rf"(?:(?P<quoted>(?>{WITHIN_MARKS}{{1,4000}}))(?=(?P=mark))"
    r"|(?P<marked>[^\"'\\]{1,4000})(?=\\{0,7}[\"']))"
)
NEW_LINE = r"(?:\r?\n|(?:\\{1,7}r)?\\{1,7}n)"
_LINE = r"[^\r\n\\]{1,1000}"
# A text of YAML, which goes on while lines are indented.
_BLOCK = (
    rf"{_END}:[ \t]{{0,3}}[|>][0-9+\-]{{0,2}}[ \t]{{0,3}}{NEW_LINE}(?P<indent>[ \t]{{1,20}})"
    rf"(?P<block>{_LINE}(?:{NEW_LINE}(?P=indent){_LINE}){{0,100}})"
)
_PLAIN = rf"{_NUMBER}\]?=(?P<plain>[^\s&\"'`\\,;)]{{4,}})"
_VALUE = r"(?=[^\s&\"'`\\,;)]{0,40}[0-9])[^\s&\"'`\\,;)]{8,}"
_ASSIGNED = rf"{_NUMBER}\]?[ \t]{{0,8}}(?::=|=>|=)[ \t]{{0,8}}(?P<assigned>{_VALUE})"
COLON = rf"[*_]{{0,3}}:[*_]{{0,3}}[ \t]{{0,3}}(?:{NEW_LINE}[ \t]{{0,20}})?"
_SAID = rf"{_NUMBER}{COLON}(?P<said>(?=[^\s\"'`\\,;)]{{0,40}}[0-9])[^\s\"'`\\,;)]{{8,}})"
_PLAIN_SPACED = rf"{_NUMBER}[ \t]{{0,8}}(?::=|=>|=)[ \t]{{0,8}}(?P<spaced>[^\s&\"'`\\,;)]{{8,}})"
_ARGUMENT = rf"{_NUMBER}=(?P<argument>[^&\s\"']+)"
_OPTION = (
    r"(?: |(?: |\\{0,7}[\"'], ?)\\{0,7}(?P<quote>[\"']))"
    r"(?P<option>(?(quote)[^\"'\\\-][^\"'\\]{3,400}(?=\\{0,7}[\"'])|[^\s\"'\\\-][^\s\"'\\]{7,}))"
)
_KEY_OF_NAMES = "|".join(rf"(?<={name}{between}.ey)" for name in KEY_USES for between in ("", "[-_ ]"))
_TAGGED = r"(?:[ \t][^<>]{0,100})?>\s{0,3}(?P<tagged>[^<>\s\"'\\]{4,400})(?=\s{0,3}</)"
_FIELD = rf"{_QUOTED}|{_TAGGED}|{_BLOCK}"
_PASSWORD = rf"s?(?:{_FIELD}|{_PLAIN}|{_ASSIGNED}|{_SAID})"

_OWNED = "|".join(rf"(?<={owner}{between}pass)" for owner in PASS_OWNERS for between in ("", "[-_]"))
_OWNED = rf"(?:{_OWNED}|(?-i:(?<=[A-Z0-9]_PASS)))"
OWNED_PASS = rf"pass{_OWNED}"
# "pass" as a word of its own needs more: tests pass, and 1300 of them.
_PASS = (
    r"pass(?=[0-9\"'`\\\]:=>*_v \t\-]{1,12})"
    rf"(?:(?:{_OWNED}|(?<![0-9a-z_\-]pass))(?:{_FIELD})|{_OWNED}(?:{_PLAIN}|{_ASSIGNED}|{_SAID})"
    rf"|(?<![0-9a-z_\-]pass){_NUMBER}="
    r"(?P<own>(?=[^\s&]{0,40}[a-z])(?=[^\s&]{0,40}[0-9])[^\s&\"'`\\,;)]{6,}))"
)

CODE = r"pin(?:(?<![a-z]pin)|(?-i:(?<=[a-z]Pin)))(?:[ _\-]?(?:code|number))?"
_CODE = (
    rf"{CODE}{_END}[*_]{{0,3}}{SEPARATOR}[*_]{{0,3}}(?:\\{{0,7}}[\"'`])?(?P<code>(?:[0-9][ \-]?){{3,15}}[0-9])(?![0-9])"
)

BEARER = r"bearer(?:(?::?[ \t\n]{1,3}|=|:)(?:\\{0,7}[\"'`])?|%20|\\[nt])"
SCHEME = r"(?:basic|bearer|token|key|api-?key|digest|negotiate|ntlm|oauth)(?:[ \t]{1,3}|=)"
OTHER_SCHEME = r"[a-z][0-9a-z\-]{1,30}[ \t]{1,3}"

NAMED = tuple(
    (anchor, f"(?ai:{pattern})")
    for anchor, pattern in (
        (
            "bearer",
            rf"{BEARER}(?P<word>{_WORD})",
        ),
        (
            "token",
            rf"token(?:{_FIELD}"
            rf"|(?:(?<=[?&]token)|(?<=[?&]access_token)){_ARGUMENT}"
            r"|(?:(?<=access[-_]token)|(?<=auth[-_]token)|(?<=refresh[-_]token)|(?<=session[-_]token)"
            rf"|(?<=id[-_]token)|(?<=--token)){_PLAIN}"
            rf"|(?:(?<=--token)|(?<=--auth-token)|(?<=--access-token)){_OPTION}"
            rf"|(?:[ \t]{{1,3}}|{_NUMBER}{SEPARATOR}|{_NUMBER}{COLON})(?P<word>{_WORD}))",
        ),
        (
            # U+212A, the Kelvin sign, is a "k" in lower case.
            "key",
            r"[k\u212a]ey(?=[s0-9\"'`\\\]:=>*_v \t\-])(?:"
            rf"(?:{_KEY_OF_NAMES})(?:s?(?:{_FIELD}|{_SAID})|{_PLAIN_SPACED})"
            rf"|(?:(?<=[?&].ey)|(?<=api.ey)|(?<=api[-_].ey)){_ARGUMENT}"
            rf"|(?:(?<=api.ey)|(?<=api[-_].ey)){_NUMBER}(?::[ \t]{{0,3}}|\": ?\"|': ')(?P<value>[^&\s\"'`]+)"
            rf"|(?:(?<=--api-.ey)|(?<=--access-.ey)|(?<=--secret-.ey)){_OPTION})",
        ),
        (
            "pass",
            rf"pass(?:w(?:or)?d|phrase|code)(?:{_PASSWORD}|(?:(?<=--password)|(?<=--passphrase)){_OPTION})",
        ),
        ("pass", _PASS),
        ("secret", rf"secret(?:{_PASSWORD}|(?:(?<=--secret)|(?<=--client-secret)){_OPTION})"),
        ("pwd", rf"pwd(?<=\bpwd)(?:{_FIELD}|{_NUMBER}=(?P<plain>(?![/~.$])[^\s&\"'`\\,;)]{{4,}}))"),
        ("pw", rf"pw(?<![0-9a-z]pw)(?:{_FIELD}|{_PLAIN}|{_ASSIGNED}|{_SAID})"),
        ("pin", _CODE),
        (
            "authorization",
            rf"authorization(?:{_QUOTED}|[*_]{{0,3}}[:=][*_]{{0,3}}[ \t]{{0,3}}(?:{SCHEME}|{OTHER_SCHEME})?"
            r"(?P<basic>(?=[0-9A-Za-z+/=_.~\-]{0,40}[0-9])[0-9A-Za-z+/=_.~:\-]{12,}|[0-9A-Za-z+/=_.~:\-]{24,}))",
        ),
    )
)
"""Patterns of values that follow a name in small letters or capitals, each with its anchor in small letters."""

USER = (
    r"(?:-[A-Za-z]{0,4}[uU][ \t]?|--(?:proxy-)?user[ =])"
    r"\\{0,7}[\"']?[^\s:\"']{1,40}:"
)
_ATTRIBUTE = r"(?i:path|domain|expires|max-age|samesite)=[^\s;\"'\\]*"
_COOKIE = r"[^\s=;]{1,100}=(?:(?P<cookie>(?=[^\s;\"'\\]{0,40}[0-9])[^\s;\"'\\]{8,})|[^\s;\"'\\]*)"

CHAINS = (
    ("curl", rf"[ \t\"'\\](?:[^|;]{{0,60}}?\s)??{USER}(?P<password>[^\s\"'\\]{{3,200}})"),
    ("cookie:", rf"(?:; ?)?(?:(?<=:) {{0,3}})?(?:{_ATTRIBUTE}|{_COOKIE}|[^\s=;]{{1,100}}(?=;))"),
)
"""Anchors in small letters after which values may follow each other, with the pattern of one."""


def _one_of(signs: str) -> str:
    """Return a class of some signs of ASCII and all characters beyond it.

    It excludes the others: to compile a range up to the last code point takes 10 ms.
    """
    return f"[^{re.escape(''.join(sign for sign in map(chr, range(128)) if sign not in signs))}]"


_SIGNS, _SIGNS_AFTER_SPACE = _one_of("=:'`\\>%&*]"), _one_of("=:%\\")
# A value may follow. In a line of JSON the quotation marks within a text are escaped.
_SIGN_IN_JSON = rf"{_NUMBER}(?:{_SIGNS}|[ \t]{{1,8}}{_SIGNS_AFTER_SPACE})"
_SIGN = rf"(?:{_NUMBER}\"|{_SIGN_IN_JSON})"
TOKEN_VALUE, TOKEN_VALUE_IN_JSON = (re.compile(rf"token(?:{sign}|[ \t]|s/)") for sign in (_SIGN, _SIGN_IN_JSON))
KEY_VALUE, KEY_VALUE_IN_JSON = (re.compile(rf"key(?:s?{sign}|(?<=-key) )") for sign in (_SIGN, _SIGN_IN_JSON))
PASS_VALUE, PASS_VALUE_IN_JSON = (rf"pass(?:w|p|code|{sign})" for sign in (_SIGN, _SIGN_IN_JSON))
CODE_VALUE, CODE_VALUE_IN_JSON = (rf"pin(?:[ _\-]?(?:code|number))?{sign}" for sign in (_SIGN, _SIGN_IN_JSON))
"""Patterns of the names of secrets in small letters that a value may follow."""


def has_value(name: str, low: str) -> bool:
    """Return True when a value may follow a name in `low`."""
    return compiled(name).search(low) is not None
