"""Score an echo canceller on scenes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from tests.rooms.loudspeaker import Loudspeaker
from tests.rooms.scenes import (
    JUMP_AT_S,
    LEAD_S,
    NEAR_FROM_S,
    Room,
    Scene,
    active,
    make_scene,
    powers,
)
from tests.rooms.voices import RATE

from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.echo.echo_path import EchoPath
from gemini_live_runtime.audio.echo.pause_probe import KeptSound, MicFrame
from gemini_live_runtime.audio.processing.voice_detector import VoiceDetector
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16, to_int16
from gemini_live_runtime.local.protocol.activity import ActivityDetector, Started
from gemini_live_runtime.session.endpointing.activity import InputActivity
from gemini_live_runtime.session.link.mic_sound import MicSound

TAPS = 256
"""Length of the filter that may stand between a person's words and their copy."""

NEVER_MS = 9_999.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a canceller in one room.

    ERLE in dB over frames with a loud echo, by seconds from the first word, after a jump of the delay, and with
    clocks that drift. `first_ms` are the ms after which the model is silent, and the server, and then our own
    detector, notices a person who speaks into the first words of the first answer, `again_ms` the same in a later
    call with these devices; `NEVER_MS` stands for one who goes unnoticed, or whom an echo was taken for. `sdr_db`
    is the distortion of the person's words in double talk, `lost` the share of frames of these words that are cut
    by more than 12 dB. `cuts` counts turns that the embedded server begins on leaked echo while the model answers,
    in `answer_minutes`, and `client_cuts` those of our own detector. `marks` counts voice marks on leaked echo, in
    `minutes`; `caught` counts the person's utterances that gave one, `false_pauses` how often the loudspeaker was
    paused in answers without a person.
    """

    room: Room
    erle_1_3: float = 0.0
    erle_10: float = 0.0
    jump_1_3: float = 0.0
    drift: float = 0.0
    first_ms: tuple[float, float, float] = (0.0, 0.0, 0.0)
    again_ms: tuple[float, float, float] = (0.0, 0.0, 0.0)
    sdr_db: float = 0.0
    lost: float = 0.0
    cuts: int = 0
    client_cuts: int = 0
    answer_minutes: float = 0.0
    marks: int = 0
    minutes: float = 0.0
    caught: int = 0
    utterances: int = 0
    false_pauses: int = 0
    where: list[str] = field(default_factory=list)
    """Scene and second of each mark on leaked echo."""


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a canceller and of the voice detector behind it.

    `clean` is the cleaned microphone, `marks` are the seconds at which someone begins to speak.
    """

    scene: Scene
    """The scene as it was played, with pauses."""
    answers: np.ndarray
    """Mask of the samples in which the model speaks, or is paused."""
    clean: Float32
    marks: list[float]
    speaking: list[bool]
    """For each 20 ms."""
    near_end: list[bool]
    """For each 20 ms: whether the canceller takes what is left for a person's."""
    came: list[float]
    """For each 20 ms: the second at which it came; while a person is looked for, sound is kept."""
    pauses: list[float]
    """Seconds at which the loudspeaker was paused."""


def run(canceller: EchoCanceller, scene: Scene) -> Output:
    """Return the output of a canceller and of the voice detector behind it."""
    loudspeaker = Loudspeaker(scene)
    detector = VoiceDetector()
    kept = KeptSound()
    out: list[Int16] = []
    marks, speaking, near_ends, came = [], [], [], []
    near = False
    end = len(scene.far) // FRAME * FRAME
    for at in range(0, end + FRAME, FRAME):
        if at < end:
            canceller.render(loudspeaker.play(at))
            clean = canceller.capture(loudspeaker.hear(at))
            loudspeaker.pause(canceller.probe is not None and canceller.probe.pauses)
            frame = MicFrame(clean, at / RATE, canceller.has_near_end, playing=True)
            decided = kept.add(frame, canceller.probe)
        else:
            decided = kept.release(is_person=False)
        for one in decided:
            out.append(one.sound)
            near |= one.near_end
            if len(out) % 2 == 0:
                chunk = np.concatenate(out[-2:])
                power = float((chunk.astype(float) ** 2).mean()) / 32768**2
                if detector.add(chunk.tobytes(), power, playing=True, near_end=near) and detector.speaking:
                    marks.append((len(out) - 1) * FRAME / RATE)
                speaking.append(detector.speaking)
                near_ends.append(near)
                came.append(at / RATE)
                near = False
    sound: Float32 = (np.concatenate(out) / 32768).astype(np.float32)
    played = replace(scene, far=loudspeaker.played, echo=loudspeaker.echo)
    return Output(played, loudspeaker.answers, sound, marks, speaking, near_ends, came, loudspeaker.pauses)


