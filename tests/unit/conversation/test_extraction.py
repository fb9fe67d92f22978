"""Extraction: triggers, runs beside the conversation, deadlines, closing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.conversation import extraction as ex
from gemini_live_runtime.conversation.extraction_runner import ExtractionFailure, ExtractionResult, ExtractionRunner
from gemini_live_runtime.conversation.llm_extractor import LlmExtractor
from gemini_live_runtime.conversation.promotion import FieldPromotion
from gemini_live_runtime.conversation.text_model import ScriptedTextModel
from gemini_live_runtime.conversation.transcript import TranscriptBuffer, TranscriptTurn, TranscriptWindow
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.state.store import State


@dataclass
class Fixed:
    """An extractor whose runs take `seconds` each and find `found`."""

    found: Any = field(default_factory=lambda: {"score": 3})
    seconds: Sequence[float] = ()
    name: str = "Fixed"
    window: int = 2
    trigger: ex.ExtractionTrigger = ex.EVERY_TURN
    promotions: Sequence[FieldPromotion] = ()
    deadline_s: float = 8.0
    seen: list[str] = field(default_factory=list)
    most_at_once: int = 0
    running: int = 0

    def should_extract(self, window: TranscriptWindow) -> bool:
        return "skip" not in window.last_user

    async def extract(self, window: TranscriptWindow, model: Any) -> Mapping[str, Any]:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            self.seen.append(window.last_user)
            at = len(self.seen) - 1
            await asyncio.sleep(self.seconds[at] if at < len(self.seconds) else 0)
            if isinstance(self.found, BaseException):
                raise self.found
            return self.found  # type: ignore[no-any-return]
        finally:
            self.running -= 1


class Bench:
    """A runner with what it reports, in order."""

    def __init__(self, *extractors: Any, model: Any = None) -> None:
        self.state = State()
        self.reports: list[ExtractionResult | ExtractionFailure] = []
        self.reported = asyncio.Event()
        schedule = ex.ExtractionSchedule(extractors)
        self.runner = ExtractionRunner(self.state, schedule, model, LoopClock(), self.report, self.report)

    def report(self, report: ExtractionResult | ExtractionFailure) -> None:
        self.reports.append(report)
        self.reported.set()

    def turn(self, number: int, said: str, event: ex.TriggerEvent = "turn", **names: str) -> list[str]:
        turn = TranscriptTurn(number=number, by="voice", started_at=0.0, user=said)
        window = TranscriptWindow((turn,) if said else ())
        return self.runner.trigger(event, number, lambda n: window, **names)


# -- when


def names(schedule: ex.ExtractionSchedule, *args: Any, **keywords: Any) -> list[str]:
    return [extractor.name for extractor in schedule.due(*args, **keywords)]


def test_an_interval_of_two_skips_turns_0_and_1_and_runs_at_2_and_4() -> None:
    schedule = ex.ExtractionSchedule([Fixed(trigger=ex.interval(2))])
    assert [turn for turn in range(6) if names(schedule, "turn", turn)] == [2, 4]


def test_an_interval_continues_in_a_restored_session() -> None:
    schedule = ex.ExtractionSchedule([Fixed(trigger=ex.interval(3))], since=40)
    assert [turn for turn in range(40, 50) if names(schedule, "turn", turn)] == [43, 46, 49]


def test_each_trigger_fires_at_its_own_event_only() -> None:
    schedule = ex.ExtractionSchedule(
        [
            Fixed(name="turns"),
            Fixed(name="tools", trigger=ex.AFTER_TOOL_CALL),
            Fixed(name="phases", trigger=ex.ON_PHASE_CHANGE),
            Fixed(name="done", trigger=ex.ON_GENERATION_COMPLETE),
        ]
    )
    assert names(schedule, "turn", 0) == ["turns"]
    assert names(schedule, "tool-call", 0, tool="pay") == ["tools"]
    assert names(schedule, "phase-change", 0, phase="checkout") == ["phases"]
    assert names(schedule, "generation-complete", 0) == ["done"]


def test_a_trigger_can_name_its_tools_or_phases() -> None:
    schedule = ex.ExtractionSchedule(
        [
            Fixed(name="pay", trigger=ex.after_tool_call("pay", "refund")),
            Fixed(name="checkout", trigger=ex.on_phase_change("checkout")),
        ]
    )
    assert names(schedule, "tool-call", 0, tool="refund") == ["pay"]
    assert names(schedule, "tool-call", 0, tool="look") == []
    assert names(schedule, "phase-change", 0, phase="checkout") == ["checkout"]
    assert names(schedule, "phase-change", 0, phase="greet") == []


def test_two_extractors_of_one_name_are_refused_with_their_places() -> None:
    def mood(window: TranscriptWindow) -> dict[str, Any]:
        return {}

    with pytest.raises(AgentError, match=r"Two extractors are named mood \(test_extraction.py:\d+ and "):
        ex.ExtractionSchedule([mood, ex.FunctionExtractor(function=mood)])


@pytest.mark.parametrize("wrong", [{"window": 0}, {"deadline_s": 0}, {"name": " "}])
def test_settings_that_cannot_be_used_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(AgentError):
        ex.ExtractionSchedule([Fixed(**wrong)])


def test_an_object_that_is_no_extractor_is_refused_with_its_missing_members() -> None:
    with pytest.raises(AgentError, match="it has no name, window"):
        ex.as_extractor(3)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="at least 1 turn"):
        ex.interval(0)


# -- running


async def test_findings_become_state_with_the_turn_they_were_asked_in() -> None:
    bench = Bench(Fixed({"score": 3, "mood": "sad", "age": None}))
    assert bench.turn(4, "hello") == ["Fixed"]
    assert bench.reports == []
    assert await bench.runner.drain()
    (result,) = bench.reports
    assert isinstance(result, ExtractionResult)
    assert (result.extractor, result.of_turn, result.event) == ("Fixed", 4, "turn")
    assert [(d.key, d.accepted) for d in result.decisions] == [
        ("app:score", True),
        ("app:mood", True),
        ("app:age", False),
    ]
    assert bench.state.snapshot() == {
        "app:score": 3,
        "app:mood": "sad",
        "temp:extracted:Fixed": {"score": 3, "mood": "sad", "age": None},
    }


async def test_a_rule_keeps_the_other_fields_in_the_whole_result_only() -> None:
    rule = FieldPromotion.overwrite("mood").to("user:mood")
    bench = Bench(Fixed({"score": 3, "mood": "sad"}, promotions=(rule,)))
    bench.turn(0, "hello")
    await bench.runner.drain()
    assert bench.state.snapshot() == {
        "user:mood": "sad",
        "temp:extracted:Fixed": {"score": 3, "mood": "sad"},
    }


async def test_empty_and_unwanted_windows_start_no_run() -> None:
    bench = Bench(Fixed())
    assert bench.turn(0, "") == []
    assert bench.turn(1, "skip this") == []
    assert bench.runner.running == frozenset()


async def test_the_window_has_the_turn_that_is_going_on() -> None:
    transcript = TranscriptBuffer()
    transcript.begin_turn(0, "voice", 0.0)
    transcript.add_input("pay ten euros")
    extractor = Fixed(trigger=ex.AFTER_TOOL_CALL)
    bench = Bench(extractor)
    assert bench.runner.trigger("tool-call", 0, transcript.window_with_current, tool="pay") == ["Fixed"]
    await bench.runner.drain()
    assert extractor.seen == ["pay ten euros"]


async def test_requests_during_a_run_become_one_run_on_the_newest_turn() -> None:
    extractor = Fixed(seconds=(5, 0))
    bench = Bench(extractor)
    for number, said in enumerate(["one", "two", "three", "four"]):
        bench.turn(number, said)
        await asyncio.sleep(0.5)
    await bench.runner.drain()
    assert extractor.seen == ["one", "four"]
    assert extractor.most_at_once == 1
    assert [(r.of_turn, r.merged) for r in bench.reports] == [(0, 0), (3, 2)]


async def test_extractors_run_side_by_side() -> None:
    bench = Bench(Fixed(name="slow", seconds=(5,)), Fixed(name="quick", seconds=(1,)))
    began = asyncio.get_running_loop().time()
    bench.turn(0, "hello")
    await bench.runner.drain()
    assert [r.extractor for r in bench.reports] == ["quick", "slow"]
    assert asyncio.get_running_loop().time() - began == pytest.approx(5)


async def test_a_result_after_the_deadline_is_discarded_and_reported() -> None:
    bench = Bench(Fixed(seconds=(60,), deadline_s=2.0))
    bench.turn(7, "hello")
    await bench.runner.drain()
    (failure,) = bench.reports
    assert isinstance(failure, ExtractionFailure)
    assert (failure.raised_at, failure.of_turn, failure.duration_s) == ("", 7, 2.0)
    assert "took longer than 2 s" in failure.text
    assert bench.state.snapshot() == {}


async def test_an_extractor_that_ignores_its_deadline_counts_as_running_until_it_ends() -> None:
    seen = []

    async def stubborn(window: TranscriptWindow) -> dict[str, Any]:
        seen.append(window.last_user)
        for _ in range(3):
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                continue
        return {"late": True}

    bench = Bench(ex.FunctionExtractor(function=stubborn, deadline_s=1.0))
    bench.turn(0, "one")
    await asyncio.sleep(5)
    bench.turn(1, "two")
    assert seen == ["one"]
    await bench.runner.drain()
    assert seen == ["one", "two"]
    assert ["took longer" in r.text for r in bench.reports if isinstance(r, ExtractionFailure)] == [True, True]
    assert "app:late" not in bench.state


async def test_an_extractor_that_raises_is_reported_and_runs_again() -> None:
    extractor = Fixed(ValueError("\x1b[31mred" + "x" * 500))
    bench = Bench(extractor)
    bench.turn(0, "one")
    await bench.runner.drain()
    extractor.found = {"a": 1}
    bench.turn(1, "two")
    await bench.runner.drain()
    failure, result = bench.reports
    assert isinstance(failure, ExtractionFailure)
    assert failure.text.startswith("ValueError: redxxx")
    assert len(failure.text) <= len("ValueError: ") + 80
    assert failure.raised_at.startswith("test_extraction.py:")
    assert isinstance(result, ExtractionResult)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (GeminiLiveError("The model is away", remedy="Wait"), "The model is away. Wait."),
        (SystemExit(3), "RuntimeError: it called sys.exit(3)"),
        (asyncio.CancelledError(), "It cancelled itself"),
        (["a"], "TypeError: it returned list, not an object"),
    ],
)
async def test_other_ways_to_fail_are_reports_too(found: Any, text: str) -> None:
    bench = Bench(Fixed(found))
    bench.turn(0, "one")
    await bench.runner.drain()
    (failure,) = bench.reports
    assert isinstance(failure, ExtractionFailure)
    assert failure.text == text


async def test_a_field_that_json_cannot_hold_is_refused_alone() -> None:
    bench = Bench(Fixed({"bad": object(), "inf": float("inf"), "good": 1}))
    bench.turn(0, "one")
    await bench.runner.drain()
    (result,) = bench.reports
    assert isinstance(result, ExtractionResult)
    assert [refusal.field for refusal in result.refused] == ["bad", "inf"]
    assert bench.state["app:good"] == 1


async def test_a_should_extract_that_raises_is_reported() -> None:
    class Broken(Fixed):
        def should_extract(self, window: TranscriptWindow) -> bool:
            raise LookupError("no")

    bench = Bench(Broken())
    assert bench.turn(0, "one") == []
    (failure,) = bench.reports
    assert isinstance(failure, ExtractionFailure)
    assert failure.text == "LookupError: no"


async def test_a_listener_that_raises_does_not_keep_the_extractor_from_running_again() -> None:
    messages: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: messages.append(context["message"]))
    extractor = Fixed()
    runner = ExtractionRunner(
        State(), ex.ExtractionSchedule([extractor]), None, LoopClock(), lambda result: 1 / 0, lambda failure: None
    )
    turn = TranscriptWindow((TranscriptTurn(number=0, by="voice", started_at=0.0, user="hi"),))
    for number in range(2):
        runner.trigger("turn", number, lambda n: turn)
        await runner.drain()
    assert len(extractor.seen) == len(messages) == 2


async def test_a_plain_function_runs_in_a_thread_of_its_own() -> None:
    threads = []

    def words(window: TranscriptWindow) -> dict[str, Any]:
        threads.append(threading.current_thread())
        return {"words": len(window.last_user.split())}

    bench = Bench(words)
    assert bench.turn(0, "one two three") == ["words"]
    await bench.runner.drain()
    assert bench.state["app:words"] == 3
    assert threads[0] is not threading.main_thread()


async def test_an_async_function_and_one_that_finds_nothing_are_extractors_too() -> None:
    async def nothing(window: TranscriptWindow) -> None:
        return None

    bench = Bench(nothing)
    bench.turn(0, "one")
    await bench.runner.drain()
    (result,) = bench.reports
    assert isinstance(result, ExtractionResult)
    assert result.fields == {}


async def test_a_plain_function_that_hangs_past_its_deadline_is_not_started_twice() -> None:
    release = threading.Event()
    started = []

    def hang(window: TranscriptWindow) -> dict[str, Any]:
        started.append(window.last_user)
        release.wait(PATIENCE_S)
        return {"late": True}

    bench = Bench(ex.FunctionExtractor(function=hang, deadline_s=0.05))
    bench.turn(0, "one")
    await bench.reported.wait()
    bench.turn(1, "two")
    await asyncio.sleep(0)
    assert started == ["one"]
    assert bench.runner.running == {"hang"}
    release.set()
    await bench.runner.drain()
    assert started == ["one", "two"]
    late, result = bench.reports
    assert isinstance(late, ExtractionFailure)
    assert isinstance(result, ExtractionResult)


async def test_closing_cancels_runs_and_drops_requests() -> None:
    extractor = Fixed(seconds=(5, 5))
    bench = Bench(extractor)
    bench.turn(0, "one")
    bench.turn(1, "two")
    await asyncio.sleep(1)
    await bench.runner.close()
    assert bench.turn(2, "three") == []
    assert extractor.seen == ["one"]
    assert extractor.running == 0
    assert bench.reports == []
    assert bench.runner.running == frozenset()


async def test_closing_gives_runs_their_grace() -> None:
    bench = Bench(Fixed(seconds=(1,)))
    bench.turn(0, "one")
    await bench.runner.close(grace_s=2.0)
    assert len(bench.reports) == 1


async def test_draining_gives_up_after_its_grace() -> None:
    bench = Bench(Fixed(seconds=(5,)))
    bench.turn(0, "one")
    assert not await bench.runner.drain(1.0)
    assert await bench.runner.drain(10.0)


def test_an_extractor_that_needs_a_model_is_refused_without_one() -> None:
    class Asking(Fixed):
        needs_model = True

    with pytest.raises(AgentError, match="no text model for Fixed"):
        Bench(Asking())
    Bench(Asking(), model=ScriptedTextModel())


@pytest.mark.parametrize("of", [lambda rule: rule, lambda rule: iter([rule])], ids=["one", "iterator"])
def test_promotions_may_be_one_or_any_iterable(of: Any) -> None:
    rule = FieldPromotion.true_only("agreed")
    schema = {"type": "object", "properties": {"agreed": {"type": "boolean"}}}
    assert ex.FunctionExtractor(lambda window: {}, promotions=of(rule)).promotions == (rule,)
    assert LlmExtractor(schema, name="x", promotions=of(rule)).promotions == (rule,)


@pytest.mark.parametrize("promotions", ["agreed", ["agreed"], None, 5])
def test_promotions_of_another_kind_are_refused(promotions: Any) -> None:
    with pytest.raises(AgentError, match="promotions"):
        ex.FunctionExtractor(lambda window: {}, promotions=promotions)
