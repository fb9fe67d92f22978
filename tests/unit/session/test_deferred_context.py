"""Context that waits for a text or a setup to carry it."""

from __future__ import annotations

import pytest

from gemini_live_runtime.session.outbound.deferred_context import MAX_KEPT, DeferredContext

SO_FAR = "[Conversation so far]\nuser: hi"


@pytest.fixture
def deferred() -> DeferredContext:
    return DeferredContext()


def test_a_setup_carries_what_waits_and_is_only_taken_at_its_word(deferred: DeferredContext) -> None:
    deferred.hold(["a"])
    assert deferred.with_instruction("Be brief.", resuming=False) == "Be brief.\n\n[Context] a"
    # That connection was not made.
    assert deferred.with_instruction("Be brief.", resuming=False) == "Be brief.\n\n[Context] a"
    deferred.hold(["b"])
    assert deferred.confirm_setup() == ("a",)
    assert list(deferred.waiting) == ["b"]


def test_a_setup_of_nothing_is_nothing(deferred: DeferredContext) -> None:
    assert deferred.with_instruction("", resuming=False) == ""
    assert deferred.confirm_setup() == ()


def test_what_a_setup_carried_is_carried_as_long_as_the_session_is_resumed(deferred: DeferredContext) -> None:
    deferred.hold(["a"])
    deferred.with_instruction("I.", resuming=False, so_far=SO_FAR)
    assert deferred.confirm_setup() == (SO_FAR, "a")
    deferred.hold(["b"])
    assert deferred.with_instruction("I.", resuming=True) == f"I.\n\n{SO_FAR}\n\n[Context] a\n[Context] b"
    assert deferred.confirm_setup() == ("b",)
    assert deferred.with_instruction("I.", resuming=True) == f"I.\n\n{SO_FAR}\n\n[Context] a\n[Context] b"
    assert deferred.confirm_setup() == ()
    assert deferred.with_instruction("I.", resuming=False) == "I."


def test_only_the_newest_notes_of_earlier_setups_are_carried_again(deferred: DeferredContext) -> None:
    for number in range(MAX_KEPT + 1):
        deferred.hold([f"note {number}."])
        deferred.with_instruction("I.", resuming=True)
        deferred.confirm_setup()
    told = deferred.with_instruction("I.", resuming=True)
    assert "note 0." not in told
    assert "note 1." in told


def test_what_comes_while_a_connection_is_made_is_not_taken_for_told(deferred: DeferredContext) -> None:
    deferred.hold(str(number) for number in range(200))
    deferred.with_instruction("I.", resuming=True)
    assert deferred.hold(["new", "newer"]) == 2
    deferred.confirm_setup()
    assert list(deferred.waiting) == ["new", "newer"]
