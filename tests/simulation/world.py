"""Run one simulated session with scripted server, device and program.

The session is a real `LiveSession`. Everything is chosen by seeded randomness and done in virtual time, so a seed is a
session. The actions are kept as a script, from which the session can be run again with actions left out.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from tests.simulation.action_table import Action
from tests.simulation.actions import ACTIONS, possible
from tests.simulation.agent import choose_plan
from tests.simulation.agent_tools import Current
from tests.simulation.coverage import POSSIBLE, RARE, Director, Step
from tests.simulation.device import ScriptedDevice
from tests.simulation.server import Line
from tests.simulation.spoken import RATE
from tests.simulation.timeline import Timeline

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.errors import UnreachableError
from gemini_live_runtime.session.agent.autosave import OwnStore
from gemini_live_runtime.session.agent.listeners.session_events import SpeechCreatedEvent
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import Effect
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.definition.setup import setup_of
from gemini_live_runtime.session.io.live_session import LiveSession, Opening
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.wire.connection import Connection
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.observer import WireObserver
from gemini_live_runtime.wire.transport import Transport

LONGEST_S = 3600.0
"""Virtual seconds after which a session that does not end is a finding."""

FATAL = ("hang_up", "drain", "close_for_good", "refuse", "drop")
"""Actions that end a session, or may."""

WATCHED = ("ready", "error")


class Sink:
    """The engine's own hub, and the timeline beside it."""

    def __init__(self, hub: Hub, timeline: Timeline) -> None:
        self._hub = hub
        self._timeline = timeline
        self.wall = hub.wall
        self.events: list[ev.Event] = []
        self.tracks = {"user": 0, "model": 0}

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        event = self._hub.emit(payload, turn=turn, gen=gen)
        self._timeline.event(event.to_json())
        self.events.append(event)
        return event

    async def written(self, within_s: float) -> bool:
        return True

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        self.tracks[track] += len(pcm) // 2


