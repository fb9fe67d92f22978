"""List and check the values of a profile, and say when a changed one takes effect.

Without the screen that edits them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.harness.profile import TABLES, Profile, parse_entry
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor
from gemini_live_tui import config
from gemini_live_tui.config import Loaded
from gemini_live_tui.profile_files import profile_path, refuse_secrets

Effect = Literal["now", "connects again", "next session", "its sessions"]

EFFECTS: Mapping[Effect, str] = {
    "now": "at once",
    "connects again": "at once, where needed with another connection; the conversation goes on",
    "next session": "from the next session on",
    "its sessions": "in sessions of this profile",
}
"""Sentences about the moment from which a value counts."""

_IN_A_CALL: Mapping[str, Effect] = {
    "ui.theme": "now",
    "ui.fps": "now",
    "audio.input": "now",
    "audio.output": "now",
    "audio.headphones": "now",
    "turns": "connects again",
    "voice": "connects again",
}
_LOOKS = ("ui.theme", "ui.fps")


@record
class ValueRow:
    """Option of a profile, or an entry of its own tables."""

    key: str
    value: Any
    """Value that counts, of whichever layer."""
    source: str


def effect_of(key: str, *, in_use: bool, in_call: bool) -> Effect:
    """Return when a changed value counts.

    `in_use`: the profile is that of this console; `in_call`: a session runs that this console has started.
    """
    if not in_use:
        return "its sessions"
    if not (in_call or key in _LOOKS):
        return "next session"
    if key.startswith("tools."):
        return "connects again"
    return "now" if key.startswith("consent.") else _IN_A_CALL.get(key, "next session")


def rows_of(loaded: Loaded) -> tuple[ValueRow, ...]:
    """Return all options but tables, then the entries of tables that are set."""
    simple = [key for key in config.OPTIONS if key not in ("keymap", "prices", "profile")]
    values = loaded.config
    options = [ValueRow(key, getattr(values, config.OPTIONS[key].name), loaded.sources[key]) for key in simple]
    keys = [ValueRow(f"keymap.{name}", value, loaded.sources["keymap"]) for name, value in values.keymap.items()]
    return (*options, *keys, *(ValueRow(key, value, "profile") for key, value in _entries(loaded.profile)))


def _entries(profile: Profile) -> list[tuple[str, Any]]:
    tools = profile.tools
    return [
        *((f"consent.{tool}", policy) for tool, policy in profile.consent.items()),
        ("tools.enabled", list(tools.enabled)),
        *((f"tools.folders.{name}", folder) for name, folder in tools.folders.items()),
        *((f"tools.programs.{name}", list(program)) for name, program in tools.programs.items()),
    ]


def text_of(key: str, value: Any) -> str:
    """Return a value as it is edited: `parse` gets it back."""
    if isinstance(value, list):
        import shlex

        return shlex.join(value) if key.startswith("tools.programs.") else ", ".join(value)
    return json.dumps(value) if isinstance(value, bool) else str(value)


def about(key: str) -> str:
    """Return one line about a key."""
    if key in config.OPTIONS:
        return str(config.OPTIONS[key].metadata["help"])
    section = key.split(".")[0]
    if section == "consent":
        return "Policy of this tool: allow, ask or deny"
    if section == "keymap":
        return "Keys of this action, with commas in between"
    return {
        "enabled": "Tools that every agent gets: tasks, memory, timer, notify, workspace",
        "folders": "Folder that the workspace tools can read",
        "programs": "Program with its arguments, which the workspace tools can run",
    }.get(key.split(".")[1] if "." in key else "", "")


def parse(key: str, text: str, loaded: Loaded) -> Any:
    """Return the checked value of `text`.

    Raises `UsageError` that names key, value and remedy.
    """
    if key.split(".")[0] in TABLES:
        value: object = parse_entry(key, text)[1]
    else:
        value = parsed_value(key, text, lambda: loaded.config.keymap)
    refuse_secrets({key: value}, profile_path(loaded.profile.name))
    return value


def parsed_value(key: str, value: str, keymap: Callable[[], Mapping[str, str]]) -> object:
    """Return the checked value of an option for a file.

    `keymap` returns the present keys by action. Raises `ConfigError` or `UsageError`.
    """
    if key.startswith("keymap."):
        from gemini_live_tui.actions.keymap import check_keymap, usable_keymap

        ident = key.removeprefix("keymap.")
        others = {name: keys for name, keys in keymap().items() if name != ident}
        check_keymap({**usable_keymap(others)[0], ident: value})
        return value
    if key.split(".")[0] == "prices":
        raise UsageError("prices are tables", remedy="Edit them in the file, see: config path", field="prices")
    if key == "keymap":
        raise UsageError("keymap is a table", remedy='Set one key: config set keymap.mute "k,f4"', field="keymap")
    parsed = config.parse(key, value)
    if key == "ui.theme" and value:
        from gemini_live_tui.theming import load_theme

        load_theme(value, paths.config_dir() / "themes")
    if key == "profile":
        config.read_profile(value)
    return parsed


def place_of(key: str) -> tuple[str, ...]:
    """Return the parts of a key in the file.

    Names of tools and entries may have dots.
    """
    section, _, rest = key.partition(".")
    if section == "consent" and rest:
        return (section, rest)
    table, _, name = rest.partition(".")
    return (section, table, name) if section == "tools" and name else tuple(key.split("."))


def write_value(name: str, key: str, value: Any) -> Path:
    """Write a value to the file of a profile, and return its path.

    None takes it out.

    Raises `ConfigError`.
    """
    path = profile_path(name)
    config.set_value(path, place_of(key), value)
    return path


def value_in_file(name: str, key: str) -> Any:
    """Return what the file of a profile says about a key, or None."""
    found: Any = config.read_document(profile_path(name))
    for part in place_of(key):
        if not isinstance(found, dict):
            return None
        found = found.get(part)
    return found


def overriding(key: str, source: str) -> str:
    """Return a sentence about what overrides the profile's value of a key, or ""."""
    if source == "flag":
        return f"{key} was given on the command line, which overrides it for this run."
    variable = config.variable_of(key)
    return f"{variable} is set and overrides it." if key in config.OPTIONS and variable in os.environ else ""


def shown(value: Any) -> str:
    """Return a value for display, in one line without secrets."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return redactor.text(text)
