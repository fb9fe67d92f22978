"""An API key on its way from a field to where it is kept: checked by its shape, by Google, and never shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Literal

from gemini_live_runtime import paths
from gemini_live_runtime.wire.credentials import KEY_VARIABLES, api_key, key_problem
from gemini_live_runtime.wire.credentials import Credential as Credential
from gemini_live_runtime.wire.key_check import KeyCheck, check_key
from gemini_live_runtime.wire.key_store import keyring_problem, save_to_file, save_to_keyring
from gemini_live_tui.set_up.saving import save

Place = Literal["keyring", "file", "env"]
"""Where a key is kept; `env` keeps nothing, the person does."""

__all__ = ["KeyCheck", "Place", "check", "keep", "key_file", "keyring_problem", "profile_line", "shape"]


SHORTEST = 20
"""Characters of a key at least."""


def shape(text: str) -> str:
    """What is wrong with the shape of `text` as a key, as a sentence; "" when nothing is."""
    text = text.strip()
    fault = key_problem(text)
    if fault and 0 < len(text) < SHORTEST and text.isascii() and text[0].isalnum():
        return f"{len(text)} character{'s' if len(text) > 1 else ''}; a key has {SHORTEST} at least."
    return f"It {fault.rstrip(' .')}." if fault else ""


async def check(text: str) -> tuple[Credential, KeyCheck]:
    """Ask Google about the key; raises `CredentialError` for one of the wrong shape."""
    credential = api_key(text, "the field")
    return credential, await check_key(credential)


def key_file() -> Path:
    """The file that a key is kept in."""
    return paths.config_dir() / "api-key"


def key_file_label() -> str:
    """The file's path as people write it, with ~ for their home."""
    path, home = str(key_file()), str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def keep(credential: Credential, place: Place) -> str:
    """Keep the key and write to the config where it is; a sentence about what overrides that, or "".

    May block on the system's keyring. Raises `CredentialError` or `ConfigError`.
    """
    values: dict[str, str] = {"credentials.source": place}
    if place == "keyring":
        save_to_keyring(credential)
    elif place == "file":
        path = key_file()
        save_to_file(credential, path)
        values["credentials.file"] = str(path)
    else:
        for_now(credential, os.environ)
    said = save({**values, "backend": "gemini"})
    if place != "env" and any(os.environ.get(name) for name in KEY_VARIABLES):
        said = f"{said} A key in a variable is no longer looked at.".strip()
    return said


def for_now(credential: Credential, environment: MutableMapping[str, str]) -> None:
    """Put the key where engines started from this process find it; nothing is kept."""
    first, second = KEY_VARIABLES
    environment[first if environment.get(first) else second] = credential.secret


def profile_line(environment: Mapping[str, str], *, windows: bool = os.name == "nt") -> tuple[str, str]:
    """The line that sets the variable for good, without the key, and the file it goes into."""
    name = KEY_VARIABLES[1]
    if windows:
        return f'setx {name} "YOUR-KEY"', "a command prompt"
    shell = Path(environment.get("SHELL", "")).name
    if shell == "fish":
        return f"set -gx {name} YOUR-KEY", "~/.config/fish/config.fish"
    return f"export {name}=YOUR-KEY", {"zsh": "~/.zshrc", "bash": "~/.bashrc"}.get(shell, "~/.profile")