class World:
    """A session and everything around it."""

    def __init__(self, seed: int, steps: Sequence[Step] | None) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.timeline = Timeline()
        self.script = None if steps is None else list(steps)
        self.steps: list[Step] = []
        self.lines: list[Line] = []
        self.unreachable = 0
        """Connection attempts that will fail."""
        self.calls: list[str] = []
        """Ids of all calls, in order."""
        self.texts = 0
        self.words = 0
        self.frames = 0
        self.late: set[str] = set()
        """Keys that the program wrote after the end."""
        self.hung_up = self.is_drained = False
        chance = self.chance
        self.mode: ev.Mode = chance.choice(("voice", "voice", "text"))
        self.uplink_s = chance.choice((0.0, 0.0, 0.03, 0.4))
        self.microphone = chance.random() < 0.8
        self.hurry = chance.choice((0.1, 0.5))
        """Probability that the next action follows at once."""
        self.finishes = chance.random() < 0.75
        """True when the session comes to rest before it is hung up."""
        self.length = chance.randint(14, 26)
        Current.timeline = self.timeline
        Current.chance = random.Random(seed + 1)
        Current.faulty = chance.choice((0.0, 0.1, 0.5))
        count = len(POSSIBLE)
        # Four pairs are brought about in each session, so that every pair is several times; one is of those that need a
        # connection at a certain moment.
        places = (seed, seed * 7 + count // 2, seed * 11 + count // 3)
        pairs = (RARE[seed % len(RARE)], *(POSSIBLE[place % count] for place in places))
        self.directors = [Director(pair, chance.randint(0, 6)) for pair in pairs]
        self.directed = False
        self.plan = choose_plan(chance, reconnects=any(director.reconnects for director in self.directors))
        self.first = Current.first
        self.device = ScriptedDevice(self.timeline, microphone=self.microphone)
        self.console = "c"
        """Beginning of the ids of commands."""
        self.own_store: OwnStore | None = None
        """Store of the session's snapshots, with what an earlier engine has recorded; None for a session without."""

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects of the core as the session does."""
        self.session._perform(effects)

    # -- the session -------------------------------------------------------------------------------------------------

    def make(self) -> None:
        """Make the session; on the running loop."""
        plan, clock = self.plan, LoopClock()
        definition = plan.definition
        capabilities = capabilities_of(definition.model)
        kept = None if self.own_store is None else self.own_store.kept
        self.hub = Hub("simulated", clock, program="simulation", pid=1, kept=kept)
        self.sink = Sink(self.hub, self.timeline)
        self.core = SessionCore(
            CoreState(
                mode=self.mode,
                capabilities=capabilities,
                limits=Limits(None, None),
                price=None,
                started_at=clock.now(),
                rules=definition.turn_rules,
                turns=plan.turn_options,
            )
        )

        async def transport(_: Endpoint) -> Transport:
            await asyncio.sleep(0)
            if self.unreachable:
                self.unreachable -= 1
                raise UnreachableError("The server cannot be reached", remedy="Try again")
            line = Line(len(self.lines) + 1, self.timeline, self.uplink_s)
            self.timeline.note("opened", line=line.number)
            self.lines.append(line)
            return line

        def adapter(recorder: WireObserver, instruction: str, handle: str) -> Connection:
            speaking = self.agent.plan
            model = definition.model
            setup = setup_of(speaking, model, capabilities=capabilities, instruction=instruction, handle=handle)
            endpoint = local_endpoint("ws://localhost")
            return Connection(endpoint, setup, observer=recorder, transport_factory=transport)

        async def opening() -> Opening:
            return Opening(url="ws://localhost", adapter=adapter)

        async def closing() -> None:
            self.timeline.note("closing")

        self.session = LiveSession(
            started=ev.SessionStarted(
                session_id="simulated",
                agent=plan.name,
                model=definition.model,
                backend="local",
                wall=0.0,
                record="off",
                mode=self.mode,
                program="simulation",
            ),
            plan=plan,
            core=self.core,
            capabilities=capabilities,
            sink=self.sink,
            audio=self.device,
            opening=opening,
            closing=closing,
            clock=clock,
            own_store=self.own_store,
        )
        # The delays of reconnecting are random; here they are the seed's too.
        self.session._connections._link.schedule.jitter = random.Random(self.seed)
        self.orchestrator = self.session.orchestrator
        self.agent = self.orchestrator.agent
        self.handle = self.session.handle
        self.program = self.session.agent_session
        self.program.on("speech_created", self._follow)
        self.phases = [phase.name for phase in definition.phases]

    def _follow(self, created: SpeechCreatedEvent) -> None:
        """Note the beginning and the end of a speech's handle."""
        self.timeline.note("speech created", id=created.speech_handle.id)
        created.speech_handle.add_done_callback(lambda handle: self.timeline.note("speech done", id=handle.id))

    @property
    def line(self) -> Line | None:
        """The newest connection."""
        return self.lines[-1] if self.lines else None

    @property
    def wire(self) -> str:
        """`open`, `pending` or `none`."""
        line = self.line
        if line is None or (line.state == "pending" and not line.asked):
            return "none"
        return line.state

    def _is_given_up(self) -> bool:
        return self.given_up

    @property
    def given_up(self) -> bool:
        """True when no further connection will be made."""
        return self.hung_up or self.core.state.facts.status == "error"

    @property
    def is_over(self) -> bool:
        """True when the session has ended, or takes nothing more because it is about to."""
        return self.session.done.done() or self.core.is_over() or self.core.state.is_draining

    @property
    def speaker(self) -> str:
        """Name of the agent that speaks."""
        name: str = self.agent.plan.name
        return name

    def push(self, **frame: Any) -> None:
        """Let the server say something."""
        if self.line is not None:
            self.line.push(frame)

    def content(self, **fields: Any) -> None:
        """Let the server say some content."""
        self.push(serverContent=fields)

    @property
    def detects_turns(self) -> bool:
        """True while our own detector finds the user's turns."""
        return self.core.state.client_activity

    def ident(self) -> str:
        """Return an id of a command that was not used before."""
        return f"{self.console}{len(self.timeline.entries)}"

    async def command(self, order: cmd.Order, text: str = "") -> None:
        """Give the session a command."""
        ident = self.ident()
        self.timeline.note("command", id=ident, order=order.command, text=text)
        await self.session.command(cmd.Command(ident, order))

    # -- the life ----------------------------------------------------------------------------------------------------

    async def live(self) -> dict[str, Any]:
        """Run the session to its end; what there was at rest and at the end."""
        await self.begin()
        try:
            async with asyncio.timeout(LONGEST_S):
                await self._act()
                return await self.end()
        finally:
            self.over()

    async def begin(self) -> None:
        """Start the session."""
        self.make()
        self.running = asyncio.create_task(self.session.run())
        if self.detects_turns:
            self.timeline.note("detector")
        # Nobody knows of a session before it has begun.
        await asyncio.sleep(0)

    async def end(self) -> dict[str, Any]:
        """Bring it to rest, perhaps, and hang up."""
        rest = await self._finish() if self.finishes and not self.running.done() else {}
        # What has ended by itself has all that was owed to it.
        drained = not self.is_drained or not rest or rest["gave_up"] or self.running.done()
        if not self.hung_up:
            self.timeline.note("hung up")
            self.session.hang_up("the simulation is over")
        code = await self.running
        # The callbacks of what ended with the session.
        await asyncio.sleep(0)
        self.write_late("app:too late", True)
        return {"code": code, "rest": rest, "drained": drained, **self._facts()}

    def write_late(self, key: str, value: Any) -> None:
        """Write, as the program, values that belong to no session any more."""
        self.late.add(key)
        self.handle.state.set(key, value)

    def over(self) -> None:
        """Let nothing of the session go on."""
        self.running.cancel()
        self.hub.bye("over", 0)

    async def _act(self) -> None:
        after_end = 3
        while True:
            if self.running.done():
                return
            if self.given_up:
                after_end -= 1
                if after_end < 0:
                    return
            step = self._next()
            if step is None:
                return
            await self.take(step)

    async def take(self, step: Step) -> None:
        """Let something happen, unless the wire is not in a state for it."""
        action = ACTIONS[step.name]
        if not action.fits(self.wire):
            return
        self.steps.append(step)
        self.timeline.note("action", name=step.name, seed=step.seed, wire=self.wire)
        choices = random.Random(step.seed)
        self.directed = step.directed
        await action.perform(self, choices)
        await self._settle(step.pause, choices)

    def _next(self) -> Step | None:
        if self.script is not None:
            return self.script.pop(0) if self.script else None
        if len(self.steps) >= self.length:
            return None
        chance = self.chance
        director = next((director for director in self.directors if director.queue), None)
        step = None if director is None else director.next(self.wire, len(self.steps), chance.getrandbits(48))
        if step is not None:
            return step
        choices: list[Action] = possible(self.wire)
        if director is not None and chance.random() < 0.95:
            # A session that is over brings nothing about.
            choices = [action for action in choices if action.name not in FATAL]
        chosen = chance.choices(choices, [action.weight(self.wire) for action in choices])[0]
        return Step(chosen.name, chance.getrandbits(48))

    async def _settle(self, pause: str, choices: random.Random) -> None:
        if pause == "none":
            return
        if pause == "pending":
            for _ in range(100):
                if self.wire == "pending" or self.given_up:
                    return
                await asyncio.sleep(0.2)
            return
        dice = choices.random()
        if dice < self.hurry:
            return
        if dice < 0.75:
            for _ in range(choices.randint(1, 12)):
                await asyncio.sleep(0)
        else:
            await asyncio.sleep(choices.choice((0.001, 0.05, 0.3)))

    async def passes(self, seconds: float) -> None:
        """Time passes, and the device plays."""
        left = seconds
        while left > 1e-9:
            part = min(left, 0.1) if self.device.waiting_s else left
            await asyncio.sleep(part)
            self.device.consume(part)
            left -= part

    async def _finish(self) -> dict[str, Any]:
        """Let the server cooperate until everything has ended: nothing may stay open."""
        if self._is_given_up():
            return {}
        self.timeline.note("action", name="(finish)", wire=self.wire)
        self.unreachable = 0
        await self.command(cmd.RemoveBreakpoint())
        if self.orchestrator.checkpoints.gate.held or self.orchestrator.checkpoints.gate.stepping:
            await self.command(cmd.ReleaseAgent())
        self.device.voice(False)
        if self.detects_turns:
            self.device.say(bytes(2 * RATE * 2))
        self.perform(self.core.interruptions.on_voice_ended(asyncio.get_running_loop().time()))
        for _ in range(40):
            if self._is_given_up() or self.running.done():
                break
            if self.wire == "none":
                await self.passes(1.0)
            elif self.wire == "pending":
                self.push(setupComplete={"sessionId": f"s-{len(self.lines)}"})
                await self.passes(0.1)
            else:
                break
        for _ in range(5):
            if self.wire == "open":
                self.content(outputTranscription={"text": f" {self.word('m')}"})
                self.content(generationComplete=True)
                self.content(turnComplete=True)
            elif self.wire == "pending":
                self.push(setupComplete={"sessionId": f"s-{len(self.lines)}"})
            await self.passes(3.0)
        for _ in range(60):
            if self.session.is_quiet or self.running.done():
                break
            if self.wire == "open" and self.core.state.facts.owed:
                self.content(outputTranscription={"text": f" {self.word('m')}"}, turnComplete=True)
            elif self.wire == "pending":
                self.push(setupComplete={"sessionId": f"s-{len(self.lines)}"})
            await self.passes(1.0)
        if self.is_drained:
            await self.passes(0.1)
        if self.core.is_over():
            # It ends by itself.
            await asyncio.wait((self.running,))
            return {}
        self.timeline.note("at rest", quiet=self.session.is_quiet, wire=self.wire, gave_up=self.given_up)
        current = self.core.state.speeches.current
        return {
            "quiet": self.session.is_quiet,
            "why": self._unrest(),
            "wire": self.wire,
            "gave_up": self.given_up,
            "tasks": len(self.orchestrator.handoff.paused),
            "speech": "" if current is None else current.id,
        }

    def _unrest(self) -> str:
        core, agent, orchestrator = self.core, self.agent, self.orchestrator
        unrest = {
            "turn open": core.state.turns.is_open,
            "playing": core.state.playing,
            "calls": core.state.calls.open_ids,
            "queued": core.state.link.outbox.texts,
            "voice": core.state.facts.voice,
            "owed": core.state.facts.owed,
            "voice ended": core.state.facts.answer_possible_since,
            "status": "" if core.state.facts.status in WATCHED else core.state.facts.status,
            "device": self.device.playing,
            "lane": agent.queue.current or agent.queue.depth,
            "desk": orchestrator.tools.open_calls,
            "extraction": sorted(orchestrator.pipeline.extraction.runner.running),
            "code": orchestrator.code.active,
            "prompt": agent.context_queue.has_prompt,
        }
        return ", ".join(f"{name}: {value}" for name, value in unrest.items() if value)

    def word(self, kind: str) -> str:
        """Return a word that was not used before."""
        self.words += 1
        return f"{kind}{self.words}"

    def _facts(self) -> dict[str, Any]:
        agent, orchestrator = self.agent, self.orchestrator
        return {
            "state": agent.state.snapshot(),
            "late": self.late,
            "transcript": agent.transcript.to_json()["turns"],
            "phase": orchestrator.agent.phases.machine.current if orchestrator.agent.phases else "",
            "view_seq": self.hub.view.seq,
            "missing": self.hub.gate.completion().words,
            "notices": [f"{block.text} {block.detail}" for block in self.hub.view.blocks if block.kind == "notice"],
        }
