"""Sessions whose user's turns end here: by command, and as the agent decides."""

from __future__ import annotations

import asyncio
import gc
import wave

import pytest
from tests.session.talking import Talk, agent, talk
from tests.session.voice.test_client_turn_taking_in_a_session import SPOKEN, kinds

from gemini_live_runtime import Agent, AgentSession, InlineTask, Live, RunContext, StopResponse, UserTurn, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.io.user_turns import MAX_SOUND_S

CHUNK = bytes(640)
SAID = ["activityStart", "audio", "activityEnd"]


def spoken() -> FileAudio:
    """Return a microphone in which something is said."""
    return FileAudio(SPOKEN, None)


async def by_hand(t: Talk, chunks: int = 5) -> None:
    """Open the microphone of a session with manual turns, and say something."""
    assert await t.commands(cmd.SetMicrophone(on=True)) == ""
    for _ in range(chunks):
        t.handle.send_audio(CHUNK)
    await t.rests()


# -- commands ----------------------------------------------------------------------------------------------------------


async def test_a_commit_ends_the_turn_that_our_detector_has_begun() -> None:
    async with talk(agent().turn_taking("client"), audio=spoken) as t:
        await t.passes(0.8)
        assert kinds(t) == ["activityStart", "audio"]
        await t.handle.commit_user_turn()
        await t.rests()
        assert kinds(t) == SAID


async def test_a_commit_by_hand_closes_the_microphone() -> None:
    async with talk(agent().turn_taking("manual"), audio=ProgramAudio) as t:
        await by_hand(t)
        await AgentSession.of(t.handle).commit_user_turn()
        await t.rests()
        assert kinds(t) == SAID
        assert t.all(ev.ControlChanged)[-1].microphone is False


@pytest.mark.parametrize("order", [cmd.CommitTurn(), cmd.ClearTurn()], ids=["commit", "clear"])
async def test_where_the_server_ends_turns_both_commands_are_refused_with_the_remedy(order: cmd.Order) -> None:
    async with talk(agent()) as t:
        refusal = await t.commands(order)
        assert refusal == (
            f"{order.command} is not possible: the server ends the turns. Set turn_detection to client or manual first."
        )


@pytest.mark.parametrize("by", ["client", "manual"])
async def test_without_an_open_turn_there_is_nothing_to_commit_or_to_clear(by: str) -> None:
    async with talk(agent().turn_taking(by)) as t:  # type: ignore[arg-type]
        for order in (cmd.CommitTurn(), cmd.ClearTurn()):
            assert "No turn is open" in await t.commands(order)
        assert t.wire == []


@pytest.mark.parametrize("by", ["client", "manual"])
async def test_a_cleared_turn_is_unknown_to_the_model_of_the_next_connection(by: str) -> None:
    of = agent().turn_taking(by)  # type: ignore[arg-type]
    async with talk(of, audio=spoken) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        if by == "manual":
            assert await t.commands(cmd.SetMicrophone(on=True)) == ""
        await t.passes(0.8)
        await t.hears("please stop")
        assert await t.commands(cmd.ClearTurn()) == ""
        assert kinds(t) == ["activityStart", "audio"]
        setup = await t.connects_again()
        assert setup["sessionResumption"] == {"handle": "h-1"}
        (cleared,) = t.all(ev.TurnCleared)
        assert (cleared.by, cleared.text) == ("operator", "please stop")
        assert [(turn.outcome, turn.reason) for turn in t.all(ev.TurnCompleted)] == [("empty", "cleared")]
        assert [item for item in t.wire if "please stop" in str(item)] == []


async def test_a_server_whose_handle_knows_part_of_the_turn_begins_anew_without_it() -> None:
    async with talk(agent().turn_taking("manual"), audio=ProgramAudio) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.turn("hello", "fine")
        await by_hand(t)
        await t.hears("forget this")
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-2", "resumable": True})
        await t.rests()
        await t.handle.clear_user_turn()
        setup = await t.connects_again()
        assert setup["sessionResumption"] == {}
        (context,) = t.wire
        assert "hello" in context[1]
        assert "forget this" not in context[1]


async def test_the_sound_of_a_cleared_turn_is_not_sent_again() -> None:
    with wave.open(str(SPOKEN)) as file:
        pcm = file.readframes(file.getframerate())
    async with talk(agent().turn_taking("client"), audio=ProgramAudio) as t:
        for at in range(0, len(pcm), 640):
            t.handle.send_audio(pcm[at : at + 640])
        await t.rests()
        assert kinds(t) == ["activityStart", "audio"]
        await t.handle.clear_user_turn()
        await t.connects_again()
        assert t.wire == []


async def test_what_is_said_after_a_cleared_turn_is_a_turn_of_its_own() -> None:
    async with talk(agent().turn_taking("manual"), audio=ProgramAudio) as t:
        await by_hand(t)
        await t.handle.clear_user_turn()
        await t.connects_again()
        assert t.wire == []
        await by_hand(t, chunks=3)
        assert t.wire == [("activityStart",), ("audio",), ("audio",), ("audio",)]


