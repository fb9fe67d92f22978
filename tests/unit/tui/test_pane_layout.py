"""Every arrangement fills the grid exactly, at any size and after any use."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from gemini_live_tui.pane_layout import PANES, PaneLayout, arrange
from gemini_live_tui.panes.base import FRAME, Pane
from gemini_live_tui.panes.state_listing import StateListing
from gemini_live_tui.panes.state_rows import PINNED, SCOPES
from gemini_live_tui.saved_layout import recall, remember
from gemini_live_tui.settings import ConsoleSettings

ALL = ("transcript", "phase", "watchers", "state", "timeline", "latency", "tools", "events", "logs", "tasks")
names = st.sampled_from(ALL)
states = st.builds(PaneLayout, st.lists(names, unique=True).map(tuple), st.sampled_from(["", *ALL]), talk=st.booleans())
widths, heights = st.integers(1, 400), st.integers(1, 120)


@given(widths, heights, states)
def test_the_slots_tile_the_desk(width, height, state):
    arrangement = arrange(width, height, state, ALL)
    cells = sum(slot.region.area for slot in arrangement.slots)
    assert cells == width * height
    for number, slot in enumerate(arrangement.slots):
        assert slot.region.right <= width
        assert slot.region.bottom <= height
        assert not any(slot.region.overlaps(other.region) for other in arrangement.slots[number + 1 :])


@given(widths, heights, states, names)
def test_a_pane_that_one_goes_to_is_seen(width, height, state, pane):
    assert pane in {slot.shown for slot in arrange(width, height, state.used(pane), ALL).slots}


@given(widths, heights, states)
def test_no_pane_has_two_places(width, height, state):
    placed = [pane for slot in arrange(width, height, state, ALL).slots for pane in slot.panes]
    assert len(placed) == len(set(placed))


@given(widths, heights, states)
def test_a_slot_shows_one_of_its_panes(width, height, state):
    assert all(slot.shown in slot.panes for slot in arrange(width, height, state, ALL).slots)


@given(widths, heights, states)
def test_a_console_begins_with_the_conversation_in_sight(width, height, state):
    assert "transcript" in {slot.shown for slot in arrange(width, height, state.at_start(), ALL).slots}


@given(widths, heights, states)
def test_panes_of_one_place_stand_in_the_order_of_their_keys(width, height, state):
    for slot in arrange(width, height, state, ALL).slots:
        assert list(slot.panes) == sorted(slot.panes, key=ALL.index)


def test_three_sizes_have_three_arrangements():
    kinds = [arrange(*size, PaneLayout(), ALL).kind for size in ((160, 39), (120, 30), (80, 18))]
    assert kinds == ["wide", "normal", "narrow"]


@given(widths, heights, states, st.integers(0, 20))
def test_rows_that_are_taken_for_a_while_leave_panes_a_place_and_tile_the_rest(width, height, state, taken):
    arrangement = arrange(width, height, state, ALL, taken=taken)
    assert sum(slot.region.area for slot in arrangement.slots) == width * height
    assert all(slot.region.height > 0 for slot in arrangement.slots)


@pytest.mark.parametrize("size", [(160, 36), (120, 26)])
def test_a_question_makes_the_panes_smaller_and_arranges_none_anew(size):
    width, height = size
    assert arrange(width, height - 4, PaneLayout(), ALL, taken=4).kind == arrange(*size, PaneLayout(), ALL).kind
    assert arrange(width, height - 7, PaneLayout(), ALL, taken=7).kind != arrange(*size, PaneLayout(), ALL).kind


def test_a_console_with_one_pane_gives_it_everything():
    (slot,) = arrange(160, 45, PaneLayout(), ("transcript",)).slots
    assert (slot.shown, slot.region.size) == ("transcript", (160, 45))


def test_the_state_is_remembered_and_what_does_not_fit_is_not(tmp_path):
    path = tmp_path / "state" / "console.json"
    state = PaneLayout((PANES[0].id,), talk=True)
    remember(path, layout=state.to_json())
    assert PaneLayout.from_json(recall(path)["layout"]) == state
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text('{"layout": {"recent": ["nowhere", 7], "zoom": "moon", "talk": "yes"}}')
    assert PaneLayout.from_json(recall(path)["layout"]) == PaneLayout()
    path.write_text("not json")
    assert recall(path) == {}


def test_how_keys_are_listed_is_remembered_and_what_does_not_fit_is_not(tmp_path):
    path, scopes = tmp_path / "console.json", (*SCOPES, PINNED)
    listing = StateListing({"bg", PINNED}, ["app:name", "user:mood"], changed_first=True)
    remember(path, layout={}, state=listing.to_json())
    assert StateListing.from_json(recall(path)["state"], scopes) == listing
    odd = {"folded": ["moon", 7, "turn"], "pinned": [3, "", "k" * 1000, "app:a", "app:a"], "changed_first": 1}
    assert StateListing.from_json(odd, scopes) == StateListing({"turn"}, ["app:a"])
    assert StateListing.from_json("nonsense", scopes) == StateListing()


def test_every_tab_has_a_word_in_the_second_column_of_a_terminal_of_120_columns():
    sharing = [pane for pane in PANES if pane.id not in ("transcript", "phase", "timeline")]
    for shown in sharing:
        pane = Pane(shown.id, Static(), ConsoleSettings())
        pane.name_tabs([one.id for one in sharing], framed=True, width=57)
        # The public property returns markup, in which brackets are tags.
        title = pane._border_title.plain
        assert len(title) <= 57 - FRAME
        assert re.findall(r"(?<!\w)(\w) [A-Z]", title) == ["3", "4", "6", "7", "8", "9", "T"]
        assert f"[{shown.key} " in title
