import pytest

from gemini_live_runtime.local.scripts.template import Line, check_template, describe, fill, fill_argument

RESULT = {"result": {"sky": "clear", "notes": ["a", "b"], "count": 0, "who": {"firstName": "Ada"}}, "city": "Rome"}


def test_a_placeholder_takes_a_slot_or_a_field_of_the_result() -> None:
    assert fill("{result.sky} in {city}", RESULT) == "clear in Rome"


def test_the_first_alternative_that_is_there_is_taken() -> None:
    assert fill("{result.weather|result.sky}", RESULT) == "clear"


def test_a_zero_is_a_value_and_not_missing() -> None:
    assert fill("{result.count} left", RESULT) == "0 left"


def test_a_text_with_a_placeholder_that_cannot_be_filled_does_not_fit() -> None:
    assert fill("{result.rain} mm", RESULT) is None


def test_an_argument_takes_a_text_as_it_is_written() -> None:
    told = {"known": {"task": "task_17_a", "count": 2}}
    assert fill("{known.task}", told) == "task 17 a"
    assert fill_argument("{known.task}", told) == "task_17_a"
    assert fill_argument("{known.count} of {known.task}.", told) == "2 of task_17_a."
    assert fill_argument("{known.other}", told) is None


def test_a_list_is_counted_and_spoken() -> None:
    assert fill("{result.notes.count}: {result.notes}", RESULT) == "2: a and b"


def test_a_full_stop_is_not_doubled() -> None:
    assert fill("It says: {result}.", {"result": "Sunny."}) == "It says: Sunny."


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "yes"),
        (None, "nothing"),
        (2.50, "2.5"),
        (12345.67, "12345.67"),
        (2000000.0, "2000000"),
        (1e21, "1000000000000000000000"),
        (0.1 + 0.2, "0.3"),
        (0.00001, "0.00001"),
        (-1e-12, "0"),
        ([], "nothing"),
        (["a", "b", "c"], "a; b and c"),
        ({"firstName": "Ada", "n": 1}, "first name Ada, n 1"),
    ],
)
def test_a_json_value_is_described_as_one_would_say_it(value: object, words: str) -> None:
    assert describe(value) == words


def test_a_long_list_is_cut_and_says_so() -> None:
    assert describe(list(range(20))).endswith("and 8 more")


@pytest.mark.parametrize("text", ["{", "{a b}", "{}", "{a|}", "x } y", "{1st}"])
def test_a_broken_template_is_named(text: str) -> None:
    assert check_template(text)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("", True),
        ("error", False),
        ("not error", True),
        ("has city", True),
        ("not result.rain", True),
        ("result.sky == clear", True),
        ("result.sky == 'rain'", False),
        ("result.count == 0", True),
        ("result.notes.count >= 3", False),
        ("result.count <= 3", True),
        ("result.sky >= 3", False),
    ],
)
def test_a_line_is_said_when_its_condition_holds(when: str, holds: bool) -> None:
    assert Line(when, "yes").fits(RESULT) == ("yes" if holds else None)


@pytest.mark.parametrize("when", ["not ", "a b", "== 3", "result. == 1"])
def test_an_unreadable_condition_is_named(when: str) -> None:
    assert Line(when, "x").problem()
