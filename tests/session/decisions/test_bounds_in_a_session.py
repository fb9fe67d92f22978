"""However often state is written, decisions and messages are bounded."""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    InstructionModifier,
    Live,
    Phase,
    ReactorRule,
    State,
    SustainedDetector,
    TemporalPattern,
    Transition,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.throttle import BURST, PER_S


def counting(**transitions: Any) -> Live:
    """Return an agent whose instruction changes with each write of `app:n`."""
    return agent().phase(Phase("one", lambda s: f"Count {s.get('app:n')}.", terminal=True))


async def write(t: Talk, times: int) -> None:
    for n in range(times):
        await t.writes(n=n)


def instructions(t: Talk) -> list[str]:
    return [text.rpartition("\n")[2] for _, text in t.sent("instruction")]


async def test_in_a_turn_the_first_change_of_the_instruction_is_sent_and_the_newest_at_its_end() -> None:
    async with talk(counting()) as t:
        await t.hears("hello")
        await write(t, 30)
        assert instructions(t) == ["Count 0."]
        await t.says("fine")
        await t.ends()
        assert instructions(t) == ["Count 0.", "Count 29."]


async def test_of_a_tool_called_again_and_again_eight_changes_are_sent_and_the_newest_at_the_turns_end() -> None:
    @tool
    def bump(state: State) -> str:
        """Count."""
        state.modify("app:n", 0, lambda n: n + 1)
        return "ok"

    async with talk(counting().tools(bump).max_tool_steps(None)) as t:
        await t.hears("hello")
        for _ in range(9):
            await t.calls("bump")
            await t.passes(0.1)
        eight = [f"Count {n}." for n in range(1, 9)]
        assert (len(t.sent("answer")), instructions(t)) == (9, eight)
        await t.says("fine")
        await t.ends()
        assert instructions(t) == [*eight, "Count 9."]


async def test_a_tools_answer_follows_the_newest_instruction() -> None:
    @tool
    def look() -> str:
        """Look."""
        return "ok"

    async with talk(counting().tools(look)) as t:
        await t.hears("hello")
        await write(t, 3)
        await t.calls("look")
        assert instructions(t) == ["Count 0.", "Count 2."]
        assert t.wire[-1] == ("answer", "c1", {"output": "ok"})


async def test_each_change_of_phase_reaches_the_model_before_the_tools_answer() -> None:
    @tool
    def go_on(state: State) -> str:
        """Go on."""
        state.modify("app:n", 0, lambda n: n + 1)
        return "ok"

    phases = [Phase(f"p{n}", f"Phase {n}.", transitions=Transition(f"p{n + 1}", key("app:n") > n)) for n in range(12)]
    many = agent().tools(go_on).max_tool_steps(None).phase(*phases, Phase("p12", "End.", terminal=True))
    async with talk(many) as t:
        await t.hears("hello")
        for _ in range(12):
            await t.calls("go_on")
            await t.passes(0.1)
        kinds = [sent[0] for sent in t.wire]
        assert kinds == ["instruction", "answer"] * 8 + ["answer"] * 4
        await t.says("fine")
        await t.ends()
        assert instructions(t)[-1] == "End."


async def test_between_turns_the_newest_instruction_is_sent_within_a_second_and_quiet_waits_for_it() -> None:
    async with talk(counting()) as t:
        await t.turn()
        t.server.frames.clear()
        await write(t, 30)
        assert len(instructions(t)) == 4
        await t.handle.until_quiet()
        assert (len(instructions(t)), instructions(t)[-1]) == (5, "Count 29.")


async def test_what_the_user_types_follows_the_newest_instruction() -> None:
    async with talk(counting()) as t:
        await t.turn()
        t.server.frames.clear()
        await write(t, 30)
        await t.types("hello")
        assert t.wire[-2:] == [("instruction", "Be brief.\n\nCount 29."), ("text", "hello")]


async def test_what_the_user_types_in_an_open_turn_follows_the_newest_instruction() -> None:
    async with talk(counting()) as t:
        await t.hears("hello")
        await t.says("long")
        await write(t, 3)
        await t.types("what is it")
        assert instructions(t) == ["Count 0.", "Count 2."]
        assert t.wire[-1] == ("text", "what is it")


async def test_what_the_user_types_follows_the_newest_context() -> None:
    async with talk(counting().steering("context_injection")) as t:
        await write(t, 25)
        await t.types("hello")
        assert t.wire[-2:] == [("model context", "Count 24."), ("text", "hello")]


async def test_a_prompt_follows_the_newest_instruction() -> None:
    async with talk(counting()) as t:
        await write(t, 7)
        t.handle.prompt()
        await t.passes(3)
        assert t.wire[-2:] == [("instruction", "Be brief.\n\nCount 6."), ("prompt",)]


def counting_then(**of_second: Any) -> Live:
    """Return `counting` with a second phase, to which `app:go` leads."""
    first = Phase("one", lambda s: f"Count {s.get('app:n')}.", transitions=Transition("two", key("app:go")))
    return agent().phase(first, Phase("two", "Two.", terminal=True, **of_second))


async def test_between_turns_a_change_of_phase_is_sent_at_once_after_many_instructions() -> None:
    async with talk(counting_then()) as t:
        await write(t, 30)
        await t.writes(go=True)
        assert instructions(t) == ["Count 0.", "Count 1.", "Count 2.", "Count 3.", "Two."]


async def test_between_turns_changes_of_phase_are_paced_too() -> None:
    phases = [Phase(f"p{n}", f"Phase {n}.", transitions=Transition(f"p{n + 1}", key("app:n") >= n)) for n in range(12)]
    async with talk(agent().phase(*phases, Phase("p12", "End.", terminal=True))) as t:
        await write(t, 12)
        assert len(instructions(t)) == 8
        await t.handle.until_quiet()
        assert (len(instructions(t)), instructions(t)[-1]) == (9, "End.")


