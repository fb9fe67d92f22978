"""Detect near-end speech in what a linear echo filter leaves.

A person's words are the part of the filter's output that is louder than the residual echo to be expected and that the
predicted echo does not explain. A filter that tracks badly leaves echo that looks like a person, so its word is taken
only with a witness: a second canceller that lets sound through.
"""

from __future__ import annotations

import math

GOOD_LEFTOVER = 0.03
"""Ratio (-15 dB) of the residual to the predicted echo below which a filter is good."""

PROVEN_LEFTOVER = 0.1
"""The same (-10 dB) from which a filter is proven."""


class PredictionDoubt:
    """Detect an echo that a filter predicts wrongly, as after a jump of its delay.

    What a right prediction leaves has less power than the microphone, with a person, too; subtracting a wrong one adds
    its power. A filter that learns the new path soon leaves less again, but what it leaves is still echo.
    """

    _SMOOTHING = 0.6
    _LEAST_ECHO = 0.3
    """Ratio of the predicted echo to the microphone below which a person hides what is wrong."""
    _FRAMES = 20
    """Audible frames (200 ms) of doubt after the last sign: a pause shows nothing of the prediction."""

    __slots__ = ("_doubt", "_echo", "_left", "_microphone")

    def __init__(self) -> None:
        self._doubt = 0
        self._microphone = self._left = self._echo = 0.0

    def update(self, microphone: float, left: float, echo: float, *, is_audible: bool) -> bool:
        """Return True while the prediction is in doubt.

        Takes mean squares of the microphone, of what is left of it and of the predicted echo; `is_audible` tells that
        the microphone exceeds the noise.
        """
        new = 1 - self._SMOOTHING
        self._microphone += new * (microphone - self._microphone)
        self._left += new * (left - self._left)
        self._echo += new * (echo - self._echo)
        if self._left > self._microphone and self._echo > self._LEAST_ECHO * self._microphone:
            self._doubt = self._FRAMES
        elif is_audible:
            self._doubt = max(0, self._doubt - 1)
        return self._doubt > 0


class NearEndShare:
    """Estimator of the share (0 to 1) of near-end speech in the filter's output.

    The filter leaves a part of every echo, which is learned slowly. Output from 6 dB above the expected residual echo
    counts partly as speech, from 10 dB fully; 3 dB less once a person is confirmed. Where the echo is 10 dB louder than
    the person, a sentence that is learned as echo hides the next one, so what is expected rises by a rate in dB, and
    falls fast in each gap between syllables. Constants were chosen by the double-talk columns of
    `tests/bench/bench_echo.py`.
    """

    _SMOOTHING = 0.7
    _ECHO_DECAY = 0.93
    """Decay per frame of the expected echo: at most 31 dB in 100 ms."""
    _LEAST_ECHO = 100.0
    _LEARNABLE_ECHO = 1000.0
    _MARGIN = 2.0
    _FROM_DB, _FROM_DB_IN_SPEECH, _SPAN_DB = 6.0, 3.0, 4.0
    _RISE, _FALL = 0.004, 0.05
    _FIRST_FALL = 0.15
    """The same before the filter is proven: as fast as one learns, from what is assumed to there in 30 frames."""
    _FASTEST, _FASTEST_WITH_SPEECH = 0.03, 0.0005
    """Most rise per frame, as a part of the present value: 13 and 0.2 dB a second."""
    _DOUBTED_RISE = 0.05
    """The same while the prediction is wrong: as fast as it falls, since all that is left is echo."""
    _RELEASE = 0.1
    _UNTRAINED = 10.0
    """Ratio of residual to predicted echo assumed for a new filter."""

    __slots__ = ("_echo", "_held_echo", "_share", "left", "leftover", "newest")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start over for a new filter, whose whole output may be echo."""
        self.leftover = self._UNTRAINED
        """Ratio of the residual echo's power to that of the predicted echo."""
        self.forget_echo()

    def forget_echo(self) -> None:
        """Begin after a pause, with what the filter was seen to leave."""
        self.left = 0.0
        """Smoothed power of the filter's output, a mean square in int16 units."""
        self._echo = self._held_echo = self._share = 0.0
        self.newest = 0.0
        """Share by the newest frames alone; what `update` returns falls more slowly."""

    @property
    def has_echo(self) -> bool:
        """True while an echo is to be expected."""
        return self._held_echo > self._LEAST_ECHO

    def update(
        self, left: float, echo: float, *, believed: bool = False, confirmed: bool = False, doubted: bool = False
    ) -> float:
        """Return the share, from the powers of the filter's output and predicted echo.

        Powers are mean squares in int16 units. While near-end speech is `believed`, the residual echo is hardly learned
        from what may be a person; once it is `confirmed`, less counts as speech. While the prediction is `doubted`, all
        is echo.
        """
        self.left += (1 - self._SMOOTHING) * (left - self.left)
        self._echo += (1 - self._SMOOTHING) * (echo - self._echo)
        self._held_echo = max(self._echo, self._held_echo * self._ECHO_DECAY)
        share = 0.0
        if self.has_echo:
            if echo > self._LEARNABLE_ECHO:
                self._learn(believed, doubted)
            expected = self._MARGIN * self.leftover * self._held_echo + 1.0
            excess_db = 10 * math.log10(min(left, 2 * self.left) / expected + 1e-9)
            from_db = self._FROM_DB_IN_SPEECH if confirmed else self._FROM_DB
            share = min(1.0, max(0.0, (excess_db - from_db) / self._SPAN_DB))
        self.newest = share
        self._share = share if share > self._share else self._share + self._RELEASE * (share - self._share)
        if self._share < 1e-3:
            self._share = 0.0
        return self._share

    def _learn(self, believed: bool, doubted: bool) -> None:
        ratio = min(max(1.0, self.leftover), self.left / (self._held_echo + 1000.0))
        if ratio < self.leftover:
            fall = self._FALL if self.leftover < PROVEN_LEFTOVER else self._FIRST_FALL
            self.leftover += fall * (ratio - self.leftover)
            return
        if doubted:
            self.leftover += self._DOUBTED_RISE * (ratio - self.leftover)
            return
        most = self._FASTEST_WITH_SPEECH if believed or self._share > 0.5 else self._FASTEST
        self.leftover += min(self._RISE * (ratio - self.leftover), most * self.leftover)


