"""A session survives each fault of a server, with one line on the screen.

Sessions run in virtual time against the embedded server, which simulates the fault.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.faults.local_talk import LocalTalk, local_talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.local.faults import Fault

NONE_LOST = ("You typed one.", "You typed two.", "You typed three.")
OVERTAKEN = ("You", "You typed two.", "You typed three.")
FIRST_CUT = ("You", "typed one.", "You typed two.", "You typed three.")
"""Answers when the first breaks off: the model does not say again what was read of it."""
CONTINUED = r" The model was asked to go on with its answer\."
RESUMED = r" Connected again\. The server resumed the conversation\."
REBUILT = r" Connected again, to a new server session\. It was told the conversation so far\."
SENT_AGAIN = r" Your message had no answer when the connection was lost, and was sent again\."
ASKED = r" Your message had no answer when the connection was lost\. The model was asked to answer\."
FOUND = "look says found."


async def texts(t: LocalTalk) -> None:
    """Type three texts, each after the answer to the one before."""
    for text in ("one", "two", "three"):
        await t.types(text)


async def many_texts(t: LocalTalk) -> None:
    """Type ten texts, and another one after a pause."""
    for number in range(10):
        await t.types(str(number))
    await asyncio.sleep(10)
    await t.types("10")


async def call(t: LocalTalk) -> None:
    """Ask for a tool, and for something else."""
    await t.types("call look")
    await t.types("two")


async def barge_in(t: LocalTalk) -> None:
    """Type a text into an answer, and another one after it."""
    await t.stage.types("long")
    await t.until_words("word2")
    await t.types("two")
    await t.types("three")


async def speech(t: LocalTalk) -> None:
    """Say two things."""
    for _ in range(2):
        await t.speaks()
        await t.quiet()


async def pushed_speech(t: LocalTalk) -> None:
    """Say something while the microphone is switched on."""
    await t.stage.session.command(cmd.Command("m", cmd.SetMicrophone(on=True)))
    await t.speaks()
    await t.stage.session.command(cmd.Command("m", cmd.SetMicrophone(on=False)))
    await t.quiet()


async def interrupted_call(t: LocalTalk) -> None:
    """Ask for a tool that takes its time, and for something else meanwhile."""
    await t.stage.types("call look")
    await t.stage.sink.until(ev.ToolCalled)
    await t.types("two")


async def a_minute_apart(t: LocalTalk) -> None:
    """Type two texts, a minute apart."""
    await t.types("one")
    await asyncio.sleep(60)
    await t.types("two")


async def outage(t: LocalTalk) -> None:
    """Type a text while there is no connection."""
    await t.stage.types("one")
    await t.stage.sink.until(ev.ConnectionClosed)
    await t.types("two")
    await t.types("three")


async def quota(t: LocalTalk) -> None:
    """Type a text, and connect by hand until that succeeds."""
    await t.types("one")
    await asyncio.sleep(100)
    assert len(t.all(ev.ConnectionOpening)) == 1
    await t.types("two")
    for _ in range(2):
        await t.stage.session.command(cmd.Command("c", cmd.Connect()))
        await t.quiet()


async def connect_by_hand(t: LocalTalk) -> None:
    """Connect by hand where the very first connection was not made."""
    await t.stage.sink.until(ev.LinkGivenUp)
    await t.stage.session.command(cmd.Command("c", cmd.Connect()))
    await t.stage.sink.until(ev.ConnectionReady)
    await texts(t)


@dataclass(frozen=True)
class Case:
    """Outcome of a fault; `line` is the one line of the screen, "" for none.

    `contexts` is what the server knew at each connection.
    """

    line: str
    contexts: tuple[str, ...] = ("new",)
    answers: tuple[str, ...] = NONE_LOST
    run: Callable[[LocalTalk], Awaitable[None]] = texts
    ran: int = 0
    """Number of the tool's runs."""
    options: dict[str, Any] = field(default_factory=dict)


