"""Programs that give an `AgentSession` what it cannot use."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    Agent,
    ChatMessage,
    InlineTask,
    Live,
    MemoryWrite,
    NewNotification,
    PromptModel,
    ReactorRule,
    RunContext,
    ToolContext,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.core.speech_queue import SpeechPriority
from gemini_live_runtime.session.io.speech_handle import SpeechHandle


@pytest.mark.parametrize("priority", [float("nan"), float("inf"), 10**400, -1e308, True, "5", None])
async def test_a_priority_that_cannot_be_is_refused(priority: Any) -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="priority cannot be"):
            t.stage.session.agent_session.generate_reply("hello", priority=priority)
        assert t.stage.session.agent_session.generate_reply("hello", priority=SpeechPriority.HIGH)


@pytest.mark.parametrize("text", [None, 5, b"hello", ["hello"]])
async def test_a_message_without_text_is_refused(text: Any) -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="A message's text cannot be"):
            t.stage.session.agent_session.update_chat_ctx([ChatMessage("user", text)])


async def test_a_chat_context_beyond_any_models_is_refused_before_it_is_read_to_its_end() -> None:
    endless = itertools.repeat(ChatMessage("user", "hello"))
    async with talk(agent()) as t:
        for messages, count in (
            (endless, "51 messages"),
            ([ChatMessage("user", "x" * 1_000_001)], "1,000,001 characters"),
        ):
            with pytest.raises(AgentError, match=f"{count} is too long"):
                t.stage.session.agent_session.update_chat_ctx(messages)


async def test_faults_of_a_speechs_callbacks_are_reported_and_the_others_are_called() -> None:
    called: list[str] = []

    def fail(speech: SpeechHandle) -> None:
        raise ValueError("no")

    async def fail_later(speech: SpeechHandle) -> None:
        raise ValueError("not now")

    async def note(speech: SpeechHandle) -> None:
        called.append(speech.id)

    async with talk(agent()) as t:
        speech = t.stage.session.agent_session.generate_reply("hello")
        for callback in (fail, fail_later, note, lambda handle: note(handle), lambda: called.append("without it")):
            speech.add_done_callback(callback)
        await t.says("Hello.")
        await t.ends()
        assert sorted(called) == [speech.id, speech.id, "without it"]
        assert [(fault.where, fault.error) for fault in t.failures()] == [
            (f"done callback of {speech.id}", "ValueError: no"),
            (f"done callback of {speech.id}", "ValueError: not now"),
        ]


async def test_agents_that_are_made_without_end_are_known_up_to_a_limit() -> None:
    numbers = itertools.count()

    def another() -> Live:
        return Live.builder(f"agent-{next(numbers)}").instruction("Help.").hands_over_to(another)

    async with talk(agent().hands_over_to(another)) as t:
        assert t.stage.session.orchestrator.agent.plan.name == "test"
    assert next(numbers) < 200


class Unmade(Agent):
    """Agent whose own beginning leaves that of all agents out."""

    def __init__(self) -> None:
        self.orders = 0


class UnmadeTask(InlineTask[str]):
    """Task of the same kind."""

    def __init__(self) -> None:
        self.orders = 0


async def test_an_agent_whose_init_does_not_call_that_of_agents_is_refused_with_the_remedy() -> None:
    @tool
    def escalate() -> Any:
        """Hand over."""
        return Unmade()

    @tool
    async def ask(context: RunContext) -> str:
        """Ask."""
        return await UnmadeTask()

    async with talk(agent().tools(escalate, ask)) as t:
        with pytest.raises(AgentError, match=r"Call super\(\).__init__\(...\) in Unmade.__init__"):
            t.stage.session.agent_session.update_agent(Unmade())
        await t.calls("escalate", "ask")
        said = [str(ended.result) for ended in t.all(ev.ToolFinished)]
    assert ["Call super().__init__(...) in Unmade" in text for text in said] == [True, True]
    assert not hasattr(Unmade(), "orders_of_today")


@pytest.mark.parametrize("wraps", [lambda kind: kind, lambda kind: (kind, "soon"), lambda kind: [kind]])
async def test_a_tool_that_returns_the_class_of_an_agent_is_answered_with_the_remedy(wraps: Any) -> None:
    @tool
    def escalate() -> Any:
        """Hand over."""
        return wraps(Unmade)

    async with talk(agent().tools(escalate)) as t:
        await t.calls("escalate")
        assert "make one, by calling the class" in str(t.sent("answer"))


@pytest.mark.parametrize("field", ["tools", "phases", "phrases", "hands_over_to"])
@pytest.mark.parametrize("items", [5, "abc", None])
def test_options_that_hold_no_items_are_refused(field: str, items: Any) -> None:
    with pytest.raises(AgentError, match=f"{field} cannot be {items!r}"):
        Agent(name="one", instructions="Help.", **{field: items})


@pytest.mark.parametrize("target", ["specialist", 5, None])
def test_what_is_no_agent_cannot_be_handed_over_to(target: Any) -> None:
    with pytest.raises(AgentError, match=f"hands_over_to cannot hold {target!r}"):
        Agent(name="one", instructions="Help.", hands_over_to=[target])


@pytest.mark.parametrize(
    "rule",
    [
        {"user_away_timeout": 10**400},
        {"false_interruption_timeout": 10**400},
        {"min_interruption_duration": 10**400},
        {"min_interruption_words": 10**7},
        {"max_tool_steps": 10**7},
    ],
    ids=lambda rule: next(iter(rule)),
)
async def test_rules_with_numbers_that_no_float_holds_are_refused(rule: dict[str, Any]) -> None:
    (name,) = rule
    with pytest.raises(AgentError, match=f"{name} cannot be 1000"):
        Agent(name="one", instructions="Help.", turn_detection="client", interruptions_by="client", **rule)
    async with talk(agent().turn_taking("client").interruptions("client")) as t:
        with pytest.raises(GeminiLiveError, match=f"{name} cannot be 1000"):
            await t.stage.session.agent_session.update_options(**rule)


@pytest.mark.parametrize("wait", [lambda t: t.drain(), lambda t: t.run("hello"), lambda t: t.handle.until_quiet()])
async def test_code_that_the_session_waits_for_does_not_wait_for_the_session(wait: Any) -> None:
    problems: list[str] = []

    async def refused(session: Any) -> None:
        try:
            await wait(session)
        except AgentError as error:
            problems.append(error.message)

    @tool
    async def end(context: RunContext) -> None:
        """End."""
        await refused(context.session)

    async with talk(agent().tools(end).on_enter(refused)) as t:
        session = t.stage.session.agent_session

        @session.on("conversation_item_added")
        async def listen(event: Any) -> None:
            await refused(session)
            session.shutdown()

        await t.hears("goodbye")
        await t.calls("end")
        await t.says("Goodbye.")
        await t.ends()
        async with asyncio.timeout(60):
            await t.stage.session.done
    assert all("cannot wait" in problem for problem in problems)
    assert len(problems) >= 3


@pytest.mark.parametrize(
    ("tell", "problem"),
    [
        (lambda context: context.notify(5), "What a tool tells the operator is text, not int: 5"),
        (lambda context: context.notify(None), "What a tool tells the operator is text, not NoneType: None"),
        (lambda context: context.progress(10**400), "The progress of a tool cannot be 1000"),
    ],
)
@pytest.mark.parametrize("in_thread", [True, False])
async def test_what_a_tool_cannot_tell_is_refused_where_it_tells_it(tell: Any, problem: str, in_thread: bool) -> None:
    @tool
    def plain(context: ToolContext) -> None:
        """Tell."""
        tell(context)

    @tool
    async def asynchronous(context: ToolContext) -> None:
        """Tell."""
        tell(context)

    async with talk(agent().tools(plain, asynchronous)) as t:
        await t.calls("plain" if in_thread else "asynchronous")
        assert problem in str(t.sent("answer"))


@pytest.mark.parametrize(
    ("keep", "problem"),
    [
        (lambda harness: harness.notify(None), "A notification is a text or a NewNotification, not None"),
        (
            lambda harness: harness.notify(NewNotification(title="x", due_at_ms="soon")),
            "Expected `int`",
        ),
        (lambda harness: harness.notify(NewNotification(title="x", payload=[float("nan")])), "payload has a NaN"),
        (lambda harness: harness.remember("x"), "A memory is a MemoryWrite, not 'x'"),
        (lambda harness: harness.remember(MemoryWrite(scope="s", key="k", value=float("nan"))), "value has a NaN"),
    ],
)
async def test_a_record_that_could_not_be_read_again_is_not_written(keep: Any, problem: str) -> None:
    async with talk(agent()) as t:
        with pytest.raises(GeminiLiveError, match=problem):
            await keep(t.handle.harness)
        kept = await t.handle.harness.call(lambda harness: harness.notifications.find())
        assert (kept.records, kept.problems) == ([], [])


async def test_a_rule_that_returns_an_effect_alone_is_told_to_return_a_list() -> None:
    rule = ReactorRule("eager", lambda event, voice, state: PromptModel())  # type: ignore[arg-type, return-value]
    async with talk(agent().rule(rule)) as t:
        assert "a rule returns a list of effects, not PromptModel" in t.failures()[0].error


class Selfish(Agent):
    """Agent that names its own object."""

    def __init__(self) -> None:
        super().__init__(name="one", instructions="Help.", hands_over_to=[self])


ONE = Live.builder("one").instruction("Help.")


@pytest.mark.parametrize("make", [Selfish, ONE.hands_over_to(ONE).plan])
def test_an_agent_that_hands_over_to_itself_is_refused_by_its_plan(make: Callable[[], Any]) -> None:
    with pytest.raises(AgentError, match="Agent one cannot hand over to itself"):
        make()


def test_two_agents_with_one_name_cannot_be_told_apart() -> None:
    two, other = (Live.builder("two").instruction(text) for text in ("Repair.", "Sell."))
    with pytest.raises(AgentError, match="hands_over_to has two agents with the name 'two'"):
        ONE.hands_over_to(two, other).plan()
    assert ONE.hands_over_to(two, two, lambda: other).plan()
