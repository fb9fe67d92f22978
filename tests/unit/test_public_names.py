"""The package exports each public name lazily."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gemini_live_runtime


def test_every_public_name_can_be_imported() -> None:
    names = gemini_live_runtime.__all__
    assert len(names) == len(set(names))
    assert {"Live", "State", "tool", "__version__"} <= set(names)
    assert all(getattr(gemini_live_runtime, name) is not None for name in names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Life'"):
        gemini_live_runtime.Life  # noqa: B018


def test_importing_the_event_types_does_not_import_the_runtime() -> None:
    code = "import sys; from gemini_live_runtime import events; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    packages = {name.split(".")[1] for name in imported if name.startswith("gemini_live_runtime.")}
    assert packages == {"events", "json_values", "records"}
