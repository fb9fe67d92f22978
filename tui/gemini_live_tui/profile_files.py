"""Find, read, create and delete the files of profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.errors import ConfigError, write_remedy
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE, check_profile_name, is_profile_name
from gemini_live_tui.config_files import read_document


def profiles_dir() -> Path:
    """Return the folder of profiles, which need not exist."""
    return paths.config_dir() / "profiles"


def profile_path(name: str) -> Path:
    """Return the file of a profile, which need not exist.

    Raises `UsageError` for a bad name.
    """
    return profiles_dir() / f"{check_profile_name(name)}.toml"


def profile_names() -> list[str]:
    """Return the names of profiles: the default one, and those with a file."""
    try:
        found = {path.stem for path in profiles_dir().glob("*.toml")}
    except OSError:
        found = set()
    return sorted({DEFAULT_PROFILE, *(name for name in found if is_profile_name(name))})


def read_profile_document(name: str, source: str) -> dict[str, Any]:
    """Return the TOML of a profile; {} for the default profile without a file.

    `source` names who asks for it. Raises `ConfigError`, also for a value that looks like a credential.
    """
    path = profile_path(name)
    if name != DEFAULT_PROFILE and not path.exists():
        raise no_profile(name, source)
    document = read_document(path)
    if not document:
        return {}
    refuse_secrets(document, path)
    return document


def create_profile(name: str, *, copied: str | None, check: Callable[[str], object]) -> Path:
    """Create the file of a profile, and return its path.

    It is a copy of the profile `copied`, which `check` must accept, with its comments; else nothing is set in it.
    Raises `ConfigError` for a profile that exists, and for a folder that cannot be written.
    """
    from gemini_live_runtime.redactor import redactor

    path = profile_path(name)
    if redactor.text(name) != name:
        raise ConfigError(
            "The name of a profile looks like a key", remedy="Give a name that tells what it is for", field="profile"
        )
    text = f"# Options of the profile {name}, which go ahead of those of the config file.\n"
    if copied is not None:
        check(copied)
        if profile_path(copied).exists():
            text = profile_path(copied).read_text("utf-8")
    try:
        paths.private_dir(path.parent)
        paths.write_private_text(path, text, sync=True, new=True)
    except FileExistsError:
        raise ConfigError(
            f"The profile {name} exists already ({path})", remedy="Take another name", field="profile", value=name
        ) from None
    except OSError as error:
        raise _unwritable(path, "written", error) from None
    return path


def delete_profile(name: str) -> Path:
    """Delete the file of a profile, and return its path; raise `ConfigError`."""
    path = profile_path(name)
    try:
        path.unlink()
    except OSError as error:
        raise _unwritable(path, "deleted", error) from None
    return path


def _unwritable(path: Path, done: str, error: OSError) -> ConfigError:
    return ConfigError(
        f"{path} cannot be {done}: {error.strerror or error}",
        remedy=write_remedy(error, path.parent),
        field="profile",
        value=path.stem,
    )


def no_profile(name: str, source: str) -> ConfigError:
    """Return the error for a profile without a file."""
    import difflib

    # Its own name is there for a link that leads nowhere.
    close = difflib.get_close_matches(name, [other for other in profile_names() if other != name], n=1)
    near = f"Did you mean {close[0]}? " if close else ""
    return ConfigError(
        f"There is no profile {name!r} ({source})",
        remedy=f"{near}Create it: gemini-live-tui profiles create {name}",
        field="profile",
        value=name,
    )


def refuse_secrets(document: Mapping[str, Any], path: Path) -> None:
    """Raise `ConfigError` for a value that looks like a credential, without naming it."""
    from gemini_live_runtime.redactor import redactor

    def walk(value: Any, key: str) -> None:
        if isinstance(value, Mapping):
            for name, one in value.items():
                walk(one, f"{key}.{name}" if key else str(name))
            return
        field = {key.rpartition(".")[2]: value}
        arguments = " ".join(map(str, value)) if isinstance(value, list) else ""
        if redactor.value(field) != field or redactor.text(arguments) != arguments:
            raise ConfigError(
                f"{redactor.text(key)[:60]} holds what looks like a key in {path}",
                remedy="Take it out, and save it in the keyring: gemini-live-tui profiles set-key",
                field=key[:60],
            )

    walk(document, "")
