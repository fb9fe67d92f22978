"""Properties of the core for events in any order.

Turns alternate, cut audio is never played, calls are answered at most once.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.unit.session.core_support import Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError
from gemini_live_runtime.session.core.effects import Cut, Emit, Play, RunTool
from gemini_live_runtime.tools.dispatch import Outcome


class AnySession(RuleBasedStateMachine):
    """The server, the device, the tools and the operator do what they like."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench().connect()
        self.typed: list[str] = []
        self.calls = 0

    @rule(ms=st.integers(1, 400))
    def audio(self, ms: int) -> None:
        self.bench.audio(ms)

    @rule(side=st.sampled_from(["inputTranscription", "outputTranscription"]), text=st.sampled_from(["a", " b", ""]))
    def transcript(self, side: str, text: str) -> None:
        self.bench.content(**{side: {"text": text}})

    @rule(flags=st.sets(st.sampled_from(["generationComplete", "interrupted", "turnComplete"])))
    def flags(self, flags: set[str]) -> None:
        self.bench.content(**dict.fromkeys(flags, True))

    @rule(ms=st.integers(1, 400))
    def plays(self, ms: int) -> None:
        for gen in [gen for gen in self.bench.received if self.bench.heard.get(gen, 0) < self.bench.received[gen]][:1]:
            self.bench.plays(gen, ms)

    @rule()
    def drains(self) -> None:
        for gen in list(self.bench.received):
            self.bench.drains(gen)

    @rule(speaking=st.booleans())
    def voice(self, speaking: bool) -> None:
        self.bench.voice(speaking)

    @rule()
    def interrupts(self) -> None:
        self.bench.order(cmd.Interrupt())

    @rule(mode=st.sampled_from(["voice", "text"]))
    def mode(self, mode: ev.Mode) -> None:
        self.bench.order(cmd.SetMode(mode=mode))

    @rule(on=st.booleans())
    def microphone(self, on: bool) -> None:
        self.bench.order(cmd.SetMicrophone(on=on))

    @rule()
    def types(self) -> None:
        self.typed.append(f"text {len(self.typed)}")
        self.bench.order(cmd.SendText(text=self.typed[-1]), f"t{len(self.typed)}")

    @rule(repeat=st.booleans())
    def call(self, repeat: bool) -> None:
        if not repeat or self.calls == 0:
            self.calls += 1
        self.bench.says(toolCall={"functionCalls": [{"id": f"call-{self.calls}", "name": "t", "args": {}}]})

    @precondition(lambda self: self.open_calls())
    @rule(status=st.sampled_from(["ok", "error", "timeout"]), cancel=st.booleans())
    def answer(self, status: str, cancel: bool) -> None:
        ident = self.open_calls()[0]
        if cancel:
            self.bench.says(toolCallCancellation={"ids": [ident]})
        self.bench.tool_ends(Outcome(ident, "t", status, {}, 1.0))  # type: ignore[arg-type]

    @rule(seconds=st.floats(0.01, 5.0))
    def time(self, seconds: float) -> None:
        self.bench.passes(seconds)

    @rule()
    def connection_ends_and_returns(self) -> None:
        self.bench.do(
            self.bench.core.connection.on_disconnected(self.bench.now, ConnectionClosedError("gone", close_code=1006))
        )
        for ident in self.open_calls():
            self.bench.tool_ends(Outcome(ident, "t", "cancelled", {}, 1.0))
        self.bench.connect()

    def open_calls(self) -> list[str]:
        begun = [e.call_id for e in self.bench.effects if isinstance(e, RunTool)]
        ended = {p.call_id for p in self.bench.all(ev.ToolFinished)}
        return [ident for ident in begun if ident not in ended]

    @invariant()
    def turns_alternate_and_count_up(self) -> None:
        marks = [
            e
            for e in self.bench.effects
            if isinstance(e, Emit) and isinstance(e.payload, ev.TurnStarted | ev.TurnCompleted)
        ]
        for number, mark in enumerate(marks):
            expected = ev.TurnStarted if number % 2 == 0 else ev.TurnCompleted
            assert isinstance(mark.payload, expected)
            assert mark.turn == number // 2 + 1

    @invariant()
    def nothing_cut_is_played_afterwards(self) -> None:
        bound = 0
        for effect in self.bench.effects:
            if isinstance(effect, Cut):
                assert effect.cut_below >= bound
                bound = effect.cut_below
            elif isinstance(effect, Play):
                assert effect.gen >= bound

    @invariant()
    def heard_and_unheard_make_up_what_was_received(self) -> None:
        for cut in self.bench.emits(ev.TurnInterrupted):
            assert isinstance(cut.payload, ev.TurnInterrupted)
            received = self.bench.received.get(cut.gen, 0)
            assert cut.payload.heard_samples + cut.payload.unheard_samples == received
            assert cut.payload.heard_samples <= self.bench.heard.get(cut.gen, 0)

    @invariant()
    def every_typed_text_is_sent_once_or_reported(self) -> None:
        sent = [p.text for p in self.bench.all(ev.TextSent)]
        refused = [p for p in self.bench.all(ev.CommandRefused) if p.command == "text.send"]
        assert len(sent) + len(refused) == len(self.typed)
        assert len(set(sent)) == len(sent)

    @invariant()
    def every_call_is_run_once_and_answered_at_most_once(self) -> None:
        begun = [e.call_id for e in self.bench.effects if isinstance(e, RunTool)]
        assert len(begun) == len(set(begun))
        answered = [
            response["id"]
            for frame in self.bench.sent
            if "toolResponse" in frame
            for response in frame["toolResponse"]["functionResponses"]
        ]
        assert len(answered) == len(set(answered))


AnySession.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnySession = AnySession.TestCase
