"""Tell what all English has heard from what the dialogue's own phrases have."""

from __future__ import annotations

from typing import cast

import pytest

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.parts import Recognition
from gemini_live_runtime.local.recognition.dialogue_recogniser import DialogueRecogniser
from gemini_live_runtime.local.recognition.recogniser import Opinion
from gemini_live_runtime.local.recognition.transcriber import Transcriber
from gemini_live_runtime.local.scripts.script import bundled_script

TABLE = ("book a table", "for two people")


class Heard:
    """Transcriber that hears a text in any sound."""

    def __init__(self, text: str) -> None:
        self._text = text

    def warm(self) -> None:
        pass

    async def transcribe(self, pcm: bytes) -> str:
        return self._text


class Decoded:
    """Recogniser of phrases that has one opinion of any sound."""

    def __init__(self, opinion: Opinion) -> None:
        self._opinion = opinion

    async def listen(self, pcm: bytes) -> Opinion:
        return self._opinion

    async def close(self) -> None:
        pass


def phrase(text: str, *, english: str = "", doubt: bool = False) -> Opinion:
    return Opinion(Recognition(text, 0.9, is_doubtful=doubt), True, (text, english))


def dictated(text: str, *, english: str = "") -> Opinion:
    return Opinion(Recognition(text, 0.1), False, (text, english))


NOTHING = Opinion(Recognition("", 0.1), False, ("",))


def recognise(agent: str, heard: str, opinion: Opinion | None, *before: str) -> Recognition:
    script = bundled_script(agent)
    talk = ScriptedDialogue(script)
    talk.instruct("Ask what would they like, dish by dish.")  # a phase of the restaurant
    talk.declare({call.tool: {} for intent in script.intents for call in intent.calls})
    for said in before:
        talk.respond(said, typed=False)
    phrases = None if opinion is None else Decoded(opinion)
    return run_virtual(DialogueRecogniser(talk, cast(Transcriber, Heard(heard)), phrases).recognise(b""))


def test_a_sentence_that_the_dialogue_understands_is_taken_as_it_was_heard() -> None:
    said = "What's the weather like in Naples?"
    assert recognise("concierge", said, NOTHING) == Recognition(said, 1.0)


def test_a_phrase_that_is_surely_heard_has_the_dialogues_names() -> None:
    heard = recognise("concierge", "What is the weather in Romeo?", phrase("what is the weather in rome"))
    assert heard.text == "what is the weather in rome"


def test_a_number_that_only_one_has_heard_is_asked_about() -> None:
    said, other = "Set a timer for fifteen minutes.", dictated("set a timer for fifty minutes")
    assert recognise("concierge", said, other) == Recognition(said.rstrip("."), 0.1, is_doubtful=True)
    assert not recognise("concierge", said, dictated("", english="that a time of fifteen minutes")).is_doubtful


def test_a_number_that_was_not_written_down_is_asked_about() -> None:
    other = "could we get two salads"
    assert recognise("restaurant", "Could we get the salads, please?", dictated(other, english=other)).is_doubtful


@pytest.mark.parametrize(
    ("agent", "said", "other"),
    [
        ("concierge", "Set a timer for fifteen.", "set a time for fifteen"),
        ("restaurant", "Two pastas and a salad, please.", "two posters and a salad please"),
        ("concierge", "A table for 2 at 8:00.", "that table for two at eight"),
    ],
)
def test_numbers_are_the_same_in_digits_capitals_and_before_a_stop(agent: str, said: str, other: str) -> None:
    assert not recognise(agent, said, dictated("", english=other)).is_doubtful


def test_a_sure_phrase_is_asked_about_where_fifty_was_fifteen_to_another() -> None:
    said, other = "Set a timer for fifty minutes, would you?", "should the timer for fifteen minutes would you"
    assert recognise("concierge", said, phrase("set a timer for fifty minutes", english=other)).is_doubtful


def test_a_sure_phrase_with_another_number_than_was_written_down_is_asked_about() -> None:
    said = "Set a timer for fifteen minutes, won't you?"
    heard = recognise("concierge", said, phrase("set a timer for fifty minutes"))
    assert heard == Recognition(said.rstrip("?"), 0.9, is_doubtful=True)


def test_a_short_answer_with_another_number_than_the_phrase_is_asked_about() -> None:
    assert recognise("concierge", "Two.", phrase("ten"), *TABLE).is_doubtful
    assert recognise("concierge", "Two.", dictated("ten"), *TABLE).is_doubtful


def test_a_two_that_was_written_as_to_counts_where_another_heard_it() -> None:
    heard = recognise(
        "restaurant", "To salads and a soup, please.", dictated("", english="two sellers in the soup please")
    )
    assert heard == Recognition("Two salads and a soup, please.", 1.0)


def test_a_two_that_was_written_as_to_is_asked_about_where_nothing_else_heard_it() -> None:
    assert recognise("restaurant", "To salads and a soup, please.", dictated("to salads and a soup please")).is_doubtful


def test_a_number_from_which_nothing_follows_needs_no_second_opinion() -> None:
    said = "How are you at ten?"
    assert recognise("concierge", said, dictated("", english="how are you a tent")) == Recognition(said, 1.0)


def test_an_order_that_nothing_else_heard_is_asked_about() -> None:
    other = dictated("", english="i would of the salad to do you")
    assert recognise("restaurant", "I welcome the salad to me.", other).is_doubtful


def test_what_is_only_looked_up_needs_no_second_opinion() -> None:
    assert not recognise(
        "concierge", "Read me back my notes.", dictated("", english="really not what's on")
    ).is_doubtful


