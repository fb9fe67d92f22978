"""The search of the transcript goes through paragraphs and marks what was found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.journal.fold.view import Block
from gemini_live_tui.panes.transcript_search import STYLE, TranscriptSearch


def _blocks(*texts: str) -> list[Block]:
    return [Block(7 + number, "user", float(number), number, 0, text=text) for number, text in enumerate(texts)]


def test_a_search_begins_at_the_newest_paragraph_and_goes_round_both_ends():
    search, blocks = TranscriptSearch(), _blocks("Lisbon", "Rome", "in LISBON", "Oslo")
    assert search.begin("lisbon", blocks)
    assert (search.found, search.count(blocks)) == (9, (1, 2))
    assert not search.go_on(blocks, -1)
    assert search.found == 7
    assert search.go_on(blocks, -1)
    assert search.found == 9
    assert search.go_on(blocks, 1)
    assert search.found == 7


def test_a_search_goes_on_when_the_paragraph_it_was_at_is_forgotten_and_when_nothing_is_left():
    search, blocks = TranscriptSearch(), _blocks("one a", "two", "three a")
    search.begin("a", blocks)
    assert not search.go_on(blocks[:1], -1)
    assert search.found == 7
    assert not search.go_on(blocks[1:2], -1)
    assert search.count(blocks[1:2]) == (0, 0)


def test_a_text_is_found_in_results_and_is_no_pattern():
    search = TranscriptSearch()
    (block,) = _blocks("weather()")
    block.detail = "a.c"
    assert search.begin("A.C", [block])
    assert search.is_in(block)
    search.begin("a+c", [block])
    assert not search.is_in(block)


@given(st.lists(st.tuples(st.text("abß ", max_size=5), st.sampled_from(["said", "quiet"])), max_size=5), st.text("abß"))
def test_marking_changes_no_character_and_marks_only_the_text(runs: list[tuple[str, str]], text: str):
    search = TranscriptSearch()
    search.begin(text, [])
    marked = search.marked(runs)
    assert "".join(part for part, _ in marked) == "".join(part for part, _ in runs)
    assert all(part.casefold() == text.strip().casefold() for part, style in marked if style == STYLE)
