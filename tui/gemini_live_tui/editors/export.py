"""Export a session: formats, part, redaction, and folder of the files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gemini_live_runtime import paths
from gemini_live_runtime.errors import GeminiLiveError, UsageError
from gemini_live_runtime.journal.files.tracks import FILES, has_track
from gemini_live_runtime.records import mutable_record, record
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.export import ExportResult
    from gemini_live_runtime.journal.formats.base import Format, Range
    from gemini_live_tui.context import ConsoleContext

NOT_RECORDED = (
    "This session is not recorded, so there is nothing to export. The next one is recorded when it is started with "
    "--record text, or with --record audio for sound; gemini-live-tui config set recording.record audio makes it so "
    "from now on."
)

_FORMATS: dict[str, tuple[str, str]] = {
    "markdown": ("Markdown", "a document: facts, turns, tools, phases, marks"),
    "text": ("Text", "a line for everything that was said and done"),
    "json": ("JSON", "the events, and the view at their end"),
    "microphone": ("Microphone", "WAV, what was sent of your voice"),
    "model": ("Model", "WAV, what was heard of the model"),
    "stereo": ("Stereo", "WAV, you on the left, the model on the right"),
}
_SOUND = ("microphone", "model", "stereo")
_PARTS = ("all", "turn", "marks", "seconds")
_NAME = 14
"""Cells of a choice's name."""


@record
class Subject:
    """Session to export: folder or events file, and known facts."""

    path: Path
    name: str
    seconds: float
    turns: int
    sound: bool


@mutable_record
class Choices:
    """Choices made. `start` and `end` are seconds as typed, "" for the session's own."""

    formats: set[str]
    part: str = "all"
    turn: int = 1
    start: str = ""
    end: str = ""
    redact: bool = True
    folder: str = ""


def usual_folder() -> Path:
    """Return the default folder: the working directory."""
    return Path.cwd()


