"""Test the clinic: utterances lead to phases, state and its writers."""

from __future__ import annotations

import pytest
from tests.agents.conversation import talk_to

from gemini_live_runtime import State
from gemini_live_runtime.agents.clinic import clinic
from gemini_live_runtime.agents.clinic_tools import FREE, find_slot
from gemini_live_runtime.events import InstructionUpdated, PromotionDecided

ANNA = "my name is Anna and I was born in 1982"


def test_a_known_patient_is_found_and_noted_by_the_tool() -> None:
    after = talk_to(clinic(), ANNA)
    assert after.phases == ["identify", "symptoms"]
    assert after.state.get("user:name") == "Anna"
    assert after.origin("user:name") == ("tool", "find_patient")
    assert after.origin("user:patient_id") == ("tool", "find_patient")


def test_whoever_is_not_in_the_records_is_asked_again() -> None:
    after = talk_to(clinic(), "my name is Robert and I was born in 1982")
    assert after.phases == ["identify"]
    assert "user:name" not in after.state


def test_name_and_year_may_come_one_after_the_other() -> None:
    assert talk_to(clinic(), "my name is Anna", "in 1982").phases == ["identify", "symptoms"]


def test_complaint_and_pain_are_read_out_of_the_conversation() -> None:
    after = talk_to(clinic(), ANNA, "I have a fever", "the pain is a four")
    assert after.phases[-1] == "schedule"
    assert (after.state.get("app:symptom"), after.state.get("app:pain")) == ("fever", 4)
    assert after.origin("app:symptom") == after.origin("app:pain") == ("extractor", "Intake")
    assert after.state.get("derived:urgency") == "routine"
    assert after.origin("derived:urgency") == ("computed", "urgency")


def test_a_complaint_without_its_pain_decides_nothing() -> None:
    after = talk_to(clinic(), ANNA, "I have a chest pain")
    assert after.phases[-1] == "symptoms"
    assert "derived:urgency" not in after.state


@pytest.mark.parametrize(("pain", "phase"), [("two", "schedule"), ("five", "emergency"), ("ten", "emergency")])
def test_strong_pain_in_the_chest_cannot_wait(pain: str, phase: str) -> None:
    assert talk_to(clinic(), ANNA, "I have a chest pain", f"the pain is a {pain}").phases[-1] == phase


def test_the_calendar_is_opened_before_an_appointment_is_looked_for() -> None:
    after = talk_to(clinic(), ANNA, "I have a cough", "it is a two")
    assert after.origin("app:calendar") == ("phase", "schedule")
    assert set(after.state.get("app:calendar")) == {"morning", "afternoon"}


@pytest.mark.parametrize(("pain", "day"), [("seven", "tomorrow"), ("eight", "today")])
def test_whoever_is_in_great_pain_is_seen_today(pain: str, day: str) -> None:
    after = talk_to(clinic(), ANNA, "I have a headache", f"it is a {pain}", "in the morning")
    assert after.phases[-1] == "confirm"
    assert after.state.get("app:offer") == f"{day} at nine"
    assert ("app:day" in after.state) == (day == "today")
    if day == "today":
        assert after.origin("app:day") == ("watcher", "great pain")


OFFERED = (ANNA, "I have a fever", "the pain is a four", "in the morning")


def test_what_is_agreed_to_and_booked_ends_the_conversation() -> None:
    after = talk_to(clinic(), *OFFERED, "yes please")
    assert after.phases[-2:] == ["confirm", "booked"]
    assert after.state.get("app:booking") == {"patient": "P-17", "at": "tomorrow at nine"}
    assert after.origin("app:booking") == ("tool", "book_slot")
    assert after.origin("app:agreed") == ("extractor", "Intake")


def test_an_offer_that_is_declined_is_forgotten_and_another_looked_for() -> None:
    after = talk_to(clinic(), *OFFERED, "no thank you")
    assert after.phases[-2:] == ["confirm", "schedule"]
    assert not {"app:offer", "app:agreed", "app:booking"} & set(after.state.keys())
    again = talk_to(clinic(), *OFFERED, "no thank you", "in the afternoon", "yes please")
    assert again.state.get("app:booking")["at"] == "tomorrow at two"


