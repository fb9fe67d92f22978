"""Measure the loudspeaker and the microphone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import click

from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.options import DEVICE_OPTIONS, PROFILE_OPTIONS, config_options

_STEPS = {
    "room": "Be quiet for {seconds:.0f} s.",
    "sound": "A sound is played for {seconds:.0f} s: leave the volume as it is when you talk.",
    "voice": "Now say a sentence as you will talk; it listens for {seconds:.0f} s.",
}


@click.command()
@config_options(PROFILE_OPTIONS, DEVICE_OPTIONS)
@click.option("--no-voice", is_flag=True, help="Do not listen to your voice.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def calibrate(no_voice: bool, as_json: bool, flags: dict[str, Any]) -> int:
    """Measure how the speaker's sound comes back to the microphone.

    Plays a sound for about six seconds. The delay and the level of its echo are stored for this pair of devices, and
    the echo canceller begins with them from then on. The levels of the room and of your voice are stored, too: here and
    in doctor it says when your voice is too quiet. Run it again when you move the devices or change the volume; with
    headphones it finds no echo, and stores that.
    """
    from gemini_live_tui import config as configuration

    loaded = configuration.load(flags=flags).config
    result = _run(loaded.audio_input, loaded.audio_output, voice=not no_voice, quiet=as_json)
    text = sanitise_line(str(result.pop("text")))
    remedy = str(result["remedy"])
    if as_json:
        click.echo(json.dumps({key: value for key, value in result.items() if key != "report"}))
    else:
        click.echo(f"{text[:1].upper()}{text[1:]}.")
        if remedy:
            click.echo(f"{result['verdict']} {remedy}, and run it again.")
        click.echo(f"Stored in {sanitise_line(str(result['file']))}.")
    return 0


def _run(input: str, output: str, *, voice: bool, quiet: bool) -> dict[str, Any]:
    """Run the measurement in a child process and return its result.

    Raises `DeviceError`.
    """
    from gemini_live_runtime.audio.devices.probe import read_answer
    from gemini_live_runtime.audio.process.process_link import environment

    child = subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "gemini_live_runtime.audio.checks.calibration_run", input, output),
            *(["--voice"] if voice else []),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(os.environ),
    )
    ended = False
    try:
        assert child.stdout is not None
        for line in child.stdout:
            report = json.loads(line)
            if report["report"] == "result":
                return dict(report)
            if report["report"] == "problem":
                raise DeviceError(str(report["text"]), remedy=str(report["remedy"]), field="sound")
            if not quiet:
                _tell(report)
        ended = True
    finally:
        if not ended:
            child.kill()
        child.communicate()
    raise DeviceError(read_answer(child.returncode, b"").problem.removesuffix("."), field="sound")


def _tell(report: dict[str, Any]) -> None:
    if report["report"] == "devices":
        click.echo(
            f"Microphone: {sanitise_line(report['input'])}. Speaker: {sanitise_line(report['output'])}.", err=True
        )
    elif report["report"] == "again":
        click.echo("Samples were lost: it is measured again.", err=True)
    elif report["report"] == "step" and report["step"] in _STEPS:
        click.echo(_STEPS[report["step"]].format(seconds=report["seconds"]), err=True)
