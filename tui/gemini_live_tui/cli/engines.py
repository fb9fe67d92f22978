"""Attach to, list and end running engines."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime import paths
from gemini_live_runtime.errors import EngineError, UsageError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.options import LOOK_OPTIONS, PROFILE_OPTIONS, config_options
from gemini_live_tui.cli.records import complete_session, locate
from gemini_live_tui.config import load

if TYPE_CHECKING:
    from gemini_live_runtime.engine.registry import EngineInfo
    from gemini_live_runtime.engine.status import EngineStatus


@click.command()
@click.argument("session", default="")
@config_options(PROFILE_OPTIONS, LOOK_OPTIONS)
def attach(session: str, flags: dict[str, Any]) -> int:
    """Attach a console to a running engine: SESSION, or the only running one.

    Quitting asks whether to leave the engine running; it hangs up after five minutes without a console.
    """
    from gemini_live_runtime.engine import launch
    from gemini_live_tui.cli.console_start import require_terminal, settings_of, show_all

    require_terminal()
    chosen = _choose(session)

    async def source() -> Any:
        return await launch.connect(chosen)

    return show_all(source, settings_of(load(flags=flags), attached=True))


@click.command()
@click.argument("session", default="", shell_complete=complete_session)
@config_options(PROFILE_OPTIONS, LOOK_OPTIONS)
def resume(session: str, flags: dict[str, Any]) -> int:
    """Go on with a recorded session: SESSION, or the newest one that was broken off.

    A new engine takes up its state, phase and transcript. The server resumes the conversation where it still can, and
    gets the transcript where not. To an engine that still runs the console attaches.
    """
    from gemini_live_tui.cli.console_start import require_terminal, resumed_source, settings_of, show_all

    require_terminal("replay --plain")
    folder = locate(session) if session else _newest_broken_off()
    if folder.is_file():
        folder = folder.parent
    return show_all(resumed_source(folder), settings_of(load(flags=flags)), recorded=True)


def _newest_broken_off() -> Path:
    """Return the folder of the newest session without an end that no engine runs.

    Raises `UsageError` without one.
    """
    from gemini_live_runtime.journal.sessions.catalog import list_entries

    for entry in list_entries(paths.sessions_dir()):
        if entry.is_broken_off and not entry.problem:
            return paths.sessions_dir() / entry.id
    raise UsageError(
        "No session was broken off", remedy="Name one of: gemini-live-tui sessions list", field="session", value=""
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def ps(as_json: bool) -> int:
    """List running engines, and what keeps each of them."""
    from gemini_live_runtime.engine.poke import status_of
    from gemini_live_runtime.engine.registry import list_engines
    from gemini_live_tui.cli.sessions import columns

    engines = [(engine, status_of(engine.session_id)) for engine in list_engines()]
    if as_json:
        for engine, status in engines:
            told = None if status is None else asdict(status)
            click.echo(json.dumps({**asdict(engine), "status": told, "why": _why_it_stays(engine, status)}))
        return 0
    if not engines:
        click.echo("No engine is running.")
        return 0
    heading = f"{'SESSION':24}{'AGENT':20}{'BACKEND':14}{'PID':>8}  {'RUNNING':>8}"
    rows = [(_row(engine), _why_it_stays(engine, status)) for engine, status in engines]
    # As in the list of sessions: what does not fit beside a row goes below it.
    below = max(len(row) + 2 + len(why) for row, why in rows) > columns()
    click.echo(heading if below else f"{heading}  WHY")
    for row, why in rows:
        click.echo(f"{row}\n{'':24}{why}" if below else f"{row}  {why}")
    return 0


def _row(engine: EngineInfo) -> str:
    minutes, seconds = divmod(int(max(0.0, time.time() - engine.started)), 60)
    agent, backend = sanitise_line(engine.agent, 19), sanitise_line(engine.backend, 13)
    return f"{engine.session_id:24}{agent:20}{backend:14}{engine.pid:>8}  {minutes:>5}:{seconds:02}"


def _why_it_stays(engine: EngineInfo, status: EngineStatus | None) -> str:
    """Return what keeps an engine running, as a part of a sentence."""
    if status is None:
        return "it does not answer"
    parts = []
    if status.tasks:
        limit = _limit_of_tasks(status.harness_root, engine.pid)
        until = "" if limit is None else time.strftime(" until at most %H:%M", time.localtime(limit))
        tasks = "1 task" if status.tasks == 1 else f"{status.tasks} tasks"
        parts.append(f"{tasks}{until}{', and ends after that' if status.finishes else ''}")
    if status.word == "dormant":
        parts.append("dormant")
    if status.consoles:
        parts.append("a console" if status.consoles == 1 else f"{status.consoles} consoles")
    elif status.alone_s is not None and not status.finishes:
        ends = "" if status.ends_in_s is None else f", ends in {_rough(status.ends_in_s)}"
        parts.append(f"no console for {_rough(status.alone_s)}{ends}")
    return ", ".join(parts) or status.word


def _limit_of_tasks(root: str, pid: int) -> float | None:
    """Return the latest end of the running tasks of a process, in Unix seconds.

    None where it is unknown. A root that cannot be read is no reason not to list engines.
    """
    from gemini_live_runtime.errors import HarnessError
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.harness.tasks import TaskStatus

    if not root or not Path(root).is_dir():
        return None
    try:
        with Harness.open(root) as harness:
            tasks = harness.tasks.find(TaskStatus.RUNNING).records
    except HarnessError:
        return None
    limits = [task.limit_at_ms for task in tasks if task.runtime is not None and task.runtime.pid == pid]
    return max((limit for limit in limits if limit is not None), default=0) / 1000 or None


def _rough(seconds: float) -> str:
    """Return a duration in whole minutes, or in seconds below one."""
    return f"{round(seconds / 60)} min" if seconds >= 60 else f"{round(seconds)} s"


@click.command()
@click.argument("session", default="")
@click.option("--all", "everything", is_flag=True, help="End every running engine.")
def stop(session: str, everything: bool) -> int:
    """End a running engine: SESSION, or the only running one."""
    from gemini_live_runtime.engine.registry import list_engines
    from gemini_live_runtime.engine.stop import stop_engine

    if everything and session:
        raise UsageError("Give a session or --all, not both", field="session")
    chosen = [engine.session_id for engine in list_engines()] if everything else [_choose(session)]
    for name in chosen:
        how = asyncio.run(stop_engine(name, tell=lambda text: click.echo(text, err=True)))
        click.echo(f"{how.capitalize()} {name}.")
    if not chosen:
        click.echo("No engine is running.")
    return 0


def _choose(session: str) -> str:
    """Return the id of the running engine that `session` names.

    `session` is an id or the beginning of one; "" names the only running engine. Raises `UsageError` or `EngineError`
    when none or several match.
    """
    from gemini_live_runtime.engine.registry import list_engines

    agents = {engine.session_id: sanitise_line(engine.agent, 30) for engine in list_engines()}
    names = list(agents)
    matching = [name for name in names if name.startswith(session)]
    if session in names:
        return session
    if len(matching) == 1:
        return matching[0]
    if not names:
        raise EngineError("No engine is running", remedy="Start one with: gemini-live-tui demo")
    if not matching:
        raise UsageError(f"There is no engine {session[:60]!r}", remedy=f"Running: {', '.join(names)}", field="session")
    listed = ", ".join(f"{name} ({agents[name]})" for name in matching)
    raise UsageError(f"{len(matching)} engines are running", remedy=f"Name one of {listed}", field="session")
