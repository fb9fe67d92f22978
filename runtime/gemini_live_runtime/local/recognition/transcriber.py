"""Transcribe English by Moonshine's smallest model, which its package carries.

Moonshine (Jeffries et al., 2024, arXiv:2410.15608) knows all of English, where pocketsphinx knows what a script lists.
Nothing is downloaded: versions from 0.1.1 on lack the model, and are not used.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import os
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.local.language.transcript import in_todays_spelling
from gemini_live_runtime.local.parts import RECOGNISER_RATE
from gemini_live_runtime.local.recognition.levels import measure

_PACKAGE = "moonshine_voice"
_MODEL = ("assets", "tiny-en")
_FILES = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")


class Transcriber:
    """Model of the process, in a thread of its own; created by `shared_transcriber`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="transcriber")
        self._model: Any = None
        self._failure: MissingExtraError | None = None

    def warm(self) -> None:
        """Start loading the model, ahead of the first utterance, without waiting."""
        if self._model is None:
            self._executor.submit(self.load)

    async def transcribe(self, pcm: bytes) -> str:
        """Return the words of s16le mono PCM at 16 kHz; "" for none.

        It takes some 70 ms for 3 s of speech, in which the interpreter is free. Raises what `load` does.
        """
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._transcribe, pcm)

    def load(self) -> None:
        """Load the model once, in a quarter of a second.

        Raises `MissingExtraError` where this system cannot load it, each time without another attempt.
        """
        if self._failure is not None:
            raise self._failure
        if self._model is None:
            try:
                self._model = _load_model(self._folder)
            except Exception as error:
                self._failure = MissingExtraError(
                    f"The embedded model hears less: Moonshine cannot be loaded ({error})",
                    remedy="Type instead where pocketsphinx, which hears less, is not installed either",
                    field=_PACKAGE,
                )
                raise self._failure from error

    def abandon(self) -> None:
        """Never free the model: in a forked child that would wait for its threads."""
        if self._model is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._model))

    def _transcribe(self, pcm: bytes) -> str:
        sound = _level(pcm)
        if not sound:
            return ""
        self.load()
        lines = self._model.transcribe_without_streaming(sound, RECOGNISER_RATE).lines
        return in_todays_spelling(" ".join(" ".join(line.text for line in lines).split()))


def _load_model(folder: Path) -> Any:
    if _PACKAGE not in sys.modules:
        # The package itself imports its clients of microphones and of HTTP: only two of its modules are needed.
        package = types.ModuleType(_PACKAGE)
        package.__path__ = [str(folder)]
        sys.modules[_PACKAGE] = package
    from moonshine_voice.moonshine_api import ModelArch
    from moonshine_voice.transcriber import Transcriber as Moonshine

    # Its threads would keep all processors busy at each utterance, beside the one that plays the answer.
    os.environ.setdefault("MOONSHINE_ORT_SINGLE_THREAD", "1")
    # Where speech begins and ends is known: its own detector of voice would cost more than the words.
    return Moonshine(str(folder.joinpath(*_MODEL)), ModelArch.TINY, options={"vad_threshold": "0"})


def _level(pcm: bytes) -> list[float]:
    """Return samples at a usual level, [] for silence and for too much."""
    import numpy as np

    measured = measure(pcm)
    if measured is None:
        return []
    found: list[float] = np.clip(measured.samples * measured.gain, -1.0, 1.0).tolist()
    return found


@cache
def _folder() -> Path | None:
    """Return the package's folder, None without it or without its model."""
    found = importlib.util.find_spec(_PACKAGE)
    folder = Path(found.origin).parent if found is not None and found.origin else None
    if folder is None or not all(folder.joinpath(*_MODEL, name).is_file() for name in _FILES):
        return None
    return folder


_transcriber: Transcriber | None = None
_lock = threading.Lock()


def shared_transcriber() -> Transcriber | None:
    """Return the process's transcriber, None where Moonshine is not installed."""
    global _transcriber
    folder = _folder()
    if folder is None:
        return None
    with _lock:
        if _transcriber is None:
            _transcriber = Transcriber(folder)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_forget)
        return _transcriber


def _forget() -> None:
    # A forked child has the object but not its thread.
    global _transcriber
    if _transcriber is not None:
        _transcriber.abandon()
    _transcriber = None
