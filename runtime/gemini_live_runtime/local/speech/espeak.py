"""Synthesise speech by espeak-ng in another process.

Uses the installed program, else `espeakng-loader`'s library. Speech is made clause by clause, so the first is ready
within about 10 ms, and passed on word by word. espeak-ng's program does not report when words begin: the samples of a
clause are divided in proportion to letters.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from typing import Protocol

from gemini_live_runtime.errors import GeminiLiveError, MissingExtraError
from gemini_live_runtime.installation import install_command
from gemini_live_runtime.local.parts import SPEECH_RATE, SpeechChunk
from gemini_live_runtime.local.speech.espeak_child import HEADER, MAX_BYTES
from gemini_live_runtime.local.speech.voices import EspeakVoice, voice_for
from gemini_live_runtime.text import sanitise_line

MAX_TEXT = 20_000
"""Most characters of a text; the rest is replaced by an ellipsis."""

SYNTHESIS_TIMEOUT_S = 20.0
"""Time limit of a clause in seconds."""

_CLAUSE = re.compile(r"(?<=[.!?;:,])\s+")
_MIN_CLAUSE = 24
_MAX_CLAUSE = 300


class SpeechError(GeminiLiveError):
    """Failure of the speech program."""

    code = "speech"


class Synthesiser(Protocol):
    """Synthesiser of single clauses; blocks, called from one thread at a time."""

    def synthesise(self, text: str, voice: EspeakVoice) -> tuple[bytes, int]:
        """Return s16le mono PCM and its rate in Hz; raise `SpeechError`."""
        ...

    def close(self) -> None:
        """End child processes."""
        ...


class EspeakProgram:
    """Installed `espeak-ng`, run once for each clause."""

    def __init__(self, program: str) -> None:
        self._program = program

    def synthesise(self, text: str, voice: EspeakVoice) -> tuple[bytes, int]:
        """Return s16le mono PCM and its rate in Hz; raise `SpeechError`."""
        arguments = [self._program, "--stdin", "--stdout", "-v", voice.name]
        arguments += ["-p", str(voice.pitch), "-s", str(voice.speed)]
        try:
            done = subprocess.run(
                arguments, input=text.encode(), capture_output=True, timeout=SYNTHESIS_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SpeechError(f"espeak-ng failed: {error}", remedy="Check that espeak-ng runs by itself") from None
        if done.returncode != 0:
            words = sanitise_line(done.stderr.decode("utf-8", "replace"), 200)
            raise SpeechError(f"espeak-ng failed: {words}", remedy="Check that espeak-ng runs by itself")
        return _wav_pcm(done.stdout)

    def close(self) -> None:
        """Do nothing: no process stays open."""


class EspeakChild:
    """Library of `espeakng-loader` in a child process, restarted if it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def synthesise(self, text: str, voice: EspeakVoice) -> tuple[bytes, int]:
        """Return s16le mono PCM and its rate in Hz; raise `SpeechError`."""
        request = {"text": text, "voice": voice.name, "pitch": voice.pitch, "speed": voice.speed}
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            # Killing a child that hangs ends the reads below.
            guard = threading.Timer(SYNTHESIS_TIMEOUT_S, process.kill)
            guard.start()
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                rate, size = HEADER.unpack(_exactly(process.stdout.read(HEADER.size), HEADER.size))
                pcm = _exactly(process.stdout.read(min(size, 2 * MAX_BYTES)), size)
            except (OSError, EOFError):
                self._end()
                raise SpeechError(
                    "The speech library's process ended", remedy="Install the program espeak-ng instead"
                ) from None
            finally:
                guard.cancel()
        if not rate:
            raise SpeechError("The speech library failed", remedy="Install the program espeak-ng instead")
        return pcm, rate

    def close(self) -> None:
        """End the child process."""
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "gemini_live_runtime.local.speech.espeak_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_child_environment(),
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def find_synthesiser() -> Synthesiser:
    """Return the program or the library; raise `MissingExtraError` without either."""
    program = shutil.which("espeak-ng")
    if program:
        return EspeakProgram(program)
    if importlib.util.find_spec("espeakng_loader") is not None:
        return EspeakChild()
    raise MissingExtraError(
        "The embedded model has no voice: espeak-ng is not installed",
        remedy=f"Install espeak-ng, or run {install_command('local')}",
        field="espeak-ng",
    )