def score(make: Callable[[EchoPath | None], EchoCanceller], room: Room) -> Scores:
    """Return the scores of new cancellers in all scenes of a room.

    `make` gets what an earlier call has learned of the echo path.
    """
    lag = _lag(run(make(None), near := make_scene("near", room)).clean, near.near)
    values: dict[str, float] = {}
    where: list[str] = []
    outputs: list[tuple[Scene, Output]] = []
    minutes, marks = 0.0, 0
    path: EchoPath | None = None
    for kind in ("single", "jump", "drift"):
        canceller = make(None)
        output = run(canceller, make_scene(kind, room))
        scene, clean = output.scene, output.clean
        loud = active(scene.echo, -30)
        if kind == "single":
            values["erle_1_3"] = _erle(scene, clean, loud, LEAD_S + 1, LEAD_S + 3)
            values["erle_10"] = _erle(scene, clean, loud, LEAD_S + 10, 1e9)
            path = canceller.learned_path(0.0) if isinstance(canceller, DualCanceller) else None
        elif kind == "jump":
            values["jump_1_3"] = _erle(scene, clean, loud, JUMP_AT_S + 1, JUMP_AT_S + 3)
        else:
            values["drift"] = _erle(scene, clean, loud, LEAD_S + 10, 1e9)
        where += [f"{kind} {at:.1f}" for at in output.marks]
        marks += len(output.marks)
        minutes += len(clean) / RATE / 60
        outputs.append((scene, output))
    scene = make_scene("double", room)
    output = run(make(None), scene)
    values["sdr_db"], values["lost"] = _person(scene, _aligned(output.clean, lag))
    caught, utterances = _caught(scene, output.speaking)
    turns = make_scene("turns", room)
    outputs.append((turns, run(make(None), turns)))
    first = make_scene("first", room)
    cuts = client_cuts = 0
    answer_minutes = 0.0
    for scene, output in outputs:
        begun, by_client = own_turns(output), client_turns(output)
        where += [f"{scene.kind} {at:.1f} (cut)" for at in (*begun, *by_client)]
        cuts += len(begun)
        client_cuts += len(by_client)
        answer_minutes += float(answering(output).sum()) / RATE / 60
    return Scores(
        room,
        **values,
        first_ms=noticed_ms(run(make(None), first)),
        again_ms=noticed_ms(run(make(path), first)),
        cuts=cuts,
        client_cuts=client_cuts,
        answer_minutes=answer_minutes,
        marks=marks,
        minutes=minutes,
        caught=caught,
        utterances=utterances,
        false_pauses=sum(len(false_pauses(output)) for _, output in outputs),
        where=where,
    )


def answering(output: Output) -> np.ndarray:
    """Return a mask of the samples of the answers, where no person speaks.

    It goes on for 150 ms after each. After a pause the end of an answer may come together with what a person says next.
    """
    return _longer(output.answers, 0.15) & ~_longer(output.scene.near != 0, 0.5)


def _longer(mask: np.ndarray, seconds: float) -> np.ndarray:
    """Return a mask of samples, and of so many seconds after each."""
    before, count = np.cumsum(mask), int(seconds * RATE)
    return np.asarray(before - np.concatenate((np.zeros(count), before))[: len(mask)] > 0)


def own_turns(output: Output) -> list[float]:
    """Return the seconds at which the server takes an answer for a person."""
    answers = answering(output)
    return [at for at in server_starts(output) if answers[int(at * RATE)]]


def false_pauses(output: Output) -> list[float]:
    """Return the seconds at which an answer is paused without a person."""
    answers = answering(output)
    return [at for at in output.pauses if answers[int(at * RATE) - 1]]


def server_starts(output: Output) -> list[float]:
    """Return the seconds at which the server begins a turn."""
    server = ActivityDetector()
    pcm, step = to_int16(output.clean), 2 * FRAME
    starts = ((at, server.add(pcm[at : at + step].tobytes())) for at in range(0, len(pcm) - step, step))
    return [at / RATE for at, edges in starts if any(isinstance(edge, Started) for edge in edges)]


def noticed_ms(output: Output) -> tuple[float, float, float]:
    """Return the ms until silence, and until server and client notice the person.

    They count from the first sample above -40 dBFS.
    """
    scene = output.scene
    began = float(np.flatnonzero(np.abs(scene.near) > 0.01)[0]) / RATE
    answer = float(np.flatnonzero(scene.far)[0]) / RATE

    def after(starts: list[float]) -> float:
        begun = [output.came[round(at * 50)] for at in starts if at > answer]
        # A chunk comes with its last frame.
        return 1000 * (begun[0] - began) + 10 if begun and begun[0] > began else NEVER_MS

    return silent_ms(output, began), after(server_starts(output)), after(client_starts(output))


