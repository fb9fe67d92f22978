"""The embedded server says the rest of an answer, and answers lost words."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.dialogue.broken_answer import BrokenAnswer
from gemini_live_runtime.local.dialogue.dialogue_state import MAX_UNSAID
from gemini_live_runtime.local.dialogue.lost_words import MAX_LOST, LostWords
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.dialogue.told_results import ToldResults, results_without_answer
from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.session.core.unanswered import UnansweredInput, note_of


def concierge() -> ScriptedDialogue:
    return ScriptedDialogue(bundled_script("concierge"))


def note(asked: str, said: str) -> str:
    quoted = f'The user had said: "{asked}"\nYou have said so far: "{said}"'
    return f"[Context] Your last answer broke off, because the connection was lost.\n{quoted}"


@pytest.mark.parametrize("knows", [True, False])
def test_the_rest_follows_the_words_that_were_said(knows: bool) -> None:
    whole = concierge().respond("tell me a story", typed=True).text
    said = " ".join(whole.split()[:9])
    dialogue = concierge()
    if knows:
        dialogue.respond("tell me a story", typed=True)
    dialogue.note(note("tell me a story", said))
    assert f"{said} {dialogue.prompt().text}" == whole


def test_an_answer_of_which_nothing_was_said_is_said_whole() -> None:
    dialogue = concierge()
    dialogue.note(note("tell me a story", ""))
    assert dialogue.prompt().text == concierge().respond("tell me a story", typed=True).text


def test_a_greeting_goes_on() -> None:
    whole = concierge().prompt().text
    dialogue = concierge()
    dialogue.note(note("", " ".join(whole.split()[:2])))
    assert dialogue.prompt().text == " ".join(whole.split()[2:])


def test_an_answer_that_it_cannot_know_is_not_begun_anew() -> None:
    dialogue = concierge()
    dialogue.note(note("Order a taxi to the airport", "I am calling"))
    reply = dialogue.prompt()
    assert reply.text not in ("", concierge().prompt().text)
    assert not reply.calls


def test_an_answer_to_a_call_is_asked_for_again_in_words_and_not_with_a_greeting() -> None:
    dialogue = concierge()
    dialogue.declare({"get_time": {"type": "object"}})
    dialogue.note(note("what time is it", ""))
    reply = dialogue.prompt()
    assert (reply.text, reply.calls) == ("I lost my thread. Please ask me again.", ())


def test_what_the_user_says_next_is_answered_instead() -> None:
    dialogue = concierge()
    dialogue.note(note("tell me a story", "Once upon a time"))
    dialogue.respond("hello", typed=True)
    assert "lighthouse" not in dialogue.prompt().text


@pytest.mark.parametrize("text", ["Once upon a time", "[Context] The user is at home.", note("", "") + '\nmore "'])
def test_notes_of_other_kinds_are_notes_and_odd_ones_do_no_harm(text: str) -> None:
    broken = BrokenAnswer()
    assert broken.take(text) is ("broke off" in text)
    assert broken.rest_of(("an answer",)) == "an answer"


def lost(*texts: str) -> str:
    return f"[Context] {note_of([UnansweredInput('text', 1, text) for text in texts])}"


def test_words_that_got_no_answer_are_answered_as_if_they_were_said_now() -> None:
    dialogue = concierge()
    dialogue.note(lost("tell me a story"))
    assert dialogue.prompt() == concierge().respond("tell me a story", typed=True)


def test_each_text_and_utterance_that_got_no_answer_is_answered_for_itself() -> None:
    dialogue, undisturbed = concierge(), concierge()
    texts = ("what is the weather in Rome", "hello", "what time is it")
    for each in (dialogue, undisturbed):
        each.declare({"get_weather": {"type": "object"}, "get_time": {"type": "object"}})
    dialogue.note(lost(*texts))
    replies = [undisturbed.respond(text, typed=True) for text in texts]
    whole = dialogue.prompt()
    assert whole.text == " ".join(reply.text for reply in replies if reply.text)
    assert whole.calls == tuple(call for reply in replies for call in reply.calls)
    assert dialogue.snapshot()["said"] == list(texts)


def test_of_lost_texts_without_end_the_newest_are_answered() -> None:
    words = LostWords()
    assert words.take(lost(*(f"text {number}" for number in range(MAX_LOST + 5))))
    assert words.pop() == [f"text {number}" for number in range(5, MAX_LOST + 5)]


def test_words_that_got_no_answer_are_answered_once_and_before_newer_ones() -> None:
    dialogue = concierge()
    dialogue.note(lost("tell me a story"))
    story, hello = (concierge().respond(text, typed=True).text for text in ("tell me a story", "hello"))
    assert dialogue.respond("hello", typed=True).text == f"{story} {hello}"
    assert "lighthouse" not in dialogue.prompt().text


def test_words_that_got_no_answer_and_were_sent_again_are_answered_once() -> None:
    dialogue = concierge()
    dialogue.note(lost("tell me a story"))
    assert dialogue.respond("tell me a story", typed=True) == concierge().respond("tell me a story", typed=True)


@pytest.mark.parametrize("is_prompted", [True, False])
def test_what_an_answer_owed_is_said_with_the_next_one_when_nothing_of_it_was_said(is_prompted: bool) -> None:
    dialogue = concierge()
    dialogue.note('[Result of check_stock] {"output": {"stock": "seven boxes"}}')
    dialogue.note(lost("tell me a story"))
    whole = (dialogue.prompt() if is_prompted else dialogue.respond("thank you", typed=True)).text
    dialogue.on_unsaid()
    story = concierge().respond("tell me a story", typed=True).text
    assert whole.startswith(f"check stock says: stock seven boxes. {story}")
    assert dialogue.respond("hello", typed=True).text.startswith(f"check stock says: stock seven boxes. {story}")
    assert "stock" not in dialogue.respond("hello", typed=True).text


def test_typed_words_of_whose_answer_nothing_was_said_are_answered_with_the_next_once() -> None:
    dialogue, undisturbed = concierge(), concierge()
    texts = ("what is the weather in Rome", "what time is it", "hello")
    for each in (dialogue, undisturbed):
        each.declare({"get_weather": {"type": "object"}, "get_time": {"type": "object"}})
    replies = [undisturbed.respond(text, typed=True) for text in texts]
    for text in texts[:2]:
        dialogue.respond(text, typed=True)
        dialogue.on_unsaid()
    whole = dialogue.respond(texts[2], typed=True)
    assert whole.text == replies[2].text
    assert [call.name for call in whole.calls] == ["get_weather", "get_time"]
    assert dialogue.snapshot()["said"] == list(texts)
    assert dialogue.snapshot()["open"] == undisturbed.snapshot()["open"]
    assert dialogue.respond("hello", typed=True).calls == ()


@pytest.mark.parametrize("said", ["never mind", "no, forget it", "oh stop"])
def test_what_was_ordered_a_moment_ago_is_called_off_before_it_is_done(said: str) -> None:
    dialogue = concierge()
    dialogue.declare({"order_taxi": {"type": "object"}})
    assert dialogue.respond("order a taxi", typed=True).calls
    dialogue.on_unsaid()
    assert dialogue.respond(said, typed=True).calls == ()
    assert dialogue.snapshot()["open"] == []


def test_spoken_words_of_whose_answer_nothing_was_said_go_on_in_the_next_ones() -> None:
    dialogue = concierge()
    dialogue.respond("tell me a story", typed=False)
    dialogue.on_unsaid()
    assert dialogue.respond("hello", typed=False).text == concierge().respond("hello", typed=True).text


def test_of_unsaid_replies_without_end_the_newest_are_kept() -> None:
    dialogue = concierge()
    for _ in range(MAX_UNSAID + 5):
        dialogue.respond("hello", typed=True)
        dialogue.on_unsaid()
    assert dialogue.prompt().text.count(concierge().respond("hello", typed=True).text) == MAX_UNSAID


def test_a_note_of_lost_words_without_any_is_a_prompt_like_others() -> None:
    words = LostWords()
    assert words.take('The connection was lost before you had answered the user.\nThe user has said: "\\x"')
    assert words.pop() == []


def test_a_result_that_is_told_as_text_is_said_at_the_prompt() -> None:
    dialogue = concierge()
    dialogue.note('[Result of check_stock] {"output": {"stock": "seven boxes"}}')
    assert dialogue.prompt().text == "check stock says: stock seven boxes."
    assert "stock" not in dialogue.prompt().text


def test_a_result_that_is_told_goes_before_the_answer_to_lost_words() -> None:
    dialogue = concierge()
    dialogue.note('[Result of check_stock] {"error": "It is broken."}')
    dialogue.note(lost("hello"))
    assert dialogue.prompt().text.endswith(f"It is broken. {concierge().respond('hello', typed=True).text}")


@pytest.mark.parametrize("text", ["[Result of x] {no json}", "[Result of x]", "[Result of ] {}"])
def test_a_note_like_a_result_is_a_note(text: str) -> None:
    assert not ToldResults().take(text)


def test_results_at_the_end_of_what_was_said_before_wait_for_an_answer() -> None:
    said = "[Latest part of the conversation]\nUser: check stock\n"
    first, second = '[Tool: a({}) → {"x": 1}]', '[Tool: b({"y": "(z)"}) → {"x": 2}]'
    both = ['[Result of a] {"x": 1}', '[Result of b] {"x": 2}']
    assert results_without_answer(f"{said}{first}\n{second}") == both
    assert results_without_answer(f"{said}{first}\nAssistant: It is one.") == []
    assert results_without_answer(f"{said}[Tool: a({{}}) → cancelled]") == []
    assert results_without_answer(f'{said}[Tool: a({{}}) → {{"x": "cut…]') == []
