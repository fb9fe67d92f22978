"""Test the map between an answer's text and its sound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.speech_map import Place, begun_at, begun_words, chars_at, sample_of, stretched, whole_words


@st.composite
def maps(draw: st.DrawFn) -> tuple[list[Place], int]:
    """Return places in order and the length of their text."""
    places: list[Place] = []
    char = first = 0
    for size, gap, count in draw(
        st.lists(st.tuples(st.integers(1, 40), st.integers(0, 30_000), st.integers(1, 60_000)), min_size=1, max_size=8)
    ):
        places.append((char, first, count))
        char, first = char + size, first + gap
    return places, char


@given(maps(), st.integers(0, 400_000), st.integers(0, 50_000))
def test_more_sound_never_means_fewer_words(made: tuple[list[Place], int], samples: int, more: int) -> None:
    places, length = made
    assert 0 <= chars_at(places, length, samples) <= chars_at(places, length, samples + more) <= length


@given(maps(), st.data())
def test_a_character_begins_at_its_sample_not_before(made: tuple[list[Place], int], data: st.DataObject) -> None:
    places, length = made
    char = data.draw(st.integers(0, length - 1))
    at = sample_of(places, length, char)
    assert begun_at(places, length, at) > char
    assert at == 0 or begun_at(places, length, at - 1) <= char
    assert chars_at(places, length, at) <= begun_at(places, length, at)


def test_a_pause_does_not_slow_the_words_before_it() -> None:
    places = [(0, 0, 24_000), (10, 240_000, 24_000)]
    assert chars_at(places, 20, 48_000) == 10
    assert chars_at(places, 20, 239_999) == 10
    assert chars_at(places, 20, 252_000) == 15
    assert begun_at(places, 20, 239_999) == 10
    assert begun_at(places, 20, 240_000) == 11


@pytest.mark.parametrize(
    ("chars", "complete", "begun"),
    [(0, "", ""), (1, "", "Once "), (4, "Once", "Once "), (5, "Once", "Once "), (9, "Once upon", "Once upon")],
)
def test_a_cut_keeps_whole_words_and_a_word_lights_up_when_it_begins(chars: int, complete: str, begun: str) -> None:
    text = "Once upon"
    assert text[: whole_words(text, chars)] == complete
    assert text[: begun_words(text, chars)] == begun


def test_scripts_without_spaces_are_cut_at_any_character() -> None:
    assert whole_words("今日は晴れです", 3) == begun_words("今日は晴れです", 3) == 3


def test_deltas_placed_by_their_length_are_stretched_to_the_sound_and_others_stay() -> None:
    placed = [(0, 0, 1000), (5, 3000, 1000), (10, 4000, 1000)]
    assert stretched(placed, 7000) == ((0, 0, 1000), (5, 3000, 2000), (10, 5000, 2000))
    assert stretched(placed, 4000) == ((0, 0, 1000), (5, 3000, 500), (10, 3500, 500))


def test_a_generation_whose_sound_or_text_is_missing_is_not_stretched() -> None:
    placed = [(0, 0, 1000)]
    assert stretched(placed, 10) == stretched(placed, 100_000) == ((0, 0, 1000),)
    assert stretched([], 1000) == ()
