"""Find credentials in text by their shape, and fields of them by their name.

Each pattern begins with a literal *anchor*. Texts are searched for anchors, which is quick at any length, and patterns
are tried only there: a megabyte of words such as "bearer" takes tens of milliseconds. No pattern may take longer than
its match plus a bounded number of characters, except where the next anchor lies behind what was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_compiled = cache(re.compile)
"""Compiles a pattern when it is first used: most are not, and all of them would take 20 ms of every start."""

# A word after "bearer" or "token" is a credential when it is long or has a digit: "token holders" is not.
_WORD = r"(?:(?=[A-Za-z_\-.~+/=]*+[0-9])[0-9A-Za-z_\-.~+/=]{12,}|[0-9A-Za-z_\-.~+/=]{24,})"

# What follows the name of an argument or a field, also in JSON within a string: `password="..."`, `\"token\": \"...`.
_QUOTED = r"\\{0,7}[\"']? ?[:=] ?\\{0,7}[\"'](?P<quoted>[^\"'\\]{1,4000})(?=\\{0,7}[\"'])"
_PLAIN = r"=(?P<plain>[^\s&\"'\\,;)]{4,})"
_PLAIN_SPACED = r"= {0,2}(?P<spaced>[^\s&\"'\\,;)]{8,})"
_ASSIGNED = r" {0,2}= {0,2}(?P<assigned>(?=[^\s&\"'\\,;)]{0,40}[0-9])[^\s&\"'\\,;)]{8,})"
_SAID = r": (?P<said>(?=[^\s\"'\\,;)]{0,40}[0-9])[^\s\"'\\,;)]{8,})"
_ARGUMENT = r"=(?P<argument>[^&\s\"']+)"
_OPTION = (
    r"(?: |(?: |\\{0,7}[\"'], ?)\\{0,7}(?P<mark>[\"']))"
    r"(?P<option>(?(mark)[^\"'\\\-][^\"'\\]{3,400}(?=\\{0,7}[\"'])|[^\s\"'\\\-][^\s\"'\\]{7,}))"
)
_KEY_OF_NAMES = "|".join(
    rf"(?<={name}{between}.ey)" for name in ("api", "access", "private", "secret") for between in ("", "[-_]")
)
_TAGGED = r"(?:[ \t][^<>]{0,100})?>\s{0,3}(?P<tagged>[^<>\s\"'\\]{4,400})(?=\s{0,3}</)"


def _begins(anchor: str) -> str:
    """Return a pattern of `anchor`, of fixed width, where a word begins.

    A word may follow a letter that ends an escape: of JSON (`\\n`, `\\u200b`), of a URL (`%20`), of a terminal (`[1m`).
    Letters beyond ASCII do not count: languages without spaces write keys right after them.
    """
    before = (r"\\[nrtbf]", r"\\u[0-9a-fA-F]{4}", r"%[0-9a-fA-F]{2}", r"[0-9;]m")
    escapes = "".join(rf"|(?<={escape}{anchor})" for escape in before)
    return rf"{anchor}(?:(?<![0-9A-Za-z]{anchor}){escapes})"


_ANY = r"[0-9A-Za-z_\-]"
_USER = (
    r"(?:-[A-Za-z]{0,4}[uU][ \t]?|--(?:proxy-)?user[ =])"
    r"\\{0,7}[\"']?[^\s:\"']{1,40}:"
)
# A quotation mark or an "@" may be part of a password: nothing but the last "@" ends it.
_LOGIN = (
    r"(?P<user>[^/\s:@\"']{0,200}:(?:[^/\s@\"']|(?<=[0-9A-Za-z])[\"'](?=[0-9A-Za-z])){1,4000}+(?=@)"
    r"(?:@[^/\s@\"'?#,;&]{0,400}+(?=@))*+)"
)
_PEM_BETWEEN = r"(?:[\s>|\"']|\\+[nr]|(?:Proc-Type|DEK-Info): [^\r\n\\]{1,100}+)*+"
_SLACK = r"hooks\.slack\.com\\?/[a-z]{1,20}\\?/"
_DISCORD = r"/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{1,20}/"

_SHAPES = (
    ("AIza", r"AIza[0-9A-Za-z_\-]{10,}"),
    ("auth_tokens/", r"auth_tokens/[0-9A-Za-z_\-.]+"),
    ("ya29.", r"ya29\.[0-9A-Za-z_\-.]+"),
    ("AQ.", rf"{_begins(r'AQ[.]')}[0-9A-Za-z_\-]{{20,}}"),
    # A run of these characters is read once from its start, and in part only from another word in it.
    (
        "eyJ",
        rf"{_begins('eyJ')}(?:(?<![0-9A-Za-z_\-]eyJ)[0-9A-Za-z_\-]{{8,}}+|[0-9A-Za-z_\-]{{8,400}}+)"
        r"\.[0-9A-Za-z_\-]{8,}+\.[0-9A-Za-z_\-]*",
    ),
    (
        "-----BEGIN ",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
        r"(?:(?:[^\-]|-(?!----)){0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----"
        rf"|(?:{_PEM_BETWEEN}[0-9A-Za-z+/=]{{20,}}+)+)",
    ),
    # Keys of OpenAI and Anthropic, GitHub, GitLab, AWS, Slack, Stripe, Hugging Face, npm, SendGrid and Google OAuth.
    ("sk-", rf"{_begins('sk-')}(?=[A-Za-z_\-]{{0,60}}+[0-9])[0-9A-Za-z_\-]{{20,}}"),
    ("gh", rf"{_begins('gh[opsur]_')}[0-9A-Za-z_]{{20,}}"),
    ("github_pat_", rf"{_begins('github_pat_')}[0-9A-Za-z_]{{20,}}"),
    ("glpat-", rf"{_begins('glpat-')}[0-9A-Za-z_\-]{{20,}}"),
    ("AKIA", rf"{_begins('AKIA')}[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("ASIA", rf"{_begins('ASIA')}[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("xox", rf"{_begins('xox')}(?:[abceoprs]-[0-9A-Za-z\-]{{10,}}|d-[0-9A-Za-z\-%+/=]{{10,}})"),
    ("xapp-", rf"{_begins('xapp-')}[0-9A-Za-z\-]{{10,}}"),
    ("k_live_", rf"{_begins('[rs]k_live_')}[0-9A-Za-z]{{16,}}"),
    ("k_test_", rf"{_begins('[rs]k_test_')}[0-9A-Za-z]{{16,}}"),
    ("whsec_", rf"{_begins('whsec_')}[0-9A-Za-z+/=]{{16,}}"),
    ("GOCSPX-", rf"{_begins('GOCSPX-')}{_ANY}{{16,}}"),
    ("1//0", rf"{_begins('1//0')}{_ANY}{{20,}}"),
    ("hf_", rf"{_begins('hf_')}[0-9A-Za-z]{{30,}}"),
    ("npm_", rf"{_begins('npm_')}[0-9A-Za-z]{{36}}(?![0-9A-Za-z])"),
    ("SG.", rf"{_begins('SG[.]')}[0-9A-Za-z_\-]{{16,}}\.[0-9A-Za-z_\-]{{16,}}"),
    ("://", rf"://{_LOGIN}"),
    ("\\/", rf":\\{{1,7}}/\\{{1,7}}/{_LOGIN}"),
    # Anybody who knows the address of a webhook may write to its channel.
    ("hooks.slack.com", rf"{_SLACK}(?P<path>[0-9A-Za-z/\\]{{16,}})"),
    ("/api/", rf"{_DISCORD}(?P<path>[0-9A-Za-z_\-]{{16,}})"),
)
"""Patterns of credentials that are recognised by themselves, each with its anchor."""

_NAMED = tuple(
    (anchor, f"(?ai:{pattern})")
    for anchor, pattern in (
        ("bearer", rf"bearer(?:(?::?[ \t\n]{{1,3}}|=)(?:\\{{0,7}}[\"'])?|%20|\\[nt])(?P<word>{_WORD})"),
        (
            "token",
            rf"token(?:{_QUOTED}|{_TAGGED}"
            rf"|(?:(?<=[?&]token)|(?<=[?&]access_token)){_ARGUMENT}"
            r"|(?:(?<=access[-_]token)|(?<=auth[-_]token)|(?<=refresh[-_]token)|(?<=session[-_]token)"
            rf"|(?<=id[-_]token)|(?<=--token)){_PLAIN}"
            rf"|(?:(?<=--token)|(?<=--auth-token)|(?<=--access-token)){_OPTION}|(?: |=|: | = )(?P<word>{_WORD}))",
        ),
        (
            # U+212A, the Kelvin sign, is a "k" in lower case.
            "key",
            rf"[k\u212a]ey(?:(?:{_KEY_OF_NAMES})(?:{_QUOTED}|{_TAGGED}|{_SAID})"
            rf"|(?:(?<=[?&].ey)|(?<=api.ey)|(?<=api[-_].ey)){_ARGUMENT}"
            rf"|(?:{_KEY_OF_NAMES}) {{0,2}}{_PLAIN_SPACED}"
            r"|(?:(?<=api.ey)|(?<=api[-_].ey))(?:: |\": ?\"|': ')(?P<value>[^&\s\"']+)"
            rf"|(?:(?<=--api-.ey)|(?<=--access-.ey)|(?<=--secret-.ey)){_OPTION})",
        ),
        ("passphrase", rf"passphrase(?:{_QUOTED}|{_TAGGED}|{_PLAIN}|{_ASSIGNED}|{_SAID}|(?<=--passphrase){_OPTION})"),
        ("passw", rf"passw(?:or)?d(?:{_QUOTED}|{_TAGGED}|{_PLAIN}|{_ASSIGNED}|{_SAID}|(?<=--password){_OPTION})"),
        (
            "secret",
            rf"secret(?:{_QUOTED}|{_TAGGED}|{_PLAIN}|{_ASSIGNED}|{_SAID}|(?:(?<=--secret)|(?<=--client-secret)){_OPTION})",
        ),
        ("pwd", rf"pwd(?<=\bpwd)(?:{_QUOTED}|{_TAGGED}|=(?P<plain>(?![/~.$])[^\s&\"'\\,;)]{{4,}}))"),
        (
            "authorization",
            rf"authorization(?:{_QUOTED}"
            r"|: (?:basic )?(?P<basic>(?=[0-9A-Za-z+/=_.\-]{0,40}[0-9])[0-9A-Za-z+/=_.\-]{12,}))",
        ),
    )
)
"""Patterns of values that follow a name in small letters or capitals, each with its anchor in small letters."""

_ATTRIBUTE = r"(?i:path|domain|expires|max-age|samesite)=[^\s;\"'\\]*"
_COOKIE = r"[^\s=;]{1,100}=(?:(?P<cookie>(?=[^\s;\"'\\]{0,40}[0-9])[^\s;\"'\\]{8,})|[^\s;\"'\\]*)"

_CHAINS = (
    ("curl", rf"[ \t\"'\\](?:[^|;]{{0,60}}?\s)??{_USER}(?P<password>[^\s\"'\\]{{3,200}})"),
    ("cookie: ", rf"(?:; ?)?(?:{_ATTRIBUTE}|{_COOKIE}|[^\s=;]{{1,100}}(?=;))"),
)
"""Anchors in small letters after which values may follow each other, with the pattern of one."""

_REREAD = 40
"""Characters of a match that are searched again: the name of the next value may end it."""

_OPEN_LENGTH = 8192
"""Characters at the end of a text that can belong to the beginning of a recognised secret."""


def _tells(signs: str) -> str:
    """Return a lookahead for what ordinary words do not have.

    That is a digit, or capitals and small letters that change in a way in which CamelCase does not, twice.
    """
    return rf"(?={signs}{{0,60}}[0-9]|(?:{signs}{{0,30}}?(?:[A-Z][a-z][A-Z]|[a-z][A-Z]{{2}})){{2}})"


_TELLS = _tells(_ANY)
_WORD_SIGN = r"[0-9A-Za-z_\-.~+/=]"
_TAGGED_SIGN, _PLAIN_SIGN, _QUOTED_SIGN = r"[^<>\s\"'\\]", r"[^\s&\"'\\,;)]", r"[^\s\"'\\]"
_COOKIES = r"cookie: (?:[^\s=;]{1,100}(?:=[^\s;]{0,400})?; ?){0,20}[^\s=;]{1,100}="
_PRIVATE_KEY = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
_NAME = r"(?:passw(?:or)?d|passphrase|secret|pwd|token|(?:api|access|private|secret)[-_]?key|authorization)"
_QUOTED_NAME = rf"(?ai:{_NAME})\\{{0,7}}[\"']? ?[:=] ?\\{{0,7}}[\"']"

# The beginning of a secret at the end of a text, from its first private character on.
_OPEN = (
    r"(?:AIza[0-9A-Za-z_\-]{1,9}"
    rf"|{_begins('AQ[.]')}{_ANY}{{1,19}}"
    rf"|{_begins('eyJ')}{_ANY}{{0,400}}+(?:\.{_ANY}{{0,4000}}+)?"
    rf"|{_begins('sk-')}{_ANY}{{0,80}}"
    rf"|{_begins('gh[opsur]_')}{_ANY}{{0,19}}"
    rf"|{_begins('github_pat_')}{_ANY}{{0,19}}"
    rf"|{_begins('glpat-')}{_ANY}{{0,19}}"
    rf"|(?:{_begins('AKIA')}|{_begins('ASIA')})[0-9A-Z]{{0,16}}"
    rf"|{_begins('xox')}[a-eoprs]?-?[0-9A-Za-z\-%+/=]{{0,9}}"
    rf"|{_begins('xapp-')}[0-9A-Za-z\-]{{0,9}}"
    rf"|{_begins('[rs]k_live_')}[0-9A-Za-z]{{0,15}}"
    rf"|{_begins('[rs]k_test_')}[0-9A-Za-z]{{0,15}}"
    rf"|{_begins('whsec_')}[0-9A-Za-z+/=]{{0,15}}"
    rf"|{_begins('GOCSPX-')}{_ANY}{{0,15}}"
    rf"|{_begins('1//0')}{_ANY}{{0,19}}"
    rf"|{_begins('hf_')}[0-9A-Za-z]{{0,29}}"
    rf"|{_begins('npm_')}[0-9A-Za-z]{{0,36}}"
    rf"|{_begins('SG[.]')}{_ANY}{{0,100}}+(?:\.{_ANY}{{0,15}})?"
    r"|-----BEGIN [A-Z ]{0,45}-{0,4}"
    rf"|{_PRIVATE_KEY}(?:[^\-]|-(?!----END)){{0,8000}}"
    rf"|{_QUOTED_NAME}(?P<quoted>[^\"'\\]{{1,400}})"
    rf"|(?ai:{_NAME})(?:[ \t][^<>]{{0,100}})?>\s{{0,3}}(?P<tagged>[^<>\s\"'\\]{{1,400}}\s{{0,3}}<?)"
    rf"|(?ai:{_NAME})(?: {{0,2}}= {{0,2}}|: )(?P<plain>[^\s&\"'\\,;)]{{1,400}})"
    rf"|(?ai:authorization: basic |{_COOKIES})(?P<basic>[^\s;\"'\\]{{1,400}})"
    rf"|curl[ \t](?:[^|;]{{0,120}}\s)?{_USER}(?P<password>[^\s\"'\\]{{1,200}})"
    rf"|(?:{_SLACK}|{_DISCORD})(?P<path>[0-9A-Za-z_\-/]{{1,80}})"
    r"|(?<=://)[^/\s@\"']{1,400}"
    r"|(?i:(?<=bearer )|(?<=bearer [\"'])|(?<=bearer=)|(?<=bearer%20)|(?<=token ))[0-9A-Za-z_\-.~+/=]{1,23})\Z"
)
# The same, where even the beginning tells so much that it is replaced when nothing more comes in time.
_CUT = (
    r"(?:AIza[0-9A-Za-z_\-]{1,9}"
    rf"|{_begins('AQ[.]')}{_ANY}{{6,19}}"
    rf"|{_begins('eyJ')}{_ANY}{{8,400}}+(?:\.{_ANY}{{0,4000}}+)?"
    rf"|{_begins('sk-')}{_TELLS}{_ANY}{{6,80}}"
    rf"|{_begins('gh[opsur]_')}{_TELLS}{_ANY}{{6,19}}"
    rf"|{_begins('github_pat_')}{_ANY}{{2,19}}"
    rf"|{_begins('glpat-')}{_ANY}{{2,19}}"
    rf"|(?:{_begins('AKIA')}|{_begins('ASIA')})[0-9A-Z]{{4,16}}"
    rf"|{_begins('xox')}[a-eoprs]-[0-9A-Za-z\-%+/=]{{4,9}}"
    rf"|{_begins('xapp-')}[0-9A-Za-z\-]{{4,9}}"
    rf"|{_begins('[rs]k_live_')}[0-9A-Za-z]{{2,15}}"
    rf"|{_begins('[rs]k_test_')}[0-9A-Za-z]{{2,15}}"
    rf"|{_begins('whsec_')}[0-9A-Za-z+/=]{{2,15}}"
    rf"|{_begins('GOCSPX-')}{_ANY}{{2,15}}"
    rf"|{_begins('1//0')}{_ANY}{{6,19}}"
    rf"|{_begins('hf_')}{_TELLS}[0-9A-Za-z]{{6,29}}"
    rf"|{_begins('npm_')}{_TELLS}[0-9A-Za-z]{{6,36}}"
    rf"|{_begins('SG[.]')}{_TELLS}{_ANY}{{8,100}}+(?:\.{_ANY}{{0,15}})?"
    rf"|{_PRIVATE_KEY}(?:[^\-]|-(?!----END)){{0,8000}}"
    rf"|(?ai:{_NAME})(?:[ \t][^<>]{{0,100}})?>\s{{0,3}}"
    rf"(?P<tagged>{_tells(_TAGGED_SIGN)}{_TAGGED_SIGN}{{6,400}}\s{{0,3}}<?)"
    rf"|(?ai:{_NAME})(?: {{0,2}}= {{0,2}}|: )(?P<plain>{_tells(_PLAIN_SIGN)}{_PLAIN_SIGN}{{6,400}})"
    rf"|(?ai:authorization: basic |{_COOKIES})(?P<basic>[^\s;\"'\\]{{6,400}})"
    rf"|(?:{_SLACK}|{_DISCORD})(?P<path>[0-9A-Za-z_\-/]{{8,80}})"
    rf"|{_QUOTED_NAME}(?P<quoted>{_tells(_QUOTED_SIGN)}{_QUOTED_SIGN}{{6,400}})"
    r"|(?<=://)[^/\s:@\"'\[]{1,200}:(?![0-9]*\Z)[^/\s@\"']{4,200}"
    rf"|(?:(?i:(?<=bearer )|(?<=bearer [\"'])|(?<=bearer=)|(?<=bearer%20)|(?<=token ))){_tells(_WORD_SIGN)}"
    rf"{_WORD_SIGN}{{6,23}})\Z"
)

# A value may follow. In a line of JSON the quotation marks within a text are escaped.
_KEY_VALUE = re.compile(r"key(?:[=:'\\>]| {1,2}[=:])")
_TOKEN_VALUE = re.compile(r"token(?:[=:'\\> ]|s/)")
_HAS_UNDERSCORE = re.compile(r"(?:gh[opsur]|_pat|k_live|k_test|whsec|hf|npm)_")

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
# Parts of the secret fields' names as in JSON, lower-cased and without "_" and "-".
_FIELD_PARTS = (
    *('token":', 'ikey":', 'tekey":', 'keys":', 'handle":', 'authorization":', "secret", 'consentaudio":', 'cookie":'),
    *("password", "credential", 'signature":', 'passwd":', 'passphrase":', 'pwd":', 'accesskey":'),
)

_ENDINGS = (
    "apikey",
    "apikeys",
    "privatekeys",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "secretkey",
    "accesskey",
    "privatekey",
    "token",
)
"""Ends of the names of other fields that hold secrets."""

_PLACES = ("pagetoken", "synctoken", "continuationtoken")
"""Ends of the names of fields that hold a place in a list."""


def lowered(text: str) -> str:
    """Return text in lower case, each character at its place."""
    low = text.lower()
    # U+0130 is the only character that is two in lower case.
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()


def may_match(text: str, low: str) -> bool:
    """Return False when `spans_of` certainly finds nothing in `text`.

    `low` is `lowered(text)`.
    """
    # Every pattern needs one of these substrings. Testing for a single sign costs a quarter of a longer search.
    if "bearer" in low or ("token" in low and ('token"' in low or _TOKEN_VALUE.search(low))):
        return True
    if ":" in text and (("@" in text and ("://" in text or "\\/" in text)) or "curl" in text):
        return True
    has_value = "=" in text or ":" in text or ("-" in text and "--" in text) or ">" in text
    return (has_value and _has_secret_name(low)) or has_provider_key(text)


def _has_secret_name(low: str) -> bool:
    """Return True when a field with a secret's name may have a value in `low`."""
    return (
        ("key" in low and ('key"' in low or "-key " in low or _KEY_VALUE.search(low) is not None))
        or "secret" in low
        or "passw" in low
        or "passp" in low
        or "pwd" in low
        or "authorization" in low
        or "cookie" in low
    )


