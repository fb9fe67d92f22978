"""Edits of the state by the operator: applied, refused, taken back and made again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    Change,
    ComputedVar,
    State,
    StateKey,
    Watcher,
    key,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.state.edits import MAX_EDITS, MAX_STEPS


async def test_an_edit_writes_adds_and_removes_together_and_says_who_did_it() -> None:
    async with talk(agent().state(values={"app:a": 1, "user:b": "x"})) as t:
        edits = ({"key": "app:a", "value": [1]}, {"key": "user:b", "remove": True}, {"key": "app:c", "value": None})
        assert await t.edits(*edits, reason="because") == ""
        assert t.state.snapshot(["app:a", "user:b", "app:c"]) == {"app:a": [1], "app:c": None}
        (applied,) = t.all(ev.EditsApplied)
        assert (applied.command_id, applied.how, applied.undo, applied.redo) == ("o1", "edit", 1, 0)
        assert [(v["key"], v["old"], v["new"], v["added"], v["removed"]) for v in applied.values] == [
            ("app:a", 1, [1], False, False),
            ("user:b", "x", None, False, True),
            ("app:c", None, None, True, False),
        ]
        changes = [change for change in t.all(ev.StateChanged) if change.origin == "operator"]
        assert [(change.key, change.reason) for change in changes] == [
            ("app:a", "because"),
            ("user:b", "because"),
            ("app:c", "because"),
        ]
        assert t.events.index("edit.applied") > t.events.index("state.changed")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"key": "app:age", "value": "old"}, "app:age cannot be 'old'"),
        (
            {"key": "derived:double", "value": 3},
            "is computed and cannot be written. It follows from app:age",
        ),
        ({"key": "nowhere:x", "value": 3}, "no known scope"),
        ({"key": "", "value": 3}, "A state key is a text that is not empty"),
        ({"value": 3}, "A state key is a text that is not empty"),
        ({"key": "app:none", "remove": True}, "There is no app:none to remove"),
        ({"key": "app:b"}, "neither a value nor remove"),
        ({"key": "app:b", "value": 1, "remove": True}, "both a value and remove"),
        ({"key": "app:b", "value": 1, "remove": "yes"}, 'remove is true or false, not "yes"'),
        ({"key": "app:b", "value": 1, "valu": 2}, "Unknown field 'valu' in an edit"),
        ({"key": "app:b", "value": 1, "expect": 7}, "app:b is 2 now (by initial test), not 7 as expected"),
        ({"key": "app:b", "value": 1, "expect": True}, "app:b is 2 now (by initial test), not true as expected"),
        ({"key": "app:b", "value": 1, "expect_absent": True}, "app:b is 2 now (by initial test), not absent"),
        ({"key": "app:new", "value": 1, "expect": 1}, "app:new is absent now, not 1 as expected"),
        ({"key": "app:b", "value": 1, "expect": 2, "expect_absent": True}, "expects a value and none"),
        ({"key": "session:silence_ms", "value": 1}, "measured live and cannot be written"),
        (
            {"key": "session:phase", "value": "x"},
            "only reports where the session is. Go to a phase instead",
        ),
    ],
)
async def test_an_edit_that_cannot_be_made_is_refused_in_a_sentence_and_changes_nothing(
    edit: dict[str, Any], said: str
) -> None:
    of = (
        agent()
        .state(StateKey("app:age", int), values={"app:age": 7, "app:b": 2})
        .computed(ComputedVar("double", lambda s: 2 * s["app:age"], "app:age"))
    )

    async with talk(of) as t:
        before = t.state.snapshot()
        for tried in (edit, edit):
            assert said in await t.edits({"key": "app:first", "value": 1}, tried)
        assert t.state.snapshot() == before
        assert t.all(ev.EditsApplied) == []
        assert said in (await t.previews({"key": "app:first", "value": 1}, edit)).problem


async def test_an_edit_of_nothing_of_too_much_or_of_one_key_twice_is_refused() -> None:
    async with talk(agent()) as t:
        assert "The edit is empty" in await t.edits()
        many = ({"key": f"app:k{number}", "value": 0} for number in range(MAX_EDITS + 1))
        assert f"at most {MAX_EDITS} keys" in await t.edits(*many)
        assert "has 501 characters, an edit takes at most 500" in await t.sets(f"app:{'k' * 497}", 1)
        assert "app:a is edited twice" in await t.edits({"key": "app:a", "value": 1}, {"key": "app:a", "value": 2})


async def test_what_was_seen_still_holds_so_the_edit_is_made() -> None:
    async with talk(agent().state(values={"app:a": 1})) as t:
        assert await t.sets("app:a", 2, expect=1) == ""
        assert await t.sets("app:b", 1, expect_absent=True) == ""
        assert await t.edits({"key": "app:a", "remove": True, "expect": 2}) == ""
        assert "app:a" not in t.state
        assert t.state["app:b"] == 1


async def test_declared_types_make_what_they_can_of_a_value() -> None:
    async with talk(agent().state(StateKey("app:age", int))) as t:
        assert await t.sets("app:age", "12") == ""
        assert t.state["app:age"] == 12
        assert t.all(ev.EditsApplied)[-1].values[0]["new"] == 12


async def test_an_edit_lets_state_settle_and_the_conversation_move() -> None:
    seen: list[Any] = []

    def note(state: State, change: Change) -> None:
        seen.append((change.old, change.new))

    of = (
        agent()
        .phase(*two_phases(key("derived:double") > 9))
        .computed(ComputedVar("double", lambda s: 2 * s.get("app:n", 0), "app:n"))
        .watch(Watcher(key("derived:double").crossed_above(5), note))
    )

    async with talk(of) as t:
        await t.sets("app:n", 5)
        assert t.state["derived:double"] == 10
        assert seen == [(0, 10)]
        assert t.phases == ["first", "second"]


async def test_edits_are_taken_back_and_made_again_one_by_one() -> None:
    async with talk(agent().state(values={"app:a": 1, "app:b": 1})) as t:
        await t.edits({"key": "app:a", "value": 2}, {"key": "app:b", "remove": True})
        await t.sets("app:new", "x")
        assert await t.commands(cmd.UndoEdit()) == ""
        assert "app:new" not in t.state
        assert await t.commands(cmd.UndoEdit()) == ""
        assert t.state.snapshot(["app:a", "app:b"]) == {"app:a": 1, "app:b": 1}
        assert await t.commands(cmd.UndoEdit()) == "There is no edit to undo."
        assert await t.commands(cmd.RedoEdit()) == ""
        assert await t.commands(cmd.RedoEdit()) == ""
        assert t.state.snapshot(["app:a", "app:b", "app:new"]) == {"app:a": 2, "app:new": "x"}
        assert await t.commands(cmd.RedoEdit()) == "There is no edit to redo."
        assert [(item.how, item.undo, item.redo) for item in t.all(ev.EditsApplied)] == [
            ("edit", 1, 0),
            ("edit", 2, 0),
            ("undo", 1, 1),
            ("undo", 0, 2),
            ("redo", 1, 1),
            ("redo", 2, 0),
        ]


async def test_what_was_changed_since_is_not_taken_back_unless_forced() -> None:
    async with talk(agent().state(values={"app:a": 1})) as t:
        await t.sets("app:a", 2)
        t.state.set("app:a", 3)
        refused = await t.commands(cmd.UndoEdit())
        assert refused == ("app:a is 3 now (by program), not 2 as expected. Force it to overwrite later changes.")
        assert t.state["app:a"] == 3
        assert await t.commands(cmd.UndoEdit(force=True)) == ""
        assert t.state["app:a"] == 1
        t.state.set("app:a", 9)
        assert "Force it" in await t.commands(cmd.RedoEdit())
        assert await t.commands(cmd.RedoEdit(force=True)) == ""
        assert t.state["app:a"] == 2


async def test_taking_back_an_added_key_that_is_gone_already_is_no_fault_when_forced() -> None:
    async with talk(agent()) as t:
        await t.edits({"key": "app:a", "value": 1}, {"key": "app:b", "value": 1})
        t.state.remove("app:a")
        assert "app:a is absent now" in await t.commands(cmd.UndoEdit())
        assert await t.commands(cmd.UndoEdit(force=True)) == ""
        assert "app:b" not in t.state


async def test_a_new_edit_forgets_what_was_taken_back_and_an_equal_one_is_no_edit() -> None:
    async with talk(agent()) as t:
        await t.sets("app:a", 1)
        await t.commands(cmd.UndoEdit())
        await t.sets("app:b", 1)
        assert await t.commands(cmd.RedoEdit()) == "There is no edit to redo."
        await t.sets("app:b", 1)
        assert (t.all(ev.EditsApplied)[-1].values, t.all(ev.EditsApplied)[-1].undo) == ((), 1)


async def test_only_so_many_edits_are_remembered() -> None:
    async with talk(agent()) as t:
        for number in range(MAX_STEPS + 5):
            await t.sets("app:a", number)
        assert t.all(ev.EditsApplied)[-1].undo == MAX_STEPS
