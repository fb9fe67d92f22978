"""Test how names are read that are spelled after they are said."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.spelled_names import as_spelled


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Gareth Pugh, that's P U G H", "Gareth Pugh"),
        ("Gareth Pew, that\u2019s P-U-G-H, about the car", "Gareth Pugh, about the car"),
        ("my name is Siobhan, S I O B H A N", "my name is Siobhan"),
        ("it's Ann Lee, L double E", "it's Ann Lee"),
        ("Otto spelt O-T-T-O", "Otto"),
    ],
)
def test_a_spelled_name_is_written_as_its_letters_say(said: str, meant: str) -> None:
    assert as_spelled(said) == meant


@pytest.mark.parametrize("said", ["I have a plan B", "It's Anna. I am a dentist", "call Dr A B C", "Plan A, I said"])
def test_letters_that_spell_no_name_before_them_stay(said: str) -> None:
    assert as_spelled(said) == said
