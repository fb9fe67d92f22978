"""Test the restaurant: utterances lead to phases, state and its writers."""

from __future__ import annotations

import asyncio

import pytest
from tests.agents.conversation import talk_to

from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.order_words import MENU
from gemini_live_runtime.agents.restaurant import restaurant, wishes
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.conversation.transcript_turn import TranscriptTurn, TranscriptWindow
from gemini_live_runtime.local.scripts.script import bundled_script

REVIEWED = ("two pasta please", "and a coffee", "that is all")


def test_dishes_add_up() -> None:
    after = talk_to(restaurant(), "two pasta please", "and a coffee", "a pasta please")
    assert after.state.get("app:items") == {"pasta": 3, "coffee": 1}
    assert after.origin("app:items") == ("tool", "add_item")
    assert after.state.get("derived:total") == 3 * MENU["pasta"] + MENU["coffee"]
    assert after.origin("derived:total") == ("computed", "total")


def test_a_dish_can_be_taken_off() -> None:
    after = talk_to(restaurant(), "two pasta please", "and a coffee", "no pasta")
    assert after.state.get("app:items") == {"coffee": 1}
    assert after.origin("app:items") == ("tool", "remove_item")


@pytest.mark.parametrize(
    ("said", "items"),
    [
        (("make that three",), {"pasta": 3}),
        (("actually, just the one",), {"pasta": 1}),
        (("a soup please", "make it two soups", "no, make that three"), {"pasta": 2, "soup": 3}),
        (("that is all", "I meant four", "make that one"), {"pasta": 1}),
    ],
)
def test_a_number_can_be_set_instead_of_added(said: tuple[str, ...], items: dict[str, int]) -> None:
    assert talk_to(restaurant(), "two pasta please", *said).state.get("app:items") == items


@pytest.mark.parametrize(
    "text",
    [
        "I might have the soup later",
        "how about the soup, is it fresh?",
        "another coffee and I won't sleep",
        "the pasta without cheese please",
        "please don't take the coffee off",
        "so that's two pasta and a coffee",
        "only three more minutes",
        "the pasta is for my son",
        "what happens if I cancel",
        "my friend will cancel his order",
    ],
)
def test_what_only_speaks_of_the_order_leaves_it_as_it_is(text: str) -> None:
    after = talk_to(restaurant(), "two pasta please", "and a coffee", text)
    assert after.state.get("app:items") == {"pasta": 2, "coffee": 1}
    assert after.phases[-1] == "order"


def test_a_number_that_was_heard_wrongly_is_set() -> None:
    assert talk_to(restaurant(), "two pasta please", "I said one pasta").state.get("app:items") == {"pasta": 1}


@pytest.mark.parametrize("text", ["of course it's raining", "I'd like a receipt please", "do it later", "send it back"])
def test_the_kitchen_is_sent_nothing_by_a_remark(text: str) -> None:
    paid = ("a soup please", "that is all", "yes that is right", "in cash please")
    assert "app:pick_up" not in talk_to(restaurant(), *paid, text).state


def test_the_dialogue_has_the_dishes_of_the_menu() -> None:
    assert set(bundled_script("restaurant").slots["dish"].values) == set(MENU)


def turn_of(words: str) -> TranscriptTurn:
    return TranscriptTurn(number=1, by="typed", started_at=0.0, user=words)


@pytest.mark.parametrize(("intent", "wish"), [("done", "done"), ("agree", "agrees"), ("cancel", "cancels")])
def test_the_agent_takes_the_dialogue_s_words_for_what_they_are(intent: str, wish: str) -> None:
    (meant,) = (one.means for one in bundled_script("restaurant").intents if one.name == intent)
    phrases = [" ".join(words) for meaning in meant for options in meaning.needs for words in options]
    understood = [words for words in phrases if wish in wishes(TranscriptWindow((turn_of(words),)))]
    assert understood == phrases


def test_an_empty_order_is_not_reviewed() -> None:
    assert talk_to(restaurant(), "that is all").phases == ["order"]