async def test_a_prompt_of_a_phase_follows_context_that_waited() -> None:
    of = counting_then(prompt_on_enter=True, on_enter_context="Welcome.").steering("context_injection")
    async with talk(of) as t:
        await write(t, 25)
        t.server.frames.clear()
        await t.writes(go=True)
        assert t.wire == [("model context", "Welcome."), ("model context", "Two."), ("prompt",)]


async def test_much_context_in_a_turn_does_not_withhold_the_instruction_of_a_phase() -> None:
    @tool
    def go(state: State) -> str:
        """Go on."""
        state.set("app:go", True)
        return "ok"

    of = agent().steering("hybrid").in_every_phase(InstructionModifier.with_state("app:n"))
    async with talk(of.tools(go).phase(*two_phases(on_enter_context="Welcome."))) as t:
        await t.hears("hello")
        await write(t, 25)
        t.server.frames.clear()
        await t.calls("go")
        assert t.wire == [("instruction", "Be brief.\n\nTwo."), ("answer", "c1", {"output": "ok"})]
        await t.says("fine")
        await t.ends()
        told = [text for _, text in t.sent("model context")]
        assert "n=24" in told[-1]
        assert told.count("Welcome.") == 1


async def test_context_that_changes_all_the_time_is_bounded_in_a_turn_and_the_newest_sent_at_its_end() -> None:
    of = agent().steering("context_injection").in_every_phase(InstructionModifier.with_state("app:n"))
    async with talk(of.phase(*two_phases())) as t:
        await t.turn()
        await t.hears("hello")
        t.server.frames.clear()
        await write(t, 50)
        assert len(t.sent("model context")) == 20
        await t.says("fine")
        await t.ends()
        assert len(t.sent("model context")) == 21
        assert "n=49" in t.wire[-1][1]


async def test_an_instruction_that_takes_a_new_connection_takes_one_at_the_end_of_the_turn() -> None:
    async with talk(counting().model("gemini-3.1-flash-live")) as t:
        again = asyncio.create_task(t.connects_again())
        await t.hears("hello")
        for n in range(9):
            await t.writes(n=n)
            await t.passes(1)
        assert not again.done()
        await t.says("fine")
        await t.ends()
        assert "Count 8." in str((await again)["systemInstruction"])


async def test_between_turns_new_connections_for_an_instruction_are_few() -> None:
    async with talk(counting().model("gemini-3.1-flash-live")) as t:
        await t.turn()
        setups = []

        async def connect() -> None:
            while True:
                setups.append(str((await t.connects_again())["systemInstruction"]))

        connecting = asyncio.create_task(connect())
        for n in range(10):
            await t.writes(n=n)
            await t.passes(1)
        await t.passes(10)
        connecting.cancel()
        assert len(setups) <= 4
        assert "Count 9." in setups[-1]


# -- code that decides and sets off what calls for its decision --------------------------------------------------------


class Loop:
    """Function that has `app:n` written, past the protection of deciding code."""

    def __init__(self, result: Any = False) -> None:
        self.state: State | None = None
        self.calls = 0
        self._result = result

    def __call__(self, *_: Any) -> Any:
        self.calls += 1
        if self.state is not None and self.calls < 10 * BURST:
            asyncio.get_running_loop().call_soon(self.state.set, "app:n", self.calls, context=Context())
        return self._result(self.calls) if callable(self._result) else self._result


TEXT = Loop("Count {}.".format)
LOOPS: dict[str, tuple[Loop, Live]] = {
    "a guard": (guard := Loop(), agent().phase(*two_phases(lambda s: guard()))),
    "an instruction": (TEXT, agent().phase(Phase("one", lambda s: TEXT(), terminal=True))),
    "a modifier": (TEXT, agent().in_every_phase(InstructionModifier.custom(lambda s: TEXT()))),
    "an amendment": (TEXT, agent().on("instruction_amendment", lambda state: TEXT())),
    "a computed value": (TEXT, agent().computed(ComputedVar("c", lambda s: TEXT(), depends_on="app:n"))),
    "a rule": (rule := Loop(()), agent().rule(ReactorRule("r", lambda e, v, s: rule()))),
    "a detector": (
        held := Loop(),
        agent().pattern(TemporalPattern("p", SustainedDetector(lambda s: held(), 1), lambda: None)),
    ),
}


@pytest.mark.parametrize("what", LOOPS)
async def test_code_that_decides_and_has_state_written_behind_its_back_is_paced_and_told(what: str) -> None:
    loop, of = LOOPS[what]
    loop.calls = 0
    async with talk(of) as t:
        await t.turn()
        t.server.frames.clear()
        loop.state = t.state
        await t.writes(n=1)
        await t.passes(1)
        called = loop.calls
        await t.passes(2)
        # A detector is asked in each of a settling's rounds, a guard once more to explain it.
        assert loop.calls - called <= 2 * PER_S * 10
        assert len(t.wire) <= 8
        told = [notice.text for notice in t.all(ev.Notice) if "written so often" in notice.text]
        assert len(told) == 1
        assert "last app:n by program" in told[0]
        loop.state = None


async def test_a_program_that_writes_very_often_has_its_last_state_evaluated() -> None:
    async with talk(agent().phase(*two_phases(key("app:n") == 5 * BURST))) as t:
        await t.turn()
        for n in range(5 * BURST):
            t.state.set("app:n", n + 1)
            await asyncio.sleep(0)
        await t.handle.until_quiet()
        assert t.handle.phase == "second"
