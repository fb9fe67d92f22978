"""Modules that filter events by type know every type that they handle."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from gemini_live_runtime.session import orchestrator
from gemini_live_runtime.session.agent import event_observer, session_keys


def _cases(module: ModuleType, function: str) -> set[str]:
    """Return the classes named in the patterns of a function's `match`."""
    tree = ast.parse(inspect.getsource(module))
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    patterns = [node for node in ast.walk(found) if isinstance(node, ast.MatchClass)]
    return {pattern.cls.attr for pattern in patterns if isinstance(pattern.cls, ast.Attribute)}


@pytest.mark.parametrize(
    ("module", "function"), [(orchestrator, "_observe"), (session_keys, "observe"), (event_observer, "_note")]
)
def test_no_case_is_out_of_reach(module: ModuleType, function: str) -> None:
    cases = _cases(module, function)
    assert cases
    assert cases == {cls.__name__ for cls in module._HEARD}
