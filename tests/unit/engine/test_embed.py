"""Embed an agent in a program: its session ends with the block, in every case."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.support.synthetic_speech import have_voices, say

from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.conversation.extraction import FunctionExtractor
from gemini_live_runtime.conversation.llm_extractor import LlmExtractor
from gemini_live_runtime.conversation.phases import Phase
from gemini_live_runtime.errors import AgentError, CredentialError, GeminiLiveError, UsageError
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.local.scripts.script import bundled_script


def greet() -> str:
    """Greet."""
    return "hello"


AGENT = Live.builder("test").instruction("Test.").tools(greet)


class Caller(BaseModel):
    """Caller's data."""

    name: str | None = None


def local(**options: Any) -> Any:
    return AGENT.connect(**{"backend": "local", "fast": True, **options})


def others() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def test_two_sessions_of_one_agent_know_nothing_of_each_other_and_leave_nothing_behind() -> None:
    async def main() -> None:
        async with local() as one, local() as two:
            one.state.set("app:x", 1)
            await one.send_text("greet")
            await one.until_quiet()
            assert two.state.get("app:x") is None
            assert one.telemetry() != two.telemetry()
        assert await one.done == await two.done == 0
        assert others() == []

    run_virtual(main())


def test_connect_raises_what_breaks_a_session_before_it_connects() -> None:
    class Broken(FunctionExtractor):
        @property
        def fields(self) -> Any:
            raise ZeroDivisionError("no fields")

    async def main() -> None:
        with pytest.raises(GeminiLiveError, match="ZeroDivisionError: no fields"):
            async with AGENT.extract(Broken(lambda window: {})).connect(backend="local", fast=True) as session:
                await session.until_quiet()
        assert others() == []

    run_virtual(main())


def test_one_call_of_connect_is_for_one_block() -> None:
    async def main() -> None:
        connecting = local()
        async with connecting:
            with pytest.raises(GeminiLiveError, match="already started"):
                await connecting.__aenter__()
        with pytest.raises(GeminiLiveError, match="already started"):
            async with connecting:
                pass

    run_virtual(main())


def test_what_the_block_raises_comes_out_of_it_and_the_session_has_ended() -> None:
    async def main() -> None:
        known: list[Any] = []

        async def program() -> None:
            async with local() as session:
                known.extend((session, session.events()))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await program()
        session, events = known
        assert [event.type async for event in events][-1] == "session.ended"
        assert [event async for event in session.events()] == []
        assert others() == []

    run_virtual(main())


@pytest.mark.parametrize("after_s", [0, 0.001, 0.05, 5])
@pytest.mark.parametrize("twice", [False, True])
def test_a_program_that_is_cancelled_leaves_no_session_behind(after_s: float, twice: bool) -> None:
    async def main() -> None:
        async def program() -> None:
            async with local():
                await asyncio.sleep(1000)

        task = asyncio.create_task(program())
        await asyncio.sleep(after_s)
        task.cancel()
        if twice:
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(20)
        assert others() == []

    run_virtual(main())