NEW_RESUMED = ("new", "resumed")
NEW_REBUILT = ("new", "rebuilt")

CASES: dict[Fault, Case] = {
    Fault.INTERNAL_ERROR: Case(
        r"The server had an internal error \(1011: .*\)" + RESUMED + CONTINUED, NEW_RESUMED, FIRST_CUT
    ),
    # That late pongs close nothing is shown over a socket, below.
    Fault.LATE_PONGS: Case(""),
    Fault.AGE_LIMIT: Case(
        r"The session reached the server's time limit \(1011: .*\)" + REBUILT,
        NEW_REBUILT,
        ("You typed one.", "You typed two."),
        a_minute_apart,
        options={"go_away_after": 30.0},
    ),
    Fault.GO_AWAY_SILENCE: Case("The model has not answered for 20 s" + RESUMED + ASKED, NEW_RESUMED),
    Fault.GO_AWAY_IN_CALL: Case(
        r"The server will end this connection in 10 s\." + RESUMED, NEW_RESUMED, (FOUND, "You typed two."), call, ran=1
    ),
    Fault.STRICT_RESUME: Case(r"The server will end this connection in 10 s\." + RESUMED, NEW_RESUMED),
    Fault.STALE_HANDLE: Case(
        r"The connection broke \(1006, no reason given\)" + REBUILT + CONTINUED,
        NEW_REBUILT,
        FIRST_CUT,
    ),
    Fault.NULL_HANDLE: Case(""),
    Fault.STRICT_HISTORY: Case(
        r"The server refused a message \(1007: .*\)" + REBUILT + CONTINUED, ("new", "resumed", "rebuilt"), FIRST_CUT
    ),
    Fault.NOT_IMPLEMENTED: Case(
        r"The server does not know this model, or the model does not support this \(1008: .*\)" + REBUILT + SENT_AGAIN,
        NEW_REBUILT,
        (FOUND, "You typed two."),
        call,
        ran=1,
    ),
    Fault.QUOTA: Case(
        r"The quota is used up \(1011: .*\)" + RESUMED,
        NEW_RESUMED,
        ("You", "You typed two."),
        quota,
    ),
    Fault.SILENT_STALL: Case(
        "The model has not answered for 20 s"
        + RESUMED
        + r" Your words had no answer when the connection was lost\. The model was asked to answer\.",
        NEW_RESUMED,
        ("You typed what time is it.", "You said two."),
        speech,
        options={"heard": ("what time is it", "two")},
    ),
    Fault.STALL_IN_ANSWER: Case(
        "The model's answer has stopped for 20 s" + RESUMED + CONTINUED, NEW_RESUMED, FIRST_CUT
    ),
    Fault.EMPTY_TURN: Case(
        "The model ended its turn without saying anything, and was asked again",
        answers=("Welcome.", "You typed two.", "You typed three."),
    ),
    Fault.LATE_COMPLETION: Case("", answers=("word0 word1 word2", "You typed two.", "You typed three."), run=barge_in),
    Fault.CALL_KEPT_OPEN: Case("", answers=("You typed two.",), run=interrupted_call, ran=1, options={"tool_s": 5.0}),
    Fault.OUTAGE: Case(r"The connection broke \(1006, no reason given\)" + RESUMED, NEW_RESUMED, OVERTAKEN, outage),
    Fault.DUPLICATE_CALL: Case("", answers=(FOUND, "You typed two."), run=call, ran=1),
    Fault.STRICT_ACTIVITY: Case(
        "",
        answers=("You said one.",),
        run=pushed_speech,
        options={"heard": ("one",), "change": lambda of: of.turn_taking("push-to-talk")},
    ),
    Fault.CLEAN_CLOSE: Case(
        r"The server ended the session \(1000, no reason given\)" + RESUMED + CONTINUED, NEW_RESUMED, FIRST_CUT
    ),
    Fault.CONTEXT_LIMIT: Case(""),
    Fault.SLOW_ANSWERS: Case(
        r"Answers begin later and later: after \d\.\d s at first, \d\.\d s now\." + RESUMED,
        NEW_RESUMED,
        tuple(f"You typed {number}." for number in range(11)),
        many_texts,
    ),
    Fault.JOINED_COMPLETION: Case(""),
    Fault.UNASKED_TURN: Case("", answers=("You typed one.", "Welcome.", *NONE_LOST[1:])),
    Fault.SILENT_SETUP: Case(
        r"The server did not answer the setup within 20 s Connected again\.",
        run=connect_by_hand,
        options={"connected": False},
    ),
    Fault.DROP_MID_TURN: Case(
        r"The connection broke \(1006, no reason given\)" + RESUMED + CONTINUED, NEW_RESUMED, FIRST_CUT
    ),
    Fault.GARBAGE_FRAME: Case(r"The server sent a frame that cannot be read: The frame is not UTF-8 at byte 1"),
    Fault.HUGE_FRAME: Case(r"The server sent a frame that cannot be read: A frame of 16.0 MiB is above the limit.*"),
    Fault.LATE_INTERRUPTED: Case("", answers=("word0 word1 word2", "You typed two.", "You typed three."), run=barge_in),
}


