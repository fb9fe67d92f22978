"""Decide what is wrong with the sound, and what helps.

The one place that does so: what the console, the plain output, exports and `doctor` show are its events.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import record
from gemini_live_runtime.samples import MeterSample

SILENT_DB = -59.9
"""Peak (dBFS) up to which only zeros arrive."""
SILENT_FIRST_S, SILENT_LATER_S = 5.0, 60.0
"""Seconds of zeros that count: from a microphone never heard, and from one that a headset may have closed."""
CLIPPED_S = 3.0
"""Seconds with a sample at full scale, of the last `WINDOW_S`."""
LOST_MS = 200.0
"""Milliseconds of sound lost in the last `WINDOW_S`."""
DRIFT_PPM, DRIFT_S = 1000.0, 20.0
"""Difference of the two clocks that no canceller follows, and the seconds for which it must be seen."""
SELF_CUTS = 2
"""Times in `ECHO_S` that the model was cut off by itself."""
WINDOW_S, ECHO_S = 15.0, 60.0
WELL_S = 15.0
"""Seconds without a sign of it after which a problem is over."""
WORDS_BEFORE_S, WORDS_AFTER_S = 2.0, 8.0
"""Seconds around a cut in which the words that made it arrive: some servers send them as they are said, others at the
end of the utterance."""

FIRST_WORDS_SAMPLES = 9_600
"""Samples (0.4 s) of an answer before whose end no person has heard it and spoken up."""
FEW_WORDS = 3
"""Words below which it cannot be said whose they are."""

_FRAME_MS = 10.0
_CHUNK_MS = 20.0
_WORD = re.compile(r"[^\W_]+")
_SHARED = 0.7
"""Share of the user's words that the model had just said, from which they are the model's."""
_RECENT_CHARS = 1500


@record
class Problem:
    """Texts of a problem; `action` is the id of the console's action that helps."""

    text: str
    remedy: str
    action: str


UNCANCELLED_REMEDY = (
    "Use headphones, and say so among the devices; or let the program cancel the echo: start it without --no-aec, or "
    "set audio.echo_cancelling in the config."
)
"""Remedy against an echo while none is cancelled."""

PROBLEMS: dict[ev.SoundProblem, Problem] = {
    "echo": Problem(
        "The model hears itself, and may interrupt itself.",
        "Use headphones, and say so among the devices; or turn the speaker down.",
        "devices",
    ),
    "clipping": Problem(
        "The microphone clips: words are distorted.",
        "Turn its level down in the system's settings, or move away from it.",
        "test-microphone",
    ),
    "no-signal": Problem(
        "The microphone delivers only silence.",
        "Check its mute switch and the system's permission to use it, or choose another one.",
        "devices",
    ),
    "drift": Problem(
        "Microphone and speaker run at different speeds, so echo is cancelled badly.",
        "Use one device for both, such as a headset.",
        "devices",
    ),
    "lost": Problem(
        "Sound is being lost: the computer is too busy.",
        "End what keeps it busy; the meters show what is lost.",
        "meters",
    ),
}


