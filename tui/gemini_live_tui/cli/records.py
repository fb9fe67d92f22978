"""Recorded sessions: list, purge, print, show."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.options import LOOK_OPTIONS, config_options
from gemini_live_tui.config import load

if TYPE_CHECKING:
    from gemini_live_runtime.journal.reader import Journal

_UNITS = {"h": 3600.0, "d": 86400.0, "w": 604800.0}


@click.command()
@click.argument("session", metavar="SESSION|FILE")
@click.option("--plain", is_flag=True, help="Print the session as lines of text.")
@click.option("--json", "as_json", is_flag=True, help="Print the session's events as JSON lines.")
@click.option("--times", is_flag=True, help="With --plain: begin each line with its time.")
@click.option("--speed", type=float, metavar="X", help="Play with the session's own timing, this many times as fast.")
@config_options(LOOK_OPTIONS)
def replay(session: str, plain: bool, as_json: bool, times: bool, speed: float | None, flags: dict[str, Any]) -> int:
    """Show a recorded session in the console, or print it.

    SESSION is an id from `sessions`, or a session's folder or events file from anywhere. Nothing in it is executed.
    """
    from gemini_live_runtime.journal.reader import read_journal

    if plain and as_json:
        raise UsageError("Give --plain or --json, not both", field="plain")
    if times and not plain:
        raise UsageError("--times goes with --plain", field="times")
    if speed is not None and not 0.01 <= speed <= 1000:
        raise UsageError(f"--speed is {speed:g}, it must be 0.01 to 1000", field="speed", value=speed)
    if speed is not None and (plain or as_json):
        raise UsageError("--speed is for the console", remedy="Leave out --plain and --json", field="speed")
    journal = read_journal(locate(session))
    if as_json:
        for event in journal:
            click.echo(event.to_line())
        return _problems(journal)
    if plain:
        from gemini_live_runtime.journal.plain import PlainWriter

        writer = PlainWriter(times=times)
        for event in journal:
            for line in writer.feed(event):
                click.echo(line)
        for line in writer.rest():
            click.echo(line)
        return _problems(journal)
    from gemini_live_runtime.engine.replay import ReplayLink
    from gemini_live_tui.cli.start import require_terminal, settings_of, show

    require_terminal("replay --plain")

    async def source() -> Any:
        return ReplayLink(journal, speed=speed)

    return show(source, settings_of(load(flags=flags), replay=True))


def _problems(journal: Journal) -> int:
    """Say on standard error what was wrong with the file: it was shown all the same."""
    for problem in journal.problems:
        click.echo(f"gemini-live-tui: {sanitise_line(problem.text, 300)}", err=True)
    if journal.problem_count > len(journal.problems):
        click.echo(f"gemini-live-tui: {journal.problem_count} lines had problems in all.", err=True)
    return 0


def locate(session: str) -> Path:
    """The file or folder that `session` names: a path, else a recorded session's id or the beginning of one."""
    path = Path(session).expanduser()
    if path.exists():
        return path
    root = paths.sessions_dir()
    if "/" not in session and "\\" not in session and session not in ("", ".", ".."):
        exact = root / session
        if exact.is_dir():
            return exact
        matching = sorted(entry for entry in root.glob("*") if entry.name.startswith(session)) if root.is_dir() else []
        if len(matching) == 1:
            return matching[0]
        if len(matching) > 1:
            names = ", ".join(entry.name for entry in matching[:5])
            raise UsageError(
                f"{len(matching)} sessions begin with {session[:60]!r}", remedy=f"Name one of {names}", field="session"
            )
    raise UsageError(
        f"There is no session or file {session[:80]!r}", remedy="See: gemini-live-tui sessions list", field="session"
    )


@click.group(invoke_without_command=True)
@click.pass_context
def sessions(ctx: click.Context) -> int:
    """List and purge recorded sessions."""
    return _list(False) if ctx.invoked_subcommand is None else 0


@sessions.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(as_json: bool) -> int:
    """List recorded sessions, newest first."""
    return _list(as_json)


def _list(as_json: bool) -> int:
    from gemini_live_runtime.journal.retention import list_sessions

    found = list_sessions(paths.sessions_dir())
    if as_json:
        for item in found:
            click.echo(json.dumps(asdict(item)))
        return 0
    if not found:
        click.echo("No session is recorded.")
        return 0
    click.echo(f"{'SESSION':24}{'STARTED':18}{'AGENT':16}{'LENGTH':>8}{'TURNS':>7}{'SIZE':>10}  ENDED")
    for item in found:
        started = _started(item.when)
        minutes, seconds = divmod(int(item.duration_s), 60)
        row = f"{item.id:24}{started:18}{sanitise_line(item.agent, 15):16}{minutes:>5}:{seconds:02}"
        click.echo(f"{row}{item.turns:>7}{item.total_bytes / 1e6:>7.1f} MB  {sanitise_line(item.ended, 40)}")
    return 0


def _started(when: float) -> str:
    try:
        return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "?"  # a damaged file must not hide the others


@sessions.command()
@click.argument("names", nargs=-1, metavar="[SESSION]...")
@click.option("--older-than", metavar="AGE", help="Sessions older than this, e.g. 12h, 30d or 8w.")
@click.option("--all", "everything", is_flag=True, help="Every recorded session.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def purge(names: tuple[str, ...], older_than: str | None, everything: bool, yes: bool) -> int:
    """Delete recorded sessions for good. Running ones are never touched."""
    from gemini_live_runtime.journal import retention

    if sum((bool(names), older_than is not None, everything)) != 1:
        raise UsageError("Say what to purge: session names, --older-than AGE, or --all", field="purge")
    age = _seconds(older_than) if older_than is not None else None
    what = "all recorded sessions" if everything else f"sessions older than {older_than}" if age else ", ".join(names)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("Nobody can be asked, there is no terminal", remedy="Add --yes to delete", field="yes")
        if not click.confirm(f"Delete {sanitise_line(what, 300)}?", default=False):
            return 1
    root = paths.sessions_dir()
    now = datetime.now().timestamp()
    purged = retention.purge(root, ids=names, before=None if age is None else now - age, everything=everything)
    count = len(purged.session_ids)
    click.echo(f"Deleted {count} session{'' if count == 1 else 's'}, {purged.bytes_freed / 1e6:.1f} MB.")
    for name, why in purged.kept:
        click.echo(f"Kept {sanitise_line(name, 80)}: {why}.", err=True)
    return 1 if names and purged.kept else 0


def _seconds(age: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", age.strip().lower())
    if match is None:
        raise UsageError(f"The age {age[:20]!r} is not understood", remedy="Write 12h, 30d or 8w", field="older-than")
    return float(match[1]) * _UNITS[match[2]]
