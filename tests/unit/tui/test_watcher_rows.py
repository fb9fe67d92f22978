"""The watchers pane shows armed, fired and muted watchers, and distances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.journal.fold.agent_view import AgentView, PatternCard, WatcherCard
from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.painting.runs import Run, width_of
from gemini_live_tui.panes import watcher_rows as watchers

CARD = WatcherCard("anger", "app:anger crossed above 0.7", ("app:anger",), defined_at="debt.py:40")
NEAR = replace(CARD, miss="0.31 is 0.39 below 0.7", miss_t=5.0, share=0.44)
FIRED = replace(NEAR, fired=2, last="app:anger 0.31 → 0.9", last_t=9.0, share=None)


def text(runs: list[Run]) -> str:
    return "".join(part for part, _ in runs)


def row(card: WatcherCard, width: int = 80, elapsed: float = 13.0, **more: Any) -> str:
    return text(watchers.watcher_row(card, elapsed, width, UNICODE, room=8, **more))


def test_an_armed_watcher_says_what_it_waits_for() -> None:
    assert row(CARD).rstrip() == " ○ armed     anger     when app:anger crossed above 0.7"


def test_a_near_miss_shows_how_far_it_came() -> None:
    assert "████" not in row(CARD)
    assert " 44 % of the way  0.31 is 0.39 below 0.7" in row(NEAR)
    assert " 44 %  0.31" in row(NEAR, 60)


def test_a_firing_says_how_often_when_and_what_was_seen() -> None:
    assert row(FIRED).rstrip() == " ● fired x2  anger     4 s ago  app:anger 0.31 → 0.9"
    assert "->" in text(watchers.watcher_row(FIRED, 13.0, 80, ASCII, room=8))


def test_after_a_firing_a_later_miss_is_told_too() -> None:
    assert "20 % of the way" in row(replace(FIRED, miss_t=11.0, share=0.2), 100)


def test_a_muted_watcher_says_what_it_kept_quiet() -> None:
    assert row(replace(FIRED, muted=True, suppressed=3)).rstrip() == " ◌ muted x2  anger     3 kept quiet"


def test_a_pattern_tells_its_progress_or_that_it_rests() -> None:
    card = PatternCard("noes", "turn:refused for 3 turns", progress="1 of 3 turns")
    assert text(watchers.pattern_row(card, 9.0, 80, UNICODE, room=5)).rstrip().endswith("1 of 3 turns")
    rests = replace(card, fired=1, last_t=5.0, cooldown_left_s=12.0)
    assert text(watchers.pattern_row(rests, 9.0, 80, UNICODE, room=5)).endswith("4 s ago  rests 12 s more")


def test_a_breakpoint_is_said_beside_its_sign() -> None:
    assert "■ break" in row(CARD, broken=True)


@pytest.mark.parametrize(("is_started", "told"), [(True, "watches nothing"), (False, "No watcher yet")])
def test_an_agent_that_watches_nothing_is_told_apart_from_one_that_is_not_here_yet(is_started: bool, told: str) -> None:
    rows = watchers.rows_of(AgentView(), is_started=is_started)
    assert told in text(watchers.empty_row(rows[0], 60, UNICODE))


@given(st.integers(1, 160), st.sampled_from([CARD, NEAR, FIRED]), st.text(max_size=30), st.booleans())
def test_no_row_is_wider_than_the_pane(width: int, card: WatcherCard, name: str, flag: bool) -> None:
    made = replace(card, name=name, miss=name, muted=flag)
    for glyphs in (UNICODE, ASCII):
        assert width_of(watchers.watcher_row(made, 99.0, width, glyphs, room=20, broken=flag)) <= width
