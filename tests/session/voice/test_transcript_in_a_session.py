"""The transcript of a session is what was said and heard."""

from __future__ import annotations

from pathlib import Path

from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import TranscriptBuffer, TranscriptTurn, TranscriptWindow
from gemini_live_runtime import commands as cmd
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def turns(t: Talk) -> tuple[TranscriptTurn, ...]:
    """Return the ended turns."""
    buffer = t.stage.agent.transcript
    assert isinstance(buffer, TranscriptBuffer)
    window = buffer.window(10)
    assert isinstance(window, TranscriptWindow)
    return window.turns


async def test_pieces_of_a_transcription_are_put_together() -> None:
    async with talk(agent()) as t:
        await t.hears("my name ")
        await t.hears("is Ada")
        await t.says("Hello ")
        await t.says("Ada.")
        await t.ends()
    (turn,) = turns(t)
    assert (turn.number, turn.user, turn.model) == (1, "my name is Ada", "Hello Ada.")


async def test_a_turn_without_the_users_words_does_not_repeat_the_last_ones() -> None:
    async with talk(agent()) as t:
        await t.turn("my name is Ada")
        await t.says("Are you there?")
        await t.ends()
    assert [turn.user for turn in turns(t)] == ["my name is Ada", ""]


async def test_what_was_heard_of_an_answer_that_was_cut_stays_and_the_rest_is_kept_apart(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.hears("book it")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 4)))
        await t.says("Your table is booked for tonight at eight.")
        await t.passes(2)
        await t.stage.session.command(cmd.Command("i", cmd.Interrupt()))
        await t.rests()
        await t.server.says(serverContent={"interrupted": True})
        await t.server.says(serverContent={"turnComplete": True})
        await t.rests()
    (turn,) = turns(t)
    assert turn.interrupted
    assert turn.model
    assert turn.unheard
    assert turn.model + turn.unheard == "Your table is booked for tonight at eight."


async def test_words_of_an_answer_that_was_cut_do_not_come_into_the_next_turn(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.hears("one")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 4)))
        await t.says("First answer")
        await t.passes(1)
        await t.types("two")
        await t.says(" and its end.")
        await t.server.says(serverContent={"interrupted": True})
        await t.server.says(serverContent={"turnComplete": True})
        await t.rests()
        await t.says("Second answer.")
        await t.ends()
    assert [turn.model for turn in turns(t)][1] == "Second answer."
    assert turns(t)[0].unheard.endswith("and its end.")


async def test_typed_text_is_the_users_part() -> None:
    async with talk(agent()) as t:
        await t.types("hello")
        await t.says("Good day.")
        await t.ends()
    (turn,) = turns(t)
    assert (turn.by, turn.user, turn.model) == ("typed", "hello", "Good day.")


async def test_thoughts_are_not_words() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.server.says(serverContent={"modelTurn": {"parts": [{"text": "Hm.", "thought": True}]}})
        await t.says("Good day.")
        await t.ends()
    assert [turn.model for turn in turns(t)] == ["Good day."]


async def test_everything_in_a_message_counts_also_with_an_interruption() -> None:
    async with talk(agent()) as t:
        await t.hears("one")
        await t.says("Well")
        await t.server.says(
            serverContent={"interrupted": True, "turnComplete": True, "inputTranscription": {"text": " more"}},
            usageMetadata={"totalTokenCount": 3},
        )
        await t.rests()
        assert t.state["session:total_token_count"] == 3
    assert [turn.user for turn in turns(t)] == ["one more"]


async def test_typed_turns_run_the_same_pipeline_as_spoken_ones() -> None:
    def kinds(t: Talk) -> list[str]:
        own = (
            "send.intended",
            "text.sent",
            "transcript.delta",
            "control.changed",
            "audio.opened",
            "session.state",
            "state.changed",
        )
        return [kind for kind in t.events if kind not in (*own, "state.changed")]

    async with talk(agent(), mode="text") as typed:
        await typed.types("hello")
        await typed.says("Good day.")
        await typed.ends()
    async with talk(agent()) as spoken:
        await spoken.turn("hello", "Good day.")
    assert kinds(typed) == kinds(spoken)


async def test_a_call_that_is_cancelled_in_the_same_message_is_not_run_and_has_its_end() -> None:
    ran: list[str] = []

    async def ping() -> None:
        """Ping."""
        ran.append("ping")

    async with talk(agent().tools(ping)) as t:
        await t.hears("ping it")
        call = {"id": "c1", "name": "ping", "args": {}}
        await t.server.says(toolCall={"functionCalls": [call]}, toolCallCancellation={"ids": ["c1"]})
        await t.rests()
        assert t.sent("answer") == []
        (turn,) = t.stage.agent.transcript.window_with_current(1).turns
        assert [(made.name, made.status) for made in turn.tool_calls] == [("ping", "cancelled")]
    assert ran == []
