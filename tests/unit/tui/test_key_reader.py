"""The console reads the keys after any bytes of a terminal."""

from __future__ import annotations

import os
import selectors
import threading
from queue import SimpleQueue

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.patience import PATIENCE_S
from textual import events
from textual.app import App
from textual.message import Message

from gemini_live_tui.terminal_driver import TICK_S, KeyReader, TerminalDriver

PIECES = [
    b"\x1b",
    b"[",
    b"<",
    b";",
    b":",
    b"?",
    b"27",
    b"1114112",
    b"99999999999",
    b"u",
    b"~",
    b"M",
    b"R",
    b"\xff",
    b"\xc3",
    b"a",
]


def keys(reader: KeyReader, data: bytes) -> list[str]:
    return [message.key for message in reader.feed(data) if isinstance(message, events.Key)]


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    read = [message.character for message in KeyReader().feed(b"a\xffb") if isinstance(message, events.Key)]
    assert read == ["a", "\ufffd", "b"]


def test_a_character_that_comes_in_two_reads_is_one_key() -> None:
    reader = KeyReader()
    assert keys(reader, "é".encode()[:1]) == []
    (message,) = reader.feed("é".encode()[1:])
    assert isinstance(message, events.Key)
    assert message.character == "é"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x1b[1114112u",
        b"\x1b[99999999999u",
        b"\x1b[27;5;99999999999~",
        b"\x1b[57358;1:3u",
        b"\x1b[97:98:99;5:2u",
        b"\x1b[M\xff\xff\xff",
    ],
)
def test_the_code_of_a_key_that_does_not_exist_is_passed_over(garbage: bytes) -> None:
    assert keys(KeyReader(), garbage + b"x")[-1] == "x"


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_no_bytes_end_the_reader(pieces: list[bytes]) -> None:
    reader = KeyReader()
    for piece in pieces:
        list(reader.feed(piece))
    list(reader.feed(b"".join(pieces)))
    reader.close()


async def test_the_reader_sleeps_but_for_an_escape_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    select = selectors.SelectSelector.select

    def noted(self: selectors.SelectSelector, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        waits.append(timeout)
        return select(self, timeout)

    monkeypatch.setattr(selectors.SelectSelector, "select", noted)
    seen: SimpleQueue[Message] = SimpleQueue()
    terminal, keyboard = os.pipe()
    app: App[None] = App()
    app.expect_key = lambda: None  # type: ignore[attr-defined]
    driver = TerminalDriver(app)
    driver.fileno = terminal
    monkeypatch.setattr(driver, "process_message", seen.put)
    reader = threading.Thread(target=driver.run_input_thread, daemon=True)
    reader.start()
    os.write(keyboard, b"a")
    assert seen.get(timeout=PATIENCE_S).key == "a"  # type: ignore[attr-defined]
    assert set(waits) == {None}
    os.write(keyboard, b"\x1b")
    assert seen.get(timeout=PATIENCE_S).key == "escape"  # type: ignore[attr-defined]
    assert TICK_S in waits
    waits.clear()
    driver.exit_event.set()
    reader.join(PATIENCE_S)
    assert not reader.is_alive()
    assert TICK_S not in waits
    driver.exit_event.clear()
    assert not driver.exit_event.is_set()
    os.close(terminal)
    os.close(keyboard)
