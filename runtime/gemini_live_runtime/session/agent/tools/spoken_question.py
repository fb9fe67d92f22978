"""Decide by voice whether a call may run, by the question and the answer.

A yes counts when the last that the user heard was the question in its own words, played to its end; when the user began
to speak after that; and when all that they said is a yes. Sound of the model's in between makes it no answer: it may be
the model that was heard. Everything else leaves the question to the keys.
"""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.conversation.spoken_answers import answer_of, has_asked
from gemini_live_runtime.records import mutable_record, record
from gemini_live_runtime.session.agent.utterances import Utterance, Utterances
from gemini_live_runtime.session.core.speech import CONTINUES_S
from gemini_live_runtime.text import sanitise_line

FASTEST = 40
"""Characters in a second of the fastest speech; a shorter sound cannot be the question."""

RATE = 24_000
"""Samples in a second of the model's sound."""

MAX_SAID = 200
"""Characters of an answer in an event."""

UNMARKED = "the microphone did not mark when that was said"
EARLY = "that was begun before the question had ended"
OTHER_WORDS = "the model did not ask in the question's own words"
MODEL_SPOKE = "the model spoke again before the answer"
BOTH_SPOKE = "the model spoke at the same time"


@record
class SpokenAnswer:
    """Answer by voice; `said` is what the user said."""

    yes: bool
    said: str


@mutable_record
class _Sound:
    """Generation of the model since the question is open. Samples are at 24 kHz."""

    text: str = ""
    heard: int = 0
    samples: int | None = None
    """Length of its sound, once it is known."""
    is_cut: bool = False
    """True when the rest of it was dropped."""
    drained_at: float | None = None

    @property
    def is_heard(self) -> bool:
        """True when all of it was played and heard."""
        is_whole = self.heard >= max(1, self.samples or 0)
        return self.drained_at is not None and is_whole and not self.is_cut


class SpokenQuestion:
    """Question of consent that is asked aloud; times are clock seconds."""

    def __init__(self, question: str, utterances: Utterances) -> None:
        self.question = question
        self.state: Literal["asking", "listening", "off"] = "asking"
        self.reason = ""
        """Reason why the voice does not count any more."""
        self.answer: SpokenAnswer | None = None
        self._utterances = utterances
        self._sounds: dict[int, _Sound] = {}
        self._gen = 0
        """Generation that has asked."""
        self._heard_at = 0.0
        self._spoke_at: float | None = None
        """Moment at which the model was heard again."""

    def close(self, reason: str) -> None:
        """Let the voice count no more."""
        if self.state != "off":
            self.state, self.reason = "off", reason

    # -- the model ---------------------------------------------------------------------------------------------------

    def on_model_text(self, gen: int, text: str) -> None:
        """Take words that the model says."""
        self._sound(gen).text += text
        self._follow(gen)

    def on_played(self, gen: int, until: int, now: float) -> None:
        """Note that a generation was played up to a sample."""
        sound = self._sound(gen)
        sound.heard = max(sound.heard, until)
        self.on_playback(gen, now)
        self._check(gen)

    def on_playback(self, gen: int, now: float) -> None:
        """Note that a generation is heard."""
        if self.state == "listening" and gen > self._gen and self._spoke_at is None:
            self._spoke_at = now
            # Words that come from here on may be the model's own.
            if not any(one.has_words for one in self._answers()):
                self.close(MODEL_SPOKE)

    def on_generated(self, gen: int, samples: int) -> None:
        """Note the length of a generation."""
        self._sound(gen).samples = samples
        self._check(gen)

    def on_drained(self, gen: int, now: float) -> None:
        """Note that all of a generation was played."""
        sound = self._sound(gen)
        sound.drained_at = now if sound.drained_at is None else sound.drained_at
        self._check(gen)

    def on_cut(self, cut_below: int) -> None:
        """Note that nothing more is heard of generations below a number."""
        for gen, sound in self._sounds.items():
            sound.is_cut = sound.is_cut or (gen < cut_below and sound.drained_at is None)

    def _sound(self, gen: int) -> _Sound:
        return self._sounds.setdefault(gen, _Sound())

    def _follow(self, gen: int) -> None:
        """Check words that come late, or after the question."""
        if self.state == "asking":
            self._check(gen)
        elif self.state != "listening":
            return
        elif gen == self._gen and not has_asked(self._sound(gen).text, self.question):
            self.close(OTHER_WORDS)
        elif gen > self._gen and not self._answers():
            self.close(MODEL_SPOKE)

    def _check(self, gen: int) -> None:
        """Listen once the question was heard to its end."""
        sound = self._sound(gen)
        is_newest = gen == max(self._sounds)
        # A transcript without its sound asks nobody.
        is_long_enough = sound.heard * FASTEST >= len(self.question) * RATE
        is_asked = is_newest and sound.is_heard and is_long_enough and has_asked(sound.text, self.question)
        if self.state == "asking" and is_asked:
            assert sound.drained_at is not None
            self.state, self._gen, self._heard_at = "listening", gen, sound.drained_at

    # -- the user ----------------------------------------------------------------------------------------------------

    def _answers(self) -> list[Utterance]:
        """Return the utterances begun since the question was heard."""
        return [one for one in self._utterances.all if one.began >= self._heard_at]

    def on_voice(self, one: Utterance) -> None:
        """Note that an utterance begins, goes on or ends."""
        if self.state != "listening" or one.began < self._heard_at or self._spoke_at is None:
            return
        # The end of a voice is marked later than it is.
        if one.ended is None or one.voice_until > self._spoke_at:
            self.close(BOTH_SPOKE)

    def on_words(self, said: Utterance | None) -> None:
        """Note that words of an utterance came; None for those of no known one."""
        if self.state != "listening":
            return
        if said is None:
            self.close(UNMARKED)
        elif said.began < self._heard_at:
            # Another utterance may be the answer, unless this one seemed to be.
            if answer_of(said.text) is not None:
                self.close(f"{_quoted(said.text)}: {EARLY}")
        elif self._spoke_at is not None:
            self.close(MODEL_SPOKE)

    # -- the answer --------------------------------------------------------------------------------------------------

    def next_look(self, now: float) -> float | None:
        """Return the seconds until `look` may decide; None while nothing was said."""
        due = self._due()
        return None if due is None else max(0.0, due - now)

    def _due(self) -> float | None:
        said = self._answers() if self.state == "listening" else []
        ends = [one.ended for one in said if one.ended is not None]
        if len(ends) < len(said) or not any(one.has_words for one in said):
            return None
        return max(*ends, *(one.words_at for one in said)) + CONTINUES_S

    def look(self, now: float) -> None:
        """Decide, once the user has been silent for a moment."""
        due = self._due()
        if self.answer is not None or due is None or now < due:
            return
        text = " ".join(one.text.strip() for one in self._answers() if one.has_words)
        yes = answer_of(text)
        if yes is None:
            self.close(f"{_quoted(text)} is neither yes nor no")
        else:
            self.answer = SpokenAnswer(yes, sanitise_line(text, MAX_SAID))


def _quoted(text: str) -> str:
    return f"\u201c{sanitise_line(text.strip(), MAX_SAID)}\u201d"
