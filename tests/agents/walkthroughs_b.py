"""What is said to the debt collector, the call screener and technical support to get to each terminal phase."""

from __future__ import annotations

WALKTHROUGHS: dict[str, dict[str, list[str]]] = {
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
        "rejected": [
            "I have a special offer for you",
        ],
    },
    "tech_support": {
        "solved": [
            "my internet is slow",
            "please restart the router",
            "it works again",
        ],
        "handed_over": [
            "I have no internet",
            "restart my router",
            "try it again",
            "ask for Maria Lopez",
        ],
    },
}
