"""Link for tests with a scripted engine that records the console's commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import (
    Command,
    EditState,
    FireWatcher,
    GiveContext,
    GoToPhase,
    HangUp,
    HoldAgent,
    Order,
    PreviewEdit,
    PreviewPhase,
    RedoEdit,
    ReleaseAgent,
    RemoveBreakpoint,
    SendText,
    SetBreakpoint,
    SetInstruction,
    SetMark,
    SetMicrophone,
    SetMode,
    SetSpeaker,
    SwitchWatcher,
    UndoEdit,
)
from gemini_live_runtime.engine.link import Bye, Hello, Link, LinkClosed, LinkMessage, Snapshot
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.vocabulary import command_from_line

PHRASES = (
    "What's the weather in Lisbon?",
    "Set a timer for five minutes",
    "Take a note: call the garage",
    "Book a table for two tonight",
    "What can you do?",
    "Is it raining in Bergen?",
    "Read me my notes",
    "Cancel the timer",
)


class ScriptedLink:
    """The engine's side in a test's hands.

    `answering`: commands are answered with the events an engine would emit, as far as a console can tell.
    """

    def __init__(self, *, answering: bool = True) -> None:
        self.sent: list[Command] = []
        self.closed = False
        self.waiting = False
        """True when the console has begun to read."""
        self.broken = ""
        self.harness_root = ""
        """Folder of the records that the hello names."""
        self.answering = answering
        self.successor: Link | None = None
        """Link that the engine gives to a console that attaches again; None when it is gone."""
        self.refusing = ""
        self._messages: asyncio.Queue[LinkMessage | LinkClosed] = asyncio.Queue()
        self._seq = 0
        self.t = 0.0
        self.turn = 0
        self.gen = 0
        self.mode: ev.Mode = "voice"
        self.microphone = True
        self.speaker = True
        self.held_since = 0.0
        self.breakpoints: list[dict[str, Any]] = []
        self.values: dict[str, Any] = {}
        """The state, as far as edits need it."""
        self.foreseen: dict[str, Any] = {}
        """Fields of an edit's preview beside the values."""
        self.foreseen_phase: dict[str, Any] = {}
        """Fields of a phase's preview beside its instruction."""
        self._undo: list[list[dict[str, Any]]] = []
        self._redo: list[list[dict[str, Any]]] = []

    # -- the Link protocol -------------------------------------------------------------------------------------------

    async def receive(self) -> LinkMessage:
        self.waiting = True
        message = await self._messages.get()
        if isinstance(message, LinkClosed):
            raise message
        return message

    async def send(self, command: Command) -> None:
        if self.broken:
            raise LinkClosed(self.broken)
        # As over a socket: an order that has no encoding is no order.
        command = command_from_line(command.to_line())
        self.sent.append(command)
        if self.refusing:
            self.emit(ev.CommandRefused(command_id=command.id, command=command.order.command, reason=self.refusing))
        elif self.answering:
            self._answer(command)

    async def close(self) -> None:
        self.closed = True

    async def reattach(self) -> Link:
        if self.successor is None:
            raise ConnectionRefusedError(111, "Connection refused")
        return self.successor

    # -- the script --------------------------------------------------------------------------------------------------

    @property
    def orders(self) -> list[Order]:
        """Commands of the console, in order."""
        return [command.order for command in self.sent]

    @property
    def delivered(self) -> bool:
        """True when the console has taken every message."""
        return self._messages.empty()

    def put(self, message: LinkMessage) -> None:
        self._messages.put_nowait(message)

    def emit(self, *payloads: ev.Payload, after: float = 0.0) -> None:
        """Events as the engine would stamp them, `after` seconds later."""
        self.t += after
        for payload in payloads:
            self._seq += 1
            self.put(ev.Event(self._seq, self.t, self.turn, self.gen, payload))

    def hello(self, view: SessionView | None = None) -> None:
        view = view or SessionView()
        self._seq = view.seq
        self.put(Hello("20261120-120000-abcd", 4242, "test", harness_root=self.harness_root))
        self.put(Snapshot(view))

    def start(self, *, mode: ev.Mode = "voice", record: ev.Record = "audio", **changes: Any) -> None:
        """Begin a session of the concierge, in the state "listening"."""
        self.hello()
        self.mode = mode
        values: dict[str, Any] = {
            "session_id": "20261120-120000-abcd",
            "agent": "concierge",
            "model": "local-concierge",
            "backend": "local",
            "wall": 1_795_000_000.0,
            "record": record,
            "mode": mode,
            "program": "test",
            "phrases": PHRASES,
            "tools": ("weather",),
            **changes,
        }
        self.emit(
            ev.SessionStarted(**values),
            ev.SessionState(word="connecting"),
            ev.AudioOpened(
                input="Built-in Microphone",
                output="Built-in Speaker",
                input_rate=48000,
                output_rate=48000,
                echo_canceller="AEC3",
            ),
            ev.ConnectionReady(ms=42.0),
            ev.SessionState(word="text" if mode == "text" else "listening"),
        )

    def state(self, word: ev.StateWord, reason: str = "") -> None:
        self.emit(ev.SessionState(word=word, reason=reason))

    def sample(self, **values: Any) -> None:
        self.put(MeterSample(t=self.t, **values))

    def begin_turn(self, by: Any = "voice") -> None:
        self.turn += 1
        self.emit(ev.TurnStarted(by=by))

    def user(self, text: str) -> None:
        self.emit(ev.TranscriptDelta(side="user", text=text))

    def model(self, text: str) -> None:
        self.emit(ev.TranscriptDelta(side="model", text=text))

    def exchange(self, question: str, answer: str, *, latency_ms: float | None = 612.0) -> None:
        """Emit a whole turn, question and answer."""
        self.begin_turn()
        self.user(question)
        self.t += 1.5
        self.model(answer)
        self.emit(ev.PlaybackStarted(), ev.GenerationCompleted(), ev.PlaybackDrained(of=self.gen), after=0.5)
        self.emit(ev.TurnCompleted(outcome="complete", latency_ms=latency_ms), after=1.0)
        self.gen += 1

    def call_tool(self, name: str, args: dict[str, Any], result: dict[str, Any] | None, *, status: Any = "ok") -> None:
        self.emit(ev.ToolCalled(call_id=f"call-{self._seq}", name=name, args=args))
        if result is not None:
            ident = f"call-{self._seq - 1}"
            self.emit(ev.ToolFinished(call_id=ident, name=name, status=status, result=result, ms=141.0, delivered=True))

    def bye(
        self, reason: str = "the operator hung up", exit_code: int = 0, missing: tuple[MissingPart, ...] = ()
    ) -> None:
        self.put(Bye(reason, exit_code, missing))

    def die(self, reason: str = "The engine ended without a word.") -> None:
        self.broken = reason
        self._messages.put_nowait(LinkClosed(reason))

    def _answer(self, command: Command) -> None:
        order = command.order
        if isinstance(order, SendText):
            self.begin_turn("typed")
            self.emit(ev.TextSent(text=order.text, command_id=command.id))
        elif isinstance(order, SetMode):
            self.mode = order.mode
            self._controls()
            self.state("text" if order.mode == "text" else "listening")
        elif isinstance(order, SetMicrophone):
            self.microphone = order.on
            self._controls()
        elif isinstance(order, SetSpeaker):
            self.speaker = order.on
            self._controls()
        elif isinstance(order, HoldAgent):
            self.held_since = self.t
            self.emit(ev.AgentHeld(by="pause", at="the next decision", of=self._seq))
        elif isinstance(order, ReleaseAgent):
            self.emit(ev.AgentReleased(how=order.how, seconds=self.t - self.held_since))
        elif isinstance(order, SetMark):
            self.emit(ev.MarkSet(text=order.text, of=order.of, t=order.t))
        elif isinstance(order, SetBreakpoint | RemoveBreakpoint):
            self._breaks(order)
        elif isinstance(order, EditState | UndoEdit | RedoEdit):
            self._edit(command)
        elif isinstance(order, PreviewEdit):
            values = tuple(self._outcome(edit) for edit in order.edits)
            answer = ev.EditPreviewed(command_id=command.id, values=values)
            self.emit(replace(answer, **self.foreseen))
        elif isinstance(order, PreviewPhase):
            told = ev.PhasePreviewed(command_id=command.id, phase=order.phase, instruction=f"Be in {order.phase}.")
            self.emit(replace(told, **self.foreseen_phase))
        elif isinstance(order, GoToPhase):
            if order.when == "now":
                self.emit(
                    ev.PhaseEntered(phase=order.phase, previous="greet", trigger="operator", because=order.reason)
                )
            else:
                self.emit(ev.Notice(level="info", code="phase", text=f"It goes to {order.phase} when the turn ends."))
        elif isinstance(order, GiveContext):
            self.emit(ev.ContextSent(texts=(order.text,), reasons=("the operator",)))
        elif isinstance(order, SetInstruction):
            self.emit(ev.AgentDescribed(agent="debt_collection", instruction=order.text))
        elif isinstance(order, FireWatcher):
            tree = {"text": "fired by the operator", "value": True}
            self.emit(ev.WatcherFired(watcher=order.watcher, key="app:anger", old=0, new=0, explanation=tree))
        elif isinstance(order, SwitchWatcher):
            self.emit(ev.WatcherSwitched(watcher=order.watcher, muted=order.muted))
        elif isinstance(order, HangUp) and not order.finish_tasks:  # such a session goes on for its tasks
            self.emit(ev.SessionEnded(reason=order.reason))
            self.bye(order.reason)

    def _outcome(self, edit: dict[str, Any]) -> dict[str, Any]:
        key, removed = edit["key"], bool(edit.get("remove"))
        new = None if removed else edit["value"]
        return {
            "key": key, "old": self.values.get(key), "new": new, "added": key not in self.values, "removed": removed,
        }  # fmt: skip

    def _edit(self, command: Command) -> None:
        """Write the edited values without any check; undo reverses the last edit."""
        order = command.order
        if isinstance(order, EditState):
            edits = [dict(edit) for edit in order.edits]
            how: Literal["edit", "undo", "redo"] = "edit"
            undo, redo = len(self._undo) + 1, 0
        else:
            undoing = isinstance(order, UndoEdit)
            taken, how = (self._undo, "undo") if undoing else (self._redo, "redo")
            if not taken:
                reason = f"There is nothing to {how}."
                self.emit(ev.CommandRefused(command_id=command.id, command=order.command, reason=reason))
                return
            edits = taken.pop()
            undo, redo = len(self._undo) + (how == "redo"), len(self._redo) + (how == "undo")
        before, values = [], []
        for edit in edits:
            key, value = edit["key"], self._outcome(edit)
            before.append({"key": key, "remove": True} if value["added"] else {"key": key, "value": value["old"]})
            values.append(value)
            if value["removed"]:
                self.values.pop(key, None)
            else:
                self.values[key] = value["new"]
        (self._redo if how == "undo" else self._undo).append(before)
        for value in values:
            self.emit(ev.StateChanged(**value, mutation=self._seq, origin="operator", by=""))
        self.emit(ev.EditsApplied(command_id=command.id, how=how, values=tuple(values), undo=undo, redo=redo))

    def _breaks(self, order: SetBreakpoint | RemoveBreakpoint) -> None:
        if isinstance(order, RemoveBreakpoint):
            self.breakpoints = [item for item in self.breakpoints if order.id and item["id"] != order.id]
        else:
            ident = order.id or f"b{len(self.breakpoints) + 1}"
            was = next((item for item in self.breakpoints if item["id"] == ident), None)
            target = was["target"] if was is not None and not order.target else order.target
            values = {"id": ident, "kind": order.kind, "target": target, "enabled": order.enabled, "hits": 0}
            self.breakpoints = [*(item for item in self.breakpoints if item["id"] != ident), values]
        self.emit(ev.BreakpointsChanged(breakpoints=tuple(self.breakpoints)))

    def _controls(self) -> None:
        self.emit(ev.ControlChanged(mode=self.mode, microphone=self.microphone, speaker=self.speaker))


def source_of(link: Link) -> Callable[[], Awaitable[Link]]:
    """Return a link source that returns `link`."""

    async def source() -> Link:
        return link

    return source
