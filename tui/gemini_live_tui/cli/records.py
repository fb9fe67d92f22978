"""Show or print a recorded session, and find it by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.options import DETAIL, LOOK_OPTIONS, PROFILE_OPTIONS, config_options
from gemini_live_tui.config import load

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event
    from gemini_live_runtime.journal.recording.reader import Journal


def complete_session(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return recorded sessions for shell completion, newest first."""
    from gemini_live_runtime.journal.sessions.retention import session_folders

    names = [folder.name for folder in session_folders(paths.sessions_dir())]
    return [name for name in reversed(names) if name.startswith(incomplete)]


@click.command()
@click.argument("session", metavar="SESSION|FILE", shell_complete=complete_session)
@click.option("--plain", is_flag=True, help="Print the session as lines of text.")
@click.option("--json", "as_json", is_flag=True, help="Print the session's events as JSON lines.")
@click.option("--times", is_flag=True, help="With --plain: begin each line with its time.")
@DETAIL
@click.option("--speed", type=float, metavar="X", help="Play back at X times the session's own speed.")
@config_options(PROFILE_OPTIONS, LOOK_OPTIONS)
def replay(
    session: str,
    plain: bool,
    as_json: bool,
    times: bool,
    detail: str,
    speed: float | None,
    flags: dict[str, Any],
) -> int:
    """Show a recorded session in the console, or print it.

    SESSION is an id from `sessions`, or a session's folder or events file from anywhere. Nothing in it is executed.
    """
    from gemini_live_runtime.journal.recording.reader import read_journal

    if plain and as_json:
        raise UsageError("Give --plain or --json, not both", field="plain")
    if times and not plain:
        raise UsageError("--times goes with --plain", field="times")
    if speed is not None and not 0.01 <= speed <= 1000:
        raise UsageError(f"--speed is {speed:g}, it must be 0.01 to 1000", field="speed", value=speed)
    if speed is not None and (plain or as_json):
        raise UsageError("--speed is for the console", remedy="Leave out --plain and --json", field="speed")
    journal = read_journal(locate(session))
    ended = False
    if as_json:
        for event in journal:
            ended = _is_ended(event, ended)
            click.echo(json.dumps(event.to_json(), separators=(",", ":")))
        return _problems(journal, ended)
    if plain:
        from gemini_live_runtime.journal.agent_lines import agent_lines
        from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
        from gemini_live_runtime.journal.plain import PlainWriter

        gate = RealtimeCompletionGate()
        writer = PlainWriter(times=times, agent=agent_lines(detail), states=detail != "talk")
        for event in journal:
            ended = _is_ended(event, ended)
            gate.apply_recorded(event)
            for line in writer.feed(event):
                click.echo(line)
        gate.on_recording_read(cut_off=journal.torn)
        rest = writer.rest() + ([] if journal.running else writer.completed(gate.completion()))
        for line in rest:
            click.echo(line)
        return _problems(journal, ended)
    from gemini_live_tui.cli.console_start import require_terminal, settings_of, show_recording

    require_terminal("replay --plain")
    return show_recording(journal.path, settings_of(load(flags=flags)), speed=speed)


def _is_ended(event: Event, before: bool) -> bool:
    """Return True when the session is over after `event`; `before`: it was before.

    Notices may follow its end.
    """
    return event.type == "session.ended" or (before and event.type != "session.resumed")


def _problems(journal: Journal, ended: bool) -> int:
    """Print the problems of the recording on standard error; return exit code 0.

    `ended`: the end of the session is in it.
    """
    for problem in journal.problems:
        click.echo(f"gemini-live-tui: {sanitise_line(problem.text, 300)}", err=True)
    if journal.problem_count > len(journal.problems):
        click.echo(f"gemini-live-tui: {journal.problem_count} lines had problems in all.", err=True)
    if not journal.running:
        if not ended:
            click.echo("gemini-live-tui: the recording is broken off: the end of its session is missing.", err=True)
        elif journal.torn:
            click.echo("gemini-live-tui: the last line is incomplete: the recording was cut off there.", err=True)
    return 0


def locate(session: str) -> Path:
    """Return the path of a recording.

    `session` is a path, or the id of a recorded session or the beginning of it. Raises `UsageError` when none or
    several match.
    """
    if not session.strip():  # Path("") is the current folder
        raise UsageError(
            "SESSION is empty", remedy="See: gemini-live-tui sessions list", field="session", value=session
        )
    path = paths.expand_user(session, field="session")
    if path.exists():
        return path
    root = paths.sessions_dir()
    if "/" not in session and "\\" not in session and session not in (".", ".."):
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
