"""Set up Vertex AI: project, location and login."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.widget import Widget
from textual.widgets import Input, Static

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_tui import config
from gemini_live_tui.dialogs.backend_form import BackendForm
from gemini_live_tui.set_up import vertex
from gemini_live_tui.widgets.field_row import FieldRow
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


class VertexScreen(BackendForm):
    """Form. Enter looks for the login and saves; without one it saves the second time."""

    HEADING: ClassVar[str] = "Vertex AI"
    HINT: ClassVar[str] = "enter checks and saves, esc goes back"

    def __init__(self, console: ConsoleContext, project: str, location: str) -> None:
        super().__init__(console)
        self._project = LineInput(project, id="vertex-project", placeholder="my-project-id", select_on_focus=False)
        self._location = LineInput(location, id="vertex-location", select_on_focus=False)
        self._warned: tuple[str, str] | None = None
        self._done = False

    @classmethod
    def of(cls, console: ConsoleContext) -> VertexScreen:
        """Return the form with the known values."""
        return cls(console, *vertex.known(config.load(flags={"profile": console.settings.profile}).config))

    def contents(self) -> Iterator[Widget]:
        """Yield two fields."""
        yield Static(
            "Sessions are billed to a Google Cloud project. The login is Google's own: "
            "gcloud auth application-default login.",
            markup=False,
        )
        yield FieldRow("Project", self._project, classes="gap")
        yield FieldRow("Location", self._location)

    def on_mount(self) -> None:
        """Focus the project."""
        self._project.focus()

    @on(Input.Changed)
    def _typed(self) -> None:
        self._done = False

    @on(Input.Submitted)
    def _submitted(self) -> None:
        if self._done:
            self.dismiss()
            return
        project, location = self._project.value.strip(), self._location.value.strip()
        try:
            vertex.check_names(project, location)
        except GeminiLiveError as error:
            self.say(f"{error.message}.", "warning")
            (self._location if "location" in error.field else self._project).focus()
            return
        self._check(project, location)

    @work(group="login", exclusive=True)
    async def _check(self, project: str, location: str) -> None:
        said = ""
        if self._warned != (project, location):
            self.say(f"Looking for the login{self.signs.ellipsis}")
            login = await vertex.find_login()
            if not login.found:
                self._warned = (project, location)
                self.say(f"{login.sentence} Press enter again to save it all the same.", "warning")
                return
            said = login.sentence
        save = partial(vertex.keep, project, location, self.console.settings.profile)
        self._done = await self.keep(save, f"{said} Saved: {project} in {location}")
