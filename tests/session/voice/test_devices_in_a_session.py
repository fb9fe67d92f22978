"""Change of devices during a session: command, event, and refusal without effect."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, OpenDevice
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.commands import Command, SetDevices
from gemini_live_runtime.engine import assemble
from gemini_live_runtime.engine.in_process import InProcessEngine, in_process
from gemini_live_runtime.engine.link import Bye
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import DeviceError


def opened(name: str) -> AudioOpened:
    return AudioOpened(
        OpenDevice("input", f"{name} Microphone", 48_000, 10),
        OpenDevice("output", f"{name} Speaker", 48_000, 30),
        (),
        "x",
    )


class TwoPlaces(NoAudio):
    """Devices at a desk, and a headset."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str | None, str | None]] = []

    async def open(self, listener: AudioListener) -> AudioOpened:
        await super().open(listener)
        return opened("Desk")

    async def change(self, input: str | None, output: str | None, headphones: bool | None = None) -> AudioOpened:
        self.asked.append((input, output))
        if input == "Studio":
            raise DeviceError("There is no microphone 'Studio'", remedy="Give another name")
        return opened("Headset")


async def ordered(engine: InProcessEngine, order: SetDevices, *until: type[ev.Payload]) -> list[ev.Payload]:
    """Send the command and return the messages up to the first of `until`."""
    link = engine.link
    told: list[ev.Payload] = []
    sent = False
    while True:
        message = await link.receive()
        assert not isinstance(message, Bye)
        if not isinstance(message, ev.Event):
            continue
        if not sent and isinstance(message.payload, ev.SessionState) and message.payload.word in ("listening", "text"):
            sent = True
            await link.send(Command("c1", order))
        elif sent:
            told.append(message.payload)
            if isinstance(message.payload, until):
                return told


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> TwoPlaces:
    audio = TwoPlaces()
    monkeypatch.setattr(assemble, "make_audio", lambda spec: audio)
    return audio


def started(**changes: Any) -> InProcessEngine:
    return in_process(EngineSpec(session_id="s1", record="off", **changes), assemble.make_session)


async def test_the_session_goes_on_with_the_other_devices(places: TwoPlaces) -> None:
    engine = started(fast=True)
    told = await ordered(engine, SetDevices(input="Headset", output=""), ev.AudioOpened)
    (event,) = [one for one in told if isinstance(one, ev.AudioOpened)]
    assert (event.input, event.output) == ("Headset Microphone", "Headset Speaker")
    assert places.asked == [("Headset", None)]
    assert await engine.hang_up("done") == 0


async def test_what_cannot_be_used_is_refused_with_its_reason(places: TwoPlaces) -> None:
    engine = started(fast=True)
    told = await ordered(engine, SetDevices(input="Studio"), ev.CommandRefused)
    assert isinstance(told[-1], ev.CommandRefused)
    assert (told[-1].command_id, told[-1].command) == ("c1", "devices.set")
    assert told[-1].reason == "There is no microphone 'Studio'. Give another name."
    assert not [one for one in told if isinstance(one, ev.AudioOpened)]
    assert await engine.hang_up("done") == 0


async def test_a_session_without_devices_says_so() -> None:
    engine = started(fast=True, audio="none", mode="text")
    told = await ordered(engine, SetDevices(input="x"), ev.CommandRefused)
    assert isinstance(told[-1], ev.CommandRefused)
    assert "no sound devices" in told[-1].reason
    assert await engine.hang_up("done") == 0
