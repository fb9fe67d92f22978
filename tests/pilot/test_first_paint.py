"""Count the frames that are painted before the console has content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
import textual.css.stylesheet
from tests.support.console_driver import screen_text
from tests.support.manual_clock import ManualClock
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from gemini_live_tui import stylesheet
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.console.prompt import Prompt
from gemini_live_tui.console.screen import ConsoleScreen
from gemini_live_tui.settings import ConsoleSettings


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the screen at each frame that is painted."""
    painted: list[str] = []
    display = ConsoleApp._display

    def noted(app: ConsoleApp, screen: Any, renderable: Any) -> None:
        display(app, screen, renderable)
        if renderable is not None:
            painted.append(screen_text(app))

    monkeypatch.setattr(ConsoleApp, "_display", noted)
    return painted


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (30, 8)])
async def test_the_first_frame_that_is_painted_has_the_content(frames: list[str], size: tuple[int, int]) -> None:
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        first = frames[0]
        assert "OFFLINE" in first
        if size[0] >= 80:
            assert "Connecting" in first
            assert "F1 Help" in first


async def test_what_the_first_frame_does_not_show_is_mounted_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: list[set[str | None]] = []
    display = ConsoleApp._display

    def noted(app: ConsoleApp, screen: Any, renderable: Any) -> None:
        hidden.append({widget.id for widget in screen.query("*") if not widget.display})
        display(app, screen, renderable)

    monkeypatch.setattr(ConsoleApp, "_display", noted)
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        # They may have to be seen in this frame: in a small terminal, with a message, when a session goes on.
        assert hidden[0] == {"too-small", "banner", "tabs", "transcript"}
        assert [row.id for row in app.console_screen.children if row.id] == [
            "too-small",
            "header",
            "meters",
            "banner",
            "tabs",
            "pane-grid",
            "speech-row",
            "held",
            "consent",
            "time-travel-row",
            "prompt-pane",
            "completions",
            "key-bar",
        ]


async def test_the_screen_is_not_styled_anew_before_the_first_frame(
    frames: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    anew: list[Any] = []
    update_nodes = Stylesheet.update_nodes

    def noted(sheet: Stylesheet, nodes: Iterable[Any], animate: bool = False) -> None:
        nodes = list(nodes)
        anew.extend(node for node in nodes if not frames)
        update_nodes(sheet, nodes, animate=animate)

    monkeypatch.setattr(Stylesheet, "update_nodes", noted)
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert app.console_screen not in anew
        assert app.console_screen.key_bar not in anew


async def test_the_first_frame_has_the_placeholder_of_a_prompt_that_is_made_after_it(
    frames: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    make = ConsoleScreen._make_prompt

    def noted(screen: ConsoleScreen) -> Prompt:
        made.append(len(frames))
        return make(screen)

    monkeypatch.setattr(ConsoleScreen, "_make_prompt", noted)
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert "i writes a message, F2 is text mode" in frames[0]
        assert "i writes a message, F2 is text mode" in screen_text(app)
        assert len(made) == 1
        assert made[0] >= 1


async def test_what_is_typed_before_the_console_is_complete_is_in_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    async def not_yet(screen: ConsoleScreen) -> None:
        return None

    complete = ConsoleScreen.complete
    monkeypatch.setattr(ConsoleScreen, "complete", not_yet)
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("i", "h", "e", "y")
        assert app.console_screen.prompt.text == "hey"
        await complete(app.console_screen)
        await pilot.press("!")
        assert app.console_screen.prompt.text == "hey!"
        assert app.console_screen.prompt.has_focus


async def test_a_search_that_is_asked_for_before_the_first_frame_is_left_out() -> None:
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await app.console_screen.body.search.remove()
        app.console_screen.action_search()
        await pilot.pause()
        assert app.focused is app.console_screen.transcript


async def test_the_transcript_is_the_first_widget_that_has_the_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    focused: list[str | None] = []
    set_focus = ConsoleScreen.set_focus

    def noted(screen: ConsoleScreen, widget: Any, *args: Any, **options: Any) -> None:
        focused.append(widget and widget.id)
        set_focus(screen, widget, *args, **options)

    monkeypatch.setattr(ConsoleScreen, "set_focus", noted)
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert app.focused is app.console_screen.transcript
        assert set(focused) == {"transcript"}


async def test_a_console_that_begins_with_another_screen_is_painted_when_that_is_left(frames: list[str]) -> None:
    settings = ConsoleSettings(theme="ember", tmux=False, first_screen="gallery")
    app = ConsoleApp(None, settings=settings, clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert "Transcript" not in frames[0]
        while app.screen is not app.console_screen:
            app.pop_screen()
        await pilot.pause()
        app.frames.flush()
        await pilot.pause()
        assert "Transcript" in frames[-1]


async def test_style_sheets_are_parsed_once_for_a_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    stylesheet._rules_for.cache_clear()
    parsed: Counter[tuple[object, ...]] = Counter()
    parse = textual.css.stylesheet.parse

    def noted(scope: str, css: str, read_from: object, *, tie_breaker: int, **more: Any) -> Iterable[RuleSet]:
        parsed[scope, css, read_from, tie_breaker] += 1
        return parse(scope, css, read_from, tie_breaker=tie_breaker, **more)

    monkeypatch.setattr(textual.css.stylesheet, "parse", noted)
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        before = app.console_screen.header.styles.background
        assert before.hex.lower() == app.stylesheet._variables["background"].lower()
        assert set(parsed.values()) == {1}
        parsed.clear()
        app.themes.switch_to("paper" if "paper" in app.themes.names else app.themes.names[-1])
        await pilot.pause()
        assert app.console_screen.header.styles.background != before
        assert set(parsed.values()) == {1}
        parsed.clear()
        app.themes.switch_to("ember")
        await pilot.pause()
        assert (app.console_screen.header.styles.background, parsed) == (before, {})


async def test_no_widget_is_styled_before_it_is_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Stylesheet.apply
    styled: list[str] = []

    def noted(sheet: Stylesheet, node: Any, **options: Any) -> None:
        if not node.is_attached and not app._has_painted:
            styled.append(type(node).__name__)
        apply(sheet, node, **options)

    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    monkeypatch.setattr(Stylesheet, "apply", noted)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
    assert styled == []


async def test_no_widget_is_styled_again_before_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    updated: list[bool] = []
    update = Stylesheet.update

    def noted(sheet: Stylesheet, root: Any, animate: bool = False) -> None:
        updated.append(app._has_painted)
        update(sheet, root, animate)

    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    monkeypatch.setattr(Stylesheet, "update", noted)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
    assert False not in updated
