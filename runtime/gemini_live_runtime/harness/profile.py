"""Check the tables that only a profile has: policies of consent, and tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeVar

from gemini_live_runtime.choices import nearest
from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE, check_profile_name
from gemini_live_runtime.paths import is_safe_name
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.tools.consent import POLICIES, ConsentPolicy

TOOL_SETS = ("tasks", "memory", "timer", "notify", "workspace")
"""Names in `tools.enabled`, each a set of tools for the model."""

TABLES = ("consent", "tools")
"""Tables that only a profile has."""

_TOOLS = ("enabled", "folders", "programs")

TABLE_KEYS = tuple(f"tools.{key}" for key in _TOOLS)
"""Keys of those tables whose names are fixed."""

MAX_ENTRIES = 200
"""Entries of the longest table or list of a profile."""

MAX_TOOL_NAME = 128
"""Characters of the longest name of a tool."""

MAX_TEXT = 4096
"""Characters of the longest folder or argument."""

C = TypeVar("C", bound=Collection[Any])


@keyword_record
class ProfileTools:
    """Table `[tools]` of a profile, checked."""

    enabled: tuple[str, ...] = ()
    """Names of `TOOL_SETS`, in the order of the file."""
    folders: dict[str, str] = field(default_factory=dict)
    """Absolute paths by the names that the model uses; a folder need not exist."""
    programs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Program and arguments, at least one text, by the names that the model uses."""


@keyword_record
class Profile:
    """Profile of a session, which `EngineSpec.profile` brings to the engine.

    Its options are fields of the spec; this is the rest. Folders are absolute and programs have at least one text, so
    tools may use `profile.tools` without further checks of its form.
    """

    name: str = DEFAULT_PROFILE
    consent: dict[str, ConsentPolicy] = field(default_factory=dict)
    """Policies of the file by the names of tools."""
    tools: ProfileTools = field(default_factory=ProfileTools)


def profile_of(tables: Mapping[str, Any], *, name: str, where: str) -> Profile:
    """Return the profile `name` of its tables `consent` and `tools`.

    `where` names their source in messages. Raises `ConfigError` that names key, value and remedy.
    """
    check_profile_name(name)
    tools = _table(tables.get("tools", {}), "tools", where)
    for key in tools:
        if key not in _TOOLS:
            raise ConfigError(
                f"There is no option {f'tools.{key}'[:60]!r} ({where})",
                remedy=_nearest(key, _TOOLS, prefix="tools."),
                field=f"tools.{key}",
            )
    return Profile(
        name=name,
        consent={
            _tool_name(tool, where): _policy(tool, policy, where)
            for tool, policy in _table(tables.get("consent", {}), "consent", where).items()
        },
        tools=ProfileTools(
            enabled=_enabled(tools.get("enabled", []), where),
            folders={
                _entry_name(key, "tools.folders", where): _folder(key, folder, where)
                for key, folder in _table(tools.get("folders", {}), "tools.folders", where).items()
            },
            programs={
                _entry_name(key, "tools.programs", where): _program(key, program, where)
                for key, program in _table(tools.get("programs", {}), "tools.programs", where).items()
            },
        ),
    )


def profile_of_json(value: object) -> Profile:
    """Restore a profile of an engine's spec; raise `UsageError`."""
    where = "the engine's spec"
    table = _table(value, "profile", where)
    name = table.get("name", DEFAULT_PROFILE)
    if not isinstance(name, str) or set(table) - {"name", *TABLES}:
        raise ConfigError(f"profile is no profile in {where}", field="profile")
    return profile_of(table, name=name, where=where)