@pytest.mark.parametrize("fault", [*Fault])
def test_each_fault_is_survived_with_one_line_on_the_screen(fault: Fault) -> None:
    case = CASES[fault]

    async def talk() -> None:
        async with asyncio.timeout(3600), local_talk({fault: 1}, **case.options) as t:
            await case.run(t)
            assert t.answers == [*case.answers]
            said = [block.text for block in t.blocks("user")]
            assert len({*said}) == len(said)
            assert (t.contexts, len(t.ran)) == ([*case.contexts], case.ran)
            assert len(t.lines) == bool(case.line), t.lines
            assert all(re.fullmatch(case.line, line) for line in t.lines), t.lines

    run_virtual(talk())


def test_a_call_that_outlasts_the_connection_is_told_with_its_result() -> None:
    async def talk() -> None:
        async with local_talk({Fault.GO_AWAY_IN_CALL: 1}, tool_s=20.0) as t:
            await call(t)
            assert (t.contexts, t.ran) == (["new", "resumed"], ["parrot"])
            assert [(settled.kind, settled.outcome) for settled in t.all(ev.SendSettled)] == [
                ("text", "told"),
                ("answer", "told"),
            ]
            assert len(t.lines) == 1

    run_virtual(talk())


@pytest.mark.parametrize(
    ("fault", "connections"), [(Fault.NOT_IMPLEMENTED, 3), (Fault.STRICT_HISTORY, 5), (Fault.INTERNAL_ERROR, 4)]
)
def test_a_fault_that_comes_again_and_again_makes_no_loop(fault: Fault, connections: int) -> None:
    async def talk() -> None:
        async with local_talk({fault: 100}) as t:
            await (call(t) if fault is Fault.NOT_IMPLEMENTED else t.types("one"))
            await asyncio.sleep(300)
            assert len(t.all(ev.ConnectionOpening)) <= connections
            # A loss in the middle of an answer has a line of its own.
            assert len(t.lines) < connections

    run_virtual(talk())


@pytest.mark.parametrize("seed", range(200 if os.environ.get("SOAK") else 8))
def test_whatever_faults_a_seed_draws_each_text_is_sent_and_answered_once(seed: int) -> None:
    async def talk() -> None:
        async with local_talk({}, seed=seed) as t:
            said = [f"text {number}" for number in range(6)]
            for text in said:
                await t.types(text)
            assert [block.text for block in t.blocks("user")] == said
            # An answer may be cut and go on ("You", "typed text 1."), or be that of another attempt without the text.
            answered = re.findall(r"You typed (text \d)\.", " ".join(t.answers))
            assert answered == [text for text in said if text in answered]
            assert len(t.answers) >= len(said)
            assert len(t.all(ev.ConnectionOpening)) <= 20

    run_virtual(talk())
