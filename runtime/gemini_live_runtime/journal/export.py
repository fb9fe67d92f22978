"""Export a recorded session, finished or still being written, to files.

By default an export is redacted, see `redaction`. Voices cannot be, so sound is exported only with redaction off. Files
are readable by their owner alone, appear whole or not at all, and replace an existing one only with `force`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from gemini_live_runtime import paths
from gemini_live_runtime.errors import FileExistsAlreadyError, JournalError, UsageError, write_remedy
from gemini_live_runtime.journal.formats.base import ENDINGS, FORMATS, SOUND, ExportSource, Format, Range
from gemini_live_runtime.records import record

NO_SOUND_REDACTED = "Voices cannot be redacted, so sound is not exported"


@record
class ExportResult:
    """Result of an export.

    `redacted` counts the replaced places, None without redaction; `problems` counts lines of the journal that could
    not be read and are missing.
    """

    files: tuple[Path, ...]
    redacted: int | None
    problems: int


def export(
    path: Path,
    formats: Sequence[Format],
    folder: Path,
    *,
    wanted: Range | None = None,
    redact: bool = True,
    force: bool = False,
) -> ExportResult:
    """Export the session at `path` into `folder`, one file for each of `formats`.

    `path` is the session's folder or its journal. Raises `UsageError` for an empty range, sound under redaction, or a
    file that exists; `JournalError` for a session that cannot be read, sound that was not recorded, or a failing disk.
    """
    if not formats:
        raise UsageError("No format to export to", remedy=f"Choose among {', '.join(FORMATS)}", field="format")
    check_formats(formats, redact=redact)
    material = ExportSource(path, redact=redact, wanted=wanted or Range())
    targets = [(fmt, folder / target_name(material, fmt)) for fmt in dict.fromkeys(formats)]
    for _, target in targets:
        if not force and os.path.lexists(target):
            raise FileExistsAlreadyError(
                f"{target} exists", remedy="Choose another folder, or replace it with --force", field="to"
            )
    contents = [pieces(material, fmt) for fmt, _ in targets]
    # Sound that was not recorded shows with the first piece: fail before any file is written.
    first_pieces = [next(content) if fmt in SOUND else b"" for (fmt, _), content in zip(targets, contents, strict=True)]
    place = folder
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True)
        for (_, place), first, content in zip(targets, first_pieces, contents, strict=True):
            with _new_file(place, force=force) as file:
                file.write(first)
                for piece in content:
                    file.write(piece)
    except FileExistsError as error:
        raise UsageError(f"{error.filename or folder} exists", remedy="Choose another place", field="to") from None
    except OSError as error:
        raise JournalError(
            f"{place} cannot be written: {error.strerror or error}",
            remedy=f"{write_remedy(error, folder)}, or choose another folder",
            field="to",
        ) from None
    count = None if material.redaction is None else material.places
    return ExportResult(tuple(target for _, target in targets), count, material.problems)


def folder_of(text: str) -> Path:
    """Return the path of a folder as typed, with `~` expanded; raises `UsageError`."""
    return paths.expand_user(text.replace("\x00", ""), field="to")


def check_formats(formats: Sequence[Format], *, redact: bool) -> None:
    """Raise `UsageError` for sound under redaction."""
    sound = [fmt for fmt in formats if fmt in SOUND]
    if redact and sound:
        raise UsageError(
            NO_SOUND_REDACTED, remedy="Leave out " + ", ".join(sound) + ", or turn redaction off", field="redact"
        )


def target_name(material: ExportSource, fmt: Format) -> str:
    """Return the name of the file for a format."""
    return f"{material.name}{material.window.suffix}{ENDINGS[fmt]}"


def pieces(material: ExportSource, fmt: Format) -> Iterator[bytes]:
    """Return the file's content, piece by piece.

    Iterating raises `JournalError` for sound that was not recorded.
    """
    if fmt == "markdown":
        from gemini_live_runtime.journal.formats.markdown import markdown

        return markdown(material)
    if fmt == "text":
        from gemini_live_runtime.journal.formats.text import text

        return text(material)
    if fmt == "json":
        from gemini_live_runtime.journal.formats.data import data

        return data(material)
    if fmt == "realtime":
        from gemini_live_runtime.journal.formats.realtime import records

        return records(material)
    from gemini_live_runtime.journal.formats.sound import sound

    return sound(material, fmt)


# -- writing ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _new_file(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that gets its name when it is complete.

    Raises `FileExistsError` when another file has taken the name meanwhile.
    """
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
        # The file system has no hard links: between this check and the rename another process could still come first.
        if os.path.lexists(target):
            raise FileExistsError(17, "File exists", str(target)) from None
        part.replace(target)
