"""Read numbers in what was written down from speech."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.transcript import (
    are_same_numbers,
    denials_in,
    in_todays_spelling,
    may_be_confused,
    may_have_lost_a_not,
    numbers_said,
    sound_numbers_alike,
    with_numbers,
)


def test_no_more_is_followed_by_no_comma() -> None:
    assert in_todays_spelling("No more, pasta.") == "No more pasta."
    assert in_todays_spelling("No more, thanks.") == "No more, thanks."


@pytest.mark.parametrize(
    ("text", "denials"),
    [
        ("Don't do it.", {"not"}),
        ("That is, and right.", {"not"}),
        ("No, never.", {"no", "never"}),
        ("I am and was", set()),
    ],
)
def test_denials_are_found_as_they_sound(text: str, denials: set[str]) -> None:
    assert denials_in(text) == denials


def test_to_night_is_written_as_today() -> None:
    assert in_todays_spelling("A table for to-night, not To-morrow") == "A table for tonight, not Tomorrow"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("A table for to at eight.", "A table for two at eight."),
        ("Set a timer for for minutes.", "Set a timer for four minutes."),
        ("Could you make the pasta too as well?", "Could you make the pasta two as well?"),
        ("About to hundred euros.", "About two hundred euros."),
        ("To salads and to soups, please.", "Two salads and two soups, please."),
    ],
)
def test_a_small_word_without_meaning_is_a_number(text: str, other: str) -> None:
    assert with_numbers(text) == other


@pytest.mark.parametrize(
    "text", ["To Paris, please.", "For hours.", "It went on for too long.", "A taxi to the museum.", "for to be honest"]
)
def test_a_small_word_with_a_meaning_stays(text: str) -> None:
    assert with_numbers(text) == text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("8:30", [8, 30]),
        ("At 8:00.", [8]),
        ("555-0182", [555, 0, 1, 8, 2]),
        ("Two hundred and fifteen euros.", [215]),
        ("two and a half minutes", [2, 0.5]),
    ],
)
def test_numbers_are_read_in_any_spelling(text: str, numbers: list[int]) -> None:
    assert numbers_said(text) == numbers


def test_digits_are_said_one_by_one() -> None:
    assert are_same_numbers("The code is 4428.", "the code is four four two eight")
    assert not are_same_numbers("The code is for forty-eight.", "the code is for four to eight")


def test_fifteen_and_fifty_are_confused_unless_both_were_said() -> None:
    assert may_be_confused("fifty minutes", "fifteen minutes")
    assert not may_be_confused("fifty, not fifteen", "fifty not fifteen")
    assert not may_be_confused("fifty minutes", "five minutes")


@pytest.mark.parametrize(
    ("text", "decoding"),
    [
        ("I'd like to order two soups.", "i'd like to order to soups"),
        ("Not for four, for two.", "not for for for two"),
        ("A table for 2 at 8.", "a table for to at eight"),
    ],
)
def test_small_words_sound_like_numbers(text: str, decoding: str) -> None:
    assert sound_numbers_alike(text, decoding)


@pytest.mark.parametrize(
    ("text", "decoding"),
    [("I'd like two soups.", "i'd like soups"), ("I'd like soups.", "i'd like two soups"), ("For two.", "for ten")],
)
def test_other_words_do_not_sound_like_numbers(text: str, decoding: str) -> None:
    assert not sound_numbers_alike(text, decoding)


def test_a_short_is_without_a_second_opinion_may_have_been_isn_t() -> None:
    others = ["the addition to working again", "It is twerking again."]
    assert may_have_lost_a_not("it is working again", others)
    assert not may_have_lost_a_not("it is working again", ["it's working a gain"])
    assert not may_have_lost_a_not("This is Siobhan.", ["this is chevron"])
    assert not may_have_lost_a_not("my name is ada", ["My name is Ailey.", "my name is in"])
    assert not may_have_lost_a_not("Is it over there?", ["this is over"])
    assert not may_have_lost_a_not("my mother says that the internet is slow", ["the other"])


@pytest.mark.parametrize(
    ("year", "said", "are_same"),
    [
        ("I was born in 1990.", "i was born in nineteen ninety", True),
        ("It was 2005.", "it was two thousand and five", True),
        ("It was 2010.", "it was twenty ten", True),
        ("I was born in 1990.", "i was born in nineteen nineteen", False),
        ("I was born in 1990.", "i was born in nineteen eighty", False),
    ],
)
def test_a_year_is_said_in_two_halves_or_by_its_thousands(year: str, said: str, are_same: bool) -> None:
    assert are_same_numbers(year, said) == are_same
    assert sound_numbers_alike(year, said) == are_same
