"""Test that technical support tries both remedies and then hands over."""

from __future__ import annotations

import asyncio

import pytest
from tests.agents.conversation import ConversationOutcome, talk_to

from gemini_live_runtime import State
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.tech_support import tech_support, ticket
from gemini_live_runtime.clock import run_virtual


def call(*said: str) -> ConversationOutcome:
    return talk_to(tech_support(), *said)


def entered(happened: ConversationOutcome, phase: str) -> ev.PhaseEntered:
    """Return the last event of entering `phase`."""
    return [e.payload for e in happened.events if isinstance(e.payload, ev.PhaseEntered) and e.payload.phase == phase][
        -1
    ]


def test_a_restart_that_helps_solves_it() -> None:
    happened = call("my internet is slow", "restart the router", "it works again")
    assert happened.phases == ["describe", "diagnose", "solved"]
    assert happened.origin("session:called_ok:restart_router")[0] == "signal"


def test_that_it_works_is_believed_only_once_something_was_done() -> None:
    happened = call("my internet is slow", "it works again")
    assert happened.phases[-1] == "diagnose"
    decided = [event.payload for event in happened.events if isinstance(event.payload, ev.PromotionDecided)]
    assert [(item.field, item.accepted) for item in decided][-1] == ("works", False)


def test_that_it_worked_before_the_restart_does_not_count_after_it() -> None:
    happened = call("my internet is slow", "it works again", "restart the router", "say that again")
    assert happened.phases[-1] == "diagnose"


def test_a_broken_line_goes_to_a_technician_without_a_restart() -> None:
    happened = call("the telephone does not work", "test the line")
    assert happened.phases[-1] == "escalate"
    assert entered(happened, "escalate").because == "the line is broken, which no restart will fix"
    assert happened.origin("bg:line") == ("tool", "check_line")


def test_the_conversation_goes_on_while_the_line_is_tested() -> None:
    async def main() -> tuple[list[str], str]:
        answered = []
        async with tech_support().connect(backend="local", fast=True) as session:
            await session.until_quiet()
            await session.send_text("the telephone does not work")
            await session.until_quiet()
            await session.send_text("test the line")
            await asyncio.sleep(2.5)
            answered.append(session.state.get("session:last_output_transcription"))
            assert "bg:line" not in session.state
            assert session.phase == "diagnose"
            await session.until_quiet()
            answered.append(session.state.get("session:last_output_transcription"))
            return answered, session.phase

    answered, phase = run_virtual(main())
    assert phase == "escalate"
    assert "The line is broken" in answered[-1]


def test_a_router_that_cannot_be_reached_twice_is_given_up() -> None:
    once = call("I have no internet", "restart the router")
    assert once.phases[-1] == "diagnose"
    twice = call("I have no internet", "restart the router", "try it again")
    assert twice.phases[-1] == "escalate"
    assert twice.origin("app:hopeless") == ("watcher", "no router")


def test_who_asks_for_a_person_gets_one() -> None:
    happened = call("I want to talk to a person", "ask for Maria Lopez")
    assert happened.phases == ["describe", "escalate", "handed_over"]
    assert happened.state["user:name"] == "Maria Lopez"


def test_who_is_not_understood_for_long_is_handed_over() -> None:
    happened = call(*["the fridge hums"] * 8)
    assert happened.phases[-1] == "escalate"
    assert entered(happened, "escalate").because == "we do not understand each other"
    acted = [event.payload.action for event in happened.events if isinstance(event.payload, ev.RepairActed)]
    assert acted[0] == "nudge"
    assert "escalate" in acted


def test_the_test_of_the_line_does_not_count_for_another_problem() -> None:
    happened = call("my internet is slow", "test the line", "now I have no internet")
    assert "bg:line" not in happened.state
    fired = [event.payload.watcher for event in happened.events if isinstance(event.payload, ev.WatcherFired)]
    assert fired == ["another problem", "another problem"]


def test_the_model_is_told_what_was_found_so_far() -> None:
    happened = call("my internet is slow", "test the line")
    assert '[So far: problem="slow internet", line="good"]' in happened.context_sent


@pytest.mark.parametrize(
    ("problem", "line", "expected"),
    [
        (None, None, "unclear"),
        ("no internet", None, "internet-untested"),
        ("no telephone", "broken", "telephone-broken"),
    ],
)
def test_the_ticket_says_what_is_known(problem: str | None, line: str | None, expected: str) -> None:
    state = State()
    if problem:
        state["app:problem"] = problem
    if line:
        state["bg:line"] = line
    assert ticket(state) == expected


SLOW = "my internet is slow"


def test_a_yes_and_a_no_answer_what_was_asked() -> None:
    assert call(SLOW, "yes").state["bg:line"] == "good"
    assert "Hello, this is the line specialist." in call(SLOW, "restart the router", "no", "yes").said
    assert "What should I do?" in call(SLOW, "restart the router", "no", "no").said
    assert call(SLOW, "restart the router", "yes").phases[-1] == "solved"
    assert call(SLOW, "restart the router", "no").phases[-1] == "diagnose"
    assert call("I have no internet", "restart the router", "yes").phases[-1] == "escalate"


SPECIALIST = (SLOW, "please restart the router", "no it does not", "yes please")


def test_the_specialist_resets_the_connection_and_hands_back_to_the_end_that_the_caller_tells() -> None:
    works = call(*SPECIALIST, "yes please", "yes it works now")
    assert (works.phases[-1], works.state["app:works"]) == ("solved", True)
    assert works.said.endswith("I'm handing you back.I'm glad it's working again. Goodbye.")
    still_not = call(*SPECIALIST, "yes please", "no", "ask for Maria Lopez")
    assert (still_not.phases[-1], still_not.state["user:name"]) == ("handed_over", "Maria Lopez")


def test_whoever_wants_no_specialist_is_sent_a_technician() -> None:
    for said in ("no thank you", "hand me back"):
        assert call(*SPECIALIST, said).phases[-1] == "escalate"
    assert call(SLOW, "put me through to the specialist", "reset my connection", "it works now").phases[-1] == "solved"


@pytest.mark.parametrize(("said", "problem"), [("its speed", "slow internet"), ("the telephone", "no telephone")])
def test_what_does_not_work_may_be_named_alone(said: str, problem: str) -> None:
    assert call(said).state["app:problem"] == problem


def test_the_technician_may_ask_for_anybody() -> None:
    assert call("give me a technician", "Ada Byron").state["user:name"] == "Ada Byron"


def test_a_name_that_is_introduced_is_the_one_to_ask_for() -> None:
    assert call("my internet is slow", "I want to talk to a person", "my name's Dave").state["user:name"] == "Dave"


def test_the_second_failure_is_not_offered_another_try() -> None:
    happened = talk_to(tech_support(), "I have no internet", "restart the router", "try it again")
    assert happened.phases[-1] == "escalate"
    assert happened.said.count("Shall I try again?") == 1
