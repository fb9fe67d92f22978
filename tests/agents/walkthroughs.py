"""What is said to each bundled agent to get from the greeting to each of its terminal phases."""

from __future__ import annotations

from tests.agents.walkthroughs_b import WALKTHROUGHS as MORE

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
    },
    "restaurant": {
        "ordered": [
            "two pasta please",
            "and a coffee",
            "that is all",
            "yes that is right",
            "by card please",
            "send it to the kitchen please",
        ],
        "cancelled": [
            "what is on the menu",
            "I would like a soup",
            "cancel my order",
        ],
    },
    **MORE,
}
"""By agent and terminal phase."""