def has_provider_key(text: str) -> bool:
    """Return False when `text` certainly has no provider's key or webhook."""
    return (
        ("A" in text and ("AIza" in text or "AKIA" in text or "ASIA" in text))
        or (
            "-" in text
            and (
                "sk-" in text
                or "xox" in text
                or "xapp-" in text
                or "PRIVATE KEY" in text
                or "glpat-" in text
                or "GOCSPX-" in text
            )
        )
        or ("_" in text and _HAS_UNDERSCORE.search(text) is not None)
        or ("." in text and ("eyJ" in text or "AQ." in text or "SG." in text or "ya29." in text))
        or ("/" in text and ("hooks.slack.com" in text or "webhooks/" in text or "1//0" in text))
    )


def may_match_line(line: str, low: str) -> bool:
    """Return False when certainly no field of the event in a line of JSON matches.

    `low` is the line in lower case. The event's own field names are assumed to hold no secrets.
    """
    # Searching the whole line costs a fraction of a walk through its fields, and the cheap tests for a rare
    # character come first.
    if "bearer" in low or "curl" in line:
        return True
    if (
        "secret" in low
        or "passw" in low
        or "passp" in low
        or "authorization" in low
        or "cookie" in low
        or has_provider_key(line)
    ):
        return True
    if (
        ("key" in low and ("-key " in low or _KEY_VALUE.search(low)))
        or ("token" in low and _TOKEN_VALUE.search(low))
        or "pwd" in low
    ):
        return True
    # U+212A, the Kelvin sign, matches "k" in the patterns, which ignore case.
    if ("@" in line and ("://" in line or "\\/" in line)) or "\u212a" in line:
        return True
    if line.find("{", line.find("{", 1) + 1) >= 0:  # deeper than the event and its data, fields have any name
        names = low.replace("_", "").replace("-", "")
        return any(map(names.__contains__, _FIELD_PARTS))
    return False


