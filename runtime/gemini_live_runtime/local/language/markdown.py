"""Take the marks of Markdown out of a text that is to be spoken."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"]*\")?\)")
_CODE = re.compile(r"(?<!`)`+([^`]+)`+")
_EMPHASIS = re.compile(r"(?<![\w*_~])(\*{1,3}|_{1,3}|~~)(?=\S)([^*_~\n]*[^*_~\s])\1(?![\w*_~])")
_LINE_MARK = re.compile(r"\s*(?:(?:#{1,6}|[-*+]|>|[-*+] \[[ xX]\])\s+)+")
_RULE_OR_FENCE = re.compile(
    r"\s*(?:```\w*|~~~\w*|(?:[-*_]\s*){3,}|\|?\s*:?-{2,}:?\s*(?:\|\s*:?-*:?\s*)*|[-+=|\s\u2500-\u257f]{3,})\s*"
)
_COLUMNS = "-+-"
"""Part of the rule below the names of columns in a table without a frame."""

_FRAME = re.compile(r"[\u2500-\u257f]")
_LINE_END = re.compile(r"[.!?:;,]$")


def without_markdown(text: str) -> str:
    """Return `text` without Markdown's marks; words, numbers and names stay.

    Lines that were marked as a heading, item or row of a table become sentences.
    """
    lines: list[str] = []
    in_table = _COLUMNS in text
    for line in text.splitlines():
        if _RULE_OR_FENCE.fullmatch(line):
            continue
        words = _LINE_MARK.sub("", line, count=1) if _LINE_MARK.match(line) else line
        words = _FRAME.sub("|", words)
        is_row = words.strip().startswith("|") or (in_table and " | " in words)
        cells = [cell.strip() for cell in words.strip().strip("|").split("|")] if is_row else []
        words = ", ".join(cell for cell in cells if cell) if cells else words
        is_sentence = words == line or not words.strip() or _LINE_END.search(words.rstrip())
        lines.append(words if is_sentence else f"{words.rstrip()}.")
    words = "\n".join(lines).strip()
    for pattern, kept in ((_LINK, r"\1"), (_CODE, r"\1"), (_EMPHASIS, r"\2"), (_EMPHASIS, r"\2")):
        words = pattern.sub(kept, words)
    return words
