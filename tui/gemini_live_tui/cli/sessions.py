"""List, preview, rename, delete, restore and purge recorded sessions."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.journal.completion.missing_parts import IN_WORDS
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.records import complete_session, locate

if TYPE_CHECKING:
    from gemini_live_runtime.journal.sessions.catalog import Entry
    from gemini_live_runtime.journal.sessions.retention import DeletionResult

WIDE = 120
"""Least columns of a terminal for all columns of the list with short notes."""

_UNITS = {"h": 3600.0, "d": 86400.0, "w": 604800.0}
_YES = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


@click.group(invoke_without_command=True)
@click.pass_context
def sessions(ctx: click.Context) -> int:
    """List, name, delete and restore recorded sessions."""
    return _list("", False, False) if ctx.invoked_subcommand is None else 0


@sessions.command("list")
@click.option(
    "--filter", "-f", "text", default="", metavar="WORDS", help="List only sessions that contain every one of WORDS."
)
@click.option("--trash", is_flag=True, help="List deleted sessions, which can be restored.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(text: str, trash: bool, as_json: bool) -> int:
    """List recorded sessions, newest first."""
    return _list(text, trash, as_json)


def _list(text: str, trash: bool, as_json: bool) -> int:
    from gemini_live_runtime.journal.sessions.catalog import list_entries, matches
    from gemini_live_runtime.journal.sessions.trash import list_trash

    root = paths.sessions_dir()
    _expire(root)
    found = [entry for entry in (list_trash(root) if trash else list_entries(root)) if matches(entry, text)]
    if as_json:
        for entry in found:
            click.echo(json.dumps({**asdict(entry), "missing": entry.missing_parts}))
        return 0
    if not found:
        what = "The trash is empty" if trash else "No session is recorded"
        click.echo("No session matches." if text else f"{what}.")
        return 0
    width = columns()
    narrow = width < WIDE
    when, cost = ("", "") if narrow else (f"{'STARTED':18}", f"{'COST':>7}{'SIZE':>9}")
    click.echo(f"{'SESSION':22}{when}{'NAME':{_name_width(narrow)}}{'LENGTH':>7}{'TURNS':>6}  {'PHASE':13}{cost}")
    for entry in found:
        click.echo(_row(entry, width, narrow=narrow))
    return 0


def columns() -> int:
    """Return the terminal's width; without a terminal there is no limit."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


def _name_width(narrow: bool) -> int:
    return 16 if narrow else 20


def _row(entry: Entry, columns: int, *, narrow: bool) -> str:
    """Return a session's row; a `narrow` one has no start, cost or size.

    The id tells the start. Notes that do not fit `columns` go below it.
    """
    when = "" if narrow else f"{started(entry.when):18}"
    if entry.problem:
        return f"{entry.id:22}{when}{entry.problem}"
    minutes, seconds = divmod(int(entry.duration_s), 60)
    cost = "" if entry.cost_usd is None else f"${entry.cost_usd:.3f}"
    amount = "" if narrow else f"{cost:>7}{entry.total_bytes / 1e6:>6.1f} MB"
    width = _name_width(narrow)
    row = (
        f"{entry.id:22}{when}{sanitise_line(entry.name, width - 2):{width}}{minutes:>4}:{seconds:02}"
        f"{entry.turns:>6}  {sanitise_line(entry.phase, 12):13}{amount}"
    )
    notes = [sanitise_line(entry.ended, 40), *(flag for flag in entry.flags if flag not in (entry.ended, "damaged"))]
    notes += [f"damaged: {entry.damage}"] if entry.damage else []
    notes += [IN_WORDS.get(part, part) for part in entry.missing_parts]
    noted = ", ".join(note for note in notes if note)
    return f"{row}  {noted}" if len(row) + 2 + len(noted) <= columns else f"{row}\n{'':22}{noted}"


def started(when: float) -> str:
    """Return Unix seconds as local date and time, `?` when out of range."""
    try:
        return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "?"  # a damaged recording must not prevent listing the others


@sessions.command()
@click.argument("session", shell_complete=complete_session)
@click.option(
    "--lines",
    "-n",
    "count",
    type=click.IntRange(1, 1000),
    default=20,
    metavar="N",
    help="Number of lines, 20 by default.",
)
def preview(session: str, count: int) -> int:
    """Print the last lines of a session."""
    from gemini_live_runtime.journal.sessions.catalog import preview as last_lines

    for line in last_lines(_folder(session), count):
        click.echo(line)
    return 0


