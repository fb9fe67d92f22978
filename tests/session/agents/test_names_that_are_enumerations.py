"""Names, keys and texts of an agent may be members of an enumeration of texts."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from tests.session.talking import agent, talk

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    MemoryPersistence,
    Need,
    Phase,
    RateDetector,
    ReactorRule,
    State,
    StateKey,
    TemporalPattern,
    Transition,
    Watcher,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.state.reading import ReadRecorder


class Of(str, Enum):  # noqa: UP042 - formatting a StrEnum gives its value
    """Texts of a program, which formatting shows by their names."""

    HOUSE = "house"
    BRIEF = "Be brief."
    HALL = "hall"
    ATTIC = "attic"
    LAMP = "app:lamp"
    OPEN = "app:open"
    NAME = "user:name"
    BRIGHT = "bright"
    RING = "ring"
    SEEK = "seek"
    FARE = "fare"
    TURN = "turn_complete"
    ON = "on"


def house(store: MemoryPersistence) -> Live:
    """Return an agent all of whose names and texts are members."""

    @tool(name=Of.RING, description=Of.BRIEF)
    def ring(state: State) -> dict[Any, Any]:
        state.set(Of.OPEN, True)
        return {Of.FARE: Of.ON}

    attic = Phase(Of.ATTIC, Of.BRIEF, requires=Of.OPEN, presents=Of.FARE, on_enter_context=Of.BRIEF, terminal=True)
    hall = Phase(
        Of.HALL,
        Of.BRIEF,
        needs=Need(Of.OPEN, Of.FARE),
        tools=Of.RING,
        transitions=Transition(Of.ATTIC, key(Of.OPEN), because=Of.BRIEF),
    )
    return (
        Live.builder(Of.HOUSE)
        .description(Of.BRIEF)
        .instruction(Of.BRIEF)
        .phrases(Of.BRIEF)
        .tools(ring)
        .state(StateKey(Of.NAME, str, description=Of.FARE), values={Of.LAMP: Of.ON})
        .computed(ComputedVar(Of.BRIGHT, lambda state: state.get(Of.LAMP), depends_on=Of.LAMP))
        .watch(Watcher(key(Of.OPEN).changed(), lambda: None, name=Of.RING))
        .pattern(TemporalPattern(Of.SEEK, RateDetector("turn.completed", 9, 9), lambda: None))
        .extract(
            FunctionExtractor(
                lambda window: {Of.FARE: Of.ON},
                name=Of.SEEK,
                promotions=[FieldPromotion.overwrite(Of.FARE).to(Of.LAMP)],
            )
        )
        .rule(ReactorRule(Of.FARE, lambda event, voice, state: []))
        .phase(hall, attic)
        .initial_phase(Of.HALL)
        .in_every_phase(
            InstructionModifier.when(key(Of.LAMP) == Of.ON, Of.FARE),
            InstructionModifier.with_state(Of.LAMP, label=Of.FARE),
            ContextBuilder().section(Of.FARE).field(Of.LAMP, Of.FARE).as_modifier(),
        )
        .on(Of.TURN, lambda turn: None)
        .persistence(store, Of.FARE)
    )


async def test_an_agent_whose_names_are_members_works_as_one_with_texts() -> None:
    store = MemoryPersistence()
    async with talk(house(store)) as t:
        await t.turn()
        await t.calls("ring")
        await t.says("It is open.")
        await t.ends()
        assert t.phases == ["hall", "attic"]
        assert t.sent("answer")[0][2] == {"fare": "on"}
        assert t.state["session:presented:fare"] is True
        assert {(made.key, made.accepted) for made in t.all(ev.PromotionDecided)} == {("app:lamp", True)}
        assert t.failures() == []
        told = json.dumps([t.setup, t.server.frames]) + repr(t.stage.sink.events)
        assert "Of." not in told
    assert await store.load("fare") is not None


def test_state_reads_a_bare_name_that_is_a_member() -> None:
    state = State()
    state.set_derived("bright", 1)
    recorder = ReadRecorder(state)
    assert (state.get(Of.BRIGHT), recorder.get(Of.BRIGHT), Of.BRIGHT in state) == (1, 1, True)
    assert [type(name) for name in recorder.keys_read] == [str]


async def test_a_program_names_a_callback_by_a_member() -> None:
    heard: list[Any] = []
    async with talk(agent().on(Of.TURN, heard.append)) as t:
        await t.turn()
        assert len(heard) == 1
