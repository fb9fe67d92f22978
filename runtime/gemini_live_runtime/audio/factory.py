"""Make the `AudioIO` for an `AudioSpec`; imports the implementation on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from gemini_live_runtime.audio.interface import AudioIO
from gemini_live_runtime.paths import expand_user
from gemini_live_runtime.records import record

AudioKind = Literal["devices", "files", "program", "none"]


@record
class AudioSpec:
    """Choice of the sound implementation and its devices or files.

    `input` and `output` are device names or numbers for "devices" (None: the default), paths of WAV files for "files"
    (None: absent), and mean nothing for the others. For the microphone of devices: `echo` cancels echo, `headphones`
    never attenuates it against echo, `noise_suppression` takes steady noise out of it.
    """

    kind: AudioKind = "devices"
    input: str | None = None
    output: str | None = None
    echo: bool = True
    headphones: bool = False
    noise_suppression: bool = False


def make_audio(spec: AudioSpec) -> AudioIO:
    """Return an unopened `AudioIO`; raise AudioFileError for an unusable WAV file."""
    if spec.kind == "devices":
        from gemini_live_runtime.audio.process.process_audio import ProcessAudio

        return ProcessAudio(
            {
                "input": spec.input,
                "output": spec.output,
                "echo": spec.echo,
                "headphones": spec.headphones,
                "noise_suppression": spec.noise_suppression,
            }
        )
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
    return None if name is None else expand_user(name)