def test_a_doubtful_phrase_is_sure_where_the_written_words_mean_the_same() -> None:
    doubtful = phrase("what is the weather in rome", doubt=True)
    assert not recognise("concierge", "What's the weather in Rome?", doubtful).is_doubtful
    assert recognise("concierge", "What's the weather in Naples?", doubtful).is_doubtful


def test_words_that_all_english_has_heard_alike_count_against_a_sure_phrase() -> None:
    said, other = "For me, a coffee.", phrase("forget the coffee", english="for me a coffee")
    assert recognise("restaurant", said, other) == Recognition(said, 1.0)


def test_a_two_that_was_decoded_as_to_is_not_asked_about() -> None:
    said, other = "I'd like to order two soups.", dictated("i'd like to order to soups")
    assert recognise("restaurant", said, other) == Recognition(said, 1.0)


def test_a_name_that_was_written_down_as_a_word_alike_is_not_asked_about_before_it_is_looked_up() -> None:
    rome = phrase("what's the weather in rome", doubt=True)
    assert not recognise("concierge", "What's the weather in room?", rome).is_doubtful
    assert recognise("concierge", "What's the weather in the hall?", rome).is_doubtful


def test_a_name_unlike_that_of_a_sure_phrase_is_asked_about() -> None:
    heard = recognise("concierge", "How's the weather in Paris?", phrase("how is the weather in venice"))
    assert heard == Recognition("How's the weather in Paris", 0.9, is_doubtful=True)


def test_a_half_that_a_phrase_lacks_is_asked_about() -> None:
    other = phrase("set a timer for two minutes", english="should the timer for two and a half minutes")
    assert recognise("concierge", "Said a time riff for two and a half minutes.", other).is_doubtful


def test_words_that_deny_what_a_phrase_does_count_as_they_were_heard() -> None:
    said, other = "Don't cancel the timer.", dictated("going to cancel the timer", english="don't cancel the timer")
    assert recognise("concierge", said, other) == Recognition(said, 1.0)


def test_a_not_that_only_another_decoding_has_is_asked_about() -> None:
    other = phrase("cancel the timer", english="don't cancel the timer")
    assert recognise("concierge", "Done cancel the timer.", other).is_doubtful
    said = "Can you put the fish on my order?"
    assert recognise("restaurant", said, dictated("", english="can't you put the fish on my order")).is_doubtful


def test_an_agreement_that_was_written_down_as_denied_is_asked_about() -> None:
    heard = recognise("restaurant", "That is, and all.", phrase("that is all"), "two soups please")
    assert heard == Recognition("that is all", 0.9, is_doubtful=True)


def test_a_lost_not_after_a_short_is_makes_an_order_doubtful() -> None:
    said = "The fish is good."
    assert not recognise("restaurant", said, dictated("", english="the fish is good")).is_doubtful
    assert recognise("restaurant", said, dictated("", english="the fission good")).is_doubtful


def test_a_not_in_another_decoding_of_what_is_only_looked_up_does_no_harm() -> None:
    assert not recognise("concierge", "Read me back my notes.", dictated("", english="really not my notes")).is_doubtful


def test_a_note_is_asked_about_unless_others_heard_much_the_same() -> None:
    said = "Take a note: call Margaret about the tickets."
    assert recognise("concierge", said, NOTHING).is_doubtful
    assert recognise("concierge", said, dictated("take a note call market about the tickets")) == Recognition(said, 1.0)


@pytest.mark.parametrize("english", ["take a note i can come at two", "take a note i can come up to"])
def test_a_note_is_asked_about_where_another_has_heard_a_number_in_it(english: str) -> None:
    said = "Take a note: I can come at you."
    assert recognise("concierge", said, dictated("", english=english)).is_doubtful


def test_what_the_dialogue_does_not_understand_is_left_to_its_phrases() -> None:
    heard = recognise("concierge", "What is the other in Rome?", dictated("what is the weather in rome"))
    assert heard.text == "what is the weather in rome"


def test_what_neither_understands_is_refused() -> None:
    assert recognise("concierge", "The cat slept on the warm radiator.", NOTHING) == Recognition("", 0.1)


def test_a_sure_phrase_counts_where_its_letters_were_heard() -> None:
    heard = recognise("concierge", "Cancelled Tie Mer, please, us.", phrase("cancel the timer please"))
    assert (heard.text, heard.is_doubtful) == ("cancel the timer please", False)


def test_words_unlike_those_of_a_sure_phrase_make_it_doubtful() -> None:
    heard = recognise("concierge", "Please dance the whole night long.", phrase("cancel the timer"))
    assert heard == Recognition("cancel the timer", 0.9, is_doubtful=True)


def test_words_unlike_dictated_ones_refuse_these() -> None:
    heard = recognise("concierge", "The cat slept on the warm radiator.", dictated("lovely that stopwatch a hair"))
    assert heard == Recognition("", 0.1)


def test_a_short_answer_is_left_to_the_phrases() -> None:
    assert recognise("concierge", "Line.", phrase("nine"), *TABLE).text == "nine"


@pytest.mark.parametrize("heard", ["You", "Uh?", "Um.", "Yes.", "No."])
def test_a_sound_that_is_hardly_a_word_is_nothing_without_a_phrase(heard: str) -> None:
    assert recognise("concierge", heard, NOTHING, *TABLE).text == ""


def test_a_short_wish_that_the_phrases_lack_is_asked_about() -> None:
    assert recognise("concierge", "A taxi.", NOTHING) == Recognition("A taxi", 0.1, is_doubtful=True)


def test_without_the_phrases_all_words_count_as_they_were_heard() -> None:
    assert recognise("concierge", "Nine.", None, *TABLE) == Recognition("Nine.", 1.0)
    assert recognise("concierge", "The cat slept.", None) == Recognition("", 0.0)
