"""The console reads the keys after any bytes of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from gemini_live_tui.terminal_driver import KeyReader

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
