"""Save choices to the config file, for the next start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gemini_live_runtime.harness.paths import DEFAULT_PROFILE
from gemini_live_tui import config
from gemini_live_tui.profile_files import profile_path


def save(values: Mapping[str, str | bool], profile: str = DEFAULT_PROFILE) -> str:
    """Write values by config key: to the profile's file where that sets it.

    The others go to the config file. Returns a sentence about variables that override them, or "". Raises
    `ConfigError`.
    """
    for key, value in values.items():
        config.set_value(path_for(key, profile, config.config_path(os.environ)), key, value)
    overriding = [config.variable_of(key) for key in values if config.variable_of(key) in os.environ]
    return f"{' and '.join(overriding)} in the environment overrides the config file." if overriding else ""


def path_for(key: str, profile: str, config_file: Path) -> Path:
    """Return the file that a choice is written to, so that it counts next time.

    That is the profile's where it sets the key, else `config_file`. Raises `ConfigError`.
    """
    options, _ = config.read_profile(profile)
    return profile_path(profile) if key in options else config_file