def test_a_finished_order_is_read_back() -> None:
    after = talk_to(restaurant(), *REVIEWED)
    assert after.phases == ["order", "review"]
    assert after.origin("app:done") == ("extractor", "wishes")
    instructions = [e.payload.text for e in after.events if isinstance(e.payload, ev.InstructionUpdated)]
    assert "2 pasta, 1 coffee, 25 dollars" in instructions[-1]


def test_an_order_under_review_can_still_be_changed() -> None:
    after = talk_to(restaurant(), *REVIEWED, "no coffee", "yes that is right")
    assert after.phases[-1] == "payment"
    assert after.state.get("app:items") == {"pasta": 2}


def test_an_order_that_was_not_read_back_is_not_agreed_to() -> None:
    after = talk_to(restaurant(), "two pasta please", "yes that is right")
    assert after.phases == ["order"]
    assert "app:agreed" not in after.state


@pytest.mark.parametrize("before", [(), ("two pasta please",), REVIEWED])
def test_an_order_can_be_cancelled_until_it_is_agreed_to(before: tuple[str, ...]) -> None:
    after = talk_to(restaurant(), *before, "cancel my order")
    assert after.phases[-1] == "cancelled"
    assert after.origin("app:cancelled") == ("extractor", "wishes")


def test_who_cannot_decide_is_told_of_the_dish_of_the_day() -> None:
    after = talk_to(restaurant(), "what do you have", "I do not know", "I do not know")
    (fired,) = [event.payload for event in after.events if isinstance(event.payload, ev.PatternFired)]
    assert fired.pattern == "cannot decide"
    assert after.origin("app:suggest") == ("watcher", "cannot decide")
    assert "Suggest the dish of the day: soup." in after.context_sent


def test_who_orders_in_time_is_not() -> None:
    after = talk_to(restaurant(), "what do you have", "a soup please", "I do not know", "I do not know")
    assert "app:suggest" not in after.state


def test_the_model_is_nudged_to_ask_for_an_order() -> None:
    told = talk_to(restaurant(), "thank you", "thank you").context_sent
    assert "[Still needed] what they would like to eat or drink. Ask for this next." in told


def test_one_can_talk_while_the_kitchen_cooks_and_hears_when_it_is_ready() -> None:
    async def main() -> list[str]:
        async with restaurant().connect(backend="local", fast=True) as session:
            events = session.events()
            for text in (*REVIEWED, "yes that is right", "in cash please"):
                await session.send_text(text)
                await session.until_quiet()
            assert session.why_blocked("ordered") == ["app:pick_up is not set"]
            await session.send_text("yes please")
            await asyncio.sleep(3)
            await session.send_text("is it ready")
            await asyncio.sleep(3)
            assert (session.phase, session.state.get("app:pick_up")) == ("payment", None)
            await session.until_quiet()
            assert (session.phase, session.state.get("app:pick_up")) == ("ordered", "counter two")
        said = ""
        async for event in events:
            if isinstance(event.payload, ev.TranscriptDelta) and event.payload.side == "model":
                said += event.payload.text
        return [said.partition(part)[1] and str(said.index(part)) for part in ANSWERS]

    places = run_virtual(main())
    assert all(places)
    assert [int(place) for place in places] == sorted(int(place) for place in places)


ANSWERS = (
    "That was 25 dollars in cash",
    "They're cooking it now.",
    "Just a moment",
    "Your order is ready: 2 pasta, 1 coffee, at counter two.",
)


def said(*texts: str) -> str:
    """Return the model's answer to the last of these texts."""
    after = talk_to(restaurant(), *texts)
    at = max(n for n, event in enumerate(after.events) if isinstance(event.payload, ev.TextSent))
    deltas = [e.payload for e in after.events[at:] if isinstance(e.payload, ev.TranscriptDelta)]
    return "".join(delta.text for delta in deltas if delta.side == "model")


