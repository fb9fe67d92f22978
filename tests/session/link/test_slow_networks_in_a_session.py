"""Sound that a connection cannot send at once is kept, sent, or counted."""

from __future__ import annotations

import asyncio
import contextlib
import wave
from collections.abc import AsyncIterator

import pytest
from tests.session.link.test_speech_over_a_lost_link import SPOKEN
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.wire.transport import MemoryTransport, TransportClosed

POLICY = LinkPolicy()
CHUNK = b"\x01\x00" * 320
SECOND = 50
"""Chunks in a second."""


class Jam(MemoryTransport):
    """Client's end of a connection whose network takes no sound for a while."""

    over: asyncio.Event

    async def send(self, frame: str | bytes) -> None:
        if isinstance(frame, str) and '"realtimeInput"' in frame and not self.over.is_set():
            await self.over.wait()
        if self._closed is not None:
            raise TransportClosed(*self._closed)
        await super().send(frame)


@pytest.fixture(autouse=True)
def jammed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jam the network of every connection until `Jam.over` is set."""
    Jam.over = asyncio.Event()
    monkeypatch.setattr("tests.unit.session.session_support.MemoryTransport", Jam)


@contextlib.asynccontextmanager
async def session() -> AsyncIterator[Talk]:
    """Run a session that a program gives its sound; the jam ends with it."""
    async with talk(agent(), audio=ProgramAudio) as t:
        yield t
        Jam.over.set()


async def speaks(t: Talk, seconds: float, *, voice: bool = False) -> None:
    """Send so much sound at the pace of a microphone."""
    if voice:
        t.stage.session.audio_input.on_voice(True)
    for _ in range(round(seconds * SECOND)):
        t.handle.send_audio(bytes(bytearray(CHUNK)))  # an object of its own, as a microphone's is
        await t.passes(0.02)
    if voice:
        t.stage.session.audio_input.on_voice(False)


def sent(t: Talk) -> int:
    """Return the chunks that the present server got."""
    return len(t.sent("audio"))


def dropped(t: Talk) -> int:
    """Return the chunks that were dropped; both figures have to tell the same number."""
    told = [event.dropped for event in t.all(ev.OutboxChanged) if event.kind == "audio"]
    count = t.stage.session.sample().mic_dropped
    assert round((told[-1] if told else 0.0) * SECOND) == count
    return count


async def test_sound_that_a_slow_network_has_cost_is_told_and_no_number_falls_back() -> None:
    async with session() as t:
        await speaks(t, 3)
        Jam.over.set()
        await t.rests()
        lost = dropped(t)
        assert lost + sent(t) == 3 * SECOND
        assert sent(t) == POLICY.audio_kept_s * SECOND + 1
        await t.server.closes(1006)
        await t.connects_again()
        await speaks(t, 1)
        assert dropped(t) == lost


async def test_the_loss_is_told_a_second_at_a_time_while_it_goes_on() -> None:
    async with session() as t:
        await speaks(t, POLICY.audio_kept_s + 4)
        told = [event.dropped for event in t.all(ev.OutboxChanged)]
        assert told == pytest.approx([0.02, 1.02, 2.02, 3.02])


async def test_an_utterance_during_a_jam_of_some_seconds_arrives_whole() -> None:
    async with session() as t:
        await speaks(t, 5, voice=True)
        await speaks(t, 0.5)
        Jam.over.set()
        await t.rests()
        assert sent(t) == 5.5 * SECOND
        assert dropped(t) == 0


async def test_what_a_lost_connection_had_not_sent_goes_to_the_next_and_is_not_counted() -> None:
    async with session() as t:
        await speaks(t, 0.8)
        await t.server.closes(1006)
        await t.rests()
        assert t.all(ev.OutboxChanged)[-1].queued == pytest.approx(0.8, abs=0.03)
        Jam.over.set()
        await t.connects_again()
        assert t.sound_sent() == CHUNK * 40
        assert dropped(t) == 0


async def test_what_the_last_connection_has_not_sent_is_counted_at_the_end() -> None:
    async with session() as t:
        await speaks(t, 0.5)
        t.stage.session.hang_up("done")
        await t.passes(5)
        assert dropped(t) == 25


async def test_what_an_earlier_connection_has_sent_is_not_counted_where_the_next_one_did_not_send_it_again() -> None:
    async with session() as t:
        Jam.over.set()
        await speaks(t, 0.6)
        assert sent(t) == 30
        t.stage.refuses_until(1)
        await t.server.closes(1006)
        await speaks(t, 0.2)
        Jam.over.clear()
        await t.connects_again()
        t.stage.session.hang_up("done")
        await t.passes(5)
        assert dropped(t) == 10


async def test_nor_is_it_counted_where_our_own_detector_decides_what_is_sent() -> None:
    async with talk(agent().turn_taking("client", "responsive"), audio=ProgramAudio) as t:
        Jam.over.set()
        with wave.open(str(SPOKEN)) as file:
            spoken = file.readframes(file.getnframes())[: 2 * SECOND * len(CHUNK)]
        t.stage.session.audio_input.on_voice(True)
        for at in range(0, len(spoken), len(CHUNK)):
            t.handle.send_audio(spoken[at : at + len(CHUNK)])
            await t.passes(0.02)
        assert sent(t) > SECOND
        await t.server.closes(1006)
        Jam.over.clear()
        await t.connects_again()
        t.stage.session.hang_up("done")
        await t.passes(5)
        assert dropped(t) == 0
        Jam.over.set()


@pytest.mark.parametrize("losses", [1, 2])
async def test_the_beginning_of_a_turn_that_we_found_is_sent_by_the_next_connection_and_not_counted(
    losses: int,
) -> None:
    async with talk(agent().turn_taking("client", "responsive"), audio=ProgramAudio) as t:
        with wave.open(str(SPOKEN)) as file:
            spoken = file.readframes(SECOND * 320)
        for at in range(0, len(spoken), len(CHUNK)):
            t.stage.session.audio_input.on_voice(at > SECOND * len(CHUNK) // 4)
            t.handle.send_audio(spoken[at : at + len(CHUNK)])
            await t.passes(0.02)
        for loss in range(1, losses + 1):
            await t.server.closes(1006)
            if loss == losses:
                Jam.over.set()
            await t.connects_again()
        assert len(t.sound_sent()) > len(spoken) // 2
        assert spoken.endswith(t.sound_sent())
        assert dropped(t) == 0
