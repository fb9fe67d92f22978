"""Pictures of the agent's panes, and of the screens that explain and change it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.support.collection import PAID, PLAN, Call, negotiating
from tests.support.console_driver import make_app, settle
from tests.support.scripted_link import ScriptedLink
from textual.pilot import Pilot
from textual.widgets import TextArea

from gemini_live_runtime import events as ev
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.editors.state import StateEditor
from gemini_live_tui.panes.state import StatePane
from gemini_live_tui.panes.watchers import WatchersPane

WIDE, NORMAL, NARROW = (160, 45), (120, 36), (80, 24)
Act = Callable[[ConsoleApp, Pilot[Any], ScriptedLink], Awaitable[None]]


def call(link: ScriptedLink) -> Call:
    """Play the negotiation with an angry caller, and script the previews."""
    made = negotiating(link)
    made.anger()
    link.foreseen = {
        "derived": ({"key": "derived:left", "old": 250, "new": 0, "added": False, "removed": False},),
        "watchers": ({"name": "balance", "key": "app:owed", "old": 300, "new": 1200, "muted": False},),
        "guards": ({"to": "paid", "before": "guard is false", "after": "ready"},),
        "phase": "paid",
        "unknown": ("what watcher balance does",),
    }
    link.foreseen_phase = {"missing": ("app:monthly",), "way": PLAN, "guard": PAID, "tools_removed": ("take_payment",)}
    link.sample(mic_db=-32.0, mic_peak_db=-24.0, out_db=-21.0, erle_db=24.0, buffer_ms=62.0)
    return made


def nothing(link: ScriptedLink) -> None:
    """Describe an agent without phases, watchers and state."""
    link.start()


def handed_over(link: ScriptedLink) -> None:
    """Hand the negotiation over to an agent without phases, by a tool."""
    negotiating(link)
    link.call_tool("escalate", {"issue": "disputes the debt"}, {"handed_over_to": "lawyer"})
    link.emit(ev.HandoffRequested(agent="lawyer", by="tool", reason="escalate"))
    made = {"previous": "collector", "agent": "lawyer", "by": "tool", "reason": "escalate", "waited_s": 1.2}
    link.emit(ev.AgentHandedOff(**made), after=1.2)


def unheard(link: ScriptedLink) -> None:
    """Speak without being understood, and read the answer to it."""
    link.start()
    link.exchange("What time is it?", "It is half past ten.")
    link.begin_turn("model")
    link.emit(ev.SpeechNotUnderstood(seconds=1.31, peak_db=-41.0))
    link.model("I didn't catch that.")
    link.emit(ev.GenerationCompleted(), ev.TurnCompleted(outcome="complete"))
    link.state("listening")


def _pressing(*keys: str) -> Act:
    async def act(app: ConsoleApp, pilot: Pilot[Any], link: ScriptedLink) -> None:
        for key in keys:
            await pilot.press(key)
            await settle(app, link)

    return act


async def _editing(app: ConsoleApp, pilot: Pilot[Any], link: ScriptedLink) -> None:
    await _pressing("4")(app, pilot, link)
    app.console_screen.query_one("#state", StatePane).list.go_to("-app:owed")
    await _pressing("e")(app, pilot, link)
    assert isinstance(app.screen, StateEditor)
    app.screen.area.text = "1200"
    await settle(app, link)


async def _conflict(app: ConsoleApp, pilot: Pilot[Any], link: ScriptedLink) -> None:
    await _editing(app, pilot, link)
    app.screen.query_one("#editor-area").text = "12 00"  # type: ignore[attr-defined]
    Call(link).write("app:owed", 900, old=300, by="verify_identity")
    await settle(app, link)


async def _pattern(app: ConsoleApp, pilot: Pilot[Any], link: ScriptedLink) -> None:
    await _pressing("3")(app, pilot, link)
    assert app.console_screen.query_one(WatchersPane).go_to("pattern:noes")
    await _pressing("enter")(app, pilot, link)


def _on_screen(name: str, text: str) -> Act:
    async def act(app: ConsoleApp, pilot: Pilot[Any], link: ScriptedLink) -> None:
        await app.run_action(f"app.open('{name}')")
        await settle(app, link)
        app.screen.query_one(TextArea).text = text
        await settle(app, link)

    return act


async def _failed(app: ConsoleApp, pilot: Pilot[Any], link: ScriptedLink) -> None:
    await _pressing("4")(app, pilot, link)
    app.console_screen.grid.panes["state"].fail(ValueError("no such leg"))
    await settle(app, link)


PICTURES: dict[str, tuple[Any, tuple[int, int], Act, dict[str, Any]]] = {
    "all-wide": (call, WIDE, _pressing("4"), {}),
    "all-normal": (call, NORMAL, _pressing("2", "down", "down"), {}),
    "all-ascii-normal": (call, NORMAL, _pressing("3"), {"ascii": True}),
    "all-ansi-normal": (call, NORMAL, _pressing("3"), {"theme": "ansi"}),
    "phase-narrow": (call, NARROW, _pressing("2"), {}),
    "phase-empty-narrow": (nothing, NARROW, _pressing("2"), {}),
    "handed-over-normal": (handed_over, NORMAL, _pressing("ctrl+e"), {}),
    "watchers-narrow": (call, NARROW, _pressing("3"), {}),
    "watchers-empty-narrow": (nothing, NARROW, _pressing("3"), {}),
    "state-narrow": (call, NARROW, _pressing("4", "asterisk"), {}),
    "state-empty-narrow": (nothing, NARROW, _pressing("4"), {}),
    "state-filter-narrow": (call, NARROW, _pressing("4", "f", "z"), {}),
    "why-narrow": (call, NARROW, _pressing("ctrl+e"), {}),
    "unheard-narrow": (unheard, NARROW, _pressing(), {}),
    "why-unheard-narrow": (unheard, NARROW, _pressing("ctrl+e"), {}),
    "why-empty-narrow": (nothing, NARROW, _pressing("ctrl+e"), {}),
    "editor-narrow": (call, NARROW, _editing, {}),
    "editor-conflict-narrow": (call, NARROW, _conflict, {}),
    "override-narrow": (call, NARROW, _pressing("2", "t"), {}),
    "watcher-narrow": (call, NARROW, _pressing("3", "enter"), {}),
    "pattern-narrow": (call, NARROW, _pattern, {}),
    "import-narrow": (call, NARROW, _on_screen("import-state", '{"app:owed": 250, "app:monthly": 50}'), {}),
    "import-fault-narrow": (call, NARROW, _on_screen("import-state", '{"app:owed": 250,\n "app:monthly" 50}'), {}),
    "context-narrow": (call, NARROW, _on_screen("give-context", "The caller has paid\nhalf of it today."), {}),
    "instruction-narrow": (call, NARROW, _on_screen("instruction", "Be brief.\nOffer two plans."), {}),
    "palette-narrow": (call, NARROW, _pressing("ctrl+p", *"export"), {}),
    "failed-normal": (call, NORMAL, _failed, {}),
    "failed-narrow": (call, NARROW, _failed, {}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_an_agent_looks_as_it_was_approved(name: str, snap_compare: Any) -> None:
    scene, size, act, settings = PICTURES[name]
    link = ScriptedLink()
    scene(link)
    app = make_app(link, **settings)

    async def run_before(pilot: Pilot[Any]) -> None:
        await settle(app, link)
        await act(app, pilot, link)
        await settle(app, link)

    assert snap_compare(app, terminal_size=size, run_before=run_before)
