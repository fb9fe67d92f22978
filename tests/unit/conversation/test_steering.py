"""Steering: one instruction, and only context that changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.conversation.steering import Steering, SteeringInput, SteeringMode, SteeringOutput

UPDATE, CONTEXT, HYBRID = SteeringMode


def turn(**things: Any) -> SteeringInput:
    return SteeringInput(**{"base": "Base.", **things})


def send(steering: Steering, **things: Any) -> SteeringOutput:
    output = steering.decide(turn(**things))
    steering.confirm(output)
    return output


def started(mode: SteeringMode, **things: Any) -> Steering:
    steering = Steering(mode)
    send(steering, **things)
    return steering


# -- the instruction ---------------------------------------------------------------------------------------------------


def test_the_instruction_is_base_phase_modifiers_and_amendment() -> None:
    output = Steering(UPDATE).decide(turn(phase="Phase.", modifiers=("One.", "Two."), amendment="More."))
    assert output.instruction == "Base.\n\nPhase.\n\nOne.\n\nTwo.\n\nMore."
    assert output.context == ()


def test_a_template_replaces_everything() -> None:
    output = Steering(UPDATE).decide(turn(phase="Phase.", modifiers=("One.",), amendment="More.", template="Mine."))
    assert output.instruction == "Mine."


def test_an_unchanged_instruction_is_sent_once() -> None:
    steering = Steering(UPDATE)
    assert [send(steering, template="SYSTEM").instruction for _ in range(3)] == ["SYSTEM", None, None]


def test_an_amendment_that_ends_reverts() -> None:
    steering = started(UPDATE, phase="Phase.")
    assert send(steering, phase="Phase.", amendment="More.").instruction == "Base.\n\nPhase.\n\nMore."
    output = send(steering, phase="Phase.")
    assert output.instruction == "Base.\n\nPhase."
    assert output.reasons == ("amendment ended",)


def test_a_template_that_ends_reverts() -> None:
    steering = started(UPDATE, template="Mine.")
    assert send(steering).instruction == "Base."


def test_an_amendment_without_a_base_is_sent_and_called_off() -> None:
    steering = started(UPDATE, base="")
    assert send(steering, base="", amendment="More.").instruction == "More."
    assert send(steering, base="").instruction == "[No longer applies] More."
    assert not send(steering, base="")


def test_without_any_text_there_is_no_instruction() -> None:
    assert not Steering(UPDATE).decide(turn(base=""))


def test_a_modifier_that_changes_on_a_quiet_turn_updates_the_instruction() -> None:
    steering = started(UPDATE, modifiers=("[Context: n=1]",))
    output = send(steering, modifiers=("[Context: n=2]",))
    assert output.instruction == "Base.\n\n[Context: n=2]"
    assert output.reasons == ("state changed",)


def test_the_instruction_of_a_setup_counts_as_sent() -> None:
    steering = Steering(UPDATE)
    steering.confirm_setup("Base.\n\nPhase.")
    assert not steering.decide(turn(phase="Phase."))
    assert steering.instruction == "Base.\n\nPhase."


def test_context_is_confirmed_apart_from_the_instruction_when_it_leaves_its_queue() -> None:
    steering = started(HYBRID, modifiers=("Old.",))
    output = steering.decide(turn(phase="Phase.", modifiers=("New.",)))
    steering.confirm(steering.without_context(output))
    assert send(steering, phase="Next.", modifiers=("Newest.",)).context == ("[No longer applies] Old.", "Newest.")

    steering.confirm_context(output)
    assert steering.instruction == "Base.\n\nNext."
    assert steering.decide(turn(phase="Next.")).context == ("[No longer applies] New.",)


def test_a_failed_send_is_decided_again() -> None:
    steering = started(HYBRID)
    later = turn(phase="Phase.", modifiers=("One.",), tools=("a",), nudge="Ask.")
    first = steering.decide(later)
    assert steering.decide(later) == first
    steering.confirm(first)
    assert not steering.decide(later)


def test_after_a_connection_that_resumed_nothing_everything_is_sent_again() -> None:
    steering = Steering(HYBRID)
    everything = {"phase": "Phase.", "modifiers": ("One.",), "tools": ("a",)}
    first = send(steering, **everything)
    steering.forget()
    assert send(steering, **everything) == first


# -- modifiers and the phase as context --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", SteeringMode)
def test_a_modifier_reaches_the_model_once_also_on_a_transition(mode: SteeringMode) -> None:
    steering = started(mode, phase="Old.")
    output = send(steering, phase="New.", modifiers=("Unique.",), transitioned=True)
    assert f"{output.instruction} {' '.join(output.context)}".count("Unique.") == 1


def test_hybrid_puts_the_phase_into_the_instruction_and_modifiers_into_the_context() -> None:
    output = Steering(HYBRID).decide(turn(phase="Phase.", modifiers=("One.",)))
    assert output.instruction == "Base.\n\nPhase."
    assert output.context == ("One.",)


def test_context_injection_leaves_the_instruction_alone() -> None:
    steering = started(CONTEXT, phase="Old.")
    output = send(steering, phase="New.", modifiers=("One.",), transitioned=True)
    assert output.instruction is None
    assert output.context == ("One.", "New.")


def test_context_injection_tells_a_template_as_one_line() -> None:
    output = send(started(CONTEXT), phase="Phase.", template="SYSTEM")
    assert output.instruction is None
    assert output.context == ("SYSTEM",)


def test_context_injection_tells_the_phase_again_when_an_amendment_ends() -> None:
    steering = started(CONTEXT, phase="Phase.")
    assert send(steering, phase="Phase.", amendment="More.").context == ("Phase.\n\nMore.",)
    assert send(steering, phase="Phase.").context == ("Phase.",)


def test_context_injection_calls_off_an_amendment_where_there_is_no_phase() -> None:
    steering = started(CONTEXT)
    send(steering, amendment="More.")
    assert send(steering).context == ("[No longer applies] More.",)


def test_a_new_base_replaces_the_instruction_in_every_mode() -> None:
    assert send(started(CONTEXT), base="Other.").instruction == "Other."


@pytest.mark.parametrize("mode", [CONTEXT, HYBRID])
def test_an_unchanged_modifier_is_sent_once_over_four_turns(mode: SteeringMode) -> None:
    steering = started(mode)
    assert [send(steering, modifiers=("One.",)).context for _ in range(4)] == [("One.",), (), (), ()]


def test_only_the_modifier_that_changed_is_sent() -> None:
    steering = started(HYBRID, modifiers=("One.", "n=1"))
    assert send(steering, modifiers=("One.", "n=2")).context == ("[No longer applies] n=1", "n=2")


def test_a_modifier_that_applies_again_is_sent_again() -> None:
    steering = started(HYBRID, modifiers=("Angry.",))
    assert send(steering).context == ("[No longer applies] Angry.",)
    assert send(steering, modifiers=("Angry.",)).context == ("Angry.",)


def test_a_phase_that_is_entered_again_is_sent_again() -> None:
    steering = started(CONTEXT, phase="A.")
    sent = [send(steering, phase=phase).context for phase in ("B.", "A.")]
    assert sent == [("B.",), ("A.",)]


# -- tools, repair, entering, prompting --------------------------------------------------------------------------------


def test_the_context_comes_in_its_order() -> None:
    output = send(
        started(CONTEXT),
        phase="Phase.",
        modifiers=("Modifier.",),
        tools=("a", "b"),
        nudge="Nudge.",
        on_enter=("Entered.",),
        transitioned=True,
    )
    assert output.context == (
        "[Tools] Only these may be used now: a, b.",
        "Nudge.",
        "Modifier.",
        "Phase.",
    )
    assert output.entered == ("Entered.",)
    assert output.reasons == ("tools changed", "repair", "modifier changed", "phase changed", "phase entered")


def test_a_restriction_of_tools_is_sent_once() -> None:
    steering = started(UPDATE)
    assert send(steering, tools=("a",)).context
    assert not send(steering, tools=("a",))


def test_a_phase_without_an_allow_list_clears_the_restriction() -> None:
    steering = started(UPDATE, tools=("a",))
    assert send(steering).context == ("[Tools] All tools may be used again.",)
    assert not send(steering)


def test_no_tool_at_all_may_be_allowed() -> None:
    assert send(started(UPDATE), tools=()).context == ("[Tools] No tool may be used now.",)


def test_at_first_all_tools_may_be_used_and_nothing_is_said() -> None:
    assert Steering(UPDATE).decide(turn()).context == ()


def test_a_nudge_is_sent_again_when_it_differs() -> None:
    steering = started(UPDATE)
    sent = [send(steering, nudge=nudge).context for nudge in ("Ask.", "Ask.", "Ask again.", "", "Ask.")]
    assert sent == [("Ask.",), (), ("Ask again.",), (), ("Ask.",)]


def test_the_context_of_entering_is_sent_every_time() -> None:
    steering = started(UPDATE)
    assert [send(steering, on_enter=("Hi.",), transitioned=True).entered for _ in range(2)] == [("Hi.",)] * 2


def test_a_prompt_is_passed_on() -> None:
    output = send(started(UPDATE), prompt=True)
    assert output.prompt
    assert output.reasons == ("model prompted",)
    assert output


# -- keeping and any order ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", SteeringMode)
def test_what_was_sent_as_context_survives_json(mode: SteeringMode) -> None:
    now: dict[str, Any] = {"phase": "P.", "modifiers": ("M.",), "tools": ("a",), "nudge": "N.", "amendment": "A."}
    again = Steering(mode)
    again.restore(json.loads(json.dumps(started(mode, **now).to_json())))
    again.confirm_setup(again.instruction_for(turn(**now)))
    assert not again.decide(turn(**now))


texts = st.sampled_from(["", "x", "y"])
inputs = st.builds(
    SteeringInput,
    base=texts,
    phase=st.sampled_from(["", "phase 1", "phase 2"]),
    modifiers=st.lists(st.sampled_from(["m1", "m2", "m3"]), unique=True, max_size=3).map(tuple),
    amendment=st.none() | st.sampled_from(["", "amend"]),
    template=st.none() | st.sampled_from(["", "template"]),
    transitioned=st.booleans(),
    tools=st.sampled_from([None, (), ("a",)]),
    nudge=st.sampled_from(["", "nudge"]),
)


@given(st.sampled_from(SteeringMode), st.lists(st.tuples(inputs, st.booleans()), max_size=12))
def test_a_model_that_gets_all_outputs_knows_the_current_state(
    mode: SteeringMode, turns: list[tuple[SteeringInput, bool]]
) -> None:
    steering = Steering(mode)
    instruction = ""
    tools = "[Tools] All tools may be used again."
    applying: set[str] = set()
    for now, delivered in turns:
        output = steering.decide(now)
        if not delivered:
            continue
        steering.confirm(output)
        assert not steering.decide(now)
        instruction = instruction if output.instruction is None else output.instruction
        for line in output.context:
            tools = line if line.startswith("[Tools]") else tools
        received = set(output.context) | (applying & set(now.modifiers))
        applying = set(now.modifiers)
        full = [part for part in (now.base, now.phase, *now.modifiers, now.amendment) if part]
        if mode is UPDATE:
            expected = now.template or "\n\n".join(full)
            assert instruction == expected or (not expected and instruction.startswith("[No longer")) or not instruction
        else:
            assert applying <= received
        assert tools.startswith("[Tools] All") is (now.tools is None)


# -- context that ended ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [CONTEXT, HYBRID])
def test_a_modifier_that_no_longer_holds_is_called_off(mode: SteeringMode) -> None:
    steering = started(mode, modifiers=("Apologise.", "Be slow."))
    assert send(steering, modifiers=("Be slow.",)).context == ("[No longer applies] Apologise.",)
    assert send(steering, modifiers=("Be slow.",)).context == ()
    assert send(steering, modifiers=("Be slow.", "Apologise.")).context == ("Apologise.",)


@pytest.mark.parametrize("mode", [CONTEXT, HYBRID])
def test_a_newer_value_of_a_label_calls_the_older_one_off_by_itself(mode: SteeringMode) -> None:
    steering = started(mode, modifiers=('[Context: plan="basic"]',))
    assert send(steering, modifiers=('[Context: plan="gold"]',)).context == ('[Context: plan="gold"]',)
    assert send(steering).context == ('[No longer applies] [Context: plan="gold"]',)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('[Context: plan="gold"]', '[Context: plan="a, x=1 b", score=1]'),
        ("[Caller] Name: Ada.", "[Caller] Name: Bo. Verified."),
        ("[Caller] Name: Ada.\n[Order] Items: 1.", "[Caller] Name: Ada.\n[Order] Items: 2."),
    ],
)
def test_newer_values_of_all_fields_replace_a_text_by_themselves(old: str, new: str) -> None:
    assert send(started(HYBRID, modifiers=(old,)), modifiers=(new,)).context == (new,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('[Context: coupon="half"]', '[Context: plan="gold"]'),
        ('[Context: plan="gold", score=1]', '[Context: plan="gold"]'),
        ('[Context: coupon=1, plan="gold"]', '[Context: plan="x, coupon=2"]'),
        ("[Note: speak slowly]", "[Note: the guest is a child]"),
        ("[Caller] Name: Ada. Verified.", "[Caller] Name: Ada."),
        ("[Caller] Name: Ada.\n[Order] Items: 1.", "[Caller] Name: Ada."),
    ],
)
def test_a_text_of_the_same_label_that_lacks_a_field_does_not_replace_it(old: str, new: str) -> None:
    context = send(started(HYBRID, modifiers=(old,)), modifiers=(new,)).context
    assert context == (f"[No longer applies] {old}", new)
