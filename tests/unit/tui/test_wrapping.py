"""Text is broken at spaces into lines that fit, and loses only those spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, split_graphemes

from gemini_live_tui.painting import wrapping
from gemini_live_tui.painting.wrapping import fit, wrap, wrap_grown

TEXT = st.text(
    st.one_of(
        st.sampled_from(" \n"),
        st.characters(codec="ascii", categories=["L", "N", "P"]),
        st.sampled_from("äößéñ漢字かなカナ한글界🙂👍🏽👩‍👩‍👧é́—…“”‍️"),
    ),
    max_size=120,
)
WIDTH = st.integers(1, 40)


@given(TEXT, WIDTH)
def test_no_line_is_wider_than_asked_unless_it_is_a_single_grapheme(text: str, width: int) -> None:
    for start, end in wrap(text, width):
        line = text[start:end]
        if cell_len(line) > width:
            spans, _ = split_graphemes(line)
            assert sum(1 for *_, size in spans if size) == 1


@given(TEXT, TEXT, WIDTH)
def test_text_that_grows_is_wrapped_like_one_that_comes_at_once(before: str, more: str, width: int) -> None:
    assert wrap_grown(before + more, width, before, wrap(before, width)) == wrap(before + more, width)


def test_only_the_end_of_a_text_that_grows_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    before = "- a\n" * 1000 + "b" * 5000
    lines, wrapped = wrap(before, 20), []
    monkeypatch.setattr(wrapping, "wrap", lambda text, width: wrapped.append(text) or wrap(text, width))
    assert wrap_grown(f"{before} c", 20, before, lines) == wrap(f"{before} c", 20)
    assert sum(map(len, wrapped)) < 50


@given(TEXT, WIDTH)
def test_only_spaces_and_newlines_are_left_out(text: str, width: int) -> None:
    kept = "".join(text[start:end] for start, end in wrap(text, width))
    assert kept.replace(" ", "") == text.replace(" ", "").replace("\n", "")


@given(TEXT, WIDTH)
def test_lines_come_in_order_and_do_not_overlap(text: str, width: int) -> None:
    at = 0
    for start, end in wrap(text, width):
        assert at <= start <= end <= len(text)
        at = end


@given(TEXT)
def test_a_text_that_fits_has_one_line_a_paragraph(text: str) -> None:
    assert [text[start:end] for start, end in wrap(text, 1000)] == text.split("\n")


@given(
    st.lists(st.text(st.sampled_from("abc漢"), min_size=1, max_size=8), min_size=1, max_size=20), st.integers(16, 40)
)
def test_words_that_fit_are_never_split(words: list[str], width: int) -> None:
    text = " ".join(words)
    shown = [word for start, end in wrap(text, width) for word in text[start:end].split()]
    assert shown == words


@given(st.text(st.sampled_from("ab ."), max_size=80), WIDTH)
def test_the_quick_way_for_ascii_agrees_with_the_general_one(text: str, width: int) -> None:
    # One letter outside ASCII, no wider than the one it stands for, sends a paragraph down the general way.
    plain = [text[start:end] for start, end in wrap(text, width)]
    swapped = text.replace("a", "ä")
    general = [swapped[start:end].replace("ä", "a") for start, end in wrap(swapped, width)]
    assert general == plain


@given(TEXT.map(lambda text: text.replace("\n", "")), st.integers(0, 30))
def test_cut_text_fits_and_says_that_something_is_missing(text: str, width: int) -> None:
    cut = fit(text, width)
    assert cell_len(cut) <= width
    if cut != text and width:
        assert cut.endswith("…") or set(cut) == {"."}


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one two", 7, ["one two"]),
        ("one two", 6, ["one", "two"]),
        ("onetwothree", 4, ["onet", "woth", "ree"]),
        ("a  b", 2, ["a", "b"]),
        ("漢字漢字", 5, ["漢字", "漢字"]),
        ("one\n\ntwo", 10, ["one", "", "two"]),
    ],
)
def test_examples(text: str, width: int, lines: list[str]) -> None:
    assert [text[start:end] for start, end in wrap(text, width)] == lines
