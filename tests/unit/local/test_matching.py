import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.local.scripts.script_types import Pattern, Slot, SlotRef
from gemini_live_runtime.local.understanding.matching import MAX_WORDS, Matcher
from gemini_live_runtime.local.understanding.utterance_words import Words

SLOTS = {
    "city": Slot("city", "choice", "", (), values=("New York", "Lisbon")),
    "people": Slot("people", "number", "", (), minimum=1, maximum=20),
    "note": Slot("note", "text", "", (), values=("buy milk",)),
    "time": Slot("time", "time", "", ()),
}
MATCHER = Matcher(SLOTS, (("please",), ("could", "you")))
WEATHER: Pattern = ("what", "is", "the", "weather", "in", SlotRef("city"))
NOTE: Pattern = ("take", "a", "note", SlotRef("note"))
TABLE: Pattern = ("book", "a", "table", "for", SlotRef("people"), "at", SlotRef("time"))


def slots(pattern: Pattern, text: str) -> dict[str, object] | None:
    match = MATCHER.match(pattern, Words(text))
    return None if match is None else dict(match.slots)


@pytest.mark.parametrize(
    "text",
    [
        "What is the weather in New York?",
        "what's the weather in new york",
        "what is weather in new york",
        "please what is the weather in new york please",
        "could you please what is the weather in new york",
        "what is teh weather in new york",
        "what is the wether in new yrok",
    ],
)
def test_the_same_is_understood_however_it_is_typed(text: str) -> None:
    assert slots(WEATHER, text) == {"city": "New York"}


@pytest.mark.parametrize(
    "text", ["what is the weather", "what is the weather in gotham", "in new york", "", "xwhat is weather in rome"]
)
def test_what_lacks_a_word_or_value_does_not_match(text: str) -> None:
    assert slots(WEATHER, text) is None


def test_the_better_spelling_costs_less() -> None:
    right = MATCHER.match(WEATHER, Words("what is the weather in lisbon"))
    wrong = MATCHER.match(WEATHER, Words("what is the weather in lisbn"))
    assert right is not None
    assert wrong is not None
    assert right.cost == 0 < wrong.cost


def test_free_text_is_kept_as_it_was_typed() -> None:
    assert slots(NOTE, "take a note Call Bob, it's 5 o'Clock") == {"note": "Call Bob it's 5 o'Clock"}


def test_words_that_lead_to_a_phrase_are_no_text() -> None:
    pattern: Pattern = (SlotRef("note"), "write", "that", "down")
    assert slots(pattern, "Buy oats, write that down") == {"note": "Buy oats"}
    assert slots(pattern, "don't write that down") is None
    assert slots(pattern, "why should I write that down") is None


def test_another_word_is_no_mistyped_value() -> None:
    matcher = Matcher({"drink": Slot("drink", "choice", "", (), values=("water",))})
    assert matcher.match((SlotRef("drink"),), Words("watre")) is not None
    assert matcher.match((SlotRef("drink"),), Words("waiter")) is None


def test_a_listed_text_is_preferred_to_free_text() -> None:
    assert slots(NOTE, "take a note buy milk") == {"note": "buy milk"}


def test_numbers_and_times_are_filled_as_values() -> None:
    assert slots(TABLE, "book a table for 12 at half past seven") == {"people": 12, "time": "19:30"}


def test_a_number_out_of_range_does_not_match() -> None:
    assert slots(TABLE, "book a table for 40 at seven") is None


def test_an_endless_utterance_is_not_looked_at() -> None:
    assert slots(NOTE, "take a note " + "x " * MAX_WORDS) is None


@given(st.text(max_size=80))
def test_no_text_breaks_the_matcher(text: str) -> None:
    for pattern in (WEATHER, NOTE, TABLE):
        MATCHER.match(pattern, Words(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what is the weather in Lisbon", {"city": "Lisbon"}),
        ("well tell me what is the weather in new york right now", {"city": "New York"}),
        ("tell me what is teh weather in Lisbon", {"city": "Lisbon"}),
        ("what is the weather", None),
        ("", None),
    ],
)
def test_a_pattern_is_found_within_an_utterance(text: str, found: dict[str, object] | None) -> None:
    match = MATCHER.find(WEATHER, Words(text))
    assert (None if match is None else dict(match.slots)) == found


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("theres four of us", "there is four of us"),
        ("its john", "it is john"),
        ("ok its john", "ok it is john"),
        ("I like its colour", "i like its colour"),
        ("id like soup", "i would like soup"),
        ("my id is here", "my id is here"),
        ("ill have soup", "i will have soup"),
        ("I feel ill today", "i feel ill today"),
    ],
)
def test_contractions_may_lack_their_apostrophe(text: str, plain: str) -> None:
    assert " ".join(Words(text).plain) == plain
