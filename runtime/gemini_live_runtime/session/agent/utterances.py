"""Follow the user's utterances: when each began and ended, and its words.

Words come after their sound, and no message says to which voice they belong. So they go to the oldest one that still
waits for words: an utterance is never given the words of an earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gemini_live_runtime.session.core.speech import CONTINUES_S, LOCAL_HANG_OVER_S
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, WAIT_AFTER_VOICE_S

VoiceSource = Literal["local", "server"]

MARK_DELAY_S: dict[VoiceSource, float] = {"local": 0.25, "server": 0.5}
"""Most seconds from the beginning of a voice to its mark: a detector needs 240 ms to be sure, a server the network."""

HANG_OVER_S: dict[VoiceSource, float] = {"local": LOCAL_HANG_OVER_S, "server": 0.0}
"""Seconds from the end of a voice to the mark of its end."""

MAX_KEPT = 16
"""Utterances that are kept, the newest."""


@dataclass(slots=True, eq=False)
class Utterance:
    """Voice of the user without a pause. Times are clock seconds.

    `began` is the earliest moment at which it, or what it goes on with after a short pause, may have begun.
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
    is_shared: bool = False
    """True when words of what it goes on with have come, which may be its own, too."""

    @property
    def has_words(self) -> bool:
        """True once words of it have come."""
        return bool(self.text.strip())

    def may_get_words(self, now: float) -> bool:
        """Return True while words of it may still come."""
        patience_s = WAIT_AFTER_VOICE_S if self.is_shared else ANSWER_PATIENCE_S
        return self.ended is None or now - self.ended < patience_s

    def is_soon(self, source: VoiceSource, now: float) -> bool:
        """Return True for a voice, marked now, that follows this one after a short pause."""
        return now - MARK_DELAY_S[source] - self.voice_until < CONTINUES_S


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
            heard = [one for one in self.all if source in one.on]
            for one in heard:
                one.on.discard(source)
                one.voice_until = max(one.voice_until, now - HANG_OVER_S[source])
                one.ended = None if one.on else now
            return heard[-1] if heard else None
        goes_on = newest is not None and (newest.ended is None or newest.is_soon(source, now))
        # Another detector may mark the same voice later.
        if newest is None or not goes_on or source in newest.seen:
            began = newest.began if newest is not None and goes_on else now - MARK_DELAY_S[source]
            newest = Utterance(began)
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
            self._share(said)
        return said

    def _said_by(self, now: float) -> Utterance | None:
        last = self._speaking
        if last is not None and now - last.words_at < CONTINUES_S:
            return last
        waiting = [one for one in self.all if one.may_get_words(now)]
        return next((one for one in waiting if not one.has_words), waiting[-1] if waiting else None)

    def _share(self, said: Utterance) -> None:
        """Note that words came of what goes on before and after pauses."""
        for one in self.all:
            one.is_shared = one.is_shared or one.began == said.began
