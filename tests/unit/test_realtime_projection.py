"""Records of operations are made of any session file, damaged ones too."""

from __future__ import annotations

from hypothesis import given
from vocabulary_strategies import sessions

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.realtime import RealtimeProjection


def records(*payloads: ev.Payload) -> list[tuple[str, str]]:
    projection = RealtimeProjection()
    made = (ev.Event(seq, float(seq), 1, 1, payload) for seq, payload in enumerate(payloads, 1))
    return [(record.kind, record.ref) for event in made for record in projection.feed(event)]


def test_a_request_for_samples_without_numbers_is_a_request() -> None:
    for ref in ("microphone", "microphone:a+b", "microphone:²+1", "microphone:1", f"microphone:{'9' * 5000}+1", ""):
        assert records(ev.SendIntended(kind="audio", ref=ref)) == [("input_send_requested", ref)], ref


@given(sessions())
def test_what_was_sent_is_counted_upwards_in_every_session(session: list[ev.Event]) -> None:
    projection = RealtimeProjection()
    sent = [record.send_cursor for event in session for record in projection.feed(event)]
    assert sent == sorted(sent)
