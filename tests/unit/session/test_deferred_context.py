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
    assert deferred.in_setup("Be brief.", resuming=False) == "Be brief.\n\n[Context] a"
    # That connection was not made.
    assert deferred.in_setup("Be brief.", resuming=False) == "Be brief.\n\n[Context] a"
    deferred.hold(["b"])
    assert deferred.carried() == ("a",)
    assert list(deferred.waiting) == ["b"]


def test_a_setup_of_nothing_is_nothing(deferred: DeferredContext) -> None:
    assert deferred.in_setup("", resuming=False) == ""
    assert deferred.carried() == ()


def test_what_a_setup_carried_is_carried_as_long_as_the_session_is_resumed(deferred: DeferredContext) -> None:
    deferred.hold(["a"])
    deferred.in_setup("I.", resuming=False, so_far=SO_FAR)
    assert deferred.carried() == (SO_FAR, "a")
    deferred.hold(["b"])
    assert deferred.in_setup("I.", resuming=True) == f"I.\n\n{SO_FAR}\n\n[Context] a\n[Context] b"
    assert deferred.carried() == ("b",)
    assert deferred.in_setup("I.", resuming=True) == f"I.\n\n{SO_FAR}\n\n[Context] a\n[Context] b"
    assert deferred.carried() == ()
    assert deferred.in_setup("I.", resuming=False) == "I."


def test_only_the_newest_notes_of_earlier_setups_are_carried_again(deferred: DeferredContext) -> None:
    for number in range(MAX_KEPT + 1):
        deferred.hold([f"note {number}."])
        deferred.in_setup("I.", resuming=True)
        deferred.carried()
    told = deferred.in_setup("I.", resuming=True)
    assert "note 0." not in told
    assert "note 1." in told


def test_what_comes_while_a_connection_is_made_is_not_taken_for_told(deferred: DeferredContext) -> None:
    deferred.hold(str(number) for number in range(200))
    deferred.in_setup("I.", resuming=True)
    assert deferred.hold(["new", "newer"]) == 2
    deferred.carried()
    assert list(deferred.waiting) == ["new", "newer"]
