"""Queue what waits for a connection, across all connections of a session.

Each kind has a policy of its own. A text is never dropped: beyond the limit it is refused with a reason.
Answers of calls are kept in order. Sound is worth something only for a while (`kept_audio`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from gemini_live_runtime.records import keyword_record, record
from gemini_live_runtime.session.link.kept_audio import RATE, KeptAudio
from gemini_live_runtime.session.link.mic_sound import MicSound, joined
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.wire.backlog import UnsentSound
from gemini_live_runtime.wire.messages import ClientMessage

CHUNKS_A_SECOND = 50
"""Chunks of the microphone in a second."""

SendKind = Literal["text", "answer", "audio", "video"]

OverflowPolicy = Literal["refuse", "keep", "drop-oldest", "newest"]

POLICIES: dict[SendKind, OverflowPolicy] = {
    "text": "refuse",
    "answer": "keep",
    "audio": "drop-oldest",
    "video": "newest",
}
"""Policy of each kind that waits here at its limit."""


@record
class WaitingText:
    """Typed text that waits for a connection; `number` counts all of them."""

    command_id: str
    text: str
    number: int = 0


@record
class WaitingAnswer:
    """Answer of a call that waits for a connection; `mark` is the call's.

    `background`: the call was acknowledged, so the model does not wait for it.
    """

    call_id: str
    name: str
    answer: ToolAnswer
    mark: int
    background: bool = False


@keyword_record
class BackpressureState:
    """Figures of one kind: waiting, dropped or refused, and ever had to wait.

    Texts and answers are counted, sound is measured in seconds. `capacity` 0 is none.
    """

    capacity: float
    queued: float
    dropped: float
    gated: float
    policy: OverflowPolicy


class Outbox:
    """Texts, answers and sound that wait for a connection.

    As the `AudioBacklog` of each connection it also decides what of the sound waits in there while the network is slow.
    """

    def __init__(self, policy: LinkPolicy | None = None) -> None:
        self.policy = policy or LinkPolicy()
        self.texts: deque[WaitingText] = deque()
        self.answers: deque[WaitingAnswer] = deque()
        self.audio = KeptAudio(self.policy)
        self._picture: ClientMessage | None = None
        self._pictures_dropped = 0
        self._refused = 0
        self._gated: dict[SendKind, float] = dict.fromkeys(POLICIES, 0.0)
        self._told: dict[SendKind, BackpressureState] = {}
        self.samples_sent = 0
        """Samples of the microphone that connections took and did not give back, since the session's beginning."""
        self.on_change: Callable[[], None] = lambda: None
        """Called for each second of sound that waits or that a connection drops, and once it is on time again.

        Also for displaced pictures, ever more rarely.
        """
        self._is_behind = self._holds_speech = False
        self._tell_at_s = 0.0
        self._tell_gated_at_s = 0.0

    def add_text(self, command_id: str, text: str) -> bool:
        """Queue a typed text; return False at the limit."""
        if len(self.texts) >= self.policy.max_texts:
            self._refused += 1
            return False
        self.audio.texts += 1
        self.texts.append(WaitingText(command_id, text, self.audio.texts))
        self._gated["text"] += 1
        return True

    def add_answer(self, answer: WaitingAnswer) -> None:
        """Queue the answer of a call."""
        self.answers.append(answer)
        self._gated["answer"] += 1

    def add_picture(self, message: ClientMessage) -> None:
        """Keep the newest picture of a video, in place of one that waits."""
        has_displaced, self._picture = self._picture is not None, message
        self._gated["video"] += 1
        self._pictures_dropped += has_displaced
        if has_displaced and self._pictures_dropped.bit_count() == 1:
            # The 1st, 2nd, 4th, 8th: a video may lose many in a second.
            self.on_change()

    def take_picture(self) -> ClientMessage | None:
        """Remove and return the picture that waits, or None."""
        taken, self._picture = self._picture, None
        return taken

    def add_audio(self, sound: MicSound, captured_at: float | None) -> None:
        """Keep microphone sound."""
        self.audio.add(sound, captured_at)
        if self.audio.counts_losses:
            self._gated["audio"] += len(sound) / 2 / RATE
            if self._gated["audio"] >= self._tell_gated_at_s:
                # Should the engine die, the next one knows what waited.
                self._tell_gated_at_s = self._gated["audio"] + 1.0
                self.on_change()

    # -- sound that waits in a connection (AudioBacklog) ---------------------------------------------------------------

    def on_voice(self, speaking: bool) -> None:
        """Note that the user's voice began or ended: speech is kept for longer."""
        self.audio.on_voice(speaking)
        self._holds_speech = speaking or (self._holds_speech and self._is_behind)

    @property
    def max_chunks(self) -> int:
        """Chunks of 20 ms that may wait in a connection."""
        policy = self.policy
        seconds = policy.audio_kept_s + (policy.speech_kept_s if self._holds_speech else 0.0)
        return max(1, round(seconds * CHUNKS_A_SECOND))

    def on_behind(self, behind: bool) -> None:
        """Note that chunks begin to wait in a connection, or that none does any more."""
        self._is_behind = behind
        if not behind:
            self._holds_speech = self.audio.speaking
            if self.audio.dropped_s < self._tell_at_s:
                self._tell_at_s = 0.0
                self.on_change()

    def on_dropped(self, sound: UnsentSound) -> None:
        """Count a chunk that a connection was too slow for."""
        self.audio.count_dropped(self._numbered(sound))
        self.samples_sent -= len(sound.pcm) // 2
        self._gated["audio"] += len(sound.pcm) / 2 / RATE
        if self.audio.dropped_s >= self._tell_at_s:
            self._tell_at_s = self.audio.dropped_s + 1.0
            self.on_change()

    @staticmethod
    def _numbered(unsent: UnsentSound) -> MicSound:
        # A connection gives back what it was given.
        assert isinstance(unsent.pcm, MicSound)
        return unsent.pcm

    def on_unsent(self, sounds: Sequence[UnsentSound]) -> None:
        """Take sound back that the end of a connection left unsent."""
        self.samples_sent -= sum(len(sound.pcm) for sound in sounds) // 2
        self.take_back(self._numbered(sound) for sound in sounds)
        self._is_behind, self._tell_at_s = False, 0.0

    def take_back(self, sounds: Iterable[MicSound]) -> None:
        """Let sound wait that was taken and not sent."""
        for sound in joined(sounds):
            self._gated["audio"] += len(sound) / 2 / RATE
            self.audio.take_back(sound)

    def take_texts(self) -> list[WaitingText]:
        """Remove and return the texts, oldest first."""
        taken = list(self.texts)
        self.texts.clear()
        return taken

    def take_answers(self) -> list[WaitingAnswer]:
        """Remove and return the answers, oldest first."""
        taken = list(self.answers)
        self.answers.clear()
        return taken

    def pressure(self, kind: SendKind) -> BackpressureState:
        """Return the figures of a kind."""
        capacity, queued, dropped = {
            "text": (float(self.policy.max_texts), float(len(self.texts)), float(self._refused)),
            "answer": (0.0, float(len(self.answers)), 0.0),
            "video": (1.0, float(self._picture is not None), float(self._pictures_dropped)),
            "audio": (self.policy.speech_kept_s, self.audio.waiting_s, self.audio.dropped_s),
        }[kind]
        return BackpressureState(
            capacity=capacity,
            queued=round(queued, 2),
            dropped=round(dropped, 2),
            gated=round(self._gated[kind], 2),
            policy=POLICIES[kind],
        )

    def news(self) -> list[tuple[SendKind, BackpressureState]]:
        """Return changed figures of kinds that had to wait or were lost."""
        now = {kind: self.pressure(kind) for kind in POLICIES}
        changed = [
            (kind, state)
            for kind, state in now.items()
            if (state.gated or state.dropped) and self._told.get(kind) != state
        ]
        self._told.update(changed)
        return changed
