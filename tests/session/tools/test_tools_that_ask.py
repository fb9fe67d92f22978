"""A tool that asks runs only after the operator has agreed to the call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Tool, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.embed import _spec, check_options
from gemini_live_runtime.errors import AgentError, EngineError
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.tools.consent import TOO_MANY, ConsentOptions, ConsentRequest
from gemini_live_runtime.session.agent.tools.consent_queue import MAX_QUESTIONS, PATIENCE_S

PAID: list[int] = []


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    PAID.clear()


@tool(consent="ask", side_effects=True)
def pay(euros: int = 5) -> str:
    """Pay an amount."""
    PAID.append(euros)
    return "paid"


def answers(t: Talk) -> list[dict[str, Any]]:
    return [answer[2] for answer in t.sent("answer")]


def question(t: Talk) -> ev.ConsentAsked:
    return t.all(ev.ConsentAsked)[-1]


def given(t: Talk) -> list[tuple[bool, str]]:
    return [(one.yes, one.by) for one in t.all(ev.ConsentGiven)]


async def says(t: Talk, yes: bool, **more: Any) -> str:
    return await t.commands(cmd.GiveConsent(id=question(t).id, yes=yes, **more))


async def test_a_call_waits_until_the_operator_agrees_and_runs_with_the_arguments_that_were_shown() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay", euros=7)
        assert (question(t).tool, question(t).args, question(t).call_id) == ("pay", {"euros": 7}, "c1")
        await t.passes(20.0)
        assert (PAID, answers(t)) == ([], [])
        assert await says(t, True) == ""
        assert (PAID, answers(t), given(t)) == ([7], [{"output": "paid"}], [(True, "operator")])


async def test_a_refusal_is_a_sentence_for_the_model() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay")
        await says(t, False)
        assert PAID == []
        (answer,) = answers(t)
        assert answer["error"].startswith("The user refused the call of pay, so it was not run.")
        assert [one.status for one in t.all(ev.ToolFinished)] == ["refused"]


async def test_no_answer_in_time_is_a_no() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay")
        await t.passes(PATIENCE_S - 0.1)
        assert answers(t) == []
        await t.passes(0.2)
        assert (PAID, given(t)) == ([], [(False, "time")])
        assert "Nobody agreed" in answers(t)[0]["error"]


async def test_the_debuggers_hold_takes_none_of_that_time() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay")
        await t.passes(10.0)
        await t.commands(cmd.HoldAgent())
        await t.passes(100.0)
        await t.commands(cmd.ReleaseAgent())
        await t.passes(PATIENCE_S - 11.0)
        assert given(t) == []
        await t.passes(2.0)
        assert given(t) == [(False, "time")]


async def test_the_tools_time_limit_begins_when_it_runs() -> None:
    @tool(consent="ask", timeout_s=1.0)
    async def build() -> str:
        """Build."""
        await asyncio.sleep(0.9)
        return "built"

    async with talk(agent().tools(build)) as t:
        await t.calls("build")
        await t.passes(25.0)
        await says(t, True)
        await t.passes(1.0)
        assert answers(t) == [{"output": "built"}]


async def test_one_question_is_open_at_a_time_and_each_has_its_own_time() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay", "pay", "pay")
        await t.passes(25.0)
        assert len(t.all(ev.ConsentAsked)) == 1
        await says(t, True)
        await t.passes(25.0)
        assert [one.call_id for one in t.all(ev.ConsentAsked)] == ["c1", "c2"]
        await says(t, False)
        await says(t, True)
        assert PAID == [5, 5]
        assert given(t) == [(True, "operator"), (False, "operator"), (True, "operator")]


async def test_a_model_that_asks_without_end_is_refused() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls(*["pay"] * (MAX_QUESTIONS + 5))
        assert answers(t) == [{"error": TOO_MANY.format(name="pay")}] * 5
        for _ in range(MAX_QUESTIONS):
            await says(t, False)
        assert (PAID, len(t.all(ev.ConsentAsked)), len(answers(t))) == ([], MAX_QUESTIONS, MAX_QUESTIONS + 5)
        await t.calls("pay")
        assert len(t.all(ev.ConsentAsked)) == MAX_QUESTIONS + 1


async def test_the_conversation_goes_on_while_a_call_waits() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay")
        await t.writes(x=1)
        await t.types("yes")
        await t.turn("yes, pay it", "yes")
        assert t.state["app:x"] == 1
        assert (PAID, given(t)) == ([], [])


async def test_a_cancelled_call_takes_its_question_back_and_the_next_is_asked() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay", "pay")
        await t.server.says(toolCallCancellation={"ids": ["c1"]})
        await t.rests()
        assert given(t) == [(False, "cancelled")]
        assert question(t).call_id == "c2"
        assert await says(t, True) == ""
        assert PAID == [5]
        assert [one.status for one in t.all(ev.ToolFinished)] == ["cancelled", "ok"]


async def test_the_end_of_the_session_is_a_no() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay", "pay")
    assert (PAID, [(one.yes, one.by) for one in t.all(ev.ConsentGiven)]) == ([], [(False, "end"), (False, "end")])
    assert len(t.all(ev.ToolFinished)) == 2


async def test_an_answer_to_another_question_is_refused() -> None:
    async with talk(agent().tools(pay)) as t:
        assert "no open question" in await t.commands(cmd.GiveConsent(id="q9", yes=True))
        await t.calls("pay", "pay")
        first = question(t).id
        await says(t, False)
        assert "no open question" in await t.commands(cmd.GiveConsent(id=first, yes=True))
        assert PAID == []


async def test_nothing_runs_before_the_disk_has_the_consent() -> None:
    @tool(consent="ask")
    def look() -> str:
        """Look."""
        PAID.append(1)
        return "seen"

    async with talk(agent().tools(look)) as t:
        await t.calls("look")
        t.stage.sink.takes = False
        await says(t, True)
        assert PAID == []
        assert "the disk did not take" in answers(t)[0]["error"]


async def test_a_denied_tool_is_refused_without_a_question() -> None:
    @tool(consent="deny")
    def erase() -> None:
        """Erase all."""
        PAID.append(0)

    async with talk(agent().tools(erase)) as t:
        await t.calls("erase")
        assert "not allowed here" in answers(t)[0]["error"]
        assert (PAID, t.all(ev.ConsentAsked)) == ([], [])


@pytest.mark.parametrize(("policy", "asks", "runs"), [("allow", 0, 1), ("ask", 1, 0), ("deny", 0, 0)])
async def test_the_sessions_policy_goes_ahead_of_the_profiles(
    tmp_path: Path, policy: Any, asks: int, runs: int
) -> None:
    with Harness.open(tmp_path) as harness:
        harness.consent.set_policy("pay", "deny" if policy != "deny" else "allow")
    options = ConsentOptions(policies={"pay": policy})
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path), consent=options) as t:
        await t.calls("pay")
        assert (len(t.all(ev.ConsentAsked)), len(PAID)) == (asks, runs)


@pytest.mark.parametrize("remembered", ["allow", "ask", "deny"])
@pytest.mark.parametrize("file", ["allow", "deny"])
async def test_what_is_remembered_goes_ahead_of_the_profiles_file(tmp_path: Path, remembered: Any, file: Any) -> None:
    with Harness.open(tmp_path) as harness:
        harness.consent.set_policy("pay", remembered)
    options = ConsentOptions(profile={"pay": file})
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path), consent=options) as t:
        await t.calls("pay")
        assert (len(t.all(ev.ConsentAsked)), len(PAID)) == (remembered == "ask", remembered == "allow")


@pytest.mark.parametrize(("file", "asks", "runs"), [("allow", 0, 1), ("ask", 1, 0), ("deny", 0, 0)])
async def test_the_profiles_file_goes_ahead_of_the_tool(tmp_path: Path, file: Any, asks: int, runs: int) -> None:
    options = ConsentOptions(profile={"pay": file})
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path), consent=options) as t:
        await t.calls("pay")
        assert (len(t.all(ev.ConsentAsked)), len(PAID)) == (asks, runs)


async def test_a_file_that_allows_a_tool_with_effects_does_not_help_where_a_refusal_may_be_remembered(
    tmp_path: Path,
) -> None:
    with Harness.open(tmp_path) as harness:
        harness.consent.set_policy("pay", "deny")
        harness.paths.consent.write_text("{")
    options = ConsentOptions(profile={"pay": "allow"})
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path), consent=options) as t:
        await t.calls("pay")
        assert (len(t.all(ev.ConsentAsked)), PAID) == (1, [])


async def test_the_profiles_policy_goes_ahead_of_the_tools(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        harness.consent.set_policy("pay", "deny")
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("pay")
        assert "not allowed here" in answers(t)[0]["error"]


# -- programs --------------------------------------------------------------------------------------------------------


async def test_a_program_answers_with_a_callback() -> None:
    asked: list[ConsentRequest] = []

    async def on_consent(request: ConsentRequest) -> bool:
        asked.append(request)
        return request.args["euros"] < 10

    options = ConsentOptions(on_consent=on_consent)
    async with talk(agent().tools(pay), consent=options) as t:
        await t.calls("pay", euros=7)
        await t.calls("pay", euros=70)
        assert (PAID, given(t)) == ([7], [(True, "program"), (False, "program")])
        assert [one.tool for one in asked] == ["pay", "pay"]


@pytest.mark.parametrize("answer", ["yes", 1, None])
async def test_only_true_is_a_yes_of_a_program(answer: Any) -> None:
    async with talk(agent().tools(pay), consent=ConsentOptions(on_consent=lambda request: answer)) as t:
        await t.calls("pay")
        assert (PAID, given(t)) == ([], [(False, "program")])


async def test_a_callback_that_fails_is_a_no_and_is_reported() -> None:
    def on_consent(request: ConsentRequest) -> bool:
        raise ValueError("no idea")

    async with talk(agent().tools(pay), consent=ConsentOptions(on_consent=on_consent)) as t:
        await t.calls("pay")
        assert (PAID, given(t)) == ([], [(False, "program")])
        assert ["no idea" in failure.error for failure in t.failures()] == [True]


async def test_where_nobody_can_answer_the_answer_is_no_at_once() -> None:
    async with talk(agent().tools(pay), consent=ConsentOptions(is_attended=False)) as t:
        await t.calls("pay", "pay")
        assert (PAID, given(t)) == ([], [(False, "unattended"), (False, "unattended")])
        assert "nobody can give it here" in answers(t)[0]["error"]


# -- grants that are remembered --------------------------------------------------------------------------------------


def building(steps: int, text: str = "Build.") -> Tool:
    def build() -> int:
        PAID.append(steps)
        return steps

    build.__doc__ = text
    return tool(consent="ask")(build)


async def grant(root: Path, asking: Tool) -> None:
    async with talk(agent().tools(asking), harness=HarnessWorker(root)) as t:
        await t.calls(asking.name)
        assert await says(t, True, remember=True) == ""
        assert [one.remembered for one in t.all(ev.ConsentGiven)] == [True]


async def test_a_grant_that_is_remembered_counts_in_the_next_session(tmp_path: Path) -> None:
    await grant(tmp_path, building(1))
    async with talk(agent().tools(building(1)), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        assert (PAID, given(t), t.all(ev.ConsentAsked)) == ([1, 1], [(True, "remembered")], [])


@pytest.mark.parametrize("changed", [building(2), building(1, "Build all of it.")])
async def test_a_tool_that_has_changed_asks_again(tmp_path: Path, changed: Tool) -> None:
    await grant(tmp_path, building(1))
    async with talk(agent().tools(changed), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        assert (PAID, len(t.all(ev.ConsentAsked))) == ([1], 1)


async def test_a_revoked_grant_asks_again_at_once(tmp_path: Path) -> None:
    await grant(tmp_path, building(1))
    async with talk(agent().tools(building(1)), harness=HarnessWorker(tmp_path)) as t:
        assert await t.commands(cmd.RevokeConsent(tool="build")) == ""
        assert t.all(ev.ConsentRevoked)[0].tools == ("build",)
        await t.calls("build")
        assert (PAID, len(t.all(ev.ConsentAsked))) == ([1], 1)
        assert "No consent of build is remembered" in await t.commands(cmd.RevokeConsent(tool="build"))


async def test_a_damaged_file_holds_no_grants_and_is_left_as_it_is(tmp_path: Path) -> None:
    await grant(tmp_path, building(1))
    file = tmp_path / "consent.json"
    file.write_text("{broken")
    async with talk(agent().tools(building(1)), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        assert len(t.all(ev.ConsentAsked)) == 1
        assert await says(t, True, remember=True) == ""
        assert PAID == [1, 1]
        assert [one.remembered for one in t.all(ev.ConsentGiven)] == [False]
        notices = [one.text for one in t.all(ev.Notice) if one.code == "consent"]
        assert ["does not count" in notices[0], "for this call only" in notices[1]] == [True, True]
    assert file.read_text() == "{broken"


async def test_without_readable_policies_tools_with_side_effects_ask(tmp_path: Path) -> None:
    @tool(side_effects=True)
    def send() -> None:
        """Send."""
        PAID.append(1)

    (tmp_path / "consent.json").write_text("{broken")
    async with talk(agent().tools(send), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("send")
        assert (PAID, "cannot be read" in question(t).reason) == ([], True)


async def test_a_policy_that_another_program_changes_counts_from_the_next_call_on(tmp_path: Path) -> None:
    @tool(side_effects=True)
    def send() -> None:
        """Send."""
        PAID.append(1)

    async with talk(agent().tools(send), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("send")
        for policy in ("deny", "ask"):
            with Harness.open(tmp_path) as harness:
                harness.consent.set_policy("send", policy)  # type: ignore[arg-type]
            await t.calls("send")
        assert [one.status for one in t.all(ev.ToolFinished)] == ["ok", "refused"]
        assert (PAID, len(t.all(ev.ConsentAsked))) == ([1], 1)


async def test_a_yes_to_a_tool_that_was_denied_meanwhile_does_not_count(tmp_path: Path) -> None:
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("pay")
        with Harness.open(tmp_path) as harness:
            harness.consent.set_policy("pay", "deny")
        await says(t, True)
        assert (PAID, [one.status for one in t.all(ev.ToolFinished)]) == ([], ["refused"])


async def test_a_poke_answers_the_questions_about_tools_that_are_denied_by_then(tmp_path: Path) -> None:
    async with talk(agent().tools(pay), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("pay", euros=1)
        await t.calls("pay", euros=2)
        with Harness.open(tmp_path) as harness:
            harness.consent.set_policy("pay", "deny")
        t.stage.session.on_records_changed()
        await t.passes(0.5)
        assert (PAID, given(t), len(t.all(ev.ConsentAsked))) == ([], [(False, "operator")] * 2, 1)


async def test_the_policies_of_the_profile_can_be_replaced_in_the_session() -> None:
    async with talk(agent().tools(pay), consent=ConsentOptions(profile={"pay": "allow"})) as t:
        await t.calls("pay")
        assert await t.commands(cmd.SetConsentPolicies(policies={})) == ""
        await t.calls("pay")
        assert await t.commands(cmd.SetConsentPolicies(policies={"pay": "deny"})) == ""
        assert (PAID, given(t)) == ([5], [(False, "operator")])
        assert "cannot be" in await t.commands(cmd.SetConsentPolicies(policies={"pay": "perhaps"}))


async def test_a_no_cannot_be_remembered() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay")
        assert "Only a yes" in await says(t, False, remember=True)
        assert given(t) == []


async def test_a_session_without_a_harness_root_remembers_nothing_and_says_so() -> None:
    async with talk(agent().tools(pay)) as t:
        await t.calls("pay")
        assert await says(t, True, remember=True) == ""
        assert (PAID, [one.remembered for one in t.all(ev.ConsentGiven)]) == ([5], [False])
        assert "for this call only" in next(one for one in t.all(ev.Notice) if one.code == "consent").text


async def test_a_tool_that_changes_while_its_question_is_open_does_not_run() -> None:
    async with talk(agent().tools(building(1))) as t:
        await t.calls("build")
        t.stage.orchestrator.tools.dispatcher.replace([building(2)])
        await says(t, True)
        assert PAID == []
        assert "has changed since the user was asked" in answers(t)[0]["error"]


async def test_a_secret_among_the_arguments_is_not_shown() -> None:
    key = "AIza" + "a1B2c3D4" * 4 + "xyz"
    async with talk(agent().tools(tool(consent="ask")(lambda_tool))) as t:
        await t.calls("lambda_tool", text=key)
        assert key not in str(question(t).args)


def lambda_tool(text: str) -> str:
    """Note a text."""
    return text


@pytest.mark.parametrize("policy", ["yes", None, 1, ["ask"]])
def test_a_policy_that_is_none_is_refused_by_name(policy: Any) -> None:
    with pytest.raises(AgentError, match="consent cannot be"):
        tool(consent=policy)(lambda_tool)


# -- what programs give ----------------------------------------------------------------------------------------------


def specified(**options: Any) -> tuple[bool, Any]:
    """Return a spec's part in consent."""
    spec = _spec("test", options)
    return spec.headless, spec.consent


