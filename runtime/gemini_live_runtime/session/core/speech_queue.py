"""Queue what the model is to say, and know which of it a generation is.

A speech is one answer of the model from its first word to the last sample played, over all generations that tools
divide it into. It is asked for by a program or the agent and waits here until the floor is free, or the model begins it
by itself, as it does after the user's words. A generation belongs to the speech that was asked for last, or to the one
that is going on in its turn; else it begins one of its own.
"""

from __future__ import annotations

from bisect import insort_left, insort_right
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError

MAX_QUEUED = 100
"""Speeches that may wait; what asks for more is looping."""

SpeechSource = Literal["prompt", "reply", "notification", "consent", "user", "model"]
SpeechStatus = Literal["queued", "asked", "speaking", "done", "interrupted", "dropped"]

ASKED_FOR: tuple[SpeechSource, ...] = ("prompt", "reply", "notification", "consent")
"""Sources of speeches that are asked for."""

OVER: tuple[SpeechStatus, ...] = ("done", "interrupted", "dropped")
"""Statuses that end a speech."""


class SpeechPriority(IntEnum):
    """Priority of a speech that waits; equal ones keep their order."""

    LOW = 0
    NORMAL = 5
    HIGH = 10


@dataclass(slots=True, eq=False)
class Speech:
    """Answer of the model, from its request to its last sample.

    `source` is what made it: a prompt of the agent, a program's request for a reply, a notification, a question of
    consent, the user's words, or the model itself. `step` counts its parts from 1, each a generation, or what follows
    the answer of a call within one.
    """

    id: str
    source: SpeechSource
    reason: str = ""
    priority: int = SpeechPriority.NORMAL
    parent: str = ""
    """Id of the speech in which it was asked for; "" for none."""
    user_input: str = ""
    instructions: str = ""
    allow_interruptions: bool = True
    mark: int = 0
    """Link's mark of its instructions, since they were sent."""
    uses_tools: bool = True
    """False when the calls of this answer are refused."""
    status: SpeechStatus = "queued"
    turn: int = 0
    step: int = 0
    gens: set[int] = field(default_factory=set)
    """Numbers of its generations that may still be heard."""
    is_turn_over: bool = False
    is_answered: bool = False
    """True when the model got the answer of a call, and has yet to say what follows."""

    problem: str = ""
    """Sentence that says what kept the model from beginning it; "" for none."""
    cancelled_at: float | None = None
    """Clock time (s) when it was interrupted before it began; it is cut as soon as it does."""

    @property
    def is_cancelled(self) -> bool:
        """True when nothing of it is to be heard."""
        return self.cancelled_at is not None

    @property
    def is_over(self) -> bool:
        """True when nothing more of it follows."""
        return self.status in OVER

    def event(self) -> ev.SpeechChanged:
        """Return the event that tells its status."""
        return ev.SpeechChanged(
            id=self.id,
            status=self.status,
            source=self.source,
            reason=self.reason,
            priority=int(self.priority),
            step=self.step,
            parent=self.parent,
            protected=not self.allow_interruptions,
            problem=self.problem,
        )


def _rank(speech: Speech) -> int:
    return -speech.priority


