import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.local.language.words import (
    edit_distance,
    folded,
    name_words,
    parse_digits,
    parse_duration,
    parse_number,
    parse_time,
    parse_year,
    split_original,
    split_words,
    spoken_number,
    spoken_times,
    typos,
)


def test_words_lose_case_punctuation_and_accents() -> None:
    assert split_words("Hello, WORLD! In Bogotá at 7:30pm don’t") == [
        "hello", "world", "in", "bogota", "at", "7:30pm", "don't",
    ]  # fmt: skip


@given(st.text())
def test_the_written_words_pair_up_with_the_compared_ones(text: str) -> None:
    assert all(split_words(word) for word in split_original(text))


@given(st.integers(0, 999))
def test_a_number_in_words_is_read_back(value: int) -> None:
    words = spoken_number(value).split()
    assert parse_number(words, 0) == (value, len(words))


@given(st.integers(0, 999_999))
def test_a_number_in_digits_is_read(value: int) -> None:
    assert parse_number([str(value)], 0) == (value, 1)


@pytest.mark.parametrize(
    ("said", "number"), [("a four and a two", 42), ("four two", 42), ("four then two", 42), ("oh seven", 7)]
)
def test_digits_may_have_small_words_between_them(said: str, number: int) -> None:
    words = said.split()
    assert parse_digits(words, 0) == (number, len(words))


@pytest.mark.parametrize("said", ["a four", "and four two", "four a month and"])
def test_a_single_digit_is_no_number_of_digits(said: str) -> None:
    assert parse_digits(said.split(), 0) is None


@pytest.mark.parametrize(
    ("said", "number"), [("hundred and fifty", 150), ("two hundred and six", 206), ("hundred", 100)]
)
def test_what_follows_hundreds_belongs_to_them(said: str, number: int) -> None:
    words = said.split()
    assert parse_number(words, 0) == (number, len(words))


@pytest.mark.parametrize("words", [[], ["table"], ["seventh"], ["-4"], ["²"]])
def test_what_is_no_number_is_none(words: list[str]) -> None:
    assert parse_number(words, 0) is None


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("seven", "19:00"),
        ("seven thirty", "19:30"),
        ("half past seven", "19:30"),
        ("quarter to eight", "19:45"),
        ("quarter past one", "13:15"),
        ("eight o'clock", "20:00"),
        ("seven p m", "19:00"),
        ("9 am", "09:00"),
        ("7pm", "19:00"),
        ("7:15", "19:15"),
        ("07:15", "07:15"),
        ("12:45 am", "00:45"),
        ("19:30", "19:30"),
        ("twenty one", "21:00"),
        ("twelve", "12:00"),
        ("noon", "12:00"),
        ("midnight", "00:00"),
    ],
)
def test_a_time_of_day_is_read_in_any_spelling(said: str, time: str) -> None:
    words = split_words(said)
    assert parse_time(words, 0) == (time, len(words))


@pytest.mark.parametrize("said", ["table", "25:00", "13 pm", "7:75", "ninety"])
def test_what_is_no_time_is_none(said: str) -> None:
    assert parse_time(split_words(said), 0) is None


@pytest.mark.parametrize("said", spoken_times())
def test_every_time_that_is_listened_for_is_understood_whole(said: str) -> None:
    parsed = parse_time(said.split(), 0)
    assert parsed is not None
    assert parsed[1] == len(said.split())


@pytest.mark.parametrize(
    ("said", "year"),
    [
        ("1982", 1982), ("82", 1982), ("eighty two", 1982), ("nineteen eighty two", 1982), ("nineteen ninety", 1990),
        ("2005", 2005), ("two thousand", 2000), ("two thousand and five", 2005), ("twenty ten", 2010),
    ],
)  # fmt: skip
def test_a_year_is_read_in_any_spelling(said: str, year: int) -> None:
    assert parse_year(said.split(), 0) == (year, len(said.split()))


@pytest.mark.parametrize("said", ["", "seven", "25", "1482", "2130", "nineteen", "twenty"])
def test_what_is_no_year_is_none(said: str) -> None:
    assert parse_year(said.split(), 0) is None


def test_a_swap_of_neighbours_is_one_edit() -> None:
    assert edit_distance("wether", "wehter", 2) == 1


def test_a_distance_above_the_limit_is_the_limit_and_one() -> None:
    assert edit_distance("lisbon", "reykjavik", 2) == 3


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_does_not_depend_on_direction(one: str, other: str) -> None:
    assert edit_distance(one, other, 9) == edit_distance(other, one, 9)


@pytest.mark.parametrize(
    ("word", "meant", "edits"),
    [("lisbn", "lisbon", 1), ("reykjavk", "reykjavik", 1), ("umbrela", "umbrellas", 2), ("lisbon", "lisbon", 0)],
)
def test_a_slip_in_a_long_word_is_forgiven(word: str, meant: str, edits: int) -> None:
    assert typos(word, meant) == edits


@pytest.mark.parametrize(
    ("word", "meant"), [("in", "is"), ("tea", "ten"), ("15", "16"), ("16:00", "11:00"), ("rome", "lima")]
)
def test_a_short_word_or_number_must_be_right(word: str, meant: str) -> None:
    assert typos(word, meant) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("roll_dice", ["roll", "dice"]),
        ("getHTTPStatus", ["get", "http", "status"]),
        ("home.turnOnLights", ["home", "turn", "on", "lights"]),
        ("___", []),
    ],
)
def test_a_tool_name_is_split_into_its_words(name: str, words: list[str]) -> None:
    assert name_words(name) == words


def test_folded_texts_differ_by_neither_case_nor_line_breaks() -> None:
    assert folded(" Ask for the\n  NAME. ") == folded("ask for the name.")


@pytest.mark.parametrize(
    ("said", "minutes", "length"),
    [
        ("an hour and five minutes", 65, 5),
        ("two hours thirty minutes", 150, 4),
        ("an hour and a half", 90, 5),
        ("3 minutes and 7 minutes", 3, 2),
    ],
)
def test_a_duration_has_a_unit_once(said: str, minutes: int, length: int) -> None:
    assert parse_duration(said.split(), 0) == (minutes, length)
