"""The mood of a sentence: it asks for something, or only speaks of it."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.understanding.mood import asks_besides, is_remark, only_speaks, takes_back
from gemini_live_runtime.local.understanding.utterance_words import Words


def speaks(text: str) -> bool:
    words = Words(text)
    return only_speaks(words.plain, is_question=words.is_question)


@pytest.mark.parametrize(
    "text",
    [
        "should I take the soup",
        "would a salad be extra",
        "have you called my taxi",
        "do I have to agree?",
        "can I walk or do I need a taxi",
        "three coffees would be how much",
        "okay what is the interest",
        "that is two soups, isn't it",
        "soup?",
        "more coffee?",
        "tell me more about the soup",
        "and the fish, how is it",
    ],
)
def test_a_question_only_speaks(text: str) -> None:
    assert speaks(text)


@pytest.mark.parametrize(
    "text",
    [
        "suppose we all have the soup",
        "I might have the soup",
        "once my friend arrives we'll take two soups",
        "I'd agree if it were thirty",
        "another coffee would keep me awake",
        "maybe a soup, maybe not",
        "restart it, but only after I save my work",
        "restart it after we have saved our work",
        "restart it only when I say so",
        "restart it, wait",
    ],
)
def test_a_supposition_only_speaks(text: str) -> None:
    assert speaks(text)


@pytest.mark.parametrize(
    "text",
    [
        "my friend said the soup is good",
        "my friend will cancel the order",
        "the man behind me wants the fish",
        "I'll call a taxi myself",
        "anything but fish",
        "I always pay by card",
        "it's right next to the door",
        "forget it, I'm only joking",
    ],
)
def test_what_is_of_others_or_left_out_is_only_spoken_of(text: str) -> None:
    assert speaks(text)


@pytest.mark.parametrize(
    "text",
    [
        "can I have the soup?",
        "would you bring me a soup",
        "would it be possible to get a table for two?",
        "I was wondering if I could get a taxi",
        "see if the line is fine",
        "two soups, if you can",
        "shall we say eight",
        "how about a soup",
        "what about a soup",
        "a coffee would be lovely",
        "that's it, I'd like to pay",
        "I said two soups",
        "my wife says she'll have the salad",
        "call me a taxi when you get a chance",
        "a table for two at eight?",
        "might I have the soup",
    ],
)
def test_a_request_asks_for_something(text: str) -> None:
    assert not speaks(text)


def test_praise_of_something_else_is_no_consent() -> None:
    assert is_remark(Words("great, it's raining").plain)
    assert is_remark(Words("good evening, is it").plain)
    assert not is_remark(Words("great, it's raining").plain, known={"rain"})
    assert not is_remark(Words("yes, great, it's raining").plain)
    assert not is_remark(Words("great, I'll be there").plain)


def test_a_part_may_make_nothing_of_the_rest() -> None:
    assert takes_back(Words("a soup, maybe not").plain)
    assert takes_back(Words("two soups, I'm only joking").plain)
    assert not takes_back(Words("no thank you").plain)


def test_a_question_is_found_beside_other_words() -> None:
    assert asks_besides(Words("yes but how long does it take").plain)
    assert not asks_besides(Words("yes please do that").plain)


@pytest.mark.parametrize("text", ["it can wait", "no it can't wait", "it stopped after I restarted it"])
def test_what_can_wait_is_not_put_off(text: str) -> None:
    assert not speaks(text)
