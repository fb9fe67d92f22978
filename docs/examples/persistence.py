"""Save a session after each turn, and continue it in the same phase."""

import asyncio

from gemini_live_runtime import (
    Live,
    MemoryPersistence,
    Phase,
    SessionPersistence,
    State,
    Transition,
    called_ok,
    run_virtual,
)


def give_name(name: str, state: State) -> dict[str, str]:
    """Note the caller's name.

    Args:
        name: The name.
    """
    state.set("user:name", name)
    state.set("temp:draft", "forgotten")
    return {"name": name}


agent = (
    Live.builder("desk")
    .instruction("Answer the telephone.")
    .tools(give_name)
    .phase(
        Phase("name", "Ask for the name.", transitions=Transition("talk", called_ok("give_name"))),
        Phase("talk", "Be helpful.", terminal=True),
    )
)


async def call(store: SessionPersistence, *texts: str) -> None:
    """Serve a call of the same customer."""
    async with agent.persistence(store, "customer-7").connect(backend="local", fast=True) as session:
        print(session.phase, session.state.get("user:name"), session.state.get("temp:draft"))
        for text in texts:
            await session.send_text(text)
            await session.until_quiet()


store = MemoryPersistence()
run_virtual(call(store, "give name Ada"))
run_virtual(call(store))
kept = asyncio.run(store.load("customer-7"))
assert kept is not None
print(kept.turn_count, dict(kept.state), kept.transcript["turns"][0]["user"])

# Prints:
# name None None
# talk Ada None
# 1 {'bg:give_name_failed': False, 'session:called_ok:give_name': 1, 'user:name': 'Ada'} give name Ada
