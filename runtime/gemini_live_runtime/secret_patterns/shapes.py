"""Patterns of credentials that are recognised by themselves, as providers' keys."""

from __future__ import annotations

from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.prefixes import ANY, PREFIXES, begins, has_prefix, may_open_prefix

# A quotation mark or an "@" may be part of a password: nothing but the last "@" ends it.
_LOGIN = (
    r"(?P<user>[^/\s:@\"']{0,200}:(?:[^/\s@\"']|(?<=[0-9A-Za-z])[\"'](?=[0-9A-Za-z])){1,4000}+(?=@)"
    r"(?:@[^/\s@\"'?#,;&]{0,400}+(?=@))*+)"
)
_PEM_BETWEEN = r"(?:[\s>|\"']|\\+[nr]|(?:Proc-Type|DEK-Info): [^\r\n\\]{1,100}+)*+"
SLACK = r"hooks\.slack\.com\\?/[a-z]{1,20}\\?/"
DISCORD = r"/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{1,20}/"

SHAPES = (
    ("AIza", r"AIza[0-9A-Za-z_\-]{10,}"),
    ("auth_tokens/", r"auth_tokens/[0-9A-Za-z_\-.]+"),
    ("AQ.", rf"{begins('AQ[.]')}{ANY}{{20,}}"),
    ("ya29.", r"ya29\.[0-9A-Za-z_\-.]+"),
    # A run of these characters is read once from its start, and in part only from another word in it. A signed token
    # has three parts; an encrypted one has five, of which the second may be empty.
    (
        "eyJ",
        rf"{begins('eyJ')}(?:(?<![0-9A-Za-z_\-]eyJ)[0-9A-Za-z_\-]{{8,}}+|[0-9A-Za-z_\-]{{8,400}}+)"
        rf"\.(?:{ANY}{{8,}}+\.{ANY}*+(?:\.{ANY}++\.{ANY}++)?|\.{ANY}{{8,}}+\.{ANY}++\.{ANY}++)",
    ),
    (
        "-----BEGIN ",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
        r"(?:(?:[^\-]|-(?!----)){0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----"
        rf"|(?:{_PEM_BETWEEN}[0-9A-Za-z+/=]{{20,}}+)+)",
    ),
    *((one.anchor, one.whole) for one in PREFIXES),
    # Keys of AWS, Slack, SendGrid, HashiCorp Vault, Google OAuth, Atlassian, Firebase Cloud Messaging and Telegram.
    ("AKIA", rf"{begins('AKIA')}[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("ASIA", rf"{begins('ASIA')}[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("xox", rf"{begins('xox')}(?:[abceoprs]-[0-9A-Za-z\-]{{10,}}|d-[0-9A-Za-z\-%+/=]{{10,}})"),
    ("SG.", rf"{begins('SG[.]')}[0-9A-Za-z_\-]{{16,}}\.[0-9A-Za-z_\-]{{16,}}"),
    ("hvs.", rf"{begins('hvs[.]')}{ANY}{{24,}}"),
    ("1//0", rf"{begins('1//0')}{ANY}{{20,}}"),
    ("ATATT3", rf"{begins('ATATT3')}[0-9A-Za-z_\-=]{{50,}}"),
    (":APA91b", rf"AAAA{ANY}{{7}}:APA91b{ANY}{{20,}}"),
    (":AA", rf"[0-9]{{8,10}}:AA{ANY}{{30,}}"),
    ("://", rf"://{_LOGIN}"),
    ("\\/", rf":\\{{1,7}}/\\{{1,7}}/{_LOGIN}"),
    # Anybody who knows the address of a webhook may write to its channel.
    ("hooks.slack.com", rf"{SLACK}(?P<path>[0-9A-Za-z/\\]{{16,}})"),
    ("/api/", rf"{DISCORD}(?P<path>[0-9A-Za-z_\-]{{16,}})"),
)
"""Patterns of credentials, each with a literal that a text with a match contains."""

_ENCODED_SIGN = r"(?i:%(?:25)*|\\+(?:u00|x))(?:2[fF]|3[aA]|40)|\\+/|&#"


def has_provider_key(text: str) -> bool:
    """Return False when `text` certainly has no provider's key or webhook."""
    # Searches for a single character are ten times as quick as others, so the rarest of each key comes first.
    return (
        has_prefix(text)
        or ("A" in text and _has_key_with_a(text))
        or ("K" in text and "PRIVATE KEY" in text)
        or (("." in text or not text.isascii()) and _has_dotted_key(text))
        or ("/" in text and ("hooks.slack.com" in text or "webhooks/" in text or "1//0" in text))
    )


def _has_dotted_key(text: str) -> bool:
    """Return True when `text` may have a key with a dot or an ellipsis."""
    return (
        ("J" in text and "eyJ" in text)
        or ("Q" in text and "AQ." in text)
        or ("G" in text and "SG." in text)
        or ("9" in text and "ya29." in text)
        or ("v" in text and "hvs." in text)
    )


def _has_key_with_a(text: str) -> bool:
    return "AIza" in text or "AKIA" in text or "ASIA" in text or ":APA91b" in text or "ATATT3" in text or ":AA" in text


def may_have_encoded_sign(text: str) -> bool:
    """Return True when a sign of a provider's key or a login may be escaped."""
    return compiled(_ENCODED_SIGN).search(text) is not None


def may_open(text: str) -> bool:
    """Return False when `text` certainly has no anchor of a provider's key."""
    return (
        may_open_prefix(text)
        or ("A" in text and ("AKIA" in text or "ASIA" in text or "AAAA" in text or "ATATT3" in text or ":AA" in text))
        or ("J" in text and "eyJ" in text)
        or ("." in text and ("SG." in text or "AQ." in text or "hvs." in text))
        or ("-" in text and "-----BEGIN" in text)
        or ("/" in text and "1//0" in text)
        or ("x" in text and "xox" in text)
    )
