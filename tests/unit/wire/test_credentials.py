"""Credentials are searched in order, checked, redacted and cleared."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from gemini_live_runtime.errors import ConfigError, CredentialError, MissingExtraError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire import credentials
from gemini_live_runtime.wire.credentials import (
    api_key,
    bearer_token,
    find_api_key,
    find_vertex_token,
    scrub_environment,
    wants_vertex,
)

KEY = "AIzaSyCanaryCanaryCanaryCanaryCanary123"
OTHER = "AIzaSyOtherOtherOtherOtherOtherOther456"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own keyring stays out of these tests."""
    monkeypatch.setitem(sys.modules, "keyring", None)


def keyring_with(monkeypatch: pytest.MonkeyPatch, secret: str | None, error: bool = False) -> None:
    errors = types.ModuleType("keyring.errors")
    errors.KeyringError = type("KeyringError", (Exception,), {})  # type: ignore[attr-defined]
    module = types.ModuleType("keyring")
    module.errors = errors  # type: ignore[attr-defined]

    def get_password(service: str, user: str) -> str | None:
        assert (service, user) == (credentials.KEYRING_SERVICE, credentials.KEYRING_USER)
        if error:
            raise errors.KeyringError("locked")
        return secret

    module.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)


class TestShape:
    def test_a_key_is_stripped_of_white_space(self) -> None:
        key = api_key(f"  {KEY}\n")
        assert (key.kind, key.secret) == ("api-key", KEY)

    @pytest.mark.parametrize("secret", ["AQ.Ab8RN6" + "x" * 40, KEY])
    def test_old_and_new_shapes_of_keys_are_accepted(self, secret: str) -> None:
        assert api_key(secret).secret == secret

    def test_an_ephemeral_token_is_known_by_its_prefix(self) -> None:
        assert api_key("auth_tokens/abc-DEF_123").kind == "ephemeral"

    @pytest.mark.parametrize(
        ("secret", "says"),
        [
            ("", "is empty"),
            ("   ", "is empty"),
            (f'"{KEY}"', "quotation marks"),
            ("short", "wrong shape: 5 characters"),
            ("YOUR API KEY GOES RIGHT HERE", "wrong shape"),
            (KEY + "\r\nX-Evil: 1", "wrong shape"),
            ("ya29." + "a" * 40, "OAuth access token"),
            ("sk-" + "a" * 40, "another provider"),
            ("auth_tokens/a b c d e f g", "not an ephemeral token"),
            ("k" * 300, "wrong shape: 300"),
        ],
    )
    def test_a_wrong_key_is_one_sentence_that_does_not_repeat_it(self, secret: str, says: str) -> None:
        with pytest.raises(CredentialError, match=says) as caught:
            api_key(secret, "GEMINI_API_KEY")
        message = str(caught.value)
        assert "GEMINI_API_KEY" in message
        assert not secret.strip() or secret.strip() not in message

    def test_a_bearer_token_must_be_visible_ascii(self) -> None:
        assert bearer_token("ya29.abcdefghij").kind == "bearer"
        with pytest.raises(CredentialError, match="from given is malformed"):
            bearer_token("ya29.abc def\r\n ghij")

    def test_a_loaded_secret_is_known_to_the_redactor_and_hidden_in_repr(self) -> None:
        secret = "no-known-shape-at-all-0123456789"
        assert secret not in repr(api_key(secret))
        assert redactor.text(f"see {secret}!") == "see [redacted]!"


