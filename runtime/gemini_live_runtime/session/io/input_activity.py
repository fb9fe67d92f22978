"""Deciding on our own when the user speaks: the microphone through a voice activity detector and a commit policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from gemini_live_runtime.session.io.endpointing import ActivityEnd, Decision, TurnCommit, TurnCommitPolicy
from gemini_live_runtime.session.io.vad import InputVad, InputVadSnapshot

BYTES_PER_S = 32_000
"""s16le mono at 16 kHz."""

PRE_ROLL_S = 0.3
"""Seconds before the detector noticed speech that belong to it."""

LONGEST_WAIT_S = 2.5
"""Seconds of speech over the model that are kept until it is an interruption."""

SLICE = 640
"""Bytes that are decided on at once: 20 ms."""


class InputActivity:
    """Marks the user's speech. `begins` is called before the first audio of it goes out, `ends` after the last."""

    def __init__(
        self,
        preset: Literal["immediate", "responsive", "conversational"],
        *,
        begins: Callable[[], None],
        ends: Callable[[], None],
        vad: InputVad | None = None,
    ) -> None:
        self._vad = vad or InputVad()
        self._commit = TurnCommit(TurnCommitPolicy.named(preset))
        self._begins = begins
        self._ends = ends
        self._active = False
        self._kept = bytearray()

    def snapshot(self) -> InputVadSnapshot:
        """The detector as it stands."""
        return self._vad.snapshot()

    def heard(self, pcm: bytes, *, model_speaking: bool) -> Iterator[bytes]:
        """Microphone audio (s16le mono at 16 kHz, any length): what to send of it now, piece by piece.

        `begins` and `ends` are called between the pieces, so each has to be sent before the next is asked for. Nothing
        is sent while nobody speaks. A turn begins with what was said before it was noticed.
        """
        for at in range(0, len(pcm), SLICE):
            out = self._slice(pcm[at : at + SLICE], model_speaking)
            if out:
                yield out

    def _slice(self, pcm: bytes, model_speaking: bool) -> bytes:
        decisions = self._commit.model_speaking(model_speaking, self._vad.audio_s)
        for edge in self._vad.add(pcm):
            speech = self._commit.speech_started if edge.kind == "start" else self._commit.speech_ended
            decisions += speech(edge.at_s)
        decisions += self._commit.advance(self._vad.audio_s)
        self._tell(decisions)
        if self._active:
            before, self._kept = bytes(self._kept), bytearray()
            return before + pcm
        # What comes after the end of a turn may be the beginning of the next.
        self._kept += pcm
        # Speech over the model waits to be taken seriously: all of it is kept until then.
        keep = LONGEST_WAIT_S if self._commit.due_at is not None else PRE_ROLL_S
        del self._kept[: max(0, len(self._kept) - int(keep * BYTES_PER_S))]
        return b""

    def finish(self) -> None:
        """The microphone was closed: whoever was speaking has finished."""
        decisions = []
        for edge in self._vad.reset():
            decisions += self._commit.speech_ended(edge.at_s)
        self._tell([*decisions, *self._commit.finish(self._vad.audio_s)])
        self._kept.clear()

    def _tell(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            self._active = not isinstance(decision, ActivityEnd)
            if self._active:
                self._begins()
            else:
                self._ends()
