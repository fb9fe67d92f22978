"""Questions that ask a user aloud: what may be declared, and what is said."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_live_runtime import Tool, tool
from gemini_live_runtime.agents.card_payment import CardPayment
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.declaration import ToolContext
from gemini_live_runtime.tools.voice_consent import MAX_ARGUMENT, NotSayableError, spoken_question

ASKS = "Shall I order a taxi to {place} for {people} people?"


def taxi(place: str, context: ToolContext, people: int = 1) -> str:
    """Order a taxi."""
    return place


def declared(question: Any = ASKS, **options: Any) -> Tool:
    return tool(voice_consent=question, **options)(taxi)


def asked(**args: Any) -> str:
    one = declared()
    return spoken_question(one.voice_consent, one.parameters, args)


def test_the_question_names_the_arguments_and_the_defaults_of_those_left_out() -> None:
    assert asked(place="the harbor", people=2) == "Shall I order a taxi to the harbor for 2 people?"
    assert asked(place="the harbor") == "Shall I order a taxi to the harbor for 1 people?"


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({}, "leaves out place"),
        ({"place": "x" * (MAX_ARGUMENT + 1)}, "place is too long"),
        ({"place": "…"}, "place cannot be said"),
        ({"place": {"city": "Rome"}}, "place cannot be said"),
        ({"place": "Rome", "people": True}, "people cannot be said"),
        ({"place": []}, "place cannot be said"),
        ({"place": "Rome", "people": -2}, "people cannot be said"),
        ({"place": "Rome", "people": 1e20}, "people cannot be said"),
        ({"place": "Rome", "people": float("nan")}, "people cannot be said"),
        ({"place": "route 7, \u22125 degrees"}, "place cannot be said"),
    ],
)
def test_an_argument_that_cannot_be_heard_whole_is_not_asked_about_aloud(args: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotSayableError, match=reason):
        asked(**args)


@pytest.mark.parametrize(("number", "said"), [(491701234567, "491701234567"), (1.5, "1.5"), (3.0, "3")])
def test_a_number_is_asked_about_with_all_its_digits(number: float, said: str) -> None:
    assert asked(place="Rome", people=number) == f"Shall I order a taxi to Rome for {said} people?"


def test_the_text_of_an_argument_is_sanitised_and_its_braces_are_not_read() -> None:
    assert asked(place="\x1b[31m{people}\u202e") == "Shall I order a taxi to {people} for 1 people?"


def test_the_model_does_not_wait_for_a_tool_that_is_asked_about_aloud() -> None:
    assert not declared().blocking
    assert not declared(spillable=True).blocking
    assert declared(spillable=True).mode.spills
    assert declared(scheduling="INTERRUPT").scheduling == "INTERRUPT"


@pytest.mark.parametrize(
    ("question", "options", "problem"),
    [
        (True, {}, "cannot be True"),
        ("Shall I?", {}, "leaves out the parameter place"),
        ("To {place} with {people} and {luggage}?", {}, "names 'luggage', which is no parameter"),
        ("To {place.upper} with {people}?", {}, "has {place.upper}"),
        ("To {place:>9} with {people}?", {}, "has {place}"),
        ("To {place with {people}?", {}, "cannot be read"),
        ("To {} with {place} and {people}?", {}, "has {}"),
        (f"{ASKS}\n", {}, "not one line"),
        (ASKS + "x" * 300, {}, "not one line"),
        (ASKS, {"blocking": True}, "does not wait"),
        (ASKS, {"risk": "money"}, "touches money gets no spoken consent"),
        (ASKS, {"risk": "files"}, "touches files gets no spoken consent"),
        (ASKS, {"risk": "commands"}, "touches commands gets no spoken consent"),
        (ASKS, {"risk": "love"}, "risk cannot be 'love'"),
    ],
)
def test_what_cannot_be_asked_aloud_is_refused_when_it_is_declared(
    question: Any, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(AgentError) as raised:
        declared(question, **options)
    assert problem in raised.value.message
    assert raised.value.remedy


def test_a_tool_with_a_schema_of_its_own_is_asked_about_too() -> None:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}

    def order(args: dict[str, Any]) -> str:
        return str(args)

    one = Tool.from_schema("order", "Order.", schema, order, voice_consent="To {place}?")
    assert spoken_question(one.voice_consent, one.parameters, {"place": "Rome"}) == "To Rome?"
    with pytest.raises(AgentError, match="leaves out the parameter place"):
        Tool.from_schema("order", "Order.", schema, order, voice_consent="Shall I?")


def test_the_bundled_card_payment_takes_no_spoken_consent() -> None:
    assert CardPayment.card_read.risk == "money"
