"""Test that the call screener connects urgent calls from Sam's contacts only."""

from __future__ import annotations

import asyncio

from tests.agents.conversation import ConversationOutcome, talk_to

from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.call_screening import call_screening
from gemini_live_runtime.clock import run_virtual


def call(*said: str) -> ConversationOutcome:
    return talk_to(call_screening(), *said)


def test_the_screener_speaks_first_and_asks_who_it_is() -> None:
    assert call().phases == ["screen"]
    first = call_screening().plan().definition.phases[0]
    assert first.prompt_on_enter


def test_somebody_sam_knows_is_put_through_when_it_is_urgent() -> None:
    happened = call("this is Anna Miller", "it is about the house", "it is urgent")
    assert happened.phases == ["screen", "decide", "connected"]
    assert happened.state["app:contact"] == "his sister"
    assert happened.origin("app:contact") == ("phase", "connected")
    assert happened.origin("user:caller") == ("extractor", "Call")


def test_the_model_hears_who_it_is_when_it_puts_somebody_through() -> None:
    happened = call("this is Anna Miller", "it is about the house", "it is urgent")
    assert "[Caller] Name: Anna Miller. To Sam: his sister. About: the house." in happened.context_sent


def test_a_stranger_leaves_a_message_however_urgent_it_is() -> None:
    happened = call("this is Peter Brown it is about the car", "it is urgent", "tell him I will be late")
    assert happened.phases == ["screen", "decide", "message", "message_taken"]
    blocked = [event.payload for event in happened.events if isinstance(event.payload, ev.PhaseBlocked)]
    assert [(item.target, item.missing, item.preparing) for item in blocked] == [
        ("connected", ("app:contact",), ("look up the caller",))
    ]
    assert happened.state["app:message"] == "I will be late"


def test_what_can_wait_becomes_a_message_even_from_his_sister() -> None:
    happened = call("this is Anna Miller it is about the dog", "it can wait")
    assert happened.phases[-1] == "message"
    assert "app:contact" not in happened.state


def test_sam_sees_a_message_at_once() -> None:
    happened = call("this is John Smith it is about the car", "it can wait", "tell him to call me back")
    notices = [event.payload.text for event in happened.events if isinstance(event.payload, ev.Notice)]
    assert "A message from John Smith: to call me back" in notices


def test_a_caller_may_leave_without_a_message() -> None:
    happened = call("this is Peter Brown it is about the car", "it can wait", "no message, thank you")
    assert happened.phases == ["screen", "decide", "message", "left"]
    assert "app:message" not in happened.state


def test_selling_ends_the_call_at_any_time() -> None:
    assert call("I have a special offer for you").phases == ["screen", "rejected"]
    late = call("this is Peter Brown it is about the house", "I would like to sell you something")
    assert late.phases == ["screen", "decide", "rejected"]


def test_a_second_name_does_not_make_another_caller() -> None:
    happened = call("this is Peter Brown", "my name is Anna Miller")
    assert happened.state["user:caller"] == "Peter Brown"
    decided = [event.payload for event in happened.events if isinstance(event.payload, ev.PromotionDecided)]
    assert decided[-1].reason == "is_the_same_caller returned false"


def test_who_does_not_say_who_it_is_may_still_leave_a_message() -> None:
    happened = call(*["never you mind"] * 3, "tell him I called")
    assert happened.phases == ["screen", "message", "message_taken"]  # whoever speaks is not asked "is anyone there"
    notices = [event.payload.text for event in happened.events if isinstance(event.payload, ev.Notice)]
    assert "A message from somebody: I called" in notices


def test_silence_is_asked_into_once_and_then_the_call_ends() -> None:
    async def main() -> list[str]:
        phases = []
        async with call_screening().connect(backend="local", fast=True) as session:
            for seconds in (18, 10, 70):
                await asyncio.sleep(seconds)
                phases.append(session.phase)
        return phases

    assert run_virtual(main()) == ["screen", "ask_again", "rejected"]


def test_who_answers_when_asked_again_is_screened_like_anybody() -> None:
    async def main() -> tuple[str, str]:
        async with call_screening().connect(backend="local", fast=True) as session:
            await asyncio.sleep(28)
            asked = session.phase
            await session.send_text("this is Anna Miller it is about the party")
            await session.until_quiet()
            return asked, session.phase

    assert run_virtual(main()) == ("ask_again", "decide")


def test_a_reason_may_be_given_as_it_is_when_it_was_asked_for() -> None:
    happened = call("this is Anna Miller", "a birthday")
    assert happened.phases == ["screen", "decide"]
    assert happened.state["user:reason"] == "a birthday"
    assert not [event for event in happened.events if "catch" in str(event.to_json()["data"])]


def test_anybody_may_call_by_their_own_name() -> None:
    happened = call("this is Tom it is about the big red car", "it can wait", "I come on Sunday")
    assert happened.phases[-1] == "message_taken"
    assert happened.state["user:caller"] == "Tom"
    assert happened.state["app:message"] == "I come on Sunday"


def test_how_urgent_it_is_counts_when_it_is_asked() -> None:
    assert call("it is very urgent", "this is Anna Miller it is about the dog").phases == ["screen", "decide"]


def test_a_caller_who_corrects_their_name_is_asked_on_under_the_new_one() -> None:
    happened = call("this is Dan", "no, it's Stan, S T A N")
    assert happened.phases == ["screen"]
    assert happened.state["user:caller"] == "Stan"
    assert "user:reason" not in happened.state


def test_a_misheard_correction_of_a_name_is_no_reason() -> None:
    happened = call("this is Bill from the bank", "No, not a bill, Phil.")
    assert "user:reason" not in happened.state


def test_a_no_before_a_reason_does_no_harm() -> None:
    assert "his car" in call("this is Bill from the bank", "No, it's about his car").state["user:reason"]


def test_another_name_without_a_correction_stays_a_part_of_the_reason() -> None:
    happened = call("this is Dan", "it's about the car and Stan")
    assert happened.state["user:caller"] == "Dan"
