"""Check an API key, by its shape and by Google, and store it.

The key itself never appears in a message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from gemini_live_runtime import paths
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE
from gemini_live_runtime.wire.credentials import KEY_VARIABLES, api_key, credential_environment, hold, key_problem
from gemini_live_runtime.wire.credentials import Credential as Credential
from gemini_live_runtime.wire.key_check import KeyCheck, check_key
from gemini_live_runtime.wire.key_store import keyring_problem, save_to_file, save_to_keyring
from gemini_live_tui.config import load
from gemini_live_tui.set_up.saving import save

Place = Literal["keyring", "file", "env"]
"""Storage of a key; `env`: for this process only, the user sets the variable."""

__all__ = ["KeyCheck", "Place", "check", "keep", "key_file", "keyring_problem", "profile_line", "shape"]


SHORTEST = 20
"""Minimum length of a key in characters."""


def shape(text: str) -> str:
    """Return a sentence about the fault in the shape of a key, or ""."""
    text = text.strip()
    fault = key_problem(text)
    if fault and 0 < len(text) < SHORTEST and text.isascii() and text[0].isalnum():
        return f"{len(text)} character{'s' if len(text) > 1 else ''}; a key has at least {SHORTEST}."
    return f"It {fault.rstrip(' .')}." if fault else ""


async def check(text: str) -> tuple[Credential, KeyCheck]:
    """Check the key with Google.

    Raises `CredentialError` for a key of the wrong shape.
    """
    credential = api_key(text, "the field")
    return credential, await check_key(credential)


def key_file() -> Path:
    """Return the path of the file for a key."""
    return paths.config_dir() / "api-key"


def key_file_label() -> str:
    """Return the path of the file for a key, with ~ for the home folder."""
    return home_label(key_file())


def home_label(path: Path) -> str:
    """Return a path with ~ for the home folder."""
    text, home = str(path), str(Path.home())
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


def keep(credential: Credential, place: Place, profile: str = DEFAULT_PROFILE) -> str:
    """Store the key and write its place to the config, or to the profile.

    Returns a sentence about a variable that overrides the config, or "". May block on the system's keyring. Raises
    `CredentialError` or `ConfigError`.
    """
    values: dict[str, str] = {"credentials.source": place}
    if place == "keyring":
        # The profile's own entry, which is where its sessions look.
        save_to_keyring(credential, load(flags={"profile": profile}).config.api_key_entry)
    elif place == "file":
        path = key_file()
        save_to_file(credential, path)
        values["credentials.file"] = str(path)
    else:
        for_now(credential)
    said = save({**values, "backend": "gemini"}, profile)
    if place != "env" and any(map(credential_environment().get, KEY_VARIABLES)):
        said = f"{said} A key in an environment variable is ignored now.".strip()
    return said


def for_now(credential: Credential) -> None:
    """Hold the key for engines started by this process; store nothing."""
    first, second = KEY_VARIABLES
    hold({first if credential_environment().get(first) else second: credential.secret})


def profile_line(environment: Mapping[str, str], *, windows: bool = os.name == "nt") -> tuple[str, str]:
    """Return the line that sets the variable in a shell profile, and that file.

    The line has a placeholder in place of the key.
    """
    name = KEY_VARIABLES[1]
    if windows:
        return f'setx {name} "YOUR-KEY"', "a command prompt"
    shell = Path(environment.get("SHELL", "")).name
    if shell == "fish":
        return f"set -gx {name} YOUR-KEY", "~/.config/fish/config.fish"
    return f"export {name}=YOUR-KEY", {"zsh": "~/.zshrc", "bash": "~/.bashrc"}.get(shell, "~/.profile")
