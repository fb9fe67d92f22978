"""Start every test from the same terminal settings."""

from __future__ import annotations

import sys

import pytest
from tests.support.set_up_doubles import Helpers, use_doubles

pytest.register_assert_rewrite("tests.pilot.actions")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colour switches, no multiplexer."""
    for name in ("NO_COLOR", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    # What a test copies is not to land in the clipboard of whoever runs it.
    monkeypatch.setenv("SSH_TTY", "/dev/null")


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> Helpers:
    """Doubles of sound devices and their helper processes; no keyring is there."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    return use_doubles(monkeypatch)
