"""Fold events of state, phases, watchers, tools and turns."""

from __future__ import annotations

from math import inf
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import MAX_KEYS, MAX_NUMBERS, MAX_REMOVED, MAX_TOOLS, AgentView
from gemini_live_runtime.journal.fold.packing import pack, plain_key, real_key, unpack
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.fold.view import SessionView


def agent_view(*payloads: ev.Payload | tuple[float, ev.Payload]) -> AgentView:
    events = []
    for seq, item in enumerate(payloads, 1):
        t, payload = item if isinstance(item, tuple) else (float(seq), item)
        events.append(ev.Event(seq, t, 1, 1, payload))
    return fold(events).agent_view


def view_of(*payloads: ev.Payload) -> SessionView:
    """Return the view of a session with these events."""
    return fold([ev.Event(seq, 0.0, 1, 0, payload) for seq, payload in enumerate(payloads, 1)])


def wrote(key: str, new: Any, old: Any = None, **values: Any) -> ev.StateChanged:
    return ev.StateChanged(**{"key": key, "old": old, "new": new, "mutation": 1, "origin": "tool", **values})


def entered(phase: str, **values: Any) -> ev.PhaseEntered:
    return ev.PhaseEntered(**{"phase": phase, "trigger": "guard", **values})


@given(st.text())
def test_every_key_comes_back_from_its_plain_spelling(key):
    assert real_key(plain_key(key)) == key
    assert plain_key(key).isascii()


def test_a_key_knows_its_value_its_writer_and_what_it_was():
    cell = agent_view(
        wrote("app:plan", None, by="offer", added=True), wrote("app:plan", "gold", reason="said so")
    ).keys["app:plan"]
    assert (cell.text, cell.kind, unpack(cell.was), cell.origin, cell.reason) == (
        '"gold"',
        "text",
        None,
        "tool",
        "said so",
    )
    assert (cell.changes, cell.seq) == (2, 2)


def test_a_removed_key_is_gone_and_a_new_one_of_its_name_begins_afresh():
    view = agent_view(wrote("a", 1, added=True), wrote("a", None, 1, removed=True), wrote("a", 2, added=True))
    assert (view.keys["a"].changes, view.keys["a"].was) == (1, "")


def test_who_removed_a_key_is_known_until_it_is_there_again():
    gone = wrote("a", None, 1, removed=True, origin="operator", by="", reason="not \x1b[1mtrue")
    removal = agent_view(wrote("a", 1, added=True), gone).removed["a"]
    assert (removal.origin, removal.by, removal.reason, removal.seq) == ("operator", "", "not true", 2)
    back = agent_view(wrote("a", 1, added=True), gone, wrote("a", 2, added=True))
    assert (list(back.keys), back.removed) == (["a"], {})


def test_of_removed_keys_the_last_are_remembered():
    gone = [wrote(f"k{number}", None, 1, removed=True) for number in range(MAX_REMOVED + 5)]
    found = agent_view(*gone, wrote("k9", None, 1, removed=True)).removed
    assert len(found) == MAX_REMOVED
    assert "k4" not in found
    assert list(found)[-1] == "k9"


def test_numbers_keep_a_bounded_history_and_true_is_none():
    cell = agent_view(*(wrote("n", number) for number in range(40)), wrote("n", True)).keys["n"]
    assert cell.kind == "bool"
    assert cell.numbers == tuple(float(number) for number in range(40 - MAX_NUMBERS, 40))


def test_a_whole_number_that_no_float_holds_is_kept_and_drawn_as_beyond_all():
    cell = agent_view(wrote("n", 3), wrote("n", 10**400), wrote("n", -(10**400))).keys["n"]
    assert cell.numbers == (3, inf, -inf)
    assert unpack(cell.value) == -(10**400)


def test_the_path_tells_how_long_each_phase_lasted():
    view = agent_view((1.0, entered("greet")), (5.5, entered("verify")), (6.0, entered("greet")))
    assert [(stay.phase, stay.seconds) for stay in view.path] == [("greet", 4.5), ("verify", 0.5), ("greet", None)]
    assert view.visits == {"greet": 2, "verify": 1}


def test_a_new_phase_forgets_the_ways_of_the_old_one():
    ways = ({"to": "close", "outcome": "ready", "because": "", "guard": {"text": "x", "value": True}},)
    read = ev.GuardsRead(phase="offer", ways=ways, needs=({"key": "app:plan", "label": "plan", "met": True, "by": ""},))
    assert agent_view(entered("offer"), read).ways[0].to == "close"
    after = agent_view(entered("offer"), read, entered("close", terminal=True))
    assert (after.ways, after.needs, after.terminal) == ((), (), True)


def test_a_watcher_remembers_its_firing_and_how_near_it_came_since():
    miss: dict[str, Any] = {"watcher": "angry", "key": "app:anger", "old": 0, "new": 0.3, "missing": "0.4 below 0.7"}
    fired = ev.WatcherFired(watcher="angry", key="app:anger", old=0.3, new=0.8, explanation={})
    view = agent_view(ev.WatchersMissed(misses=({**miss, "share": 0.43},)), fired, ev.WatchersMissed(misses=(miss,)))
    card = view.watchers["angry"]
    assert (card.fired, card.last, card.last_seq) == (1, "app:anger 0.3 → 0.8", 2)
    assert (card.miss, card.share, card.shares) == ("0.4 below 0.7", None, (0.43,))
    assert [tick.lane for tick in view.ticks] == ["watch"]


