import pytest

from gemini_live_runtime.local.language.dictated_words import as_typed
from gemini_live_runtime.local.parts import Reply, ToolRequest
from gemini_live_runtime.local.recognition.dictation import Dictated, choose, denies_otherwise
from gemini_live_runtime.local.recognition.rejection import Decoding, Segment

TIMER = Reply(calls=(ToolRequest("set_timer", {"minutes": 10}),))
WEATHER = Reply(calls=(ToolRequest("get_weather", {}),))
HELLO = Reply("Hello.")


def decoding(text: str, score: float = -10.0, phones: str = "") -> Decoding:
    segments = tuple(
        Segment(word, tuple(phones or word), i * 10, i * 10 + 9, -1.0) for i, word in enumerate(text.split())
    )
    return Decoding(text, score, segments)


def choice(english: Decoding, dialogue: Decoding, **meant: Reply) -> Dictated:
    return choose(english, dialogue, {text.replace("_", " "): reply for text, reply in meant.items()}.get)


def chosen(english: Decoding, dialogue: Decoding, **meant: Reply) -> str:
    made = choice(english, dialogue, **meant)
    return "" if made.is_doubtful else made.text


def test_words_that_mean_nothing_are_refused() -> None:
    assert chosen(decoding("the cat slept"), decoding("the clock slept"), hello=HELLO) == ""


def test_what_only_the_dialogues_words_explain_is_taken_where_they_fit_as_well() -> None:
    assert chosen(decoding("yellow", -10.0), decoding("hello", -9.0), hello=HELLO) == "hello"


def test_what_fits_all_english_better_is_not_taken_for_the_dialogues_words() -> None:
    assert chosen(decoding("yellow", -9.0), decoding("hello", -10.0), hello=HELLO) == ""


def test_words_of_all_english_are_taken_when_they_mean_something() -> None:
    assert chosen(decoding("hello", -9.0), decoding("yellow", -10.0), hello=HELLO) == "hello"


def test_two_meanings_that_call_other_tools_are_not_acted_on() -> None:
    english, dialogue = decoding("timer now", -10.0), decoding("weather now", -9.0)
    assert chosen(english, dialogue, timer_now=TIMER, weather_now=WEATHER) == ""


def test_two_ways_to_say_the_same_are_taken() -> None:
    assert chosen(decoding("timer ten", -10.0), decoding("timer tens ten"), timer_ten=TIMER, timer_tens_ten=TIMER)


def test_a_tool_is_not_called_with_a_number_that_only_one_of_them_heard() -> None:
    english, dialogue = decoding("timer when minutes", -10.0), decoding("timer ten minutes", -9.0)
    assert chosen(english, dialogue, timer_ten_minutes=TIMER) == ""


def test_a_number_that_only_the_dialogues_words_have_is_asked_about() -> None:
    english, dialogue = decoding("timer when minutes", -10.0), decoding("timer ten minutes", -9.0)
    assert choice(english, dialogue, timer_ten_minutes=TIMER) == Dictated("timer ten minutes", is_doubtful=True)


def test_words_that_all_english_and_the_dialogue_hear_alike_are_taken_as_typed() -> None:
    assert chosen(decoding("write down eggs"), decoding("write down eggs")) == "write down eggs"
    assert chosen(decoding("eggs please"), decoding("eggs please")) == ""


def test_a_word_that_sounds_like_no_is_asked_about_where_a_no_changes_what_is_done() -> None:
    heard = decoding("a new timer")
    assert choice(heard, heard, a_new_timer=TIMER, a_no_timer=TIMER) == Dictated("a new timer")
    assert choice(heard, heard, a_new_timer=TIMER) == Dictated("a new timer", is_doubtful=True)
    assert choice(heard, heard, a_new_timer=HELLO) == Dictated("a new timer")


def test_of_two_meanings_the_likelier_is_asked_about() -> None:
    english, dialogue = decoding("timer now", -10.0, "same"), decoding("weather now", -9.0, "same")
    assert choice(english, dialogue, timer_now=TIMER, weather_now=WEATHER) == Dictated("weather now", is_doubtful=True)
    unlikely = decoding("weather now", -11.0, "same")
    assert choice(english, unlikely, timer_now=TIMER, weather_now=WEATHER) == Dictated()


def test_a_number_that_sounds_like_a_word_of_all_english_is_taken() -> None:
    english, dialogue = decoding("timer ate minutes", -10.0, "same"), decoding("timer eight minutes", -9.0, "same")
    assert chosen(english, dialogue, timer_eight_minutes=TIMER) == "timer eight minutes"


def test_of_two_numbers_that_sound_alike_neither_is_taken() -> None:
    english, dialogue = decoding("timer fifty minutes", -10.0, "same"), decoding("timer fifteen minutes", -9.0, "same")
    assert chosen(english, dialogue, timer_fifteen_minutes=TIMER) == ""


def test_what_fits_all_english_a_little_better_is_taken_where_the_two_sound_alike() -> None:
    english = decoding("yellow there", -10.0, "abcdefg")
    assert chosen(english, decoding("hello there", -10.003, "abcdefz"), hello_there=HELLO) == "hello there"
    assert chosen(english, decoding("hello there", -10.003, "abcdxyz"), hello_there=HELLO) == ""
    assert chosen(english, decoding("hello there", -10.03, "abcdefz"), hello_there=HELLO) == ""


