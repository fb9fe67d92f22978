"""Use the PulseAudio loop of `pulse_loop.sh`: its microphone records the playback."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pulse_loop() -> None:
    """The environment of a running loop; skips with the command that makes one."""
    missing = [name for name in ("PULSE_RUNTIME_PATH", "ALSA_CONFIG_PATH") if not os.environ.get(name)]
    if missing:
        pytest.skip(f'no sound loop ({", ".join(missing)} unset): eval "$(sh tests/audio/pulse_loop.sh start)"')
    if subprocess.run(["pactl", "info"], capture_output=True, check=False).returncode:
        pytest.skip('the sound loop does not answer: eval "$(sh tests/audio/pulse_loop.sh start)"')
    others = subprocess.run(
        ["pactl", "list", "short", "sink-inputs"], capture_output=True, text=True, check=True
    ).stdout
    if others:
        pytest.fail(f"somebody else plays into this sound loop, set GLT_PULSE_DIR to have one alone: {others}")


@pytest.fixture
def own_loop(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Environment of a test's own sound loop; `PULSE_PID` is the server's process id."""
    for program in ("pulseaudio", "pactl"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    environment = {**os.environ, "GLT_PULSE_DIR": str(tmp_path / "pulse")}
    script = str(HERE / "pulse_loop.sh")
    started = subprocess.run(["sh", script, "start"], env=environment, capture_output=True, text=True, check=True)
    for word in started.stdout.removeprefix("export ").split():
        name, _, value = word.partition("=")
        environment[name] = value.strip("'")
    environment["PULSE_PID"] = (tmp_path / "pulse" / "run" / "pid").read_text().strip()
    environment["PYTHONPATH"] = str(HERE.parents[1] / "runtime")
    yield environment
    subprocess.run(["sh", script, "stop"], env=environment, capture_output=True, check=False)
