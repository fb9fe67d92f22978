"""Saved keys are found again and private; failures are sentences."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support.canaries import KEY
from tests.support.keyring_double import install_keyring

from gemini_live_runtime.errors import CredentialError
from gemini_live_runtime.wire.credentials import KEYRING_SERVICE, KEYRING_USER, api_key, find_api_key
from gemini_live_runtime.wire.key_store import keyring_problem, save_to_file, save_to_keyring


class Backend:
    """A keyring of a test."""

    priority = 5.0


class Broken(Backend):
    """Error of a keyring that refuses."""


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring module with a backend that keeps what it is given."""
    return install_keyring(monkeypatch, Backend)


def test_a_key_in_the_keyring_is_found_again(keyring: dict[tuple[str, str], str]) -> None:
    assert keyring_problem() == ""
    save_to_keyring(api_key(KEY))
    assert keyring == {(KEYRING_SERVICE, KEYRING_USER): KEY}
    found = find_api_key({}, source="keyring").credential
    assert found is not None
    assert found.secret == KEY


def test_a_missing_package_and_a_system_without_a_keyring_are_different_problems(
    keyring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["keyring"]
    monkeypatch.setattr(module, "get_keyring", sys.modules["keyring.backends.fail"].Keyring)
    assert keyring_problem() == "This system has no usable keyring."
    with pytest.raises(CredentialError, match="no usable keyring"):
        save_to_keyring(api_key(KEY))
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "the extra `keyring`" in keyring_problem()


def test_a_keyring_that_refuses_says_why_without_the_key(
    keyring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str) -> None:
        raise RuntimeError(f"locked: {KEY}")

    monkeypatch.setattr(sys.modules["keyring"], "set_password", refuse)
    with pytest.raises(CredentialError, match="locked") as caught:
        save_to_keyring(api_key(KEY))
    assert KEY not in str(caught.value)


def test_a_key_file_is_private_from_its_creation_and_replaced_atomically(tmp_path: Path) -> None:
    path = tmp_path / "config" / "api-key"
    save_to_file(api_key(KEY.lower()), path)
    save_to_file(api_key(KEY), path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(path.parent.iterdir()) == [path]
    found = find_api_key({}, source="file", key_file=path).credential
    assert found is not None
    assert found.secret == KEY


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    with pytest.raises(CredentialError, match="cannot be written"):
        save_to_file(api_key(KEY), tmp_path / "config" / "api-key")
