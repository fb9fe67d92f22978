"""Make an agent with two phases that read, write, prepare and prompt."""

from __future__ import annotations

from tests.session.talking import agent

from gemini_live_runtime import (
    Live,
    Phase,
    PhasePreparation,
    Transition,
    key,
)


def nothing() -> None:
    """Do nothing, as an action."""


PHASES = (
    Phase("first", "One.", transitions=Transition("second", key("app:n") > 5, because="it is enough")),
    Phase(
        "second",
        lambda s: f"There are {s.get('app:n', 0)}; draft {s.get('app:draft', 'none')}.",
        transitions=Transition("first", key("app:back").is_true()),
        requires="app:menu",
        preparations=PhasePreparation("menu", nothing, "app:menu"),
        guard=key("app:open").is_true(),
        tools="book",
        clear_on_enter="app:draft",
        on_enter=nothing,
        prompt_on_enter="Go on.",
    ),
)


def book() -> str:
    """Book."""
    return "booked"


def cancel() -> str:
    """Cancel."""
    return "cancelled"


def phased() -> Live:
    """Build it, its tools without effect."""
    return (
        agent()
        .phase(*PHASES)
        .tools(book, cancel)
        .state(values={"app:n": 1, "app:open": True, "app:draft": "d", "app:back": False})
    )
