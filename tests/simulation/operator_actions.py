"""Do what programs and operators do to a simulated session."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.simulation.action_table import ANY, ActionTable, refused_when_over

from gemini_live_runtime import commands as cmd
from gemini_live_runtime.errors import AgentError, GeminiLiveError

if TYPE_CHECKING:
    from tests.simulation.world import World

OPERATOR = ActionTable()


@OPERATOR.when(*ANY)
async def edit(world: World, chance: random.Random) -> None:
    """Write to the state as the program."""
    _edit(world, chance)


def _edit(world: World, chance: random.Random) -> None:
    """Write to the state.

    A write after the end belongs to no session and is not reported.
    """
    state = world.handle.state
    key, value = chance.choice(
        (
            ("app:anger", 0.9),
            ("app:anger", 0.6),
            ("app:anger", 0.1),
            ("app:items", 3),
            ("user:name", "Eve"),
            ("user:name", None),
            ("app:closed", True),
            ("app:reopen", True),
            ("turn:edited", True),
        )
    )
    if world.session.done.done():
        world.late.add(key)
    if value is None:
        state.remove(key)
    else:
        state.set(key, value)


@OPERATOR.when(*ANY)
async def transition(world: World, chance: random.Random) -> None:
    """Change the phase as the program."""
    name = chance.choice(world.phases)
    world.timeline.note("moved", phase=name)
    with contextlib.suppress(AgentError), refused_when_over(world):  # out of a terminal phase
        world.handle.transition_to(name, "the program says so")


@OPERATOR.when(*ANY)
async def steer(world: World, chance: random.Random) -> None:
    """Send context, a prompt, an instruction or a tool's answer as the program."""
    _steer(world, chance)


@OPERATOR.when(*ANY)
async def from_a_thread(world: World, chance: random.Random) -> None:
    """Steer or write as the program, from a thread of its own."""
    function = chance.choice((_steer, _steer, _edit))
    await _on_thread(lambda: function(world, chance))


async def _on_thread(function: Callable[[], None]) -> None:
    """Run `function`, which calls the loop once at most, on a thread.

    The loop stands still while the thread runs, so that a seed is a session.
    """
    loop = asyncio.get_running_loop()
    schedule = loop.call_soon_threadsafe
    waits = threading.Event()
    errors: list[BaseException] = []

    def scheduled(*args: Any, **kwargs: Any) -> asyncio.Handle:
        handle = schedule(*args, **kwargs)
        waits.set()
        return handle

    def run() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)
        finally:
            waits.set()

    thread = threading.Thread(target=run, daemon=True)
    loop.call_soon_threadsafe = scheduled
    try:
        thread.start()
        waits.wait()
        await asyncio.sleep(0)  # what it asked of the loop
        thread.join(5.0)
    finally:
        loop.call_soon_threadsafe = schedule
    if errors:
        raise errors[0]
    assert not thread.is_alive(), "the thread waits for the session for ever"


def _steer(world: World, chance: random.Random) -> None:
    with refused_when_over(world):
        _use_handle(world, chance)


def _use_handle(world: World, chance: random.Random) -> None:
    handle = world.handle
    match 2 if world.directed else chance.randrange(4):
        case 0:
            try:
                handle.send_context("By the way.")
            except GeminiLiveError as error:
                world.timeline.note("refused", what="context", why=str(error))
                if world.session.done.done():
                    raise
        case 1:
            handle.prompt()
        case 2:
            handle.update_instruction(f"You are in simulation {chance.randrange(3)}.")
        case _:
            if world.calls:
                ident = chance.choice(world.calls)
                taken = handle.answer_tool(ident, {"given": True})
                world.timeline.note("given", call=ident, taken=taken)


@OPERATOR.when(*ANY)
async def switch(world: World, chance: random.Random) -> None:
    """Use the switches as the operator."""
    on = chance.random() < 0.5
    await world.command(
        chance.choice(
            (
                cmd.SetMicrophone(on=on),
                cmd.SetSpeaker(on=on),
                cmd.SetMode(mode="voice" if on else "text"),
            )
        )
    )


