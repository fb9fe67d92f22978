"""Draw voices and sentences by seed, spoken by the synthesisers of the system."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from functools import cache

import numpy as np
import soxr

from gemini_live_runtime.audio.samples import Float32

RATE = 16_000

ESPEAK = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbcwmd", "en-029")
VARIANTS = ("", "+m1", "+m2", "+m3", "+m4", "+m6", "+m7", "+f1", "+f2", "+f3", "+f4", "+f5")
FLITE = ("kal16", "slt", "rms", "awb")

OPENINGS = (
    "The weather tomorrow", "Your next meeting", "The express train", "The small museum by the river", "My sister",
    "The second restaurant", "A new report", "The garden behind the house", "Our flight", "The old bridge",
    "Everybody in the office", "The price of the ticket", "One of the windows", "The doctor", "This recipe",
)  # fmt: skip
MIDDLES = (
    "will be ready in about twenty minutes", "has moved to half past ten", "was closed for most of the winter",
    "costs twelve euros and fifty cents", "should arrive well before noon", "needs somebody who can fix it",
    "is further away than it looks", "turned out better than expected", "leaves from platform nine",
    "has fourteen open questions", "could be booked for two at seven", "sounds good to me",
)  # fmt: skip
ENDINGS = (
    "and that is all I know.", "so please bring a warm coat.", "unless you want something else.",
    "but do check it again on Thursday.", "which leaves plenty of time.", "as far as I can tell.",
    "and five of them are urgent.", "because the road is being repaired.", "if the others agree.",
)  # fmt: skip


def has_voices() -> bool:
    """Return True when both synthesisers are installed."""
    return shutil.which("espeak-ng") is not None and shutil.which("flite") is not None


def draw_text(rng: np.random.Generator, sentences: int) -> str:
    """Return sentences drawn from their parts."""
    return " ".join(f"{rng.choice(OPENINGS)} {rng.choice(MIDDLES)} {rng.choice(ENDINGS)}" for _ in range(sentences))


def draw_speech(rng: np.random.Generator, sentences: int) -> Float32:
    """Return speech of a voice drawn at random, float32 mono at 16 kHz."""
    text = draw_text(rng, sentences)
    if rng.random() < 0.35:
        return _spoken("flite", str(rng.choice(FLITE)), 0, 0, text)
    voice = f"{rng.choice(ESPEAK)}{rng.choice(VARIANTS)}"
    return _spoken("espeak-ng", voice, int(rng.integers(130, 190)), int(rng.integers(30, 75)), text)


@cache
def _spoken(program: str, voice: str, speed: int, pitch: int, text: str) -> Float32:
    if program == "flite":
        command = ["flite", "-voice", voice, "-t", text, "-o", "/dev/stdout"]
    else:
        command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text]
    raw = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
    with wave.open(io.BytesIO(raw)) as file:
        rate = file.getframerate()
    # A program that writes to a pipe does not know the length, so the header's is not believed.
    samples = np.frombuffer(raw[44 : 44 + (len(raw) - 44) // 2 * 2], "<i2").astype(np.float32) / 32768
    sound: Float32 = soxr.resample(samples, rate, RATE, "VHQ").astype(np.float32)
    return sound
