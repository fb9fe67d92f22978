"""Writing what was chosen to the config file, so that the next start needs nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gemini_live_tui import config


def save(values: Mapping[str, str]) -> str:
    """Write `values` by key; a sentence about a variable that overrides one of them, or "". Raises `ConfigError`."""
    path = config.config_path(os.environ)
    for key, value in values.items():
        config.set_value(path, key, value)
    overriding = [config.variable_of(key) for key in values if config.variable_of(key) in os.environ]
    return f"{' and '.join(overriding)} is set and goes before the file." if overriding else ""
