"""Settings from the command line: where they are, what they are and why, and changing one."""

from __future__ import annotations

import json
import os

import click
from click.shell_completion import get_completion_class

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.text import redactor
from gemini_live_tui import config as configuration


@click.group()
def config() -> None:
    """Show and change settings. Flags override variables, variables override the file."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(as_json: bool) -> int:
    """Print every option's value and where it comes from."""
    loaded = configuration.load()
    rows = {
        key: (redactor.value(getattr(loaded.config, option.name)), loaded.sources[key])
        for key, option in configuration.OPTIONS.items()
    }
    if as_json:
        click.echo(json.dumps({key: {"value": value, "source": source} for key, (value, source) in rows.items()}))
        return 0
    click.echo(f"# {loaded.path}{'' if loaded.path.exists() else ' (does not exist yet)'}")
    width = max(map(len, rows))
    for key, (value, source) in rows.items():
        help = configuration.OPTIONS[key].metadata["help"]
        click.echo(f"{key:{width}} = {json.dumps(value, ensure_ascii=False):14} # {source}: {help}")
    return 0


@config.command()
def path() -> int:
    """Print where the config file is."""
    click.echo(str(configuration.config_path(os.environ)))
    return 0


@config.command("set")
@click.argument("key")
@click.argument("value")
def set_(key: str, value: str) -> int:
    """Set KEY to VALUE in the config file, keeping its comments. Lists are separated by commas."""
    if key.startswith("keymap."):
        parsed: object = value
    else:
        if key == "keymap":
            raise UsageError("keymap is a table", remedy='Set one key: config set keymap.mute "m,f4"', field="keymap")
        parsed = configuration.parse(key, value)
    target = configuration.config_path(os.environ)
    configuration.set_value(target, key, parsed)
    click.echo(f"{key} = {json.dumps(parsed, ensure_ascii=False)} ({target})")
    variable = configuration.variable_of(key)
    if variable in os.environ:
        click.echo(f"{variable} is set and overrides it.", err=True)
    return 0


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script of SHELL, e.g. for bash: eval "$(gemini-live-tui completion bash)"."""
    from gemini_live_tui.cli import cli

    completer = get_completion_class(shell)
    if completer is None:
        raise UsageError(f"There is no completion for {shell}", field="shell")
    click.echo(completer(cli, {}, "gemini-live-tui", "_GEMINI_LIVE_TUI_COMPLETE").source())
    return 0
