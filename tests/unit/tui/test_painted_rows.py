"""A row is as wide as asked, of any text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.painted import strip_of
from gemini_live_tui.painting.runs import filled

TEXT = st.text(st.sampled_from("ab é漢👍🏽👩\u200d\ufe0f\u0301\u1161"), max_size=30)


@given(st.lists(TEXT, max_size=4), st.integers(1, 30))
@example(["\u200d\u200d👍"], 1)
def test_a_row_of_any_text_is_cut_or_filled(texts: list[str], width: int) -> None:
    strip = strip_of(map(Segment, texts), width, Style())
    assert sum(cell_len(segment.text) for segment in strip) == strip.cell_length == width


@given(TEXT, st.integers(1, 30))
@example("漢\u200d", 3)
def test_a_column_of_any_text_is_cut_or_filled(text: str, width: int) -> None:
    assert cell_len(filled(sanitise_line(text), width)) == width
