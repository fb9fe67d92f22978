"""Steering frame by frame, and the order of the work at a turn's end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import Talk, agent, silence, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    ContextDelivery,
    DeferredWriter,
    FunctionExtractor,
    InstructionModifier,
    Live,
    MemoryPersistence,
    PendingContext,
    Phase,
    State,
    SteeringMode,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    Watcher,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.definition.definition import InstructionRoute

ANGRY = InstructionModifier.when(key("app:angry"), "Stay calm.")


def phased(**more: Any) -> Live:
    """Return two phases; `app:go` leads from the first to the second."""
    return agent().phase(
        Phase("first", "One.", transitions=Transition("second", key("app:go")), modifiers=ANGRY),
        Phase("second", "Two.", terminal=True, modifiers=ANGRY, **more),
    )


async def goes_on(t: Talk) -> None:
    """Run two turns, with `app:go` set before the first ends."""
    t.server.frames.clear()
    await t.writes(go=True)
    await t.turn()
    await t.turn()


async def test_in_the_instruction_mode_a_transition_replaces_the_instruction_once() -> None:
    async with talk(phased()) as t:
        await goes_on(t)
        assert t.wire == [("instruction", "Be brief.\n\nTwo.")]


async def test_in_the_context_mode_the_instruction_is_never_touched() -> None:
    async with talk(phased().steering(SteeringMode.CONTEXT_INJECTION)) as t:
        await goes_on(t)
        assert t.setup["systemInstruction"]["parts"][0]["text"] == "Be brief."
        assert t.wire == [("model context", "Two.")]


async def test_in_the_hybrid_mode_a_modifier_is_told_once_and_not_in_the_instruction_too() -> None:
    async with talk(phased().steering(SteeringMode.HYBRID)) as t:
        t.server.frames.clear()
        await t.writes(angry=True, go=True)
        await t.turn()
        await t.turn()
        assert sorted(t.wire) == [("instruction", "Be brief.\n\nTwo."), ("model context", "Stay calm.")]


async def test_context_that_did_not_change_is_not_sent_again() -> None:
    shown = ContextBuilder().section("Caller").field("user:name", "Name").as_modifier()
    of = agent().phase(Phase("first", "One.", modifiers=shown)).steering(SteeringMode.CONTEXT_INJECTION)

    async with talk(of) as t:
        t.server.frames.clear()
        t.state.set("user:name", "Ada")
        for _ in range(4):
            await t.turn()
        t.state.set("user:name", "Bo")
        await t.turn()
        assert t.wire == [("model context", "[Caller] Name: Ada."), ("model context", "[Caller] Name: Bo.")]


async def test_deferred_context_goes_out_just_before_the_users_next_input() -> None:
    of = phased().steering(SteeringMode.CONTEXT_INJECTION, ContextDelivery.DEFERRED)

    async with talk(of) as t:
        await goes_on(t)
        assert t.wire == []
        await t.types("and now?")
        assert t.wire == [("model context", "Two."), ("text", "and now?")]
    assert [sent.queued for sent in t.all(ev.ContextSent) if "Two." in sent.texts] == [True, False]


async def test_a_prompt_takes_the_context_that_waits_with_it() -> None:
    of = phased(prompt_on_enter=True).steering(SteeringMode.CONTEXT_INJECTION, ContextDelivery.DEFERRED)

    async with talk(of) as t:
        await goes_on(t)
        assert t.wire == [("model context", "Two."), ("prompt",)]


async def test_an_amendment_is_added_and_taken_back_when_it_ends() -> None:
    def amend(state: State) -> str | None:
        return "Be extra kind." if state.get("app:sad") else None

    async with talk(agent().on("instruction_amendment", amend)) as t:
        await t.writes(sad=True)
        await t.turn()
        await t.writes(sad=False)
        await t.turn()
        assert t.wire == [("instruction", "Be brief.\n\nBe extra kind."), ("instruction", "Be brief.")]


async def test_an_amendment_is_part_of_what_a_connection_begins_with() -> None:
    async with talk(agent().on("instruction_amendment", lambda state: "Be kind.")) as t:
        setup = t.setup
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nBe kind."
        assert t.wire == []


async def test_what_is_done_on_entering_is_computed_before_the_model_is_told() -> None:
    def entered(state: State) -> None:
        state.set("app:price", 7)

    price = InstructionModifier.with_state("derived:total", label="Bill")
    total = ComputedVar("total", lambda state: state.get("app:price", 0) * 2, "app:price")
    of = agent().computed(total).phase(*two_phases(key("app:mood") == "glad", on_enter=entered, modifiers=price))

    async with talk(of.extract(FunctionExtractor(function=lambda window: {"mood": "glad"}, name="mood"))) as t:
        await t.turn()
        assert t.wire == [("instruction", "Be brief.\n\nTwo.\n\n[Bill: total=14]")]


async def test_context_that_waits_goes_out_ahead_of_the_users_audio(tmp_path: Path) -> None:
    of = agent().phase(Phase("only", "One.")).steering(SteeringMode.CONTEXT_INJECTION, ContextDelivery.DEFERRED)
    async with talk(of, audio=lambda: FileAudio(silence(tmp_path / "mic.wav"), None)) as t:
        await t.passes(0.5)
        assert [told[0] for told in t.wire[:2]] == ["model context", "audio"]


async def test_a_template_replaces_everything_and_is_sent_once() -> None:
    def template(state: State) -> str | None:
        return "SYSTEM" if state.get("app:on") else None

    async with talk(phased().on("instruction_template", template)) as t:
        t.server.frames.clear()
        await t.writes(on=True, go=True)
        await t.turn()
        await t.turn()
        assert t.wire == [("instruction", "SYSTEM")]


async def test_an_instruction_written_past_the_steering_is_known_and_set_right_at_the_next_turn() -> None:
    async with talk(agent()) as t:
        t.handle.writer().update_instruction("Other.")
        await t.turn()
        assert [frame for frame in t.wire if frame[0] == "instruction"] == [
            ("instruction", "Other."),
            ("instruction", "Be brief."),
        ]


async def test_in_the_context_mode_a_template_is_told_as_context_and_once() -> None:
    template = agent().on("instruction_template", lambda state: "SYSTEM" if state.get("app:on") else None)
    async with talk(template.steering(SteeringMode.CONTEXT_INJECTION)) as t:
        t.server.frames.clear()
        await t.writes(on=True)
        await t.turn()
        await t.turn()
        assert t.wire == [("model context", "SYSTEM")]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("gemini-3.8-live", ("instruction", "Be brief.\n\nTwo.")),
        ("gemini-2.5-flash-native-audio", ("user context", "[Instruction] Be brief.\n\nTwo.")),
    ],
)
async def test_an_instruction_travels_as_the_model_takes_it(model: str, told: tuple[str, str]) -> None:
    async with talk(phased().model(model)) as t:
        await goes_on(t)
        assert t.wire == [told]


async def test_the_route_of_an_instruction_can_be_overridden() -> None:
    async with talk(phased().instruction_route("user_note")) as t:
        await goes_on(t)
        assert t.wire == [("user context", "[Instruction] Be brief.\n\nTwo.")]
    assert [update.via for update in t.all(ev.InstructionUpdated)] == ["setup", "user_note"]


@pytest.mark.parametrize(
    ("model", "route"),
    [
        ("gemini-3.8-live", "system_content"),
        ("gemini-2.5-flash-native-audio", "context_update"),
        ("gemini-3.1-flash-live-preview", "user_note"),
    ],
)
async def test_a_route_that_the_model_does_not_take_is_refused_before_anything_is_opened(
    model: str, route: InstructionRoute
) -> None:
    of = phased().model(model).instruction_route(route)
    with pytest.raises(AgentError, match=f"{model} takes no instruction by {route}"):
        async with talk(of, begins=False):
            raise AssertionError("there is no session")
    assert of.ignored_settings() == [f"{model} takes no instruction by {route}: connecting will fail"]


async def test_a_model_that_takes_an_instruction_only_in_its_setup_gets_a_new_connection() -> None:
    async with talk(phased().instruction_route("reconnect")) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.writes(go=True)
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nTwo."
        assert setup["sessionResumption"]["handle"] == "h-1"


async def test_an_instruction_set_by_the_program_is_not_lost_to_the_next_turn() -> None:
    async with talk(phased()) as t:
        t.server.frames.clear()
        t.handle.update_instruction("Be long.")
        await t.rests()
        assert t.wire == [("instruction", "Be long.\n\nOne.")]
        await t.turn()
        assert t.wire == [("instruction", "Be long.\n\nOne.")]


async def test_steering_that_cannot_be_sent_is_sent_when_it_can() -> None:
    async with talk(phased()) as t:
        await t.server.closes(1011, "try later")
        await t.writes(go=True)
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nTwo."


async def test_a_greeting_lets_the_model_speak_first_and_only_once() -> None:
    async with talk(agent().greeting("Greet the caller.")) as t:
        assert t.wire == [("user context", "[Context] Greet the caller."), ("prompt",)]
        await t.says("Hello!")
        await t.ends()
        await t.server.closes(1011)
        await t.connects_again()
        assert "prompt" not in [told[0] for told in t.wire]


async def test_between_context_and_the_prompt_it_is_for_nothing_is_sent() -> None:
    async with talk(phased(prompt_on_enter="Say it now.")) as t:
        t.server.frames.clear()
        await t.writes(go=True)
        await t.turn()
        kinds = [told[0] for told in t.wire]
        assert kinds[kinds.index("prompt") - 1] == "model context"


async def test_context_waits_in_one_place_and_its_writer_is_the_programs_too() -> None:
    async with talk(phased().steering(SteeringMode.CONTEXT_INJECTION, ContextDelivery.DEFERRED)) as t:
        agent = t.stage.agent
        assert isinstance(agent.context_queue, PendingContext)
        assert isinstance(agent.user_writer, DeferredWriter)
        writer = t.handle.writer()
        await t.writes(go=True)
        assert agent.context_queue.has_context
        writer.send_text("hello")
        await t.rests()
        assert t.wire[-2:] == [("model context", "Two."), ("text", "hello")]


async def test_the_end_of_a_turn_is_worked_through_in_its_order() -> None:
    order: list[str] = []

    def boundary(state: State, writer: DeferredWriter) -> None:
        order.append(f"on_turn_boundary, turns counted: {state.get('session:turn_count', 0)}")

    of = (
        agent()
        .extract(FunctionExtractor(function=lambda window: {"mood": "glad"}, name="mood"))
        .watch(Watcher(key("app:mood").changed(), lambda: order.append("watcher"), name="mood", blocking=True))
        .pattern(TemporalPattern("each", TurnCountDetector(True, 1), lambda: order.append("pattern"), blocking=True))
        .phase(*two_phases(key("app:mood") == "glad", on_enter=lambda: order.append("on_enter"), prompt_on_enter=True))
        .on("output_transcript", lambda text, final: order.append("final words") if final else None)
        .on("extracted", lambda name, value: order.append("on_extracted"))
        .on("turn_boundary", boundary)
        .on("turn_complete", lambda turn: order.append("on_turn_complete"))
        .persistence(MemoryPersistence())
    )

    async with talk(of) as t:
        await t.turn()
    assert order == [
        "final words",
        "watcher",
        "pattern",
        "on_enter",
        "on_turn_boundary, turns counted: 1",
        "on_turn_complete",
        "on_extracted",
    ]
    begun = t.events.index("turn.completed")
    aside = ("state.changed", "session.state", "playback.drained", "speech.changed")
    told = [kind for kind in t.events[begun:] if kind not in aside]
    assert told[: told.index("snapshot.saved") + 1] == [
        "turn.completed",
        "extraction.finished",
        "promotion.decided",
        "watcher.fired",
        "pattern.fired",
        "phase.entered",
        "send.intended",
        "instruction.updated",
        "prompt.changed",
        "prompt.changed",
        "turn.measured",
        "snapshot.saved",
    ]


async def test_the_wire_sees_instruction_then_context_then_the_prompt() -> None:
    async with talk(phased(tools=(), on_enter_context="They want it.", prompt_on_enter=True)) as t:
        t.server.frames.clear()
        await t.writes(go=True)
        await t.turn()
        assert t.wire == [
            ("instruction", "Be brief.\n\nTwo."),
            ("model context", "[Tools] No tool may be used now."),
            ("model context", "They want it."),
            ("prompt",),
        ]


async def test_of_deferred_texts_only_those_that_still_apply_are_sent() -> None:
    of = phased().steering(SteeringMode.CONTEXT_INJECTION, ContextDelivery.DEFERRED)
    async with talk(of) as t:
        await t.writes(angry=True)
        await t.turn()
        await t.writes(angry=False)
        await t.turn()
        await t.types("well")
        assert t.wire == [("model context", "One."), ("text", "well")]


async def test_context_that_waited_for_a_call_goes_out_ahead_of_newer_context() -> None:
    async def slow() -> None:
        """Wait."""
        await asyncio.sleep(1)

    async with talk(agent().tools(slow)) as t:
        await t.calls("slow")
        t.handle.send_context("Nine euros.")
        await t.passes(2)
        t.handle.send_context("Twelve euros now.")
        await t.rests()
        assert t.sent("model context") == [("model context", "Nine euros."), ("model context", "Twelve euros now.")]


async def test_context_that_holds_no_more_when_newer_context_is_sent_is_never_sent() -> None:
    def book(state: State) -> None:
        """Book."""
        state.set("app:go", True)

    phases = (
        Phase("ask", "Ask.", transitions=Transition("pay", key("app:go"))),
        Phase("pay", "Take 90 euros.", transitions=Transition("free", key("app:voucher"))),
        Phase("free", "Take no money.", terminal=True),
    )
    async with talk(agent().tools(book).phase(*phases).steering("context_injection")) as t:
        t.server.frames.clear()
        await t.calls("book")
        await t.says("Booked, ")
        await t.writes(voucher=True)
        await t.says("good.")
        await t.ends()
        assert t.sent("model context") == [("model context", "Take no money.")]


@pytest.mark.parametrize("resumed", [False, True])
async def test_in_a_new_process_what_a_resumed_model_was_told_is_called_off(resumed: bool) -> None:
    vip = InstructionModifier.when(key("temp:vip"), "Everything is free.")
    of = agent().in_every_phase(vip).steering("hybrid").persistence(MemoryPersistence(), "one")
    async with talk(of) as t:
        t.state.set("temp:vip", True)
        await t.rests()
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1" if resumed else "", "resumable": resumed})
        await t.rests()
    async with talk(of) as t:
        assert ("handle" in t.setup["sessionResumption"]) is resumed
        assert t.wire == ([("model context", "[No longer applies] Everything is free.")] if resumed else [])
