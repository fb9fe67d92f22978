import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.local.language.letter_sounds import guess_phones
from gemini_live_runtime.local.scripts.script_reader import ARPABET


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("note", "N OW T"),
        ("dice", "D AY S"),
        ("frobnicate", "F R AA B N IH K EY T"),
        ("station", "S T EY SH AH N"),
        ("html", "EY CH T IY EH M EH L"),
        ("x2", "EH K S T UW"),
        ("yes", "Y EH S"),
        ("gizmo", "JH IH Z M OW"),
    ],
)
def test_a_word_is_spoken_about_as_people_would(word: str, phones: str) -> None:
    assert guess_phones(word) == phones


@given(st.text(max_size=30))
def test_any_word_gets_phones_of_the_model(word: str) -> None:
    phones = guess_phones(word).split()
    assert phones
    assert set(phones) <= ARPABET
