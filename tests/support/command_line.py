"""Runs the command line inside the test's process."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass

from gemini_live_tui.cli import main

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Characters that must never reach a terminal from data; newline and tab are ours."""


@dataclass(frozen=True)
class Ended:
    """Result of a command."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self
        assert lines[0].startswith("gemini-live-tui: "), self
        return lines[0].removeprefix("gemini-live-tui: ")

    @property
    def control(self) -> list[str]:
        """Control characters that came out."""
        return CONTROL.findall(self.out + self.err)


def run(*arguments: str, stdin: str = "") -> Ended:
    """Run `gemini-live-tui ARGUMENTS`; no terminal is there."""
    out, err = _stream(), _stream()
    with redirect_stdout(out), redirect_stderr(err), _standard_input(stdin):
        code = main(list(arguments))
    return Ended(code, _text(out), _text(err))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict", newline="\n", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")


@contextmanager
def _standard_input(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before
