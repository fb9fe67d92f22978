"""Pictures of the panes of time: filled, empty, and at a past moment."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.console_driver import make_app, settle
from tests.support.scripted_link import ScriptedLink
from textual.pilot import Pilot

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.session.metrics.sound_health import PROBLEMS

WIDE, NORMAL, NARROW = (160, 45), (120, 36), (80, 24)
STAGES = {"hang_over": 180.0, "uplink": 61.0, "server": 288.0, "downlink": 35.0, "buffer": 48.0, "speaker": None}


def _state(key: str, old: object, new: object) -> ev.Payload:
    return ev.StateChanged(
        key=key, old=old, new=new, added=old is None, mutation=1, origin="tool", by="verify_identity"
    )


def nothing(link: ScriptedLink) -> None:
    link.start()


def call(link: ScriptedLink) -> None:
    """Four turns with everything that a timeline shows."""
    link.start(agent="debt_collection")
    link.emit(ev.PhaseEntered(phase="greet", trigger="start"))
    for number, ms in enumerate((540.0, 612.0, 1900.0, 480.0), 1):
        link.t += 3
        link.emit(ev.VoiceMarked(source="local", speaking=True))
        link.t += 2
        link.emit(ev.VoiceMarked(source="local", speaking=False))
        link.exchange(f"This is what I say in turn {number}.", f"And this is answer {number}.", latency_ms=ms)
        link.emit(
            ev.TurnMeasured(
                of_turn=link.turn,
                latency_ms=ms,
                first_byte_ms=ms - 48,
                source="local_voice",
                stages={**STAGES, "server": ms - 324},
                prompt_tokens=812,
                response_tokens=96,
            )
        )
        if number == 2:
            link.emit(_state("app:balance", None, 2140.5), _state("user:name", None, "Ruiz"))
            link.call_tool("verify_identity", {"dob": "1988-03-09"}, {"verified": True})
            link.emit(ev.PhaseEntered(phase="negotiate", trigger="guard"), ev.MarkSet(text="sounds annoyed"))
            link.emit(
                ev.WatcherFired(
                    watcher="high_balance", key="app:balance", old=None, new=2140.5, explanation={"kind": "key"}
                )
            )
        if number == 3:
            link.emit(_state("app:plan", None, "silver"), _state("app:balance", 2140.5, 0))
            link.call_tool("take_payment", {"amount": 50}, {"error": "card refused"}, status="error")
            link.emit(ev.Log(source="stdout", level="info", text="paying 50"))
            link.emit(ev.Log(source="logging", level="warning", text="the card was refused"))
    usage: dict[str, Any] = {"prompt": {}, "response": {}, "total_tokens": 3, "cost_usd": 0.0214}
    link.emit(ev.UsageReported(prompt_tokens=4812, response_tokens=1204, prices_as_of="2026-10", **usage))
    link.emit(ev.ToolCalled(call_id="last", name="transfer", args={"to": "a person"}))
    link.sample(mic_db=-32.0, mic_peak_db=-24.0, clean_db=-48.0, out_db=-21.0, erle_db=24.0, buffer_ms=62.0)


def in_trouble(link: ScriptedLink) -> None:
    """Show every problem of the sound at once."""
    call(link)
    for kind, problem in PROBLEMS.items():
        link.emit(
            ev.SoundHealth(kind=kind, well=False, text=problem.text, remedy=problem.remedy, action=problem.action)
        )
    link.sample(
        mic_db=-3.0, clipped=True, clean_db=-48.0, out_db=-21.0, erle_db=4.0, buffer_ms=62.0, mic_dropped=12,
        far_missing=210, far_dropped=34, xruns=7, audio_priority="real-time", audio_restarts=2,
    )  # fmt: skip


def attached(link: ScriptedLink) -> None:
    link.hello(SessionView(seq=400, t=60.0, turn=3, session_id="s", agent="debt_collection", word="listening"))
    link.emit(ev.Notice(level="info", code="x", text="A console came.", remedy=""))


PICTURES: dict[str, tuple[Any, tuple[int, int], tuple[str, ...], dict[str, Any]]] = {
    "all-wide": (call, WIDE, ("5",), {}),
    "all-normal": (call, NORMAL, ("5",), {}),
    "timeline-narrow": (call, NARROW, ("5",), {}),
    "timeline-turn-narrow": (call, NARROW, ("5", "up", "up", "up"), {}),
    "timeline-ascii-narrow": (call, NARROW, ("5",), {"ascii": True}),
    "timeline-mono-normal": (call, NORMAL, ("5",), {"theme": "mono"}),
    "latency-worst-narrow": (call, NARROW, ("6", "w"), {}),
    "latency-empty-narrow": (nothing, NARROW, ("6",), {}),
    "tools-narrow": (call, NARROW, ("7",), {}),
    "tools-empty-narrow": (nothing, NARROW, ("7",), {}),
    "tool-details-narrow": (call, NARROW, ("7", "down", "enter"), {}),
    "events-narrow": (call, NARROW, ("8",), {}),
    "events-filter-narrow": (call, NARROW, ("8", "f", *"tool.*"), {}),
    "event-details-narrow": (call, NARROW, ("8", "enter"), {}),
    "logs-narrow": (call, NARROW, ("9",), {}),
    "logs-empty-narrow": (nothing, NARROW, ("9",), {}),
    "behind-normal": (call, NORMAL, ("5", "[", "["), {}),
    "behind-narrow": (call, NARROW, ("[", "["), {}),
    "out-of-reach-narrow": (attached, NARROW, (",", ",", ","), {}),
    "go-to-narrow": (call, NARROW, ("7", "g", *"turn 9", "enter"), {}),
    "diff-narrow": (call, NARROW, ("7", "d", "left"), {}),
    "diff-normal": (call, NORMAL, ("5", "[", "[", "d"), {}),
    "meters-normal": (call, NORMAL, ("5", "M"), {}),
    "meters-narrow": (call, NARROW, ("7", "M"), {}),
    "meters-trouble-narrow": (in_trouble, NARROW, ("7", "M"), {}),
    "meters-trouble-scrolled-narrow": (in_trouble, NARROW, ("7", "M", "end"), {}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_time_looks_as_it_was_approved(name: str, snap_compare: Any) -> None:
    scene, size, keys, settings = PICTURES[name]
    link = ScriptedLink()
    scene(link)
    app = make_app(link, **settings)

    async def run_before(pilot: Pilot[Any]) -> None:
        await settle(app, link)
        for key in keys:
            await pilot.press(key)
            await settle(app, link)
        await settle(app, link)

    assert snap_compare(app, terminal_size=size, run_before=run_before)
