"""Do what server, user, model, tools and time do to a simulated session."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import random
from typing import TYPE_CHECKING, Any

from tests.simulation.action_table import ANY, OPEN, PENDING, ActionTable, refused_when_over
from tests.simulation.agent_tools import Current
from tests.simulation.other_agents import DESK
from tests.simulation.spoken import RATE, spoken

from gemini_live_runtime import commands as cmd
from gemini_live_runtime.conversation.chat import ChatMessage
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.core.speech_queue import SpeechPriority

if TYPE_CHECKING:
    from tests.simulation.world import World

CONVERSATION = ActionTable()


# -- connection ------------------------------------------------------------------------------------------------------


@CONVERSATION.when(*PENDING, pending=24.0)
async def connect(world: World, chance: random.Random) -> None:
    """Accept the setup as the server."""
    world.push(setupComplete={"sessionId": f"s-{len(world.lines)}"})


@CONVERSATION.when(*PENDING, pending=0.5)
async def refuse(world: World, chance: random.Random) -> None:
    """Close as the server instead of accepting the setup."""
    assert world.line is not None
    ends = ((1011, "busy"), (1008, "no such session"), (1007, "bad handle"))
    world.line.drop(*(ends[0] if world.directed else chance.choice(ends)))


@CONVERSATION.when("open", "pending", pending=0.7)
async def drop(world: World, chance: random.Random) -> None:
    """Drop the connection.

    What is on its way may be lost with it, and the server may be unreachable for some time.
    """
    assert world.line is not None
    world.unreachable = 0 if world.directed else chance.choice((0, 0, 0, 1, 2))
    world.line.drop(chance.choice((1001, 1006, 1011)), lose=chance.random() < 0.4)


@CONVERSATION.when(*OPEN, open=0.15)
async def close_for_good(world: World, chance: random.Random) -> None:
    """Close for good as the server."""
    assert world.line is not None
    ends = ((1000, ""), (1008, "policy"), (1007, "invalid"))
    world.line.drop(*(ends[0] if world.directed else chance.choice(ends)))


@CONVERSATION.when(*OPEN)
async def go_away(world: World, chance: random.Random) -> None:
    """Announce as the server that it will close."""
    left = "0.5s" if world.directed else chance.choice(("0.5s", "3s", "10s", None))
    world.push(goAway={} if left is None else {"timeLeft": left})


@CONVERSATION.when(*OPEN)
async def offer_handle(world: World, chance: random.Random) -> None:
    """Offer or withdraw a resumption handle as the server."""
    if world.directed or chance.random() < 0.8:
        world.push(sessionResumptionUpdate={"newHandle": f"handle-{world.seed}", "resumable": True})
    else:
        world.push(sessionResumptionUpdate={"resumable": False})


# -- what the user and the model say ---------------------------------------------------------------------------------


@CONVERSATION.when(*OPEN, open=1.3)
async def speak(world: World, chance: random.Random) -> None:
    """Send a transcript of the user's speech as the server."""
    if chance.random() < 0.5:
        world.device.voice(True)
    for _ in range(chance.randint(1, 2)):
        extra = chance.choice(("", "", " angry", " calm", " slowly", " garble", " agreed", f" name n{world.words}"))
        text = f" {world.word('u')}{extra}"
        fields: dict[str, Any] = {"inputTranscription": {"text": text}}
        if chance.random() < 0.1:
            fields["outputTranscription"] = {"text": f" {world.word('m')}"}
        world.content(**fields)
    if chance.random() < 0.7:
        world.device.voice(False)


@CONVERSATION.when(*ANY)
async def voice(world: World, chance: random.Random) -> None:
    """Report a local voice at the microphone, without a report of the server."""
    world.device.voice(chance.random() < 0.5)
    world.device.hear(chance.choice((0, 1, 3, 60)))


@CONVERSATION.when(*ANY, open=1.5)
async def talk_over(world: World, chance: random.Random) -> None:
    """Speak over the model, and say something or nothing.

    Where our own detector finds turns it hears a voice; elsewhere its report is passed on.
    """
    if world.wire == "open":
        await sound(world, chance)
        await asyncio.sleep(0.001)
    if world.detects_turns:
        silence = bytes(int(RATE * chance.choice((0.0, 0.0, 1.2))) * 2)
        world.device.say(spoken(chance.choice((0.3, 0.8, 1.4))) + silence)
        return
    if world.core.state.speeches.is_protected:
        # The detector hears silence.
        return
    interruptions, now = world.core.interruptions, asyncio.get_running_loop().time()
    world.perform(interruptions.on_voice_over(now, chance.choice((0.6, 1.4))))
    if chance.random() < 0.7:
        world.perform(interruptions.on_voice_ended(now))


