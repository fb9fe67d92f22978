"""Events of consent: a call that is asked about, and the answer."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = ["ConsentAsked", "ConsentBy", "ConsentGiven", "ConsentRevoked", "ConsentVoice"]


@keyword_record
class ConsentAsked(Payload):
    """A call waits for the operator's consent; `consent.give` answers.

    `args` are those with which it will run, without secrets. After `expires_s` seconds without an answer it is refused;
    time in which the agent is held does not count. One question is open at a time.

    With `voice` the model asks the `question` aloud, and `consent.voice` says when a spoken answer counts. Without it
    only the operator answers, and `voice_reason` says why; "" for a tool that is never asked about aloud.
    """

    type: ClassVar[str] = "consent.asked"
    id: str
    tool: str
    call_id: str
    args: dict[str, Any]
    reason: str
    expires_s: float
    voice: bool = False
    voice_reason: str = ""
    question: str = ""


@keyword_record
class ConsentVoice(Payload):
    """A spoken answer counts from now on (`listening`), or does not any more (`off`).

    `listening`: the user has heard the question to its end, and the time for an answer begins anew. `off`: the question
    is still open, but only the operator answers it; `reason` says why.
    """

    type: ClassVar[str] = "consent.voice"
    id: str
    state: Literal["listening", "off"]
    reason: str = ""


ConsentBy = Literal["operator", "voice", "remembered", "program", "unattended", "time", "cancelled", "end"]


@keyword_record
class ConsentGiven(Payload):
    """A call may run, or may not; an open question is answered by it.

    `by` is the operator, the user's `voice`, a grant that is `remembered`, the program's `on_consent`, `unattended` for
    a session without operator and callback, `time` where no answer came, `cancelled` where the call was taken back, or
    the `end` of the session. `remembered` is True when the answer counts for later calls, too. `said` is what the user
    said, of an answer by voice.
    """

    type: ClassVar[str] = "consent.given"
    id: str
    tool: str
    call_id: str
    yes: bool
    by: ConsentBy
    remembered: bool = False
    said: str = ""


@keyword_record
class ConsentRevoked(Payload):
    """Remembered consent was revoked; calls of these tools are asked about again."""

    type: ClassVar[str] = "consent.revoked"
    tools: tuple[str, ...]
