"""Exporting a recorded session, finished or still being written: which part of it, with what taken out, to which files.

Without being told otherwise an export is redacted, see `redaction`. Voices cannot be, so sound is exported only where
redaction was turned off. Files are readable by their owner alone, appear whole or not at all, and take the place of
another one only where that is asked for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.errors import FileExistsAlreadyError, JournalError, UsageError
from gemini_live_runtime.journal.catalog import title_of
from gemini_live_runtime.journal.marks import marked_at
from gemini_live_runtime.journal.reader import Journal, read_journal
from gemini_live_runtime.journal.redaction import Redaction

Format = Literal["markdown", "text", "json", "microphone", "model", "stereo"]
FORMATS: tuple[Format, ...] = get_args(Format)
SOUND: frozenset[Format] = frozenset(("microphone", "model", "stereo"))
ENDINGS: dict[Format, str] = {
    "markdown": ".md",
    "text": ".txt",
    "json": ".json",
    "microphone": "-microphone.wav",
    "model": "-model.wav",
    "stereo": "-stereo.wav",
}
"""How the file of each format ends."""

NO_SOUND_REDACTED = "Voices cannot be redacted, so sound is not exported"
MARKS_S = 10.0
"""Seconds before and after a mark that belong to it, unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The part of a session to export: all of it, or one of these.

    `start` and `end` are seconds of session time, either may be missing; `turn` is a turn's number; `around_marks` is
    how many seconds before and after each mark.
    """

    start: float | None = None
    end: float | None = None
    turn: int | None = None
    around_marks: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A range as it lies in a session: stretches of session time in seconds, and for a turn its number."""

    stretches: tuple[tuple[float, float], ...]
    turn: int | None = None
    words: str = "the whole session"
    suffix: str = ""
    whole: bool = True

    def covers(self, t: float, turn: int) -> bool:
        """Whether something at `t` in `turn` belongs to it."""
        if self.turn is not None:
            return turn == self.turn
        return any(start <= t <= end for start, end in self.stretches)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. `redacted` counts the places that were blanked, None without redaction.

    `problems` counts lines of the journal that could not be read and are missing.
    """

    files: tuple[Path, ...]
    redacted: int | None
    problems: int


@dataclass(slots=True)
class Survey:
    """What a first look through a session found. Times are session time in seconds."""

    last: int = 0
    end: float = 0.0
    turns: dict[int, float] = field(default_factory=dict)
    """When each turn began."""
    marks: list[float] = field(default_factory=list)
    """The moments that were marked."""


class Material:
    """A session as its exporters see it: the same events however often they are read, redacted if so wished.

    `path` is a session's folder or events file. Raises as `export` does.
    """

    def __init__(self, path: Path, *, redact: bool, wanted: Range) -> None:
        self.journal = journal = read_journal(path)
        self.redaction = Redaction() if redact else None
        self.survey = _surveyed(journal, self.redaction)
        self.problems = journal.problem_count
        self.window = _window(wanted, self.survey)
        self.name = _name(journal)
        title = title_of(journal.folder)
        self.title = title if self.redaction is None else self.redaction.line(title)
        self.places = 0
        """Places of the range that were blanked, the last time that the events were read."""

    def events(self) -> Iterator[ev.Event]:
        """All events, from the beginning; those written after the first look are left out."""
        redaction, self.places = self.redaction, 0
        for event in self.journal:
            if event.seq > self.survey.last:
                return
            if redaction is None:
                yield event
                continue
            before = redaction.count
            event = redaction.event(event)
            if self.window.covers(event.t, event.turn):
                self.places += redaction.count - before
            yield event


def export(
    path: Path,
    formats: Sequence[Format],
    folder: Path,
    *,
    wanted: Range | None = None,
    redact: bool = True,
    force: bool = False,
) -> Exported:
    """Export the session at `path` (its folder or events file) into `folder`, a file for each of `formats`.

    Raises `UsageError` with a sentence for a range that is not there, sound under redaction, or a file that exists;
    `JournalError` for a session that cannot be read, sound that was not recorded, or a disk that does not take it.
    """
    if not formats:
        raise UsageError("There is nothing to export", remedy=f"Choose among {', '.join(FORMATS)}", field="format")
    check_formats(formats, redact=redact)
    material = Material(path, redact=redact, wanted=wanted or Range())
    targets = [(fmt, folder / target_name(material, fmt)) for fmt in dict.fromkeys(formats)]
    for _, target in targets:
        if not force and os.path.lexists(target):
            raise FileExistsAlreadyError(
                f"{target} exists", remedy="Choose another folder, or replace it with --force", field="to"
            )
    contents = [pieces(material, fmt) for fmt, _ in targets]
    # Whether there is sound shows with its first piece: before anything is written.
    begun = [next(content) if fmt in SOUND else b"" for (fmt, _), content in zip(targets, contents, strict=True)]
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True)
        for (_, target), first, content in zip(targets, begun, contents, strict=True):
            with _new_file(target, force=force) as file:
                file.write(first)
                for piece in content:
                    file.write(piece)
    except FileExistsError as error:
        raise UsageError(f"{error.filename or folder} exists", remedy="Choose another place", field="to") from None
    except OSError as error:
        raise JournalError(
            f"{error.filename or folder} cannot be written: {error.strerror or error}",
            remedy="Choose another folder",
            field="to",
        ) from None
    count = None if material.redaction is None else material.places
    return Exported(tuple(target for _, target in targets), count, material.problems)


def folder_of(text: str) -> Path:
    """The folder that somebody wrote, with `~` for a home; raises `UsageError` for one that cannot be."""
    try:
        return Path(text.replace("\x00", "")).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{text[:60]!r} is nobody's home folder", remedy="Write the folder in full", field="to"
        ) from None


def check_formats(formats: Sequence[Format], *, redact: bool) -> None:
    """Raise `UsageError` for sound under redaction."""
    sound = [fmt for fmt in formats if fmt in SOUND]
    if redact and sound:
        raise UsageError(
            NO_SOUND_REDACTED, remedy="Leave out " + ", ".join(sound) + ", or turn redaction off", field="redact"
        )


def target_name(material: Material, fmt: Format) -> str:
    """The name of the file of a format."""
    return f"{material.name}{material.window.suffix}{ENDINGS[fmt]}"


def pieces(material: Material, fmt: Format) -> Iterator[bytes]:
    """The file's content, piece by piece; raises `JournalError` for sound that is not there."""
    if fmt == "markdown":
        from gemini_live_runtime.journal.formats.markdown import markdown

        return markdown(material)
    if fmt == "text":
        from gemini_live_runtime.journal.formats.text import text

        return text(material)
    if fmt == "json":
        from gemini_live_runtime.journal.formats.data import data

        return data(material)
    from gemini_live_runtime.journal.formats.sound import sound

    return sound(material, fmt)


