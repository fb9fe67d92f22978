"""Patterns of credentials that are recognised by themselves, as providers' keys."""

from __future__ import annotations

import re

from gemini_live_runtime.secret_patterns.compiled import compiled

ANY = r"[0-9A-Za-z_\-]"
"""Sign of most keys."""


def begins(anchor: str) -> str:
    """Return a pattern of `anchor`, of fixed width, where a word begins.

    A word may follow a letter that ends an escape: of JSON (`\\n`, `\\u200b`), of a URL (`%20`), of a terminal (`[1m`).
    Letters beyond ASCII do not count: languages without spaces write keys right after them.
    """
    before = (r"\\[nrtbf]", r"\\u[0-9a-fA-F]{4}", r"%[0-9a-fA-F]{2}", r"[0-9;]m")
    escapes = "".join(rf"|(?<={escape}{anchor})" for escape in before)
    return rf"{anchor}(?:(?<![0-9A-Za-z]{anchor}){escapes})"


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
    ("ya29.", r"ya29\.[0-9A-Za-z_\-.]+"),
    ("AQ.", rf"{begins('AQ[.]')}[0-9A-Za-z_\-]{{20,}}"),
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
    # Keys of OpenAI and Anthropic, GitHub, GitLab, AWS, Slack, Stripe, Hugging Face, npm, SendGrid, Google OAuth and
    # Firebase Cloud Messaging.
    ("sk-", rf"{begins('sk-')}(?=[A-Za-z_\-]{{0,60}}+[0-9])[0-9A-Za-z_\-]{{20,}}"),
    ("gh", rf"{begins('gh[opsur]_')}[0-9A-Za-z_]{{20,}}"),
    ("github_pat_", rf"{begins('github_pat_')}[0-9A-Za-z_]{{20,}}"),
    ("glpat-", rf"{begins('glpat-')}[0-9A-Za-z_\-]{{20,}}"),
    ("AKIA", rf"{begins('AKIA')}[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("ASIA", rf"{begins('ASIA')}[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("xox", rf"{begins('xox')}(?:[abceoprs]-[0-9A-Za-z\-]{{10,}}|d-[0-9A-Za-z\-%+/=]{{10,}})"),
    ("xapp-", rf"{begins('xapp-')}[0-9A-Za-z\-]{{10,}}"),
    ("k_live_", rf"{begins('[rs]k_live_')}[0-9A-Za-z]{{16,}}"),
    ("k_test_", rf"{begins('[rs]k_test_')}[0-9A-Za-z]{{16,}}"),
    ("whsec_", rf"{begins('whsec_')}[0-9A-Za-z+/=]{{16,}}"),
    ("GOCSPX-", rf"{begins('GOCSPX-')}{ANY}{{16,}}"),
    ("1//0", rf"{begins('1//0')}{ANY}{{20,}}"),
    ("hf_", rf"{begins('hf_')}[0-9A-Za-z]{{30,}}"),
    ("npm_", rf"{begins('npm_')}[0-9A-Za-z]{{36}}(?![0-9A-Za-z])"),
    ("SG.", rf"{begins('SG[.]')}[0-9A-Za-z_\-]{{16,}}\.[0-9A-Za-z_\-]{{16,}}"),
    (":APA91b", rf"AAAA{ANY}{{7}}:APA91b{ANY}{{20,}}"),
    ("://", rf"://{_LOGIN}"),
    ("\\/", rf":\\{{1,7}}/\\{{1,7}}/{_LOGIN}"),
    # Anybody who knows the address of a webhook may write to its channel.
    ("hooks.slack.com", rf"{SLACK}(?P<path>[0-9A-Za-z/\\]{{16,}})"),
    ("/api/", rf"{DISCORD}(?P<path>[0-9A-Za-z_\-]{{16,}})"),
)
"""Patterns of credentials, each with a literal that a text with a match contains."""

# Begins with its literal, for which a pattern is searched as quickly as for a string.
_HAS_UNDERSCORE = re.compile(
    r"_(?:(?<=gh[opsur]_)|(?<=_pat_)|(?<=k_live_)|(?<=k_test_)|(?<=whsec_)|(?<=hf_)|(?<=npm_))"
)
_ENCODED_SIGN = r"(?i:%(?:25)*|\\+(?:u00|x))(?:2[fF]|3[aA]|40)|\\+/|&#"


def has_provider_key(text: str) -> bool:
    """Return False when `text` certainly has no provider's key or webhook."""
    # Searches for a single character are ten times as quick as others, so the rarest of each key comes first.
    return (
        ("A" in text and ("AIza" in text or "AKIA" in text or "ASIA" in text or ":APA91b" in text))
        or ("-" in text and _has_dashed_key(text))
        or ("_" in text and _HAS_UNDERSCORE.search(text) is not None)
        or (("." in text or not text.isascii()) and _has_dotted_key(text))
        or ("/" in text and ("hooks.slack.com" in text or "webhooks/" in text or "1//0" in text))
    )


def _has_dashed_key(text: str) -> bool:
    return (
        ("k" in text and "sk-" in text)
        or ("x" in text and ("xox" in text or "xapp-" in text))
        or ("K" in text and "PRIVATE KEY" in text)
        or ("X" in text and "GOCSPX-" in text)
        or "glpat-" in text
    )


def _has_dotted_key(text: str) -> bool:
    """Return True when `text` may have a key with a dot or an ellipsis."""
    return (
        ("J" in text and "eyJ" in text)
        or ("Q" in text and "AQ." in text)
        or ("G" in text and "SG." in text)
        or ("9" in text and "ya29." in text)
    )


def may_have_encoded_sign(text: str) -> bool:
    """Return True when a sign of a provider's key or a login may be escaped."""
    return compiled(_ENCODED_SIGN).search(text) is not None


def may_open(text: str) -> bool:
    """Return False when `text` certainly has no anchor of a provider's key."""
    return (
        ("A" in text and ("AKIA" in text or "ASIA" in text or "AAAA" in text))
        or ("J" in text and "eyJ" in text)
        or ("G" in text and "SG." in text)
        or ("-" in text and ("sk-" in text or "glpat-" in text or "-----BEGIN" in text or "GOCSPX-" in text))
        or ("/" in text and "1//0" in text)
        or ("x" in text and ("xox" in text or "xapp-" in text))
        or ("_" in text and _HAS_UNDERSCORE.search(text) is not None)
    )
