"""A key that is being entered shows in no crash and on no developer console."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from tests.support.canaries import KEY
from tests.support.pseudo_terminal import PseudoTerminal
from tests.support.set_up_doubles import before_a_session, use_doubles
from textual import events

CRASH = """
from gemini_live_tui.set_up import keys

def shape(text):
    held = {"the key": text}
    raise RuntimeError("a bug")

keys.shape = shape
from gemini_live_tui.cli import main
print("CODE", main([]))
"""


def test_a_crash_while_a_key_is_typed_shows_where_but_not_the_key() -> None:
    with PseudoTerminal(CRASH, size=(100, 30)) as terminal:
        terminal.read_until(b"Try the demo")
        terminal.type(b"\x1b[B\x1b[B\r")
        terminal.read_until(b"Keep it in")
        terminal.type(b"\x1b[200~" + KEY.encode() + b"\x1b[201~")
        terminal.read_until(b"CODE 1")
        assert b"RuntimeError: a bug" in terminal.seen
        assert KEY.encode() not in terminal.seen
        assert terminal.seen.rfind(b"\x1b[?1049l") > terminal.seen.rfind(b"\x1b[?1049h")


async def test_textuals_developer_console_gets_no_typed_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    class Devtools:
        is_connected = True
        verbose = True

        def log(self, entry: Any, *_: object) -> None:
            told.append(repr(entry))

        async def disconnect(self) -> None: ...

    module = types.ModuleType("textual_dev.client")
    vars(module)["DevtoolsLog"] = lambda objects, caller: objects
    monkeypatch.setitem(sys.modules, "textual_dev", types.ModuleType("textual_dev"))
    monkeypatch.setitem(sys.modules, "textual_dev.client", module)
    use_doubles(monkeypatch)
    async with before_a_session() as newcomer:
        newcomer.app.devtools = Devtools()  # type: ignore[assignment]
        await newcomer.press("f20")
        assert any("Key(" in entry for entry in told), "the double hears the rest"
        newcomer.app.action_open("key")
        await newcomer.settle()
        told.clear()
        newcomer.app.post_message(events.Paste(KEY))
        await newcomer.press(*KEY)
        assert told == []
        newcomer.app.devtools = None
