"""Import keys from a JSON object, pasted or read from a file, all or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.paths import expand_user, read_regular
from gemini_live_runtime.text import sanitise
from gemini_live_tui.editors.base import Edit, EditorScreen
from gemini_live_tui.editors.value_parser import MAX_JSON, read_keys
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


class ImportState(EditorScreen):
    """Editor of an object; enter in the path field reads a file into the text."""

    HEADING = "Import keys"

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console, "", placeholder='paste an object here, e.g. {"app:plan": "gold"}')
        self.path = LineInput(placeholder="a JSON file; enter reads it", max_length=1000)

    def contents(self) -> Iterator[Widget]:
        """Yield the path, then the fields of every editor."""
        yield Horizontal(Static("file", markup=False), self.path, id="editor-key")
        yield from super().contents()

    def read(self) -> tuple[tuple[Edit, ...], str]:
        """Return an edit for each key."""
        read = read_keys(self.area.text)
        if read.problem:
            return (), read.problem
        return tuple({"key": key, "value": value} for key, value in read.value.items()), ""

    def reads_well(self, edits: Sequence[Edit]) -> str:
        """Return the number of keys."""
        return f"{len(edits)} key{'s' if len(edits) != 1 else ''}, written all together or not at all"

    @on(Input.Changed)
    def _path_typed(self, message: Input.Changed) -> None:
        message.stop()

    @on(Input.Submitted)
    def _load(self, message: Input.Submitted) -> None:
        message.stop()
        try:
            path = expand_user(message.value.strip())
            # UTF-8 takes at most four bytes for a character.
            text = read_regular(path, 4 * MAX_JSON).decode("utf-8")
        except UsageError as error:
            self.say(str(error), "error")
            return
        except (OSError, UnicodeDecodeError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is no text file"
            self.say(f"{message.value.strip()[:200]} cannot be read: {why}.", "error")
            return
        if len(text) > MAX_JSON:
            self.say(f"The file has more than {MAX_JSON:,} characters; import a smaller one.", "error")
            return
        self.say("")
        self.area.text = sanitise(text)
        self.area.focus()