class _Run:
    """Number of frames in a row, and the mean of a value over the newest `length`."""

    __slots__ = ("_length", "count", "mean")

    def __init__(self, length: int) -> None:
        self._length = length
        self.begin()

    def begin(self) -> None:
        """Begin with the next frame."""
        self.count, self.mean = 0, 0.0

    def add(self, value: float) -> None:
        """Take the value of the next frame."""
        self.count += 1
        self.mean += (value - self.mean) / min(self.count, self._length)

    def exceeds(self, mean: float) -> bool:
        """Return True for a run of the whole length whose mean is above `mean`."""
        return self.count >= self._length and self.mean > mean


class ClearSpeech:
    """Detect near-end speech by a good filter alone.

    A loud echo makes the witness deaf. What such a filter leaves of an echo whose path has moved goes together with the
    prediction; a person's words do not. At the onset of an answer it may leave anything.
    """

    FRAMES = 7
    """Frames that have to be clear, one after the other."""
    _LEAST_SHARE = 0.8
    _LEAST_INCOHERENCE = 0.7
    """Mean share of what is left, over these frames, that the predicted echo does not explain."""
    _SUSPECT_FRAMES, _SUSPICIOUS_INCOHERENCE = 6, 0.4
    """Frames, and their mean as above, from which a person is suspected.

    A voiceless beginning, as that of "stop", is often half like the echo by chance."""
    _SETTLING_FRAMES = 30
    """Frames (300 ms) after the onset of an answer."""

    __slots__ = ("_clear", "_settled", "_suspicious")

    def __init__(self) -> None:
        self._clear, self._suspicious = _Run(self.FRAMES), _Run(self._SUSPECT_FRAMES)
        self.begin()

    def begin(self) -> None:
        """Expect the onset of an answer, or another path of the echo."""
        self._settled = 0
        self._clear.begin()
        self._suspicious.begin()

    @property
    def suspects(self) -> bool:
        """True while a person may speak, of whom half is like the echo by chance."""
        return self._suspicious.exceeds(self._SUSPICIOUS_INCOHERENCE)

    def update(self, share: float, newest: float, leftover: float, incoherence: float, *, is_loud: bool) -> bool:
        """Return True when a person speaks for certain.

        Takes the share of near-end speech and that of the newest frame, of which the echo may explain half, what the
        filter is expected to leave and the part of it that the predicted echo does not explain; `is_loud` tells that
        all of it exceeds the noise.
        """
        self._settled += 1
        is_good = self._settled >= self._SETTLING_FRAMES and leftover < GOOD_LEFTOVER and is_loud
        for run, much in ((self._clear, share), (self._suspicious, newest)):
            if is_good and much > self._LEAST_SHARE:
                run.add(incoherence)
            else:
                run.begin()
        return self._clear.exceeds(self._LEAST_INCOHERENCE)


