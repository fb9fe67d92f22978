"""Count speech that the death of an engine took, and tell the user."""

from __future__ import annotations

import pytest
from tests.session.link.test_an_engine_that_died import first_engine, next_engine
from tests.session.link.test_speech_over_a_lost_link import CHUNK, speak
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.completion.open_work import OpenWork
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.session.agent.autosave import OwnStore

LOST = [("speech", "lost")]


def settled(t: Talk) -> list[tuple[str, str]]:
    return [(event.kind, event.outcome) for event in t.all(ev.SendSettled)]


async def goes_on(found: OwnStore) -> tuple[list[tuple[str, str]], float, str]:
    """Return what another engine settles, the seconds that it counts, and its notices."""
    async with talk(agent(), own_store=found, audio=ProgramAudio) as t:
        await t.rests()
        counted = sum(event.dropped for event in t.all(ev.OutboxChanged)[:1])
        shown = " ".join(f"{block.text} {block.detail}" for block in fold(t.stage.sink.events).blocks)
        return settled(t), counted, shown


@pytest.mark.parametrize("ends", [True, False])
async def test_words_that_were_sent_and_not_understood_are_to_be_said_again(ends: bool) -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, audio=ProgramAudio) as t:
        await t.turn()
        t.stage.session.audio_input.on_voice(True)
        for _ in range(100):
            t.handle.send_audio(CHUNK)
        if ends:
            t.stage.session.audio_input.on_voice(False)
        await t.rests()
        found = next_engine(t, store)
    told, counted, shown = await goes_on(found)
    assert (told, counted) == (LOST, 0.0)
    assert "may not have been heard. Say it again." in shown


async def test_sound_that_waited_for_a_connection_is_counted() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, audio=ProgramAudio) as t:
        await t.turn()
        t.stage.refuses_until(60)
        await t.server.closes(1006)
        await t.rests()
        await speak(t, chunks=101)
        found = next_engine(t, store)
    told, counted, shown = await goes_on(found)
    assert told == LOST
    assert counted == pytest.approx(2.02)
    assert "2.0 s of the microphone's sound were not sent." in shown


async def test_words_that_were_understood_or_answered_are_not_lost() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, audio=ProgramAudio) as t:
        await speak(t)
        await t.hears("what time is it")
        understood = next_engine(t, store)
        await t.says("Four.")
        await t.ends()
        answered = next_engine(t, store)
    assert (await goes_on(understood))[0] == [("speech", "resent")]
    assert (await goes_on(answered))[0] == []


def test_a_voice_that_the_model_has_passed_over_is_not_lost() -> None:
    work = OpenWork()
    later = ev.Log(source="engine", level="info", text="later")
    for t, payload in ((1.0, ev.VoiceMarked(speaking=True)), (2.0, ev.VoiceMarked(speaking=False)), (9.0, later)):
        work.apply(ev.Event(seq=1, t=t, turn=1, gen=1, payload=payload))
    assert (work.was_speaking(8.0), work.was_speaking(7.0)) == (True, False)


async def test_what_was_said_into_an_answer_ends_it() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, audio=ProgramAudio) as t:
        await t.hears("tell me a story")
        await t.says("Once upon")
        await speak(t)
        found = next_engine(t, store)
    assert (await goes_on(found))[0] == LOST


async def test_the_engine_after_that_does_not_tell_it_again() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, audio=ProgramAudio) as t:
        await t.turn()
        await speak(t)
        found = next_engine(t, store)
    assert found.kept is not None
    view = found.kept.view
    resumed = ev.SessionResumed(kept=view.seq, after="crash", wall=0.0, record="text", program="test")
    found.kept.add(ev.Event(seq=view.seq + 1, t=view.t, turn=view.turn, gen=view.gen, payload=resumed))
    assert (await goes_on(found))[0] == []
