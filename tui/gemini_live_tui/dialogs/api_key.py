"""Enter an API key: check its shape while typing, ask Google on enter, store it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.dialogs.backend_form import BackendForm
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.set_up import keys
from gemini_live_tui.widgets.field_row import FieldRow
from gemini_live_tui.widgets.option_list import OptionList
from gemini_live_tui.widgets.secret_field import SecretField

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

NAME_WIDTH = 22


class KeyScreen(BackendForm):
    """Screen of three steps: key, check, place."""

    HEADING: ClassVar[str] = "Gemini API key"
    HINT: ClassVar[str] = "enter goes on, esc goes back"
    DISCREET: ClassVar[bool] = True
    """True to keep the screen's events from Textual's developer console."""

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console)
        self._credential: keys.Credential | None = None
        self._field = SecretField(id="key-field", ascii_only=console.settings.ascii)
        self._shape = Static("", id="key-shape", classes="quiet", markup=False)
        self._places = OptionList(id="key-places", disabled=True)
        self._first_place = 0
        self._checking = False
        self._done = False

    def contents(self) -> Iterator[Widget]:
        """Yield the field, the verdict on it, and the places to keep the key."""
        yield Static("Keys are free at aistudio.google.com/apikey. Paste or type yours:", markup=False)
        yield FieldRow("Key", self._field)
        yield self._shape
        yield Static("Keep it in", classes="gap quiet", markup=False)
        yield self._places

    def on_mount(self) -> None:
        """Hide the places until the key was checked; look for a keyring meanwhile."""
        self._field.focus()
        self._fill_places(f"looking for it{self.signs.ellipsis}")
        self._look_for_keyring()

    @work(group="keyring")
    async def _look_for_keyring(self) -> None:
        self._fill_places(await asyncio.to_thread(keys.keyring_problem))

    def _fill_places(self, keyring_problem: str) -> None:
        rows = (
            ("keyring", "the system's keyring", keyring_problem or "locked and unlocked by your system"),
            ("file", "a file", f"{keys.key_file_label()}, mode 0600"),
            ("env", "nothing, for now only", "you put it into a variable yourself"),
        )
        self._places.clear_options()
        for place, name, detail in rows:
            room = 70 - NAME_WIDTH - 2
            detail = fit(sanitise_line(detail), room, self.signs.ellipsis)
            prompt = Content.assemble((f"{name:<{NAME_WIDTH}}", "bold"), detail)
            self._places.add_option(Option(prompt, id=place, disabled=place == "keyring" and bool(keyring_problem)))
        self._first_place = 1 if keyring_problem else 0
        self._places.highlighted = None if self._places.disabled else self._first_place

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Check the shape while typing."""
        text = event.value
        if text:
            # The check was for another key.
            self._credential, self._places.disabled, self._places.highlighted = None, True, None
            fault = keys.shape(text)
            self._shape.update(fault or f"{len(text.strip())} characters, it looks like a key.")
            self.say("")
        elif self._credential is None:
            self._shape.update("")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        """Check the key that was entered."""
        if self._checking:
            return
        if not self._field.value.strip():
            self.say("There is no key yet. Paste one, or press esc to go back.", "warning")
        elif fault := keys.shape(self._field.value):
            self._field.select_all()
            self.say(f"That is no key: {fault[0].lower()}{fault[1:]} Paste it again.", "warning")
        else:
            self._check(self._field.take())

    @work(group="check", exclusive=True)
    async def _check(self, secret: str) -> None:
        size = len(secret.strip())
        self._checking = True
        self.say(f"Listing models{self.signs.ellipsis}")
        try:
            credential, check = await keys.check(secret)
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return
        finally:
            self._checking = False
        if check.state == "refused":
            self.say(f"{check.sentence} {check.remedy}.", "error")
            self._shape.update("")
            return
        self._credential = credential
        self._shape.update(f"{size} characters, taken.")
        if check.state == "works":
            self.say(f"{check.sentence} Where shall it be kept?")
        else:
            self.say(f"The key could not be checked. {check.sentence} Keep it anyway? Choose where, or esc.", "warning")
        self._places.disabled = False
        self._places.highlighted = self._first_place
        self._places.focus()

    @on(OptionList.OptionSelected, "#key-places")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if self._done:
            self.dismiss()
        elif self._credential is not None and event.option_id is not None:
            self._keep(self._credential, event.option_id)

    @work(group="keep", exclusive=True)
    async def _keep(self, credential: keys.Credential, place: keys.Place) -> None:
        self.say(f"Saving{self.signs.ellipsis}")
        where = {"keyring": "in the keyring", "file": f"in {keys.key_file_label()}", "env": "for this run"}[place]
        save = partial(keys.keep, credential, place, self.console.settings.profile)
        if not await self.keep(save, f"The key is kept {where}"):
            return
        self._credential, self._done = None, True
        if place == "env":
            line, file = keys.profile_line(os.environ)
            self._shape.update(f"To keep it for good, put this line with your key into {file}:\n  {line}")

    def __rich_repr__(self) -> Iterator[object]:
        """Yield nothing: a representation must not show the key."""
        yield "KeyScreen"