def test_describing_the_agent_again_keeps_what_its_watchers_have_done():
    fired = ev.WatcherFired(watcher="angry", key="k", old=0, new=1, explanation={})
    before = ev.AgentDescribed(agent="a", watchers=({"name": "angry", "when": "k is true"}, {"name": "gone"}))
    after = ev.AgentDescribed(agent="a", watchers=({"name": "angry", "when": "k == 2"},))
    cards = agent_view(before, fired, after).watchers
    assert list(cards) == ["angry"]
    assert (cards["angry"].fired, cards["angry"].when) == (1, "k == 2")


def test_a_call_runs_until_it_is_answered():
    called = ev.ToolCalled(call_id="c\x1b1", name="verify", args={"dob": "1988"})
    done = ev.ToolFinished(call_id="c\x1b1", name="verify", status="ok", result={"ok": True}, ms=141.0, delivered=True)
    (running,) = agent_view(called).tools.values()
    (finished,) = agent_view(called, done).tools.values()
    assert (running.status, running.end) == ("running", None)
    assert (finished.status, finished.ms, unpack(finished.result)) == ("ok", 141.0, {"ok": True})


def test_an_answer_that_waited_for_a_connection_was_given_to_the_model():
    called = ev.ToolCalled(call_id="c\x1b1", name="verify", args={})
    done = ev.ToolFinished(call_id="c\x1b1", name="verify", status="ok", result={}, ms=1.0, delivered=False)
    sent = ev.SendSettled(kind="answer", outcome="sent", ref="c\x1b1")
    given = [
        next(iter(agent_view(*events).tools.values())).delivered for events in ((called, done), (called, done, sent))
    ]
    assert given == [False, True]


def test_an_interrupted_answer_ends_its_span_as_cut():
    cut = ev.TurnInterrupted(
        by="server", cut_below=1, heard_samples=0, unheard_samples=0, heard_text="", unheard_text=""
    )
    (span,) = agent_view((1.0, ev.PlaybackStarted()), (2.0, cut), (3.0, ev.PlaybackDrained(of=1))).spans
    assert (span.t, span.end, span.cut) == (1.0, 2.0, True)


def test_a_held_agent_counts_what_waits_until_it_goes_on():
    held = ev.AgentHeld(by="b1", at="watcher angry", explanation={"text": "x", "value": True})
    standing = agent_view(held, ev.AgentHolding(answers=1, steps=3))
    assert standing.held is not None
    assert (standing.held.answers, standing.held.steps) == (1, 3)
    assert agent_view(held, ev.AgentReleased(how="continue", seconds=1.0)).held is None


def test_a_value_that_is_too_long_leaves_a_note_and_stays_small():
    assert len(pack("x" * 1_000_000)) < 100


def test_of_keys_without_end_so_many_are_kept_and_the_rest_is_counted():
    view = agent_view(*(wrote(f"app:k{number}", number) for number in range(MAX_KEYS + 7)))
    assert (len(view.keys), view.keys_beyond) == (MAX_KEYS, 7)


def test_of_calls_without_end_the_newest_are_kept():
    view = agent_view(*(ev.ToolCalled(call_id=f"c{number}", name="pay", args={}) for number in range(MAX_TOOLS + 7)))
    assert list(view.tools) == [f"c{number}" for number in range(7, MAX_TOOLS + 7)]


def test_a_mark_stands_at_the_time_that_it_is_meant_for_and_without_one_where_it_was_set():
    found = agent_view((3.0, ev.MarkSet(text="then", of=1, t=1.5)), (5.0, ev.MarkSet(text="as before", of=1)))
    assert [(mark.t, mark.seq, mark.of) for mark in found.marks] == [(1.5, 1, 1), (5.0, 2, 1)]


def test_a_recording_cannot_place_a_mark_outside_of_what_had_been():
    found = agent_view((3.0, ev.MarkSet(t=-4.0, of=1)), (5.0, ev.MarkSet(t=1e300, of=1)))
    assert [mark.t for mark in found.marks] == [0.0, 5.0]


def test_the_transcript_tells_which_moment_of_the_past_was_marked():
    marks = [ev.MarkSet(text="odd", of=1, t=65.4), ev.MarkSet(text="here", of=1, t=99.5), ev.MarkSet(of=1)]
    view = fold([ev.Event(number, 100.0, 1, 0, mark) for number, mark in enumerate(marks, 1)])
    assert [block.text for block in view.blocks] == ["odd (at 01:05)", "here", "marked"]


def test_watchers_whose_keys_are_no_list_have_none():
    described = tuple({"name": f"{keys}", "keys": keys} for keys in (5, None, "app:x", {"app:x": 1}))
    cards = agent_view(ev.AgentDescribed(agent="a", watchers=described)).watchers
    assert [card.keys for card in cards.values()] == [(), (), (), ()]


def requested(agent: str, problem: str = "") -> ev.HandoffRequested:
    return ev.HandoffRequested(agent=agent, by="tool", problem=problem)


def queued(ident: str) -> ev.SpeechChanged:
    return ev.SpeechChanged(id=ident, status="queued", source="reply")


def test_a_refused_hand_off_leaves_the_one_that_waits():
    assert view_of(requested("boss"), requested("other", "it cannot be used")).next_agent == "boss"
    assert view_of(requested("boss"), requested("boss", "it was given up")).next_agent == ""


def test_nothing_waits_in_a_session_that_has_ended_or_goes_on_with_another_engine():
    goes_on = ev.SessionResumed(kept=2, after="crash", wall=0.0, record="text", program="")
    for last in (ev.SessionEnded(reason="bye"), goes_on):
        view = view_of(requested("boss"), queued("speech-1"), ev.UserStateChanged(old="listening", new="away"), last)
        assert (view.next_agent, view.next_speeches) == ("", [])
    assert not view.user_away
