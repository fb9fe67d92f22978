"""Tests of agents: runs, expectations on what followed, and tools that are mocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    Agent,
    AgentHandoff,
    AgentSession,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
    InlineTask,
    Live,
    RunContext,
    RunResult,
    mock_tools,
    run_virtual,
    tool,
)
from gemini_live_runtime.errors import AgentError


class Repairs(Agent):
    """Repair."""

    def __init__(self) -> None:
        super().__init__(instructions="Repair.", hands_over_to=())


class Reception(Agent):
    """Answer the phone."""

    def __init__(self) -> None:
        super().__init__(instructions="Answer the phone.")

    @tool
    def get_weather(self, city: str) -> str:
        """Get the weather in a city."""
        return f"Sunny in {city}."

    @tool
    def ask_repairs(self) -> Repairs:
        """Hand over to the repairs."""
        return Repairs()


CALL = FunctionCall("c1", "get_weather", '{"city": "Rome", "days": 2}')
FOLLOWED = RunResult(
    (
        ChatMessage("assistant", "Let me look."),
        CALL,
        FunctionCallOutput("c1", "get_weather", '{"output": "sunny"}'),
        ChatMessage("assistant", "It is sunny."),
        AgentHandoff("reception", "repairs"),
    ),
    {"repairs": Repairs()},
)


def followed() -> RunResult:
    """Return a result whose cursor is at its beginning."""
    return RunResult(FOLLOWED.items, {"repairs": Repairs()})


def run(text: str, of: Agent | None = None) -> RunResult:
    """Say a text to an agent on the embedded server."""

    async def main() -> RunResult:
        async with AgentSession(backend="local", fast=True) as session:
            await session.start(of or Reception())
            return await session.run(text)

    return run_virtual(main())


def test_a_run_tells_messages_calls_and_answers_in_their_order() -> None:
    result = run("get weather in Rome")
    call = result.expect.next_event("function_call").is_function_call(name="get_weather")
    result.expect.next_event().is_function_call_output(is_error=False)
    result.expect.next_event().is_message(role="assistant", contains="Sunny")
    result.expect.no_more_events()
    assert call.name == "get_weather"


def test_a_run_tells_the_agent_that_took_over_by_its_class() -> None:
    result = run("ask repairs")
    result.expect.contains_function_call(name="ask_repairs")
    result.expect.contains_agent_handoff(new_agent_type=Repairs)
    assert result.handoffs == ("repairs",)


def test_a_run_ends_when_a_task_waits_for_the_user() -> None:
    class Survey(InlineTask[str]):
        """Ask."""

        def __init__(self) -> None:
            super().__init__(instructions="Ask.")

        @tool
        def finish_survey(self) -> str:
            """Finish the survey."""
            self.complete("good")
            return "thank you"

    class Host(Agent):
        """Host a survey."""

        def __init__(self) -> None:
            super().__init__(instructions="Host a survey.")

        @tool
        async def begin_survey(self, context: RunContext) -> str:
            """Begin the survey."""
            return f"They said {await Survey()}."

    async def main() -> None:
        async with AgentSession(backend="local", fast=True) as session:
            await session.start(Host())
            result = await session.run("begin survey")
            result.expect.contains_agent_handoff(new_agent_type=Survey)
            result = await session.run("finish survey")
            result.expect.contains_function_call_output(output="They said good.")
            result.expect.contains_agent_handoff(new_agent_type=Host)

    run_virtual(main())


def test_a_run_inside_a_run_is_refused() -> None:
    refused: list[AgentError] = []

    class Nested(Agent):
        """Run."""

        def __init__(self) -> None:
            super().__init__(instructions="Run.")

        @tool
        async def run_again(self, context: RunContext) -> str:
            """Run again."""
            try:
                await context.session.run("run again")
            except AgentError as error:
                refused.append(error)
            return "done"

    run("run again", Nested())
    assert [error.message for error in refused] == ["Another run goes on already"]


async def test_a_cut_answer_is_told_with_what_was_heard() -> None:
    async with talk(agent(), mode="text") as t:
        running = asyncio.create_task(t.stage.session.agent_session.run("hello"))
        await t.rests()
        await t.says("Good evening")
        await t.server.says(serverContent={"interrupted": True})
        await t.ends()
        await t.passes(20)
        (message,) = (await running).items
        assert isinstance(message, ChatMessage)
        assert (message.text, message.interrupted) == ("Good evening", True)


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda e: e.next_event().is_message(role="user"), "Expected a message with role='user'"),
        (lambda e: e.next_event().is_message(contains="rain"), "Expected a message with contains='rain'"),
        (lambda e: e.next_event().is_function_call(name="x"), "Expected a function call with name='x'"),
        (
            lambda e: e[1].is_function_call(arguments={"city": "Paris"}),
            "Expected a function call with arguments={'city': 'Paris'}",
        ),
        (lambda e: e[2].is_function_call_output(output="rain"), "Expected the output of a function call with output="),
        (lambda e: e[2].is_function_call_output(is_error=True), "with is_error=True"),
        (lambda e: e[4].is_agent_handoff(new_agent_type=Reception), "Expected a hand-off with new_agent_type="),
        (lambda e: e.no_more_events(), "Expected no more events"),
        (lambda e: e.skip_next(6), "Expected 6 more events to skip, and there are 5"),
        (lambda e: e[5], "Expected an event 5, and there are 5"),
        (lambda e: e.skip_next(5).next_event(), "Expected another event, and there is none"),
        (lambda e: e.contains_message(contains="rain"), "Expected a message with contains='rain' among them"),
        (lambda e: e[:1].contains_function_call(name="get_weather"), "Expected a function call with name="),
        (lambda e: e[3:].contains_function_call_output(), "Expected a function call output among them"),
        (lambda e: e[:3].contains_agent_handoff(), "Expected a agent handoff among them"),
    ],
)
def test_a_failed_expectation_prints_what_followed(check: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check(followed().expect)
    text = str(raised.value)
    assert said.replace("a agent", "an agent") in text
    assert "What followed:" in text


def test_a_failed_expectation_marks_the_item_it_is_about() -> None:
    expect = followed().expect
    expect.skip_next()
    with pytest.raises(AssertionError) as raised:
        expect.next_event().is_message()
    assert str(raised.value).splitlines() == [
        "Expected a message. What followed:",
        "  0 message of the assistant: Let me look.",
        '> 1 function call get_weather({"city": "Rome", "days": 2})',
        '  2 output of get_weather: {"output": "sunny"}',
        "  3 message of the assistant: It is sunny.",
        "  4 hand-off from reception to repairs",
    ]


def test_the_cursor_moves_over_what_is_expected_and_skipped() -> None:
    expect = followed().expect
    assert expect.skip_next_event_if("function_call") is None
    assert expect.skip_next_event_if("message", contains="look") == FOLLOWED.items[0]
    assert expect.next_event().is_function_call(name="get_weather", arguments={"city": "Rome"}) is CALL
    assert expect.next_event("agent_handoff").is_agent_handoff(new_agent_type="repairs").agent == "repairs"
    assert expect.skip_next_event_if("message") is None
    expect.no_more_events()
    assert expect[-1].item == FOLLOWED.items[-1]
    assert len(expect[1:3]) == 2
    with pytest.raises(AgentError, match="no kind of event 'call'"):
        expect.next_event("call")  # type: ignore[arg-type]


def test_a_mock_stands_in_for_a_tool_with_the_arguments_that_it_names() -> None:
    cities: list[str] = []

    def rain(city: str) -> str:
        cities.append(city)
        return "Rain."

    with mock_tools(Reception, {"get_weather": rain}):
        result = run("get weather in Rome")
    result.expect.contains_function_call_output(output="Rain.")
    assert len(cities) == 1
    run("get weather in Rome").expect.contains_message(contains="Sunny")


def test_a_mock_may_be_async_may_raise_and_may_want_nothing() -> None:
    async def storm() -> str:
        raise ValueError("no weather today")

    reception = Reception()
    with mock_tools(reception, {"get_weather": storm}):
        result = run("get weather in Rome", reception)
    output = result.expect.contains_function_call_output(is_error=True)
    assert output.output == '{"error": "no weather today"}'


def test_the_newest_mock_of_a_tool_counts_and_those_of_other_agents_do_not() -> None:
    other = Live.builder("other").instruction("Be kind.").tools(Reception().tools[0])
    with (
        mock_tools(Reception, {"get_weather": lambda: "one"}),
        mock_tools(Reception, {"get_weather": lambda: "two"}),
        mock_tools(other, {"get_weather": lambda: "three"}),
    ):
        run("get weather in Rome").expect.contains_function_call_output(output="two")


def test_a_mock_of_a_tool_that_is_not_there_is_refused() -> None:
    with (
        pytest.raises(AgentError, match="Agent reception has no tool get_whether"),
        mock_tools(Reception(), {"get_whether": lambda: "x"}),
    ):
        pass
    with (
        pytest.raises(AgentError, match="get_weather cannot be mocked by 'rain'"),
        mock_tools(
            Reception,
            {"get_weather": "rain"},  # type: ignore[dict-item]
        ),
    ):
        pass
