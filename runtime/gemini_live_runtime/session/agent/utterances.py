"""Follow the user's utterances: when each began and ended, and its words.

Words come after their sound, and no message says to which voice they belong. So they go to the oldest one that still
waits for words: an utterance is never given the words of an earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gemini_live_runtime.session.core.speech import CONTINUES_S, LOCAL_HANG_OVER_S
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S

VoiceSource = Literal["local", "server"]

MARK_DELAY_S: dict[VoiceSource, float] = {"local": 0.25, "server": 0.5}
"""Most seconds from the beginning of a voice to its mark: a detector needs 240 ms to be sure, a server the network."""

HANG_OVER_S: dict[VoiceSource, float] = {"local": LOCAL_HANG_OVER_S, "server": 0.0}
"""Seconds from the end of a voice to the mark of its end."""

MAX_KEPT = 16
"""Utterances that are kept, the newest."""


@dataclass(slots=True)
class Utterance:
    """Utterance of the user. Times are clock seconds.

    `began` is the earliest moment at which it may have begun.
    """

    began: float
    on: set[VoiceSource] = field(default_factory=set)
    """Detectors that hear it now."""
    seen: set[VoiceSource] = field(default_factory=set)
    """Detectors that have heard it."""
    ended: float | None = None
    """Moment of the last mark of its end; None while it lasts."""
    voice_until: float = 0.0
    """Moment at which its voice ended."""
    text: str = ""
    words_at: float = 0.0

    @property
    def has_words(self) -> bool:
        """True once words of it have come."""
        return bool(self.text.strip())

    def may_get_words(self, now: float) -> bool:
        """Return True while words of it may still come."""
        return self.ended is None or now - self.ended < ANSWER_PATIENCE_S

    def may_go_on(self, source: VoiceSource, now: float) -> bool:
        """Return True when a voice that is marked now may be the same one.

        It goes on after a short pause, or another detector marks it later.
        """
        return self.ended is None or now - MARK_DELAY_S[source] - self.voice_until < CONTINUES_S


class Utterances:
    """Utterances of one session, oldest first."""

    def __init__(self) -> None:
        self.all: list[Utterance] = []
        self._speaking: Utterance | None = None
        """Utterance whose words came last."""

    def on_voice(self, source: VoiceSource, speaking: bool, now: float) -> Utterance | None:
        """Take a detector's mark; return the utterance that begins, goes on or ends."""
        newest = self.all[-1] if self.all else None
        if not speaking:
            if newest is None or source not in newest.on:
                return None
            newest.on.discard(source)
            newest.voice_until = max(newest.voice_until, now - HANG_OVER_S[source])
            newest.ended = None if newest.on else now
            return newest
        if newest is None or not newest.may_go_on(source, now):
            newest = Utterance(now - MARK_DELAY_S[source])
            self.all = [*self.all, newest][-MAX_KEPT:]
        newest.on.add(source)
        newest.seen.add(source)
        newest.ended = None
        return newest

    def on_gone(self, source: VoiceSource, now: float) -> Utterance | None:
        """End what a detector hears that is gone; return its utterance."""
        return self.on_voice(source, False, now)

    def on_words(self, text: str, now: float) -> Utterance | None:
        """Take words; return their utterance, or None without a voice."""
        said = self._said_by(now)
        if said is not None:
            said.text += text
            said.words_at = now
            self._speaking = said
        return said

    def _said_by(self, now: float) -> Utterance | None:
        last = self._speaking
        if last is not None and now - last.words_at < CONTINUES_S:
            return last
        waiting = [one for one in self.all if one.may_get_words(now)]
        return next((one for one in waiting if not one.has_words), waiting[-1] if waiting else None)
