"""Load PortAudio, and find devices in the list that it makes when it starts."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gemini_live_runtime.audio.devices import native_stderr
from gemini_live_runtime.audio.devices.opening import OPEN_TIMEOUT_S, within
from gemini_live_runtime.audio.devices.probe import NO_PORTAUDIO
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice
from gemini_live_runtime.audio.devices.streams import closing_hangs
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line


class PortAudioLibrary:
    """PortAudio as one session uses it; it writes to no terminal meanwhile."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._stderr_silenced = False
        self.is_list_old = False
        """True after a loss: a device that comes back is another one to PortAudio, which still lists the first."""

    async def start(self, found: DeviceList) -> tuple[Any, tuple[SoundDevice, ...]]:
        """Return PortAudio and the devices as numbered here; raise DeviceError."""
        if not self._stderr_silenced:
            native_stderr.silence()
            self._stderr_silenced = True
        portaudio = await within(self._load, OPEN_TIMEOUT_S, None)
        if portaudio is None:
            raise DeviceError(f"PortAudio did not start within {OPEN_TIMEOUT_S:g} s", field="sound")
        restart, self.is_list_old = self.is_list_old, False
        return portaudio, await within(lambda: same_devices(portaudio, found, restart), OPEN_TIMEOUT_S, found.devices)

    async def find(self, device: SoundDevice) -> tuple[Any, SoundDevice | None]:
        """Return PortAudio and `device` as numbered here, None where it lists none.

        Raises DeviceError. Nothing is restarted, so open streams go on.
        """
        portaudio = await within(self._load, OPEN_TIMEOUT_S, None)
        return portaudio, await within(lambda: known_device(portaudio, device), OPEN_TIMEOUT_S, None)

    def release(self) -> None:
        """Let it write to the terminal again. Idempotent."""
        if self._stderr_silenced:
            self._stderr_silenced = False
            native_stderr.restore()


def import_portaudio() -> Any:
    """Return the `sounddevice` module.

    Raises DeviceError when it or the PortAudio library is missing, or when this version cannot be ended safely.
    """
    try:
        import sounddevice
    except (ImportError, OSError):
        raise DeviceError(NO_PORTAUDIO, field="sound") from None
    except Exception as error:
        raise DeviceError(f"PortAudio cannot start: {sanitise_line(str(error), 120)}", field="sound") from None
    _end_without_hanging(sounddevice)
    return sounddevice


@functools.cache
def _end_without_hanging(portaudio: Any) -> None:
    """Replace sounddevice's exit handler, which hangs on a frozen sound server.

    Raises DeviceError for a version that names its handler otherwise: with it the program could hang at its end.
    """
    terminate = getattr(portaudio, "_exit_handler", None)
    if terminate is None:
        version = getattr(portaudio, "__version__", "of an unknown version")
        raise DeviceError(
            f"sounddevice {version} cannot be used: it has no exit handler that could be replaced",
            remedy="Install a tested version: pip install 'sounddevice==0.5.*'",
            field="sound",
            value=version,
        )

    def end() -> None:
        if not closing_hangs():
            terminate()

    atexit.unregister(terminate)
    atexit.register(end)


def known_device(portaudio: Any, device: SoundDevice) -> SoundDevice | None:
    """Return `device` as PortAudio numbers it, None where that does not list it."""
    from gemini_live_runtime.audio.devices.probe import describe

    try:
        here = describe(portaudio)
    except Exception as error:
        raise _not_listed(error) from None
    same = [one for one in here if (one.name, one.host_api) == (device.name, device.host_api)]
    return replace(device, index=same[0].index) if len(same) == 1 else None


def same_devices(portaudio: Any, found: DeviceList, restart: bool = False) -> tuple[SoundDevice, ...]:
    """Return the devices as this process numbers them.

    PortAudio lists devices only when it starts, so it is restarted when its list differs from the child's, or with
    `restart`.
    """
    from gemini_live_runtime.audio.devices.probe import describe

    try:
        here = describe(portaudio)
        if restart or here != found.devices:
            portaudio._terminate()
            portaudio._initialize()
            here = describe(portaudio)
    except Exception as error:
        raise _not_listed(error) from None
    return here


def _not_listed(error: Exception) -> DeviceError:
    return DeviceError(f"The sound devices could not be listed: {sanitise_line(str(error), 120)}", field="sound")
