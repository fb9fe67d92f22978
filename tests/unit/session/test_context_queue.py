"""Context that waits, and the writer that sends it ahead of the user's input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.session.recording_writer import RecordingWriter, closed, notes

from gemini_live_runtime.errors import ConnectionClosedError, ProtocolError
from gemini_live_runtime.session.outbound.context_queue import ContextNotSent, DeferredWriter, PendingContext
from gemini_live_runtime.session.ports.messages import ContextNote


class Deferred:
    """A deferred writer with what it wrote to and what it reported."""

    def __init__(self, *waiting: str, prompt: bool = False) -> None:
        self.pending = PendingContext()
        self.pending.extend(notes(*waiting))
        if prompt:
            self.pending.arm_prompt()
        self.wire = RecordingWriter()
        self.reports: list[ContextNotSent] = []
        self.writer = DeferredWriter(self.wire, self.pending, self.reports.append)


USER_INPUT: list[tuple[str, Callable[[DeferredWriter], None]]] = [
    ("audio", lambda writer: writer.send_audio(b"pcm")),
    ("text", lambda writer: writer.send_text("hello")),
    ("video", lambda writer: writer.send_video(b"jpeg")),
]
PASSING_BY: list[tuple[str, Callable[[DeferredWriter], None]]] = [
    ("answers", lambda writer: writer.send_tool_answers([])),
    ("instruction", lambda writer: writer.update_instruction("Be brief.")),
    ("activity_start", lambda writer: writer.activity_start()),
    ("activity_end", lambda writer: writer.activity_end()),
]
PROMPTING: list[tuple[str, Callable[[DeferredWriter], None]]] = [
    ("prompt", lambda writer: writer.prompt_model()),
    ("context", lambda writer: writer.send_context(["explicit"], prompt=True)),
]


# -- what waits ---------------------------------------------------------------------------------------------------


@pytest.fixture
def pending() -> PendingContext:
    return PendingContext()


@pytest.fixture
def deferred() -> Deferred:
    return Deferred("one")


def test_new_pending_context_is_empty(pending: PendingContext) -> None:

    assert pending.is_empty
    assert not pending.has_prompt
    assert pending.drain() == ((), False)


def test_draining_gives_the_notes_in_order_and_leaves_nothing(pending: PendingContext) -> None:
    for note in notes("one", "two"):
        pending.push(note)

    assert pending.drain() == (notes("one", "two"), False)
    assert pending.is_empty


def test_draining_gives_an_armed_prompt_once(pending: PendingContext) -> None:
    pending.push(ContextNote("one"))
    pending.arm_prompt()

    assert pending.drain() == (notes("one"), True)
    assert pending.drain() == ((), False)


def test_an_armed_prompt_alone_is_not_empty(pending: PendingContext) -> None:
    pending.arm_prompt()

    assert not pending.is_empty
    assert not pending.has_context


def test_context_and_prompt_are_taken_apart_from_each_other(pending: PendingContext) -> None:
    pending.push(ContextNote("one"))
    pending.arm_prompt()

    assert pending.drain_context() == notes("one")
    assert pending.has_prompt
    assert pending.take_prompt()
    assert not pending.take_prompt()


def test_a_cleared_prompt_leaves_the_notes(pending: PendingContext) -> None:
    pending.push(ContextNote("one"))
    pending.arm_prompt()

    pending.clear_prompt()

    assert pending.drain() == (notes("one"), False)


def test_too_many_notes_push_the_oldest_out_counted_and_told() -> None:
    told: list[tuple[ContextNote, ...]] = []
    pending = PendingContext(max_notes=2, on_dropped=told.append)

    pending.extend(notes("one", "two"))
    assert told == []
    pending.push(ContextNote("three"))
    assert told == [notes("one")]
    assert pending.dropped == 1
    assert pending.drain_context() == notes("two", "three")


def test_what_is_put_back_comes_before_what_waits(pending: PendingContext) -> None:
    pending.push(ContextNote("three"))

    pending.put_back(notes("one", "two"))

    assert pending.drain_context() == notes("one", "two", "three")


def test_no_room_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="max_notes"):
        PendingContext(max_notes=0)


# -- the writer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "send"), USER_INPUT)
def test_queued_context_goes_out_in_one_message_ahead_of_user_input(
    kind: str, send: Callable[[DeferredWriter], None]
) -> None:
    deferred = Deferred("one", "two")

    send(deferred.writer)

    assert deferred.wire.kinds == ["context", kind]
    assert deferred.wire.posted[0][1] == ("model", ["one", "two"], False)
    assert deferred.pending.is_empty


@pytest.mark.parametrize(("kind", "send"), USER_INPUT)
def test_user_input_goes_out_alone_when_nothing_waits(kind: str, send: Callable[[DeferredWriter], None]) -> None:
    deferred = Deferred()

    send(deferred.writer)

    assert deferred.wire.kinds == [kind]


@pytest.mark.parametrize(("kind", "send"), USER_INPUT)
def test_an_armed_prompt_waits_for_its_rule_and_not_for_user_input(
    kind: str, send: Callable[[DeferredWriter], None]
) -> None:
    deferred = Deferred("one", prompt=True)

    send(deferred.writer)

    assert deferred.wire.kinds == ["context", kind]
    assert deferred.pending.has_prompt


@pytest.mark.parametrize(("kind", "send"), PASSING_BY)
def test_what_is_not_user_input_passes_queued_context_by(
    deferred: Deferred, kind: str, send: Callable[[DeferredWriter], None]
) -> None:

    send(deferred.writer)

    assert deferred.wire.kinds == [kind]
    assert len(deferred.pending) == 1


@pytest.mark.parametrize(("kind", "send"), PROMPTING)
def test_what_makes_the_model_speak_goes_out_behind_queued_context(
    deferred: Deferred, kind: str, send: Callable[[DeferredWriter], None]
) -> None:

    send(deferred.writer)

    assert deferred.wire.kinds == ["context", kind]
    assert deferred.wire.posted[0][1] == ("model", ["one"], False)


def test_explicit_context_goes_out_behind_queued_context_which_is_older(deferred: Deferred) -> None:
    deferred.writer.send_context(["explicit"])

    assert [what for _, what in deferred.wire.posted] == [("model", ["one"], False), ("model", ["explicit"], False)]


def test_only_the_very_notes_that_are_withdrawn_leave_the_queue(pending: PendingContext) -> None:
    mine, others = notes("same", "mine"), notes("same")
    pending.extend((*mine, *others))

    pending.withdraw(mine)

    assert not pending.holds(mine)
    assert pending.holds(others)
    assert pending.drain_context() == others


def test_notes_of_both_roles_keep_their_order_in_as_few_messages_as_that_allows() -> None:
    deferred = Deferred("one", "two")
    deferred.pending.extend([*notes("three", role="user"), *notes("four")])

    deferred.writer.flush()

    assert [what for _, what in deferred.wire.posted] == [
        ("model", ["one", "two"], False),
        ("user", ["three"], False),
        ("model", ["four"], False),
    ]


def test_the_reasons_of_a_message_are_each_named_once() -> None:
    deferred = Deferred()
    deferred.pending.extend([ContextNote("one", reason="mood"), ContextNote("two", reason="mood"), ContextNote("3")])
    deferred.pending.push(ContextNote("four", reason="repair"))

    deferred.writer.flush()

    assert deferred.wire.reasons == ["mood; repair"]


def test_context_that_cannot_be_sent_waits_in_front_and_user_input_goes_out_all_the_same(deferred: Deferred) -> None:
    deferred.wire.failing["context"] = closed()

    deferred.writer.send_audio(b"1")
    deferred.pending.push(ContextNote("two"))
    deferred.wire.failing.clear()
    deferred.writer.send_audio(b"2")

    assert deferred.wire.posted == [("audio", b"1"), ("context", ("model", ["one", "two"], False)), ("audio", b"2")]
    assert [(report.notes, report.kept) for report in deferred.reports] == [(notes("one"), True)]


def test_only_the_first_of_failures_in_a_row_is_reported(deferred: Deferred) -> None:
    deferred.wire.failing["context"] = closed()

    for _ in range(50):
        deferred.writer.send_audio(b"pcm")

    assert len(deferred.reports) == 1
    assert isinstance(deferred.reports[0].error, ConnectionClosedError)


def test_a_failure_after_a_success_is_reported_again(deferred: Deferred) -> None:
    failing: dict[str, Any] = {"context": closed()}
    deferred.wire.failing = failing
    deferred.writer.flush()
    deferred.wire.failing = {}
    deferred.writer.flush()
    deferred.wire.failing = failing
    deferred.pending.push(ContextNote("two"))

    deferred.writer.flush()

    assert [report.notes for report in deferred.reports] == [notes("one"), notes("two")]


def test_context_refused_for_what_it_is_does_not_block_what_is_behind_it(deferred: Deferred) -> None:
    deferred.wire.failing["context"] = ProtocolError("The message cannot be written")

    deferred.writer.send_text("hello")

    assert deferred.wire.kinds == ["text"]
    assert deferred.pending.is_empty
    assert [(report.notes, report.kept) for report in deferred.reports] == [(notes("one"), False)]


def test_a_failure_of_the_users_own_input_is_the_callers_to_know(deferred: Deferred) -> None:
    deferred.wire.failing["text"] = closed()

    with pytest.raises(ConnectionClosedError):
        deferred.writer.send_text("hello")

    assert deferred.wire.kinds == ["context"]