class EspeakSpeech:
    """`Speech` that uses a synthesiser."""

    def __init__(self, synthesiser: Synthesiser | None = None) -> None:
        self._synthesiser = synthesiser or find_synthesiser()

    async def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        """Yield `text` word by word, made clause by clause; raise `SpeechError`."""
        loop = asyncio.get_running_loop()
        chosen = voice_for(voice)
        first = True
        for clause in clauses(text):
            # run_in_executor pauses virtual time, so synthesis takes none of it.
            pcm = await loop.run_in_executor(None, self._clause, clause, chosen)
            for spoken in split_at_words(clause, pcm):
                yield spoken if not first else SpeechChunk(spoken.pcm, spoken.text.lstrip())
                first = False

    async def close(self) -> None:
        """End the child process, if there is one."""
        await asyncio.get_running_loop().run_in_executor(None, self._synthesiser.close)

    def _clause(self, clause: str, voice: EspeakVoice) -> bytes:
        # Double brackets would be read as phonemes.
        pcm, rate = self._synthesiser.synthesise(clause.replace("[[", "[ ["), voice)
        return _to_speech_rate(pcm, rate)


def clauses(text: str) -> list[str]:
    """Split up to `MAX_TEXT` characters of `text` at punctuation; join short pieces."""
    text = sanitise_line(text, MAX_TEXT)
    found: list[str] = []
    joined = ""
    for piece in _CLAUSE.split(text):
        joined = f"{joined} {piece}".strip()
        while len(joined) > _MAX_CLAUSE:
            cut = joined.rfind(" ", 0, _MAX_CLAUSE)
            cut = cut if cut > 0 else _MAX_CLAUSE
            found.append(joined[:cut])
            joined = joined[cut:].strip()
        if len(joined) >= _MIN_CLAUSE:
            found.append(joined)
            joined = ""
    if joined:
        found.append(joined)
    return found


def split_at_words(clause: str, pcm: bytes) -> list[SpeechChunk]:
    """Divide a clause's samples among its words, in proportion to their letters."""
    words = clause.split()
    total = sum(len(word) + 1 for word in words)
    samples = len(pcm) // 2
    pieces = []
    position = letters = 0
    for word in words:
        letters += len(word) + 1
        end = samples * letters // total
        pieces.append(SpeechChunk(pcm[position * 2 : end * 2], f" {word}"))
        position = end
    return pieces


def _to_speech_rate(pcm: bytes, rate: int) -> bytes:
    if rate == SPEECH_RATE:
        return pcm
    import numpy as np
    import soxr

    samples = np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.float32) / 32768.0
    resampled = soxr.resample(samples, rate, SPEECH_RATE, "HQ")
    # Full scale would wrap around in int16, so the peak stays one below.
    return bytes((np.clip(resampled, -1.0, 32767 / 32768) * 32768.0).astype("<i2").tobytes())


def _wav_pcm(wav: bytes) -> tuple[bytes, int]:
    # A WAV written to a pipe has wrong sizes in its header, so only the chunk names are used.
    form, data = wav.find(b"fmt "), wav.find(b"data")
    if not wav.startswith(b"RIFF") or form < 0 or data < form:
        raise SpeechError("espeak-ng wrote no sound", remedy="Check that espeak-ng runs by itself")
    rate = int.from_bytes(wav[form + 12 : form + 16], "little")
    pcm = wav[data + 8 :]
    return pcm[: len(pcm) // 2 * 2], rate


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise EOFError
    return data


def _child_environment() -> dict[str, str]:
    import os

    import gemini_live_runtime

    # PYTHONPATH makes an uninstalled checkout importable; other variables, such as credentials, are not passed on.
    root = str(next(iter(gemini_live_runtime.__path__))).removesuffix("gemini_live_runtime").rstrip("/\\")
    kept = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL", "VIRTUAL_ENV")
    return {key: os.environ[key] for key in kept if key in os.environ} | {"PYTHONPATH": root}