@CONVERSATION.when(*ANY, none=1.5, pending=2.0)
async def type_text(world: World, chance: random.Random) -> None:
    """Type a text as the operator."""
    text = chance.choice((f"{world.word('t')} angry", f"{world.word('t')} calm", world.word("t"), world.word("t")))
    if chance.random() < 0.05:
        text = " "
    await world.command(cmd.SendText(text=text), text)


@CONVERSATION.when(*OPEN, open=1.5)
async def say(world: World, chance: random.Random) -> None:
    """Send words of the model."""
    for _ in range(chance.randint(1, 3)):
        text = f" {world.word('m')}{chance.choice(('', '', ' and so on'))}"
        dice = chance.random()
        if dice < 0.8:
            world.content(outputTranscription={"text": text})
        elif dice < 0.9:
            world.content(modelTurn={"parts": [{"text": text}]})
        else:
            world.content(outputTranscription={"text": text}, generationComplete=True)


@CONVERSATION.when(*OPEN, open=1.5)
async def sound(world: World, chance: random.Random) -> None:
    """Send audio of the model, each frame of one number."""
    for _ in range(chance.randint(1, 3)):
        world.frames += 1
        ms = chance.choice((20, 60, 200))
        pcm = world.frames.to_bytes(2, "little") * (ms * 24)
        data = base64.b64encode(pcm).decode()
        fields: dict[str, Any] = {
            "modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}]}
        }
        if chance.random() < 0.1:
            fields["outputTranscription"] = {"text": f" {world.word('m')}"}
        world.content(**fields)


@CONVERSATION.when(*OPEN)
async def think(world: World, chance: random.Random) -> None:
    """Send thoughts of the model."""
    world.content(modelTurn={"parts": [{"text": f" {world.word('x')}", "thought": True}]})


@CONVERSATION.when(*OPEN, open=1.2)
async def generation_complete(world: World, chance: random.Random) -> None:
    world.content(generationComplete=True)


@CONVERSATION.when(*OPEN, open=2.0)
async def turn_complete(world: World, chance: random.Random) -> None:
    fields: dict[str, Any] = {"turnComplete": True}
    dice = chance.random()
    if dice < 0.1:
        fields["interactionStatus"] = "IN_PROGRESS"
    elif dice < 0.2:
        fields["interactionStatus"] = "IDLE"
    elif dice < 0.3:
        fields["generationComplete"] = True
    elif dice < 0.4:
        fields["outputTranscription"] = {"text": f" {world.word('m')}"}
    world.content(**fields)


@CONVERSATION.when(*OPEN)
async def server_interrupt(world: World, chance: random.Random) -> None:
    """Interrupt the answer as the server, as it does when it hears the user.

    The turn is complete soon after.
    """
    fields: dict[str, Any] = {"interrupted": True}
    if chance.random() < 0.3:
        fields["inputTranscription"] = {"text": f" {world.word('u')}"}
    world.content(**fields)
    if chance.random() < 0.5:
        world.content(turnComplete=True)


@CONVERSATION.when(*ANY)
async def interrupt(world: World, chance: random.Random) -> None:
    """Interrupt the model's answer as the operator, or as the program."""
    if chance.random() < 0.6:
        await world.command(cmd.Interrupt())
        return
    force, current = chance.random() < 0.3, world.core.state.speeches.current
    world.timeline.note("command", id=world.ident(), order="interrupt", text="")
    if force and current is not None:
        world.timeline.note("forced", id=current.id)
    with refused_when_over(world), contextlib.suppress(AgentError):  # a protected speech
        world.program.interrupt(force=force)


@CONVERSATION.when(*ANY)
async def reply(world: World, chance: random.Random) -> None:
    """Ask for a reply as the program, often one that may not be interrupted."""
    text = world.word("t") if chance.random() < 0.3 else ""
    ident, uses_tools = f"speech-{world.core.state.speeches.made + 1}", chance.random() < 0.8
    world.timeline.note("reply", id=ident, text=text, tools=uses_tools)
    try:
        speech = world.program.generate_reply(
            text,
            instructions=chance.choice(("", "Be kind.")),
            tool_choice="auto" if uses_tools else "none",
            allow_interruptions=chance.random() < 0.5,
            priority=chance.choice(list(SpeechPriority)),
        )
    except GeminiLiveError:
        assert world.is_over
        world.timeline.note("reply refused", id=ident)
        return
    assert speech.id == ident
    if chance.random() < 0.2:
        world.timeline.note("forced", id=ident)
        speech.interrupt(force=True)


