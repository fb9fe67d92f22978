"""Save choices to the config file, for the next start."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gemini_live_tui import config


def save(values: Mapping[str, str | bool]) -> str:
    """Write values to the config file, by config key.

    Returns a sentence about variables that override them, or "". Raises `ConfigError`.
    """
    path = config.config_path(os.environ)
    for key, value in values.items():
        config.set_value(path, key, value)
    overriding = [config.variable_of(key) for key in values if config.variable_of(key) in os.environ]
    return f"{' and '.join(overriding)} in the environment overrides the config file." if overriding else ""
