"""Marks of Markdown in a tool's result are not read aloud."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.markdown import without_markdown
from gemini_live_runtime.local.scripts.template import describe


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("**Sunny**, 21 degrees", "Sunny, 21 degrees"),
        ("It is *really* __very__ `warm`", "It is really very warm"),
        ("# Weather\n\nSunny.", "Weather.\n\nSunny."),
        ("- apples\n- pears\n* *plums*", "apples.\npears.\nplums."),
        ("See [the forecast](https://example.com/a) today", "See the forecast today"),
        ("| City | Sky |\n|------|:---:|\n| Rome | clear |", "City, Sky.\nRome, clear."),
        ("```json\n21\n```", "21"),
        ("> Quoted\n\n---\nend", "Quoted.\n\nend"),
        ("***both***", "both"),
    ],
)
def test_marks_are_left_out(text: str, spoken: str) -> None:
    assert without_markdown(text) == spoken


@pytest.mark.parametrize(
    "text",
    [
        "snake_case_name",
        "3 * 4 * 5",
        "5*3*2",
        "-3 degrees",
        "a | b",
        "room #4",
        "C:\\temp_dir\\_x",
        "2 - 1",
        "[sic] (so)",
        "",
    ],
)
def test_words_that_only_look_like_marks_stay(text: str) -> None:
    assert without_markdown(text) == text


def test_a_result_is_described_without_marks() -> None:
    assert describe({"summary": "**Rain** tomorrow"}) == "summary Rain tomorrow"