# -- tools -----------------------------------------------------------------------------------------------------------


def _args(name: str, chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.04:
        return {"nonsense": [1]}
    match name:
        case "note":
            return {"name": chance.choice(("Ada", "Bo", "override"))}
        case "add":
            return {"count": chance.choice((1, 2, 200))}
        case "search" | "ticket":
            return {"seconds": chance.choice((0.0, 0.2, 2.0, 5.0))}
        case "pay":
            return {"fail": chance.random() < 0.3}
        case _:
            return {}


NAMES = (
    *("note", "add", "add", "search", "broken", "never", "stubborn", "ticket", "ticket", "log", "pay", "pay", "none"),
    "protect",
)


@CONVERSATION.when(*OPEN, open=2.0)
async def call(world: World, chance: random.Random) -> None:
    """Call one to three tools as the model."""
    calls = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        name = chance.choice(NAMES)
        one: dict[str, Any] = {"name": name, "args": _args(name, chance)}
        dice = chance.random()
        if dice < 0.07 and world.calls:
            one["id"] = chance.choice(world.calls)
        elif dice > 0.05:
            one["id"] = world.word("call-")
            world.calls.append(one["id"])
        calls.append(one)
    world.push(toolCall={"functionCalls": calls})


@CONVERSATION.when(*OPEN)
async def cancel_call(world: World, chance: random.Random) -> None:
    """Cancel calls as the server: running, ended or unknown ones."""
    known = world.calls[-4:]
    ids = chance.sample(known, min(len(known), chance.randint(1, 2))) or ["call-nobody-made"]
    world.push(toolCallCancellation={"ids": ids})


# -- other agents ----------------------------------------------------------------------------------------------------


def _call_tool(world: World, name: str, **args: Any) -> None:
    ident = world.word("call-")
    world.calls.append(ident)
    world.push(toolCall={"functionCalls": [{"name": name, "args": args, "id": ident}]})


CHATS: tuple[Any, ...] = ("keep", "fresh", (ChatMessage("user", "Hello."), ChatMessage("assistant", "Good day.")))


@CONVERSATION.when(*ANY, open=1.2)
async def hand_over(world: World, chance: random.Random) -> None:
    """Hand over to another agent as the program, the operator, or the model."""
    back = world.speaker != "simulated"
    match chance.randrange(4):
        case 0 | 1 if world.wire == "open":
            _call_tool(world, "back" if back else "transfer")
        case 2:
            await world.command(cmd.HandOff(agent=chance.choice(("simulated", "desk", "nobody"))))
        case _:
            with refused_when_over(world), contextlib.suppress(AgentError):  # itself, or a circle
                world.program.update_agent(Current.first if back else DESK, chat=chance.choice(CHATS))


@CONVERSATION.when(*OPEN, open=1.2)
async def begin_task(world: World, chance: random.Random) -> None:
    """Call the tool that awaits a task, as the model: in a task, the one for another."""
    _call_tool(world, "deepen" if world.speaker == "survey" else "ask")
    if chance.random() < 0.3:
        await world.passes(0.1)


@CONVERSATION.when(*OPEN, open=1.2)
async def end_task(world: World, chance: random.Random) -> None:
    """Complete a task as its model, and speak to the end of the turn perhaps."""
    _call_tool(world, "finish", fail=chance.random() < 0.3)
    await world.passes(chance.choice((0.0, 0.1)))
    if world.wire == "open" and chance.random() < 0.5:
        world.content(outputTranscription={"text": f" {world.word('m')}"}, turnComplete=True)


# -- time and sound --------------------------------------------------------------------------------------------------


@CONVERSATION.when(*ANY, none=3.0, open=1.5)
async def wait(world: World, chance: random.Random) -> None:
    await world.passes(chance.choice((0.02, 0.3, 1.0, 1.0, 3.0, 9.0, 25.0)))


@CONVERSATION.when(*ANY)
async def play(world: World, chance: random.Random) -> None:
    """Let the device play on, without time passing."""
    world.device.consume(chance.choice((0.01, 0.05, 0.2, 5.0)))
