"""Handlers that branch on payload types are subscribed to all their cases."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from gemini_live_runtime.session.agent import event_listeners, session_keys
from gemini_live_runtime.session.agent.listeners import event_views


def _cases(module: ModuleType, function: str) -> set[str]:
    """Return the classes named in the patterns of a function's `match`."""
    tree = ast.parse(inspect.getsource(module))
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    patterns = [node for node in ast.walk(found) if isinstance(node, ast.MatchClass)]
    return {pattern.cls.attr for pattern in patterns if isinstance(pattern.cls, ast.Attribute)}


@pytest.mark.parametrize(
    ("module", "function", "kinds"),
    [
        (event_listeners, "on_event", event_listeners.EventListeners.KINDS),
        (session_keys, "observe", session_keys.OBSERVED),
    ],
)
def test_no_case_is_out_of_reach(module: ModuleType, function: str, kinds: tuple[type, ...]) -> None:
    cases = _cases(module, function)
    assert cases
    assert cases == {kind.__name__ for kind in kinds}


def test_no_view_of_an_event_is_out_of_reach() -> None:
    # Notices have no case of their own: they are what is left.
    cases = _cases(event_views, "on_event") | _cases(event_views, "_on_problem") | {"Notice"}
    assert cases == {kind.__name__ for kind in event_views.EventViews.KINDS}