class NearEndWitness:
    """Judge whether near-end speech is certain enough to stop suppressing.

    The witness is a canceller that works on the bare microphone: of an echo alone it lets little through. It has to let
    through more than -15 dB of the microphone, or -22 dB where the filter has proven itself, unless the speech is clear
    without. Speech that was confirmed is believed for as long as such a filter hears it.
    """

    HOLD_FRAMES = 60
    """Frames (600 ms) for which speech is believed after the last evidence; longer than the gaps between syllables."""
    CONFIRMING_FRAMES = 7
    """Frames with evidence that confirm each other: the onset of an echo gives one to four."""
    _EVIDENCE_DECAY = 0.25
    _SUSPICIOUS_EVIDENCE = 1.5
    """Frames with evidence, soon after one another, from which speech is suspected; a leak gives single ones."""
    FRESH_FRAMES = 6
    """Frames for which evidence is fresh: a mark of the user's voice needs it again and again."""
    _EXPLAINED_FRAMES = 5
    """Frames for which one counts in which the prediction explains what is left."""
    _SMOOTHING = 0.7
    _PASSED = 10**-1.5
    _PASSED_WHEN_PROVEN = 10**-2.2
    _PLAIN = 10**-0.6
    """Ratio (-6 dB) of what the witness lets through that is twice the evidence."""
    _LEAST_SHARE = 0.3
    _STRONG_SHARE = 0.8
    _STRONG_FRAMES = 4
    _LEAST_POWER = 30.0
    """Mean square (int16 units, -76 dBFS) below which nothing is speech."""

    _OVER_NOISE = 4.0
    """Ratio (6 dB) over the noise in pauses that speech needs."""
    _FIRST_NOISE = 10_000.0
    """Mean square (-50 dBFS) of the noise before it was heard."""
    _NOISE_RISE = 1.03
    """Rise per frame of the noise's level: 13 dB a second."""

    __slots__ = ("_evidence", "_hold", "_microphone", "_strong", "_suppressed", "has_evidence", "is_confirmed", "noise")

    def __init__(self) -> None:
        self.noise = self._FIRST_NOISE
        """Power of the noise in pauses, a mean square in int16 units."""
        self.reset()

    def reset(self) -> None:
        """Forget the evidence."""
        self._hold = self._strong = 0
        self._evidence = 0.0
        self.is_confirmed = False
        """True while speech is believed on more than a moment's evidence."""
        self.has_evidence = False
        """True when the newest frame has evidence of speech."""
        self._microphone = self._suppressed = 0.0

    @property
    def believes(self) -> bool:
        """True while near-end speech is certain."""
        return self._hold > 0

    @property
    def suspects(self) -> bool:
        """True while there is more than a moment's evidence."""
        return self._evidence >= self._SUSPICIOUS_EVIDENCE

    @property
    def is_fresh(self) -> bool:
        """True while the evidence is fresh."""
        return self._hold > self.HOLD_FRAMES - self.FRESH_FRAMES

    @property
    def is_certain(self) -> bool:
        """True while speech is believed on more than a moment's evidence that is over."""
        return self.is_confirmed or self.is_fresh

    @property
    def least_speech(self) -> float:
        """Power above the noise that speech has at least, a mean square in int16 units."""
        return self._OVER_NOISE * self.noise

    @property
    def suppressed_power(self) -> float:
        """Smoothed power of the witness's output, a mean square in int16 units."""
        return self._suppressed

    def hear_noise(self, microphone: float) -> None:
        """Take the power of the microphone in a pause of the loudspeaker."""
        self._microphone += (1 - self._SMOOTHING) * (microphone - self._microphone)
        self.noise = max(self._LEAST_POWER, min(self._microphone, self.noise * self._NOISE_RISE))

    def confirm(self) -> None:
        """Believe in speech that needs no witness."""
        self._hold = self.HOLD_FRAMES
        self._evidence = max(self._evidence, self.CONFIRMING_FRAMES)
        self.is_confirmed = True

    def update(
        self,
        share: float,
        microphone: float,
        suppressed: float,
        *,
        proven: bool,
        clear: bool = False,
        explained: bool = False,
    ) -> None:
        """Take the share of near-end speech, and two powers (mean squares in int16 units).

        They are those of the microphone and of the witness's output. Speech that is `clear` needs no witness. What is
        left is `explained` where it goes together with the predicted echo: then belief ends sooner.
        """
        self._microphone += (1 - self._SMOOTHING) * (microphone - self._microphone)
        self._suppressed += (1 - self._SMOOTHING) * (suppressed - self._suppressed)
        self._strong = self._strong + 1 if share > self._STRONG_SHARE else 0
        needed = self._PASSED_WHEN_PROVEN if proven and self._strong >= self._STRONG_FRAMES else self._PASSED
        # The smoothed powers alone would take the end of a loud sound for evidence when the next one begins.
        passes = suppressed > needed * microphone and self._suppressed > max(
            needed * self._microphone, self.least_speech
        )
        self.has_evidence = clear or (passes and share > self._LEAST_SHARE)
        if self.has_evidence:
            self._hold = self.HOLD_FRAMES
            plain = share > self._STRONG_SHARE and self._suppressed > self._PLAIN * self._microphone
            self._evidence += 2 if plain else 1
            self.is_confirmed |= self._evidence >= self.CONFIRMING_FRAMES
            return
        # A loud echo makes the witness deaf to the rest of a sentence; the filter, once proven, hears it.
        goes_on = proven and self.is_confirmed and share > self._LEAST_SHARE
        if self.is_fresh or not goes_on:
            self._hold = max(0, self._hold - (self._EXPLAINED_FRAMES if explained else 1))
        self._evidence = max(0.0, self._evidence - self._EVIDENCE_DECAY)
        self.is_confirmed &= self.believes
