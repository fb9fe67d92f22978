"""The sound of a paragraph is found by the voices around its words."""

from __future__ import annotations

import pytest

from gemini_live_runtime.journal.fold.agent_view import Span
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_tui.session_data.utterances import EARLY_S, LATE_S, sound_span


def _view(spans: list[Span], *blocks: Block) -> SessionView:
    view = SessionView()
    view.t = 60.0
    view.blocks = list(blocks)
    view.agent_view.spans = spans
    return view


def _block(number: int, kind: str, t: float, turn: int, **changes: bool) -> Block:
    return Block(number, kind, t, turn, 0, text="words", **changes)  # type: ignore[arg-type]


VOICES = [
    Span("user", 2.0, 0, 3.0),
    Span("user", 8.0, 0, 9.0),
    Span("user", 10.0, 1, 11.0),
    Span("model", 12.0, 1, 14.0),
    Span("model", 20.0, 1, 22.0),
    Span("user", 30.0, 1, 31.0),
]
FIRST, ANSWER, REST = _block(1, "user", 11.5, 1), _block(2, "model", 11.9, 1), _block(4, "model", 19.8, 1)
SECOND, TYPED = _block(5, "user", 30.5, 2), _block(6, "user", 40.0, 3, typed=True)


@pytest.mark.parametrize(
    ("block", "begin", "end"),
    [(FIRST, 8.0, 11.0), (ANSWER, 12.0, 14.0), (REST, 20.0, 22.0), (SECOND, 30.0, 31.0)],
)
def test_an_utterance_is_played_with_a_little_before_and_after_its_voice(block: Block, begin: float, end: float):
    span = sound_span(_view(VOICES, FIRST, ANSWER, REST, SECOND, TYPED), block)
    assert span == (pytest.approx(begin - EARLY_S), pytest.approx(end + LATE_S))


def test_a_voice_that_goes_on_is_played_up_to_now():
    view = _view([Span("model", 50.0, 4)], _block(1, "model", 49.9, 4))
    assert sound_span(view, view.blocks[0]) == (pytest.approx(50.0 - EARLY_S), 60.0)


def test_what_was_typed_or_has_no_voice_has_no_sound():
    view = _view(VOICES, FIRST, TYPED)
    assert sound_span(view, TYPED) is None
    assert sound_span(view, _block(7, "user", 59.0, 4)) is None
    assert sound_span(view, _block(8, "tool", 12.0, 1)) is None
