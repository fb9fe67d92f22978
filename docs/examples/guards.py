"""Write guards: conditions over state that explain their decisions."""

from gemini_live_runtime import State, StateKey, called_ok, key

ANGER = StateKey("app:anger", float, description="how angry the caller is, 0 to 1")

# Combine with &, | and ~. `called_ok` counts a tool's successes. A plain function of the state is a guard, too.
hand_over = (ANGER > 0.7) | ~key("user:name").is_set() & called_ok("look_up")
patient = key("app:plan").one_of("gold", "silver") & (lambda state: state.get("app:wait_s", 0) < 60)

state = State()
state.set(ANGER, 0.65)
state.set("app:plan", "gold")

print(hand_over)
print(hand_over.holds(state), patient.holds(state))
for explanation in (hand_over.explain(state), patient.explain(state)):
    for read in explanation.all_reads():
        print(f"  {read.key} is {read.value if read.present else 'missing'}")

# A guard has no truth value, so writing `and` instead of & raises.
try:
    print(key("app:plan").is_set() and called_ok("look_up"))
except TypeError as error:
    print(error)

# Prints:
# <guard app:anger > 0.7 or not (user:name is set) and session:called_ok:look_up counts a success>
# False True
#   app:anger is 0.65
#   user:name is missing
#   session:called_ok:look_up is missing
#   app:plan is gold
#   app:wait_s is missing
# The guard 'app:plan is set' has no value of its own. Combine guards with &, | and ~, not with and, or and not.