def test_a_tool_gets_no_number_that_only_all_english_tells_the_use_of() -> None:
    english, dialogue = decoding("forty minute", -9.0), decoding("forty mint", -10.0)
    assert chosen(english, dialogue, forty_minute=TIMER) == ""


def test_a_number_whose_words_around_it_both_heard_is_handed_to_a_tool() -> None:
    english, dialogue = decoding("shout in ten minutes mate", -9.0), decoding("about in ten minutes met", -10.0)
    assert chosen(english, dialogue, shout_in_ten_minutes_mate=TIMER) == "shout in ten minutes mate"


def test_the_beginning_that_both_heard_is_taken() -> None:
    english = decoding("set a timer for me then I go running", -9.0)
    dialogue = decoding("set a timer for me than a coat", -10.0)
    assert chosen(english, dialogue, set_a_timer_for_me=TIMER) == "set a timer for me"


def test_a_beginning_that_is_only_answered_is_not_taken() -> None:
    english, dialogue = decoding("hello there my good cat sat", -9.0), decoding("hello there my good cats at", -10.0)
    assert chosen(english, dialogue, hello_there_my_good=HELLO) == ""


def test_a_beginning_is_not_taken_before_a_no_or_where_it_is_short() -> None:
    english, dialogue = decoding("set a timer for me never", -9.0), decoding("set a timer for me newer", -10.0)
    assert chosen(english, dialogue, set_a_timer_for_me=TIMER) == ""
    english, dialogue = decoding("timer for me one two three four five", -9.0), decoding("timer for me won too", -10.0)
    assert chosen(english, dialogue, timer_for_me=TIMER) == ""


@pytest.mark.parametrize("rest", ["and two waters", "into two waters", "with a salad"])
def test_a_beginning_is_not_taken_before_another_thing(rest: str) -> None:
    english, dialogue = decoding(f"set a timer for me {rest}", -9.0), decoding("set a timer for me newer", -10.0)
    assert chosen(english, dialogue, set_a_timer_for_me=TIMER) == ""


def test_a_beginning_is_not_taken_where_the_rest_asks_for_something_too() -> None:
    english, dialogue = decoding("set a timer for me few years", -9.0), decoding("set a timer for me whether", -10.0)
    assert chosen(english, dialogue, set_a_timer_for_me=TIMER, whether=WEATHER) == ""


def test_words_that_sound_unlike_what_all_english_heard_are_refused() -> None:
    english, dialogue = decoding("weather", -10.0, "abcdefg"), decoding("weather", -9.0, "uvwxyzz")
    assert chosen(decoding("feather", -10.0, "abcdefg"), dialogue, weather=WEATHER) == ""
    assert chosen(english, decoding("weather", -9.0, "abcdefz"), weather=WEATHER) == "weather"


def test_first_names_are_written_as_names() -> None:
    assert (
        chosen(decoding("it's tom here", -9.0), decoding("it's ten here"), **{"it's_Tom_here": HELLO})
        == "it's Tom here"
    )


@pytest.mark.parametrize(
    ("heard", "written"),
    [
        ("make it for salads", "make it four salads"),
        ("can i have for coffees please", "can i have four coffees please"),
        ("make it for tonight", "make it for tonight"),
        ("order a taxi for guests", "order a taxi for guests"),
        ("take this for less", "take this for less"),
    ],
)
def test_a_for_between_a_verb_and_a_plural_is_a_four(heard: str, written: str) -> None:
    assert as_typed(heard) == written


def test_years_are_written_in_digits() -> None:
    assert as_typed("my name is anna born nineteen eighty two") == "my name is Anna born 1982"
    assert as_typed("nineteen people at twenty past") == "nineteen people at twenty past"


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("it can wait", "it can't wait", True),
        ("it cannot wait", "it can't wait", False),
        ("it is urgent", "it isn't urgent", True),
        ("can i come if i can't park", "i can't park", False),
        ("it can wait", "it is late", False),
    ],
)
def test_a_denial_that_only_one_of_them_heard_is_noticed(one: str, other: str, differ: bool) -> None:
    assert (denies_otherwise(one, other), denies_otherwise(other, one)) == (differ, differ)


def test_words_that_one_of_them_heard_denied_are_refused() -> None:
    assert chosen(decoding("i can pay", -9.0), decoding("i can't pay"), i_can_pay=TIMER) == ""


def test_two_of_something_is_heard_where_the_dialogues_words_have_to() -> None:
    english, dialogue = decoding("could we get two salads", -9.0), decoding("can we get to salads", -10.0)
    assert chosen(english, dialogue, could_we_get_two_salads=TIMER) == "could we get two salads"


def test_of_several_things_none_is_done_that_all_english_does_not_know() -> None:
    both = Reply(calls=(*TIMER.calls, *WEATHER.calls))
    assert (
        chosen(decoding("want this timer and whether"), decoding("timer and weather", -9.0), timer_and_weather=both)
        == ""
    )
