"""Patterns of credentials that are recognised by themselves, as keys are."""

from __future__ import annotations

from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.secret_patterns.prefix import ANY, BEGIN, Hinge, begins
from gemini_live_runtime.secret_patterns.providers import PREFIXES

# A quotation mark or an "@" may be part of a password: nothing but the last "@" ends it.
_LOGIN = (
    r"(?P<user>[^/\s:@\"']{0,200}:(?>(?:[^/\s@\"']|(?<=[0-9A-Za-z])[\"'](?=[0-9A-Za-z])){1,4000})(?=@)"
    r"(?>(?:@[^/\s@\"'?#,;&]{0,400}+(?=@))*))"
)
_PEM_BETWEEN = r"(?>(?:[\s>|\"']|\\+[nr]|(?:Proc-Type|DEK-Info|Version|Comment): [^\r\n\\]{1,100}+)*)"
PRIVATE_KEY = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_ENCRYPTED = r"(?:\.[0-9A-Za-z_\-]{0,4000}+){0,4}"


@frozen_record
class Shape:
    """Key with patterns of its own; `anchor` is a literal that is in each.

    `open` is the pattern of ends of texts that may begin one, `cut` of those that tell too much.
    """

    anchor: str
    hinge: Hinge
    whole: str
    open: str = ""
    cut: str = ""


def _webhook(name: str, anchor: str, hinge: Hinge, address: str) -> Shape:
    """Return the shape of an address that lets anybody who knows it write."""
    path = rf"{address}(?P<{name}>[0-9A-Za-z_\-@/\\]"
    return Shape(anchor, hinge, rf"{path}{{16,}})", rf"{path}{{1,80}})", rf"{path}{{8,80}})")


OTHER_SHAPES = (
    # A run of these characters is read once from its start, and in part only from another word in it. A signed token
    # has three parts; an encrypted one has five, of which the second may be empty.
    Shape(
        "eyJ",
        Hinge("J", "ey", ""),
        rf"{begins('eyJ')}(?:(?<![0-9A-Za-z_\-]eyJ)[0-9A-Za-z_\-]{{8,}}+|[0-9A-Za-z_\-]{{8,400}}+)"
        rf"\.(?:{ANY}{{8,}}+\.{ANY}*+(?:\.{ANY}++\.{ANY}++)?|\.{ANY}{{8,}}+\.{ANY}++\.{ANY}++)",
        rf"{BEGIN}eyJ{ANY}{{0,400}}+{_ENCRYPTED}",
        rf"{BEGIN}eyJ{ANY}{{8,400}}+{_ENCRYPTED}",
    ),
    # Slack, Telegram, Firebase Cloud Messaging
    Shape(
        "xox",
        Hinge("-", "xox[a-z]", ""),
        rf"{begins('xox')}(?:[abceoprs]-[0-9A-Za-z\-]{{10,}}|d-[0-9A-Za-z\-%+/=]{{10,}})",
        rf"{BEGIN}xox[a-eoprs]?-?[0-9A-Za-z\-%+/=]{{0,9}}",
        rf"{BEGIN}xox[a-eoprs]-[0-9A-Za-z\-%+/=]{{4,9}}",
    ),
    Shape(
        ":AA",
        Hinge("A", ":", "A"),
        rf"[0-9]{{8,10}}:AA{ANY}{{30,}}",
        rf"[0-9]{{8,10}}:AA{ANY}{{0,29}}",
        rf"[0-9]{{8,10}}:AA{ANY}{{2,29}}",
    ),
    Shape(
        ":APA91b",
        Hinge("A", ":", "PA91b"),
        rf"AAAA{ANY}{{7}}:APA91b{ANY}{{20,}}",
        rf"AAAA(?:{ANY}{{0,7}}|{ANY}{{7}}:{ANY}{{0,25}})",
        rf"AAAA{ANY}{{7}}:{ANY}{{2,25}}",
    ),
    _webhook("slack", "hooks.slack.com", Hinge(".", "hooks", r"slack\.com"), r"hooks\.slack\.com\\?/[a-z]{1,20}\\?/"),
    _webhook("discord", "/api/", Hinge("/", "webhooks", ""), r"/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{1,20}/"),
    _webhook("office", "webhookb2", Hinge(".", "webhook", "office"), r"\.webhook\.office\.com\\?/webhookb2\\?/"),
    _webhook("zapier", "hooks.zapier.com", Hinge(".", "hooks", "zapier"), r"hooks\.zapier\.com\\?/hooks\\?/catch\\?/"),
)

SHAPES = (
    *((one.anchor, one.whole) for one in (*PREFIXES, *OTHER_SHAPES)),
    (
        "-----BEGIN ",
        rf"{PRIVATE_KEY}(?:(?:[^\-]|-(?!----)){{0,20000}}-----END [A-Z ]{{0,30}}PRIVATE KEY(?: BLOCK)?-----"
        rf"|(?:{_PEM_BETWEEN}[0-9A-Za-z+/=]{{20,}}+)+)",
    ),
    ("---- BEGIN SSH2", r"---- BEGIN SSH2 [A-Z ]{0,30}PRIVATE KEY ----(?:[^\-]|-(?!---)){0,20000}"),
    ("://", rf"://{_LOGIN}"),
    ("\\/", rf":\\{{1,7}}/\\{{1,7}}/{_LOGIN}"),
)
"""Patterns of credentials, each with a literal that a text with a match contains."""


def _ends(name: str) -> str:
    """Return the pattern of the beginnings of keys at the end of a text."""
    words = [one for one in PREFIXES if not one.is_anywhere and not one.is_public]
    others = [one for one in PREFIXES if one.is_anywhere or one.is_public]
    at_words, anywhere = ("|".join(getattr(one, name) for one in rows) for rows in (words, (*others, *OTHER_SHAPES)))
    return rf"(?:{BEGIN}(?:{at_words})|{anywhere})\Z"


OPEN_KEY, CUT_KEY = _ends("open"), _ends("cut")
"""Patterns of ends of a text that may begin a key, and of those that tell too much of one; none has a space."""