@sessions.command()
@click.argument("session", shell_complete=complete_session)
@click.argument("title")
def rename(session: str, title: str) -> int:
    """Give a session a title; "" removes it. The recording itself is not changed."""
    from gemini_live_runtime.journal.sessions.catalog import rename as give_title

    folder = _folder(session)
    kept = give_title(folder, title)
    click.echo(f"{folder.name} is now {kept!r}." if kept else f"{folder.name} has no title any more.")
    return 0


@sessions.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION...", shell_complete=complete_session)
def delete(names: tuple[str, ...]) -> int:
    """Move sessions to the trash; `sessions restore` restores them.

    A running session cannot be deleted.
    """
    from gemini_live_runtime.journal.sessions import trash

    root = paths.sessions_dir()
    for name in names:
        moved = trash.delete(root, _folder(name).name)
        click.echo(
            f"Deleted. To restore it within {trash.MAX_TRASH_DAYS} days: gemini-live-tui sessions restore {moved}"
        )
    _expire(root)
    return 0


@sessions.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION...")
def restore(names: tuple[str, ...]) -> int:
    """Restore deleted sessions from the trash."""
    from gemini_live_runtime.journal.sessions import trash

    for name in names:
        click.echo(f"Restored {trash.restore(paths.sessions_dir(), name)}.")
    return 0


@sessions.command("empty-trash")
@_YES
def empty_trash(yes: bool) -> int:
    """Permanently delete the sessions in the trash."""
    from gemini_live_runtime.journal.sessions import trash

    root = paths.sessions_dir()
    count = len(trash.list_trash(root))
    if not count:
        click.echo("The trash is empty.")
        return 0
    if not _agreed(yes, f"{count} session{'' if count == 1 else 's'} for good"):
        return 1
    emptied = trash.empty(root)
    _print_result(emptied)
    return 1 if emptied.not_deleted else 0


def _expire(root: Path) -> None:
    """Delete sessions that were in the trash too long.

    Failures are not reported here but by `empty-trash`.
    """
    from gemini_live_runtime.journal.sessions import trash

    trash.expire(root, datetime.now().timestamp())


def _folder(session: str) -> Path:
    """Return the folder of a recorded session by its name or the beginning of it.

    Raises `UsageError` for a session that is not in the sessions folder.
    """
    path = locate(paths.safe_name(session, field="session"))
    folder = paths.sessions_dir() / path.name
    if path.parent != paths.sessions_dir() or folder.is_symlink():
        raise UsageError(
            f"{session!r} is not among the recorded sessions",
            remedy="See: gemini-live-tui sessions list",
            field="session",
        )
    return folder


@sessions.command()
@click.argument("names", nargs=-1, metavar="[SESSION]...")
@click.option("--older-than", metavar="AGE", help="Sessions older than this, e.g. 12h, 30d or 8w.")
@click.option("--all", "everything", is_flag=True, help="Every recorded session.")
@_YES
def purge(names: tuple[str, ...], older_than: str | None, everything: bool, yes: bool) -> int:
    """Permanently delete recorded sessions, except running ones."""
    from gemini_live_runtime.journal.sessions import retention

    if sum((bool(names), older_than is not None, everything)) != 1:
        raise UsageError("Say what to purge: session names, --older-than AGE, or --all", field="purge")
    age = _seconds(older_than) if older_than is not None else None
    what = "all recorded sessions" if everything else f"sessions older than {older_than}" if age else ", ".join(names)
    if not _agreed(yes, what):
        return 1
    root = paths.sessions_dir()
    now = datetime.now().timestamp()
    purged = retention.purge(root, ids=names, before=None if age is None else now - age, everything=everything)
    _print_result(purged)
    # A running session is kept as it should be, unless it was named.
    return 1 if purged.remedies or (names and purged.not_deleted) else 0


def _agreed(yes: bool, what: str) -> bool:
    """Ask for confirmation, unless `yes`; raise `UsageError` without a terminal."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("Cannot ask for confirmation, there is no terminal", remedy="Add --yes to delete", field="yes")
    return click.confirm(f"Delete {sanitise_line(what, 300)}?", default=False)


def _print_result(result: DeletionResult) -> None:
    count = len(result.session_ids)
    click.echo(f"Deleted {count} session{'' if count == 1 else 's'}, {result.bytes_freed / 1e6:.1f} MB.")
    for name, why in result.not_deleted:
        click.echo(f"Kept {sanitise_line(name, 80)}: {sanitise_line(why, 500)}.", err=True)
    for remedy in result.remedies:
        click.echo(f"{sanitise_line(remedy, 500)}.", err=True)


def _seconds(age: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", age.strip().lower())
    if match is None:
        raise UsageError(f"--older-than {age[:20]!r} is not an age", remedy="Write 12h, 30d or 8w", field="older-than")
    return float(match[1]) * _UNITS[match[2]]