def test_waiting_for_the_end_in_vain_does_not_break_the_end() -> None:
    async def main() -> None:
        async with local() as session:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(session.done, 1)
            assert await session.disconnect() == 0
            assert await session.disconnect() == 0
            with pytest.raises(GeminiLiveError, match="over"):
                await session.send_text("anybody there?")

    run_virtual(main())


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"colour": "red"}, "has no option 'colour'"),
        ({"linger_s": 3}, "has no option 'linger_s'"),
        ({"agent": "other"}, "has no option 'agent'"),
        ({"mode": "shout"}, "Use one of voice, text"),
        ({"audio": "radio"}, "Use one of devices, files, program, none"),
        ({"record": "all"}, "record cannot be 'all'"),
        ({"model": 3}, "model is 3, not a str"),
        ({"fast": "yes"}, "fast is 'yes', not a bool"),
        ({"fast": False}, "Give connect fast=True, or use asyncio.run in place of run_virtual"),
        ({"session_id": "../../elsewhere"}, "session_id"),
        ({"session_id": 5}, "session_id is 5, not a str"),
        ({"profile": "home"}, "profile is 'home', not a Profile"),
        ({"max_cost": -1.0}, "max_cost must be above 0"),
        ({"max_minutes": 10**400}, "max_minutes must be above 0 and finite"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_in_a_sentence(option: dict[str, Any], words: str) -> None:
    async def main() -> None:
        with pytest.raises(GeminiLiveError) as caught:
            async with local(**option):
                pass
        assert words in str(caught.value)
        assert others() == []

    run_virtual(main())


def test_what_cannot_be_started_raises_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    async def main() -> None:
        with pytest.raises(CredentialError):
            async with AGENT.connect(api_key_source="env"):
                pass
        with pytest.raises(UsageError, match=r"There is no backend 'gemni'\. Use gemini, vertex, local, or a URL"):
            async with AGENT.connect(backend="gemni"):
                pass

    run_virtual(main())
    with pytest.raises(AgentError):
        Live.builder("test").connect()


def test_a_reader_that_stops_is_forgotten() -> None:
    async def main() -> None:
        async with local() as session:
            async with session.events("once") as events:
                await session.send_text("greet")
                async for event in events:
                    if isinstance(event.payload, ev.TurnStarted):
                        break
            assert session.telemetry()["dropped"] == {}
            assert list(session._orchestrator.subscribers) == []

    run_virtual(main())


def test_the_first_reader_gets_what_happened_before_the_block_and_a_second_one_does_not() -> None:
    async def main() -> None:
        async with local() as session:
            await session.send_text("greet")
            await session.until_quiet()
            first, second = session.events("first"), session.events("second")
        early, late = [[event.type async for event in events] for events in (first, second)]
        before = early[: -len(late)]
        assert early[-len(late) :] == late
        assert before[0] == "session.started"
        assert "connection.ready" in before
        # What happened within the block, before anybody asked, is not part of it.
        assert "text.sent" not in before

    run_virtual(main())


@pytest.mark.skipif(not have_voices(), reason="needs espeak-ng and flite")
def test_a_program_brings_its_own_microphone_and_gets_the_models_sound() -> None:
    sound: list[bytes] = []
    question = say("flite:slt", "greet") + bytes(2 * 16_000)

    async def main() -> list[str]:
        agent = AGENT.on("audio", sound.append)
        async with agent.connect(backend="local", fast=True, audio="program", mode="voice") as session:
            events = session.events()
            for start in range(0, len(question), 640):
                session.send_audio(question[start : start + 640])
                await asyncio.sleep(0.02)
            await session.until_quiet()
        said = [event.payload async for event in events if isinstance(event.payload, ev.TranscriptDelta)]
        return ["".join(delta.text for delta in said if delta.side == side) for side in ("user", "model")]

    user, model = run_virtual(main())
    assert user.strip().lower() == "greet"
    assert "hello" in model
    assert sum(map(len, sound)) > 10_000


def test_audio_that_nobody_would_hear_is_refused() -> None:
    async def main() -> None:
        async with local() as session:
            with pytest.raises(GeminiLiveError, match='audio="program"'):
                session.send_audio(bytes(640))

    run_virtual(main())


@pytest.mark.parametrize(
    ("agent", "offered"),
    [
        (AGENT, ("greet",)),
        (AGENT.phrases("say hello"), ("say hello",)),
        (AGENT.local_model("local-clinic"), bundled_script("clinic").examples),
    ],
)
def test_what_one_can_say_is_the_agents_own_phrases_or_its_dialogues_examples_or_its_tools(
    tmp_path: Path, agent: Live, offered: tuple[str, ...]
) -> None:
    async def main() -> None:
        async with agent.connect(backend="local", fast=True, record="text", data_dir=str(tmp_path)):
            pass

    run_virtual(main())
    (recorded,) = tmp_path.rglob("events.jsonl")
    (started,) = [event.payload for event in read_journal(recorded) if isinstance(event.payload, ev.SessionStarted)]
    assert started.phrases == offered


@pytest.mark.parametrize("name", ["game_master", "concierge"])
def test_an_agent_without_a_dialogue_is_spoken_for_by_its_own_names(name: str) -> None:
    title = name.replace("_", " ")

    async def main() -> str:
        agent = Live.builder(name).instruction("Test.").tools(greet).phase(Phase("first_part", "Ask.", tools=[greet]))
        async with agent.connect(backend="local", fast=True) as session:
            events = session.events()
            for text in ("who are you", "what can you do"):
                await session.send_text(text)
                await session.until_quiet()
        said = [event.payload async for event in events if isinstance(event.payload, ev.TranscriptDelta)]
        return "".join(delta.text for delta in said if delta.side == "model")

    said = run_virtual(main())
    assert f"I speak for {title}." in said
    assert f"I call a tool when you say its name: greet. The phases of {title}: first part." in said


def test_an_agent_that_extracts_starts_with_a_model_that_has_no_dialogue_of_its_own() -> None:
    assert run_virtual(_greeted("any-model")) == 1


def test_an_agent_that_extracts_is_told_by_the_server_that_a_model_is_not_there() -> None:
    with pytest.raises(GeminiLiveError, match="models/local-nobody is not found"):
        run_virtual(_greeted("local-nobody"))


async def _greeted(model: str) -> int:
    """Count the turns after a greeting with a model of the embedded server."""
    agent = AGENT.extract(LlmExtractor(Caller))
    async with agent.connect(backend="local", fast=True, model=model) as session:
        await session.send_text("greet")
        await session.until_quiet()
        return int(session.telemetry()["turn_count"])
