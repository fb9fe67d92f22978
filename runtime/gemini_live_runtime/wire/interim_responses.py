"""Skip interim responses, which may come before an answer (RFC 9110, 15.2).

The library takes `100 Continue` or `103 Early Hints` for the answer itself.
"""

from __future__ import annotations

import re

MAX_INTERIM_BYTES = 64 * 1024
"""Bytes of interim responses that are skipped."""

_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d[ \r][^\n]*\n(?:[^\r\n][^\n]*\n)*\r\n")


class InterimResponses:
    """Filter of what comes before the answer to a handshake."""

    __slots__ = ("_held", "_skipped")

    def __init__(self) -> None:
        self._held = b""
        self._skipped = 0

    def skip(self, data: bytes) -> bytes:
        """Return `data` from the beginning of the answer on.

        It is empty before that; pieces of interim responses are kept for the next call.
        """
        self._held += data
        while self._skipped <= MAX_INTERIM_BYTES and (found := _INTERIM.match(self._held)) is not None:
            self._skipped += found.end()
            self._held = self._held[found.end() :]
        if self._skipped + len(self._held) <= MAX_INTERIM_BYTES and _may_be_interim(self._held):
            return b""
        data, self._held = self._held, b""
        return data


def _may_be_interim(data: bytes) -> bool:
    """Return True for the beginning of a response that may be an interim one."""
    status, more = data[: len("HTTP/1.1 100")], data[len("HTTP/1.1 100") :]
    return not (status.endswith(b" 101") or more[:1].isdigit()) and any(
        begin.startswith(status) or status.startswith(begin) for begin in (b"HTTP/1.0 1", b"HTTP/1.1 1")
    )
