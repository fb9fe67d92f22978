from gemini_live_runtime.local.scripts.grammar import MAX_TOOL_CHOICES, Grammar, build_grammar, spoken_values
from gemini_live_runtime.local.scripts.script_types import Slot, SlotRef

CITY = Slot("city", "choice", "", (), values=("New York", "Zürich"))
PEOPLE = Slot("people", "number", "", (), spoken=(2, 21))
FREE = Slot("free", "text", "", ())
GRAMMAR = build_grammar(
    [("weather", "in", SlotRef("city")), ("hello",), ("note", SlotRef("free"))],
    {"city": CITY, "free": FREE},
    {"roll_dice": ("six", "twenty one")},
)


def test_a_pattern_is_accepted_with_any_of_its_values() -> None:
    assert GRAMMAR.accepts(["weather", "in", "new", "york"])


def test_a_phrase_is_listened_for_as_people_shorten_it() -> None:
    grammar = build_grammar(
        [("i", "do", "not", "know"), ("i", "can", "not", "pay"), ("what", "is", "in", SlotRef("city"))],
        {"city": CITY},
        {},
    )
    for said in ("i do not know", "i don't know", "what's in zurich", "i cannot pay"):
        assert grammar.accepts(said.split(" ")), said


def test_half_a_phrase_is_not_accepted() -> None:
    assert not GRAMMAR.accepts(["weather", "in", "new"])


def test_more_than_a_phrase_is_not_accepted() -> None:
    assert not GRAMMAR.accepts(["hello", "hello"])


def test_a_pattern_with_a_slot_that_nobody_can_say_is_left_out() -> None:
    assert "note" not in GRAMMAR.words()


def test_a_tool_is_listened_for_by_its_words_with_or_without_a_value() -> None:
    for said in ("roll dice", "please roll the dice", "call roll dice twenty one"):
        assert GRAMMAR.accepts(said.split(" ")), said


def test_values_are_listened_for_as_they_are_spoken() -> None:
    assert (spoken_values(CITY), spoken_values(PEOPLE)) == (("new york", "zurich"), ("two", "twenty one"))


def test_the_jsgf_text_names_every_rule_it_uses() -> None:
    text = GRAMMAR.jsgf()
    assert "public <utterance> = weather in <slot_city> | hello |" in text
    assert "<slot_city> = new york | zurich;" in text


def test_equal_grammars_are_one_key() -> None:
    assert len({Grammar((("a",),)), Grammar((("a",),))}) == 1


def test_of_the_values_of_a_tool_the_first_are_listened_for() -> None:
    values = tuple(f"value {chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(MAX_TOOL_CHOICES + 1))
    grammar = build_grammar([], {}, {"roll_dice": values})
    assert grammar.accepts(["roll", "dice", *values[-2].split()])
    assert not grammar.accepts(["roll", "dice", *values[-1].split()])
