"""Read settings in layers: flags, environment, profile, config file, defaults.

Every option is one field of `Config`; its key, help and limits stand beside it. With neither a file nor a variable set,
nothing is parsed and nothing heavy is imported: the console starts at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields, replace
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE, check_profile_name, default_root
from gemini_live_runtime.harness.profile import TABLE_KEYS, TABLES, Profile, profile_of
from gemini_live_runtime.records import record
from gemini_live_tui.config_files import CONFIG_PATH_VARIABLE as CONFIG_PATH_VARIABLE
from gemini_live_tui.config_files import config_path as config_path
from gemini_live_tui.config_files import read_document as read_document
from gemini_live_tui.config_files import set_value as set_value
from gemini_live_tui.profile_files import no_profile, profile_path, read_profile_document

ENV_PREFIX = "GEMINI_LIVE_TUI_"

_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)*|\[?[0-9a-fA-F:.]*:[0-9a-fA-F:.]+\]?)(?::[0-9]{1,5})?")
"""A host as a name or an address, and its port."""

Check = Callable[[Any], str]


def _choice(*values: str) -> Check:
    return lambda value: "" if value in values else f"must be one of {', '.join(v or '(empty)' for v in values)}"


def _between(low: float, high: float) -> Check:
    return lambda value: "" if low <= value <= high else f"must be {low:g} to {high:g}"


def _positive(value: float) -> str:
    return "" if value >= 0 else "must be 0 (no limit) or above"


def _backend(value: str) -> str:
    if value in ("", "gemini", "vertex", "local") or value.startswith(("ws://", "wss://")):
        return ""
    return "must be gemini, vertex, local, or a ws:// or wss:// URL"


def _hosts(value: list[str]) -> str:
    fits = all(_HOST.fullmatch(item) for item in value)
    return "" if fits else "must have names of hosts alone, each with a port or without, and no patterns"


def _entry(value: str) -> str:
    return "" if len(value) <= 128 and value.isprintable() else "must be the name of an entry, at most 128 characters"


def _profile(value: str) -> str:
    """Check a profile's name; raise `UsageError`."""
    check_profile_name(value)
    return ""


def _option(key: str, default: Any, help: str, check: Check | None = None) -> Any:
    metadata = {"key": key, "help": help, "check": check}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def _prices(value: Any) -> str:
    """Check prices; raise `ConfigError`, naming the price."""
    if value:
        from gemini_live_runtime.session.core.pricing import price_table

        price_table(value)
    return ""


@record
class Config:
    """Options. Zero is "no limit", "" is "the default"."""

    backend: str = _option("backend", "", "gemini, vertex, local, or a ws:// URL; empty: gemini", _backend)
    model: str = _option("model", "", "Model name; empty: the agent's")
    voice: str = _option("voice", "", "Voice name, e.g. Puck; empty: the agent's")
    agent: str = _option("agent", "concierge", "Agent of a plain start: a bundled name or FILE.py:ATTR")
    turns: str = _option(
        "turns",
        "auto",
        "Detector of your turns: server, client, manual (the microphone switch), or auto, the agent's choice",
        _choice("auto", "server", "client", "manual"),
    )
    api_version: str = _option("api_version", "", "API version; empty: the backend's default")
    audio_input: str = _option("audio.input", "", "Input device: number or part of its name; empty: default")
    audio_output: str = _option("audio.output", "", "Output device: number or part of its name; empty: default")
    echo_cancelling: bool = _option("audio.echo_cancelling", True, "Take the model's voice out of the microphone")
    headphones: bool = _option("audio.headphones", False, "Headphones: never attenuate the microphone against echo")
    noise_suppression: bool = _option("audio.noise_suppression", False, "Take steady noise out of the microphone")
    record: str = _option(
        "recording.record", "audio", "What is kept: off, text or audio", _choice("off", "text", "audio")
    )
    cap_gb: float = _option(
        "recording.cap_gb", 2.0, "Most recorded audio in GB; oldest goes first", _between(0.01, 1000)
    )
    max_cost: float = _option("limits.max_cost", 0.0, "Hang up at this many US dollars; 0: no limit", _positive)
    max_minutes: float = _option("limits.max_minutes", 0.0, "Hang up after this many minutes; 0: no limit", _positive)
    reconnect_for_s: float = _option(
        "engine.reconnect_for_s", 60.0, "Seconds a lost connection is made again without a console", _between(0, 3600)
    )
    dormant_after_s: float = _option(
        "engine.dormant_after_s",
        600.0,
        "Quiet seconds until the connection closes; 0: never",
        _between(0, 86_400),
    )
    linger_s: float = _option("engine.linger_s", 300.0, "Seconds an engine outlives its last console", _between(0, 300))
    theme: str = _option("ui.theme", "", "Theme name; empty: chosen by the terminal")
    fps: int = _option("ui.fps", 20, "Most frames a second", _between(1, 60))
    ascii: bool = _option("ui.ascii", False, "Draw with ASCII signs only")
    api_key_source: str = _option(
        "credentials.source",
        "",
        "Where the key is: env, keyring or file; empty: anywhere",
        _choice("", "env", "keyring", "file"),
    )
    api_key_file: str = _option("credentials.file", "", "A file, mode 0600, that holds the key")
    api_key_entry: str = _option(
        "credentials.keyring", "", "Entry of the system's keyring with the key; empty: the usual one", _entry
    )
    trusted_hosts: list[str] = _option(
        "credentials.trusted_hosts", [], "Hosts besides Google's that may get the key", _hosts
    )
    vertex_project: str = _option("vertex.project", "", "Google Cloud project")
    vertex_location: str = _option("vertex.location", "", "Google Cloud location, e.g. us-central1")
    prices: dict[str, Any] = _option(
        "prices", {}, "Prices in dollars per million tokens: as_of, and a table for each model prefix", _prices
    )
    keymap: dict[str, str] = _option("keymap", {}, 'Keys by action id, e.g. mute = "k,f4"')
    profile: str = _option("profile", DEFAULT_PROFILE, "Profile: a file in profiles/ that goes ahead of this", _profile)


