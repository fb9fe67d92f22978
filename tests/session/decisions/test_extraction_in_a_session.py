"""Extraction beside a conversation: triggers, windows and promotion of findings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel
from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import (
    ExtractionTrigger,
    FieldPromotion,
    FunctionExtractor,
    Live,
    LlmExtractor,
    MergePolicy,
    Phase,
    ScriptedTextModel,
    State,
    TextModel,
    TextRequest,
    TranscriptWindow,
    Transition,
    TurnExtractor,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.extraction import (
    AFTER_TOOL_CALL,
    EVERY_TURN,
    ON_GENERATION_COMPLETE,
    ON_PHASE_CHANGE,
    interval,
)


class Order(BaseModel):
    """Order of the caller."""

    dish: str | None = None
    count: int | None = None
    confirmed: bool | None = None


def reply(**fields: Any) -> str:
    """Return the reply of a text model."""
    return json.dumps(fields)


def asked(trigger: ExtractionTrigger, seen: list[TranscriptWindow]) -> FunctionExtractor:
    """Return an extractor that records its windows."""

    async def reads(window: TranscriptWindow) -> dict[str, Any]:
        seen.append(window)
        return {"asked": len(seen)}

    return FunctionExtractor(function=reads, name="reads", trigger=trigger)


def ping() -> str:
    """Ping."""
    return "pong"


async def test_what_a_text_model_finds_in_a_turn_becomes_state() -> None:
    model: TextModel = ScriptedTextModel([reply(dish="soup", count=2)])

    async with talk(agent().extract(LlmExtractor(Order)), text_model=model) as t:
        await t.turn("two soups please")
        assert (t.state["app:dish"], t.state["app:count"]) == ("soup", 2)
        assert t.handle.extracted("Order") == {"dish": "soup", "count": 2}


async def test_the_text_model_is_asked_about_this_turn_with_the_schema() -> None:
    model = ScriptedTextModel([reply()])

    async with talk(agent().extract(LlmExtractor(Order)), text_model=model) as t:
        await t.turn("two soups please", "Two soups.")
    request: TextRequest = model.requests[0]
    assert "two soups please" in request.text
    assert "Two soups." in request.text
    assert request.schema is not None
    assert set(request.schema["properties"]) == {"dish", "count", "confirmed"}


async def test_findings_of_a_turn_move_the_conversation_at_its_end() -> None:
    phases = (
        Phase("ask", "Ask.", transitions=Transition("done", key("app:dish").is_set())),
        Phase("done", "Done.", terminal=True),
    )

    async with talk(
        agent().phase(*phases).extract(LlmExtractor(Order)), text_model=ScriptedTextModel([reply(dish="x")])
    ) as t:
        await t.turn("soup")
        assert t.handle.phase == "done"


@pytest.mark.parametrize("said", ["", "turn"])
async def test_a_turn_in_which_nothing_was_said_is_not_read(said: str) -> None:
    seen: list[TranscriptWindow] = []

    async with talk(agent().extract(asked(EVERY_TURN, seen))) as t:
        if said:
            await t.turn()
        await t.says(" ")
        await t.server.says(serverContent={"turnComplete": True})
        await t.rests()
    assert len(seen) == (2 if said else 1)


async def test_an_interval_counts_turns() -> None:
    seen: list[TranscriptWindow] = []
    counts = []

    async with talk(agent().extract(asked(interval(2), seen))) as t:
        for _ in range(5):
            await t.turn()
            counts.append(len(seen))
    assert counts == [0, 1, 1, 2, 2]


async def test_after_a_tool_call_the_call_and_its_result_are_read_in_the_first_turn_too() -> None:
    seen: list[TranscriptWindow] = []

    async with talk(agent().tools(ping).extract(asked(AFTER_TOOL_CALL, seen))) as t:
        await t.hears("ping it")
        await t.calls("ping")
    (turn,) = seen[0].turns
    assert (turn.user, [call.result for call in turn.tool_calls]) == ("ping it", ['{"output": "pong"}'])


async def test_a_phase_change_is_read_after_the_phase_was_entered() -> None:
    phases = []

    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.hears("go")
        await t.writes(go=True)

    async def reads(window: TranscriptWindow) -> dict[str, Any]:
        phases.append(kept[0].handle.phase)
        return {}

    kept: list[Talk] = []

    of = agent().phase(*two_phases())
    async with talk(
        of.extract(FunctionExtractor(function=reads, name="reads", trigger=ON_PHASE_CHANGE)), begins=False
    ) as t:
        kept.append(t)
        await scenario(t)
    assert phases == ["second"]


async def test_when_the_model_has_finished_generating_the_open_turn_is_read() -> None:
    seen: list[TranscriptWindow] = []

    async with talk(agent().extract(asked(ON_GENERATION_COMPLETE, seen))) as t:
        await t.hears("hello")
        await t.says("Good day.")
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        assert t.all(ev.TurnCompleted) == []
    assert [turn.model for turn in seen[0].turns] == ["Good day."]


async def test_a_slow_extractor_does_not_delay_the_conversation_and_counts_when_it_comes() -> None:
    async def reads(window: TranscriptWindow) -> dict[str, Any]:
        await asyncio.sleep(3)
        return {"mood": "glad"}

    of = agent().extract(FunctionExtractor(function=reads, name="mood")).phase(*two_phases(key("app:mood").is_set()))

    async with talk(of) as t:
        await t.turn()
        await t.passes(1)
        assert t.state["session:turn_count"] == 1
        assert t.handle.phase == "first"
        await t.passes(3)
        assert t.handle.phase == "second"


async def test_what_an_extractor_finds_after_its_deadline_is_discarded_and_told() -> None:
    async def reads(window: TranscriptWindow) -> dict[str, Any]:
        await asyncio.sleep(30)
        return {"mood": "glad"}

    async with talk(agent().extract(FunctionExtractor(function=reads, name="mood", deadline_s=2))) as t:
        await t.turn()
        await t.passes(40)
        assert "app:mood" not in t.state
    (failed,) = t.all(ev.ExtractionFailed)
    assert (failed.extractor, failed.ms, failed.raised_at) == ("mood", 2000, "")


async def test_an_extractor_that_fails_is_an_event_and_reaches_its_callback() -> None:
    told: list[str] = []

    async def reads(window: TranscriptWindow) -> dict[str, Any]:
        raise RuntimeError("boom")

    of = agent().extract(FunctionExtractor(function=reads, name="mood"))
    async with talk(of.on("extraction_error", lambda name, text: told.append(f"{name}: {text}"))) as t:
        await t.turn()
    assert told == ["mood: RuntimeError: boom"]
    (failed,) = t.all(ev.ExtractionFailed)
    line = reads.__code__.co_firstlineno + 1
    assert (failed.raised_at, failed.merged) == (f"test_extraction_in_a_session.py:{line}", 0)


async def test_an_extraction_says_which_turn_it_is_about_also_when_later_turns_have_asked_again() -> None:
    async def reads(window: TranscriptWindow) -> dict[str, Any]:
        await asyncio.sleep(3)
        return {"mood": window.turns[-1].user}

    async with talk(agent().extract(FunctionExtractor(function=reads, name="mood"))) as t:
        for said in ("one", "two", "three"):
            await t.turn(said)
            await t.passes(0.6)
        await t.passes(10)
    found = [(one.of_turn, one.value["mood"], one.merged) for one in t.all(ev.ExtractionFinished)]
    assert found == [(1, "one", 0), (3, "three", 1)]


async def test_an_answer_that_is_not_json_is_told_without_the_raw_text() -> None:
    async with talk(agent().extract(LlmExtractor(Order)), text_model=ScriptedTextModel(["x" * 5000])) as t:
        await t.turn()
    (failed,) = t.all(ev.ExtractionFailed)
    assert "is not JSON" in failed.reason
    assert len(failed.reason) < 400


async def test_a_field_is_promoted_by_its_rule_and_the_others_are_not() -> None:
    rules = (FieldPromotion.keep_known("dish").to("user:dish"),)
    model = ScriptedTextModel([reply(dish="soup", count=2), reply(dish="cake")])

    async with talk(agent().extract(LlmExtractor(Order, promotions=rules)), text_model=model) as t:
        await t.turn()
        await t.turn()
        assert t.state["user:dish"] == "soup"
        assert "app:count" not in t.state
    told = [(one.key, one.accepted, one.reason) for one in t.all(ev.PromotionDecided)]
    assert told == [("user:dish", True, "it was not known"), ("user:dish", False, "user:dish is known already")]


async def test_the_policy_of_a_rule_decides_whether_what_is_known_stays() -> None:
    rules = (FieldPromotion("dish", merge=MergePolicy.OVERWRITE),)
    model = ScriptedTextModel([reply(dish="soup"), reply(dish="cake")])

    async with talk(agent().extract(LlmExtractor(Order, promotions=rules)), text_model=model) as t:
        await t.turn()
        await t.turn()
        assert t.state["app:dish"] == "cake"


async def test_nobody_agrees_to_what_was_not_presented() -> None:
    rules = (FieldPromotion.true_only("confirmed").after_presented("terms"),)
    model = ScriptedTextModel([reply(confirmed=True), reply(confirmed=True)])
    seen = []

    of = agent().phase(
        Phase("first", "One.", transitions=Transition("terms", key("app:go"))),
        Phase("terms", "Two.", presents="terms", terminal=True),
    )
    async with talk(of.extract(LlmExtractor(Order, promotions=rules)).tools(_go), text_model=model) as t:
        await t.turn("yes")
        seen.append(t.state.get("app:confirmed"))
        t.handle.transition_to("terms")
        await t.turn("yes")
        seen.append(t.state.get("app:confirmed"))
    assert seen == [None, True]


def _offer() -> Live:
    async def read_consent(window: TranscriptWindow) -> dict[str, Any]:
        return {"agreed": "yes" in window.last_user}

    rules = (FieldPromotion.true_only("agreed").after_presented("terms"),)
    first = Phase("first", "One.", transitions=Transition("terms", key("app:go").is_true()))
    phases = (first, Phase("terms", "Two.", presents="terms", terminal=True))
    return agent().phase(*phases).extract(FunctionExtractor(function=read_consent, promotions=rules))


async def test_an_old_yes_read_again_in_a_turn_of_the_model_is_no_consent() -> None:
    async with talk(_offer()) as t:
        await t.turn("yes")
        t.handle.transition_to("terms")
        await t.rests()
        await t.says("It costs nine euros.")
        await t.ends()
        assert "app:agreed" not in t.state
        await t.turn("yes, gladly")
        assert t.state["app:agreed"] is True


async def test_a_yes_before_the_presentation_in_the_same_turn_is_no_consent() -> None:
    # The steps of the turn before still run when the user says it.
    done = asyncio.Event()

    async def slow(number: int) -> None:
        await done.wait()

    async with talk(_offer().on("turn_complete", slow)) as t:
        await t.turn("hello")
        t.handle.transition_to("terms")
        await t.hears("yes")
        done.set()
        await t.rests()
        await t.says("It costs nine euros.")
        await t.ends()
        assert t.phases == ["first", "terms"]
        assert "app:agreed" not in t.state


def _go(state: State) -> None:
    """Go."""
    state.set("app:go", True)


async def test_what_an_extractor_wrote_is_known_to_be_its_own() -> None:
    async with talk(agent().extract(LlmExtractor(Order)), text_model=ScriptedTextModel([reply(dish="soup")])) as t:
        await t.turn()
    (written,) = [change for change in t.all(ev.StateChanged) if change.key == "app:dish"]
    assert (written.origin, written.by, written.reason) == ("extractor", "Order", "dish")


async def test_an_extractor_of_ones_own_is_asked() -> None:
    class Mine:
        name = "mine"
        window = 1
        trigger = EVERY_TURN
        promotions: Sequence[FieldPromotion] = ()
        deadline_s = 1.0

        def should_extract(self, window: TranscriptWindow, /) -> bool:
            return "soup" in window.last_user

        async def extract(self, window: TranscriptWindow, model: TextModel | None, /) -> dict[str, Any]:
            return {"words": len(window.last_user.split())}

    mine: TurnExtractor = Mine()

    async with talk(agent().extract(mine)) as t:
        await t.turn("cake")
        assert "app:words" not in t.state
        await t.turn("a soup")
        assert t.state["app:words"] == 2


async def test_a_listener_that_changes_what_was_found_changes_no_event() -> None:
    of = agent().extract(FunctionExtractor(lambda window: {"rooms": ["real"]}, name="e"))
    async with talk(of.on("extracted", lambda name, found: found["rooms"].append("invented"))) as t:
        await t.turn()
        assert [finished.value for finished in t.all(ev.ExtractionFinished)] == [{"rooms": ["real"]}]
