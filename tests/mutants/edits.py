"""Take a part out of a function's syntax tree, keyed by the names used in it.

An edit names no line and no text, so it survives moving, reformatting and rewording. It names a call by the end of its
dotted name (`settler.settle`) and, where that is not enough, by a name or the beginning of a string in its arguments,
or by its number among the calls of that name. Each edit raises LookupError when it finds nothing, or several places.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
Assignment = ast.Assign | ast.AugAssign | ast.AnnAssign
Edit = Callable[[Function], None]
N = TypeVar("N", bound=ast.AST)


@dataclass(frozen=True)
class Place:
    """A call in a function: the end of its dotted name, an argument, a number.

    `mentions` is a name or the beginning of a string in its arguments; `number` counts from 1, 0 means the only one.
    """

    callee: str
    mentions: str = ""
    number: int = 0

    def find(self, function: Function) -> ast.Call:
        """Return the call. Raises LookupError unless exactly one is meant."""
        calls = [
            node
            for node in _walk(function, ast.Call)
            if _is_named(node.func, self.callee) and (not self.mentions or _mentions(node, self.mentions))
        ]
        return _chosen(calls, self.number, f"call of {self.callee}({self.mentions})")


def drop(callee: str, mentions: str = "", number: int = 0) -> Edit:
    """Remove a call (awaited or not): its value is None."""
    return gives(callee, "None", mentions, number)


def gives(callee: str, value: str, mentions: str = "", number: int = 0) -> Edit:
    """Replace a call, with its `await` if it has one, by an expression."""
    place = Place(callee, mentions, number)

    def edit(function: Function) -> None:
        call = place.find(function)
        awaited = [node for node in _walk(function, ast.Await) if node.value is call]
        _replace(function, awaited[0] if awaited else call, _expression(value))

    return edit


def leave_out(name: str, number: int = 0) -> Edit:
    """Remove an assignment to a dotted name."""

    def edit(function: Function) -> None:
        _replace(function, _assignment(function, name, number), ast.Pass())

    return edit


def assign(name: str, value: str, number: int = 0) -> Edit:
    """Replace what is assigned to a dotted name by an expression."""

    def edit(function: Function) -> None:
        _assignment(function, name, number).value = _expression(value)

    return edit


def argument(callee: str, which: int | str, value: str | None, mentions: str = "", number: int = 0) -> Edit:
    """Replace an argument of a call, by position or keyword; None leaves it out."""
    place = Place(callee, mentions, number)

    def edit(function: Function) -> None:
        call = place.find(function)
        if isinstance(which, int):
            if which >= len(call.args):
                raise LookupError(f"{callee} has no argument {which}")
            call.args[which : which + 1] = [] if value is None else [_expression(value)]
            return
        keyword = next((item for item in call.keywords if item.arg == which), None)
        if keyword is None:
            raise LookupError(f"{callee} has no argument {which}")
        if value is None:
            call.keywords.remove(keyword)
        else:
            keyword.value = _expression(value)

    return edit


def decide(name: str, outcome: bool | str, number: int = 0) -> Edit:
    """Replace the smallest condition on a dotted name by True, False or an expression.

    A condition is the test of an `if`, `while` or conditional expression, an operand of `and` and `or` in it, or a
    function's returned value.
    """

    def edit(function: Function) -> None:
        found = [node for node in _conditions(function) if _mentions(node, name)]
        smallest = [node for node in found if not any(other is not node and other in ast.walk(node) for other in found)]
        _replace(function, _chosen(smallest, number, f"condition on {name}"), _expression(str(outcome)))

    return edit


def never(pattern: str) -> Edit:
    """Let a `case` of a class pattern never match."""

    def edit(function: Function) -> None:
        cases = [case for case in _walk(function, ast.match_case) if _matches(case.pattern, pattern)]
        _chosen(cases, 0, f"case {pattern}").guard = ast.Constant(False)

    return edit


def no_rounds(name: str) -> Edit:
    """Let a `for` loop over a dotted name see nothing."""

    def edit(function: Function) -> None:
        loops = [loop for loop in _walk(function, ast.For) if _mentions(loop.iter, name)]
        _chosen(loops, 0, f"loop over {name}").iter = ast.Tuple([], ast.Load())

    return edit


def instead_of(name: str, value: str, number: int = 0) -> Edit:
    """Replace a read of a dotted name by an expression."""

    def edit(function: Function) -> None:
        found = [
            node
            for node in _walk(function, ast.expr)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_named(node, name)
        ]
        _replace(function, _chosen(found, number, f"use of {name}"), _expression(value))

    return edit


def each(*edits: Edit) -> Edit:
    """Make several edits in order; numbers count what the edit before has left."""

    def edit(function: Function) -> None:
        for one in edits:
            one(function)

    return edit


def _conditions(function: Function) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield from _operands(node.test)
        elif isinstance(node, ast.match_case) and node.guard is not None:
            yield from _operands(node.guard)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.BoolOp | ast.Compare | ast.UnaryOp):
            yield from _operands(node.value)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _operands(test)


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    yield test
    inner = test.values if isinstance(test, ast.BoolOp) else [test.operand] if isinstance(test, ast.UnaryOp) else []
    for value in inner:
        yield from _operands(value)


def _assignment(function: Function, name: str, number: int) -> Assignment:
    found = [
        node
        for node in _walk(function, ast.stmt)
        if isinstance(node, Assignment) and any(_is_named(target, name) for target in _targets(node))
    ]
    return _chosen(found, number, f"assignment to {name}")


def _targets(node: Assignment) -> list[ast.expr]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]


def _matches(pattern: ast.pattern, name: str) -> bool:
    return isinstance(pattern, ast.MatchClass) and _is_named(pattern.cls, name)


def _mentions(node: ast.AST, name: str) -> bool:
    """Return True when a dotted name ends, or a string begins, with `name`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and _is_named(part, name):
            return True
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.startswith(name):
            return True
    return False


def _is_named(node: ast.expr, name: str) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    return f".{ast.unparse(node)}".endswith(f".{name}")


def _walk(function: ast.AST, kind: type[N]) -> list[N]:
    """Return the nodes of a kind in the order of the source."""
    found = [node for node in ast.walk(function) if isinstance(node, kind)]
    return sorted(found, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def _chosen(found: list[N], number: int, what: str) -> N:
    if not found:
        raise LookupError(f"there is no {what}")
    if number == 0 and len(found) > 1:
        raise LookupError(f"there is more than one {what}: give its number, 1 to {len(found)}")
    if number > len(found):
        raise LookupError(f"there is no {what} number {number}, only {len(found)}")
    return found[max(0, number - 1)]


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _replace(function: Function, old: ast.AST, new: ast.AST) -> None:
    class Swap(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else super().generic_visit(node)

    Swap().visit(function)
