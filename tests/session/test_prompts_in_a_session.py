"""When the model is asked to speak: never into an answer that it owes."""

from __future__ import annotations

from tests.agents.conversation import talked

from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.tech_support import tech_support


def test_the_answer_to_a_failed_call_is_said_before_the_next_phase_is_opened() -> None:
    happened = talked(tech_support(), "I have no internet", "restart the router", "try it again")
    spoken = [event.payload for event in happened.events if isinstance(event.payload, ev.TranscriptDelta)]
    said = "".join(delta.text for delta in spoken if delta.side == "model")
    assert said.count("That did not work") == 2
    assert said.rstrip().endswith("Whom shall the technician ask for?")
