"""The header cuts no reason in the middle of a word."""

from __future__ import annotations

import pytest

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.console.header import Header


@pytest.mark.parametrize(("width", "reason"), [(76, ""), (80, " \u00b7 no microphone"), (100, " \u00b7 no microphone")])
def test_the_reason_of_text_mode_is_shown_whole_or_not(width: int, reason: str) -> None:
    view = SessionView(agent="concierge", backend="local", model="local-concierge", mode="text", record="audio")
    view.word_reason = "no microphone"
    header = Header()
    header.show(view, "text", 5.0, live=True)
    row = "".join(text for text, _ in header.runs(width))
    assert f"concierge{reason}  " in row
    assert "no mic" in row or not reason
    assert "local-concierge" in row
