"""The view keeps notifications with the reason why each one waits."""

from __future__ import annotations

import json
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.harness_view import MAX_NOTIFICATIONS
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.text import sanitise


def folded(*payloads: ev.NotificationChanged) -> SessionView:
    view = SessionView()
    for number, payload in enumerate(payloads, 1):
        apply(view, ev.Event(seq=number, t=float(number), turn=1, gen=0, payload=payload))
    return view


def changed(status: Any, name: str = "n1", title: str = "the oven is ready", **more: Any) -> ev.NotificationChanged:
    return ev.NotificationChanged(notification_id=name, status=status, title=title, **more)


def texts(view: SessionView) -> list[tuple[str, str]]:
    return [(block.status, block.text) for block in view.blocks]


def test_one_that_waits_says_why_and_adds_no_line() -> None:
    view = folded(changed("queued", reason="the user is speaking"), changed("queued", reason="the model is speaking"))
    (card,) = view.harness.open_notifications
    assert (card.status, card.reason, card.t) == ("queued", "the model is speaking", 1.0)
    assert texts(view) == []


def test_one_that_is_announced_has_a_line_and_one_that_was_heard_is_closed() -> None:
    view = folded(changed("queued"), changed("delivered", attempts=1), changed("acknowledged", attempts=1))
    assert texts(view) == [("info", "Notification: the oven is ready")]
    assert view.harness.open_notifications == []
    assert view.harness.notifications["n1"].end == 3.0


def test_one_that_was_given_up_is_a_warning_with_its_reason() -> None:
    view = folded(changed("failed", reason="begun 5 times"))
    assert texts(view) == [("warning", "A notification was given up: the oven is ready (begun 5 times)")]


def test_hostile_text_is_sanitised() -> None:
    view = folded(changed("failed", title="\x1b[31mred\u202e", reason="\x07", body="\x9b2J", source="\x1b]0;x\x07"))
    shown = json.dumps([view.harness.to_json(), texts(view)], ensure_ascii=False)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


def test_of_many_the_closed_ones_are_forgotten_first() -> None:
    many = [changed("acknowledged", f"n{number}") for number in range(MAX_NOTIFICATIONS + 10)]
    view = folded(changed("queued", "waits"), *many)
    assert len(view.harness.notifications) == MAX_NOTIFICATIONS
    assert "waits" in view.harness.notifications


def test_the_view_comes_back_from_json() -> None:
    view = folded(changed("queued", reason="the user is speaking"), changed("expired", "n2"))
    again = SessionView.from_json(json.loads(json.dumps(view.to_json())))
    assert again.harness == view.harness


def test_the_id_of_a_speech_is_sanitised() -> None:
    view = SessionView()
    queued = ev.SpeechChanged(id="speech\x1b[31m\x92", status="queued", source="notification")
    apply(view, ev.Event(seq=1, t=1.0, turn=1, gen=0, payload=queued))
    assert [sanitise(ident) for ident in view.speeches] == list(view.speeches)