# -- the agent decides -------------------------------------------------------------------------------------------------


class Listener(Agent):
    """Agent that sees each turn of the user before the model does."""

    def __init__(self, by: str = "auto") -> None:
        super().__init__(instructions="Be brief.", name="test", turn_detection=by)  # type: ignore[arg-type]
        self.turns: list[UserTurn] = []
        self.drops = False
        self.waits_s = 0.0

    async def on_user_turn_completed(self, turn: UserTurn) -> None:
        self.turns.append(turn)
        await asyncio.sleep(self.waits_s)
        if self.drops:
            raise StopResponse("it was a cough")
        turn.add_context("[The user is Ada.]")


@pytest.mark.parametrize("by", ["client", "manual"])
async def test_the_agent_adds_context_for_a_turn_before_the_model_answers_it(by: str) -> None:
    listener = Listener(by)
    async with talk(listener, audio=spoken) as t:  # type: ignore[arg-type]
        if by == "manual":
            await t.commands(cmd.SetMicrophone(on=True))
        await t.passes(0.8)
        await t.hears("please stop talking")
        await (t.commands(cmd.SetMicrophone(on=False)) if by == "manual" else t.passes(8))
        assert kinds(t) == ["activityStart", "audio", "model context", "activityEnd"]
        (turn,) = listener.turns
        assert turn.text == "please stop talking"
        assert turn.seconds > 0.5


async def test_of_a_turn_without_end_the_agent_gets_the_newest_sound() -> None:
    listener = Listener("manual")
    async with talk(listener, audio=ProgramAudio) as t:  # type: ignore[arg-type]
        assert await t.commands(cmd.SetMicrophone(on=True)) == ""
        for number in range(int(MAX_SOUND_S) + 5):
            t.handle.send_audio(bytes([number, 0]) * 16_000)
            await t.rests()
        await t.handle.commit_user_turn()
        await t.rests()
        (turn,) = listener.turns
        assert (turn.seconds, turn.audio[:2], turn.audio[-2:]) == (MAX_SOUND_S, b"\x05\0", b"\x40\0")


async def test_a_turn_that_the_agent_drops_is_not_answered() -> None:
    listener = Listener("manual")
    listener.drops = True
    async with talk(listener, audio=ProgramAudio) as t:  # type: ignore[arg-type]
        await by_hand(t)
        await t.hears("never mind")
        await t.handle.commit_user_turn()
        await t.connects_again()
        assert [(told.by, told.text, told.reason) for told in t.all(ev.TurnCleared)] == [
            ("agent", "never mind", "it was a cough")
        ]
        assert t.wire == []
        assert t.failures() == []


async def test_what_is_said_while_the_agent_decides_belongs_to_the_next_turn() -> None:
    listener = Listener("manual")
    listener.waits_s = 1.0
    async with talk(listener, audio=ProgramAudio) as t:  # type: ignore[arg-type]
        await by_hand(t, chunks=2)
        await t.handle.commit_user_turn()
        await by_hand(t, chunks=1)
        assert kinds(t) == ["activityStart", "audio"]
        await t.passes(1.1)
        kept = [kind for kind in kinds(t) if kind != "model context"]
        assert kept == [*SAID, "activityStart", "audio"]


async def test_a_typed_text_does_not_wait_for_the_agents_decision() -> None:
    listener = Listener("manual")
    listener.waits_s = 1.0
    async with talk(listener, audio=ProgramAudio) as t:  # type: ignore[arg-type]
        await by_hand(t)
        await t.handle.commit_user_turn()
        await t.types("and now?")
        assert kinds(t) == [*SAID, "text"]
        await t.passes(2)
        assert kinds(t) == [*SAID, "text"]


@pytest.mark.parametrize("fault", ["raises", "hangs"])
async def test_a_hook_that_fails_or_hangs_does_not_hold_the_turn(fault: str) -> None:
    async def hook(turn: UserTurn) -> None:
        await asyncio.sleep(0 if fault == "raises" else 60)
        raise ValueError("no")

    of = agent().turn_taking("manual").on_user_turn_completed(hook)
    async with talk(of, audio=ProgramAudio) as t:
        await by_hand(t)
        await t.handle.commit_user_turn()
        await t.passes(5.1)
        assert kinds(t) == SAID
        (failed,) = t.failures()
        assert failed.where == "on_user_turn_completed of test"


async def test_a_task_cannot_be_awaited_while_the_turn_waits_also_when_a_tool_ends_it() -> None:
    problems: list[str] = []

    async def hook(turn: UserTurn) -> None:
        try:
            await InlineTask(name="consent", instructions="Ask.")
        except AgentError as error:
            problems.append(str(error))

    @tool
    async def commit(context: RunContext) -> None:
        """End the user's turn."""
        await context.session.commit_user_turn()
        await asyncio.sleep(1)

    async with talk(agent().turn_taking("manual").on_user_turn_completed(hook).tools(commit), audio=ProgramAudio) as t:
        await by_hand(t)
        await t.calls("commit")
        await t.passes(2)
        assert kinds(t)[: len(SAID)] == SAID
    assert problems == [
        "The task consent is awaited in on_user_turn_completed: the user's turn waits there for its answer. "
        "Await it in a tool that the model calls."
    ]


