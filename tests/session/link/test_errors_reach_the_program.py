"""A program hears of frames, sound and snapshots that were lost, and counts them."""

from __future__ import annotations

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.session.persistence.stores import MemoryPersistence


def listening(told: list[str]) -> Live:
    return agent().on("error", told.append)


def counted(t: Talk) -> tuple[int, str]:
    return t.state["session:error_count"], t.state["session:last_error"]


async def test_frames_that_cannot_be_read_are_errors() -> None:
    told: list[str] = []
    async with talk(listening(told)) as t:
        await t.server.sends("no JSON")
        await t.server.sends('{"serverContent": {"turnComplete": "maybe"}}')
        await t.rests()
        assert counted(t) == (2, told[-1])
    assert [text.split(":")[0] for text in told] == [
        "The server sent a frame that cannot be read",
        "Part of a message was not understood",
    ]


async def test_sound_that_no_connection_took_is_an_error_each_time() -> None:
    told: list[str] = []
    async with talk(listening(told), audio=ProgramAudio) as t:
        for seconds in (3, 2):
            await t.server.closes(1006)
            await t.rests()
            for _ in range(50 * seconds):
                t.handle.send_audio(bytes(640))
            await t.connects_again()
        assert counted(t)[0] == 2
    assert [text.split(" of ")[0] for text in told] == ["2.0 s", "1.0 s"]


async def test_sound_that_is_lost_on_the_way_is_an_error() -> None:
    told: list[str] = []
    async with talk(listening(told)) as t:
        t.stage.session.bus.emit(ev.SoundHealth(kind="lost", well=False, text="Sound is being lost."))
        t.stage.session.bus.emit(ev.SoundHealth(kind="lost", well=True))
        t.stage.session.bus.emit(ev.SoundHealth(kind="echo", well=False, text="The model hears itself."))
        await t.rests()
        assert counted(t) == (1, "Sound is being lost.")
    assert told == ["Sound is being lost."]


async def test_a_snapshot_that_cannot_be_saved_is_an_error() -> None:
    class Full(MemoryPersistence):
        def save(self, *args: object, **more: object) -> None:
            raise OSError("no space left")

    told: list[str] = []
    async with talk(listening(told).persistence(Full(), "s")) as t:
        await t.turn()
        assert counted(t) == (1, told[0])
    assert "no space left" in told[0]


@pytest.mark.parametrize("code", ["value-not-kept", "journal-sync-failed"])
async def test_what_the_disk_did_not_take_is_an_error_although_the_talk_goes_on(code: str) -> None:
    told: list[str] = []
    async with talk(listening(told)) as t:
        assert t.stage.session.report(ev.Notice(level="warning", code=code, text="It was not written."))
        await t.rests()
        assert counted(t) == (1, "It was not written.")
    assert told == ["It was not written."]


async def test_what_the_host_finds_out_before_the_session_begins_is_an_error_too() -> None:
    told: list[str] = []
    async with talk(listening(told), begins=False) as t:
        assert t.stage.session.report(ev.Notice(level="error", code="not-recorded", text="It is not recorded."))
        await t.begins()
        assert counted(t) == (1, "It is not recorded.")
        assert t.events[0] == "session.started"
    assert told == ["It is not recorded."]


async def test_a_session_that_is_over_takes_no_report() -> None:
    async with talk(agent()) as t:
        pass
    assert not t.stage.session.report(ev.Notice(level="error", code="journal-failed", text="Too late."))
    assert t.events[-1] == "session.ended"