_TABLE_OPTIONS = ("keymap", "prices")
"""Options that no variable can set."""

OPTIONS: dict[str, Field[Any]] = {f.metadata["key"]: f for f in fields(Config)}
"""Options by their key in the file."""


@record
class Loaded:
    """Config with the source of each value, by key.

    A source is `default`, `file`, `profile`, a variable's name or `flag`.
    """

    config: Config
    sources: Mapping[str, str]
    path: Path
    profile: Profile


def variable_of(key: str) -> str:
    """Return an option's environment variable, e.g. `GEMINI_LIVE_TUI_UI_THEME`."""
    return ENV_PREFIX + key.upper().replace(".", "_")


def load(environment: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None) -> Loaded:
    """Read all layers.

    `flags` are by key; None values are flags not given. Raise `ConfigError` with file or variable, key, value and what
    is allowed.
    """
    environment = os.environ if environment is None else environment
    path = config_path(environment)
    values: dict[str, Any] = {}
    sources = dict.fromkeys(OPTIONS, "default")

    def use(found: Mapping[str, Any], source: str) -> None:
        for key, value in found.items():
            values[OPTIONS[key].name] = value
            sources[key] = source

    use(_file_values(path, read_document(path)), "file")
    set_here = {
        key: variable_of(key) for key in OPTIONS if variable_of(key) in environment and key not in _TABLE_OPTIONS
    }
    from_environment = {
        key: _checked(key, _from_text(key, environment[variable], variable), variable)
        for key, variable in set_here.items()
    }
    given = {key: _checked(key, value, "the command line") for key, value in (flags or {}).items() if value is not None}
    name = {**values, **from_environment, **given}.get("profile", DEFAULT_PROFILE)
    source = "the command line" if "profile" in given else set_here.get("profile", str(path))
    options, profile = read_profile(name, source)
    use(options, "profile")
    for key, value in from_environment.items():
        use({key: value}, set_here[key])
    use(given, "flag")
    return Loaded(replace(Config(), **values), sources, path, profile)