async def test_a_connection_lost_during_the_decision_gets_the_turn_again() -> None:
    listener = Listener("manual")
    listener.waits_s = 1.0
    async with talk(listener, audio=spoken) as t:  # type: ignore[arg-type]
        await t.commands(cmd.SetMicrophone(on=True))
        await t.passes(0.8)
        await t.handle.commit_user_turn()
        await t.server.closes(1011)
        await t.connects_again()
        await t.passes(2)
        assert kinds(t) == ["activityStart", "audio", "model context", "activityEnd"]
        assert len(listener.turns) == 2


@pytest.mark.parametrize("pause_s", [0.2, 3.0], ids=["at once", "after a while"])
@pytest.mark.parametrize("is_heard", [False, True], ids=["unheard", "heard"])
async def test_what_is_said_during_the_decision_is_sent_once_when_the_link_is_lost(
    is_heard: bool, pause_s: float
) -> None:
    listener = Listener("manual")
    listener.waits_s = 4.0
    async with talk(listener, audio=ProgramAudio) as t:  # type: ignore[arg-type]
        await by_hand(t)
        await t.handle.commit_user_turn()
        await t.commands(cmd.SetMicrophone(on=True))
        said = await says_meanwhile(t, 30)
        await says_meanwhile(t, int(pause_s * 50), voice=False)
        if is_heard:
            await t.hears("the turn before")
        await t.server.closes(1006)
        await t.connects_again()
        await t.passes(5)
        sent, dropped = t.sound_sent(), t.stage.session.sample().mic_dropped
        assert sent.count(said) == 1
        assert [chunk for chunk in numbered(30) if sent.count(chunk) != 1] == []
        assert dropped == max(0, int(pause_s * 50) - 50)


async def test_what_is_said_during_the_last_decision_is_counted_at_the_sessions_end() -> None:
    listener = Listener("manual")
    listener.waits_s = 4.0
    async with talk(listener, audio=ProgramAudio) as t:  # type: ignore[arg-type]
        await by_hand(t)
        await t.handle.commit_user_turn()
        await t.commands(cmd.SetMicrophone(on=True))
        await says_meanwhile(t, 30)
        t.stage.session.hang_up("done")
        await t.passes(5)
        assert t.stage.session.sample().mic_dropped == 30


def numbered(chunks: int) -> list[bytes]:
    """Return chunks of sound that differ from each other."""
    return [bytes([number + 1, 1]) * 320 for number in range(chunks)]


async def says_meanwhile(t: Talk, chunks: int, *, voice: bool = True) -> bytes:
    """Send so many chunks at the pace of a microphone, and return them."""
    t.stage.session.audio_input.on_voice(voice)
    said = numbered(chunks) if voice else [CHUNK] * chunks
    for chunk in said:
        t.handle.send_audio(chunk)
        await t.passes(0.02)
    t.stage.session.audio_input.on_voice(False)
    return b"".join(said)


def test_a_hook_that_would_never_be_called_is_refused_when_the_plan_is_made() -> None:
    words = "on_user_turn_completed is never called, because the server ends the turns"
    with pytest.raises(AgentError, match=words):
        Listener("server")
    with pytest.raises(AgentError, match=words):
        Listener().plan().with_turns("server")
    assert Listener().plan().turn_options.detection == "client"


async def test_neither_a_change_nor_another_agent_leaves_a_hook_without_its_moment() -> None:
    async with talk(Listener()) as t:  # type: ignore[arg-type]
        with pytest.raises(GeminiLiveError, match="turn_detection cannot become server"):
            await t.handle.update_options(turn_detection="server")
    async with talk(Live.builder("first").instruction("Be brief.")) as t:
        with pytest.raises(AgentError, match="is never called"):
            await AgentSession.of(t.handle).update_agent(Listener())


async def test_a_model_that_takes_no_context_in_mid_session_cannot_be_given_some() -> None:
    def hook(turn: UserTurn) -> None:
        turn.add_context("[Ada]")

    of = agent().model("gemini-3.1-flash-live").turn_taking("manual").on_user_turn_completed(hook)
    async with talk(of, audio=ProgramAudio) as t:
        await by_hand(t)
        await t.handle.commit_user_turn()
        await t.rests()
        assert "takes no context during a session" in t.failures()[0].error
        assert kinds(t) == SAID


async def test_where_the_server_ends_turns_no_list_grows_by_their_words() -> None:
    said = [f"these are the words of turn {number}" for number in range(30)]
    async with talk(agent()) as t:
        for text in said:
            await t.turn(text)
        kept = [each for each in gc.get_objects() if type(each) is list and each is not said]
        assert [each for each in kept if sum(item in said for item in each if type(item) is str) > 3] == []
