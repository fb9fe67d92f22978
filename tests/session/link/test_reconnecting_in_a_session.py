"""Connections that are lost, left in time, and made again."""

from __future__ import annotations

import asyncio

from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import InstructionModifier, Live, Phase, key, tool
from gemini_live_runtime import events as ev


def phased() -> Live:
    """Return two phases; `app:go` leads from the first to the second."""
    return agent().phase(*two_phases())


async def resumable(t: Talk) -> None:
    """Send a resumption handle as the server."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    await t.rests()


async def test_a_lost_connection_is_made_again_with_the_handle_and_the_instruction_of_now() -> None:
    async with talk(phased()) as t:
        await resumable(t)
        await t.writes(go=True)
        await t.turn()
        await t.server.closes(1011, "try later")
        setup = await t.connects_again()
        assert setup["sessionResumption"]["handle"] == "h-1"
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nTwo."
        # The handle is from before the turn.
        assert t.wire == [("model context", "[Latest part of the conversation]\nUser: hello\nAssistant: fine")]
    assert [ready.resumed for ready in t.all(ev.ConnectionReady)] == [False, True]


async def test_a_handle_without_end_is_not_kept() -> None:
    async with talk(phased()) as t:
        await resumable(t)
        await t.server.says(sessionResumptionUpdate={"newHandle": "h" * 8193, "resumable": True})
        await t.rests()
        await t.server.closes(1006)
        assert (await t.connects_again())["sessionResumption"]["handle"] == "h-1"
    assert "8,193 characters" in t.all(ev.Notice)[-1].text


async def test_a_fresh_session_is_told_what_was_said_before() -> None:
    async with talk(agent()) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        await t.server.closes(1006)
        setup = await t.connects_again()
        assert "handle" not in setup["sessionResumption"]
        assert t.wire == [
            ("model context", "[Conversation so far]\nUser: my name is Ada\nAssistant: Hello Ada."),
        ]


async def test_context_that_one_server_knew_is_told_to_a_later_one_that_does_not() -> None:
    async with talk(agent()) as t:
        t.handle.send_context("The room is 12.")
        await resumable(t)
        await t.server.closes(1006)
        await t.connects_again()
        assert t.wire == []
        await t.server.closes(1008, "session not found")
        await t.connects_again()
        assert t.wire == [("model context", "The room is 12.")]


async def test_of_what_went_out_together_only_the_programs_context_is_told_to_later_servers() -> None:
    angry = InstructionModifier.when(key("app:angry"), "Apologise.")
    of = agent().phase(Phase("only", "One.", modifiers=angry)).steering("hybrid", "deferred")
    async with talk(of) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        await t.writes(angry=True)
        t.handle.writer().send_context(["The room is 12."], reason="program")
        await t.types("hello")
        await t.says("Hi.")
        await t.ends()
        await t.writes(angry=False)
        for _ in range(3):
            await t.server.closes(1006)
            await t.connects_again()
        told = [text for kind, text in t.wire if kind == "model context"]
        assert [text.count("Conversation so far") for text in told] == [1, 0]
        assert told[1] == "The room is 12."


async def test_after_two_connections_in_a_busy_moment_the_conversation_is_told_once() -> None:
    async def busy(turn: int) -> None:
        await asyncio.sleep(4)

    async with talk(agent().on("turn_complete", busy)) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        for _ in range(2):
            await t.server.closes(1006)
            await t.connects_again()
        await t.passes(5)
        assert t.wire == [("model context", "[Conversation so far]\nUser: my name is Ada\nAssistant: Hello Ada.")]


async def test_after_a_fresh_start_the_model_is_told_everything_again() -> None:
    async with talk(agent().phase(Phase("only", "One.", tools=()))) as t:
        await t.server.closes(1006)
        await t.connects_again()
        assert ("model context", "[Tools] No tool may be used now.") in t.wire


async def test_a_connection_is_left_in_a_pause_once_the_server_says_that_it_will_close() -> None:
    async with talk(agent()) as t:
        await resumable(t)
        await t.hears("hello")
        await t.says("Good")
        await t.server.says(goAway={"timeLeft": "30s"})
        await t.passes(5)
        assert t.all(ev.ConnectionClosed) == []
        await t.says(" day.")
        await t.ends()
        await t.connects_again()
        assert t.stage.agent.transcript.window(1).text == "User: hello\nAssistant: Good day."


async def test_how_long_a_connection_had_left_is_nothing_that_the_next_one_knows() -> None:
    left = ("session:go_away_time_left", "session:go_away_time_left_ms")

    async with talk(agent()) as t:
        await resumable(t)
        await t.hears("hello")
        await t.says("Good")
        await t.server.says(goAway={"timeLeft": "30s"})
        await t.rests()
        assert [t.state.get(key) for key in left] == ["30s", 30_000]
        await t.says(" day.")
        await t.ends()
        await t.connects_again()
        assert t.state["session:go_away_received"] is False
        assert [key for key in left if key in t.state] == []


async def test_a_connection_is_left_just_before_the_server_closes_it_whatever_goes_on() -> None:
    async with talk(agent()) as t:
        await resumable(t)
        await t.hears("hello")
        await t.says("Well")
        await t.server.says(goAway={"timeLeft": "10s"})
        await t.passes(7.9)
        assert t.all(ev.ConnectionClosed) == []
        await t.passes(0.3)
        assert len(t.all(ev.ConnectionClosed)) == 1
        await t.connects_again()


async def test_what_the_server_refuses_for_good_is_not_tried_again() -> None:
    async with talk(agent()) as t:
        await t.server.closes(1011, "You exceeded your current quota")
        await t.passes(60)
        assert t.all(ev.SessionState)[-1].word == "error"
    assert len(t.all(ev.ConnectionOpening)) == 1


async def test_without_a_console_attempts_are_given_up_after_a_minute() -> None:
    async with talk(agent()) as t:
        await t.server.closes(1011)
        while t.all(ev.SessionState)[-1].word != "error":
            await t.connects_again()
            await t.passes(3)
            await t.server.closes(1011)
            await t.rests()
        assert t.all(ev.LinkGivenUp)[-1].reason == "passing"
        assert sum(len(kind) for kind in (t.all(ev.LinkRestarting), t.all(ev.LinkGivenUp))) > 4


async def test_an_answer_that_a_lost_connection_cut_ends_its_turn_as_interrupted() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.says("Good")
        await t.server.closes(1011)
        await t.connects_again()
        await t.turn("again", "Good day.")
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["interrupted", "complete"]


async def test_a_background_result_is_given_to_the_next_connection() -> None:
    @tool(background=True)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(5)
        return "found"

    async with talk(agent().tools(search)) as t:
        await t.calls("search")
        await resumable(t)
        await t.server.closes(1011)
        await t.connects_again()
        await t.passes(6)
        assert [told[1] for told in t.sent("answer")] == ["c1"]


async def test_state_and_phase_outlive_the_connection() -> None:
    async with talk(phased()) as t:
        await t.writes(go=True)
        await t.server.closes(1011)
        await t.connects_again()
        assert (t.handle.phase, t.phases) == ("second", ["first", "second"])


async def test_typed_texts_wait_for_the_connection_and_for_what_the_model_has_to_know() -> None:
    async with talk(agent()) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        await t.server.closes(1011)
        await t.rests()
        await t.types("still there?")
        await t.connects_again()
        assert [told[0] for told in t.wire] == ["model context", "text"]
