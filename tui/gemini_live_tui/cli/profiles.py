"""List, show, create, choose, change and delete profiles."""

from __future__ import annotations

import getpass
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime.errors import ConfigError, GeminiLiveError, HarnessError, UsageError
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE, HarnessPaths, default_root
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui import config as configuration
from gemini_live_tui import profile_files
from gemini_live_tui.cli.harness import JSON, age
from gemini_live_tui.cli.settings import set_in_profile, written

if TYPE_CHECKING:
    from gemini_live_runtime.harness.consent_store import ConsentRecord, ConsentStore

MAX_KEY = 16_384
"""Characters that are read of a key on standard input."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in profile_files.profile_names() if name.startswith(incomplete)]


_NAME = click.argument("name", shell_complete=_complete)


@click.group(invoke_without_command=True)
@JSON
@click.pass_context
def profiles(ctx: click.Context, as_json: bool) -> int:
    """List, show, create, choose, change and delete profiles.

    A profile is a file of options, policies and tools, with tasks, notifications and memory of its own.
    """
    return _list(as_json) if ctx.invoked_subcommand is None else 0


@profiles.command("list")
@JSON
def list_(as_json: bool) -> int:
    """List profiles; a star marks the one that is used without --profile."""
    return _list(as_json)


def _list(as_json: bool) -> int:
    chosen, source = configuration.named_profile()
    names = sorted({*profile_files.profile_names(), chosen})
    code = 0
    if not as_json:
        click.echo(f"  {'NAME':20}FILE")
    for name in names:
        path = profile_files.profile_path(name)
        problem = _problem(name)
        code = 1 if problem else code
        if as_json:
            facts: dict[str, Any] = {
                "name": name,
                "default": name == chosen,
                "file": str(path) if path.exists() else None,
            }
            click.echo(json.dumps({**facts, **({"chosen_by": source} if name == chosen else {}), "problem": problem}))
            continue
        place = sanitise_line(str(path)) if path.exists() else "no file: everything is as in the config file"
        click.echo(f"{'*' if name == chosen else ' '} {name:20}{place}")
        if problem:
            click.echo(f"  {'':20}{sanitise_line(problem, 300)}")
    if not as_json:
        by = "no other is chosen" if source == "default" else f"chosen by {sanitise_line(source)}"
        click.echo(f"* is used without --profile: {by}.")
    return code


def _problem(name: str) -> str:
    """Return a sentence about a profile that cannot be used, or ""."""
    try:
        configuration.read_profile(name, "gemini-live-tui profiles")
    except GeminiLiveError as error:
        return redactor.text(str(error))
    return ""


@profiles.command()
@click.argument("name", default="", shell_complete=_complete)
@JSON
def show(name: str, as_json: bool) -> int:
    """Show what profile NAME sets, and the consent that it remembers.

    Without NAME it is the profile in use.
    """
    name = name or configuration.named_profile()[0]
    options, profile = configuration.read_profile(name)
    path, root = profile_files.profile_path(name), default_root(name)
    remembered = _consent(name).read() if root.exists() else None
    if as_json:
        click.echo(json.dumps(_facts(name, options, profile, remembered)))
        return 0
    click.echo(
        f"# {sanitise_line(str(path))}{'' if path.exists() else ' (does not exist: all is as in the config file)'}"
    )
    for key, value in options.items():
        click.echo(f"{key} = {written(redactor.value(value))}")
    for tool, policy in profile.consent.items():
        click.echo(f"consent.{sanitise_line(tool, 128)} = {policy}")
    if profile.tools.enabled:
        click.echo(f"tools.enabled = {', '.join(profile.tools.enabled)}")
    for key, folder in profile.tools.folders.items():
        click.echo(f"tools.folders.{key} = {sanitise_line(folder)}")
    for key, program in profile.tools.programs.items():
        click.echo(f"tools.programs.{key} = {written(list(program))}")
    click.echo(f"# {sanitise_line(str(root))}{'' if root.exists() else ' (no records yet)'}")
    if remembered is not None:
        _print_remembered(name, remembered)
    return 0


def _print_remembered(name: str, remembered: ConsentRecord) -> None:
    for tool, policy in (remembered.policies or {}).items():
        click.echo(f"remembered: {policy} for {sanitise_line(tool, 128)}, ahead of the file")
    for grant in remembered.grants:
        of = f" of {sanitise_line(grant.agent, 60)}" if grant.agent else ""
        click.echo(f"remembered: yes to {sanitise_line(grant.tool, 128)}{of}, {age(grant.granted_at_ms)} ago")
    if remembered.grants:
        click.echo(f"Take it back: gemini-live-tui profiles revoke {name} [TOOL]")


def _facts(name: str, options: dict[str, Any], profile: Any, remembered: ConsentRecord | None) -> dict[str, Any]:
    path, root = profile_files.profile_path(name), default_root(name)
    return {
        "name": name,
        "file": str(path) if path.exists() else None,
        "records": str(root),
        "options": redactor.value(options),
        "consent": profile.consent,
        "tools": {
            "enabled": profile.tools.enabled,
            "folders": profile.tools.folders,
            "programs": profile.tools.programs,
        },
        "remembered": {
            "policies": {} if remembered is None else remembered.policies or {},
            "grants": []
            if remembered is None
            else [
                {"tool": grant.tool, "agent": grant.agent, "granted_at_ms": grant.granted_at_ms}
                for grant in remembered.grants
            ],
        },
    }


def _consent(name: str) -> ConsentStore:
    """Return what the records of a profile remember; nothing is created."""
    import time

    from gemini_live_runtime.harness.consent_store import ConsentStore
    from gemini_live_runtime.harness.record_files import RecordFiles

    return ConsentStore(HarnessPaths(default_root(name)), RecordFiles(), lambda: round(time.time() * 1000))


@profiles.command()
@_NAME
@click.option("--from", "other", metavar="OTHER", default=None, shell_complete=_complete, help="Profile to copy.")
@JSON
def create(name: str, other: str | None, as_json: bool) -> int:
    """Create profile NAME, empty or as a copy of OTHER. Records are not copied."""
    path = profile_files.create_profile(name, copied=other, check=configuration.read_profile)
    if as_json:
        click.echo(json.dumps({"name": name, "file": str(path)}))
    else:
        click.echo(f"Created {sanitise_line(str(path))}")
        click.echo(f"Use it: gemini-live-tui --profile {name}, or for always: gemini-live-tui profiles use {name}")
    return 0


@profiles.command()
@_NAME
@JSON
def use(name: str, as_json: bool) -> int:
    """Use profile NAME from now on, where no other is named."""
    configuration.read_profile(name)
    target = configuration.config_path(os.environ)
    configuration.set_value(target, "profile", name)
    if as_json:
        click.echo(json.dumps({"name": name, "config": str(target)}))
    else:
        click.echo(f"Sessions use {name} from now on ({sanitise_line(str(target))}).")
    variable = configuration.variable_of("profile")
    if variable in os.environ:
        click.echo(f"{variable} is set and overrides it.", err=True)
    return 0


@profiles.command("set", context_settings={"ignore_unknown_options": True})
@_NAME
@click.argument("key")
@click.argument("value")
@JSON
def set_(name: str, key: str, value: str, as_json: bool) -> int:
    """Set KEY to VALUE in the file of profile NAME, keeping its comments.

    KEY is an option of the config file, consent.TOOL, tools.enabled, tools.folders.NAME or tools.programs.NAME.
    Separate the items of a list with commas; write a program as in a shell.
    """
    return set_in_profile(name, key, value, as_json=as_json)


@profiles.command()
@_NAME
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@JSON
def delete(name: str, yes: bool, as_json: bool) -> int:
    """Delete the file of profile NAME. Its records stay."""
    path = profile_files.profile_path(name)
    if not path.exists():
        raise profile_files.no_profile(name, "it has no file")
    if name != DEFAULT_PROFILE and name == configuration.named_profile()[0]:
        raise UsageError(
            f"The profile {name} is the one that is used where no other is named",
            remedy=f"Choose another one first: gemini-live-tui profiles use {DEFAULT_PROFILE}",
            field="profile",
            value=name,
        )
    _refuse_in_use(name)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("Deleting asks, and there is no terminal", remedy="Add --yes", field="yes")
        click.confirm(f"Delete {sanitise_line(str(path))}?", abort=True)
    profile_files.delete_profile(name)
    root = default_root(name)
    if as_json:
        click.echo(json.dumps({"name": name, "deleted": str(path), "records": str(root) if root.exists() else None}))
        return 0
    click.echo(f"Deleted {sanitise_line(str(path))}")
    if root.exists():
        click.echo(f"Its tasks, notifications, memory and remembered consent stay in {sanitise_line(str(root))}")
    return 0


def _refuse_in_use(name: str) -> None:
    """Raise `UsageError` while a session uses the profile."""
    from gemini_live_runtime.engine.registry import list_engines
    from gemini_live_runtime.journal.files.disk import is_locked

    engines = [engine.session_id for engine in list_engines() if engine.profile == name]
    if engines:
        raise UsageError(
            f"The profile {name} is used by the engine {engines[0]}",
            remedy=f"End it first: gemini-live-tui stop {engines[0]}",
            field="profile",
            value=name,
        )
    paths = HarnessPaths(default_root(name))
    if is_locked(paths.delivery_lock) or any(map(is_locked, paths.instances.glob("*.lock"))):
        raise UsageError(
            f"The profile {name} is used by a running program", remedy="End it first", field="profile", value=name
        )


@profiles.command()
@_NAME
@JSON
def path(name: str, as_json: bool) -> int:
    """Print the path of the file of profile NAME."""
    file = profile_files.profile_path(name)
    click.echo(json.dumps({"name": name, "file": str(file), "exists": file.exists()}) if as_json else str(file))
    return 0


@profiles.command()
@_NAME
@click.argument("tool", default="")
@JSON
def revoke(name: str, tool: str, as_json: bool) -> int:
    """Take back remembered consent of profile NAME: of TOOL, or all.

    Running sessions ask again, too.
    """
    configuration.chosen_profile(name)
    revoked = _consent(name).revoke(tool) if default_root(name).exists() else ()
    if not revoked:
        of = f" of {sanitise_line(tool, 80)}" if tool else ""
        raise HarnessError(
            f"No consent{of} is remembered in the profile {name}",
            remedy=f"See: gemini-live-tui profiles show {name}",
            field="tool",
            value=tool[:80],
        )
    if as_json:
        click.echo(json.dumps({"name": name, "revoked": revoked}))
    else:
        click.echo(f"Revoked: {sanitise_line(', '.join(revoked), 500)}. The next call asks again.")
    return 0


@profiles.command("set-key")
@_NAME
@JSON
def set_key(name: str, as_json: bool) -> int:
    """Save a Gemini API key for profile NAME in the system's keyring.

    The key is asked for without showing it, or read from standard input; the file gets only the name of the entry.
    """
    from gemini_live_runtime.wire.credentials import KEYRING_USER, api_key
    from gemini_live_runtime.wire.key_store import keyring_problem, save_to_keyring

    options, _ = configuration.read_profile(name)
    problem = keyring_problem()
    if problem:
        raise ConfigError(
            problem, remedy=f"Name a file: profiles set {name} credentials.file PATH", field="credentials.keyring"
        )
    entry = str(options.get("credentials.keyring", "")) or f"{KEYRING_USER}-{name}"
    credential = api_key(_read_key(name), "the terminal" if sys.stdin.isatty() else "standard input")
    save_to_keyring(credential, entry)
    target = profile_files.profile_path(name)
    configuration.set_value(target, "credentials.keyring", entry)
    configuration.set_value(target, "credentials.source", "keyring")
    if as_json:
        click.echo(json.dumps({"name": name, "entry": entry, "file": str(target)}))
    else:
        click.echo(f"Saved in the keyring as {sanitise_line(entry)}; {sanitise_line(str(target))} names it.")
    for key in ("credentials.keyring", "credentials.source"):
        if configuration.variable_of(key) in os.environ:
            click.echo(f"{configuration.variable_of(key)} is set and overrides it.", err=True)
    return 0


def _read_key(name: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"Gemini API key of the profile {name} (not shown): ")
    text = sys.stdin.read(MAX_KEY + 1)
    if len(text) > MAX_KEY:
        raise UsageError(
            f"Standard input has more than {MAX_KEY:,} characters", remedy="Send the key alone", field="key"
        )
    return text