@pytest.mark.parametrize(("before", "said"), [((), "Wednesday morning"), (("in the morning",), "friday afternoon")])
def test_who_wants_another_day_hears_that_only_the_next_is_booked(before: tuple[str, ...], said: str) -> None:
    after = talk_to(clinic(), ANNA, "I have a fever", "the pain is a four", *before, said)
    assert "I can only book the next free day. I can offer you tomorrow at" in after.said


def test_a_yes_before_anything_was_offered_is_no_consent() -> None:
    after = talk_to(clinic(), ANNA, "yes please")
    assert "app:agreed" not in after.state
    (decision,) = [e.payload for e in after.events if isinstance(e.payload, PromotionDecided)]
    assert (decision.field, decision.accepted) == ("agrees", False)
    assert decision.reason == "appointment was not presented yet"


@pytest.mark.parametrize("missing", ["app:agreed", "app:booking"])
def test_consent_and_booking_are_both_needed(missing: str) -> None:
    plan = clinic().plan()
    machine, state = plan.make_machine(), plan.make_state()
    assert machine is not None
    machine.current, machine.entered = "confirm", True
    for key, value in {"app:agreed": True, "app:booking": {"patient": "P-17", "at": "noon"}}.items():
        state.set(key, value)
    assert machine.evaluate(state).kind == "ready"
    state.remove(missing)
    assert machine.evaluate(state).kind == "none"


def test_the_model_is_told_whom_it_talks_to() -> None:
    after = talk_to(clinic(), ANNA)
    updates = [event.payload.text for event in after.events if isinstance(event.payload, InstructionUpdated)]
    assert updates[-1].endswith("[Caller] Name: Anna.")


def test_a_conversation_that_gets_nowhere_is_nudged() -> None:
    told = talk_to(clinic(), "thank you", "thank you", "thank you").context_sent
    assert "[Still needed] the caller's name. Ask for this next." in told


def test_short_answers_count_after_their_questions() -> None:
    after = talk_to(clinic(), "Anna", "1982", "fever", "4", "morning", "yes")
    assert after.phases[-1] == "booked"


def test_another_part_of_the_day_is_looked_for_instead() -> None:
    after = talk_to(clinic(), *OFFERED, "in the afternoon")
    assert after.phases[-1] == "confirm"
    assert after.state.get("app:offer") == "tomorrow at two"
    assert "app:booking" not in after.state


def test_pain_that_grows_while_an_appointment_is_offered_cannot_wait() -> None:
    after = talk_to(clinic(), ANNA, "I have a chest pain", "it is a two", "in the morning", "the pain is a nine")
    assert after.phases[-1] == "emergency"


def test_what_is_wrong_may_be_said_before_the_name() -> None:
    after = talk_to(clinic(), "I have a fever", ANNA, "it is a four")
    assert after.phases[-1] == "schedule"


def test_any_complaint_will_do() -> None:
    assert talk_to(clinic(), ANNA, "my left knee hurts").state.get("app:symptom") == "left knee"


@pytest.mark.parametrize("said", ["first thing in the morning, please", "bright and early please"])
def test_a_part_of_the_day_may_be_told_twice_or_by_an_idiom(said: str) -> None:
    after = talk_to(clinic(), ANNA, "I have a fever", "four", said)
    assert after.state.get("app:offer") == "tomorrow at nine"


@pytest.mark.parametrize("said", ["yep, sounds about right, go ahead", "smashing, book me in", "righto"])
def test_an_offer_is_taken_in_one_s_own_words(said: str) -> None:
    assert talk_to(clinic(), ANNA, "I have a fever", "four", "in the morning", said).phases[-1] == "booked"


def test_an_answer_to_the_offer_before_declines_no_newer_one() -> None:
    after = talk_to(clinic(), ANNA, "I have a cough", "it is a two", "in the morning", "no, eleven")
    assert after.phases[-1] == "confirm"
    assert after.state.get("app:offer") == "tomorrow at eleven"
    assert "app:agreed" not in after.state


def test_an_hour_that_is_not_free_is_refused_with_those_that_are() -> None:
    state = State({"app:calendar": FREE})
    assert find_slot.function("morning", state, "ten") == {
        "error": "In the morning only nine and eleven are free, not ten"
    }
    assert "app:offer" not in state