class ChoiceList(RowList):
    """Choices as rows, painted from a `Choices`."""

    def __init__(self, subject: Subject, choices: Choices, signs: Glyphs, *, id: str) -> None:
        super().__init__(id=id)
        self._subject = subject
        self._choices = choices
        self._signs = signs

    def on_mount(self) -> None:
        """List all rows."""
        formats = [f"format {name}" for name in _FORMATS]
        parts = [f"part {name}" for name in _PARTS]
        self.set_rows(["head formats", *formats, "head part", *parts, "head how", "redact", "folder", "write"])
        self.go_to(formats[0])

    def selectable(self, row: str) -> bool:
        """Return False for headings."""
        return not row.startswith("head")

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return mark, name and meaning."""
        kind, _, name = row.partition(" ")
        if kind == "head":
            return ((name.capitalize(), "quiet"),)
        mark, title, detail, look = self._row(kind, name)
        room = width - 6 - _NAME
        end = fit(detail, room, self._signs.ellipsis)
        return ((f"  {mark} {title:<{_NAME}}", "said" if look != "quiet" else "quiet"), (end, look))

    def _row(self, kind: str, name: str) -> tuple[str, str, str, str]:
        chosen = self._choices
        if kind == "format":
            title, detail = _FORMATS[name]
            if name in _SOUND and not self._subject.sound:
                return "   ", title, "no sound was recorded", "quiet"
            if name in _SOUND and chosen.redact:
                return "   ", title, "a voice cannot be redacted: turn redaction off", "quiet"
            return ("[x]" if name in chosen.formats else "[ ]"), title, detail, "said"
        if kind == "part":
            return ("(o)" if name == chosen.part else "( )"), name.capitalize(), self._part(name), "said"
        if kind == "redact":
            what = "personal values become [redacted]" if chosen.redact else "OFF: personal data goes into the files"
            return ("[x]" if chosen.redact else "[ ]"), "Redact", what, "said" if chosen.redact else "warn"
        if kind == "folder":
            return "   ", "Folder", chosen.folder, "said"
        return f" {self._signs.prompt} ", "Export", f"write {_count(len(chosen.formats), 'file')}", "strong"

    def _part(self, name: str) -> str:
        chosen, subject = self._choices, self._subject
        if name == "all":
            return f"{clock_text(subject.seconds)}, {_count(subject.turns, 'turn')}"
        if name == "turn":
            return f"{chosen.turn} of {subject.turns}" if subject.turns else "there is none yet"
        if name == "marks":
            return "10 seconds before and after each mark"
        return f"{chosen.start or '0'} to {chosen.end or f'{subject.seconds:.0f}'} s"


class ExportScreen(TopModalScreen[None]):
    """Box of choices; the files are written in a thread."""

    CSS_PATH = "export.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("export")]

    def __init__(self, console: ConsoleContext, subject: Subject | None, *, wanted: str = "") -> None:
        super().__init__()
        self._wanted = wanted
        self._settings = console.settings
        self._signs = glyphs(console.settings.ascii)
        self._subject = subject
        self._asking = ""
        self._writing = False
        self._may_replace = False
        turn = max(1, subject.turns) if subject is not None else 1
        self.choices = Choices({"markdown"}, turn=turn, folder=_short(usual_folder()))
        self.field = LineInput(id="export-field", select_on_focus=True)
        self._label = Static("", id="export-label", markup=False)
        self._message = Static("", id="export-message", markup=False)
        self.list = ChoiceList(subject, self.choices, self._signs, id="export-list") if subject is not None else None

    @classmethod
    def of(cls, console: ConsoleContext, wanted: str = "") -> ExportScreen:
        """Return the export of this console's session, whose file may still grow.

        `wanted` is one of `arguments.FORMATS`, which is chosen at first.
        """
        return cls(console, subject_of(console), wanted=wanted)

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Container(id="export-box") as box:
            box.border_title = Content(f"Export {self._subject.name}" if self._subject is not None else "Export")
            named = ("{export-choose} chooses", "{export-write} exports", "{export-close} closes")
            shown = named[2:] if self.list is None else named
            keys = hints(shown, self._settings.keymap, ascii_only=self._settings.ascii)
            box.border_subtitle = Content(", ".join(keys))
            if self.list is None:
                yield Static(NOT_RECORDED, id="export-nothing", markup=False)
                return
            yield self.list
            with Horizontal(id="export-entry"):
                yield self._label
                yield self.field
            yield self._message

    def on_mount(self) -> None:
        """Focus the choices, and choose the wanted format."""
        if self.list is not None:
            self.set_focus(self.list)
            if self._wanted:
                self._begin_with(self.list, "stereo" if self._wanted == "wav" else self._wanted)

    def _begin_with(self, rows: ChoiceList, name: str) -> None:
        chosen = self.choices
        if name in _SOUND and self._subject is not None and not self._subject.sound:
            self.say("No sound was recorded in this session.", "warning")
            return
        chosen.formats = {name}
        if name in _SOUND:
            chosen.redact = False
            self.say("A voice cannot be redacted: redaction is off for this export.", "warning")
        rows.go_to(f"format {name}")
        rows.touch()

    # -- actions -----------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable most of the screen's keys while the field has the focus."""
        return not self._asking or action == "back"

    def action_move(self, step: str) -> None:
        """Move the cursor."""
        if self.list is not None:
            self.list.move(step)

    @on(RowList.Opened)
    def action_choose(self) -> None:
        """Run the row under the cursor."""
        if self.list is None:
            return
        kind, _, name = self.list.row_at_cursor.partition(" ")
        chosen = self.choices
        if kind == "write":
            self.action_write()
            return
        self._may_replace = False
        self.say("")
        if kind == "format":
            self._choose_format(name)
        elif kind == "part":
            chosen.part = name
            if name == "turn":
                self._ask("turn", "Turn", str(chosen.turn))
            elif name == "seconds":
                self._ask("seconds", "From - to", f"{chosen.start or 0} - {chosen.end or f'{self._seconds:.0f}'}")
        elif kind == "redact":
            chosen.redact = not chosen.redact
            if chosen.redact:
                chosen.formats.difference_update(_SOUND)
        elif kind == "folder":
            self._ask("folder", "Folder", chosen.folder)
        self.list.touch()

    def _choose_format(self, name: str) -> None:
        chosen = self.choices
        if name in _SOUND and self._subject is not None and not self._subject.sound:
            self.say("No sound was recorded in this session.", "warning")
        elif name in _SOUND and chosen.redact:
            self.say("A voice cannot be redacted. Turn redaction off to export sound.", "warning")
        else:
            chosen.formats ^= {name}

    @property
    def _seconds(self) -> float:
        return self._subject.seconds if self._subject is not None else 0.0

    def action_write(self) -> None:
        """Write the files."""
        if self.list is None or self._writing or self._asking:
            return
        if not self.choices.formats:
            self.say("No format is chosen.", "warning")
            return
        self._writing = True
        self.say(f"Writing{self._signs.ellipsis}")
        self._write()

    @work(group="export")
    async def _write(self) -> None:
        try:
            done = await asyncio.to_thread(self._export)
        except UsageError as error:
            self._may_replace = error.code == "file-exists"
            again = " Press e again to replace it." if self._may_replace else ""
            self.say(f"{error.message}.{again}" if again else str(error), "warning")
        except GeminiLiveError as error:
            self.say(str(error), "warning")
        else:
            self._may_replace = False
            self.say(_result_text(done))
        finally:
            self._writing = False

    def _export(self) -> ExportResult:
        from gemini_live_runtime.journal.export import export, folder_of
        from gemini_live_runtime.journal.formats.base import FORMATS

        assert self._subject is not None
        chosen = self.choices
        formats: list[Format] = [fmt for fmt in FORMATS if fmt in chosen.formats]
        folder = folder_of(chosen.folder)
        return export(
            self._subject.path,
            formats,
            folder,
            wanted=self._range(),
            redact=chosen.redact,
            force=self._may_replace,
        )

    def _range(self) -> Range:
        from gemini_live_runtime.journal.formats.base import MARKS_S, Range

        chosen = self.choices
        if chosen.part == "turn":
            return Range(turn=chosen.turn)
        if chosen.part == "marks":
            return Range(around_marks=MARKS_S)
        if chosen.part == "seconds":
            return Range(start=float(chosen.start or 0), end=float(chosen.end) if chosen.end else None)
        return Range()

    def action_back(self) -> None:
        """Leave the field, or close."""
        if self._asking:
            self._answered()
        else:
            self.dismiss()

    # -- the field ---------------------------------------------------------------------------------------------------

    def _ask(self, what: str, label: str, value: str) -> None:
        self._asking = what
        self._label.update(label)
        self.field.value = value
        self.add_class("-asking")
        self.set_focus(self.field)

    def _answered(self) -> None:
        self._asking = ""
        self.remove_class("-asking")
        assert self.list is not None
        self.set_focus(self.list)
        self.list.touch()

    @on(Input.Submitted, "#export-field")
    def _submitted(self, event: Input.Submitted) -> None:
        problem = self._take(event.value.strip())
        if problem:
            self.say(problem, "warning")
        else:
            self.say("")
            self._answered()

    def _take(self, text: str) -> str:
        """Take the text of the field; return its fault, or ""."""
        chosen = self.choices
        if self._asking == "folder":
            if not text:
                return "Write the folder that the files go to."
            chosen.folder = text
        elif self._asking == "turn":
            if not text.isdecimal() or not 1 <= int(text[:9]) <= self._turns:
                return f"Write a turn's number, 1 to {self._turns}."
            chosen.turn = int(text)
        else:
            start, _, end = (part.strip() for part in text.partition("-"))
            if not all(_is_seconds(part) for part in (start or "0", end or "1")):
                return "Write two numbers of seconds, for example 30 - 90."
            if end and float(start or 0) >= float(end):
                return "The beginning comes before the end."
            chosen.start, chosen.end = start, end
        return ""

    @property
    def _turns(self) -> int:
        return max(1, self._subject.turns) if self._subject is not None else 1

    def say(self, message: str, level: str = "info") -> None:
        """Show one sentence below the choices; "" removes it."""
        self._message.update(Content(sanitise_line(message, 400)))
        self._message.set_class(level == "warning", "-warning")


