"""Queue, list and acknowledge notifications."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime.errors import HarnessError, UsageError
from gemini_live_runtime.harness.notifications import (
    HarnessNotification,
    NewNotification,
    NotificationKind,
    NotificationStatus,
)
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.cli.harness import age, open_harness, print_problems, raise_damaged, root_options, short_id

if TYPE_CHECKING:
    from gemini_live_runtime.harness.store import Harness

LISTED = 20
"""Closed notifications that `--list` shows unless `--all` asks for every one."""

MAX_INPUT = 100_000
"""Characters that are read of standard input."""

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"([0-9]{1,9})\s*(s|m|min|h|d|)")


def _seconds(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    match = _DURATION.fullmatch(value.strip().lower())
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not 0 < seconds <= 366 * 86_400:
        raise UsageError(
            f"--expires {value[:30]!r} is no time from one second to a year",
            remedy="Give a number with s, m, h or d, such as 10m",
            field="expires",
            value=value,
        )
    return seconds


@click.command()
@click.argument("text", required=False)
@click.option("--title", metavar="WORDS", help="What it is about; the text is the body then.")
@click.option("--body", metavar="WORDS", help="More about it, of which the model tells what matters.")
@click.option(
    "--kind",
    metavar="KIND",
    type=click.Choice([kind.value for kind in NotificationKind]),
    default="generic",
    help="Kind: generic, or taskSucceeded and others of tasks.",
)
@click.option("--key", metavar="NAME", help="A waiting notification with the same key gets this text instead.")
@click.option("--expires", metavar="TIME", callback=_seconds, help="Time after which it is dropped: 90s, 10m, 2h, 1d.")
@click.option("--source", metavar="NAME", default="cli", show_default=True, help="Sender; each one has its turn.")
@click.option("--list", "listing", is_flag=True, help="List notifications instead: open ones, and the newest others.")
@click.option("--all", "everything", is_flag=True, help="List closed ones too, however old they are.")
@click.option("--ack", metavar="ID", help="Acknowledge a notification instead: the id, or the end of it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@root_options
def notify(
    text: str | None,
    root: str | None,
    profile: str | None,
    listing: bool,
    everything: bool,
    ack: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Queue a notification: TEXT, or standard input for "-".

    The model announces it at the next pause of a conversation; without one it waits. It works from cron and needs no
    console.
    """
    is_queueing = text is not None or given["title"] is not None
    from gemini_live_runtime.engine.poke import poke_deliverer

    _check_one_job(listing, ack, is_queueing, everything)
    with open_harness(root, profile, to_read=listing) as harness:
        if listing:
            return _list(harness, everything, as_json)
        one = _acknowledge(harness, ack) if ack is not None else harness.notifications.queue(_new(text, **given))
        is_delivered = poke_deliverer(harness.paths)
    if as_json:
        from gemini_live_runtime.harness.record_files import json_of

        click.echo(json.dumps(json_of(one)))
    elif ack is not None:
        click.echo(f"Acknowledged {short_id(one.id)}: {sanitise_line(one.title, 60)}")
    else:
        who = "the model announces it at the next pause" if is_delivered else "it waits for a conversation"
        click.echo(f"Queued {short_id(one.id)}: {who}.")
    return 0


def _check_one_job(listing: bool, ack: str | None, is_queueing: bool, everything: bool) -> None:
    if listing + (ack is not None) + is_queueing > 1:
        raise UsageError("Give a text, --list or --ack, only one of them", field="text")
    if everything and not listing:
        raise UsageError("--all goes with --list", field="all")
    if not (listing or ack is not None or is_queueing):
        raise UsageError(
            "A notification needs a text", remedy='Such as: gemini-live-tui notify "the oven is ready"', field="text"
        )


def _new(
    text: str | None,
    *,
    title: str | None,
    body: str | None,
    kind: str,
    key: str | None,
    expires: int | None,
    source: str,
) -> NewNotification:
    if text == "-":
        text = sys.stdin.read(MAX_INPUT)
    if title is not None and text is not None and body is not None:
        raise UsageError("TEXT is the body beside --title: leave out --body", field="body", value=body)
    if title is None:
        # Of what a program prints, the first line says what it is about.
        # A key of several lines is known only as a whole.
        title, _, rest = redactor.text(text or "").strip().partition("\n")
        text, body = None, "\n".join(part for part in (rest.strip(), body or "") if part)
    return NewNotification(
        title=title,
        body=body or text or "",
        kind=NotificationKind(kind),
        source=sanitise_line(source, 80) or "cli",
        dedupe_key=None if key is None else sanitise_line(key, 80),
        expires_at_ms=None if expires is None else round((time.time() + expires) * 1000),
    )


def _acknowledge(harness: Harness, name: str) -> HarnessNotification:
    listing = harness.notifications.find()
    matching = [one.id for one in listing.records if name and (one.id.endswith(name) or short_id(one.id) == name)]
    if not matching:
        if name:
            raise_damaged(listing, name, lambda file: file.stem)
        raise HarnessError(
            f"There is no notification {name[:60]!r}",
            remedy="See: gemini-live-tui notify --list",
            field="ack",
            value=name,
        )
    if len(matching) > 1:
        raise UsageError(f"{len(matching)} notifications end with {name[:60]!r}", remedy="Give more of the id")
    return harness.notifications.acknowledge(matching[0])


def _list(harness: Harness, everything: bool, as_json: bool) -> int:
    from gemini_live_runtime.harness.record_files import json_of

    found = harness.notifications.find()
    shown = [one for one in found.records if not one.status.is_final]
    closed = sorted((one for one in found.records if one.status.is_final), key=lambda one: -one.updated_at_ms)
    shown += closed if everything else closed[:LISTED]
    if as_json:
        for one in shown:
            click.echo(json.dumps(json_of(one)))
    elif shown:
        click.echo(f"{'ID':13}{'STATUS':14}{'TRIES':>5}  {'AGE':>6}  {'SOURCE':12}TITLE")
        for one in shown:
            click.echo(_row(one))
        if len(shown) < len(found.records):
            click.echo(f"{len(found.records) - len(shown):,} older ones: gemini-live-tui notify --list --all")
    else:
        click.echo("There is no notification.")
    return print_problems(found)


def _row(one: HarnessNotification) -> str:
    row = f"{short_id(one.id):13}{one.status.value:14}{one.attempts:>5}  {age(one.created_at_ms):>6}"
    row += f"  {sanitise_line(one.source or '', 11):12}{sanitise_line(one.title, 60)}"
    is_told = one.status is NotificationStatus.ACKNOWLEDGED
    return row if is_told or not one.reason else f"{row} ({sanitise_line(one.reason, 120)})"
