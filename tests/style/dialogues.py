"""Break the lists of texts in the bundled dialogues into lines.

`python -m tests.style.dialogues` rewrites the files; a test holds that there is nothing to rewrite.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "runtime" / "gemini_live_runtime" / "agents" / "dialogues"
COLUMNS = 120

_TEXT = r'"(?:[^"\\]|\\.)*"'
_LIST = re.compile(rf"(?P<head>[\w.\"-]+ = \[)(?P<texts>{_TEXT}(?:, {_TEXT})+),?\]")
"""Whole list in a line."""
_PART = re.compile(rf"\s+(?P<texts>{_TEXT}(?:, {_TEXT})+)(?P<end>,?\]?)")
"""Some texts of a list of several lines."""


def wrapped(script: str) -> str:
    """Return a script whose lists of texts have at most `COLUMNS` characters a line."""
    return "\n".join(part for line in script.split("\n") for part in _lines_of(line))


def _lines_of(line: str) -> Iterator[str]:
    if len(line) <= COLUMNS:
        yield line
    elif (whole := _LIST.fullmatch(line)) is not None:
        yield whole["head"]
        yield from _filled(whole["texts"])
        yield "]"
    elif (part := _PART.fullmatch(line)) is not None:
        *first, last = _filled(part["texts"])
        yield from first
        yield last if part["end"] else last.rstrip(",")
        if part["end"].endswith("]"):
            yield "]"
    else:
        yield line


def _filled(texts: str) -> Iterator[str]:
    line = " "
    for text in re.findall(_TEXT, texts):
        if line.strip() and len(line) + len(text) + 2 > COLUMNS:
            yield line
            line = " "
        line += f" {text},"
    yield line


def main() -> int:
    """Rewrite the dialogues."""
    for path in sorted(FOLDER.glob("*.toml")):
        before = path.read_text("utf-8")
        after = wrapped(before)
        assert tomllib.loads(before) == tomllib.loads(after)
        path.write_text(after, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
