"""Name the faults that the server can simulate, and decide when each happens.

All are faults that were seen on Google's servers or on the way to them. A fault *happens* as often as it is ordered, at
its first opportunities; a rule *holds* on all connections once it is ordered.
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Mapping
from enum import StrEnum

from gemini_live_runtime.errors import UsageError

ANSWERS_BETWEEN = (2, 4)
"""Least and most answers from a fault of a seeded schedule to the next."""

PATIENCE_ANSWERS = 3
"""Answers for which a seeded schedule waits for the opportunity of a fault, before it draws another one."""


class Fault(StrEnum):
    """Simulated fault of a server that a client has to survive."""

    INTERNAL_ERROR = "internal-error"
    LATE_PONGS = "late-pongs"
    AGE_LIMIT = "age-limit"
    GO_AWAY_SILENCE = "go-away-silence"
    GO_AWAY_IN_CALL = "go-away-in-call"
    STRICT_RESUME = "strict-resume"
    STALE_HANDLE = "stale-handle"
    NULL_HANDLE = "null-handle"
    STRICT_HISTORY = "strict-history"
    NOT_IMPLEMENTED = "not-implemented"
    QUOTA = "quota"
    SILENT_STALL = "silent-stall"
    STALL_IN_ANSWER = "stall-in-answer"
    EMPTY_TURN = "empty-turn"
    LATE_COMPLETION = "late-completion"
    CALL_KEPT_OPEN = "call-kept-open"
    OUTAGE = "outage"
    DUPLICATE_CALL = "duplicate-call"
    STRICT_ACTIVITY = "strict-activity"
    CLEAN_CLOSE = "clean-close"
    CONTEXT_LIMIT = "context-limit"
    SLOW_ANSWERS = "slow-answers"
    JOINED_COMPLETION = "joined-completion"
    UNASKED_TURN = "unasked-turn"
    SILENT_SETUP = "silent-setup"
    DROP_MID_TURN = "drop-mid-turn"
    GARBAGE_FRAME = "garbage-frame"
    HUGE_FRAME = "huge-frame"
    LATE_INTERRUPTED = "late-interrupted"


DESCRIPTIONS: Mapping[Fault, str] = {
    Fault.INTERNAL_ERROR: "closes in the middle of an answer (1011, an internal error)",
    Fault.LATE_PONGS: "answers pings after 30 s",
    Fault.AGE_LIMIT: "closes after 10 minutes (--go-away-after) without goAway, and refuses to resume (1007)",
    Fault.GO_AWAY_SILENCE: "says goAway instead of an answer, then nothing for 50 s",
    Fault.GO_AWAY_IN_CALL: "says goAway while a call is open, closes 10 s later, and does not know the call after that",
    Fault.STRICT_RESUME: "says goAway after an answer, and refuses to resume while the older connection is open (1011)",
    Fault.STALE_HANDLE: "breaks off in an answer, and has forgotten all resumption handles (1007)",
    Fault.NULL_HANDLE: "refuses a setup with a handle that is null (1008)",
    Fault.STRICT_HISTORY: "breaks off in an answer, and refuses history for a resumed session (1007)",
    Fault.NOT_IMPLEMENTED: "closes instead of calling a tool (1008, not implemented)",
    Fault.QUOTA: "closes in an answer for want of quota (1011), and refuses the next connection (HTTP 429)",
    Fault.SILENT_STALL: "transcribes the user again and again, and says nothing more",
    Fault.STALL_IN_ANSWER: "says nothing more in the middle of an answer, and answers pings",
    Fault.EMPTY_TURN: "completes a turn without an answer",
    Fault.LATE_COMPLETION: "completes an interrupted turn, with late sound, after the words of the next one",
    Fault.CALL_KEPT_OPEN: "waits for an interrupted call's result before it says anything more",
    Fault.OUTAGE: "breaks off in an answer, and refuses connections for 5 s (HTTP 503)",
    Fault.DUPLICATE_CALL: "sends a call in the model's content, and twice as a call",
    Fault.STRICT_ACTIVITY: "refuses sound before activityStart from a client that marks its turns (1007)",
    Fault.CLEAN_CLOSE: "closes in an answer without a reason (1000)",
    Fault.CONTEXT_LIMIT: "has no room for a second turn without contextWindowCompression (1007)",
    Fault.SLOW_ANSWERS: "takes half a second longer for each answer",
    Fault.JOINED_COMPLETION: "completes a turn in the message of its last sound, of which messages have several parts",
    Fault.UNASKED_TURN: "speaks again, unasked, when a turn is complete",
    Fault.SILENT_SETUP: "does not answer a setup",
    Fault.DROP_MID_TURN: "breaks off in an answer, without a close (1006)",
    Fault.GARBAGE_FRAME: "sends a frame that is no JSON before an answer",
    Fault.HUGE_FRAME: "sends a frame above 16 MiB before an answer",
    Fault.LATE_INTERRUPTED: "sends interrupted after the turnComplete of a turn that the user cut off",
}
"""Actions of the server, by fault."""

RULES = frozenset(
    {
        Fault.LATE_PONGS,
        Fault.STRICT_RESUME,
        Fault.NULL_HANDLE,
        Fault.STRICT_ACTIVITY,
        Fault.CONTEXT_LIMIT,
        Fault.SLOW_ANSWERS,
        Fault.JOINED_COMPLETION,
    }
)
"""Faults that hold all the time."""

NOT_DRAWN = RULES | {Fault.QUOTA}
"""Faults that a seeded schedule has only by name: rules, and what only the user can mend."""


class FaultSchedule:
    """Schedule of one server's faults, over all its connections.

    Without `seed` each fault of `counts` happens as often as it says, as soon as it can. With `seed` they follow each
    other in a random order, some answers apart, for ever; without `counts` all but `NOT_DRAWN`.
    """

    def __init__(self, counts: Mapping[Fault, int], seed: int | None = None) -> None:
        self._left = dict(counts)
        self._ordered = frozenset(fault for fault, count in counts.items() if count > 0)
        self._drawn = None if seed is None else _Draws(self._ordered - RULES, seed)
        self.unreachable_until = 0.0
        """Time of the loop (s) until which connections are refused."""
        self.refused_upgrades = 0
        """Number of connections that are refused for want of quota."""
        self.refuses_history = False
        """True once history is refused for resumed sessions."""

    def holds(self, fault: Fault) -> bool:
        """Return True for a rule that was ordered."""
        return fault in self._ordered

    def take(self, fault: Fault) -> bool:
        """Return True when `fault` happens now, and count it."""
        if self._drawn is not None and fault not in RULES:
            return self._drawn.take(fault)
        left = self._left.get(fault, 0)
        if left > 0:
            self._left[fault] = left - 1
        return left > 0

    def on_answer(self) -> None:
        """Note that an answer begins."""
        if self._drawn is not None:
            self._drawn.on_answer()

    def upgrade_status(self, now: float) -> int:
        """Return the HTTP status that refuses a connection at `now`; 0 admits it."""
        if now < self.unreachable_until:
            return 503
        if self.refused_upgrades:
            self.refused_upgrades -= 1
            return 429
        return 0


class _Draws:
    """Random faults, one after the other."""

    def __init__(self, faults: frozenset[Fault], seed: int) -> None:
        self._faults = sorted(faults or frozenset(Fault) - NOT_DRAWN)
        self._random = random.Random(seed)
        self._draw()

    def _draw(self) -> None:
        self._next = self._random.choice(self._faults)
        self._answers = self._random.randint(*ANSWERS_BETWEEN)

    def on_answer(self) -> None:
        self._answers -= 1
        if self._answers < -PATIENCE_ANSWERS:
            self._draw()

    def take(self, fault: Fault) -> bool:
        if fault is not self._next or self._answers > 0:
            return False
        self._draw()
        return True


def faults_named(text: str) -> dict[Fault, int]:
    """Return how often each fault of a list such as `outage,quota,outage` happens.

    Raises `UsageError` for an unknown name.
    """
    counts: dict[Fault, int] = {}
    for name in filter(None, (part.strip() for part in text.split(","))):
        try:
            fault = Fault(name)
        except ValueError:
            close = difflib.get_close_matches(name, list(Fault), 1)
            remedy = f"Use {close[0]}" if close else f"Use some of {', '.join(Fault)}"
            raise UsageError(f"There is no fault {name[:40]!r}", remedy=remedy, field="fault", value=name) from None
        counts[fault] = counts.get(fault, 0) + 1
    return counts


def listing() -> str:
    """Return a line for each fault."""
    width = max(map(len, Fault))
    return "\n".join(f"{fault:<{width}}  {text}" for fault, text in DESCRIPTIONS.items())
