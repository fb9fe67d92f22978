"""List the user's texts that lead each bundled agent to each terminal phase."""

from __future__ import annotations

TAKEN_BACK = frozenset({("debt_collection", "disputed"), ("tech_support", "solved")})
"""Ends that a caller may take back: "it's slow again", "I owe this after all"."""

WALKTHROUGHS: dict[str, dict[str, list[str]]] = {
    "clinic": {
        "booked": [
            "my name is David and I was born in 1971",
            "I have a fever",
            "the pain is a four",
            "in the morning",
            "no thank you",
            "in the afternoon",
            "yes please",
        ],
        "emergency": [
            "my name is Maria and I was born in 1990",
            "I have a chest pain",
            "it is a nine",
        ],
        "call_back": [
            "my name is Maria and I was born in 1990",
            "please call me back",
        ],
    },
    "restaurant": {
        "ordered": [
            "two pasta please",
            "and a coffee",
            "that is all",
            "yes that is right",
            "by card please",
            "I have done that",
            "send it to the kitchen please",
        ],
        "cancelled": [
            "what is on the menu",
            "I would like a soup",
            "cancel my order",
        ],
    },
    "debt_collection": {
        "paid": [
            "yes I understand",
            "my name is Maria Lopez",
            "forty two",
            "I will pay three hundred dollars",
        ],
        "arranged": [
            "yes I understand",
            "my name is John Smith",
            "seventeen",
            "I can pay twenty dollars a month",
            "I agree to the plan",
        ],
        "no_calls": [
            "stop calling me",
            "yes",
        ],
        "call_back": [
            "yes I understand",
            "my name is Maria Lopez",
            "forty two",
            "I have no money",
            "I will not pay anything",
            "I cannot pay that",
            "please call me on Monday",
        ],
        "disputed": [
            "this is ridiculous",
            "this is not my debt",
        ],
    },
    "call_screening": {
        "connected": [
            "this is Anna Miller",
            "it is about the house",
            "it is urgent",
        ],
        "message_taken": [
            "this is Peter Brown it is about the contract",
            "it cannot wait",
            "tell him the keys are at the door",
        ],
        "left": [
            "this is Peter Brown it is about the contract",
            "it can wait",
            "no message thank you",
        ],
        "rejected": [
            "I have a special offer for you",
        ],
    },
    "tech_support": {
        "solved": [
            "my internet is slow",
            "please restart the router",
            "no it does not",
            "yes please",
            "yes please",
            "it works now",
        ],
        "handed_over": [
            "I have no internet",
            "restart my router",
            "try it again",
            "ask for Maria Lopez",
        ],
    },
}
"""Texts by agent and terminal phase."""
