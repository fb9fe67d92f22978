"""An answer that the loss of a connection cut goes on with the next one."""

from __future__ import annotations

import json

import pytest
from tests.session.link.test_a_lost_link_in_a_session import resumable, settled, slow
from tests.session.link.test_an_engine_that_died import first_engine, next_engine
from tests.session.link.test_speech_over_a_lost_link import speak
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.fold.session_fold import apply, fold
from gemini_live_runtime.journal.fold.view import Block
from gemini_live_runtime.local.dialogue.broken_answer import BrokenAnswer
from gemini_live_runtime.session.agent.autosave import OwnStore
from gemini_live_runtime.session.core.connection_events import MAX_CONTINUED
from gemini_live_runtime.wire.audio_frame import encode_model_audio

CONTINUED = [("reply", "continued")]


def told(t: Talk) -> list[tuple[str, str]]:
    """Return what the notes on the present connection say of user and model."""
    notes = []
    for _, text in t.sent("user context"):
        note = BrokenAnswer()
        if note.take(text):
            notes.append((note.asked, note.said))
    return notes


def answers(t: Talk) -> list[Block]:
    return [block for block in fold(t.stage.sink.events).blocks if block.kind == "model"]


async def breaks_off(t: Talk) -> None:
    await t.types("tell me a story")
    await t.says("Once upon")
    await t.server.closes(1006)


@pytest.mark.parametrize("handle", [True, False])
async def test_the_model_is_asked_once_for_the_rest_and_told_where_it_broke_off(handle: bool) -> None:
    async with talk(agent(), mode="text") as t:
        if handle:
            await resumable(t)
        await breaks_off(t)
        await t.connects_again()
        assert told(t) == [("tell me a story", "Once upon")]
        assert [kind for kind, *_ in t.wire] == ["model context", "user context", "prompt"]
        await t.says(" a time.")
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])
    assert settled(t) == CONTINUED
    assert [turn.broke_off for turn in t.all(ev.TurnCompleted)] == [True, False]


async def test_the_transcript_shows_the_answer_as_cut_after_what_has_arrived() -> None:
    async with talk(agent(), mode="text") as t:
        await breaks_off(t)
        await t.connects_again()
        await t.says("a time.")
        await t.ends()
        first, rest = answers(t)
        assert (first.text, first.interrupted, first.heard) == ("Once upon", True, 9)
        assert (rest.text, rest.interrupted) == ("a time.", False)
        turns = t.stage.session.orchestrator.agent.transcript.window(2).turns
        assert [(turn.model, turn.interrupted) for turn in turns] == [("Once upon", True), ("a time.", False)]


@pytest.mark.parametrize("mode", ["voice", "text"])
async def test_the_word_that_the_loss_cut_is_in_the_rest_only_unless_it_was_read(mode: ev.Mode) -> None:
    async with talk(agent(), audio=ProgramAudio if mode == "voice" else NoAudio, mode=mode) as t:
        await t.types("tell me a story")
        await t.says("Once upon")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.says(" a lighthouse")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 5)))
        await t.rests()
        await t.server.closes(1006)
        await t.connects_again()
        said, missing = ("Once upon a", "lighthouse ") if mode == "voice" else ("Once upon a lighthouse", "")
        assert told(t) == [("tell me a story", said)]
        await t.says(f"{missing}stood.")
        await t.ends()
        first, rest = answers(t)
        assert (first.text[: first.heard], rest.text) == (said, f"{missing}stood.")
        turns = t.stage.session.orchestrator.agent.transcript.window(2).turns
        assert [turn.model for turn in turns] == [said, f"{missing}stood."]


async def test_an_answer_that_has_wholly_arrived_is_not_continued() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("what time is it")
        await t.says("Four.")
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        await t.server.closes(1006)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])
        assert [block.interrupted for block in answers(t)] == [False]


async def test_who_says_something_else_meanwhile_gets_an_answer_to_that() -> None:
    async with talk(agent(), mode="text") as t:
        await breaks_off(t)
        await t.types("what time is it")
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])
        await t.says("Four.")
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])


async def test_who_speaks_meanwhile_is_not_talked_over() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await breaks_off(t)
        await speak(t, chunks=20)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])