EDITS: tuple[dict[str, Any], ...] = (
    {"key": "app:anger", "value": 0.9},
    {"key": "app:anger", "value": 0.1},
    {"key": "app:items", "value": 3, "expect_absent": True},
    {"key": "app:items", "value": 2},
    {"key": "user:name", "value": "Ada"},
    {"key": "user:name", "remove": True},
    {"key": "app:reopen", "value": True},
    {"key": "derived:enough", "value": True},
)


@OPERATOR.when(*ANY)
async def operate(world: World, chance: random.Random) -> None:
    """Change state, phase, watchers or context as the operator."""
    match chance.randrange(9):
        case 0 | 1 | 2:
            edits = tuple(chance.sample(EDITS, chance.randint(1, 2)))
            await world.command(cmd.EditState(edits=edits))
        case 3:
            await world.command(cmd.UndoEdit(force=chance.random() < 0.5))
        case 4:
            await world.command(cmd.RedoEdit(force=chance.random() < 0.5))
        case 5:
            order = cmd.GoToPhase(phase=chance.choice(world.phases), when=chance.choice(("now", "turn-end")))
            await world.command(order, order.phase)
        case 6:
            await world.command(cmd.SwitchWatcher(watcher="alarm", muted=chance.random() < 0.5))
        case 7:
            await world.command(cmd.FireWatcher(watcher=chance.choice(("alarm", "closed", "items"))))
        case _:
            await world.command(cmd.GiveContext(text="By the way, the operator is here."))


@OPERATOR.when(*ANY)
async def hold(world: World, chance: random.Random) -> None:
    """Pause the agent as the operator."""
    await world.command(cmd.HoldAgent())


@OPERATOR.when(*ANY, open=2.0)
async def go_on(world: World, chance: random.Random) -> None:
    """Continue a paused agent as the operator, for good or for a step."""
    await world.command(cmd.ReleaseAgent(how=chance.choice(("continue", "continue", "event", "event", "turn"))))


BREAKPOINTS = (
    ("watcher", "alarm"),
    ("phase", "help"),
    ("phase", "order"),
    ("transition", "order>pay"),
    ("tool", "add"),
    ("tool", "pay"),
    ("tool", "ticket"),
    ("key", "app:items"),
    ("key", "session:turn_count"),
    ("expression", "app:anger > 0.7 and app:alarms is not missing"),
    ("expression", "app:items >= 2 or user:name is set"),
    ("tool", "nobody's"),
    ("expression", "app:items >"),
)


@OPERATOR.when(*ANY)
async def set_break(world: World, chance: random.Random) -> None:
    """Set or remove breakpoints as the operator."""
    if chance.random() < 0.15:
        await world.command(cmd.RemoveBreakpoint())
        return
    for kind, target in chance.sample(BREAKPOINTS, chance.randint(1, 8)):
        await world.command(cmd.SetBreakpoint(kind=kind, target=target, enabled=chance.random() < 0.9))


@OPERATOR.when(*ANY)
async def mark(world: World, chance: random.Random) -> None:
    """Mark a moment as the operator, sometimes one that does not exist."""
    of = chance.choice((0, 1, world.hub.view.seq, world.hub.view.seq + 50))
    await world.command(cmd.SetMark(text=chance.choice(("", "odd")), of=of))


@OPERATOR.when(*ANY)
async def look_away(world: World, chance: random.Random) -> None:
    """Detach the last console, or attach one."""
    world.session.on_console_attached(chance.random() < 0.6)


@OPERATOR.when(*ANY, open=0.12, pending=0.2, none=0.2)
async def drain(world: World, chance: random.Random) -> None:
    """End the session once all that is owed is said, as the operator or the program."""
    world.is_drained = True
    if chance.random() < 0.5:
        await world.command(cmd.Drain())
    else:
        with refused_when_over(world):
            world.program.shutdown()


@OPERATOR.when(*ANY, open=0.12, pending=0.2, none=0.2)
async def hang_up(world: World, chance: random.Random) -> None:
    """End the session as the operator."""
    if not world.hung_up:
        world.hung_up = True
        world.timeline.note("hung up")
    await world.command(cmd.HangUp(reason="the operator hung up"))
