"""Test choosing a device and listing devices in a child process."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.audio.audio_support import FakePortAudio

from gemini_live_runtime.audio.devices.probe import NO_DEVICE, NO_PORTAUDIO, describe, list_devices, read_answer
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice, select_device
from gemini_live_runtime.audio.devices.streams import rates_of
from gemini_live_runtime.errors import DeviceError

RUNTIME = Path(__file__).resolve().parents[3] / "runtime"

DEVICES = (
    SoundDevice(0, "Built-in Audio", "ALSA", 2, 2, 48_000),
    SoundDevice(3, "USB Headset", "ALSA", 1, 2, 48_000, True, False),
    SoundDevice(4, "USB Webcam", "ALSA", 1, 0, 16_000),
    SoundDevice(5, "HDMI", "ALSA", 0, 8, 48_000, False, True),
    SoundDevice(6, "USB Headset", "JACK", 1, 2, 48_000),
)


@pytest.mark.parametrize(
    ("wanted", "direction", "index"),
    [
        (None, "input", 3),
        (None, "output", 5),
        ("", "output", 5),
        ("0", "input", 0),
        ("webcam", "input", 4),
        ("BUILT", "output", 0),
        ("usb headset", "input", 3),
        ("hdmi", "output", 5),
    ],
)
def test_a_device_is_chosen_by_number_name_or_part_of_a_name(wanted: str | None, direction: Any, index: int) -> None:
    assert select_device(DEVICES, wanted, direction).index == index


@pytest.mark.parametrize(
    ("wanted", "direction", "words"),
    [
        ("usb", "input", ["More than one microphone", "3 'USB Headset'", "4 'USB Webcam'", "more of the name"]),
        ("banjo", "output", ["no loudspeaker 'banjo'", "0 'Built-in Audio'", "5 'HDMI'"]),
        ("webcam", "output", ["no loudspeaker 'webcam'"]),
        ("5", "input", ["Device 5, 'HDMI', is no microphone"]),
        ("99", "output", ["no loudspeaker '99'"]),
    ],
)
def test_a_device_that_is_unknown_or_ambiguous_is_refused_with_what_there_is(
    wanted: str, direction: Any, words: list[str]
) -> None:
    with pytest.raises(DeviceError) as refusal:
        select_device(DEVICES, wanted, direction)
    for word in words:
        assert word in str(refusal.value)


def test_a_device_without_channels_in_a_direction_is_refused_as_what_it_is() -> None:
    devices = (
        SoundDevice(0, "Desk", "API", 1, 0, 48_000),
        SoundDevice(1, "HDMI", "API", 0, 8, 48_000),
        SoundDevice(2, "Nothing", "API", 0, 0, 48_000),
    )
    with pytest.raises(DeviceError, match=r"Device 1, 'HDMI', is no microphone; there is 0 'Desk'"):
        select_device(devices, "1", "input")
    with pytest.raises(DeviceError, match=r"Device 2, 'Nothing', is no loudspeaker"):
        select_device(devices, "2", "output")


def test_no_microphone_at_all_is_said_so() -> None:
    with pytest.raises(DeviceError, match="No microphone was found"):
        select_device(DEVICES[3:4], None, "input")


def test_device_names_with_escape_sequences_are_listed_without_them() -> None:
    hostile = (SoundDevice(0, "\x1b]0;owned\x07Mic", "ALSA", 1, 0, 48_000),)
    with pytest.raises(DeviceError) as refusal:
        select_device(hostile, "banjo\x1b[2J", "input")
    assert "\x1b" not in str(refusal.value)


@pytest.mark.parametrize("rate", [math.nan, math.inf, -1.0])
def test_a_device_whose_rate_is_no_number_is_listed_with_the_others(rate: float) -> None:
    fake = FakePortAudio()
    microphone, speakers = fake.query_devices()
    fake.query_devices = lambda: [{**microphone, "default_samplerate": rate}, speakers]  # type: ignore[method-assign]
    odd, usual = describe(fake)
    assert rates_of(odd)[0] == 48_000
    assert (odd.name, usual.rate) == ("Desk Microphone", 48_000)


def test_a_child_that_aborts_is_a_sentence() -> None:
    found = read_answer(-6, b"")
    assert found.devices == ()
    assert "aborts" in found.problem
    assert "SIGABRT" in found.problem


@pytest.mark.parametrize(
    "output", [b"", b"[]", b"nonsense", b'{"devices": 3, "problem": ""}', b'{"devices": [{"a": 1}], "problem": ""}']
)
def test_a_child_that_prints_nonsense_is_a_sentence(output: bytes) -> None:
    assert "could not be listed" in read_answer(1, output).problem


def test_a_child_that_finds_nothing_is_a_sentence() -> None:
    assert read_answer(0, b'{"devices": [], "problem": ""}') == DeviceList((), NO_DEVICE)


def test_a_missing_portaudio_is_a_sentence_from_a_real_child(tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    child = subprocess.run(
        [sys.executable, "-m", "gemini_live_runtime.audio.devices.probe"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{RUNTIME}"},
        capture_output=True,
        check=True,
    )
    assert json.loads(child.stdout) == {"devices": [], "problem": NO_PORTAUDIO}


def test_what_c_libraries_print_in_the_child_does_not_reach_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sounddevice.py").write_text(
        "import os\nos.write(1, b'ALSA says hello')\nos.write(2, b'Expression failed')\nos.abort()"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = list_devices()
    assert "aborts" in found.problem
    assert capfd.readouterr() == ("", "")


def test_a_child_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sounddevice.py").write_text("import time\ntime.sleep(30)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "did not list its devices" in list_devices(timeout=0.4).problem


def quiet_script(body: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    return subprocess.run([sys.executable, "-c", body], env=environment, capture_output=True, text=True, check=True)


def test_while_c_libraries_are_hushed_python_still_has_its_standard_error() -> None:
    ran = quiet_script(
        "import os, sys\n"
        "from gemini_live_runtime.audio.devices.native_stderr import restore, silence\n"
        "silence()\n"
        "silence()\n"
        "os.write(2, b'C inner ')\n"
        "restore()\n"
        "os.write(2, b'C outer ')\n"
        "print('python', file=sys.stderr)\n"
        "restore()\n"
        "os.write(2, b'C after ')\n"
        "print('end', file=sys.stderr)\n"
    )
    assert ran.stderr == "python\nC after end\n"


def test_hushing_works_where_there_is_no_standard_error_at_all() -> None:
    ran = quiet_script(
        "import os, sys\n"
        "os.close(2); sys.stderr = None\n"
        "from gemini_live_runtime.audio.devices.native_stderr import restore, silence\n"
        "silence()\n"
        "print('fine')\n"
        "restore()\n"
    )
    assert ran.stdout == "fine\n"


def test_the_factory_and_the_interface_import_no_heavy_library() -> None:
    ran = quiet_script(
        "import sys\n"
        "import gemini_live_runtime.audio.factory\n"
        "print([name for name in ('numpy', 'sounddevice', 'soxr', 'pydantic', 'webrtcvad') if name in sys.modules])\n"
    )
    assert ran.stdout == "[]\n"
