"""Perform effects on the wire, and hold context back for a good moment."""

from collections.abc import Sequence

from gemini_live_runtime import (
    ContextNote,
    DeferredWriter,
    LiveEffectExecutor,
    PendingContext,
    PromptModel,
    SendContext,
)


class PrintingWriter:
    """A connection that prints."""

    def send_context(self, texts: Sequence[str], role: str = "model", prompt: bool = False, reason: str = "") -> None:
        print("context", list(texts), role)

    def send_text(self, text: str) -> None:
        print("typed", text)

    def prompt_model(self, reason: str = "") -> None:
        print("prompt,", reason)


writer = PrintingWriter()
pending = PendingContext()

# The executor performs effects in order.
executor = LiveEffectExecutor(
    writer, pending, emit=lambda event: print(event.type), transition=lambda target, reason: None, report=print
)
executor.perform(SendContext(("The kitchen closes at ten.",), reason="kitchen"))

# Queued notes are sent before the user's next input, those of one role in one message.
pending.push(ContextNote("The guest has a dog."))
pending.push(ContextNote("The terrace is free."))
user = DeferredWriter(writer, pending, report=print)
user.send_text("a table please")

# A prompt is armed, and sent when a rule finds that neither side speaks.
pending.push(ContextNote("Ask for the name."))
pending.arm_prompt()
executor.perform(PromptModel("no one is speaking"))
print(pending.is_empty, pending.dropped)

# Prints:
# context ['The kitchen closes at ten.'] model
# context ['The guest has a dog.', 'The terrace is free.'] model
# typed a table please
# context ['Ask for the name.'] model
# prompt, no one is speaking
# speech.changed
# True 0
