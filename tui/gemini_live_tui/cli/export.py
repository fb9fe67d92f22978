"""Export a recorded session to files, or print it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast, get_args

import click

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.journal.export import check_formats, folder_of, pieces
from gemini_live_runtime.journal.export import export as export_files
from gemini_live_runtime.journal.formats.base import MARKS_S, SOUND, ExportSource, Format, Range
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.records import complete_session, locate


@click.command()
@click.argument("session", metavar="SESSION|FILE", shell_complete=complete_session)
@click.option(
    "--as",
    "formats",
    multiple=True,
    type=click.Choice(get_args(Format)),
    help="Format; may be given several times. Default: markdown.",
)
@click.option(
    "--to",
    "folder",
    default=".",
    metavar="FOLDER|-",
    help="Folder of the files, by default the current one; - prints a text format.",
)
@click.option("--from", "start", type=float, metavar="S", help="Only from this second of the session on.")
@click.option("--until", "end", type=float, metavar="S", help="Only up to this second of the session.")
@click.option("--turn", type=int, metavar="N", help="Only this turn.")
@click.option("--around-marks", is_flag=True, help=f"Only {MARKS_S:g} seconds before and after each mark.")
@click.option("--no-redact", is_flag=True, help="Leave personal data in; sound needs this.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
def export(
    session: str,
    formats: tuple[str, ...],
    folder: str,
    start: float | None,
    end: float | None,
    turn: int | None,
    around_marks: bool,
    no_redact: bool,
    force: bool,
) -> int:
    """Write a recorded session as Markdown, text, JSON or WAV files.

    SESSION is an id from `sessions`, or a session's folder or events file. Personal data found in it is replaced by
    [redacted]. microphone and model hold one voice each, stereo both: the user on the left, the model on the right.
    Sound of the model that an interruption cut off before it was heard is left out.
    """
    wanted = Range(start=start, end=end, turn=turn, around_marks=MARKS_S if around_marks else None)
    chosen = [cast("Format", name) for name in formats or ("markdown",)]
    path = locate(session)
    if folder == "-":
        return _print(path, chosen, wanted, redact=not no_redact)
    target = folder_of(folder)
    done = export_files(path, chosen, target, wanted=wanted, redact=not no_redact, force=force)
    for file in done.files:
        click.echo(f"Written: {sanitise_line(str(file))}")
    click.echo(summary(done.redacted, done.problems), err=True)
    return 0


def _print(path: Path, formats: list[Format], wanted: Range, *, redact: bool) -> int:
    if len(formats) != 1 or formats[0] in SOUND:
        raise UsageError("--to - prints one text format", remedy="Choose markdown, text or json", field="to")
    check_formats(formats, redact=redact)
    for piece in pieces(ExportSource(path, redact=redact, wanted=wanted), formats[0]):
        sys.stdout.write(piece.decode("utf-8"))
    return 0


def summary(redacted: int | None, problems: int) -> str:
    """Return a sentence or two about redactions and damage."""
    if redacted is None:
        text = "Not redacted: the files may contain personal data."
    else:
        text = (
            f"{redacted} place{'' if redacted == 1 else 's'} redacted; personal data that was only spoken may remain."
        )
    if problems:
        text += f" The recording is damaged in {problems} place{'' if problems == 1 else 's'}: see replay."
    return text
