"""List profiles; create, switch, and open one to edit its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.harness.paths import MAX_PROFILE_NAME, default_root
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui import config, profile_files
from gemini_live_tui.actions import bindings
from gemini_live_tui.context import ConsoleContext
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.editors.profile_values import ProfileValuesScreen
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.set_up.keys import home_label
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.option_list import OptionList

NAME_WIDTH = 24
ROOM = 66
"""Cells of a row of the list."""


class ProfilesScreen(BoxScreen):
    """Profiles by name, with the one in use marked."""

    CSS_PATH = [BOX_STYLES, "profiles.tcss"]  # noqa: RUF012 - Textual's type
    HEADING = "Profiles"
    HINT = "enter shows its values, {profile-new} copies it, {profile-switch} switches to it, esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Close", show=False),
        *bindings("profiles"),
    ]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console)
        self._present = console.settings.profile
        self._problems: Mapping[str, str] = {}
        self._copied = ""
        self._list = OptionList(id="profiles-list")
        self._detail = Static("", id="profiles-detail", classes="quiet gap", markup=False)
        self._new_name = LineInput(
            id="profile-name", max_length=MAX_PROFILE_NAME, placeholder="name of the new profile"
        )
        self._field = Horizontal(Static("Name", markup=False), self._new_name, id="profile-field", classes="field gap")

    def contents(self) -> Iterator[Widget]:
        """Yield the list, the file of the chosen one, and the field for a new name."""
        yield self._list
        yield self._detail
        yield self._field

    def on_mount(self) -> None:
        """Read the profiles."""
        self._field.display = False
        self._show(self._present)
        self._list.focus()

    def on_screen_resume(self) -> None:
        """Read them again: an editor may have changed one."""
        if self._list.option_count:
            self._show(self._highlighted)

    def _show(self, name: str) -> None:
        names = profile_files.profile_names()
        self._problems = {name: problem for name in names if (problem := _problem(name))}
        self._list.clear_options()
        self._list.add_options(Option(self._row(one), id=one) for one in names)
        self._list.highlighted = names.index(name) if name in names else 0
        self._describe()

    def _row(self, name: str) -> Content:
        notes = ["in use"] if name == self._present else []
        if name in self._problems:
            notes.append("cannot be used")
        elif not profile_files.profile_path(name).exists():
            notes.append("no file: as the config file")
        row = f"{fit(name, NAME_WIDTH - 1, self.signs.ellipsis):<{NAME_WIDTH}}{', '.join(notes)}"
        # Unstyled, so that the cursor's colours cover the whole row.
        return Content(fit(row, ROOM, self.signs.ellipsis))

    @property
    def _highlighted(self) -> str:
        at = self._list.highlighted
        return "" if at is None else self._list.get_option_at_index(at).id or ""

    @on(OptionList.OptionHighlighted, "#profiles-list")
    def _describe(self) -> None:
        name = self._highlighted
        if not name:
            return
        lines = [home_label(profile_files.profile_path(name)), f"Records: {home_label(default_root(name))}"]
        if problem := self._problems.get(name):
            lines = [problem]
        self._detail.update(Content("\n".join(sanitise_line(line, 400) for line in lines)))

    @property
    def unsaved(self) -> bool:
        """True while a name is typed."""
        return self._field.display and bool(self._new_name.value)

    def action_back(self) -> None:
        """Leave the field, or the screen."""
        if self._field.display:
            self._field.display = False
            self.say("")
            self._list.focus()
        else:
            self.dismiss()

    # -- editing -----------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected, "#profiles-list")
    def _edit(self) -> None:
        name = self._highlighted
        if problem := self._problems.get(name):
            self.say(problem, "error")
            return
        self.say("")
        self.app.push_screen(ProfileValuesScreen(self.console, name))

    # -- creating ----------------------------------------------------------------------------------------------------

    def action_new(self) -> None:
        """Ask for the name of a copy of the chosen profile."""
        if self._field.display:
            return
        if problem := self._problems.get(self._highlighted):
            self.say(f"It cannot be copied: {problem}", "error")
            return
        self._copied = self._highlighted
        self._new_name.value = ""
        # At once, so that the field gets the keys that come next.
        self._field.display = True
        self.set_focus(self._new_name)
        self.say(f"A copy of {self._copied}, with records of its own. enter creates it, esc goes back.")

    @on(LineInput.Submitted, "#profile-name")
    def _create(self) -> None:
        name = self._new_name.value.strip()
        try:
            path = profile_files.create_profile(name, copied=self._copied, check=config.read_profile)
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return
        self._field.display = False
        self._list.focus()
        self._show(name)
        self.say(f"Created {home_label(path)}.")

    # -- switching ---------------------------------------------------------------------------------------------------

    def action_switch(self) -> None:
        """Start the next session under the chosen profile, after asking."""
        name, starter = self._highlighted, self.console.settings.starter
        if self._field.display or not name:
            return
        if name == self._present:
            self.say(f"{name} is in use.")
        elif problem := self._problems.get(name):
            self.say(problem, "error")
        elif starter is None:
            self.say(f"This console starts no sessions. Start one with: gemini-live-tui --profile {name}", "warning")
        elif self.console.waiting or not self.console.store.live:
            self._switch(name)
        else:

            def answered(yes: bool | None) -> None:
                if yes:
                    self._switch(name)

            question = f"Switching to {name} begins a new session under it. It hangs up the present call."
            self.app.push_screen(ConfirmScreen(question, "hangs up and switches"), answered)

    def _switch(self, name: str) -> None:
        starter = self.console.settings.starter
        assert starter is not None
        try:
            self.console.begin(starter.under_profile(name))
        except GeminiLiveError as error:
            self.say(str(error), "error")


def _problem(name: str) -> str:
    """Return a sentence about a profile that cannot be used, or ""."""
    try:
        config.read_profile(name)
    except GeminiLiveError as error:
        return redactor.text(str(error))
    return ""