def spans_of(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield the private part of every match as [first, beyond).

    `low` is `lowered(text)`.
    """
    for anchor, pattern in _SHAPES:
        if anchor in text:
            for match in _compiled(pattern).finditer(text):
                yield match.span(match.lastgroup or 0)
    for anchor, pattern in _CHAINS:
        at = low.find(anchor)
        while at >= 0:
            at += len(anchor)
            while (found := _compiled(pattern).match(text, at)) is not None:
                at = found.end()
                if found.lastgroup is not None:
                    yield found.span(found.lastgroup)
            at = low.find(anchor, at)
    for anchor, pattern in _NAMED:
        at = low.find(anchor)
        while at >= 0:
            found = _compiled(pattern).match(text, at)
            if found is None:
                at = low.find(anchor, at + 1)
            else:
                yield found.span(found.lastgroup or 0)
                at = low.find(anchor, max(at + 1, found.end() - _REREAD))


def may_open(text: str) -> bool:
    """Return False when `text` certainly has no anchor of a provider's key."""
    return (
        "eyJ" in text
        or "SG." in text
        or ("IA" in text and ("AKIA" in text or "ASIA" in text))
        or ("-" in text and ("sk-" in text or "glpat-" in text or "-----BEGIN" in text or "GOCSPX-" in text))
        or "1//0" in text
        or "xox" in text
        or "xapp-" in text
        or ("_" in text and _HAS_UNDERSCORE.search(text) is not None)
    )


def open_at(text: str) -> int | None:
    """Return where a secret may begin that goes beyond the end of `text`, or None."""
    return _start(_OPEN, text)


def cut_at(text: str) -> int | None:
    """Return `open_at` when the part that is there tells too much, else None."""
    return _start(_CUT, text)


def _start(pattern: str, text: str) -> int | None:
    match = _compiled(pattern).search(text, max(0, len(text) - _OPEN_LENGTH))
    return None if match is None else match.start(match.lastgroup or 0)


def is_secret_field(name: str) -> bool:
    """Return True for the name of a field that holds a secret."""
    plain = name.replace("_", "").replace("-", "").lower()
    return plain in _FIELDS or (plain.endswith(_ENDINGS) and not plain.endswith(_PLACES))
