"""Test that the debt collector keeps to the rules and mentions no money too early."""

from __future__ import annotations

import pytest
from tests.agents.conversation import ConversationOutcome, talk_to
from tests.unit.session.session_support import stage

from gemini_live_runtime import State, TemporalEvent, TemporalRegistry
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.debt_collection import debt_collection
from gemini_live_runtime.agents.debt_tools import take_payment, verify_identity
from gemini_live_runtime.local.dialogue.slot_extractor import SlotExtractor
from gemini_live_runtime.local.scripts.script import bundled_script

KNOWN = ("yes I understand", "my name is Maria Lopez", "forty two")


def call(*said: str) -> ConversationOutcome:
    return talk_to(debt_collection(), *said)


async def test_a_model_that_takes_money_before_the_notice_is_understood_is_refused() -> None:
    model = SlotExtractor(bundled_script("debt_collection"))
    async with stage(agent=debt_collection(), mode="text", text_model=model) as s:
        await s.server.accepts()
        await s.server.says(toolCall={"functionCalls": [{"id": "1", "name": "take_payment", "args": {"amount": 50}}]})
        await s.sink.until(ev.ToolFinished)
        await s.settled()
    (ended,) = s.sink.all(ev.ToolFinished)
    assert ended.status == "refused"
    assert "not available in the phase notice" in ended.result["error"]
    assert "app:paid" not in s.state


def test_the_model_does_not_know_the_amount_before_the_person_is_verified() -> None:
    happened = call(*KNOWN)
    phase = ""
    for event in happened.events:
        if isinstance(event.payload, ev.PhaseEntered):
            phase = event.payload.phase
        if phase != "negotiate" and event.type in ("instruction.updated", "context.sent", "tool.finished"):
            assert "300" not in str(event.to_json()["data"]), event
    told = [event.payload.text for event in happened.events if isinstance(event.payload, ev.InstructionUpdated)]
    assert "300 dollars" in told[-1]


def test_who_does_not_know_the_digits_gets_no_further() -> None:
    happened = call("yes I understand", "my name is Maria Lopez", "seventeen")
    assert happened.phases == ["notice", "verify"]
    assert "user:name" not in happened.state
    assert "session:called_ok:verify_identity" not in happened.state


@pytest.mark.parametrize("said", [(), ("yes I understand",), KNOWN, (*KNOWN, "I can pay fifty dollars a month")])
def test_a_dispute_stops_everything_at_any_time(said: tuple[str, ...]) -> None:
    happened = call(*said, "this is not my debt")
    assert happened.phases[-1] == "disputed"
    assert happened.origin("app:disputed") == ("extractor", "Said")


def test_a_part_payment_leaves_the_rest_to_be_arranged() -> None:
    happened = call(*KNOWN, "I will pay one hundred dollars", "I can pay fifty dollars a month", "I agree to the plan")
    assert happened.phases == ["notice", "verify", "negotiate", "plan", "arranged"]
    assert happened.state["derived:left"] == 200
    assert happened.origin("app:paid") == ("tool", "take_payment")


def test_more_than_what_is_left_is_not_taken() -> None:
    state = State()
    state.set_derived("left", 120)
    with pytest.raises(ValueError, match="120 dollars are left"):
        take_payment.function(amount=200, state=state)
    assert "app:paid" not in state


def test_a_stranger_is_not_verified() -> None:
    with pytest.raises(ValueError, match="do not match"):
        verify_identity.function(name="Nobody", digits=42, state=State())


def test_nobody_agrees_to_a_plan_that_was_not_presented() -> None:
    happened = call(*KNOWN, "I agree to the plan")
    assert happened.phases[-1] == "negotiate"
    decided = [e.payload for e in happened.events if isinstance(e.payload, ev.PromotionDecided)]
    refused = [decision for decision in decided if decision.field == "agreed"][-1]
    assert (refused.accepted, refused.reason) == (False, "plan was not presented yet")


def test_a_plan_that_does_not_suit_is_forgotten_and_another_one_is_found() -> None:
    happened = call(
        *KNOWN,
        "I can pay one hundred dollars a month",
        "that is too much for me",
        "I can pay twenty dollars a month",
        "I agree to the plan",
    )
    assert happened.phases[2:] == ["negotiate", "plan", "negotiate", "plan", "arranged"]
    assert happened.state["app:monthly"] == 20


def test_anger_makes_the_model_gentle() -> None:
    happened = call("this is ridiculous")
    assert happened.origin("app:gentle")[0] == "watcher"
    told = [event.payload.text for event in happened.events if isinstance(event.payload, ev.InstructionUpdated)]
    assert told[-1].endswith("They are upset: apologise, slow down, listen.")