def _file_values(path: Path, document: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Return the checked options of a file, by key.

    `more` are other keys that it may have.
    """
    found: dict[str, Any] = {}

    def walk(table: Mapping[str, Any], prefix: str) -> None:
        for name, value in table.items():
            key = f"{prefix}{name}"
            if key in OPTIONS:
                found[key] = _checked(key, value, str(path))
            elif isinstance(value, dict):
                walk(value, f"{key}.")
            else:
                raise _unknown(key, str(path), *more)

    walk(document, "")
    return found


def read_profile(name: str, source: str = "the command line") -> tuple[dict[str, Any], Profile]:
    """Return the options of a profile by key, and what else it says.

    `source` names who asks for it. The default profile may have no file. Raise `ConfigError` with file, key, value and
    remedy, also for a value that looks like a credential.
    """
    path = profile_path(name)
    document = read_profile_document(name, source)
    if "profile" in document:
        raise ConfigError(
            f"A profile cannot name a profile ({path})", remedy="Leave out the option profile", field="profile"
        )
    options = _file_values(path, {key: value for key, value in document.items() if key not in TABLES}, *TABLE_KEYS)
    return options, profile_of(document, name=name, where=str(path))


def _unknown(key: str, where: str, *more: str) -> ConfigError:
    import difflib

    section, _, rest = key.partition(".")
    close = difflib.get_close_matches(key, [*OPTIONS, *more], n=1)
    if not close and more and rest:
        close = [f"{table}.{rest}" for table in difflib.get_close_matches(section, TABLES, n=1)]
    remedy = f"Did you mean {close[0]}?" if close else "See gemini-live-tui config show"
    if section in TABLES and not more:
        remedy = "Only a profile has it: gemini-live-tui profiles"
    return ConfigError(f"There is no option {key[:60]!r} ({where})", remedy=remedy, field=key)


def named_profile(flag: str | None = None, environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return the profile of flag, environment or config file, and who names it.

    No other option is read, and the profile need not exist. Raises `UsageError` for a bad name.
    """
    environment = os.environ if environment is None else environment
    variable, path = variable_of("profile"), config_path(environment)
    document = {} if flag is not None or variable in environment else read_document(path)
    if flag is not None:
        name, source = flag, "the command line"
    elif variable in environment:
        name, source = environment[variable], variable
    else:
        name, source = document.get("profile", DEFAULT_PROFILE), str(path) if "profile" in document else "default"
    return str(_checked("profile", name, source)), source


def chosen_profile(flag: str | None, environment: Mapping[str, str] | None = None) -> str:
    """Return the `named_profile`, whose records are wanted.

    Raises `UsageError` for one that has neither a file nor records.
    """
    name, source = named_profile(flag, environment)
    if name != DEFAULT_PROFILE and not profile_path(name).exists() and not default_root(name).exists():
        raise no_profile(name, source)
    return name


def option_of(key: str) -> Field[Any]:
    """Return the option named `key`; raise `ConfigError` with the nearest name."""
    if key not in OPTIONS:
        raise _unknown(key, "the command line")
    return OPTIONS[key]


def _from_text(key: str, text: str, where: str) -> Any:
    """Return the value of plain text from a variable or the command line."""
    default = default_of(option_of(key))
    try:
        if isinstance(default, bool):
            return {
                "1": True,
                "true": True,
                "yes": True,
                "on": True,
                "0": False,
                "false": False,
                "no": False,
                "off": False,
            }[text.strip().lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (ValueError, KeyError):
        raise _wrong(key, text, where, f"must be {_kind(default)}") from None
    if isinstance(default, list):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def parse(key: str, text: str) -> Any:
    """Return the checked value of `text` for option `key`, as `config set` takes it."""
    return _checked(key, _from_text(key, text, "the command line"), "the command line")


def default_of(option: Field[Any]) -> Any:
    """Return an option's default."""
    return getattr(Config(), option.name)


def _checked(key: str, value: Any, where: str) -> Any:
    option = OPTIONS[key]
    default = default_of(option)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default):
        raise _wrong(key, value, where, f"must be {_kind(default)}")
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        raise _wrong(key, value, where, "must be a list of strings")
    if key == "keymap" and not all(isinstance(item, str) for item in value.values()):
        raise _wrong(key, value, where, "must map action ids to keys, both strings")
    check = option.metadata["check"]
    fault = check(value) if check is not None else ""
    if isinstance(value, float) and value != value:
        fault = "must be a number"
    if fault:
        raise _wrong(key, value, where, fault)
    return value


def _wrong(key: str, value: Any, where: str, fault: str) -> ConfigError:
    return ConfigError(
        f"{key} is {str(value)[:60]!r} in {where}, it {fault}",
        remedy="Correct it, or leave it out",
        field=key,
        value=value,
    )


def _kind(default: Any) -> str:
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return "a whole number"
    if isinstance(default, float):
        return "a number"
    return "text" if isinstance(default, str) else "a list of texts" if isinstance(default, list) else "a table"
