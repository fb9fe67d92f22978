"""The dialogues of the bundled agents can be read and compared line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.style.dialogues import COLUMNS, FOLDER, wrapped


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_long_lists_of_texts_are_broken_into_lines(file: Path) -> None:
    script = file.read_text("utf-8")
    assert wrapped(script) == script, "run python -m tests.style.dialogues"


def test_a_line_of_several_texts_is_broken_and_a_text_is_not() -> None:
    text = '"' + "word " * 9 + '"'
    script = f"say = [{text}, {text}, {text}]\nabout = {text * 3}\n  {text}, {text}, {text}]"
    lines = wrapped(script).split("\n")
    assert [len(line) > COLUMNS for line in lines] == [False] * 4 + [True] + [False] * 3
    assert wrapped("\n".join(lines)) == "\n".join(lines)
