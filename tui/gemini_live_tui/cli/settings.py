"""Show and change settings; print the shell completion script."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import click
from click.shell_completion import get_completion_class

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui import config as configuration


@click.group(invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> int:
    """Show and change settings. Flags override variables, variables override the file."""
    return _show(False) if ctx.invoked_subcommand is None else 0


@config.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(as_json: bool) -> int:
    """Print every option's value and where it comes from."""
    return _show(as_json)


def _show(as_json: bool) -> int:
    loaded = configuration.load()
    rows = {
        key: (redactor.value(getattr(loaded.config, option.name)), loaded.sources[key])
        for key, option in configuration.OPTIONS.items()
    }
    if as_json:
        click.echo(json.dumps({key: {"value": value, "source": source} for key, (value, source) in rows.items()}))
        _print_keymap_faults(loaded.config.keymap)
        return 0
    click.echo(f"# {sanitise_line(str(loaded.path))}{'' if loaded.path.exists() else ' (does not exist yet)'}")
    width = max(map(len, rows))
    for key, (value, source) in rows.items():
        help = configuration.OPTIONS[key].metadata["help"]
        click.echo(f"{key:{width}} = {_written(value):14} # {source}: {help}")
    _print_keymap_faults(loaded.config.keymap)
    return 0


def _print_keymap_faults(keymap: Mapping[str, str]) -> None:
    """Print the entries of the keymap that cannot be used, on standard error."""
    from gemini_live_tui.actions.keymap import usable_keymap

    for fault in usable_keymap(keymap)[1]:
        click.echo(f"{sanitise_line(str(fault))} The console ignores this entry.", err=True)


@config.command()
def path() -> int:
    """Print the path of the config file."""
    click.echo(str(configuration.config_path(os.environ)))
    return 0


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
def set_(key: str, value: str) -> int:
    """Set KEY to VALUE in the config file, keeping its comments.

    Separate the items of a list with commas.
    """
    target = configuration.config_path(os.environ)
    if key.startswith("keymap."):
        from gemini_live_tui.actions.keymap import check_keymap, usable_keymap

        parsed: object = value
        ident = key.removeprefix("keymap.")
        others = {name: keys for name, keys in configuration.load().config.keymap.items() if name != ident}
        check_keymap({**usable_keymap(others)[0], ident: value})
    else:
        if key.split(".")[0] == "prices":
            raise UsageError("prices are tables", remedy="Edit them in the file, see: config path", field="prices")
        if key == "keymap":
            raise UsageError("keymap is a table", remedy='Set one key: config set keymap.mute "k,f4"', field="keymap")
        parsed = configuration.parse(key, value)
        if key == "ui.theme" and value:
            from gemini_live_tui.theming import load_theme

            load_theme(value, paths.config_dir() / "themes")
    configuration.set_value(target, key, parsed)
    click.echo(f"{key} = {_written(redactor.value(parsed))} ({sanitise_line(str(target))})")
    variable = configuration.variable_of(key)
    if variable in os.environ:
        click.echo(f"{variable} is set and overrides it.", err=True)
    return 0


def _written(value: object) -> str:
    return sanitise_line(json.dumps(value, ensure_ascii=False))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script of SHELL.

    For bash: eval "$(gemini-live-tui completion bash)"
    """
    from gemini_live_tui.cli.command_line import cli

    completer = get_completion_class(shell)
    if completer is None:
        raise UsageError(f"There is no completion for {shell}", field="shell")
    click.echo(completer(cli, {}, "gemini-live-tui", "_GEMINI_LIVE_TUI_COMPLETE").source())
    return 0