def subject_of(console: ConsoleContext) -> Subject | None:
    """Return the console's own session, None when it is not recorded."""
    view, path = console.store.view, console.settings.recording
    sound = view.record == "audio"
    if path is not None:
        folder = path if path.is_dir() else path.parent
        sound = any(has_track(folder / name) for name in FILES.values())
    elif view.record == "off" or not view.session_id:
        return None
    else:
        try:
            path = paths.sessions_dir() / paths.safe_name(view.session_id)
        except UsageError:
            return None
    return Subject(path, view.agent or view.session_id, view.t, view.turn, sound)


def _result_text(done: ExportResult) -> str:
    first, more = _short(done.files[0]), len(done.files) - 1
    files = first if not more else f"{first} and {_count(more, 'more file')}"
    taken = "not redacted" if done.redacted is None else f"{_count(done.redacted, 'place')} redacted"
    damage = f" The recording is damaged in {_count(done.problems, 'place')}." if done.problems else ""
    return f"Written: {files}, {taken}.{damage}"


def _short(path: Path) -> str:
    """Return a path with ~ for the home folder."""
    try:
        return str(Path("~") / path.absolute().relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


def _is_seconds(text: str) -> bool:
    try:
        return 0 <= float(text) < 1e6
    except ValueError:
        return False


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
