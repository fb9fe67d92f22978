"""Synthesise speech by the espeak-ng library in a child process.

Run as `python -m gemini_live_runtime.local.speech.espeak_child`. The library is GPL and is loaded only in this process.
Standard input: one JSON object a line, `{"text", "voice", "pitch", "speed"}`. Standard output, for each: two
little-endian 32-bit numbers, the rate in Hz and the number of bytes, then that much s16le mono PCM. Rate 0: this text
failed. The process ends with its standard input.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from typing import Any, BinaryIO

HEADER = struct.Struct("<II")
MAX_BYTES = 64 << 20

# speak_lib.h: AUDIO_OUTPUT_SYNCHRONOUS, espeakRATE, espeakPITCH, POS_CHARACTER, espeakCHARS_UTF8
_SYNCHRONOUS, _RATE, _PITCH, _BY_CHARACTER, _UTF8 = 2, 1, 3, 1, 1
_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class Library:
    """Loaded library; processes one text at a time."""

    def __init__(self) -> None:
        import espeakng_loader

        self._library: Any = ctypes.CDLL(str(espeakng_loader.get_library_path()))
        data = str(espeakng_loader.get_data_path()).encode()
        self.rate = int(self._library.espeak_Initialize(_SYNCHRONOUS, 0, data, 0))
        if self.rate <= 0:
            raise OSError("espeak_Initialize failed")
        self._pcm = bytearray()
        self._callback = _Callback(self._take)
        self._library.espeak_SetSynthCallback(self._callback)

    def _take(self, samples: Any, count: int, events: Any) -> int:
        if samples and count > 0:
            self._pcm += ctypes.string_at(samples, count * 2)
        return 1 if len(self._pcm) > MAX_BYTES else 0

    def speak(self, text: str, voice: str, pitch: int, speed: int) -> bytes:
        """Return `text` as PCM at `rate`; raise `OSError`."""
        self._pcm.clear()
        library = self._library
        if library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise OSError(f"no voice {voice!r}")
        library.espeak_SetParameter(_PITCH, pitch, 0)
        library.espeak_SetParameter(_RATE, speed, 0)
        raw = text.encode()
        failed = library.espeak_Synth(raw, len(raw) + 1, 0, _BY_CHARACTER, 0, _UTF8, None, None)
        if failed or library.espeak_Synchronize() != 0:
            raise OSError("espeak_Synth failed")
        return bytes(self._pcm)


def serve(lines: BinaryIO, out: BinaryIO) -> None:
    """Answer requests until `lines` ends."""
    library = Library()
    for line in lines:
        try:
            request = json.loads(line)
            pcm = library.speak(request["text"], request["voice"], int(request["pitch"]), int(request["speed"]))
            rate = library.rate
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"espeak_child: {error}", file=sys.stderr)
            pcm, rate = b"", 0
        out.write(HEADER.pack(rate, len(pcm)) + pcm)
        out.flush()


if __name__ == "__main__":
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except (ImportError, OSError) as problem:
        sys.exit(f"espeak_child: {problem}")
