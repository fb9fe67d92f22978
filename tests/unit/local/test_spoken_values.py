"""Test that values of a call which were hardly said are asked about."""

from __future__ import annotations

from gemini_live_runtime.local.parts import Reply, ToolRequest
from gemini_live_runtime.local.recognition.rejection import Decoding, Segment
from gemini_live_runtime.local.recognition.spoken_values import text_to_ask

PHONES = {
    "athens": "AE TH AH N Z",
    "naples": "N EY P AH L Z",
    "rome": "R OW M",
    "roam": "R OW M",
    "round": "R AW N D",
    "san": "S AE N",
    "francisco": "F R AE N S IH S K OW",
    "soon": "S UW N",
    "dillon": "D IH L AH N",
    "today": "T AH D EY",
}


def decoding(text: str, acoustic: float = -100.0) -> Decoding:
    """Return a decoding that takes ten frames for each word."""
    segments = tuple(
        Segment(word, tuple(PHONES.get(word.partition("(")[0], word).split()), at * 10, at * 10 + 9, acoustic)
        for at, word in enumerate(text.split())
    )
    return Decoding(text, -10.0, segments)


def asked(said: str, english: str, acoustic: float = -80.0) -> str:
    """Return the text to ask about where all English heard other words."""
    return text_to_ask(said, decoding(said), decoding(english, acoustic), weather)


def weather(text: str) -> Reply | None:
    """Answer "rain in CITY" by a call for the city."""
    city = text.removeprefix("rain in ").title()
    return Reply(calls=(ToolRequest("get_weather", {"city": city}),)) if text.startswith("rain in ") else None


def test_a_city_that_all_english_heard_too_is_said() -> None:
    assert asked("rain in rome", "train in rome") == ""
    assert asked("rain in rome", "rain in rome(2)") == ""


def test_a_city_that_sounds_like_what_all_english_heard_is_said() -> None:
    assert asked("rain in rome", "rain in roam") == ""
    assert asked("rain in san francisco", "rain in soon francisco") == ""


def test_a_name_that_only_all_english_has_is_asked_about_in_place_of_the_nearest_one() -> None:
    assert asked("rain in athens", "rain in naples") == "rain in Naples"


def test_a_name_that_fits_little_better_is_not_put_in_the_place_of_a_city() -> None:
    assert asked("rain in athens", "rain in naples", acoustic=-91.0) == "rain in Athens"


def test_a_city_that_fits_better_than_all_english_is_said() -> None:
    assert asked("rain in athens", "rain in naples", acoustic=-106.0) == ""
    assert asked("rain in athens", "rain in naples", acoustic=-104.0) == "rain in Athens"


def test_a_city_in_whose_place_common_words_were_heard_is_asked_about() -> None:
    assert asked("rain in athens", "rain in today") == "rain in Athens"


def test_words_that_call_nothing_are_not_asked_about() -> None:
    assert asked("hello athens", "hello naples") == ""


def test_a_value_that_is_no_word_of_the_sentence_is_not_asked_about() -> None:
    again = Reply(calls=(ToolRequest("get_weather", {"city": "Athens"}),))
    assert text_to_ask("and now", decoding("and now"), decoding("and how"), lambda _: again) == ""


def test_numbers_and_times_are_left_to_others() -> None:
    booked = Reply(calls=(ToolRequest("book_table", {"people": 2, "time": "19:30"}),))
    assert text_to_ask("half seven", decoding("half seven"), decoding("have eleven"), lambda _: booked) == ""