def parse_entry(key: str, text: str) -> tuple[tuple[str, ...], str | list[str]]:
    """Return key and value of an entry of `consent` or `tools`, as the file has them.

    Lists have commas in between; programs are split as a shell splits them. Raises `ConfigError` for what cannot be.
    """
    where = "the command line"
    section, _, rest = key.partition(".")
    table, _, name = rest.partition(".")
    value: str | list[str] = text
    if section == "consent" and rest:
        parts: tuple[str, ...] = ("consent", rest)
    elif key == "tools.enabled":
        parts, value = ("tools", "enabled"), [part.strip() for part in text.split(",") if part.strip()]
    elif section == "tools" and table in ("folders", "programs") and name:
        parts, value = ("tools", table, name), _split(key, text) if table == "programs" else text
    else:
        raise ConfigError(
            f"There is no option {key[:60]!r} ({where})",
            remedy="Use consent.TOOL, tools.enabled, tools.folders.NAME or tools.programs.NAME",
            field=key,
        )
    tables: Any = value
    for part in reversed(parts):
        tables = {part: tables}
    profile_of(tables, name=DEFAULT_PROFILE, where=where)
    return parts, value


def _split(key: str, text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise _wrong(key, text, "the command line", f"cannot be split into arguments: {error}") from None


def _enabled(value: object, where: str) -> tuple[str, ...]:
    names = _texts(value, "tools.enabled", where)
    for name in names:
        if name not in TOOL_SETS:
            raise ConfigError(
                f"tools.enabled has {name[:60]!r} in {where}, which is no set of tools",
                remedy=_nearest(name, TOOL_SETS),
                field="tools.enabled",
                value=name,
            )
    return tuple(dict.fromkeys(names))


def _folder(name: str, value: object, where: str) -> str:
    key = f"tools.folders.{name}"
    if not isinstance(value, str) or not _is_plain(value):
        raise _wrong(key, value, where, "must be the path of a folder")
    try:
        folder = Path(value).expanduser()
    except RuntimeError:
        folder = Path(value)
    if not folder.is_absolute():
        raise _wrong(key, value, where, "must begin with / or ~/")
    return str(folder)


def _program(name: str, value: object, where: str) -> tuple[str, ...]:
    key = f"tools.programs.{name}"
    program = _texts(value, key, where)
    if not program:
        raise _wrong(key, value, where, "must have the program and its arguments")
    # Imported here because it delays the console's first paint.
    from gemini_live_runtime.tools.programs import command_faults

    if fault := command_faults(program):
        raise _wrong(key, value, where, fault)
    return program


def _policy(tool: str, value: object, where: str) -> ConsentPolicy:
    if not isinstance(value, str) or value not in POLICIES:
        raise _wrong(f"consent.{tool}", value, where, f"must be one of {', '.join(POLICIES)}")
    return value  # type: ignore[return-value]


def _tool_name(name: str, where: str) -> str:
    if not 0 < len(name) <= MAX_TOOL_NAME or not name.isprintable():
        raise ConfigError(
            f"consent has {name[:60]!r} in {where}, which is not the name of a tool",
            remedy="Correct it, or leave it out",
            field="consent",
            value=name[:80],
        )
    return name


def _entry_name(name: str, key: str, where: str) -> str:
    if not is_safe_name(name):
        raise ConfigError(
            f"{key} has the name {name[:60]!r} in {where}",
            remedy="Use letters, digits, dots, dashes and underscores, at most 80",
            field=key,
            value=name[:80],
        )
    return name


def _texts(value: object, key: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and _is_plain(item) for item in value):
        raise _wrong(key, value, where, "must be a list of texts")
    return tuple(_bounded(value, key, where))


def _table(value: object, key: str, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(key, value, where, "must be a table")
    return _bounded(value, key, where)


def _bounded(value: C, key: str, where: str) -> C:
    if len(value) > MAX_ENTRIES:
        raise ConfigError(
            f"{key} has {len(value):,} entries in {where}, at most {MAX_ENTRIES} are allowed",
            remedy="Leave some out",
            field=key,
        )
    return value


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= MAX_TEXT and "\0" not in text


def _nearest(name: str, names: Collection[str], *, prefix: str = "") -> str:
    close = nearest(name, names)
    return f"Did you mean {prefix}{close}?" if close else f"Use {', '.join(prefix + one for one in names)}"


def _wrong(key: str, value: object, where: str, fault: str) -> ConfigError:
    from gemini_live_runtime.redactor import redactor

    shown = redactor.text(str(value))[:60]
    return ConfigError(
        f"{key[:80]} is {shown!r} in {where}, it {fault}",
        remedy="Correct it, or leave it out",
        field=key,
        value=shown,
    )
