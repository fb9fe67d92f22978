"""Stand in for the system's keyring."""

from __future__ import annotations

import sys
import types

import pytest


def install_keyring(monkeypatch: pytest.MonkeyPatch, backend: type) -> dict[tuple[str, str], str]:
    """Install a keyring with this backend; return its secrets by service and entry."""
    kept: dict[tuple[str, str], str] = {}
    module = types.ModuleType("keyring")
    module.__path__ = []
    errors, backends, fail = (types.ModuleType(f"keyring.{name}") for name in ("errors", "backends", "backends.fail"))
    fail.Keyring = type("Keyring", (), {"priority": 0})
    errors.KeyringError = type("KeyringError", (Exception,), {})
    module.get_keyring = backend
    module.set_password = lambda service, user, secret: kept.__setitem__((service, user), secret)
    module.get_password = lambda service, user: kept.get((service, user))
    for name, part in (("", module), (".errors", errors), (".backends", backends), (".backends.fail", fail)):
        monkeypatch.setitem(sys.modules, f"keyring{name}", part)
    module.errors, module.backends = errors, backends
    return kept
