"""Choose an agent: a bundled one, or a recent one of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_runtime.agents.catalogue import CATALOGUE, BundledAgent
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.launcher import Choice
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.set_up.recent import RecentAgent, recent_agents
from gemini_live_tui.widgets.box_screen import BoxScreen
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

NAME_WIDTH = 18
ROOM = 68


class GalleryScreen(BoxScreen):
    """List of agents. Enter starts one; a call is hung up after a question."""

    HEADING: ClassVar[str] = "Agents"
    HINT: ClassVar[str] = "enter talks to it, esc closes"

    def __init__(self, console: ConsoleContext, own: list[RecentAgent]) -> None:
        super().__init__(console)
        self._own = own
        self._agents = OptionList(id="gallery-agents")
        self._detail = Static("", id="gallery-detail", classes="gap", markup=False)

    @classmethod
    def of(cls, console: ConsoleContext) -> GalleryScreen:
        """Return the screen with bundled and recent agents."""
        return cls(console, recent_agents())

    def contents(self) -> Iterator[Widget]:
        """Yield the list, and a sentence on the agent under the cursor."""
        yield self._agents
        yield self._detail

    def on_mount(self) -> None:
        """Fill the list."""
        now = self.console.time.wall()
        for number, bundled in enumerate(CATALOGUE):
            self._agents.add_option(Option(self._row(bundled.name, _parts(bundled)), id=f"b{number}"))
        self._agents.add_option(Option("", disabled=True))
        if not self._own:
            note = "your own show up here: gemini-live-tui run FILE.py:agent"
            self._agents.add_option(Option(note, disabled=True, id="none"))
        for number, own in enumerate(self._own):
            name = _short(own.reference)
            detail = own.problem or f"used {_ago(now - own.used)}"
            self._agents.add_option(Option(self._row(name, detail), id=f"o{number}", disabled=bool(own.problem)))
        self._agents.highlighted = 0
        self._agents.focus()

    def _row(self, name: str, detail: str) -> Content:
        name = fit(sanitise_line(name), 40, self.signs.ellipsis)
        width = max(NAME_WIDTH, len(name) + 2)
        return Content.assemble(
            (f"{name:<{width}}", "bold"), fit(sanitise_line(detail), ROOM - width, self.signs.ellipsis)
        )

    @on(OptionList.OptionHighlighted, "#gallery-agents")
    def _pointed_at(self, event: OptionList.OptionHighlighted) -> None:
        found = self._agent(event.option_id)
        if isinstance(found, BundledAgent):
            self._detail.update(Content(found.description))
        elif found is not None:
            self._detail.update(Content(sanitise_line(found.reference, 400)))

    @on(OptionList.OptionSelected, "#gallery-agents")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        found = self._agent(event.option_id)
        console = self.console
        if found is None:
            return
        name = found.name if isinstance(found, BundledAgent) else _short(found.reference)
        if console.settings.starter is None:
            self.say("This console only attaches to sessions. Start one with: gemini-live-tui demo --pick", "warning")
        elif console.waiting or not console.store.live:
            self._begin(found)
        else:
            question = f"Talking to {sanitise_line(name, 60)} begins a new session. It hangs up the present call."

            def answered(yes: bool | None) -> None:
                if yes:
                    self._begin(found)

            yes = "hangs up and talks to it"
            self.app.push_screen(ConfirmScreen(question, yes), answered)

    def _begin(self, found: BundledAgent | RecentAgent) -> None:
        bundled = isinstance(found, BundledAgent)
        choice = Choice(found.name, demo=True) if isinstance(found, BundledAgent) else Choice(found.reference)
        try:
            self.console.begin(choice)
        except GeminiLiveError as error:
            self.say(str(error), "error")
        else:
            if not bundled:
                self.say(f"Starting{self.signs.ellipsis}")

    def _agent(self, ident: str | None) -> BundledAgent | RecentAgent | None:
        if ident is None or ident == "none":
            return None
        return CATALOGUE[int(ident[1:])] if ident[0] == "b" else self._own[int(ident[1:])]

    def action_dismiss(self) -> None:  # type: ignore[override]
        """Close the screen; quit when it is the first one and no session was started."""
        if self.console.waiting and self.console.settings.first_screen == "gallery":
            self.app.call_later(self.console.action_hang_up_and_quit)
        else:
            self.dismiss()


def _parts(agent: BundledAgent) -> str:
    counted = ((agent.phases, "phase"), (agent.tools, "tool"), (agent.watchers, "watcher"))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counted if count)


def _short(reference: str) -> str:
    """Return the file's name and the attribute, without the folders."""
    place, _, attribute = reference.rpartition(":")
    return f"{place.replace(chr(92), '/').rsplit('/', 1)[-1]}:{attribute}"


def _ago(seconds: float) -> str:
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
