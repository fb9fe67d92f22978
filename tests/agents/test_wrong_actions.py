"""Sentences that once led a bundled agent to an action unasked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

ANNA = ["My name is Anna and I was born in 1982."]
MARIA = ["Yes I understand.", "My name is Maria Lopez.", "Forty two."]
JOHN = ["Yes I understand.", "My name is John Smith.", "Seventeen."]

KEMI = ["this is Kemi", "it is about the boiler", "it can wait"]
TABLE = ["I'd like to book a table", "for two people"]
PASTA = ["A pasta please.", "That is all.", "Yes, that is right."]

UNASKED: list[tuple[str, list[str], str]] = [
    ("concierge", [], "can you write something down for me"),
    ("restaurant", [], "My nephew can't have nuts, is there any in the salad?"),
    ("restaurant", [], "are you a real waiter"),
    ("debt_collection", [], "is this a scam"),
    ("debt_collection", ["Yes I understand."], "I'm Maria Lopez, last four digits 4242"),
    ("call_screening", [], "it's working now"),
    ("call_screening", [], "I'm returning her call"),
    ("call_screening", ["My name is Anna."], "hold on a second"),
    ("tech_support", [], "don't touch my router"),
    ("tech_support", [], "I don't need a technician, just tell me how to change my wifi password."),
    ("concierge", [], "I love the weather in Rome"),
    ("concierge", [], "the weather was dreadful, wasn't it"),
    ("restaurant", PASTA, "do you take cards?"),
    ("restaurant", ["One pasta and one salad."], "same again for my mate"),
    ("restaurant", ["One soup and two coffees."], "make that three"),
    ("restaurant", [], "I want a pasta, no, hold on, a pizza, and make it two."),
    (
        "call_screening",
        ["this is Peter Brown", "about the contract", "it can wait"],
        "I don't do messages, I want to speak to the man himself.",
    ),
    ("concierge", ["book a table", "for two people"], "what times do you have?"),
    ("concierge", ["order a taxi"], "how long will it be?"),
    ("concierge", [], "let's say we wanted a table for six at eight, would that work?"),
    ("concierge", [], "should we miss the bus, then we'll want a taxi"),
    ("concierge", [], "before you order a taxi, ask me"),
    ("concierge", [], "wait until I say so and then order a taxi"),
    ("concierge", [], "the taxi to the Hilton was late"),
    ("concierge", [], "is there a taxi to the Hilton?"),
    ("clinic", [], "my neighbour had a heart attack last year"),
    ("clinic", [], "my son Peter was born in 2010"),
    ("concierge", [], "the note reads: set a timer for ten minutes"),
    ("clinic", [*ANNA, "I have a sore throat.", "The pain is a four."], "not Tuesday, I'm away then"),
    ("clinic", [*ANNA, "I have a sore throat.", "The pain is a four.", "In the morning."],
     "sure, as if I could get up that early"),
    ("clinic", ANNA, "nobody in my family has asthma"),
    ("clinic", ANNA, "I'm calling back about my results"),
    ("restaurant", [], "oh lovely, fish again"),
    ("restaurant", [], "a plate of pasta for me and the same for my friend"),
    ("restaurant", ["One pasta."], "what happens when I'm done?"),
    ("restaurant", PASTA, "can one pay by card here?"),
    ("restaurant", PASTA, "oh sure, take all my cash"),
    ("debt_collection", MARIA, "oh sure, take three hundred dollars, I'm made of money"),
    ("debt_collection", [], "can people dispute this?"),
    ("call_screening", [], "are you selling something?"),
    ("call_screening", ["My name is Anna.", "It is about dinner."], "what do you mean, urgent?"),
    (
        "call_screening",
        ["this is Peter Brown", "about the contract", "it can wait"],
        "actually I have nothing to say",
    ),
    ("tech_support", ["My internet is slow."], "oh yes, restart the router, that always works wonders"),
    ("tech_support", ["My internet is slow."], "before you restart the router, let me save my work"),
    ("tech_support", ["My internet is slow.", "I want to speak to a person."], "I said technician, not magician"),
    ("tech_support", [], "what if my internet was slow?"),
    ("call_screening", KEMI, "can people leave messages here"),
    ("call_screening", KEMI, "please don't hang up on me"),
    ("concierge", TABLE, "suppose I wanted a table for eight, would that work"),
    ("concierge", TABLE, "she told me to set a timer for ten minutes"),
    ("concierge", TABLE, "the last guest asked for a taxi at six"),
    ("concierge", TABLE, "am I allowed to cancel the taxi later"),
    ("concierge", TABLE, "yesterday I booked a table for two at eight"),
    ("concierge", TABLE, "you shouldn't have booked a table for three"),
    ("concierge", TABLE, "it would be silly to book a table for one"),
    ("concierge", TABLE, "when should I book a table for four"),
    ("clinic", ANNA, "I read that a cough can last for weeks"),
    ("clinic", ANNA, "are headaches common at this time of year"),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_was_not_asked(agent: str, before: list[str], say: str) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, "refuses": True})
    assert judged.is_right, judged.turn


RIGHT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("concierge", [], "can you book a table for tonight", {"asks": True}),
    ("concierge", [], "book a table for four at seven, I mean at eight",
     {"call": {"tool": "book_table", "args": {"people": 4, "time": "20:00"}}}),
    ("restaurant", [], "two soups, no, three", {"state": {"app:items": {"soup": 3}}}),
    ("restaurant", ["Two soups and a coffee."], "no coffee, I mean, no soup", {"state": {"app:items": {"coffee": 1}}}),
    ("debt_collection", MARIA, "I'll pay a hundred now, sorry, two hundred",
     {"call": {"tool": "take_payment", "args": {"amount": 200}}}),
    ("concierge", [], "a taxi to the Hilton please", {"call": {"tool": "order_taxi", "args": {}}}),
    ("concierge", [], "take me to Gatwick", {"call": {"tool": "order_taxi", "args": {}}}),
    ("concierge", [], "set a timer for four hours", {"call": {"tool": "set_timer", "args": {"minutes": 240}}}),
    ("concierge", ["book a table", "for two people"], "what times do you have?", {"answers": ["12 00 to 22 00"]}),
    ("clinic", [], "my dad's just collapsed and he isn't breathing", {"state": {"session:phase": "emergency"}}),
    ("clinic", [], "I'm Bob, born in 1960",
     {"call": {"tool": "find_patient", "args": {"name": "Bob", "birth_year": 1960}}}),
    ("restaurant", PASTA, "I'd like to pay now", {"answers": ["by card or in cash"]}),
    ("restaurant", ["One pasta."], "not really", {"state": {"app:done": True}}),
    ("debt_collection", [*MARIA, "I can pay twenty dollars a month."], "sorry I meant thirty, not twenty",
     {"state": {"app:monthly": 30}}),
    ("concierge", [], "can we sit outside?", {"answers": ["wishes for a table"]}),
    ("restaurant", ["Two waters."], "actually one water is enough", {"state": {"app:items": {"water": 1}}}),
    ("debt_collection", ["Yes.", "Maria Lopez", "Why do you need that?"], "it's 42",
     {"call": {"tool": "verify_identity", "args": {"name": "Maria Lopez", "digits": 42}}}),
    ("tech_support", ["My internet is slow."], "can't you send someone?", {"state": {"session:phase": "escalate"}}),
    ("tech_support", ["My internet is slow.", "Restart the router."], "still slow", {"answers": ["specialist"]}),
    ("clinic", [], "I'm feeling awful", {"answers": ["sorry", "year were you born"]}),
    ("clinic", ["My name is Anna and I was born in 1982."], "repeat that please", {"answers": ["what is wrong"]}),
    ("restaurant", ["One pasta."], "I've changed my mind, no pasta",
     {"state": {"app:items": {}, "session:phase": "order"}}),
    ("restaurant", ["A pasta and a salad, please."], "lose the salad", {"state": {"app:items": {"pasta": 1}}}),
    ("restaurant", [], "how much is the pasta", {"answers": ["11"]}),
    ("debt_collection", ["Yes I understand."], "how much do I owe", {"asks": True}),
    ("debt_collection", ["Yes I understand.", "My name is Maria Lopez."], "the last two are four two",
     {"call": {"tool": "verify_identity", "args": {"name": "Maria Lopez", "digits": 42}}}),
    ("call_screening", [], "I'm returning his call, it's Dave", {"state": {"user:caller": "Dave"}}),
    ("concierge", [], "what is it you do?", {"answers": ["set timers"]}),
    ("concierge", [], "what's for dinner?", {"answers": ["menu"]}),
    ("concierge", ["What is the weather like?"], "here, I mean", {"asks": True}),
    ("concierge", [], "no more questions, bye", {"answers": ["goodbye"]}),
    ("concierge", [], "a taxi tomorrow morning please", {"answers": ["right now"]}),
    ("concierge", [], "don't let me forget to call my sister",
     {"call": {"tool": "add_note", "args": {"text": "call my sister"}}}),
    ("concierge", [], "can someone drive me to the station?", {"call": {"tool": "order_taxi", "args": {}}}),
    ("clinic", [], "I don't feel well", {"answers": ["sorry to hear that"]}),
    ("clinic", [*ANNA, "I have a fever."], "since yesterday, after eating mushrooms", {"asks": True}),
    ("clinic", [*ANNA, "I have a fever."], "quite a lot", {"answers": ["a number"]}),
    ("restaurant", ["two pasta"], "Go on then, add another one.", {"state": {"app:items": {"pasta": 3}}}),
    ("restaurant", ["two pasta"], "same again please", {"state": {"app:items": {"pasta": 4}}}),
    ("tech_support", ["I want to speak to a technician"], "it's Walter Green, I'm the account holder",
     {"call": {"tool": "hand_over", "args": {"name": "Walter Green"}}}),
    ("restaurant", ["A pasta please.", "That is all."], "could you read that back to me?", {"answers": ["1 pasta"]}),
    ("debt_collection", [], "are you recording this?", {"answers": ["this call is recorded"]}),
    ("debt_collection", [], "what do you want", {"answers": ["to collect a debt"]}),
    ("debt_collection", JOHN, "how much do I owe", {"answers": ["120 dollars"]}),
    ("debt_collection", JOHN, "can I pay half?", {"answers": ["an amount now"]}),
    ("tech_support", ["My internet is slow."], "turn the router off and on again for me",
     {"call": {"tool": "restart_router", "args": {}}}),
    ("tech_support", ["My internet is slow.", "Restart the router.", "Nothing changed."], "ok put me through",
     {"call": {"tool": "call_specialist", "args": {}}}),
    ("concierge", ["book a table for two at eight"], "make it half past",
     {"call": {"tool": "book_table", "args": {"people": 2, "time": "20:30"}}}),
    ("concierge", [], "what's the weather in Rome and set a timer for five minutes",
     {"call": {"tool": "get_weather", "args": {"city": "Rome"}}}),
    ("concierge", [], "how's the weather in Rome and set a timer for five minutes",
     {"call": {"tool": "set_timer", "args": {"minutes": 5}}}),
    ("concierge", [], "order a taxi and book a table for two at eight", {"call": {"tool": "order_taxi", "args": {}}}),
    ("concierge", [], "order a taxi and book a table for two at eight",
     {"call": {"tool": "book_table", "args": {"people": 2, "time": "20:00"}}}),
    ("concierge", [], "set a timer for ten minutes and order a taxi", {"call": {"tool": "order_taxi", "args": {}}}),
    ("concierge", ["book a table for two at eight"], "cancel my booking and set a timer for five minutes",
     {"call": {"tool": "cancel_booking", "args": {}}}),
    ("clinic", [*ANNA, "I have a headache.", "A four."], "anything on Thursday?", {"answers": ["next free day"]}),
    ("clinic", [*ANNA, "I have a headache.", "A four."], "anything earlier?", {"answers": ["in the afternoon"]}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), RIGHT)
def test_it_is_understood(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn
