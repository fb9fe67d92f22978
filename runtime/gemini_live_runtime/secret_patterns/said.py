"""Patterns of secrets that sentences and command lines name.

`The password is X`, `Passwort: X`, `sshpass -p X`.

Little or nothing between a name and its value tells that it is one, so that the value itself must look like a secret:
it has a digit beside a letter. All patterns are for texts in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.names import KEY_USES, in_bytes

_KINDS = re.sub(rb"[^0-9a-z]", b" ", re.sub(b"[a-z]", b"a", re.sub(b"[0-9]", b"0", bytes(range(256)))))


def _has_mixed_word(low: str) -> bool:
    """Return True when a digit stands beside a small letter."""
    # A pattern would be tried at each digit, which takes ten times as long.
    kinds = low.encode("ascii", "replace").translate(_KINDS)
    # Both compare the digit first, which is rarer than letters.
    return kinds.find(b"a0") >= 0 or kinds.rfind(b"0a") >= 0


_SIGN = r"[!#-&*-+\--:=?-Z^_a-z{}~]"
"""Sign of a value: any of ASCII but quotation marks, brackets, a comma, a semicolon and separators."""


def _value(least: int) -> str:
    return rf"(?!https?:|www\.)(?={_SIGN}{{0,60}}?(?:[a-z][0-9]|[0-9][a-z])){_SIGN}{{{least},400}}+(?!\()"


_OPENING = r"\\{0,7}[\"'`*]{0,3}"
_WORDS = r"(?:[ \t]{1,3}[^\W\d_]{1,15}){0,4}?"
_IS = (
    r"[ \t]{1,3}(?:is|was|are|to|ist|war|lautet|est|es|era|é|è|är|er|on|jest|je|это|là|adalah)"
    r"[ \t]{0,3}:?[ \t]{1,3}"
)
_PARTICLE = r"(?:是|为|為|は|는|은|이|가)[ \t:]{0,3}"
_LEVEL = r"(?:[ \t]{1,3}[0-9](?=[ \t]))?"
_BETWEEN = (
    rf"s?\\{{0,7}}[\"'\]]?{_LEVEL}"
    rf"(?:{_PARTICLE}|[ \t]{{0,3}}[:=|>\u2192\u2014\u2013\-]{{1,3}}[ \t]{{0,3}}(?:это[ \t])?|[ \t]{{1,3}}"
    rf"|\([\"']|{_WORDS}{_IS})"
)


def _after(word: str, *befores: str) -> str:
    """Return the pattern of `word` after one of some texts."""
    return "|".join(f"(?<={before}){word}" for before in befores)


_KEYS = (
    *(f"{use}{between}" for use in KEY_USES for between in ("", "[-_ ]")),
    *("preshared", "preshared[ _-]", "pre-shared[ _-]"),
)
_CODES = ("recovery[ -]", "backup[ -]")

# In the languages of most users, each with an anchor that is part of it. Every text with a value is searched for each.
_NAMES = (
    ("pass", rf"pass(?:wor[dt]|ord|e(?!s)|[ _\-]?phrase|[ _\-]?code)|{_after('pass', 'require', 'become_')}"),
    ("wort", _after("wort", "kenn", "losungs")),
    ("contrase", "contrase(?:ñ|n)a?"),
    ("parol", "parol[aă]"),
    ("wachtwoord", "wachtwoord"),
    *((word, rf"(?<![a-z]){word}") for word in ("senha", "clave", "psk")),
    ("senord", "senord"),
    ("token", "token"),
    ("secret", "secret(?![ _-]key)"),
    ("key", _after("key", *_KEYS)),
    ("code", _after("code", *_CODES)),
    ("schl", "schl(?:ü|ue)ssel"),
    ("identified by", "identified by"),
    ("pw", rf"{_after('pw', 'bind', 'root')}(?:[ \t]--plaintext)?|{_after('pwd', '_')}"),
    ("auth", r"(?<![a-z\-])auth (?:plain|login)|(?<=master)auth"),
)
_OTHER_NAMES = tuple(
    (word, word)
    for word in (
        *("hasło", "şifre", "jelszó", "mật khẩu", "пароль", "пароля", "密码", "密碼", "口令", "パスワード", "비밀번호"),
        *("암호", "รหัสผ่าน", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "पासवर्ड", "κωδικός", "κωδικος"),
    )
)


def _named(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((anchor, rf"(?:{name}){_BETWEEN}{_OPENING}(?P<said>{_value(7)})") for anchor, name in rows)


def _option(program: str, options: str, gap: str = r"[ \t]{1,3}|=", before: str = "") -> tuple[str, str]:
    """Return the row of a program whose option takes a password, up to that."""
    between = r"[^\r\n|;&]{0,120}?[ \t]"
    return program, rf"{program}[0-9a-z\-]{{0,12}}{between}(?:{options})(?:{gap})[\"']?{before}"


_OPTIONS = (
    _option("sshpass", "-p", r"[ \t]{0,3}"),
    _option("mysql", "-p", ""),
    _option("mariadb", "-p", ""),
    _option("mongo", "-p"),
    _option("login", "-p"),
    _option("sqlcmd", "-p"),
    _option("zip", "-p"),
    _option("7z", "-p", ""),
    _option("unrar", "-p", ""),
    _option("redis-cli", "-a|--pass"),
    _option("ldap", "-w"),
    _option("keytool", "-(?:store|key|srcstore|deststore)pass"),
    _option("openssl", "-(?:k|pass(?:in|out)?)", before="(?:pass:)?"),
    _option("smbclient", "-u", before=r"[^\s%]{1,60}%"),
    _option("rpcclient", "-u", before=r"[^\s%]{1,60}%"),
    _option("http", "-a|--auth", before=r"[^\s:]{1,60}:"),
    _option("useradd", "-p"),
    _option("curl", "-b|--cookie", before=r"[^\s=]{1,60}="),
)
_PROGRAMS = tuple((program, rf"{option}(?P<said>{_value(5)})") for program, option in _OPTIONS)

_LONG_VALUE = r"[0-9a-z_\-%/+]{16,400}+"
_SESSION = r"\\{0,7}[\"']?[ \t]{0,2}[:=][ \t]{0,2}\\{0,7}[\"']?"
_SESSIONS = (
    *(
        (anchor, rf"(?:{name}){_SESSION}", _LONG_VALUE)
        for anchor, name in (
            ("sessionid", rf"{_after('sessionid', 'j', 'asp.net_')}|(?<![0-9a-z_.])sessionid(?==)"),
            ("sessid", "(?<=php)sessid"),
            ("_session", "_session"),
        )
    ),
    ("sid=", r"(?<![0-9a-z_])sid=\\{0,7}[\"']?", r"[0-9a-z_\-%/+.]{16,400}+"),
    ("cookie", r"cookie[ \t]?[:=][ \t]?[\"']?(?:[^\s=\"']{1,60}=)?", _LONG_VALUE),
    # A file may follow the option.
    (
        "key",
        r"(?<=--)key(?:[ \t]{1,3}|=)\\{0,7}[\"']?",
        r"(?=[0-9a-z_\-+=]{0,60}?(?:[a-z][0-9]|[0-9][a-z]))[0-9a-z_\-+=]{8,400}+(?![./\\])",
    ),
)
"""Anchors of sessions and keys, with what stands before the value, and the value."""
_ADDRESSES = (
    "mail",
    "mailto",
    "from",
    "to",
    "cc",
    "contact",
    "address",
    "sip",
    "sips",
    "xmpp",
    "acct",
    "user",
    "username",
    "login",
)
"""Words before a colon behind which an address stands, and no password."""

_USER = rf":(?<=[0-9a-z_\-]:)(?<![0-9]{{2}}:){''.join(f'(?<!{word}:)' for word in _ADDRESSES)}(?!//)"
_LOGIN = (
    rf"{_USER}(?=[^\s@]{{0,60}}?(?:[a-z][0-9]|[0-9][a-z]))(?P<said>[!#-&*-+\--.0-9=?^_a-z{{}}~]{{8,100}}+)"
    r"(?=@(?:localhost|(?!sha[0-9])[0-9a-z\-]{1,60}(?:\.[0-9a-z]|[:/])))"
)
"""Login before a host without a scheme: `user:password@host.example`."""

# Keys of JWK are long in base64url; the names of their parts are one or two letters.
_PARTS_OF_JWK = r"(?:d|k|p|q|dp|dq|qi)\\{0,7}\"[ \t]?:[ \t]?\\{0,7}\"(?P<said>[0-9a-z_\-]{40,4000}+)"
_FILES = (("private-lines:", r"private-lines: ?[0-9]{1,4}(?P<said>(?:[\s\\rn]{1,8}[0-9a-z+/=]{8,}+){1,200})"),)

_ASCII = (*_named(_NAMES), *((anchor, rf"{name}(?P<said>{value})") for anchor, name, value in _SESSIONS), *_FILES)
_OTHERS = _named(_OTHER_NAMES)

_OPEN = (
    rf"(?:(?:{'|'.join(name for _, name in (*_NAMES, *_OTHER_NAMES))}){_BETWEEN}{_OPENING}"
    rf"|{'|'.join(name for _, name, _ in _SESSIONS)}|{_USER}(?![0-9]{{1,2}}\Z))(?P<said>{_SIGN}{{1,400}})\Z"
)
_OPEN_PROGRAMS = tuple((program, rf"{option}(?P<said>{_SIGN}{{1,400}})\Z") for program, option in _OPTIONS)
PATTERNS = (*(pattern for _, pattern in (*_ASCII, *_PROGRAMS, *_OTHERS, *_OPEN_PROGRAMS)), _LOGIN, _OPEN)
"""Patterns that take milliseconds to compile."""

# What follows a name: a value does where neither a letter nor a mark of the sentence stands. Signs may be escaped, so
# that any letter may stand before a name.
_ENDS = r"s?[^0-9a-z.,;!?/_)]"


def _hinge(sign: str, *patterns: str) -> Callable[[str], re.Match[str] | None]:
    """Return the search for names around a sign that is rare in ordinary texts.

    A search that begins with a single sign takes a tenth of one for a word.
    """
    return re.compile(f"{sign}(?:{'|'.join(patterns)})").search


_at_k = _hinge(
    "k",
    "en(?<=token)",
    "ie(?<=cookie)",
    "(?<=psk)",
    'ty(?<="kty)',
    rf"ey(?<=[a-z\-_ ]key)(?:{'|'.join(f'(?<={before}key)' for before in _KEYS)}){_ENDS}",
    rf"up[ -]code(?<=backup.code){_ENDS}",
    "ey(?<=--key)",
)
_at_w = _hinge("w", "(?<=bindpw)", "(?<=rootpw)", "d(?<=_pwd)", "ort(?:(?<=kennwort)|(?<=losungswort))", "achtwoord")
_at_v = _hinge("v", "e(?<=clave)", "ate-lines:(?<=private-lines:)", rf"ery[ -]code(?<=recovery.code){_ENDS}")
_pass = re.compile(
    r"pass(?:wor[dt]|ord|e(?!s)|(?:[^0-9a-z]{0,3}|[%\\&](?s:.){1,9}?)(?:phrase|code)|(?<=requirepass)|(?<=become_pass))"
    + _ENDS
).search
_auth = re.compile(r"auth(?:(?: |[%\\&](?s:.){1,9}?)(?:plain|login)|(?<=masterauth))").search
_sid = re.compile(r"sid(?:=|[%\\&])").search
_login = re.compile(r"@(?<=[^\s@/]{8}@)[0-9a-z]").search
_begun = re.compile(r"[a-z0-9_\-]:(?!//)\S|sid=|sess(?:ion|id)|cookie[ \t]?[:=]|--key| --?[a-z]").search
_option_sign = re.compile(r"-(?<=[ \tt09;]-)-?[a-z0-9]").search

_others = re.compile("|".join(anchor for anchor, _ in _OTHERS)).search
_others_in_bytes = re.compile("|".join(in_bytes(anchor for anchor, _ in _OTHERS))).search
_ANCHORS_OF_PROGRAMS = tuple(anchor for anchor, _ in _PROGRAMS)
_FREQUENT = ("pass", "token", "key", "identified by", "private-lines:")
_JWK = '"kty'

_OPENERS = frozenset(
    f"{word}{sign}"
    for word in (
        *("password", "passwort", "passord", "passe", "passphrase", "passcode", "kennwort", "wachtwoord", "contraseña"),
        *("contrasena", "clave", "senha", "parola", "haslo", "token", "secret"),
        *("key", "lösenord", "løsenord", "schlüssel", "hasło", "şifre", "jelszó", "пароль", "khẩu"),
    )
    for sign in ("", ":", "=")
)
_LEAST = 6
"""Characters of the shortest text with a name and the beginning of a value."""

_LONG_TEXT = 10_000
"""Characters from which on a text is searched for all names only when it has a frequent one."""

_TAIL = 50
"""Characters at the end of a text in which a name may stand that tells what follows."""


def may_match(low: str, has_secret: bool) -> bool:
    """Return False when `spans` certainly finds nothing in a text with a digit.

    `low` is the text in small letters; `has_secret`: it has the word "secret".
    """
    if len(low) < _LEAST or not _has_mixed_word(low):
        return False
    if len(low) > _LONG_TEXT and not (has_secret or any(map(low.__contains__, _FREQUENT)) or _JWK in low):
        return False
    return has_secret or _has_name(low) or not (low.isascii() or _others(low) is None)


def may_match_data(low: str) -> bool:
    """Return `may_match` of an object in JSON.

    `low` is the object in small letters, in which bytes of UTF-8 are characters.
    """
    if not _has_mixed_word(low):
        return False
    return _has_name(low) or not (low.isascii() or _others_in_bytes(low) is None)


def _has_name(low: str) -> bool:
    """Return True for a name in letters of ASCII, other than "secret"."""
    return (
        ("k" in low and _at_k(low) is not None)
        or ("w" in low and _at_w(low) is not None)
        or ("v" in low and _at_v(low) is not None)
        or ("p" in low and (("pass" in low and _pass(low) is not None) or "parol" in low))
        or ("sess" in low and ("_session" in low or "sessid" in low or "sessionid" in low))
        or ("u" in low and "auth" in low and _auth(low) is not None)
        or ("sid" in low and _sid(low) is not None)
        or ("@" in low and _login(low) is not None)
        or ("h" in low and ("schl" in low or "senha" in low))
        or ("o" in low and ("senord" in low or "contrase" in low))
        or ("y" in low and "identified by" in low)
        or ("-" in low and _option_sign(low) is not None and any(map(low.__contains__, _ANCHORS_OF_PROGRAMS)))
    )


def spans(low: str) -> Iterator[tuple[int, int]]:
    """Yield the values in a text in small letters as [first, beyond)."""
    if not _has_mixed_word(low):
        return
    for anchor, pattern in (*_ASCII, *(() if low.isascii() else _OTHERS), *(_PROGRAMS if " -" in low else ())):
        at = low.find(anchor)
        while at >= 0:
            found = compiled(pattern).match(low, at)
            if found is not None:
                yield found.span("said")
            at = low.find(anchor, at + 1)
    if "@" in low:
        yield from (found.span("said") for found in compiled(_LOGIN).finditer(low))
    if _JWK in low:
        yield from (found.span("said") for found in compiled(_PARTS_OF_JWK).finditer(low))


def may_open(low: str) -> bool:
    """Return False when certainly no value begins at the end of `low`."""
    tail = low[-_TAIL:]
    if (":" in tail or "=" in tail or "-" in tail) and _begun(tail) is not None:
        return True
    return not _OPENERS.isdisjoint(tail.split()) or not (tail.isascii() or _others(tail) is None)


def open_at(low: str) -> int | None:
    """Return where a value begins that may go beyond the end of `low`, or None."""
    first = max(0, len(low) - 600)
    found = compiled(_OPEN).search(low, first)
    starts = [] if found is None else [found.start("said")]
    for program, pattern in _OPEN_PROGRAMS if " -" in low else ():
        at = low.find(program, first)
        while at >= 0:
            if (found := compiled(pattern).match(low, at)) is not None:
                starts.append(found.start("said"))
            at = low.find(program, at + 1)
    return min(starts, default=None)
