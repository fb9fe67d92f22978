"""The model's view equals what holds, after random changes, calls and connections.

A reader of the wire keeps what a model would take to hold. Whenever the talk has come to rest and the user has typed a
text, that has to be what the agent's state gives.
"""

from __future__ import annotations

import asyncio
import random
import re
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import (
    ContextBuilder,
    ContextDelivery,
    InstructionModifier,
    Live,
    MemoryPersistence,
    Phase,
    State,
    SteeringMode,
    Transition,
    key,
)
from gemini_live_runtime.conversation.instructions import render_modifiers
from gemini_live_runtime.conversation.needs import as_needs
from gemini_live_runtime.conversation.steering import CALLED_OFF, NEEDED_NO_MORE, tool_advisory

SEEDS = 8
PARTS = 3
STEPS = 14

MODIFIERS = (
    InstructionModifier.with_state("app:plan"),
    InstructionModifier.with_state("temp:coupon", "app:score"),
    InstructionModifier.when(key("temp:slow"), "[Note: speak slowly]"),
    InstructionModifier.when(key("app:child"), "[Note: the guest is a child]"),
    InstructionModifier.when(key("app:vip"), "Everything is free."),
    ContextBuilder().section("Caller").field("user:name", "Name").flag("app:known", "Known").as_modifier(),
)
KEYS = {
    "app:plan": ("gold", "silver"),
    "temp:coupon": ("half", "third"),
    "app:score": (1, 2),
    "temp:slow": (True,),
    "app:child": (True,),
    "app:vip": (True,),
    "user:name": ("Ada", "Bo"),
    "app:known": (True,),
    "app:room": (1, 2),
    "app:day": ("Monday",),
    "app:floor": (3,),
}
INSTRUCTIONS = {"a": "Phase a.", "b": "Phase b.", "c": "", "d": "Phase d."}
TOOLS = {"b": ("slow",), "c": ()}
NEEDS = {"a": ("app:room", "app:day"), "b": ("app:day", "app:floor")}


def change(chance: random.Random, state: State) -> None:
    """Change a key of a modifier, or the phase that is wanted."""
    if chance.random() < 0.25:
        state.set("app:phase", chance.choice(list(INSTRUCTIONS)))
        return
    name = chance.choice(list(KEYS))
    if name in state and chance.random() < 0.5:
        state.remove(name)
    else:
        state.set(name, chance.choice(KEYS[name]))


def steered(mode: SteeringMode, delivery: ContextDelivery, chance: random.Random, saved: MemoryPersistence) -> Live:
    """Return an agent with modifiers, phases that lead to each other, and a slow tool."""

    async def slow(state: State) -> str:
        """Change something, wait, change something."""
        change(chance, state)
        await asyncio.sleep(chance.choice((0.0, 1.0)))
        change(chance, state)
        return "done"

    phases = (
        Phase(
            name,
            text,
            tools=TOOLS.get(name),
            on_enter_context=f"Entered {name}.",
            prompt_on_enter=name == "d",
            needs=NEEDS.get(name, ()),
            transitions=[Transition(to, key("app:phase") == to) for to in INSTRUCTIONS if to != name],
        )
        for name, text in INSTRUCTIONS.items()
    )
    of = agent().tools(slow).phase(*phases).in_every_phase(*MODIFIERS).repair(1, 4)
    return of.steering(mode, delivery).persistence(saved, "one")


@dataclass(slots=True)
class Model:
    """Reader of the wire that keeps the context a model would take to hold."""

    instruction: str = ""
    phase: str = ""
    tools: str = tool_advisory(None)
    modifiers: set[str] = field(default_factory=set)
    notes: list[int] = field(default_factory=list)
    needed: set[str] = field(default_factory=set)
    """Needs that nudges asked for."""

    def reads(self, frame: tuple[Any, ...]) -> None:
        kind, *rest = frame
        if kind == "instruction":
            self.instruction = rest[0]
        elif kind == "model context":
            self._reads(rest[0])

    def _reads(self, line: str) -> None:
        ended = line.removeprefix(CALLED_OFF)
        if line.startswith("[Tools]"):
            self.tools = line
        elif line.startswith(NEEDED_NO_MORE):
            self.needed -= set(line.removeprefix(NEEDED_NO_MORE).rstrip(".").split(", "))
        elif line.startswith("[Still needed"):
            self.needed |= set(line.partition("] ")[2].removesuffix(". Ask for this next.").split(", "))
        elif line.startswith("note "):
            self.notes.append(int(line.removeprefix("note ")))
        elif ended.startswith("Phase"):
            self.phase = line if ended == line else "" if ended == self.phase else self.phase
        elif ended != line:
            self.modifiers.discard(ended)
        elif not line.startswith(("Entered", "[Conversation so far]", "[Latest part", "[Result of")):
            self.modifiers = {old for old in self.modifiers if not _renewed(old, line)} | {line}


