"""Take out of a text what only code has: signs for which speech has no word.

Prose has none of them, so it stays as it is. Of a diff, what it takes out and adds is left.
"""

from __future__ import annotations

import re

_OWN_SIGNS = (
    r"(?<!\w)\w+://\S+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<!\S)(?:~|\.{1,2})?/[\w./-]+|\b[CF]#(?!\w)|\bC\+\+|(?<!\S):-?[|\\](?!\S)"
)
"""Addresses, paths, names and smileys, whose signs belong to them."""

_CODE = re.compile(
    rf"({_OWN_SIGNS}|(?<!\S)(?:\||{{\w+}})(?!\S))|[{{}}\\^`|]|~(?!\d)|[-=]>|<-|[=!:<>]=|::|&&|\w[=\[]\w|\w\+\+|</?\w|\(\*|\*[/)]|\*\*"
    r"|(?<!\S)(?:--?\w[\w-]*=|\*(?: \*)+)|(?<!\w)\$[A-Za-z]|%[sd]\b|##|^#!|^@\w+[.(]|\b0x[0-9a-fA-F]{2}|;[ \t]*$",
    re.MULTILINE,
)
"""Signs that only code has; what is kept is in the group, also one bar or name in braces between words."""

_SIGNS = re.compile(
    rf"({_OWN_SIGNS})|[-=]+>|<-+|<\?|\?>|/\*|\*/|&&|\+\+|--+|::|[{{}}\[\]()\\|^`~=*\"]|<<|>>|(?<!\w)[$@#%&]+|(?<!\d)[$@#%&]+(?!\w)"
    r"|(?<!\w)[!+<>](?=\w)|</|(?<=\w)[<>]|(?<!\w)'|'(?!\w)|;[ \t]*$",
    re.MULTILINE,
)
"""All signs of code; what is kept is in the group."""

_JOINED = re.compile(rf"({_OWN_SIGNS})|(?<!\w)_+|_+(?!\w)|(?<=\w)_+(?=\w)")
_COMPARED = (
    (re.compile(r"(?<=[\w)\]])\s*(?:===?|:=)\s*(?=[\w(\[\"'-])"), " is "),
    (re.compile(r"\s*!==?\s*"), " is not "),
    (re.compile(r"\s*<=\s*"), " at most "),
    (re.compile(r"\s*>=\s*"), " at least "),
)
_ESCAPED = re.compile(r"\\(?:n(?!u\b|abla|eq?\b|ot)|r(?!ho|ight)|t(?!au|heta|ext|imes|o\b|an))")
"""Ends of lines and tabs that were written out; LaTeX has commands that begin in the same way."""

_WINDOWS_PATH = re.compile(r"\b[A-Za-z]:(?:\\[^\s\\]+)+")
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_HEADER = re.compile(r"(?:diff |index |--- |\+\+\+ |@@ |(?:new|deleted) file |similarity |rename |\\ No newline)")


def without_code_signs(text: str) -> str:
    """Return a text without the signs of code, if it has such signs."""
    text = _JOINED.sub(lambda match: match[1] or " ", text) if "_" in text else text
    if not any(match[1] is None for match in _CODE.finditer(text)):
        return text
    text = _WINDOWS_PATH.sub(lambda match: match[0].replace("\\", " "), text)
    text = _UNICODE.sub(lambda match: chr(int(match[1], 16)), _ESCAPED.sub("\n", text))
    for pattern, words in _COMPARED:
        text = pattern.sub(words, text)
    text = _SIGNS.sub(lambda match: match[1] or " ", text)
    lines = (" ".join(line.split()).strip(" ,;") for line in text.splitlines())
    return re.sub(r" +([,;:]|\.(?!\S))", r"\1", "\n".join(line for line in lines if line))


def changes_in_words(text: str) -> str:
    """Return in words what a diff takes out and adds, or "" for another text."""
    if not _HUNK.search(text):
        return ""
    told: list[str] = []
    for sign, words in (("-", "taken out"), ("+", "added")):
        lines = [line[1:].strip() for line in text.splitlines() if line.startswith(sign) and not _HEADER.match(line)]
        told += [f"{words}: {', '.join(map(without_code_signs, filter(None, lines)))}"] if any(lines) else []
    return "; ".join(told) or "no change"
