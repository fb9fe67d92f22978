"""Number the model's answers, to tell an interrupted one from the next.

The server's messages carry no number, so the ledger assigns one. A model frame belongs to the current generation, which
advances only at `turnComplete` or `interrupted`. Interrupting stores a bound, `cut_below`; all audio and text of a
generation below it is dropped wherever it is found: in the playback queue, and when frames of the old answer still
arrive because the server has not yet seen the interruption. A flag "interrupted" would not do: it has to be cleared
when the next answer begins, and a late frame of the old one would then pass as part of the new one. The bound only
rises, so there is nothing to clear too early.
"""

from __future__ import annotations

from dataclasses import field

from gemini_live_runtime.records import mutable_record
from gemini_live_runtime.session.core.speech_pace import SpeechPace
from gemini_live_runtime.speech_map import Place, add_text, chars_at, stretched, whole_words

SAMPLES_A_SECOND = 24_000

MAX_KNOWN = 8
"""Number of generations to remember: only the latest can still be playing."""


MAX_ANSWER_CHARS = 1_000_000
"""Characters of an answer that are kept to tell heard words from unheard ones."""


@mutable_record
class Generation:
    """Audio and transcript of an answer of the model. Samples are at 24 kHz."""

    number: int
    turn: int
    received: int = 0
    heard: int = 0
    text: list[str] = field(default_factory=list)
    chars: int = 0
    """Characters of `text`, at most `MAX_ANSWER_CHARS`."""
    opened: bool = False
    complete: bool = False
    drained: bool = False
    """True when no more of it will be played, even if part is unheard."""
    spoken: bool = False
    """True when its text is the transcript of speech."""
    pace: SpeechPace = field(default_factory=SpeechPace)
    places: tuple[Place, ...] = ()
    """Places of the transcript's deltas in the sound."""
    whole: bool = False
    """True when all of its sound has been received."""
    broken_off: bool = False
    """True when the loss of the loudspeaker in it was reported."""
    began_at: float = 0.0
    """Clock time (s) of its first content."""
    arrived_at: float = 0.0
    """Clock time (s) of its newest content."""
    heard_at: float = 0.0
    """Clock time (s) at which the device was last known to play it."""

    @property
    def lasts_until(self) -> float:
        """Clock time (s) until which there is something of it to hear."""
        return max(self.arrived_at, self.heard_at, self.began_at + self.received / SAMPLES_A_SECOND)

    @property
    def sounds(self) -> bool:
        """True when more of it may be heard."""
        return not self.complete or (self.unheard > 0 and not self.drained)

    @property
    def unheard(self) -> int:
        """Number of samples received and not yet consumed by the device."""
        return max(0, self.received - self.heard)

    def place(self, text: str, samples_per_char: float) -> tuple[int, int]:
        """Return where the transcript's next `text` is spoken: first sample and length."""
        first, length = self.pace.place(len(text), self.received, samples_per_char)
        if self.chars < MAX_ANSWER_CHARS:
            self.places = add_text(self.places, self.chars, text, first, length)
        return first, length

    def end_sound(self) -> None:
        """Adapt the places to all of the sound, now that it is known."""
        self.places = stretched(self.places, self.received)
        self.whole = True

    def add_text(self, text: str) -> None:
        """Append to the transcript; beyond `MAX_ANSWER_CHARS` it is not kept."""
        room = MAX_ANSWER_CHARS - self.chars
        if room > 0:
            self.text.append(text[:room])
            self.chars += min(room, len(text))

    def split_at_arrival(self, *, read: bool = False) -> tuple[str, str]:
        """Split the transcript where its sound ends that was received.

        The end is empty without sound, and when the user can only `read`.
        """
        text = "".join(self.text)
        if read or not (self.places and self.received):
            return text, ""
        at = whole_words(text, chars_at(self.places, len(text), self.received))
        return text[:at], text[at:]

    def split_text(self, *, read: bool = False, chars: int | None = None) -> tuple[str, str]:
        """Split the transcript into its heard and its unheard part.

        `chars` leaves out what came after as many characters. All of it counts as heard when the user can only `read`,
        and without audio when it is no speech.

        The cut is at a word, where the speech map has the audio consumed; without places it is in proportion.
        """
        text = "".join(self.text)[:chars]
        if read:
            return text, ""
        if self.received == 0:
            return ("", text) if self.spoken else (text, "")
        if self.heard >= self.received and (self.whole or not self.places):
            return text, ""
        proportional = len(text) * self.heard // self.received
        at = whole_words(text, chars_at(self.places, len(text), self.heard) if self.places else proportional)
        return text[:at], text[at:]


class GenerationLedger:
    """Ledger of the latest generations and the bound below which they are cut."""

    def __init__(self) -> None:
        self.number = 1
        self.cut_below = 0
        self._known: dict[int, Generation] = {}

    def current(self, turn: int) -> Generation:
        """Return the generation of frames that arrive now, created in `turn` if new."""
        known = self._known.get(self.number)
        if known is None:
            known = self._known[self.number] = Generation(self.number, turn)
        return known

    def get(self, number: int) -> Generation | None:
        """Return a generation, or None when it is unknown or forgotten."""
        return self._known.get(number)

    @property
    def current_opened(self) -> bool:
        """True when a frame of the current generation has arrived."""
        known = self._known.get(self.number)
        return known is not None and known.opened

    @property
    def current_is_cut(self) -> bool:
        """True when frames that arrive now have to be dropped."""
        return self.number < self.cut_below

    def advance(self) -> None:
        """Complete the current generation and begin the next."""
        known = self._known.get(self.number)
        if known is not None:
            known.complete = True
        self.number += 1
        for number in [number for number in self._known if number <= self.number - MAX_KNOWN]:
            del self._known[number]

    def cut(self) -> int:
        """Cut the current generation if it has begun, else those before it.

        Returns the new bound, which never falls.
        """
        bound = self.number + 1 if self.current_opened else self.number
        self.cut_below = max(self.cut_below, bound)
        return self.cut_below

    def drain(self) -> None:
        """Mark all complete generations as drained: the output device was lost."""
        for generation in self._known.values():
            generation.drained = generation.complete

    def broken_off(self) -> Generation | None:
        """Return the newest generation whose playback a lost loudspeaker broke off."""
        for number in sorted(self._known, reverse=True):
            generation = self._known[number]
            begun = generation.heard > 0 or not generation.drained
            if number >= self.cut_below and generation.unheard > 0 and begun and not generation.broken_off:
                return generation
        return None

    def audible(self) -> Generation | None:
        """Return the newest generation that is neither cut nor fully played, or None."""
        for number in sorted(self._known, reverse=True):
            generation = self._known[number]
            if number >= self.cut_below and generation.opened and generation.sounds:
                return generation
        return None