def test_three_refusals_in_a_row_are_enough_to_offer_another_day() -> None:
    twice = call(*KNOWN, "I have no money", "I cannot pay that")
    assert "app:tired" not in twice.state
    thrice = call(*KNOWN, "I have no money", "I cannot pay that", "I have no money")
    assert thrice.origin("app:tired") == ("watcher", "noes")
    assert thrice.phases[-1] == "negotiate"
    told = [event.payload.text for event in thrice.events if isinstance(event.payload, ev.InstructionUpdated)]
    assert told[-1].endswith("Stop asking for money. Offer to call another day.")


def test_a_word_that_is_no_refusal_begins_the_count_anew() -> None:
    happened = call(*KNOWN, "I have no money", "I cannot pay that", "say that again", "I have no money")
    assert "app:tired" not in happened.state


def test_somebody_who_cuts_in_three_times_a_minute_is_treated_gently() -> None:
    patterns = TemporalRegistry(debt_collection().plan().definition.patterns)
    cut = TemporalEvent("event", type=ev.TurnInterrupted.type)
    fired = [patterns.observe(cut, State(), now).fired for now in (0.0, 30.0, 59.0)]
    assert [len(found) for found in fired] == [0, 0, 1]
    assert fired[-1][0].pattern.name == "cuts"


def said(*texts: str) -> str:
    """Everything that the model says."""
    deltas = [event.payload for event in call(*texts).events if isinstance(event.payload, ev.TranscriptDelta)]
    return "".join(delta.text for delta in deltas if delta.side == "model")


@pytest.mark.parametrize("wrong", [("my name is Bob",), ("Anna Miller", "nine"), ("no",)])
def test_who_is_not_found_hears_whom_the_demo_knows(wrong: tuple[str, ...]) -> None:
    assert "Maria Lopez with forty two" in said("yes", *wrong)


def test_name_and_digits_come_in_any_order_and_between_other_words() -> None:
    assert call("yes", "42", "Maria Lopez").phases[-1] == "negotiate"
    assert call("yes", "Maria Lopez", "hm", "hm", "hm", "42").phases[-1] == "negotiate"


def test_a_day_that_was_named_too_early_ends_no_call() -> None:
    assert call("please call me on Monday", *KNOWN).phases[-1] == "negotiate"


def test_somebody_may_ask_for_another_day_instead_of_a_plan() -> None:
    assert call(*KNOWN, "I can pay fifty dollars a month", "please call me on Monday").phases[-1] == "call_back"


def test_a_yes_agrees_to_what_was_asked() -> None:
    assert call("yes").phases[-1] == "verify"
    assert call(*KNOWN, "I can pay fifty dollars a month", "yes").phases[-1] == "arranged"
    assert call(*KNOWN, "I can pay fifty dollars a month", "no").phases[-1] == "negotiate"


@pytest.mark.parametrize(
    "said",
    [
        "take a hundred, and fifty a month",
        "a hundred today, fifty a month after",
        "a hundred now and then fifty a month after that",
    ],
)
def test_an_amount_and_a_monthly_sum_are_not_added(said: str) -> None:
    happened = call(*KNOWN, said)
    assert (happened.state["app:paid"], happened.state["app:monthly"]) == (100, 50)


@pytest.mark.parametrize("said", ["no, make that forty", "no, let's say forty", "sixty, no, let's say forty a month"])
def test_another_sum_instead_of_a_yes_is_read_back(said: str) -> None:
    happened = call(*KNOWN, "I can pay fifty dollars a month", said)
    assert happened.phases[-1] == "plan"
    assert happened.state["app:monthly"] == 40


@pytest.mark.parametrize("said", ["put that in writing and I'll think about it", "could you send that by post"])
def test_a_wish_for_paper_is_no_dispute(said: str) -> None:
    assert call(*KNOWN, "I can pay fifty dollars a month", said).phases[-1] == "plan"


def test_a_wish_for_letters_only_ends_the_calls() -> None:
    assert call(*KNOWN, "only contact me in writing from now on", "yes").phases[-1] == "no_calls"


@pytest.mark.parametrize(
    "asked", ["why are you calling me", "what is this about?", "who is this", "what do you want from me"]
)
def test_who_asks_why_they_are_called_is_told_without_the_amount(asked: str) -> None:
    happened = call("yes I understand", asked)
    assert happened.phases == ["notice", "verify"]
    assert "This is Harbor Bank, about a debt." in happened.said
    assert happened.said.endswith("May I have your full name?")
    assert "300" not in happened.said
