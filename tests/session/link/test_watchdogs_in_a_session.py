"""Silent servers, dead sockets and old connections are left for others."""

from __future__ import annotations

import asyncio

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.link.watchdog import PING_WAITING_S
from gemini_live_runtime.wire.transport import MemoryTransport, TransportClosed

POLICY = LinkPolicy()


async def resumable(t: Talk) -> None:
    """Send a resumption handle as the server."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    await t.rests()


def lines(t: Talk) -> list[str]:
    """Return the lines of notices on the screen."""
    view = SessionView()
    for event in t.stage.sink.events:
        apply(view, event)
    return [f"{block.text} {block.detail}".strip() for block in view.blocks if block.kind == "notice"]


@pytest.mark.parametrize("handle", [True, False])
async def test_a_text_that_a_server_is_silent_about_is_asked_again_on_another_connection(handle: bool) -> None:
    async with talk(agent(), mode="text") as t:
        if handle:
            await resumable(t)
        await t.types("what time is it")
        await t.passes(POLICY.no_answer_s + 0.1)
        setup = await t.connects_again()
        assert ("handle" in setup["sessionResumption"]) == handle
        # A session that was resumed may know the text.
        assert t.sent("text") == ([] if handle else [("text", "what time is it")])
        assert t.sent("prompt") == ([("prompt",)] if handle else [])
        await t.says("Four.")
        await t.ends()
    assert [(event.reason, event.delay_s) for event in t.all(ev.LinkRestarting)] == [("stalled", 0.0)]
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_what_a_second_server_is_silent_about_is_left_to_the_user() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("what time is it")
        await t.passes(POLICY.no_answer_s + 0.1)
        await t.connects_again()
        await t.passes(300)
    assert len(t.all(ev.LinkRestarting)) == 1
    assert [notice.code for notice in t.all(ev.Notice)] == ["answer-late", "no-answer"]


async def test_a_text_typed_while_a_silent_server_is_left_follows_the_question() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("one")
        await t.passes(POLICY.no_answer_s)
        await t.types("two")
        await t.connects_again()
        assert [text for _, text in t.sent("text")] == ["one", "two"]


async def test_silence_while_the_agent_is_held_is_no_fault() -> None:
    async with talk(agent(), mode="text") as t:
        await t.commands(cmd.HoldAgent())
        await t.types("hello")
        await t.passes(15)
        await t.commands(cmd.ReleaseAgent())
        await t.passes(15)
        assert not t.all(ev.LinkRestarting)
        await t.passes(5.1)
        await t.connects_again()


async def test_an_old_connection_is_left_in_a_pause_and_not_during_an_answer() -> None:
    async with talk(agent().model("gemini-2.5-flash-live"), mode="text") as t:
        await resumable(t)
        await t.passes(569)
        await t.types("tell me a story")
        for words in ("Once", " upon", " a time"):
            await t.says(words)
            await t.passes(7)
        assert len(t.all(ev.ConnectionOpening)) == 1
        await t.ends()
        assert "handle" in (await t.connects_again())["sessionResumption"]
    assert [event.reason for event in t.all(ev.LinkRestarting)] == ["moved"]


class Deaf(MemoryTransport):
    """Client's end of a connection whose pongs come late, or never."""

    pongs: list[float]

    async def ping(self) -> float:
        seconds = self.pongs.pop(0) if self.pongs else 10_000.0
        await asyncio.sleep(seconds)
        if self._closed is not None:
            raise TransportClosed(*self._closed)
        return seconds


