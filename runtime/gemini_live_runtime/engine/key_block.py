"""Redact private keys that are printed line by line."""

from __future__ import annotations

import re

from gemini_live_runtime.redactor import REDACTED

_BEGIN = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----\s*\Z")
_BODY = re.compile(r"[\s|>]*(?:[0-9A-Za-z+/=]{4,}|(?:Proc-Type|DEK-Info): .{1,80})?\s*")
_END = "-----END "

MAX_LINES = 200
"""Lines of the longest key; those of 16,384 bits have 198."""


class KeyBlock:
    """Redactor of one output's lines, each of which is redacted by itself as well."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = 0
        """Lines that may still belong to a key."""

    def redact(self, line: str) -> str:
        """Return `line`, or what stands for it when it belongs to a private key."""
        if _BEGIN.search(line):
            self._left = MAX_LINES
            return line
        if not self._left:
            return line
        if _END in line or not _BODY.fullmatch(line):
            self._left = 0
            return line
        self._left -= 1
        return REDACTED