def _renewed(old: str, new: str) -> bool:
    """Return True when `new` has values of all that `old` tells."""
    if not old.startswith(("[Context", "[Caller")) or old[:8] != new[:8]:
        return False
    names = re.compile(r"(\w+)(?:=|: )|(Known)")
    told, again = (set(names.findall(text.removeprefix("[Context: "))) for text in (old, new))
    return told <= again


@dataclass(slots=True)
class Script:
    """Random conversation in several processes."""

    mode: SteeringMode
    delivery: ContextDelivery
    chance: random.Random
    saved: MemoryPersistence = field(default_factory=MemoryPersistence)
    model: Model = field(default_factory=Model)
    read: int = 0
    """Frames of this connection that the model has read."""
    handles: dict[str, Model] = field(default_factory=dict)
    """Models as they were when the server gave each handle."""
    told: int = 0
    """Notes that the program has sent."""

    def catch_up(self, t: Talk) -> None:
        wire = t.wire
        for frame in wire[self.read :]:
            self.model.reads(frame)
        self.read = len(wire)

    def connected(self, setup: dict[str, Any]) -> None:
        # A handle stands for what the server knew when it gave it.
        handle = setup.get("sessionResumption", {}).get("handle", "")
        self.model = deepcopy(self.handles[handle]) if handle else Model()
        self.model.instruction = setup["systemInstruction"]["parts"][0]["text"]
        self.read = 0

    async def reconnect(self, t: Talk) -> None:
        if self.chance.random() < 0.5:
            await self.offers_handle(t)
        else:
            await t.server.says(sessionResumptionUpdate={"newHandle": "", "resumable": False})
        await t.rests()
        if self.chance.random() < 0.5:
            change(self.chance, t.state)
            await t.rests()
        self.catch_up(t)
        await t.server.closes(1011, "bye")
        if self.chance.random() < 0.5:
            change(self.chance, t.state)
        self.connected(await asyncio.wait_for(t.connects_again(), 60))

    async def offers_handle(self, t: Talk) -> None:
        self.catch_up(t)
        handle = f"h{len(self.handles)}"
        self.handles[handle] = deepcopy(self.model)
        await t.server.says(sessionResumptionUpdate={"newHandle": handle, "resumable": True})

    async def step(self, t: Talk) -> None:
        dice = self.chance.random()
        if dice < 0.35:
            change(self.chance, t.state)
            await t.rests()
        elif dice < 0.45:
            await t.calls(*self.chance.choice((("slow",), ("slow", "slow"))))
        elif dice < 0.6:
            await t.turn()
        elif dice < 0.65:
            await t.hears("hm")
        elif dice < 0.75:
            await t.says("so")
        elif dice < 0.8:
            await t.types("well")
        elif dice < 0.88:
            self.told += 1
            t.handle.send_context(f"note {self.told}")
            await t.rests()
        elif dice < 0.94:
            await t.passes(2)
        else:
            await self.reconnect(t)

    async def check(self, t: Talk) -> None:
        """Let everything end and type a text; the model knows what holds."""
        await t.passes(9)
        await t.says("so")
        await t.ends()
        await t.passes(9)
        await t.types("and now?")
        self.catch_up(t)
        phase = t.phases[-1]
        modifiers = render_modifiers(MODIFIERS, t.state).texts
        parts = ["Be brief."]
        if self.mode is not SteeringMode.CONTEXT_INJECTION:
            parts.append(INSTRUCTIONS[phase])
        if self.mode is SteeringMode.INSTRUCTION_UPDATE:
            parts += modifiers
        model = self.model
        assert model.instruction == "\n\n".join(part for part in parts if part)
        assert model.tools == tool_advisory(TOOLS.get(phase))
        assert model.phase == (INSTRUCTIONS[phase] if self.mode is SteeringMode.CONTEXT_INJECTION else "")
        assert model.modifiers == (set() if self.mode is SteeringMode.INSTRUCTION_UPDATE else set(modifiers))
        missing = {need.label for need in as_needs(NEEDS.get(phase, ())) if not need.is_met(t.state)}
        assert model.needed <= missing
        assert model.notes == sorted(model.notes)
        assert t.failures() == []

    async def run(self) -> None:
        for _ in range(PARTS):
            async with talk(steered(self.mode, self.delivery, self.chance, self.saved)) as t:
                self.connected(t.setup)
                for _ in range(STEPS):
                    await self.step(t)
                await self.check(t)
                if self.chance.random() < 0.5:
                    await self.offers_handle(t)
                    await t.turn()
                await self.check(t)


@pytest.mark.parametrize("delivery", ContextDelivery)
@pytest.mark.parametrize("mode", SteeringMode)
async def test_the_model_knows_what_holds_whatever_happened(mode: SteeringMode, delivery: ContextDelivery) -> None:
    for seed in range(SEEDS):
        try:
            await Script(mode, delivery, random.Random(seed)).run()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