def test_the_running_total_is_said_and_the_order_read_back_with_its_price() -> None:
    assert said("two pasta please", "and a coffee") == "That's 2 pasta, 1 coffee, 25 dollars. Anything else?"
    assert "So that's 2 pasta, 1 coffee, 25 dollars. Is your order right?" in said(*REVIEWED)


def test_who_has_ordered_nothing_is_asked_what_they_would_like() -> None:
    assert said("that is all").endswith("What would you like?")
    assert talk_to(restaurant(), "that is all", "a soup please").phases == ["order"]


@pytest.mark.parametrize(
    "yes", ["yes", "correct", "yes that's right", "yes that\u2019s right", "That is right.", "yes that is right indeed"]
)
def test_there_are_many_ways_to_agree(yes: str) -> None:
    assert talk_to(restaurant(), *REVIEWED, yes).phases[-1] == "payment"
    assert said(*REVIEWED, yes).startswith("Thank you.")


@pytest.mark.parametrize("no", ["no", "that is not right", "no that's not right", "yes and a soup", "two soup please"])
def test_what_is_no_consent_changes_the_order(no: str) -> None:
    assert talk_to(restaurant(), *REVIEWED, no).phases[-1] == "review"
    assert said(*REVIEWED, no).endswith("?")


@pytest.mark.parametrize(
    "enough", ["no", "that's all", "No, thank you.", "nothing else", "that will be all", "That will do."]
)
def test_there_are_many_ways_to_be_done(enough: str) -> None:
    assert talk_to(restaurant(), "a soup please", enough).phases[-1] == "review"
    assert said("a soup please", enough).startswith("All right.")


def test_an_order_that_loses_everything_is_taken_again() -> None:
    after = talk_to(restaurant(), "a soup please", "that is all", "no soup", "a fish please", "that is all")
    assert after.phases == ["order", "review", "order", "review"]


def test_an_order_can_be_cancelled_until_it_is_paid() -> None:
    agreed = (*REVIEWED, "yes")
    assert talk_to(restaurant(), *agreed, "cancel").phases[-1] == "cancelled"
    assert talk_to(restaurant(), *agreed, "in cash please", "cancel").phases[-1] == "payment"


def test_a_card_is_taken_by_a_task_after_which_the_order_goes_on() -> None:
    agreed = (*REVIEWED, "yes", "by card please")
    paid = talk_to(restaurant(), *agreed, "I have done that", "yes please")
    assert (paid.phases[-1], paid.state["app:paid_by"]) == ("ordered", "card")
    handed = [event.payload.agent for event in paid.events if isinstance(event.payload, ev.AgentHandedOff)]
    assert handed == ["card_payment", "restaurant"]


def test_a_card_that_does_not_work_leaves_the_bill_open() -> None:
    agreed = (*REVIEWED, "yes", "by card please")
    refused = talk_to(restaurant(), *agreed, "my card does not work")
    assert (refused.phases[-1], "app:paid_by" in refused.state) == ("payment", False)
    assert talk_to(restaurant(), *agreed, "my card does not work", "in cash please").state["app:paid_by"] == "cash"


def test_the_kitchen_waits_for_a_yes() -> None:
    paid = (*REVIEWED, "yes", "in cash")
    assert said(*paid).startswith("That was 25 dollars in cash")
    assert said(*paid, "no").startswith("I'll wait.")
    assert talk_to(restaurant(), *paid, "no", "yes").phases[-1] == "ordered"


def test_words_without_a_wish_leave_no_refusal_behind() -> None:
    after = talk_to(restaurant(), "two pasta please", "and a coffee")
    assert [event.payload for event in after.events if isinstance(event.payload, ev.PromotionDecided)] == []


@pytest.mark.parametrize("said", ["yep, sounds about right, go ahead", "all correct, ta", "smashing"])
def test_an_order_is_agreed_to_in_one_s_own_words(said: str) -> None:
    assert talk_to(restaurant(), *REVIEWED, said).phases[-1] == "payment"
