"""Results and faults of code that decides are read where nothing can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.session.decisions.deciding_code import (
    CLOSURES,
    Counts,
    Write,
    count,
    in_a_context_of_its_own,
    in_this_context,
    pattern,
    phases,
)
from tests.session.talking import agent, talk

from gemini_live_runtime import ComputedVar, InstructionModifier, Live, State, TemporalEvent
from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import MAX_FRAMES


class Dumped:
    """Value whose JSON is code of an author, as that of pydantic models is."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"n": self._write()}


class Listed(list[int]):
    """List whose reading is code of an author."""

    def __init__(self, write: Write) -> None:
        super().__init__([1])
        self._write = write

    def __iter__(self) -> Any:
        self._write()
        return super().__iter__()


class Said:
    """Result that is no text, and whose description is code of an author."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def __repr__(self) -> str:
        return f"<{self._write()}>"


class Waited(float):
    """Number whose comparison is code of an author."""

    write: Write

    def __le__(self, other: float) -> bool:
        return self.write() is None

    __ge__ = __le__


def waited(write: Write) -> Waited:
    seconds = Waited(0.5)
    seconds.write = write
    return seconds


class Described(Counts):
    """Detector whose deadline and progress are of an author's classes."""

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        return False

    def deadline(self, now: float) -> float | None:
        return waited(self.write)

    def progress(self, now: float) -> Any:
        return Said(self.write)


RESULTS: dict[str, Callable[[Write], Live]] = {
    "a computed model": lambda w: agent().computed(ComputedVar("n", lambda s: Dumped(w), "app:other")),
    "a computed list": lambda w: agent().computed(ComputedVar("n", lambda s: Listed(w), "app:other")),
    "an instruction": lambda w: agent().phase(*phases(first=lambda s: Said(w))),
    "a modifier": lambda w: agent().in_every_phase(InstructionModifier.custom(lambda s: Said(w))),  # type: ignore[arg-type,return-value]
    "a detector's": lambda w: pattern(Described(w)),
}


@pytest.mark.parametrize("what", RESULTS)
async def test_the_result_of_code_that_decides_cannot_write_as_it_is_read(what: str) -> None:
    held: list[State] = []

    def write() -> Any:
        return count(held[0]) if held else 0

    async with talk(RESULTS[what](write)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None


class OddTextError(Exception):
    """Exception whose text is code of an author."""

    write: Write

    def __str__(self) -> str:
        return f"{self.write()}"


@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own])
@pytest.mark.parametrize("what", CLOSURES)
async def test_the_text_of_a_fault_of_code_that_decides_cannot_write(what: str, run: Any) -> None:
    held: list[State] = []

    def fail() -> Any:
        fault = OddTextError()
        fault.write = lambda: run(count, held[0])
        raise fault if held else ValueError

    async with talk(CLOSURES[what](fail)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        assert "its text cannot be read" in t.failures()[-1].error


async def test_of_an_endless_recursion_the_innermost_calls_are_reported() -> None:
    def amend(state: State) -> str:
        return amend(state)

    async with talk(agent().on("instruction_amendment", amend)) as t:
        await t.turn()
        lines = [event.text for event in t.all(ev.Log)]
        assert 0 < len([line for line in lines if "in amend" in line]) <= MAX_FRAMES
        assert [line for line in lines if "RecursionError" in line]


async def test_a_fault_of_code_that_decides_is_counted() -> None:
    def amend(state: State) -> str:
        raise RuntimeError("on purpose")

    async with talk(agent().on("instruction_amendment", amend)) as t:
        await t.turn()
        assert {fault.where for fault in t.failures()} == {"instruction_amendment"}
        assert t.state.get("session:error_count") > 0
