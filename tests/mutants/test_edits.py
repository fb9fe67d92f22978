"""Each edit takes out what it names, and refuses a missing or ambiguous name."""

from __future__ import annotations

import ast

import pytest
from tests.mutants.edits import (
    Edit,
    argument,
    assign,
    decide,
    drop,
    each,
    gives,
    instead_of,
    leave_out,
    never,
    no_rounds,
)


def edited(body: str, edit: Edit) -> str:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    (function,) = ast.parse(f"async def run(self):\n{lines}").body
    assert isinstance(function, ast.AsyncFunctionDef)
    edit(function)
    return "\n".join(ast.unparse(statement) for statement in function.body)


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (drop("emit"), "self.host.emit(1)", "None"),
        (drop("turns.end"), "await self.turns.end()\nself.tools.end()", "None\nself.tools.end()"),
        (drop("put", "turn begins"), "put('turn begins', 1)\nput('error', 1)", "None\nput('error', 1)"),
        (drop("put", "Ended"), "put(ev.Begun())\nput(ev.Ended())", "put(ev.Begun())\nNone"),
        (drop("put", number=2), "put(1)\nput(2)", "put(1)\nNone"),
        (gives("load", "False"), "kept = await self.load()", "kept = False"),
        (leave_out("state.turn"), "state.turn = 1\nother = 2", "pass\nother = 2"),
        (leave_out("count"), "self.count += 1", "pass"),
        (assign("handle", "''"), "handle = self.handle()", "handle = ''"),
        (argument("wait", "timeout", "None"), "wait(1, timeout=2)", "wait(1, timeout=None)"),
        (argument("wait", "timeout", None), "wait(1, timeout=2)", "wait(1)"),
        (argument("wait", 0, "{}"), "wait(1, 2)", "wait({}, 2)"),
        (decide("is_open", True), "if a and not self.is_open:\n    b()", "if a and (not True):\n    b()"),
        (decide("LIMIT", False), "return count > LIMIT", "return False"),
        (decide("phase", "not old"), "if self.phase != old:\n    b()", "if not old:\n    b()"),
        (never("Exit"), "match s:\n    case Exit():\n        b()", "match s:\n    case Exit() if False:\n        b()"),
        (no_rounds("steps"), "for step in self.steps:\n    b()", "for step in ():\n    b()"),
        (instead_of("a.close", "b.close"), "parts = [a.close, c]", "parts = [b.close, c]"),
        (each(drop("a"), drop("b")), "a()\nb()\nc()", "None\nNone\nc()"),
    ],
)  # fmt: skip
def test_an_edit_takes_out_what_it_names(edit: Edit, before: str, after: str) -> None:
    assert edited(before, edit) == after


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (drop("missing"), "there is no call of missing"),
        (drop("put"), "there is more than one call of put"),
        (drop("put", number=3), "only 2"),
        (leave_out("missing"), "there is no assignment to missing"),
        (decide("missing", True), "there is no condition on missing"),
        (never("Missing"), "there is no case Missing"),
        (no_rounds("missing"), "there is no loop over missing"),
        (argument("put", "missing", "1", number=1), "put has no argument missing"),
        (instead_of("missing", "1"), "there is no use of missing"),
    ],
)
def test_an_edit_refuses_what_it_does_not_find(edit: Edit, problem: str) -> None:
    with pytest.raises(LookupError, match=problem):
        edited("put(1)\nput(2)", edit)