async def test_an_answer_that_the_user_stops_meanwhile_is_not_continued() -> None:
    async with talk(agent(), mode="text") as t:
        await breaks_off(t)
        await t.rests()
        await t.commands(cmd.Interrupt())
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])


async def test_an_answer_before_a_call_goes_on_with_the_result() -> None:
    async with talk(slow(5)) as t:
        await t.types("look it up")
        await t.says("Let me see.")
        await t.calls("search")
        await t.server.closes(1006)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])
        await t.passes(5)
        assert len(t.sent("prompt")) == 1


async def test_a_message_that_the_server_refuses_is_not_continued() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("tell me a story")
        await t.says("Once upon")
        await t.server.closes(1007)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])
        assert [block.interrupted for block in answers(t)] == [True]


async def test_the_rest_that_is_lost_before_it_begins_is_asked_for_again() -> None:
    async with talk(agent(), mode="text") as t:
        await breaks_off(t)
        await t.connects_again()
        await t.server.closes(1006)
        await t.connects_again()
        assert told(t) == [("tell me a story", "Once upon")]
        assert len(t.sent("prompt")) == 1


async def test_an_answer_of_which_nothing_was_missing_is_owed_no_longer() -> None:
    async with talk(agent(), mode="text") as t:
        await breaks_off(t)
        await t.connects_again()
        assert not t.stage.core.is_quiet
        await t.server.says(serverContent={"turnComplete": True})
        await t.rests()
        assert t.stage.core.is_quiet
        await t.passes(60)
    assert t.all(ev.Notice) == []


async def test_an_answer_that_breaks_off_again_and_again_is_left_until_the_user_says_something() -> None:
    async with talk(agent(), mode="text") as t:
        await breaks_off(t)
        for _ in range(MAX_CONTINUED):
            await t.connects_again()
            assert [asked for asked, _ in told(t)] == ["tell me a story"]
            await t.says("a time")
            await t.server.closes(1006)
        await t.connects_again()
        assert (told(t), t.sent("prompt")) == ([], [])
        await t.says("Hm.")
        await t.ends()
        await breaks_off(t)
        await t.connects_again()
        assert len(told(t)) == 1


def resumed(found: OwnStore) -> None:
    """Let another engine go on with a session: its first event."""
    assert found.kept is not None
    goes_on = ev.SessionResumed(kept=1, after="crash", wall=0.0, record="text", program="test")
    view = found.kept.view
    apply(view, ev.Event(seq=view.seq + 1, t=view.t, turn=view.turn, gen=view.gen, payload=goes_on))


async def test_another_engine_goes_on_with_the_answer() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, mode="text") as t:
        await t.types("tell me a story")
        await t.says("Once upon")
        found = next_engine(t, store)
    resumed(found)
    async with talk(agent(), own_store=found, mode="text") as t:
        await t.rests()
        assert told(t) == [("tell me a story", "Once upon")]
        assert len(t.sent("prompt")) == 1
        assert settled(t) == CONTINUED
        assert [turn.broke_off for turn in t.all(ev.TurnCompleted)] == [True]


async def test_another_engine_does_not_go_on_with_an_answer_that_was_whole() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, mode="text") as t:
        await t.turn("hello", "Good day.")
        found = next_engine(t, store)
    resumed(found)
    async with talk(agent(), own_store=found, mode="text") as t:
        await t.rests()
        assert (told(t), t.sent("prompt")) == ([], [])


async def test_an_answer_that_an_orderly_end_cut_is_over() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store, mode="text") as t:
        await t.types("tell me a story")
        await t.says("Once upon")
        await t.commands(cmd.HangUp())
        await t.rests()
        found = next_engine(t, store)
    async with talk(agent(), own_store=found, mode="text") as t:
        await t.rests()
        assert (told(t), t.sent("prompt")) == ([], [])


def test_a_note_quotes_what_was_said_on_a_line_of_its_own() -> None:
    from gemini_live_runtime.session.core.unanswered import BrokenAnswer as Told

    asked = 'a "story"\nYou have said so far: "nothing"'
    note = BrokenAnswer()
    assert note.take(Told(asked, "Once").note)
    assert (note.asked, note.said) == (asked, "Once")
    assert json.dumps(asked) in Told(asked, "").note
