"""List, show, write, delete and search memories."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise, sanitise_line
from gemini_live_tui.cli.harness import JSON, age, open_harness, print_problems, root_options

if TYPE_CHECKING:
    from gemini_live_runtime.harness.listing import Listing
    from gemini_live_runtime.harness.memory import MemoryRecord

LISTED = 50
"""Memories that are listed unless --all asks for every one."""

_SCOPE = click.option("--scope", metavar="NAME", default=None, help="Only memories of this scope.")


@click.group(invoke_without_command=True)
@root_options
@JSON
@click.pass_context
def memory(ctx: click.Context, root: str | None, profile: str | None, as_json: bool) -> int:
    """List, show, write, delete and search memories.

    A memory is a fact that agents know in later sessions, by scope and key: user name. Options go before the
    subcommand: memory --root FOLDER get user name.
    """
    ctx.obj["root"], ctx.obj["profile"] = root, profile
    return _list(ctx, None, False, as_json) if ctx.invoked_subcommand is None else 0


@memory.command("list")
@_SCOPE
@click.option("--all", "everything", is_flag=True, help="List every one, however many there are.")
@JSON
@click.pass_context
def list_(ctx: click.Context, scope: str | None, everything: bool, as_json: bool) -> int:
    """List memories, newest change first."""
    return _list(ctx, scope, everything, as_json)


def _list(ctx: click.Context, scope: str | None, everything: bool, as_json: bool) -> int:
    with open_harness(ctx.obj["root"], ctx.obj["profile"], to_read=True) as harness:
        found = harness.memory.find(scope)
    shown = found.records if everything or as_json else found.records[:LISTED]
    where = f" in the scope {sanitise_line(scope, 80)}" if scope is not None else ""
    _print(shown, as_json, f"There is no memory{where}. Write one: gemini-live-tui memory put user name Ada")
    if len(shown) < len(found.records):
        click.echo(f"{len(found.records) - len(shown):,} older ones: gemini-live-tui memory list --all")
    return print_problems(found)


def _print(memories: list[MemoryRecord], as_json: bool, nothing: str) -> None:
    if as_json:
        from gemini_live_runtime.harness.record_files import json_of

        for one in memories:
            click.echo(json.dumps(json_of(one)))
    elif memories:
        click.echo(f"{'SCOPE':15}{'KEY':21}{'BY':10}{'AGE':>6}  VALUE")
        for one in memories:
            click.echo(_row(one))
    else:
        click.echo(nothing)


def _row(one: MemoryRecord) -> str:
    names = f"{sanitise_line(one.scope, 14):15}{sanitise_line(one.key, 20):21}"
    return f"{names}{_author(one):10}{age(one.updated_at_ms):>6}  {sanitise_line(_text(one.value), 60)}".rstrip()


def _author(one: MemoryRecord) -> str:
    return one.provenance.author.value if one.provenance is not None else "unknown"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@memory.command()
@click.argument("scope")
@click.argument("key")
@JSON
@click.pass_context
def get(ctx: click.Context, scope: str, key: str, as_json: bool) -> int:
    """Show one memory, with who wrote it and from which words."""
    with open_harness(ctx.obj["root"], ctx.obj["profile"], to_read=True) as harness:
        one = harness.memory.get(scope, key)
    if as_json:
        _print([one], True, "")
        return 0
    origin = one.provenance
    click.echo(sanitise(_text(one.value)))
    for name, value in (
        ("summary", one.summary),
        ("written by", f"{_author(one)}, {age(one.updated_at_ms)} ago"),
        ("created", f"{age(one.created_at_ms)} ago"),
        ("session", origin and origin.session_id),
        ("agent", origin and origin.agent),
        ("turn", origin and origin.turn),
        ("from", origin and origin.text),
    ):
        if value is not None:
            click.echo(f"  {name:11} {sanitise_line(str(value), 500)}")
    return 0


@memory.command()
@click.argument("scope")
@click.argument("key")
@click.argument("value")
@click.option("--json-value", is_flag=True, help="VALUE is JSON, not a text.")
@click.option("--summary", metavar="WORDS", default=None, help="Sentence that says what it is.")
@JSON
@click.pass_context
def put(
    ctx: click.Context, scope: str, key: str, value: str, json_value: bool, summary: str | None, as_json: bool
) -> int:
    """Write a memory, replacing one of the same key: VALUE, or standard input for "-"."""
    from gemini_live_runtime.engine.poke import poke_deliverer
    from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryWrite
    from gemini_live_runtime.harness.memory_store import MAX_VALUE

    # One more than fits, so that what is longer is refused and not cut.
    text = sys.stdin.read(4 * MAX_VALUE + 1).strip() if value == "-" else value
    write = MemoryWrite(
        scope=scope,
        key=key,
        value=_parsed(text) if json_value else text,
        summary=summary,
        provenance=MemoryProvenance(author=MemoryAuthor.OPERATOR),
    )
    with open_harness(ctx.obj["root"], ctx.obj["profile"]) as harness:
        one = harness.memory.put(write)
        poke_deliverer(harness.paths)
    if as_json:
        _print([one], True, "")
    else:
        click.echo(f"Remembered {one.scope}/{one.key}.")
    return 0


def _parsed(text: str) -> Any:
    from gemini_live_runtime.json_values import strict_decoder

    try:
        return strict_decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"VALUE is no JSON: {str(error)[:100]}",
            remedy="Leave out --json-value for a text",
            field="value",
            value=text[:80],
        ) from None


@memory.command()
@click.argument("scope")
@click.argument("key")
@JSON
@click.pass_context
def delete(ctx: click.Context, scope: str, key: str, as_json: bool) -> int:
    """Delete a memory for good."""
    from gemini_live_runtime.engine.poke import poke_deliverer

    with open_harness(ctx.obj["root"], ctx.obj["profile"]) as harness:
        existed = harness.memory.delete(scope, key)
        poke_deliverer(harness.paths)
    if as_json:
        click.echo(json.dumps({"scope": scope, "key": key, "deleted": existed}))
        return 0
    click.echo(f"Deleted {scope}/{key}." if existed else f"There was no memory {scope}/{key}.")
    return 0


@memory.command()
@click.argument("words", nargs=-1, required=True)
@_SCOPE
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=20, metavar="N", help="At most N, 20 by default.")
@JSON
@click.pass_context
def search(ctx: click.Context, words: tuple[str, ...], scope: str | None, limit: int, as_json: bool) -> int:
    """List memories with all of WORDS, or else with any of them, best first."""
    text = " ".join(words)
    with open_harness(ctx.obj["root"], ctx.obj["profile"], to_read=True) as harness:
        found: Listing[MemoryRecord] = harness.memory.search(text, scope=scope, limit=limit)
    _print(found.records, as_json, f"No memory has any of these words: {sanitise_line(redactor.text(text), 80)}")
    return print_problems(found)
