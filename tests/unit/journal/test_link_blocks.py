"""A lost connection is one line of the transcript, which says what follows."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.link_blocks import CONNECT, RESEND
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.journal.plain import PlainWriter

CLOSED = ev.ConnectionClosed(close_code=1006, sentence="The connection broke", remedy="Check the network")
UNREACHABLE = ev.ConnectionClosed(close_code=1006, sentence="Nothing listens there", remedy="Check the port")
AGAIN = ev.LinkRestarting(reason="network", attempt=1, delay_s=0.0)
RESUMED = ev.ConnectionReady(ms=5.0, server_session="s", resumed=True, context="resumed")
FIRST = ev.ConnectionReady(ms=5.0, server_session="s", context="new")
LOSS = (CLOSED, AGAIN)


def waiting(count: int) -> ev.OutboxChanged:
    return ev.OutboxChanged(kind="text", capacity=32, queued=count, dropped=0, gated=1, policy="refuse")


def settled(outcome: str, text: str = "") -> ev.SendSettled:
    return ev.SendSettled(kind="text", outcome=outcome, text=text)  # type: ignore[arg-type]


def typed(text: str) -> ev.TextSent:
    return ev.TextSent(text=text, command_id=text)


def events(*payloads: ev.Payload) -> list[ev.Event]:
    return [ev.Event(number, float(number), 1, 1, payload) for number, payload in enumerate(payloads, 1)]


def view(*payloads: ev.Payload) -> SessionView:
    """Return the view after these events; check that it can be stored."""
    folded = SessionView()
    for event in events(*payloads):
        apply(folded, event)
    assert SessionView.from_json(folded.to_json()) == folded
    assert folded.block_chars == sum(len(block.text) + len(block.detail) for block in folded.blocks)
    return folded


def line(*payloads: ev.Payload) -> Block:
    (block,) = view(*payloads).blocks
    return block


def test_a_loss_is_one_line_from_the_end_to_the_next_connection() -> None:
    lost = line(*LOSS)
    assert (lost.text, lost.detail, lost.status) == ("The connection broke", "Connecting again.", "warning")
    made = line(*LOSS, waiting(1), RESUMED, settled("resent"), waiting(0))
    again = "Connected again. The server resumed the conversation."
    sent = "Your message had no answer when the connection was lost, and was sent again."
    assert (made.text, made.detail, made.status) == ("The connection broke", f"{again} {sent}", "info")


def test_texts_that_wait_are_told_until_there_is_a_connection() -> None:
    assert line(*LOSS, waiting(1)).detail == "Connecting again. 1 message waits for a connection."
    assert line(*LOSS, waiting(1), waiting(2)).detail == "Connecting again. 2 messages wait for a connection."


def test_failed_attempts_are_not_counted_as_losses() -> None:
    failed = line(FIRST, *LOSS, *(UNREACHABLE, AGAIN) * 3)
    assert (failed.text, failed.detail, failed.count) == ("The connection broke", "Connecting again.", 1)
    assert line(FIRST, *LOSS, RESUMED, *LOSS, UNREACHABLE, AGAIN).count == 2


def test_attempts_are_counted_where_there_was_no_connection_yet() -> None:
    assert line(*(UNREACHABLE, AGAIN) * 3).count == 3


def test_a_loss_that_is_given_up_offers_to_connect_and_keeps_its_remedy() -> None:
    failed = line(CLOSED, ev.LinkGivenUp(reason="refused"))
    assert (failed.detail, failed.status, failed.action) == ("Check the network", "error", CONNECT)
    later = line(*LOSS, UNREACHABLE, ev.LinkGivenUp(reason="network"))
    assert (later.text, later.detail) == ("The connection broke", "Nothing listens there. Check the port")
    assert (later.status, later.action) == ("error", CONNECT)


def test_what_was_not_sent_again_can_be_and_says_so_after_the_connection_is_made() -> None:
    one, notice = view(typed("one"), *LOSS, settled("unknown", "one"), RESUMED).blocks
    assert notice.detail.endswith("Your message may not have arrived, and was not sent again.")
    assert (one.text, notice.action) == ("one", RESEND)


def test_the_message_that_was_lost_is_the_one_to_send_again() -> None:
    folded = view(typed("one"), *LOSS, settled("unknown", "one"), RESUMED, typed("two"), typed("one"))
    assert folded.lost_blocks == []
    assert [block.action for block in folded.blocks if block.kind == "notice"] == [""]
    folded = view(typed("one"), *LOSS, settled("unknown", "one"), RESUMED, typed("two"))
    assert [block.text for block in folded.lost()] == ["one"]


def test_several_messages_that_were_lost_are_sent_again_one_by_one() -> None:
    losses = (typed("one"), typed("two"), *LOSS, settled("unknown", "one"), settled("unknown", "two"), RESUMED)
    assert [block.text for block in view(*losses).lost()] == ["one", "two"]
    folded = view(*losses, typed("one"))
    assert [block.text for block in folded.lost()] == ["two"]
    assert [block.action for block in folded.blocks if block.kind == "notice"] == [RESEND]


def test_words_that_were_lost_are_those_that_were_understood() -> None:
    words = ev.TranscriptDelta(side="user", text="the weather")
    unknown = ev.SendSettled(kind="speech", outcome="unknown", text=" the weather")
    assert [block.text for block in view(words, *LOSS, unknown, RESUMED, typed("two")).lost()] == ["the weather"]


def test_a_result_that_was_lost_is_no_message_to_send_again() -> None:
    unknown = ev.SendSettled(kind="answer", outcome="unknown", ref="c1")
    folded = view(typed("one"), *LOSS, unknown, RESUMED)
    assert (folded.lost_blocks, folded.blocks[1].action) == ([], "")


def test_a_move_that_the_server_announced_is_told_where_it_was_announced() -> None:
    left = ev.ConnectionClosed(close_code=1001, sentence="Moving to another connection", moved=True)
    moved = line(
        ev.ConnectionGoAway(time_left_s=50.0), left, ev.LinkRestarting(reason="moved", attempt=0, delay_s=0.0), RESUMED
    )
    assert moved.text == "The server will end this connection in 50 s."
    assert moved.detail == "Connected again. The server resumed the conversation."


def test_a_server_that_is_left_because_it_does_not_answer_is_told_in_the_line_of_the_late_answer() -> None:
    late = ev.Notice(
        level="warning", code="answer-late", text="No answer for 10 s", remedy="After 20 s it is asked again"
    )
    silent = ev.ConnectionClosed(close_code=1001, sentence="No answer for 20 s")
    left = line(late, silent, ev.LinkRestarting(reason="stalled", attempt=0, delay_s=0.0))
    assert (left.text, left.detail, left.count) == ("No answer for 20 s", "Connecting again.", 1)


def test_the_next_loss_has_a_line_of_its_own() -> None:
    blocks = view(*LOSS, RESUMED, ev.TranscriptDelta(side="model", text="Hi"), *LOSS).blocks
    assert [block.kind for block in blocks] == ["notice", "model", "notice"]
    assert (blocks[0].detail, blocks[2].detail) == (
        "Connected again. The server resumed the conversation.",
        "Connecting again.",
    )


def test_the_line_of_several_losses_keeps_what_became_of_the_input_at_each() -> None:
    lost_again = line(*LOSS, RESUMED, settled("told"), *LOSS, RESUMED, settled("resent"))
    assert "The model was told your message" in lost_again.detail
    assert "was sent again" in lost_again.detail
    assert lost_again.detail.startswith("Connected again.")


def test_what_is_settled_after_the_talk_has_gone_on_has_a_line_of_its_own() -> None:
    blocks = view(*LOSS, RESUMED, ev.TranscriptDelta(side="model", text="Hi"), settled("told")).blocks
    assert [block.kind for block in blocks] == ["notice", "model", "notice"]


def test_plain_lines_say_each_sentence_once() -> None:
    writer = PlainWriter()
    payloads = (*LOSS, waiting(1), UNREACHABLE, AGAIN, RESUMED, settled("resent"))
    assert [said for event in events(*payloads) for said in writer.feed(event)] == [
        "notice: error: The connection broke. Check the network",
        "notice: warning: Connecting again.",
        "notice: warning: 1 message waits for a connection.",
        "notice: error: Nothing listens there. Check the port",
        "notice: info: Connected again. The server resumed the conversation.",
        "notice: info: Your message had no answer when the connection was lost, and was sent again.",
    ]


def test_plain_lines_of_a_long_outage_become_fewer_and_those_of_the_next_loss_begin_anew() -> None:
    writer = PlainWriter()
    payloads = (*LOSS, *(UNREACHABLE, AGAIN) * 200, RESUMED, *LOSS, RESUMED)
    said = [line for event in events(*payloads) for line in writer.feed(event)]
    assert len(said) < 15, said
    assert said[-3:] == [
        "notice: error: The connection broke. Check the network (202 times)",
        "notice: warning: Connecting again.",
        "notice: info: Connected again. The server resumed the conversation.",
    ]


def sound(dropped: float) -> ev.OutboxChanged:
    return ev.OutboxChanged(kind="audio", capacity=10, queued=0, dropped=dropped, gated=dropped, policy="drop-oldest")


def test_each_loss_tells_of_the_sound_that_it_has_cost() -> None:
    blocks = view(FIRST, *LOSS, sound(16.9), RESUMED, typed("hello"), *LOSS, sound(17.2), RESUMED).blocks
    told = [block.detail.rpartition(". ")[2] for block in blocks if block.kind == "notice"]
    assert told == [f"{seconds} s of the microphone's sound were not sent." for seconds in (16.9, 0.3)]


def test_a_moment_of_sound_is_not_told() -> None:
    assert "sound" not in line(FIRST, *LOSS, sound(0.02), RESUMED).detail


def test_the_death_of_an_engine_is_one_line_with_what_follows() -> None:
    died = ev.SessionResumed(kept=3, after="crash", wall=0.0, record="text", program="test")
    rebuilt = ev.ConnectionReady(ms=5.0, server_session="s", context="rebuilt")
    block = view(FIRST, typed("hello"), died, rebuilt, settled("resent"), sound(0.5)).blocks[-1]
    assert block.text == "The engine of this session stopped without a word. A new one goes on from here."
    again = "Connected again, to a new server session. It was told the conversation so far."
    sent = "Your message had no answer when the connection was lost, and was sent again."
    assert block.detail == f"{again} {sent} 0.5 s of the microphone's sound were not sent."
