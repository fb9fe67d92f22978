"""Enter a phase: its requirements, preparations and context for the model."""

from gemini_live_runtime import Live, Phase, PhasePreparation, State, Transition, called_ok, run_virtual


def identify(number: int, state: State) -> str:
    """Identify the caller."""
    state.set("user:number", number)
    return "known"


async def load_account(state: State) -> None:
    state.set("app:balance", 120)


def balance_line(state: State) -> str:
    return f"[Account] The balance is {state.get('app:balance')} euros."


agent = (
    Live.builder("bank")
    .instruction("You answer the telephone of a bank.")
    .tools(identify)
    .phase(
        Phase(
            "who",
            "Find out who calls.",
            transitions=Transition("account", called_ok("identify"), because="the caller is known"),
        ),
        Phase(
            "account",
            "Answer questions about the account.",
            requires="app:balance",
            preparations=PhasePreparation("load the account", load_account, produces="app:balance"),
            presents="privacy_notice",
            on_enter=lambda state: state.set("app:visits", 1),
            on_enter_context=balance_line,
            prompt_on_enter=True,
            terminal=True,
        ),
    )
)


async def main() -> None:
    """Enter a phase whose missing requirement a preparation fills."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        await session.send_text("identify 42")
        await session.until_quiet()
        print(session.state.get("session:presented:privacy_notice"), session.state.get("app:visits"))
    async for event in events:
        if event.type in ("phase.blocked", "phase.entered"):
            print(event.type, event.payload.phase, getattr(event.payload, "preparing", ""))
        elif event.type == "context.sent":
            print(event.payload.texts, "queued" if event.payload.queued else "")


run_virtual(main())

# Prints:
# True 1
# phase.entered who
# phase.blocked who ('load the account',)
# phase.entered account
# ('[Account] The balance is 120 euros.',) queued
# ('[Account] The balance is 120 euros.',)