class SpeechQueue:
    """Speeches of one session: those that wait, and the present one."""

    def __init__(self) -> None:
        self.current: Speech | None = None
        """Speech that was asked for, or is going on."""
        self._waiting: list[Speech] = []
        """Speeches in the order in which they will be asked for."""
        self.made = 0
        """Number of speeches so far, which their ids count."""
        self.allows_interruptions = True
        """True when the user may interrupt a new speech, unless it is asked for otherwise."""
        self._is_closed = False
        """True once the session ends: nothing begins any more."""

    # -- what waits --------------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> tuple[Speech, ...]:
        """Speeches that wait, in the order in which they will be asked for."""
        return tuple(self._waiting)

    @property
    def has_waiting(self) -> bool:
        """True when a speech waits."""
        return bool(self._waiting)

    @property
    def is_protected(self) -> bool:
        """True while a speech is going on that may not be interrupted."""
        current = self.current
        return current is not None and current.status == "speaking" and not current.allow_interruptions

    @property
    def cancelled(self) -> Speech | None:
        """Speech that was asked for, and interrupted before it began; None without one."""
        current = self.current
        return current if current is not None and current.status == "asked" and current.is_cancelled else None

    def new(self, source: SpeechSource, reason: str = "") -> Speech:
        """Return a speech with an id of its own, which is in no queue yet."""
        self.made += 1
        parent = self.current.id if self.current is not None else ""
        speech = Speech(f"speech-{self.made}", source, reason, parent=parent if source in ASKED_FOR else "")
        speech.allow_interruptions = self.allows_interruptions
        return speech

    def add(self, speech: Speech) -> None:
        """Let a speech wait.

        Raises `AgentError` when `MAX_QUEUED` wait already, and at the session's end.
        """
        if self._is_closed:
            raise AgentError("The session is over", remedy="Start a new one", field="speeches")
        if len(self._waiting) >= MAX_QUEUED:
            raise AgentError(
                f"{MAX_QUEUED} speeches wait already: no further one is taken",
                remedy="Await a speech's end before asking for more",
                field="speeches",
                value=len(self._waiting),
            )
        insort_right(self._waiting, speech, key=_rank)

    def arm(self, reason: str = "", *, allow_interruptions: bool | None = None) -> Speech | None:
        """Let a prompt wait; None when one does, which stands for both, and at the end."""
        if self._is_closed or any(speech.source == "prompt" for speech in self._waiting):
            return None
        prompt = self.new("prompt", reason)
        if allow_interruptions is not None:
            prompt.allow_interruptions = allow_interruptions
        insort_right(self._waiting, prompt, key=_rank)
        return prompt

    def take(self) -> Speech | None:
        """Remove and return the speech that is to be asked for next; None without one."""
        return self._waiting.pop(0) if self._waiting else None

    def put_back(self, speech: Speech) -> None:
        """Let a speech wait ahead of those of its priority: it could not be asked for."""
        speech.status = "queued"
        insort_left(self._waiting, speech, key=_rank)

    def drop_prompts(self) -> list[Speech]:
        """Drop the prompts that wait, since the model answers the user.

        Replies that a program asked for go on waiting.
        """
        dropped = [speech for speech in self._waiting if speech.source == "prompt"]
        for speech in dropped:
            self._drop(speech)
        return dropped

    def drop(self, speech: Speech) -> bool:
        """Drop a speech that waits; return False when it does not."""
        if speech not in self._waiting:
            return False
        self._drop(speech)
        return True

    def drop_until_protected(self) -> list[Speech]:
        """Drop what waits, in order, up to the first speech that may not be interrupted."""
        dropped = []
        for speech in self.waiting:
            if not speech.allow_interruptions:
                break
            self._drop(speech)
            dropped.append(speech)
        return dropped

    def _drop(self, speech: Speech) -> None:
        self._waiting.remove(speech)
        speech.status = "dropped"

    # -- what is said ------------------------------------------------------------------------------------------------

    def ask(self, speech: Speech) -> list[Speech]:
        """Note that the model was asked for a speech; return the speeches that changed.

        One that was asked for and never begun is dropped: a newer request stands for it.
        """
        changed = []
        old = self.current
        if old is not None and old.status == "asked":
            old.status = "dropped"
            changed.append(old)
        self.current, speech.status = speech, "asked"
        return [*changed, speech]

    def on_generation(self, gen: int, turn: int, source: SpeechSource) -> list[Speech]:
        """Note that a generation begins to be heard; return the speeches that changed."""
        if self._is_closed:
            return []
        current, changed = self.current, []
        if current is not None and current.status == "speaking" and (current.is_turn_over or current.turn != turn):
            # Nothing followed it, and the rest of its sound still plays.
            changed += self._end("done")
            current = None
        if current is None or current.is_over:
            current = self.current = self.new(source)
        current.status, current.turn = "speaking", turn
        current.step, current.is_answered = current.step + 1, False
        current.gens.add(gen)
        return [*changed, current]

    def on_call(self, turn: int, source: SpeechSource) -> list[Speech]:
        """Note that the model calls a tool; return the speeches that changed.

        A call before the first word belongs to the speech that the model begins with it.
        """
        if self._is_closed or (self.current is not None and not self.current.is_over):
            return []
        speech = self.current = self.new(source)
        speech.status, speech.turn = "asked", turn
        return [speech]

    def on_call_answered(self) -> None:
        """Note that the model gets the answer of a call for which it has waited."""
        if self.current is not None:
            self.current.is_answered = self.current.status == "speaking"

    def on_content(self) -> list[Speech]:
        """Note that a generation goes on; return the speeches that changed."""
        current = self.current
        if current is None or not current.is_answered:
            return []
        current.step, current.is_answered = current.step + 1, False
        return [current]

    def on_played(self, gen: int) -> list[Speech]:
        """Note that a generation was played to its end; return the speeches that changed."""
        current = self.current
        if current is None:
            return []
        current.gens.discard(gen)
        return self._end("done") if current.is_turn_over and not current.gens else []

    def on_turn_closed(self, playing: set[int], *, awaits_call: bool = False) -> list[Speech]:
        """Note that the turn is over; `playing` are the generations whose sound goes on.

        `awaits_call`: the model speaks of a call in another turn. Returns the speeches that changed.
        """
        current = self.current
        if current is None or current.status != "speaking":
            # Nothing follows the calls with which it began.
            is_over = current is not None and current.turn > 0 and not awaits_call
            return self._end("dropped") if is_over else []
        current.is_turn_over = True
        current.gens &= playing
        return [] if current.gens else self._end("done")

    def on_empty_turn(self, playing: set[int]) -> list[Speech]:
        """Note that the turn is over without an answer; return the speeches that changed.

        The model may have spoken before a call, and not after it.
        """
        is_asked = self.current is not None and self.current.status == "asked"
        return self._end("done") if is_asked else self.on_turn_closed(playing)

    def on_cut(self, cut_below: int) -> list[Speech]:
        """Note that nothing below a generation's number is heard any more.

        Returns the speeches that changed.
        """
        current = self.current
        if current is None or current.status != "speaking" or not current.gens:
            return []
        current.gens = {gen for gen in current.gens if gen >= cut_below}
        return [] if current.gens else self._end("interrupted")

    def on_given_up(self, problem: str = "") -> list[Speech]:
        """Note that no answer comes any more; return the speeches that changed.

        `problem` says why, where that is a fault.
        """
        if self.current is None or self.current.status != "asked":
            return []
        self.current.problem = problem
        return self._end("dropped")

    def on_agent_left(self) -> list[Speech]:
        """Note that another agent speaks from now on; return the speeches that changed."""
        return self._end("done" if self.current is not None and self.current.status == "speaking" else "dropped")

    def end(self) -> list[Speech]:
        """End everything, with the session; return the speeches that changed."""
        self._is_closed = True
        changed = self._end("interrupted" if self.current and self.current.status == "speaking" else "dropped")
        for speech in self.waiting:
            self._drop(speech)
            changed.append(speech)
        return changed

    def _end(self, status: SpeechStatus) -> list[Speech]:
        current, self.current = self.current, None
        if current is None or current.is_over:
            return []
        current.status = status
        current.gens.clear()
        return [current]
