"""Makes the `AudioIO` that a command line or a config asks for. Importing this is cheap; making one is not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gemini_live_runtime.audio.interface import AudioIO

AudioKind = Literal["devices", "files", "program", "none"]


@dataclass(frozen=True, slots=True)
class AudioSpec:
    """What to use for sound.

    `input` and `output` are device names or numbers for "devices" (None: the default), paths of WAV files for "files"
    (None: absent), and mean nothing for the others. `echo` chooses whether the microphone's echo is cancelled; only
    devices have any.
    """

    kind: AudioKind = "devices"
    input: str | None = None
    output: str | None = None
    echo: bool = True


def make_audio(spec: AudioSpec) -> AudioIO:
    """An `AudioIO` for `spec`, not open yet. Raises AudioFileError for a WAV file that cannot be used."""
    if spec.kind == "devices":
        from gemini_live_runtime.audio.device_audio import DeviceAudio

        return DeviceAudio(spec.input, spec.output, echo=spec.echo)
    if spec.kind == "files":
        from gemini_live_runtime.audio.file_audio import FileAudio

        files = FileAudio(_path(spec.input), _path(spec.output))
        files.check()
        return files
    if spec.kind == "program":
        from gemini_live_runtime.audio.program_audio import ProgramAudio

        return ProgramAudio()
    from gemini_live_runtime.audio.no_audio import NoAudio

    return NoAudio()


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name).expanduser()
