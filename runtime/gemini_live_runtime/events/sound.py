"""Events of the sound: playback, devices, the user's voice, meters."""

from __future__ import annotations

from typing import ClassVar, Literal

from gemini_live_runtime.events.base import Payload, SoundProblem
from gemini_live_runtime.records import keyword_record

__all__ = [
    "AudioLost",
    "AudioOpened",
    "EchoLeaking",
    "Meters",
    "PlaybackDrained",
    "PlaybackHeard",
    "PlaybackPaused",
    "PlaybackResumed",
    "PlaybackStarted",
    "SoundHealth",
    "SpeechNotUnderstood",
    "VoiceMarked",
]


@keyword_record
class PlaybackStarted(Payload):
    """The device consumed the first sample of the event's generation `gen`."""

    type: ClassVar[str] = "playback.started"


@keyword_record
class PlaybackHeard(Payload):
    """The device consumed samples [`first`, `first` + `count`) of generation `of`.

    `muted`: it played silence instead. `late_ms` is the time from when the last of them was heard to this event, below
    0 where a cut made the event come first.
    """

    type: ClassVar[str] = "playback.heard"
    of: int
    first: int
    count: int
    muted: bool = False
    late_ms: float = 0.0


@keyword_record
class PlaybackPaused(Payload):
    """Playback of generation `of` pauses: the user seems to speak.

    `at` samples had been consumed; up to 10 ms more fade out.
    """

    type: ClassVar[str] = "playback.paused"
    of: int
    at: int


@keyword_record
class PlaybackResumed(Payload):
    """Playback of generation `of` goes on with sample `at`, the next one."""

    type: ClassVar[str] = "playback.resumed"
    of: int
    at: int


@keyword_record
class PlaybackDrained(Payload):
    """All of generation `of` has been played."""

    type: ClassVar[str] = "playback.drained"
    of: int


@keyword_record
class AudioOpened(Payload):
    """Sound was opened; `problems` has a sentence for each part that could not be.

    `again`: a lost device is back, or another one in its place, which `problems` says then.
    """

    type: ClassVar[str] = "audio.opened"
    input: str
    output: str
    input_rate: int
    output_rate: int
    echo_canceller: str
    problems: tuple[str, ...] = ()
    again: bool = False


@keyword_record
class AudioLost(Payload):
    """A device vanished or stalled, and no other one took its place.

    `remedy` says what follows and what helps.
    """

    type: ClassVar[str] = "audio.lost"
    direction: Literal["input", "output"]
    reason: str
    remedy: str = ""


@keyword_record
class EchoLeaking(Payload):
    """Echo of the model's voice is reduced too little, or enough again.

    `leaking`: it is reduced by less than 10 dB.
    """

    type: ClassVar[str] = "audio.echo"
    leaking: bool


@keyword_record
class SoundHealth(Payload):
    """Something is wrong with the sound, or no longer (`well`).

    `remedy` says what helps, `action` is the id of the console's action for it.
    """

    type: ClassVar[str] = "audio.health"
    kind: SoundProblem
    well: bool
    text: str = ""
    remedy: str = ""
    action: str = ""


@keyword_record
class VoiceMarked(Payload):
    """The user's voice began or ended, as `source` hears it."""

    type: ClassVar[str] = "voice.marked"
    speaking: bool
    source: Literal["local", "server"] = "local"


@keyword_record
class SpeechNotUnderstood(Payload):
    """The user spoke, and the turn went on before any words of that came.

    Words that come later in the turn take its place in the transcript. `seconds` is the length of the voice and
    `peak_db` its highest level in dBFS (null: not measured). `decided_by` is who ended the utterance: the server's
    detector, our own (`client`), or the microphone switch. `answer`: the model `answered`, or said `nothing`.
    """

    type: ClassVar[str] = "speech.not_understood"
    seconds: float
    peak_db: float | None = None
    decided_by: Literal["server", "client", "switch"] = "server"
    answer: Literal["answered", "nothing"] = "answered"


@keyword_record
class Meters(Payload):
    """Last meter sample, once a second; the samples between are not journaled.

    Units as in `samples.MeterSample`.
    """

    type: ClassVar[str] = "meters"
    mic_db: float | None
    clean_db: float | None
    out_db: float | None
    erle_db: float | None
    buffer_ms: float
    underruns: int
    mic_dropped: int
    loop_lag_ms: float
    jitter_ms: float = 0.0
    far_missing: int = 0
    far_dropped: int = 0
    xruns: int = 0
    drift_ppm: float | None = None
    heard_itself: int = 0
    false_pauses: int = 0
    answer: str = ""
