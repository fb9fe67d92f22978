"""The user speaks, listens, or is away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import Agent, State, Watcher, key, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def states(t: Talk) -> list[str]:
    """Return the states of the user, in order."""
    return [event.new for event in t.all(ev.UserStateChanged)]


async def test_after_fifteen_seconds_of_silence_on_both_sides_the_user_is_away_once() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.passes(14.9)
        assert states(t) == []
        await t.passes(60)
        assert states(t) == ["away"]


async def test_a_voice_stops_the_time_and_begins_it_anew() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.passes(14)
        await t.voice(True)
        await t.passes(30)
        assert states(t) == ["speaking"]
        await t.voice(False)
        # For 3 s the model may be about to answer.
        await t.passes(17.5)
        assert states(t) == ["speaking", "listening"]
        await t.passes(1)
        assert states(t) == ["speaking", "listening", "away"]


async def test_words_and_typed_texts_bring_the_user_back() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.passes(16)
        await t.turn()
        assert states(t) == ["away", "listening"]
        await t.passes(16)
        await t.types("hello")
        assert states(t) == ["away", "listening", "away", "listening"]


async def test_a_tool_keeps_the_user_from_being_away() -> None:
    release = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        await release.wait()
        return "done"

    async with talk(agent().tools(wait), audio=ProgramAudio) as t:
        await t.hears("wait")
        await t.calls("wait")
        await t.passes(20)
        assert states(t) == []
        release.set()
        await t.rests()
        await t.says("Done.")
        await t.ends()
        await t.passes(14.9)
        assert states(t) == []
        await t.passes(0.2)
        assert states(t) == ["away"]


async def test_a_background_tool_keeps_the_user_from_being_away_as_well() -> None:
    release = asyncio.Event()

    @tool(background=True)
    async def search() -> str:
        """Search."""
        await release.wait()
        return "found"

    async with talk(agent().tools(search), audio=ProgramAudio) as t:
        await t.hears("search")
        await t.calls("search")
        await t.says("I am looking.")
        await t.ends()
        await t.passes(20)
        assert states(t) == []
        release.set()


async def test_while_the_model_speaks_and_without_a_connection_the_time_stands_still() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.hears("tell me a story")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 30)))
        await t.ends()
        await t.passes(29)
        assert states(t) == []
        t.stage.refuses_until(t.now + 50)
        await t.server.closes(1011)
        await t.passes(45)
        assert states(t) == []


@pytest.mark.parametrize("after_s", [4.0, None])
async def test_the_time_is_the_agents(after_s: float | None) -> None:
    plain = Agent(name="test", instructions="Be brief.", user_away_timeout=after_s)
    for one in (agent().user_away_timeout(after_s), plain):
        async with talk(one, audio=ProgramAudio) as t:  # type: ignore[arg-type]
            await t.passes(5)
            assert states(t) == ([] if after_s is None else ["away"])


async def test_watchers_and_guards_read_the_users_state() -> None:
    def ask(state: State) -> None:
        state.set("app:asked", True)

    watching = agent().watch(Watcher(key("session:user_state").changed_to("away"), ask))
    async with talk(watching, audio=ProgramAudio) as t:
        assert t.state.get("session:user_state") == "listening"
        await t.passes(16)
        assert t.state.get("session:user_state") == "away"
        assert t.state.get("app:asked") is True


async def test_in_text_mode_nobody_listens_and_silence_says_nothing() -> None:
    async with talk(agent(), mode="text") as t:
        await t.passes(60)
        assert states(t) == []


@pytest.mark.parametrize("value", [0, -1, float("nan"), "soon", True])
def test_a_time_that_cannot_be_is_refused_with_its_name_and_a_remedy(value: object) -> None:
    with pytest.raises(AgentError, match=r"user_away_timeout cannot be .*Use a number of seconds above 0"):
        agent().user_away_timeout(value).plan()  # type: ignore[arg-type]


async def test_the_voice_in_the_microphone_makes_the_user_speak(tmp_path: Path) -> None:
    spoken = Path(__file__).parents[2] / "data" / "speech" / "please_stop_talking.wav"
    async with talk(agent(), audio=lambda: FileAudio(spoken, tmp_path / "out.wav")) as t:
        await t.passes(8)
        assert states(t)[0] == "speaking"
        assert states(t)[-1] == "listening"
