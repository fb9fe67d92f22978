"""Tell calls of the server's present session from those of an earlier one."""

from __future__ import annotations

import pytest

from gemini_live_runtime.session.core.tool_calls import CallLedger


@pytest.mark.parametrize(("name", "mark"), [("look_up", 9), ("pay", 1)])
def test_a_call_is_the_present_sessions_when_it_asks_for_the_same_tool_again(name: str, mark: int) -> None:
    calls = CallLedger()
    calls.begin("call-1", "look_up", 1)
    assert calls.begin("call-1", name, 9) is None
    assert calls.mark_of("call-1") == mark