@pytest.fixture
def pings(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let connections ping, and return the seconds of the pongs to come."""
    Deaf.pongs = []
    monkeypatch.setattr("tests.unit.session.session_support.MemoryTransport", Deaf)
    return Deaf.pongs


async def test_a_socket_from_which_nothing_comes_at_all_is_left(pings: list[float]) -> None:
    async with talk(agent()) as t:
        await t.passes(POLICY.dead_after_s + 0.1)
        await t.connects_again()
        closed = t.all(ev.ConnectionClosed)[0]
    assert closed.close_code == 1006
    assert "Nothing came from the server for 60 s" in closed.sentence
    assert [event.reason for event in t.all(ev.LinkRestarting)] == ["network"]


async def test_pongs_that_come_half_a_minute_late_are_signs_of_life(pings: list[float]) -> None:
    pings.extend([30.0] * 10)
    async with talk(agent()) as t:
        await t.passes(500)
        assert len(t.all(ev.ConnectionOpening)) == 1


async def speaks(t: Talk) -> None:
    """Say something of a second into the microphone."""
    t.stage.session.audio_input.on_voice(True)
    for _ in range(50):
        t.handle.send_audio(bytes(bytearray(640)))
        await t.passes(0.02)
    t.stage.session.audio_input.on_voice(False)


async def test_a_dead_socket_is_left_soon_once_a_question_is_typed_into_it(pings: list[float]) -> None:
    pings.extend([0.05, 0.05])
    async with talk(agent(), mode="text") as t:
        await t.passes(45)
        await t.types("are you there?")
        asked = t.now
        await t.connects_again()
        assert t.now - asked < POLICY.silent_after_s + 0.1
        assert t.sent("text") == [("text", "are you there?")]
    assert f"Nothing came from the server for {POLICY.silent_after_s:g} s" in t.all(ev.ConnectionClosed)[0].sentence


async def test_a_dead_socket_is_left_soon_once_somebody_speaks_and_the_next_gets_what_was_said(
    pings: list[float],
) -> None:
    pings.extend([0.05, 0.05])
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.passes(45)
        began = t.now
        await speaks(t)
        await t.connects_again()
        assert t.now - began < POLICY.silent_after_s + 0.1
        assert len(t.stage.sink.tracks["user"]) == 2 * 50 * 640


async def test_a_dead_socket_is_left_soon_in_the_middle_of_an_answer_which_then_goes_on(pings: list[float]) -> None:
    pings.extend([0.05] * 5)
    async with talk(agent(), mode="text") as t:
        await t.passes(95)
        await t.types("tell me a story")
        await t.says("Once upon")
        stopped = t.now
        await t.connects_again()
        assert t.now - stopped < POLICY.silent_after_s + PING_WAITING_S + 0.1
    assert [(event.kind, event.outcome) for event in t.all(ev.SendSettled)] == [("reply", "continued")]


async def test_a_noise_to_which_a_living_server_says_nothing_is_not_sent_again(pings: list[float]) -> None:
    pings.extend([0.05] * 100)
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.passes(45)
        await speaks(t)
        await t.passes(60)
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("audio") == []
        assert len(t.all(ev.ConnectionOpening)) == 2


async def test_while_nobody_waits_a_dead_socket_is_noticed_later(pings: list[float]) -> None:
    pings.append(0.05)
    async with talk(agent(), mode="text") as t:
        await t.passes(30 + POLICY.dead_after_s - 1)
        assert len(t.all(ev.ConnectionOpening)) == 1
        async with asyncio.timeout(2):
            await t.connects_again()


async def test_a_server_whose_pongs_are_late_is_not_left_while_somebody_speaks_for_long(pings: list[float]) -> None:
    pings.extend([30.0] * 10)
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.passes(35)
        t.stage.session.audio_input.on_voice(True)
        await t.passes(120)
        assert len(t.all(ev.ConnectionOpening)) == 1


async def test_a_server_is_given_twice_the_time_of_its_slowest_pong(pings: list[float]) -> None:
    pings.extend([8.0])
    async with talk(agent(), mode="text") as t:
        await t.passes(35)
        await t.types("are you there?")
        asked = t.now
        await t.connects_again()
        assert 15.9 < t.now - asked < 16.1


async def test_a_server_that_speaks_and_answers_no_pings_is_alive_until_it_falls_silent(pings: list[float]) -> None:
    async with talk(agent()) as t:
        for _ in range(6):
            await t.turn()
            await t.passes(50)
        assert len(t.all(ev.ConnectionOpening)) == 1
        async with asyncio.timeout(2 * POLICY.dead_after_s):
            await t.connects_again()


async def test_the_screen_says_in_plain_words_what_a_silent_server_led_to() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("what time is it")
        await t.passes(POLICY.no_answer_s + 0.1)
        await t.connects_again()
        told = lines(t)
    again = "Connected again, to a new server session. It was told the conversation so far."
    sent = "Your message had no answer when the connection was lost, and was sent again."
    assert told == [f"The model has not answered for 20 s {again} {sent}"]


async def test_a_connection_that_grows_slow_is_left_in_a_pause() -> None:
    async with talk(agent(), mode="text") as t:
        await resumable(t)
        for seconds in (0.5, 0.5, 0.5, 0.5, 0.5, 2.0, 2.0, 2.0, 2.0, 2.0):
            await t.types("and?")
            await t.passes(seconds)
            await t.says("More.")
            await t.ends()
        assert "handle" in (await t.connects_again())["sessionResumption"]
    assert [notice.code for notice in t.all(ev.Notice)] == ["slower"]
