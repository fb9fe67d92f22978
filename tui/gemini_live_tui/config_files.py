"""Read and write TOML files of settings."""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.errors import ConfigError, write_remedy

CONFIG_PATH_VARIABLE = "GEMINI_LIVE_TUI_CONFIG"

MAX_BYTES = 1024 * 1024
"""Bytes of the largest config file."""

MAX_LEVELS = 20
"""Levels of tables and lists; an option has at most four."""


_READ_REMEDIES = {errno.EPERM: "Make it a file of your own", errno.EACCES: "Give yourself the right to read it"}


def config_path(environment: Mapping[str, str]) -> Path:
    """Return `GEMINI_LIVE_TUI_CONFIG`, else `config.toml` in the platform's folder."""
    named = environment.get(CONFIG_PATH_VARIABLE, "")
    return paths.expand_user(named, field=CONFIG_PATH_VARIABLE) if named else paths.config_dir() / "config.toml"


def read_document(path: Path) -> dict[str, Any]:
    """Return the TOML of `path`, {} when there is no such file.

    It may name code to run, so one in the folder of settings must be this user's or root's: after `su` that folder may
    be another user's. Raise `ConfigError` with line and column.
    """
    if str(path) == os.devnull:  # a usual name for "none", but no regular file
        return {}
    try:
        data = paths.read_regular(path, MAX_BYTES, trusted=paths.config_dir() in path.parents)
        document = tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not text in UTF-8", remedy="Save it as UTF-8", field="config") from None
    except (ValueError, RecursionError) as error:
        # Not only bad TOML: also numbers of thousands of digits and deeply nested tables.
        raise ConfigError(f"{path} is not valid TOML: {error!s:.200}", remedy="Mend that", field="config") from None
    except OSError as error:
        remedy = _READ_REMEDIES.get(error.errno or 0, "")
        raise ConfigError(f"{path} cannot be read: {error.strerror}", remedy=remedy, field="config") from None
    _refuse_deep(document, path)
    return document


def _refuse_deep(document: dict[str, Any], path: Path) -> None:
    """Raise `ConfigError` for more than `MAX_LEVELS`, since readers are recursive."""
    rest: list[tuple[int, Any]] = [(1, document)]
    while rest:
        level, value = rest.pop()
        if level > MAX_LEVELS:
            raise ConfigError(f"{path} has more than {MAX_LEVELS} levels", remedy="Mend that", field="config")
        if isinstance(value, dict | list):
            rest += ((level + 1, one) for one in (value.values() if isinstance(value, dict) else value))


def set_value(path: Path, key: str | tuple[str, ...], value: Any) -> None:
    """Write `key` to the file at `path`, keeping its comments and order.

    A key of parts may have dots in them. A value of None takes the key out.

    The file is replaced atomically, with mode 0600. Raise `ConfigError` for a file that is broken or cannot be written.
    """
    try:
        _write(path, _with_value(path, key, value))
    except UnicodeEncodeError:
        raise ConfigError(
            f"{key if isinstance(key, str) else '.'.join(key)} has characters that are no text",
            remedy="Give another value",
            field="config",
            value=str(path),
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}",
            remedy=write_remedy(error, path.parent),
            field="config",
            value=str(path),
        ) from None


def _with_value(path: Path, key: str | tuple[str, ...], value: Any) -> str:
    """Return the text of the file at `path` with `key` set to `value`."""
    import tomlkit
    import tomlkit.items

    read_document(path)
    document = tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()
    *sections, name = key.split(".") if isinstance(key, str) else key
    table: Any = document
    for section in sections:
        if not isinstance(table.get(section), dict):
            table[section] = tomlkit.table()
        table = table[section]
    if value is not None:
        table[name] = value
    elif name in table:
        del table[name]
    return tomlkit.dumps(document)


def _write(path: Path, text: str) -> None:
    paths.private_dir(path.parent)
    paths.write_private_text(path, text, sync=True)
