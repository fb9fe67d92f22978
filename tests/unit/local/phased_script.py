"""A small dialogue in phases, for tests."""

from gemini_live_runtime.local.scripts.script import parse_script

TEXT = """
format = 1
name = "desk"
greeting = "Welcome to the desk."
prompted = "Please go on."

[slots.name]
ask = "Who is calling?"
answer = ["{name}", "this is {name}"]
kind = "text"
values = ["Maria Lopez", "John Smith"]

[slots.amount]
ask = "How much can you pay?"
answer = ["{amount}", "{amount} dollars"]
kind = "number"
min = 1
max = 500
spoken = [50, 100]

[slots.floor]
values = ["first", "second"]

[[intent]]
name = "yes_anywhere"
say = ["yes", "that is right"]
reply = ["Good."]

[[intent]]
name = "yes_disclosure"
say = ["yes", "that is right"]
during = "read the disclosure"
call = { tool = "confirm", args = { what = "disclosure", full = true } }
reply = [{ when = "error", say = "I may not do that yet: {result.error}." }, "Thank you, {name}.", "Thank you, caller."]

[[intent]]
name = "yes_payment"
say = ["yes", "that is right"]
during = ["agree on a payment", "settle the debt"]
calls = [
  { tool = "pay", args = { amount = "{amount}", payer = "{name}" } },
  { tool = "send_receipt", args = { to = "{name?}" } },
]
reply = [
  { when = "error", say = "That failed: {result.error}." },
  "{name} pays {amount}, {results.pay.reference}, sent by {result.channel}.",
]

[[intent]]
name = "introduce"
say = ["my name is {name}", "this is {name}"]
remember = true
reply = ["Hello {name}."]

[[intent]]
name = "offer"
say = ["I can pay {amount} dollars"]
during = "settle the debt"
reply = ["{amount} it is."]

[[intent]]
name = "go_to"
say = ["the {floor} floor"]
reply = ["Going to the {floor} floor."]

[[cue]]
told = "Read the  DISCLOSURE"
say = "This call is recorded. Is that right?"

[[cue]]
told = ["agree on a payment"]
say = "How about it, {name}?"

[[cue]]
told = "agree on a payment"
say = "How about it?"

[extract.caller]
slot = "name"

[[extract.mood]]
when = ["this is ridiculous", "I am angry"]
value = "angry"
[[extract.mood]]
when = ["thank you"]
value = "happy"

[extract.wants_human]
when = ["speak to a human", "talk to a human"]
value = true
"""

SCRIPT = parse_script(TEXT, "desk.toml")