def silent_ms(output: Output, began: float) -> float:
    """Return the ms after second `began` until 100 ms of silence begin."""
    at, length = int(began * RATE), RATE // 10
    paused = np.cumsum(np.concatenate(([0], output.answers & (output.scene.far == 0))))[at:]
    silent = np.flatnonzero(paused[length:] - paused[:-length] == length)
    return 1000 * float(silent[0]) / RATE if len(silent) else NEVER_MS


def client_turns(output: Output) -> list[float]:
    """Return the seconds at which our own detector takes an answer for a person."""
    answers = answering(output)
    return [at for at in client_starts(output) if answers[int(at * RATE)]]


def client_starts(output: Output) -> list[float]:
    """Return the seconds at which our own detector begins a turn, where it decides."""
    begun: list[float] = []
    activity = InputActivity("responsive", on_begin=lambda: begun.append(at / RATE), on_end=lambda: None)
    pcm, step, plays = to_int16(output.clean), 2 * FRAME, output.answers
    for number, near_end in enumerate(output.near_end):
        at = number * step
        speaks = bool(plays[max(0, at - RATE // 10) : at + step].any())
        for _ in activity.filter(
            MicSound.at(at, pcm[at : at + step].tobytes()), model_speaking=speaks, near_end=near_end
        ):
            activity.on_words()
    return begun


def _caught(scene: Scene, speaking: list[bool]) -> tuple[int, int]:
    """Return how many of the person's utterances are noticed, and their number.

    A mark has to come within a second.
    """
    speaks = active(scene.near, -35)
    starts = [
        at
        for at in np.flatnonzero(speaks)
        if at > 50 and not speaks[at - 50 : at].any() and speaks[at : at + 60].mean() > 0.5
    ]
    return sum(any(speaking[at // 2 : at // 2 + 50]) for at in starts), len(starts)


def _erle(scene: Scene, clean: Float32, loud: np.ndarray, start: float, end: float) -> float:
    span = slice(int(start * 100), int(min(end * 100, len(clean) // FRAME)))
    before, after = powers(scene.microphone)[span][loud[span]], powers(clean)[span][loud[span]]
    return float(10 * np.log10(before.mean() / after.mean()))


def _lag(clean: Float32, reference: Float32) -> int:
    """Return the samples by which `clean` is later than `reference`, 0 to 50 ms."""
    size = 1 << (2 * len(clean)).bit_length()
    cross = np.fft.irfft(np.fft.rfft(clean, size) * np.conj(np.fft.rfft(reference, size)), size)
    return int(np.argmax(cross[: RATE // 20]))


def _aligned(clean: Float32, lag: int) -> Float32:
    return np.concatenate((clean[lag:], np.zeros(lag, np.float32)))


def _person(scene: Scene, clean: Float32) -> tuple[float, float]:
    """Return the SDR in dB and the share of lost frames of the person's words."""
    at = int(NEAR_FROM_S * RATE)
    reference, out = scene.near[at : len(clean)].astype(float), clean[at:].astype(float)
    count = len(reference) // FRAME * FRAME
    reference, out = reference[:count], out[:count]
    speaks = active(reference.astype(np.float32), -30)
    fitted = _fit(reference, out)
    mask = speaks.repeat(FRAME)
    sdr = 10 * np.log10((fitted[mask] ** 2).sum() / ((out - fitted)[mask] ** 2).sum())
    change = 10 * np.log10(powers(out.astype(np.float32)) / powers(reference.astype(np.float32)))[speaks]
    return float(sdr), float((change < -12).mean())


def _fit(reference: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Return `reference` through the short filter that comes closest to `out`."""
    early = TAPS // 4
    x = np.concatenate((reference[early:], np.zeros(early)))
    size = 1 << (len(x) + TAPS).bit_length()
    spectrum, target = np.fft.rfft(x, size), np.fft.rfft(out, size)
    auto = np.fft.irfft(np.abs(spectrum) ** 2, size)[:TAPS]
    cross = np.fft.irfft(np.conj(spectrum) * target, size)[:TAPS]
    auto[0] *= 1 + 1e-6
    index = np.abs(np.subtract.outer(np.arange(TAPS), np.arange(TAPS)))
    taps = np.linalg.solve(auto[index], cross)
    return np.asarray(np.fft.irfft(spectrum * np.fft.rfft(taps, size), size)[: len(out)])
