"""Pictures of the console. `pytest --snapshot-update` renews them: look at each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.support.console_driver import make_app, settle
from tests.support.scripted_link import ScriptedLink
from textual.pilot import Pilot

from gemini_live_runtime import events as ev
from gemini_live_tui.app import ConsoleApp

Scene = Callable[[ScriptedLink], None]
Act = Callable[[ConsoleApp, Pilot[Any]], Awaitable[None]]


def _meters(link: ScriptedLink, **values: Any) -> None:
    defaults = {"mic_db": -32.0, "mic_peak_db": -24.0, "out_db": -60.0, "erle_db": 24.0, "buffer_ms": 62.0}
    link.sample(**{**defaults, **values})


def empty(link: ScriptedLink) -> None:
    link.start()
    _meters(link)


def connecting(link: ScriptedLink) -> None:
    link.hello()
    link.emit(ev.SessionState(word="connecting", reason="reaching the local server"))


def conversation(link: ScriptedLink) -> None:
    link.start()
    link.t = 3.2
    link.exchange(
        "What's the weather in Lisbon?",
        "It is 21 degrees and clear in Lisbon, with a light breeze from the north-west. Tomorrow looks much the same, "
        "so you can leave the umbrella at home.",
    )
    link.begin_turn()
    link.user("Set a timer for five minutes please")
    link.t += 1.2
    link.call_tool("set_timer", {"minutes": 5, "label": "tea"}, {"timer": "tea", "ends_in_s": 300})
    link.model("Your tea timer is running. I'll tell you when the five minutes are over, unless you would rather")
    link.emit(ev.PlaybackStarted())


def listening(link: ScriptedLink) -> None:
    conversation(link)
    link.state("listening")
    _meters(link)


def speaking(link: ScriptedLink) -> None:
    conversation(link)
    usage: dict[str, Any] = {"prompt": {}, "response": {}, "total_tokens": 3, "cost_usd": 0.0214}
    link.emit(ev.UsageReported(prompt_tokens=1, response_tokens=2, **usage))
    link.state("speaking")
    _meters(link, mic_db=-48.0, mic_peak_db=-46.0, out_db=-14.0)


def words_ahead(link: ScriptedLink) -> None:
    conversation(link)
    link.gen += 1
    link.begin_turn("typed")
    text = "The note says to call the garage before noon. There are two more notes, one of them from last week."
    link.emit(ev.TranscriptDelta(side="model", text=text, sample=0, samples=160_000))
    link.emit(ev.PlaybackHeard(of=link.gen, first=0, count=61_000))
    link.state("speaking")
    _meters(link, mic_db=-48.0, mic_peak_db=-46.0, out_db=-14.0)


def interrupted(link: ScriptedLink) -> None:
    conversation(link)
    link.t += 1
    heard = "Your tea timer is running. I'll tell you when"
    cut = {"cut_below": 3, "heard_samples": 1, "unheard_samples": 1, "heard_text": heard, "unheard_text": ""}
    link.emit(ev.TurnInterrupted(by="server", **cut), ev.TurnCompleted(outcome="interrupted", latency_ms=480))
    link.begin_turn()
    link.user("Actually make it ten")
    link.state("interrupted")
    _meters(link, speech=True, mic_db=-9.0, mic_peak_db=-2.0)


def leaking(link: ScriptedLink) -> None:
    speaking(link)
    link.emit(ev.EchoLeaking(leaking=True))
    _meters(link, mic_db=-20.0, out_db=-8.0, clipped=True, underruns=2)


def text_mode(link: ScriptedLink) -> None:
    conversation(link)
    link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True))
    link.state("text")
    _meters(link, mic_db=None, mic_peak_db=None)


def dead(link: ScriptedLink) -> None:
    interrupted(link)
    link.die("The engine process ended (signal 9).")


def long(link: ScriptedLink) -> None:
    link.start()
    for number in range(30):
        link.exchange(f"Question number {number}: is it raining in Bergen?", "Yes. " * (3 + number % 9) + "It is.")
    link.emit(ev.Notice(level="warning", code="slow", text="The model is slow to answer.", remedy="Nothing to do."))
    link.call_tool("weather", {"city": "Bergen"}, {"error": "no such city"}, status="error")
    _meters(link)


def held(link: ScriptedLink) -> None:
    conversation(link)
    link.emit(
        ev.BreakpointsChanged(
            breakpoints=(
                {"id": "b1", "kind": "watcher", "target": "no_consent", "enabled": True, "hits": 2},
                {"id": "b2", "kind": "expression", "target": "app:n >= 3", "enabled": False, "hits": 0},
            )
        ),
        ev.MarkSet(text="the price was wrong here"),
        ev.AgentHeld(by="b1", at="watcher no_consent"),
        ev.AgentHolding(answers=1, steps=3),
    )
    link.state("listening")
    link.t += 12
    _meters(link)


def asking(link: ScriptedLink) -> None:
    conversation(link)
    link.begin_turn()
    link.user("Order a taxi to the harbor")
    link.call_tool("order_taxi", {"place": "the harbor"}, None)
    link.emit(
        ev.ConsentAsked(
            id="q1",
            tool="order_taxi",
            call_id="c9",
            args={"place": "the harbor"},
            reason="The agent asks before each call of this tool.",
            expires_s=30.0,
            voice=True,
            question="Shall I order a taxi to the harbor?",
        )
    )
    link.emit(ev.ConsentVoice(id="q1", state="listening"))
    link.state("listening")
    _meters(link)


def asking_by_key(link: ScriptedLink) -> None:
    asking(link)
    link.emit(ev.ConsentVoice(id="q1", state="off", reason="\u201cyes but later\u201d is neither yes nor no"))


async def _nothing(app: ConsoleApp, pilot: Pilot[Any]) -> None:
    return


def _opening(name: str, *keys: str) -> Act:
    async def act(app: ConsoleApp, pilot: Pilot[Any]) -> None:
        app.action_open(name)
        await pilot.pause()
        for key in keys:
            await pilot.press(key)

    return act


def _pressing(*keys: str) -> Act:
    async def act(app: ConsoleApp, pilot: Pilot[Any]) -> None:
        await pilot.press(*keys)

    return act


async def _help(app: ConsoleApp, pilot: Pilot[Any]) -> None:
    await pilot.press("f1")
    # The scrollbar is as long as the table of actions, and would make another picture of every new action.
    app.screen.query_one("#help-box").styles.scrollbar_size_vertical = 0


async def _choosing_a_theme(app: ConsoleApp, pilot: Pilot[Any]) -> None:
    app.action_open("themes")
    await pilot.pause()
    await pilot.press("down")


WIDE, NORMAL, NARROW = (160, 45), (120, 36), (80, 24)
PICTURES: dict[str, tuple[Scene, tuple[int, int], dict[str, Any], Act]] = {
    "empty-normal": (empty, NORMAL, {}, _nothing),
    "empty-narrow": (empty, NARROW, {"hint": "Set GEMINI_API_KEY to talk to Gemini."}, _nothing),
    "connecting-narrow": (connecting, NARROW, {}, _nothing),
    "listening-wide": (listening, WIDE, {}, _nothing),
    "speaking-normal": (speaking, NORMAL, {}, _nothing),
    "speaking-narrow": (speaking, NARROW, {}, _nothing),
    "words-ahead-narrow": (words_ahead, NARROW, {}, _nothing),
    "words-ahead-ansi-narrow": (words_ahead, NARROW, {"theme": "ansi"}, _nothing),
    "words-ahead-ascii-mono-narrow": (words_ahead, NARROW, {"theme": "mono", "ascii": True}, _nothing),
    "interrupted-normal": (interrupted, NORMAL, {}, _nothing),
    "leaking-normal": (leaking, NORMAL, {}, _nothing),
    "text-mode-narrow": (text_mode, NARROW, {"tmux": True}, _nothing),
    "dead-normal": (dead, NORMAL, {}, _nothing),
    "scrolled-back-narrow": (long, NARROW, {}, _pressing("pageup", "pageup")),
    "writing-narrow": (listening, NARROW, {}, _pressing("i", "h", "i", "ctrl+j", "y", "o", "u")),
    "muted-narrow": (listening, NARROW, {}, _pressing("space", "v")),
    "asking-narrow": (asking, NARROW, {}, _nothing),
    "asking-ansi-narrow": (asking, NARROW, {"theme": "ansi"}, _nothing),
    "asking-by-key-narrow": (asking_by_key, NARROW, {}, _pressing("i")),
    "held-normal": (held, NORMAL, {}, _nothing),
    "held-narrow": (held, NARROW, {}, _nothing),
    "held-ansi-narrow": (held, NARROW, {"theme": "ansi"}, _nothing),
    "breakpoints-normal": (held, NORMAL, {}, _opening("breakpoints")),
    "breakpoints-none-narrow": (listening, NARROW, {}, _opening("breakpoints")),
    "breakpoint-fault-narrow": (held, NARROW, {}, _opening("breakpoints", "down", "enter", "ctrl+u", *"n>", "enter")),
    "mark-narrow": (listening, NARROW, {}, _opening("mark", *"odd")),
    "marks-narrow": (held, NARROW, {}, _opening("marks")),
    "too-small": (listening, (50, 12), {}, _nothing),
    "help-narrow": (empty, NARROW, {}, _help),
    "replay-narrow": (listening, NARROW, {"replay": True}, _nothing),
    "ascii-narrow": (interrupted, NARROW, {"ascii": True}, _nothing),
    "paper-normal": (interrupted, NORMAL, {"theme": "paper"}, _nothing),
    "high-contrast-normal": (interrupted, NORMAL, {"theme": "high-contrast"}, _nothing),
    "ansi-normal": (interrupted, NORMAL, {"theme": "ansi"}, _nothing),
    "fjord-normal": (interrupted, NORMAL, {"theme": "fjord"}, _nothing),
    "solar-light-normal": (interrupted, NORMAL, {"theme": "solar-light"}, _nothing),
    "phosphor-normal": (interrupted, NORMAL, {"theme": "phosphor"}, _nothing),
    "colour-blind-normal": (interrupted, NORMAL, {"theme": "colour-blind"}, _nothing),
    "mono-normal": (interrupted, NORMAL, {"theme": "mono"}, _nothing),
    "themes-narrow": (listening, NARROW, {}, _choosing_a_theme),
    "jump-narrow": (listening, NARROW, {}, _pressing("ctrl+o")),
    "suggestions-narrow": (listening, NARROW, {}, _pressing(*"/theme", "space", "down", "down")),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_console_looks_as_it_was_approved(name: str, snap_compare: Any) -> None:
    scene, size, settings, act = PICTURES[name]
    link = ScriptedLink()
    scene(link)
    app = make_app(link, **settings)

    async def run_before(pilot: Pilot[Any]) -> None:
        await settle(app, link)
        await act(app, pilot)
        await settle(app, link)

    assert snap_compare(app, terminal_size=size, run_before=run_before)
