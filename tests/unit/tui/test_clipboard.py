"""The system's clipboard is used on the user's own machine only."""

from __future__ import annotations

import pyperclip  # type: ignore[import-untyped]
import pytest

from gemini_live_tui.clipboard import is_elsewhere, system_copy


def test_over_ssh_only_the_terminal_reaches_the_persons_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 50000 10.0.0.2 22")
    monkeypatch.setattr(pyperclip, "copy", lambda text: pytest.fail("copied on the wrong machine"))
    assert is_elsewhere()
    assert not system_copy("text")


def test_a_machine_without_a_clipboard_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise pyperclip.PyperclipException("no clipboard")

    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setattr(pyperclip, "copy", refuse)
    assert not system_copy("text")


def test_the_systems_clipboard_gets_the_text_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[str] = []
    for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pyperclip, "copy", got.append)
    assert system_copy("naïve ☕\n")
    assert got == ["naïve ☕\n"]