class TestSearch:
    @pytest.mark.parametrize("name", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
    def test_either_variable_will_do(self, name: str) -> None:
        found = find_api_key({name: KEY})
        assert found.credential is not None
        assert (found.credential.secret, found.credential.source, found.warnings) == (KEY, name, ())

    def test_google_api_key_wins_and_a_difference_is_a_warning(self) -> None:
        found = find_api_key({"GEMINI_API_KEY": OTHER, "GOOGLE_API_KEY": KEY})
        assert found.credential is not None
        assert found.credential.secret == KEY
        assert found.warnings == ("GOOGLE_API_KEY and GEMINI_API_KEY differ; GOOGLE_API_KEY is used",)
        assert OTHER not in redactor.text(OTHER)

    def test_the_same_key_twice_is_no_difference(self) -> None:
        assert find_api_key({"GEMINI_API_KEY": KEY, "GOOGLE_API_KEY": KEY}).warnings == ()

    def test_no_key_anywhere_is_not_an_error(self) -> None:
        assert find_api_key({"GEMINI_API_KEY": "  "}).credential is None

    def test_a_private_key_file_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "key"
        file.write_text(KEY + "\n")
        file.chmod(0o600)
        found = find_api_key({}, key_file=file)
        assert found.credential is not None
        assert (found.credential.secret, found.credential.source) == (KEY, str(file))

    def test_a_key_file_that_others_can_read_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "key"
        file.write_text(KEY)
        file.chmod(0o644)
        with pytest.raises(CredentialError, match="chmod 600"):
            find_api_key({}, key_file=file)

    @pytest.mark.parametrize("content", [None, b"\xff\xfe"])
    def test_a_key_file_that_cannot_be_read_is_a_sentence(self, tmp_path: Path, content: bytes | None) -> None:
        file = tmp_path / "key"
        if content is not None:
            file.write_bytes(content)
            file.chmod(0o600)
        with pytest.raises(CredentialError, match="cannot be read"):
            find_api_key({}, source="file", key_file=file)

    def test_a_key_file_must_be_named_to_be_the_source(self) -> None:
        with pytest.raises(ConfigError, match="no key file is named"):
            find_api_key({}, source="file")

    def test_the_source_restricts_the_search(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        keyring_with(monkeypatch, OTHER)
        assert find_api_key({}, source="env").credential is None
        found = find_api_key({"GEMINI_API_KEY": KEY}, source="keyring")
        assert found.credential is not None
        assert found.credential.secret == OTHER
        with pytest.raises(ConfigError, match="api_key_source"):
            find_api_key({}, source="vault")

    def test_the_keyring_comes_last(self, monkeypatch: pytest.MonkeyPatch) -> None:
        keyring_with(monkeypatch, OTHER)
        assert find_api_key({"GEMINI_API_KEY": KEY}).credential == api_key(KEY, "GEMINI_API_KEY")
        assert find_api_key({}).credential == api_key(OTHER, "the keyring")

    def test_a_keyring_that_is_absent_or_locked_matters_only_when_asked_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(MissingExtraError, match=r"\[keyring\]"):
            find_api_key({}, source="keyring")
        keyring_with(monkeypatch, None, error=True)
        assert find_api_key({}).credential is None
        with pytest.raises(CredentialError, match="locked"):
            find_api_key({}, source="keyring")


class TestVertex:
    def test_a_configured_token_needs_no_library(self) -> None:
        found = find_vertex_token({"CLOUDSDK_AUTH_ACCESS_TOKEN": "ya29.abcdefghij", "GOOGLE_CLOUD_PROJECT": "p"})
        assert found.credential is not None
        assert (found.credential.kind, found.project) == ("bearer", "p")

    def test_without_google_auth_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "google.auth", None)
        with pytest.raises(MissingExtraError, match=r"\[vertex\]"):
            find_vertex_token({})

    @pytest.mark.parametrize("fails", [False, True])
    def test_the_application_default_credentials_are_used(self, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
        class GoogleAuthError(Exception):
            pass

        class Credentials:
            token = None

            def refresh(self, request: object) -> None:
                if fails:
                    raise GoogleAuthError("Reauthentication is needed for ya29.leaked-leaked-leaked")
                self.token = "ya29.fresh-token"

        google, auth = types.ModuleType("google"), types.ModuleType("google.auth")
        exceptions, transport = types.ModuleType("google.auth.exceptions"), types.ModuleType("google.auth.transport")
        requests = types.ModuleType("google.auth.transport.requests")
        exceptions.GoogleAuthError = GoogleAuthError  # type: ignore[attr-defined]
        requests.Request = object  # type: ignore[attr-defined]
        auth.default = lambda scopes: (Credentials(), "project-of-the-login")  # type: ignore[attr-defined]
        google.auth, auth.exceptions, auth.transport = auth, exceptions, transport  # type: ignore[attr-defined]
        transport.requests = requests  # type: ignore[attr-defined]
        for module in (google, auth, exceptions, transport, requests):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        if fails:
            with pytest.raises(CredentialError, match="gcloud auth application-default login") as caught:
                find_vertex_token({})
            assert "ya29" not in str(caught.value)
            return
        found = find_vertex_token({})
        assert found.credential is not None
        assert (found.credential.secret, found.project) == ("ya29.fresh-token", "project-of-the-login")

    @pytest.mark.parametrize(
        ("value", "wanted"), [("", False), ("true", True), ("1", True), ("False", False), ("0", False)]
    )
    def test_the_switch_between_the_backends(self, value: str, wanted: bool) -> None:
        assert wants_vertex({"GOOGLE_GENAI_USE_VERTEXAI": value}) is wanted
        assert wants_vertex({}) is False

    def test_a_senseless_switch_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="true or false"):
            wants_vertex({"GOOGLE_GENAI_USE_VERTEXAI": "maybe"})


def test_clearing_the_environment_removes_only_secrets() -> None:
    environment = {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_API_KEY": OTHER,
        "CLOUDSDK_AUTH_ACCESS_TOKEN": "ya29.scrubbed-scrubbed",
        "GOOGLE_CLOUD_PROJECT": "p",
        "PATH": "/bin",
    }
    removed = scrub_environment(environment)
    assert set(removed) == {"GEMINI_API_KEY", "GOOGLE_API_KEY", "CLOUDSDK_AUTH_ACCESS_TOKEN"}
    assert environment == {"GOOGLE_CLOUD_PROJECT": "p", "PATH": "/bin"}
    assert redactor.text("ya29.scrubbed-scrubbed") == "[redacted]"
    assert scrub_environment(environment) == ()


def test_child_processes_do_not_inherit_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import subprocess

    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    scrub_environment()
    assert "GEMINI_API_KEY" not in os.environ
    program = "import os; print(sorted(os.environ))"
    names = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "GEMINI_API_KEY" not in names
