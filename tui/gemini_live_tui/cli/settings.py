"""Show and change settings; print the shell completion script."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping

import click
from click.shell_completion import get_completion_class

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.harness.profile import TABLES, parse_entry
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui import config as configuration
from gemini_live_tui.profile_files import profile_path, refuse_secrets
from gemini_live_tui.set_up.option_values import parsed_value

PROFILE = click.option("--profile", metavar="NAME", default=None, help="Profile, instead of the one that is in use.")


@click.group(invoke_without_command=True)
@PROFILE
@click.pass_context
def config(ctx: click.Context, profile: str | None) -> int:
    """Show and change settings.

    Flags override variables, variables override the profile, and that overrides the file.
    """
    ctx.obj["profile"] = profile
    return _show(False, profile) if ctx.invoked_subcommand is None else 0


@config.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@PROFILE
@click.pass_context
def show(ctx: click.Context, as_json: bool, profile: str | None) -> int:
    """Print every option's value and where it comes from."""
    return _show(as_json, profile if profile is not None else ctx.obj["profile"])


def _show(as_json: bool, profile: str | None) -> int:
    loaded = configuration.load(flags={"profile": profile})
    rows = {
        key: (redactor.value(getattr(loaded.config, option.name)), loaded.sources[key])
        for key, option in configuration.OPTIONS.items()
    }
    if as_json:
        click.echo(json.dumps({key: {"value": value, "source": source} for key, (value, source) in rows.items()}))
        _print_keymap_faults(loaded.config.keymap)
        return 0
    for path in (loaded.path, profile_path(loaded.profile.name)):
        if path.exists() or path == loaded.path:
            click.echo(f"# {sanitise_line(str(path))}{'' if path.exists() else ' (does not exist yet)'}")
    width = max(map(len, rows))
    for key, (value, source) in rows.items():
        help = configuration.OPTIONS[key].metadata["help"]
        click.echo(f"{key:{width}} = {written(value):14} # {source}: {help}")
    _print_keymap_faults(loaded.config.keymap)
    return 0


def _print_keymap_faults(keymap: Mapping[str, str]) -> None:
    """Print the entries of the keymap that cannot be used, on standard error."""
    from gemini_live_tui.actions.keymap import usable_keymap

    for fault in usable_keymap(keymap)[1]:
        click.echo(f"{sanitise_line(str(fault))} The console ignores this entry.", err=True)


@config.command()
@click.pass_context
def path(ctx: click.Context) -> int:
    """Print the path of the config file."""
    if ctx.obj["profile"] is not None:
        raise UsageError("It is the config file of all profiles", remedy="Use: profiles path NAME", field="profile")
    click.echo(str(configuration.config_path(os.environ)))
    return 0


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@click.option("--profile", metavar="NAME", default=None, help="Change this profile's file, not the config file.")
@click.pass_context
def set_(ctx: click.Context, key: str, value: str, profile: str | None) -> int:
    """Set KEY to VALUE in the config file, keeping its comments.

    Separate the items of a list with commas.
    """
    profile = profile if profile is not None else ctx.obj["profile"]
    if profile is not None:
        return set_in_profile(profile, key, value)
    target = configuration.config_path(os.environ)
    parsed = parsed_value(key, value, lambda: configuration.load().config.keymap)
    refuse_secrets({key: parsed}, target)
    configuration.set_value(target, key, parsed)
    click.echo(f"{key} = {written(redactor.value(parsed))} ({sanitise_line(str(target))})")
    _print_override(key)
    return 0


def set_in_profile(profile: str, key: str, text: str, *, as_json: bool = False) -> int:
    """Set an option, or an entry of a profile's own tables, in a profile's file."""
    options, _ = configuration.read_profile(profile)
    parsed: object
    if key.split(".")[0] in TABLES:
        place, parsed = parse_entry(key, text)
    else:
        if key == "profile":
            raise UsageError("A profile cannot name a profile", remedy="Set it without --profile", field="profile")
        place, parsed = tuple(key.split(".")), parsed_value(key, text, lambda: options.get("keymap", {}))
    target = profile_path(profile)
    refuse_secrets({key: parsed}, target)
    configuration.set_value(target, place, parsed)
    if as_json:
        click.echo(json.dumps({"name": profile, "key": key, "value": redactor.value(parsed), "file": str(target)}))
    else:
        click.echo(f"{key} = {written(redactor.value(parsed))} ({sanitise_line(str(target))})")
    variable = configuration.variable_of(key)
    if variable in os.environ:
        click.echo(f"{variable} is set and overrides it.", err=True)
    return 0


def _print_override(key: str) -> None:
    """Print what overrides an option of the config file, on standard error."""
    variable = configuration.variable_of(key)
    if variable in os.environ:
        click.echo(f"{variable} is set and overrides it.", err=True)
        return
    with contextlib.suppress(UsageError):
        loaded = configuration.load()
        if loaded.sources.get(key) == "profile":
            path = sanitise_line(str(profile_path(loaded.profile.name)))
            click.echo(f"The profile {loaded.profile.name} sets it too, and overrides it ({path}).", err=True)


def written(value: object) -> str:
    """Return a value as it is printed."""
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
