"""Check a whole agent before it starts: every fault at once, with its place."""

from gemini_live_runtime import ComputedVar, Live, Phase, Transition, key


def pay() -> str:
    """Charge the card."""
    return "paid"


agent = (
    Live.builder("till")
    .instruction("Take payments.")
    .tools(pay)
    .computed(ComputedVar("a", key("derived:b")), ComputedVar("b", key("derived:a")))
    .state(values={"app:basket": {1, 2}})
    .phase(
        Phase("order", "Take the order.", tools="serve", transitions=Transition("payment", True)),
        Phase("pay", "Take the money.", terminal=True),
    )
)

try:
    agent.plan()
except Exception as error:
    print(error)

# A setting that the model cannot follow is no fault; it is listed.
print(Live.builder("desk").instruction("Talk.").repair().voice("Puck").ignored_settings("local-desk"))

# Prints:
# The agent has 4 faults:
# - faults.py:12: app:basket cannot be a set: {1, 2}. State holds JSON: texts, numbers, true and false, null, lists and objects.
# - Computed values depend on each other in a cycle: a (faults.py:15) -> b (faults.py:15) -> a. Correct the computed values.
# - faults.py:18: The phase order leads to payment, which does not exist. Use order, pay.
# - faults.py:18: The phase order allows the tool serve, which does not exist. The tools are pay.
# ['repair has no effect: no phase has needs', 'the embedded server has its own voice, not Puck']
