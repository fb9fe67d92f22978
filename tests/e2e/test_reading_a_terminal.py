"""A test's terminal finds texts whichever pieces they come in."""

from __future__ import annotations

import os

import pytest
from tests.support.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")


def test_texts_that_come_in_one_piece_are_found_one_after_the_other() -> None:
    with PseudoTerminal("print('one two three')") as terminal:
        assert [terminal.read_until(text) for text in (b"one", b"two", b"three")] == [b"one", b" two", b" three"]


def test_after_a_key_only_what_comes_then_counts() -> None:
    with PseudoTerminal("import sys; print('one two', flush=True); input(); print('two')") as terminal:
        terminal.read_until(b"two")
        terminal.type(b"\n")
        assert terminal.read_until(b"two").endswith(b"two")
        assert terminal.seen.count(b"two") == 2
