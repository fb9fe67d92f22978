"""Use state: scopes, typed keys, transactions, and the writer of each value."""

from gemini_live_runtime import Origin, State, StateKey

state = State()
GUESTS = StateKey("app:guests", int, default=1, description="how many guests")
state.declare(GUESTS)

# A typed key is checked at every write.
state.set(GUESTS, 4)
try:
    state.set("app:guests", "many")
except Exception as error:
    print(error)

# Each value remembers its writer.
with state.writing_as(Origin("tool", "book_table")):
    state.modify(GUESTS, 1, lambda count: count + 1)
print(state.get(GUESTS), "written by", state.written_by("app:guests"))

# A transaction is all or nothing; removals come back, too.
before = state.snapshot()
try:
    with state.transaction() as booking:
        booking.set("app:table", 7)
        booking.remove("app:guests")
        raise LookupError("table 7 is taken")
except LookupError:
    print("rolled back:", state.diff(before) == [])

# Scopes: `turn:` is cleared when the next turn begins; `derived:` is computed and can only be read.
state.turn["hint"] = "by the window"
print(state.keys("turn"))
state.clear_scope("turn")
print(state.get("turn:hint", "gone"))

# Prints:
# app:guests cannot be 'many': Input should be a valid integer, unable to parse string as an integer. Give a value of its type.
# 5 written by tool book_table
# rolled back: True
# ['turn:hint']
# gone