class SoundHealth:
    """Judge of one session's sound, by its events and its meters."""

    def __init__(self, emit: Callable[[ev.Payload], None], now: Callable[[], float]) -> None:
        self._emit = emit
        self._now = now
        self._signs: dict[ev.SoundProblem, float] = {}
        """Time (s) of the newest sign of each problem that is reported."""
        self._sampled_at: float | None = None
        self._last = MeterSample()
        self._clipped: deque[tuple[float, float]] = deque()
        self._lost: deque[tuple[float, float]] = deque()
        self._own_cuts: deque[float] = deque()
        self._zeros_s = 0.0
        self._drift_s = 0.0
        self._had_signal = False
        self._leaking = False
        self._hears_words = False
        self._model_text = ""
        self._answer = (0, 0.0)
        """Generation of the model's newest words, and the time (s) of its first."""
        self._cut: tuple[float, float, int] | None = None
        """Time (s) of a cut that is not judged yet, that of the answer's first words, and the samples heard of it."""
        self._microphone = ""
        self._is_uncancelled = False
        """True when nothing keeps the loudspeaker out of the microphone."""
        self._user_text: deque[tuple[float, str]] = deque(maxlen=200)
        """Words of the user, with the time (s) at which they came."""

    # -- events ------------------------------------------------------------------------------------------------------

    def on_event(self, event: ev.Event) -> None:
        """Take note of an event of the session; see `KINDS`."""
        match event.payload:
            case ev.EchoLeaking(leaking=leaking):
                self._leaking = leaking
            case ev.TranscriptDelta(side="model", channel="speech", text=text):
                if self._answer[0] != event.gen:
                    self._answer = (event.gen, self._now())
                self._model_text = (self._model_text + text)[-_RECENT_CHARS:]
            case ev.TranscriptDelta(side="user", text=text):
                self._hears_words = True
                self._user_text.append((self._now(), text))
            case ev.TurnInterrupted(by="server", heard_samples=heard):
                self._judge_cut()
                began = self._answer[1] if self._answer[0] == event.gen else 0.0
                self._cut = (self._now(), began, heard)
            case ev.TextSent():
                self._cut = None
            case ev.AudioOpened(input=microphone, output=speaker, echo_canceller=canceller):
                self._had_signal &= microphone == self._microphone
                self._microphone, self._zeros_s = microphone, 0.0
                self._is_uncancelled = bool(microphone and speaker) and not canceller

    KINDS = (ev.EchoLeaking, ev.TranscriptDelta, ev.TurnInterrupted, ev.TextSent, ev.AudioOpened)
    """Events that `on_event` needs."""

    def _judge_cut(self) -> None:
        """Count the last cut if no person made it: without words, or with the model's.

        Words from before the answer are the question. With an echo that is not cancelled a few that cut the answer's
        very first words are misheard ones of its own.
        """
        cut, self._cut = self._cut, None
        if cut is None or not self._hears_words:
            return  # A server that never sends the user's words says nothing by sending none.
        cut_at, began, heard = cut
        since = max(began, cut_at - WORDS_BEFORE_S)
        said = _words("".join(text for at, text in self._user_text if at >= since))
        known = set(_words(self._model_text))
        if len(said) >= FEW_WORDS:
            is_own = sum(word in known for word in said) >= _SHARED * len(said)
        else:
            is_own = not said or (self._is_uncancelled and heard < FIRST_WORDS_SAMPLES)
        if is_own:
            self._own_cuts.append(cut_at)

    # -- samples -----------------------------------------------------------------------------------------------------

    def on_sample(self, sample: MeterSample) -> None:
        """Judge the meters, and report what has begun or is over."""
        now = self._now()
        seconds = 0.0 if self._sampled_at is None else min(2.0, max(0.0, now - self._sampled_at))
        self._sampled_at = now
        if self._cut is not None and now - self._cut[0] >= WORDS_AFTER_S:
            self._judge_cut()
        self._own_cuts.extend([now] * max(0, sample.heard_itself - self._last.heard_itself))
        signs = {
            "echo": self._echo(now),
            "clipping": _sum(self._clipped, now, seconds * sample.clipped) >= CLIPPED_S,
            "no-signal": self._is_silent(sample, seconds),
            "drift": self._drifts(sample, seconds),
            "lost": _sum(self._lost, now, _lost_ms(self._last, sample)) >= LOST_MS,
        }
        self._last = sample
        for kind in PROBLEMS:
            self._report(kind, signs[kind], now)

    def _echo(self, now: float) -> bool:
        while self._own_cuts and now - self._own_cuts[0] > ECHO_S:
            self._own_cuts.popleft()
        return self._leaking or len(self._own_cuts) >= SELF_CUTS

    def _drifts(self, sample: MeterSample, seconds: float) -> bool:
        differ = sample.drift_ppm is not None and abs(sample.drift_ppm) >= DRIFT_PPM
        self._drift_s = self._drift_s + seconds if differ else 0.0
        return self._drift_s >= DRIFT_S

    def _is_silent(self, sample: MeterSample, seconds: float) -> bool:
        if sample.mic_db is None or sample.mic_peak_db is None:
            # A closed microphone says nothing; it may open again.
            self._zeros_s = 0.0
            return False
        if sample.mic_peak_db > SILENT_DB:
            self._had_signal, self._zeros_s = True, 0.0
            return False
        self._zeros_s += seconds
        return self._zeros_s >= (SILENT_LATER_S if self._had_signal else SILENT_FIRST_S)

    def _report(self, kind: ev.SoundProblem, sign: bool, now: float) -> None:
        problem = PROBLEMS[kind]
        if sign:
            if kind not in self._signs:
                remedy = UNCANCELLED_REMEDY if kind == "echo" and self._is_uncancelled else problem.remedy
                self._emit(
                    ev.SoundHealth(kind=kind, well=False, text=problem.text, remedy=remedy, action=problem.action)
                )
            self._signs[kind] = now
        elif kind in self._signs and (now - self._signs[kind] >= WELL_S or kind == "no-signal"):
            del self._signs[kind]
            self._emit(ev.SoundHealth(kind=kind, well=True))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _sum(amounts: deque[tuple[float, float]], now: float, fresh: float) -> float:
    """Add `fresh` to the amounts of the last `WINDOW_S` and return their sum."""
    if fresh > 0:
        amounts.append((now, fresh))
    while amounts and now - amounts[0][0] > WINDOW_S:
        amounts.popleft()
    return sum(amount for _, amount in amounts)


def _lost_ms(before: MeterSample, sample: MeterSample) -> float:
    """Return the milliseconds of sound lost since the sample before.

    Counters begin anew with each change of devices.
    """

    def grown(pairs: Iterable[tuple[int, int]]) -> int:
        return sum(new - old if new >= old else new for old, new in pairs)

    # The devices do not say how much an xrun loses: a block of 10 ms, as a rule.
    counters = ("far_missing", "far_dropped", "xruns")
    frames = grown((getattr(before, name), getattr(sample, name)) for name in counters)
    return frames * _FRAME_MS + grown(((before.mic_dropped, sample.mic_dropped),)) * _CHUNK_MS
