"""Restaurant orders: dishes, review, payment, and a kitchen that works meanwhile.

Shown: tools that change state, a computed total, an extractor by rules, a pattern over turns, a repair, a task that
takes the payment by card, and a background tool whose result the model announces at the next pause.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from gemini_live_runtime import (
    ComputedVar,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    Phase,
    State,
    StateKey,
    SteeringMode,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    key,
    tool,
)
from gemini_live_runtime.agents.card_payment import CardPayment
from gemini_live_runtime.agents.order_tools import ITEMS, add_item, in_words, remove_item, swap_item, total
from gemini_live_runtime.agents.order_words import MENU, wishes

DONE, AGREED = StateKey("app:done", bool, default=False), StateKey("app:agreed", bool, default=False)
CANCELLED, SUGGEST = StateKey("app:cancelled", bool, default=False), StateKey("app:suggest", bool, default=False)
PAID_BY, TOTAL = StateKey("app:paid_by", str), key("derived:total")


@tool
async def pay(method: Literal["card", "cash"], state: State) -> dict[str, str]:
    """Take the payment."""
    state.set(PAID_BY, await CardPayment(total(state)) if method == "card" else method)
    return {"paid": f"{total(state)} dollars {'by' if method == 'card' else 'in'} {method}"}


@tool(background=True, scheduling="WHEN_IDLE")
async def send_to_kitchen(state: State) -> dict[str, str]:
    """Send the paid order to the kitchen; it answers when the food is ready."""
    await asyncio.sleep(8)
    state.set("app:pick_up", "counter two")
    return {"ready": f"{in_words(state)}, at counter two"}


PROMOTIONS = [
    FieldPromotion.true_only("done").to(DONE).when(TOTAL > 0),
    FieldPromotion.true_only("agrees").to(AGREED).after_presented("order").when(key("session:phase") == "review"),
    FieldPromotion.true_only("cancels").to(CANCELLED),
]


def restaurant() -> Live:
    """Return the agent."""
    cancel = Transition("cancelled", CANCELLED & PAID_BY.is_missing(), because="the guest cancelled the order")
    ready = Transition("ordered", PAID_BY.is_set() & key("app:pick_up").is_set(), because="it is paid and cooked")
    order = Phase(
        "order",
        lambda s: f"Take the order, dish by dish. {'What else' if s.get(ITEMS) else 'What'} would they like?",
        needs=ITEMS,
        tools=[add_item, remove_item, swap_item],
        clear_on_enter=[DONE, AGREED],
        transitions=[cancel, Transition("review", DONE & (TOTAL > 0), because="the guest wants nothing else")],
    )
    review = Phase(
        "review",
        lambda state: f"Read the order back: {in_words(state)}, {total(state)} dollars. Is it right?",
        presents="order",
        tools=[add_item, remove_item, swap_item],
        prompt_on_enter=True,
        transitions=[
            cancel,
            Transition("order", TOTAL == 0, because="the order is empty"),
            Transition("payment", AGREED, because="the order is right"),
        ],
    )
    payment = Phase(
        "payment",
        lambda s: "It is paid: send it to the kitchen." if PAID_BY in s else "Settle the bill, by card or in cash.",
        tools=[pay, send_to_kitchen],
        prompt_on_enter=True,
        transitions=[cancel, ready],
    )
    ordered = Phase("ordered", "Say where the food waits and say goodbye.", terminal=True)
    cancelled = Phase("cancelled", "Say that nothing is charged.", terminal=True, prompt_on_enter=True)
    return (
        Live.builder("restaurant")
        .description("A restaurant's order desk: dishes, a total, payment, and a kitchen that takes a while.")
        .instruction(f"You take orders in a small restaurant. On the menu: {', '.join(MENU)}. Be brief and cheerful.")
        .greeting("Greet the guest and ask what they would like.")
        .phrases("two pasta please", "and a coffee", "no coffee", "that is all", "yes that is right")
        .phase(order, review, payment, ordered, cancelled)
        .tools(add_item, remove_item, swap_item, pay, send_to_kitchen)
        .extract(FunctionExtractor(function=wishes, window=1, promotions=PROMOTIONS))
        .computed(ComputedVar("total", total, depends_on=ITEMS))
        .pattern(TemporalPattern("cannot decide", TurnCountDetector(TOTAL == 0, 3), lambda s: s.set(SUGGEST, True)))
        .in_every_phase(InstructionModifier.when(SUGGEST, "Suggest the dish of the day: soup."))
        .steering(SteeringMode.HYBRID)
        .repair(nudge_after=2, escalate_after=6)
    )
