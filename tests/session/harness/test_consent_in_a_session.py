"""Consent counts only when the user began to give it after the presentation."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import Talk, agent, silence, talk

from gemini_live_runtime import (
    FieldPromotion,
    FunctionExtractor,
    Live,
    MemoryPersistence,
    Phase,
    Transition,
    Watcher,
    key,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.conversation.extraction import EVERY_TURN, ExtractionTrigger, after_tool_call
from gemini_live_runtime.conversation.transcript import TranscriptWindow
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, WAIT_AFTER_VOICE_S


def offering(window: int = 1, trigger: ExtractionTrigger = EVERY_TURN) -> Live:
    """Return an agent that presents a price in the phase "offer".

    "app:agreed" is what it takes for consent.
    """

    async def reads(read: TranscriptWindow) -> dict[str, Any]:
        return {"agreed": "yes" in " ".join(turn.user for turn in read.turns)}

    rule = FieldPromotion.true_only("agreed").after_presented("price")
    return (
        agent()
        .extract(FunctionExtractor(reads, name="consent", window=window, trigger=trigger, promotions=[rule]))
        .phase(
            Phase("first", "One.", transitions=Transition("offer", key("app:go"))),
            Phase("offer", "It costs nine euros.", presents="price", terminal=True),
        )
    )


async def presents(t: Talk) -> None:
    """Enter the phase that presents the price."""
    await t.writes(go=True)
    assert t.phases[-1] == "offer"


async def answers(t: Talk) -> bool:
    """Let the model answer and end the turn; return True when the user has agreed."""
    await t.says("so")
    await t.ends()
    return t.state.get("app:agreed") is True


async def agrees(t: Talk) -> bool:
    """Let the user say yes and the model answer; return True when that counts."""
    await t.hears("yes")
    return await answers(t)


@pytest.mark.parametrize("ended", [False, True])
async def test_a_yes_that_was_being_said_when_the_price_was_presented_is_no_consent(ended: bool) -> None:
    async with talk(offering()) as t:
        await t.turn()
        await t.voice(True)
        if ended:
            await t.voice(False)
        await presents(t)
        assert not await agrees(t)
        assert await agrees(t)


async def test_the_local_mark_of_a_voice_is_enough() -> None:
    async with talk(offering()) as t:
        t.stage.session.audio_input.on_voice(True)
        await presents(t)
        await t.voice(True)
        assert not await agrees(t)


async def test_a_yes_whose_words_come_after_their_turn_is_no_consent() -> None:
    async with talk(offering()) as t:
        await t.voice(True)
        await t.voice(False)
        await t.says("fine")
        await t.ends()
        await presents(t)
        assert not await agrees(t)
        assert await agrees(t)


async def test_a_voice_that_goes_on_beyond_an_interruption_keeps_its_beginning() -> None:
    async with talk(offering()) as t:
        await t.voice(True)
        await t.hears("well")
        await t.says("I")
        await t.server.says(serverContent={"interrupted": True})
        await presents(t)
        assert not await agrees(t)


async def test_a_yes_in_two_breaths_begins_with_the_first() -> None:
    async with talk(offering()) as t:
        await t.voice(True)
        await t.voice(False)
        await presents(t)
        await t.passes(WAIT_AFTER_VOICE_S - 1)
        await t.voice(True)
        assert not await agrees(t)


async def test_the_words_of_a_first_breath_do_not_stand_for_those_of_the_second() -> None:
    async with talk(offering()) as t:
        await t.voice(True)
        await t.voice(False)
        await t.voice(True)
        await t.hears("well")
        await t.voice(False)
        await answers(t)
        await presents(t)
        assert not await agrees(t)
        assert await agrees(t)


@pytest.mark.parametrize("typed", [1, 2])
async def test_the_words_of_each_breath_are_awaited_beyond_turns_without_an_answer(typed: int) -> None:
    async with talk(offering()) as t:
        for _ in range(3):
            await t.voice(True)
            await t.voice(False)
        await t.hears("hm")
        await presents(t)
        for _ in range(typed):
            await t.types("well")
        await t.hears("yes")
        assert not await answers(t)
        if typed == 1:
            assert not await agrees(t)
        await t.passes(ANSWER_PATIENCE_S)
        assert await agrees(t)


NOISES = ("earlier", "answered", "endless", "endless, answered", "unmarked yes", "connection lost")


@pytest.mark.parametrize("noise", NOISES)
async def test_a_noise_before_the_presentation_does_not_keep_the_user_from_agreeing(noise: str) -> None:
    async with talk(offering()) as t:
        await t.voice(True)
        if noise in ("earlier", "answered", "unmarked yes"):
            await t.voice(False)
        await presents(t)
        if noise == "connection lost":
            await t.server.closes(1011, "bye")
            await asyncio.wait_for(t.connects_again(), 30)
        elif "answered" in noise:
            await answers(t)
        if noise in ("unmarked yes", "connection lost", "endless, answered"):
            await t.passes(ANSWER_PATIENCE_S)
        else:
            await t.passes(0 if noise == "answered" else WAIT_AFTER_VOICE_S)
            await t.voice(True)
        assert await agrees(t)


async def test_a_voice_that_begins_after_the_presentation_counts_whatever_came_before() -> None:
    async with talk(offering()) as t:
        await t.voice(True)
        await t.hears("hello")
        await t.voice(False)
        await presents(t)
        await answers(t)
        await t.voice(True)
        await t.voice(False)
        assert await agrees(t)


@pytest.mark.parametrize("connected_before", [False, True])
async def test_a_yes_typed_before_the_presentation_and_sent_after_it_is_no_consent(connected_before: bool) -> None:
    async with talk(offering(), begins=False) as t:
        if connected_before:
            await t.begins()
            await t.turn()
            await t.server.closes(1011, "bye")
            await t.rests()
        await t.types("yes")
        await presents(t)
        await (asyncio.wait_for(t.connects_again(), 30) if connected_before else t.begins())
        await t.passes(1)
        assert ("text", "yes") in t.wire
        assert not await answers(t)
        await t.types("yes")
        assert await answers(t)


async def test_a_yes_typed_without_a_connection_after_the_presentation_is_consent() -> None:
    async with talk(offering()) as t:
        await t.turn()
        await t.server.closes(1011, "bye")
        await presents(t)
        await t.types("yes")
        await asyncio.wait_for(t.connects_again(), 30)
        await t.passes(1)
        assert await answers(t)


async def test_a_refused_text_leaves_no_trace() -> None:
    async with talk(offering()) as t:
        inputs = t.stage.agent.input_times
        assert await t.commands(cmd.SendText(text=" ")) != ""
        await t.types("hello")
        assert inputs._typed == []


async def test_what_is_said_with_a_key_held_since_before_the_presentation_is_no_consent(tmp_path: Path) -> None:
    of = offering().turn_taking("push-to-talk")
    async with talk(of, audio=lambda: FileAudio(silence(tmp_path / "mic.wav"), None)) as t:
        await t.commands(cmd.SetMicrophone(on=True))
        await presents(t)
        await t.commands(cmd.SetMicrophone(on=False))
        assert not await agrees(t)
        await t.commands(cmd.SetMicrophone(on=True))
        assert await agrees(t)


@pytest.mark.parametrize("window", [1, 3])
async def test_an_old_yes_read_with_newer_words_is_no_consent(window: int) -> None:
    async def look() -> None:
        """Look."""

    triggers = (EVERY_TURN, after_tool_call("look"))
    for trigger in triggers:
        async with talk(offering(window, trigger).tools(look)) as t:
            await t.turn("yes")
            await presents(t)
            await t.hears("how much?")
            await t.calls("look")
            assert not await answers(t)
            await t.hears("yes")
            await t.calls("look")
            assert await answers(t)


async def test_a_yes_of_an_earlier_session_is_no_consent_to_what_it_presented_later() -> None:
    saved = MemoryPersistence()
    async with talk(offering(3).persistence(saved, "one")) as t:
        await t.turn("yes")
        await presents(t)
        await t.turn("hm")
    async with talk(offering(3).persistence(saved, "one")) as t:
        assert not await answers(t)
        await t.hears("how much?")
        assert not await answers(t)
        assert await agrees(t)
    assert t.all(ev.CodeFailed) == []


def ordering(window: int, read_s: float) -> Live:
    """Return an agent that presents its price in "review" each time the order is done.

    Reading consent takes `read_s` seconds.
    """

    async def reads(read: TranscriptWindow) -> dict[str, Any]:
        found = {"agreed": "yes" in " ".join(turn.user for turn in read.turns)}
        await asyncio.sleep(read_s)
        return found

    rule = FieldPromotion.true_only("agreed").after_presented("price")
    return (
        agent()
        .extract(FunctionExtractor(reads, name="consent", window=window, promotions=[rule]))
        .phase(
            Phase("order", "Take it.", clear_on_enter="app:agreed", transitions=Transition("review", key("app:done"))),
            Phase(
                "review",
                "Tell the price.",
                presents="price",
                clear_on_enter="app:done",
                transitions=Transition("order", key("app:more")),
            ),
        )
    )


@pytest.mark.parametrize("said", ["in the window", "read late", "begun before"])
async def test_a_yes_said_before_a_price_is_presented_again_is_no_consent_to_it(said: str) -> None:
    window = 3 if said == "in the window" else 1
    async with talk(ordering(window, read_s=2 if said == "read late" else 0)) as t:
        await t.writes(done=True)
        await t.turn("hm")
        await t.passes(3)
        await t.writes(more=True)
        if said == "begun before":
            await t.voice(True)
        else:
            await t.turn("yes please, wine too")
        await t.writes(more=False, agreed=None)
        await t.writes(done=True)
        if said == "begun before":
            await t.turn("yes")
        elif said == "in the window":
            await t.turn("how much is that?")
        await t.passes(3)
        assert t.phases == ["order", "review", "order", "review"]
        assert t.state.get("app:agreed") is None
        await t.turn("yes")
        await t.passes(3)
        assert t.state.get("app:agreed") is True


async def test_a_price_presented_again_renews_its_mark_and_sets_off_no_watcher() -> None:
    fired: list[object] = []
    seen = Watcher(key("session:presented:price").changed(), lambda: fired.append(1), name="seen", blocking=True)
    async with talk(ordering(1, 0).watch(seen)) as t:
        await t.writes(done=True)
        first = t.state.evidence("session:presented:price")
        await t.turn()
        await t.writes(more=True)
        await t.writes(more=False)
        await t.writes(done=True)
        again = t.state.evidence("session:presented:price")
    assert first is not None
    assert again is not None
    assert again.turn > first.turn
    assert again.sequence > first.sequence
    assert len(fired) == 1
