"""Tell the fields that hold secrets by their names."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_live_runtime.secret_patterns.compiled import compiled

PASS_OWNERS = (
    *("account", "admin", "api", "app", "auth", "cert", "client", "database", "db", "email", "ftp", "host", "http"),
    *("imap", "keystore", "ldap", "login", "mail", "mongo", "mysql", "pg", "postgres", "proxy", "rabbit", "redis"),
    *("root", "server", "service", "smtp", "sql", "ssh", "store", "user", "vpn", "wifi", "wlan"),
)
"""Words before "pass" that make it a password: a boarding pass is none."""

KEY_USES = (
    *("api", "app", "access", "account", "encryption", "functions", "hmac", "master", "private", "secret", "signing"),
    "subscription",
)
"""Words before "key" that make it a secret: a sort key is none."""

_FIELDS = frozenset(
    {
        "accesstoken",
        "apikey",
        "authorization",
        "clientsecret",
        "consentaudio",
        "cookie",
        "credential",
        "credentials",
        "handle",
        "idtoken",
        "newhandle",
        "pass",
        "password",
        "privatekey",
        "proxyauthorization",
        "refreshtoken",
        "secret",
        "setcookie",
        "signature",
        "token",
        "voiceconsentsignature",
        "xgoogapikey",
    }
)
_OTHER_ENDINGS = ("contraseña", "lösenord", "пароль", "密码", "密碼", "パスワード", "비밀번호")
"""Those with other letters than ASCII's."""

_ENDINGS = (
    "apikeys",
    "privatekeys",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "credential",
    "credentials",
    *(f"{use}key" for use in KEY_USES),
    "token",
    *("passwort", "passord", "kennwort", "motdepasse", "wachtwoord"),
    *_OTHER_ENDINGS,
    *(f"{owner}pass" for owner in PASS_OWNERS),
)
"""Ends of the names of other fields that hold secrets."""

_PLACES = ("pagetoken", "synctoken", "continuationtoken")
"""Ends of the names of fields that hold a place in a list."""


def in_bytes(words: Iterable[str]) -> tuple[str, ...]:
    """Return words as a line has them whose bytes of UTF-8 are characters.

    Each in small letters, with a capital, and in capitals.
    """
    spellings = (spelling for word in words for spelling in (word, word.capitalize(), word.upper()))
    return tuple(dict.fromkeys(spelling.encode().lower().decode("latin-1") for spelling in spellings))


_OTHERS_IN_BYTES = in_bytes(_OTHER_ENDINGS)

_WITHOUT_SIGNS = str.maketrans("", "", "_-. ")
_NUMBER = r"(?:[_\-. ]?v)?[_\-. ]?[0-9]{1,3}\Z"
"""End of the name of the second of several secrets, as in PASSWORD_2."""

_CODE = r"(?:\A|[_\-. ]|(?<=[a-z])(?=[A-Z]))(?ai:pin(?:[_\-. ]?(?:code|number))?)\Z"
"""End of the name of a field with a code of digits. A spin is none."""

_END_IN_JSON = r"(?:[. ]?v)?[. ]?[0-9]{0,3}\":"
_KEYS = "|".join(rf"(?<={end}key)|(?<={end}[. ]key)" for end in sorted({use[-2:] for use in KEY_USES}))
_IN_JSON = {
    word: rf"{word}{rest}{_END_IN_JSON}"
    for words, rest in {
        ("token", "handle", "signature", "consentaudio"): "",
        ("credential",): "s?",
        ("pass",): "(?:[. ]?(?:words?|wort|ord|e|wd|phrase|code))?",
        ("pin",): r"(?:[. ]?(?:code|number))?",
        ("key",): rf"(?:{_KEYS})s?",
    }.items()
    for word in words
}
"""Ends of the names of secrets in a line of JSON, in small letters and without "_" and "-"."""

_LONG_NAME = 60
"""Characters before the end of a name that `_IN_JSON` may look at: twice as many as the longest match."""

_LONG_LINE = 20_000
"""Characters of a line from which on its names are taken out of it first: each word would be sought in all of it."""

_SOUGHT = ("token", "key", "handle", "credential", "signature", "consentaudio", "pass", "pin")
"""Words in such names; lines with other secrets' names are not ordinary anyway."""

_SOUGHT_WITHOUT_K = tuple(word for word in _SOUGHT if "k" not in word)


_JWK_FIELDS = frozenset(("d", "k", "p", "q", "dp", "dq", "qi"))
_JWK_VALUE = r"[0-9A-Za-z_\-]{40,}"


def is_private_part_of_jwk(name: str, value: object) -> bool:
    """Return True for a private part of a JSON Web Key: long, in base64url."""
    return name in _JWK_FIELDS and isinstance(value, str) and compiled(_JWK_VALUE).fullmatch(value) is not None


def is_secret_field(name: str) -> bool:
    """Return True for the name of a field that holds a secret."""
    name = _without_number(name)
    plain = name.translate(_WITHOUT_SIGNS).lower()
    if plain in _FIELDS or name.endswith("_PASS"):
        return True
    return plain.endswith(_ENDINGS) and not plain.endswith(_PLACES)


def _without_number(name: str) -> str:
    return compiled(_NUMBER).sub("", name) if name[-1:].isdigit() else name


def is_code_field(name: str) -> bool:
    """Return True for the name of a field that holds a PIN.

    Its value is a secret when it has four digits or more.
    """
    return compiled(_CODE).search(_without_number(name)) is not None


def _ends_of_names(line: str) -> str:
    """Return the ends of the names in a line of JSON, which has few of them."""
    ends, at = [], line.find('":')
    while at >= 0:
        ends.append(line[max(0, at - _LONG_NAME) : at + 2])
        at = line.find('":', at + 2)
    return "".join(ends)


def may_have_secret_field(names: str) -> bool:
    """Return False when no field in a line of JSON holds a secret by its name.

    `names` is the line in lower case, without "_" and "-".
    """
    if not names.isascii() and any(map(names.__contains__, _OTHERS_IN_BYTES)):
        return True
    if len(names) > _LONG_LINE and names.count('":') * _LONG_NAME < len(names):
        names = _ends_of_names(names)
    for word in _SOUGHT if "k" in names else _SOUGHT_WITHOUT_K:
        if word in names and compiled(_IN_JSON[word]).search(names) is not None:
            return True
    return False
