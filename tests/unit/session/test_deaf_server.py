"""A server without speech recognition gets text, and the operator learns why once."""

from __future__ import annotations

from tests.unit.session.core_support import Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import Microphone

WHY = "The embedded model cannot hear. Install an extra."


def deaf() -> Bench:
    bench = Bench()
    bench.do(bench.core.audio.server_is_deaf(bench.now, WHY))
    return bench.connect()


def test_a_voice_session_goes_on_in_text_mode_and_says_why_once() -> None:
    bench = deaf()
    assert bench.word == "text"
    assert bench.last(ev.ControlChanged).mode == "text"
    assert [notice.text for notice in bench.all(ev.Notice)] == [WHY]


def test_the_microphone_never_opens() -> None:
    bench = deaf()
    assert not any(effect.on for effect in bench.effects if isinstance(effect, Microphone))


def test_voice_mode_is_refused_with_the_reason() -> None:
    bench = deaf()
    bench.order(cmd.SetMode(mode="voice"))
    assert WHY in bench.last(ev.CommandRefused).reason
    assert bench.core.state.mode == "text"


def test_what_is_typed_is_sent() -> None:
    bench = deaf()
    bench.types("hello")
    assert "hello" in str(bench.sent)
