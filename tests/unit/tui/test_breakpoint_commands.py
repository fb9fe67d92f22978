"""The key for breakpoints sends the right command for each thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import RemoveBreakpoint, SetBreakpoint
from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.packing import plain_key
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.session_data.breakpoints import (
    KINDS,
    Kind,
    breakpoint_on,
    breaks_on,
    completed,
    describe_change,
    names_for,
    shown_key,
    toggle_breakpoint,
)


def mind_with(kind: str, target: str, *, enabled: bool = True) -> AgentView:
    """Return the view after a breakpoint was set."""
    view = SessionView()
    told = {"id": "b1", "kind": kind, "target": target, "enabled": enabled, "hits": 0}
    apply(view, ev.Event(1, 0.0, 0, 0, ev.BreakpointsChanged(breakpoints=(told,))))
    return view.agent_view


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_set_where_there_is_none_and_taken_away_where_there_is_one(kind: Kind) -> None:
    assert toggle_breakpoint(AgentView(), kind, "a>b") == SetBreakpoint(kind=kind, target="a>b")
    assert toggle_breakpoint(mind_with(kind, "a>b"), kind, "a>b") == RemoveBreakpoint(id="b1")
    assert toggle_breakpoint(mind_with(kind, "other"), kind, "a>b") == SetBreakpoint(kind=kind, target="a>b")


def test_one_that_is_off_is_switched_on() -> None:
    agent_view = mind_with("tool", "lookup", enabled=False)
    assert toggle_breakpoint(agent_view, "tool", "lookup") == SetBreakpoint(kind="tool", target="lookup")
    assert breaks_on(agent_view, "tool") == frozenset()


@pytest.mark.parametrize("key", ["app:n", "app:größe", 'app:a "quoted" key', "app:back\\slash"])
def test_a_key_is_found_by_the_name_a_view_has_for_it(key: str) -> None:
    agent_view = mind_with("key", key)
    named = plain_key(key)
    assert breakpoint_on(agent_view, "key", named) is not None
    assert shown_key(named) in breaks_on(agent_view, "key")
    assert toggle_breakpoint(AgentView(), "key", named) == SetBreakpoint(kind="key", target=key)


def test_what_changed_is_said_and_hits_are_not() -> None:
    before = mind_with("tool", "lookup").breakpoints
    item = {"id": "b1", "kind": "tool", "target": "lookup", "enabled": True, "hits": 0}
    assert describe_change(before, [{**item, "hits": 1}]) == ""
    assert (
        describe_change(before, [item, {**item, "id": "b2", "target": "pay"}])
        == "The agent will be held at the tool pay."
    )
    assert describe_change(before, [{**item, "target": "pay"}]) == "The agent will be held at the tool pay."
    assert describe_change(before, [{**item, "enabled": False}]) == "The agent is no longer held at the tool lookup."
    assert describe_change(before, []) == "The agent is no longer held at the tool lookup."
    assert describe_change((*before, replace(before[0], id="b2")), []) == "2 breakpoints hold the agent no longer."


def test_names_are_those_of_the_agent_made_fit_to_show() -> None:
    view = SessionView()
    described = ev.AgentDescribed(
        agent="x",
        phases=({"name": "a", "ways": [{"to": "b\x1b[2J"}, {"to": "c"}]}, {"name": "c", "ways": []}),
        tools=({"name": "lookup"},),
        keys=({"key": "app:n"},),
    )
    apply(view, ev.Event(1, 0.0, 0, 0, described))
    assert names_for(view.agent_view, "phase") == ["a", "c"]
    assert names_for(view.agent_view, "transition") == ["a>b", "a>c"]
    assert names_for(view.agent_view, "tool") == ["lookup"]
    assert names_for(view.agent_view, "expression") == ["app:n"]
    assert completed(["app:n", "app:name"], "expression", "app:x > 1 and app:na") == "app:x > 1 and app:name"
    assert completed(["lookup"], "tool", "") == ""
