"""Context that waits for a text or a setup to carry it."""

from __future__ import annotations

from gemini_live_runtime.session.outbound.deferred_context import MAX_KEPT, DeferredContext

SO_FAR = "[Conversation so far]\nuser: hi"


def test_a_setup_carries_what_waits_and_is_only_taken_at_its_word() -> None:
    held = DeferredContext()
    held.hold(["a"])
    assert held.in_setup("Be brief.", resuming=False) == "Be brief.\n\n[Context] a"
    # That connection was not made.
    assert held.in_setup("Be brief.", resuming=False) == "Be brief.\n\n[Context] a"
    held.hold(["b"])
    assert held.carried() == ("a",)
    assert list(held.waiting) == ["b"]


def test_a_setup_of_nothing_is_nothing() -> None:
    held = DeferredContext()
    assert held.in_setup("", resuming=False) == ""
    assert held.carried() == ()


def test_what_a_setup_carried_is_carried_as_long_as_the_session_is_resumed() -> None:
    held = DeferredContext()
    held.hold(["a"])
    held.in_setup("I.", resuming=False, so_far=SO_FAR)
    assert held.carried() == (SO_FAR, "a")
    held.hold(["b"])
    assert held.in_setup("I.", resuming=True) == f"I.\n\n{SO_FAR}\n\n[Context] a\n[Context] b"
    assert held.carried() == ("b",)
    assert held.in_setup("I.", resuming=True) == f"I.\n\n{SO_FAR}\n\n[Context] a\n[Context] b"
    assert held.carried() == ()
    assert held.in_setup("I.", resuming=False) == "I."


def test_only_the_newest_notes_of_earlier_setups_are_carried_again() -> None:
    held = DeferredContext()
    for number in range(MAX_KEPT + 1):
        held.hold([f"note {number}."])
        held.in_setup("I.", resuming=True)
        held.carried()
    told = held.in_setup("I.", resuming=True)
    assert "note 0." not in told
    assert "note 1." in told


def test_what_comes_while_a_connection_is_made_is_not_taken_for_told() -> None:
    held = DeferredContext()
    held.hold(str(number) for number in range(200))
    held.in_setup("I.", resuming=True)
    assert held.hold(["new", "newer"]) == 2
    held.carried()
    assert list(held.waiting) == ["new", "newer"]