def test_a_program_sets_the_policies_of_its_session() -> None:
    assert specified(consent={"pay": "ask"}) == (True, {"pay": "ask"})


@pytest.mark.parametrize("consent", [{"pay": "maybe"}, ["pay"], {1: "ask"}])
def test_policies_that_are_none_are_refused_before_the_session(consent: Any) -> None:
    with pytest.raises(AgentError, match="consent cannot be"):
        specified(consent=consent)


def test_a_callback_that_cannot_be_called_is_refused_by_name() -> None:
    with pytest.raises(EngineError, match="on_consent is True"):
        check_options({"on_consent": True})


async def test_a_call_waits_longer_for_a_busy_disk_than_a_typed_text_does() -> None:
    async with talk(agent().tools(pay)) as t:
        t.stage.sink.takes_s = 0.3
        await t.calls("pay")
        await says(t, True)
        await t.passes(0.5)
        assert PAID == [5]


async def test_a_policy_for_a_tool_that_there_is_not_is_told_with_the_nearest_name() -> None:
    async with talk(agent().tools(pay), consent=ConsentOptions(policies={"pai": "allow"})) as t:
        await t.passes(1.0)
    (notice,) = [one for one in t.all(ev.Notice) if one.code == "consent"]
    assert "There is no tool 'pai'" in notice.text
    assert notice.remedy == "Did you mean pay?"
