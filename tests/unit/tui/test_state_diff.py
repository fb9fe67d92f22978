"""The comparison of two states has all keys that differ, and no others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import AgentView, Mark, TurnCard
from gemini_live_runtime.journal.fold.session_fold import apply, fold
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.session_data.state_diff import Pair, differences, mark_pair, turn_pair, who

values = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=3), st.lists(st.integers(0, 1)))
states = st.dictionaries(st.sampled_from(["app:a", "app:b", "user:c", "turn:d"]), values)


def _view(state: dict, start: int = 0) -> SessionView:
    return _change(SessionView(), {}, state, start)


def _change(view: SessionView, old: dict, new: dict, start: int = 0) -> SessionView:
    keys = [*new, *(key for key in old if key not in new)]
    for number, key in enumerate(keys, start + 1):
        payload = ev.StateChanged(
            key=key, old=old.get(key), new=new.get(key), added=key not in old, removed=key not in new,
            mutation=number, origin="tool", by="lookup", reason="",
        )  # fmt: skip
        apply(view, ev.Event(number, float(number), 1, 1, payload))
    return view


@given(states, states)
def test_exactly_the_keys_that_differ_are_told(old, new) -> None:
    before = _view(old)
    after = _change(_view(old), old, new, 100)
    found = {one.key: one for one in differences(before.agent_view, after.agent_view)}
    same = {key for key in old.keys() & new.keys() if old[key] == new[key] and type(old[key]) is type(new[key])}
    assert {key for key, one in found.items() if one.how == "added"} == new.keys() - old.keys()
    assert {key for key, one in found.items() if one.how == "removed"} == old.keys() - new.keys()
    assert {key for key, one in found.items() if one.how == "changed"} == (old.keys() & new.keys()) - same
    assert list(found) == sorted(found)
    assert differences(after.agent_view, after.agent_view) == []
    for one in found.values():
        assert one.new is None or who(one.new) == "tool lookup"
        assert one.writer == "tool lookup"


def test_a_turn_is_compared_from_its_beginning_to_its_end_or_to_now() -> None:
    agent_view = AgentView(turns={1: TurnCard(1, 0.0, 5, "voice", end_seq=9), 2: TurnCard(2, 1.0, 12, "voice")})
    assert turn_pair(agent_view, 1, 20) == Pair(4, 9, "turn 1")
    assert turn_pair(agent_view, 2, 20) == Pair(11, 20, "turn 2 so far")
    assert turn_pair(agent_view, 3, 20) is None


def test_marks_are_compared_with_the_next_and_the_last_with_the_present() -> None:
    agent_view = AgentView(marks=[Mark(1.0, 4, 3, "odd"), Mark(2.0, 8, 8, "")])
    assert mark_pair(agent_view, 1, 20) == Pair(3, 8, "mark 1 (odd) to mark 2")
    assert mark_pair(agent_view, 2, 20) == Pair(8, 20, "mark 2 to the present")
    assert mark_pair(agent_view, 3, 20) is None
    assert mark_pair(fold([]).agent_view, 0, 0) is None
