"""Collect a transcript by turns; the unheard part of an answer is kept apart."""

from gemini_live_runtime import ToolCallSummary, TranscriptBuffer, TranscriptTurn, TranscriptWindow

buffer = TranscriptBuffer()
buffer.begin_turn(1, "voice", now=0.0)
buffer.add_input("a table ")
buffer.add_input("for four")
buffer.add_tool_call(ToolCallSummary.of("c1", "book_table", {"people": 4}, {"time": "19:00"}, "ok"))
buffer.add_output("Your table is booked for seven. Would you like to see the menu?")
# The user interrupted the answer: by the playback clock this much had been heard.
buffer.interrupted("Your table is booked ", "for seven. Would you like to see the menu?")
turn: TranscriptTurn | None = buffer.end_turn()
assert turn is not None
print(repr(turn.model), repr(turn.unheard), turn.interrupted)

buffer.begin_turn(2, "typed", now=9.0)
buffer.add_input("thank you")

# Extractors, `on_enter_context` and saved sessions get windows.
window: TranscriptWindow = buffer.window_with_current(5)
print(window.text)
print(len(buffer.window(5)), window.last_user)

# Prints:
# 'Your table is booked ' 'for seven. Would you like to see the menu?' True
# User: a table for four
# [Tool: book_table({"people": 4}) → {"time": "19:00"}]
# Assistant: Your table is booked
#
# User: thank you
# 1 thank you