# -- the first look --------------------------------------------------------------------------------------------------


def _surveyed(journal: Journal, redaction: Redaction | None) -> Survey:
    found = Survey()
    times: dict[int, float] = {}
    marked: list[tuple[ev.Event, ev.MarkSet]] = []
    for event in journal:
        found.last, found.end = event.seq, max(found.end, event.t)
        times[event.seq] = event.t
        if event.turn:
            found.turns.setdefault(event.turn, event.t)
        if isinstance(event.payload, ev.MarkSet):
            marked.append((event, event.payload))
        if redaction is not None:
            redaction.learn(event)
    if not found.last:
        raise JournalError(f"{journal.path} holds no event that can be read", field="session")
    # A mark that does not tell its time is one of a program that did not write it: then that of its event counts.
    found.marks = sorted(
        times.get(mark.of, event.t) if mark.t is None else marked_at(event, mark) for event, mark in marked
    )
    return found


def _window(wanted: Range, survey: Survey) -> Window:
    timed = wanted.start is not None or wanted.end is not None
    if timed + (wanted.turn is not None) + (wanted.around_marks is not None) > 1:
        raise UsageError("A range is seconds, or a turn, or marks", remedy="Give one of them", field="range")
    if wanted.turn is not None:
        return _turn(wanted.turn, survey)
    if wanted.around_marks is not None:
        return _around(wanted.around_marks, survey)
    if not timed:
        return Window(((0.0, survey.end),))
    start, end = wanted.start or 0.0, survey.end if wanted.end is None else wanted.end
    if not 0 <= start < end:
        raise UsageError(
            f"There is nothing from {start:g} s to {end:g} s",
            remedy="The beginning comes before the end",
            field="range",
        )
    if start > survey.end:
        raise UsageError(
            f"The session is over after {survey.end:.1f} s", remedy=f"Begin before {start:g} s", field="range"
        )
    words = f"{start:g} s to {end:g} s"
    return Window(((start, min(end, survey.end)),), None, words, f"-{start:g}s-{end:g}s", False)


def _turn(number: int, survey: Survey) -> Window:
    if number not in survey.turns:
        known = f"it has turns {min(survey.turns)} to {max(survey.turns)}" if survey.turns else "it has no turns"
        raise UsageError(f"There is no turn {number} in this session", remedy=f"{known.capitalize()}", field="turn")
    later = [t for turn, t in survey.turns.items() if turn > number]
    stretch = (survey.turns[number], min(later, default=survey.end))
    return Window((stretch,), number, f"turn {number}", f"-turn{number}", False)


def _around(seconds: float, survey: Survey) -> Window:
    if not 0 < seconds <= 3600:
        raise UsageError(f"{seconds:g} s around marks is not possible", remedy="Give 1 to 3600 s", field="around-marks")
    if not survey.marks:
        raise UsageError("Nothing was marked in this session", remedy="Choose another range", field="around-marks")
    stretches: list[tuple[float, float]] = []
    for mark in survey.marks:
        start, end = max(0.0, mark - seconds), min(survey.end, mark + seconds)
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    count = len(survey.marks)
    words = f"{seconds:g} s around {'the mark' if count == 1 else f'each of {count} marks'}"
    return Window(tuple(stretches), None, words, "-marks", False)


def _name(journal: Journal) -> str:
    """A name for the files: the session's, unless that is no harmless one."""
    for name in (journal.folder.resolve().name if journal.path.name == "events.jsonl" else "", journal.session_id):
        with contextlib.suppress(UsageError):
            return paths.safe_name(name)
    return "session"


# -- writing ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _new_file(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file that takes its name when it is complete; raises `FileExistsError` when the name is taken meanwhile."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    file = os.fdopen(paths.open_private(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)), "wb")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if force:
            part.replace(target)
        else:
            _publish(part, target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _publish(part: Path, target: Path) -> None:
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links: between looking and renaming somebody could still come first.
        if os.path.lexists(target):
            raise FileExistsError(17, "File exists", str(target)) from None
        part.replace(target)
