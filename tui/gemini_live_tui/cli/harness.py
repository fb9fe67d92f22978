"""List, show and cancel tasks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gemini_live_runtime.errors import HarnessError, UsageError
from gemini_live_runtime.harness.paths import default_root, may_exist
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.config import chosen_profile

if TYPE_CHECKING:
    from gemini_live_runtime.harness.listing import Listing
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.harness.tasks import HarnessTask

F = TypeVar("F", bound=Callable[..., Any])


def _or_group(ctx: click.Context, param: click.Parameter, given: bool) -> bool:
    """Return True when --json stands after the subcommand, or before it."""
    known = ctx.ensure_object(dict)
    known["as_json"] = given or known.get("as_json", False)
    return bool(known["as_json"])


JSON = click.option("--json", "as_json", is_flag=True, callback=_or_group, help="One JSON object a line.")

LISTED = 20
"""Tasks that are listed unless --all asks for every one."""


def root_options(function: F) -> F:
    """Decorate a command with the options that say whose records it uses."""
    root = click.option(
        "--root", metavar="FOLDER", default=None, help="Folder of the records, instead of the profile's."
    )
    profile = click.option("--profile", metavar="NAME", default=None, help="Profile whose records these are.")
    return root(profile(function))


def open_harness(root: str | None, profile: str | None, *, to_read: bool = False) -> Harness:
    """Open the records that the options name; raise `HarnessError` or `UsageError`.

    `to_read`: a root that does not exist is not created, and has no records.
    """
    from gemini_live_runtime.harness.paths import HarnessPaths, root_path
    from gemini_live_runtime.harness.record_files import RecordFiles
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.wire.credentials import register_secrets

    if root is not None and not root.strip():  # Path("") is the current folder
        raise UsageError("--root is empty", remedy="Give the folder of the records", field="root", value=root)
    if root is not None and profile is not None:
        raise UsageError("Give --root or --profile, not both", field="root", value=root)
    # What is written may hold a key whose shape no pattern knows.
    register_secrets()
    folder = root_path(Path(root) if root is not None else default_root(chosen_profile(profile)))
    if to_read and not may_exist(folder):
        return Harness(HarnessPaths(folder), RecordFiles(), time.time)
    return Harness.open(folder)


@click.group(invoke_without_command=True)
@root_options
@JSON
@click.option("--all", "everything", is_flag=True, help="List ended tasks too, however old they are.")
@click.pass_context
def tasks(ctx: click.Context, root: str | None, profile: str | None, as_json: bool, everything: bool) -> int:
    """List tasks: those that run, and the newest that have ended.

    A task is a tool call that took too long for an answer and goes on in the background. Options go before the
    subcommand: tasks --root FOLDER show TASK.
    """
    ctx.obj["root"], ctx.obj["profile"] = root, profile
    return _list(root, profile, as_json, everything) if ctx.invoked_subcommand is None else 0


def _list(root: str | None, profile: str | None, as_json: bool, everything: bool) -> int:
    from gemini_live_runtime.harness.record_files import json_of

    problem = ""
    with open_harness(root, profile, to_read=True) as harness:
        try:
            if may_exist(harness.paths.root):
                harness.tasks.reconcile()
        except HarnessError as error:  # a disk that is full or read-only hides no task
            problem = str(error)
        listing = harness.tasks.find()
    running = [task for task in listing.records if not task.status.is_terminal]
    ended = [task for task in listing.records if task.status.is_terminal]
    shown = [*running, *(ended if everything else ended[: max(0, LISTED - len(running))])]
    if as_json:
        for task in shown:
            click.echo(json.dumps(json_of(task)))
    elif shown:
        click.echo(f"{'TASK':13}{'TOOL':17}{'STATUS':12}{'DONE':>5}  {'AGE':>6}  NEWEST")
        for task in shown:
            click.echo(_row(task))
        if len(shown) < len(listing.records):
            click.echo(f"{len(listing.records) - len(shown):,} older ones: gemini-live-tui tasks --all")
    else:
        click.echo("No task runs, and none has ended.")
    if problem:
        click.echo(sanitise_line(problem), err=True)
    return max(print_problems(listing), 1 if problem else 0)


def print_problems(listing: Listing[Any]) -> int:
    """Print which files cannot be used; return the exit code."""
    for problem in listing.problems:
        click.echo(sanitise_line(problem.reason), err=True)
    return 1 if listing.problems else 0


def raise_damaged(listing: Listing[Any], name: str, id_of: Callable[[Path], str]) -> None:
    """Raise `HarnessError` when the record `name` is a file that cannot be used.

    `name` is its id, or the end of it.
    """
    for problem in listing.problems:
        if id_of(Path(problem.path)).endswith(name):
            raise HarnessError(problem.reason, field="record", value=problem.path)


def _row(task: HarnessTask) -> str:
    done = "" if task.fraction is None else f"{task.fraction:.0%}"
    newest = task.progress if not task.status.is_terminal else task.summary or task.last_error
    row = f"{short_id(task.id):13}{sanitise_line(task.name, 16):17}{task.status.value:12}{done:>5}"
    return f"{row}  {age(task.created_at_ms):>6}  {sanitise_line(newest or '', 60)}".rstrip()


def short_id(record_id: str) -> str:
    """Return the end of an id, which names the record where few have been made."""
    return sanitise_line(record_id.partition(".")[0].rpartition("_")[2], 12)


def age(at_ms: int) -> str:
    """Return the time since `at_ms`, Unix milliseconds, in its largest unit."""
    seconds = max(0.0, time.time() - at_ms / 1000)
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


@tasks.command()
@click.argument("task")
@JSON
@click.pass_context
def show(ctx: click.Context, task: str, as_json: bool) -> int:
    """Show one task: TASK is its id, or the end of it."""
    from gemini_live_runtime.harness.record_files import json_of

    with open_harness(ctx.obj["root"], ctx.obj["profile"], to_read=True) as harness:
        detail = harness.tasks.detail(_find(harness, task))
    if as_json:
        result = None if detail.result is None else json_of(detail.result)
        events = [json_of(event) for event in detail.events]
        click.echo(json.dumps({"task": json_of(detail.task), "result": result, "events": events}))
        return 0
    one = detail.task
    click.echo(f"{one.id}  {one.status.value}")
    for name, value in (
        ("tool", one.name),
        ("arguments", json.dumps((one.metadata or {}).get("toolArgs", {}), ensure_ascii=False)),
        ("started", f"{age(one.created_at_ms)} ago"),
        ("result", one.summary),
        ("error", one.last_error),
    ):
        if value:
            click.echo(f"  {name:10} {sanitise_line(str(value))}")
    start = detail.events[0].recorded_at_ms if detail.events else one.created_at_ms
    for event in detail.events:
        text = event.message or event.reason or event.summary or ""
        done = "" if event.fraction is None else f"{event.fraction:.0%} "
        click.echo(
            f"  {(event.recorded_at_ms - start) / 1000:9.1f} s  {event.type.value:12} {done}{sanitise_line(text)}"
        )
    for problem in detail.problems:
        click.echo(sanitise_line(problem), err=True)
    return 1 if detail.problems else 0


@tasks.command()
@click.argument("task")
@click.option("--reason", default="", help="Reason, which the model and the record learn.")
@JSON
@click.pass_context
def cancel(ctx: click.Context, task: str, reason: str, as_json: bool) -> int:
    """Cancel a task: TASK is its id, or the end of it."""
    from gemini_live_runtime.engine.poke import poke_deliverer

    with open_harness(ctx.obj["root"], ctx.obj["profile"]) as harness:
        asked = harness.tasks.request_cancel(_find(harness, task), reason or "It was cancelled by: tasks cancel")
        poke_deliverer(harness.paths)
    if as_json:
        from gemini_live_runtime.harness.record_files import json_of

        click.echo(json.dumps(json_of(asked)))
    elif asked.status.is_terminal:
        click.echo(f"{short_id(asked.id)}: its program has ended before; the task is {asked.status.value}.")
    else:
        click.echo(f"{short_id(asked.id)} is asked to end; its program does so within 5 s.")
    return 0


def _find(harness: Harness, name: str) -> str:
    """Return the id of the only task whose id is, or ends with, `name`."""
    if not name.strip():
        raise UsageError("The task is empty", remedy="See: gemini-live-tui tasks", field="task", value=name)
    listing = harness.tasks.find()
    matching = [task.id for task in listing.records if task.id.endswith(name)]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise_damaged(listing, name, lambda file: file.parent.name)
        raise HarnessError(
            f"There is no task {name[:60]!r}", remedy="See: gemini-live-tui tasks --all", field="task", value=name
        )
    raise UsageError(f"{len(matching)} tasks end with {name[:60]!r}", remedy="Give more of the id", field="task")
